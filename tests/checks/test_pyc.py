"""Compiled files of eight Python versions, damaged ones, and what of them is a leak."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.checks import example_task, example_texts
from lmr_author.leaks import pyc
from lmr_author.model import Finding
from lmr_author.taskdir import TaskDir
from lmr_author.validation.run import validate

# Compiled by CPython 2.7 to 3.13 from GOLDEN and MASKED below; zlib, base85.
COMPILED = {
    ("2.7", "golden"): (
        "c$|HZ&rZTX5XQf40hQoMjrszlC!fHGQBTHjC?`p@sqGfQmST6SkdzZVn2+KknD_uXGyFLjo6hX)&dhJVUH5yx`H`uY"
        "2<y)!yCgGhaxwi1DbT0DfmTQqVi!wb0o?Z;PWQYTl@5RC>sk))a$~kUhwO@ZhvYPo)S9|fpnkvSam8R&{MCtgeuJz|"
        "cFlda<SbArEEMK0mr{K5aEf^iR$=6zs-bdmLitAruLqddVO>;p?x;lL@e#>S9Ma1C?t0v3$L`QF(c>_+Gr5N4d=^gS"
        "B3Wpk<v>p-vYImUSe#^yP7}*J6Xk_A5@umB7><RSQb?zkFY*?qrM7$9Swn3+79h?@HNDx{WG0<SUc84z%#DVjP%YI~"
        "qTKG13xaW&=^(I8*<^WKrnL228{*$=pASShzj$K>^o7b(@~4rGtdIX8BH(;A@<MH3E%z6lPh-R"
    ),
    ("2.7", "masked"): (
        "c$|HXK~BRk5JhL=wx9@Ba0cWRCqRHeERawa$%<~G5Idz{$CYh_*g_A+k&t=-m~j%iL0F!zZ+qtXi|t|lY4N#%VF{{B"
        "s&GQ0Xd@Va1(^&qLW`gTYydt0?iU$9mvTa_t8ZHK$o9^K@XO1nu9$aBqKSk9b%Q|jMJc&s**AY(G-AkrRM$M0lSF{`"
        "G*?Q#pC^q+Y+byyYoo31qE<KFJ1==W1qs@;amJ=`UWa6D?U$=g@^4AP9*LpEr|Y-KzIFb!_G-#+91XAs?vqqiS6f|G"
        "F;55U)Qh2GF&$}ta|^zhjKCT0652XGrdaObNjI^8|3N9lS^w=hj=%%)0}$&>lK"
    ),
    ("3.6", "golden"): (
        "c${rfKX2496o1e5CF!YUC{jVdz?vmOVm)0MDzQ|zuvx025c`fR&gE+7psmvBDz%J!488@Q!&4;&#Kzo-=j4DxBGUUM"
        "w%_m1b6)Q44Zl|S{s#bjgRMtUy`pl@2oxwZAmKGArua1|u5ryJQ}_l_5x6iZx7qwR`+z`$L<Q76=-4Q^62yzVIIf-h"
        "-ZOq4mVC>aZ^~r^4Yat%PjCZMRH)c>(&7=U@rpOt@-?<3`v{(b5>rOPgGq@SDMmG*dKjdh5X_*3ll?1f;1pZDg~ufG"
        "nVnIdFOV`Xs-k%(xjtXgf@LrK;6q_nIz=Cw!p^j7Y)E$>8%mxnFYbpUGj~l{SIco6Jc3~am(Rmw*|fGF3#+n`smsE+"
        "arU=)*5|uBl<`t83e#MWA+L&a&)up@g%?hnsf=7%TkT|2k^6ihclzeJc3qAXZ9*@*L*V0$U6|KJK^+s^$IIRAEEA%H"
        "dnJb?&lg3d^V|>fysFj8gzw!vKU)>1Kd}#jy7(7@nPr>*)D4_qw@$eY-ae||p6asc_Wnoq$*8v*;~xe73x)=Z0s"
    ),
    ("3.6", "masked"): (
        "c${sJJx;_h5QS%AZxXF`D<mo|kY*cN1V{)WB$S5EjTK@qe|Ee$Ss^Ha%Ww<M;g$l?QByHa7L)=@^W>lT-Wz#$KA*l>"
        "ymbKZ4x`1X4yoE55(Nqk2si<iDE0!1X?$iPQFsmo|BU@*J*L?&y-lJ)paSZi^fU^lIB{v<XRd8O2IA|WW+ND>j-o+M"
        "(!moM5Q1faVXJiAsa+Xub<=5e?7i~^3%u24DblufUbiB(mA|}hUcski@SPb-TC5&Iwsii!@@f*jlbD8&vpB|L^FRqc"
        "4p8urOW9ObOBtq8TBp_~?q^cott&IU_&8o4F_J7wviZY4B**?-Fu`rrU4_(L+~~UNFaM)MzBlCU<DUil0V6S3H2"
    ),
    ("3.7", "golden"): (
        "c${rfKX2496o1e5CF!YUXeFqCfi+9S2RL03LSm_IVT*(!6Z?(>=W?}k&{pYmm4K0N03#oRui>duhl-846VJ&3hlHi~"
        "bDX^2pBF#f+ZzI{?-joNLHjjqEkX5!$~`1dpwK`L&p|Q8FF|pQYo0TOFCZ0x3zKr2&407+5@^U#0d)^LHs)Lj;zeE@"
        "*UsJajGsp(-?HYLav4DbEw1qse1It`RO~Wo@fob~f;ZUmHMS&s4<3LLQ%1srNr@XNMio&V1gZN3Gic%E{slJh1zY?G"
        "hwv3YvlGhm4N~SsC7ahd*QZN5u<WrPypv|7Q}nTscBWlpL%Q48Q1Wbfb~_xIxogV0T8`u3(HovW3X^5i+P;@oWg}CU"
        "(ztQ<w|Um*yE@9_rCvzWoRJ}~<f-RwRi(lUr_D5vTv=P~@~9&B`6A!xo9EhfIa0I<ZFYyi#~Zsr$PtDHOmH91cek@l"
        "h!XxQIV44~kd-b9KP-x>Rx1;pcZ=d=B~Aau-U;gBUkGNFZSJWXIKl3mavQvTRKI$o%cgtxKeA6oz1<l9DDYo1--~A"
    ),
    ("3.7", "masked"): (
        "c${sJJx;_h5QS%AZxXF`D<mo|kY-PS0D%xfLTTvSSRwZEXUB_^6@n7D49DOaZYdBQH5KDzK`F2_&%fV$BOlJ^Q=su?"
        "@z&A&4x_=T4yf845(Nqk2si<iDE0!1X?$iPQFsmo|BUa;dQ7uldYeRpKn3)A($grI;>4wapSiaE7>KX^nvGzjI*JB4"
        "Ne544KnRuvhON?dr*>tu)lH|>vG>jwEbvyFrAXV_dEJWCR{rw3c?F-6!FOgTX|Z|;+0yy@%BxBAPGTB9&SD#j%>^a+"
        "*g(NUE@e|$EoGQWX`Nb|xSmOQx30`^<70b$#7MFz$>tCHkR1Dc!34KecNJ21aii<5Km3ml`R<Unhkq9A2S0gOMF"
    ),
    ("3.8", "golden"): (
        "c${rfKabNe6o1cllU#Mja7ciFfi+9S2dH`sNGzxeVzGpx5WA&!PSdkfxSn!TPXb210gU%C_!^#&7!VsX6VFM3qr%er"
        "#diGr^X%sb2ScFoxx$n0^!*AuLr^`Ua`y=oC^R792`HxcB`B_O!zEMr3{nyJFe!Hx_-}<<1R5kNAjY6mK*^OLZsf(&"
        "+PQB%<Hu3ScOvj@xs0HJ7B~1F-og|WDt4K)_!u^L!5eJ(23wN84fjBaDI@X0q{M4-j4GnK8RYH~%%FuAhZoquM{MyO"
        "+<{N{ft^yWD@d6aRnfeXT%Rpz!Lo;b@VYQ7eT6bMg`H{F*pTpNY^Z~5x%R`6nY*T}tK~Qj9-=d3aQ-0lm`!W@rm!j-"
        "nYt{D8)tuy&-#R4j%2*li^4Q(vgB29=DAx{sqn&SGnJ7mYpb1%D)OH%<X(Sxu3eYJCIR*ce7rRqgdCx1zyuHReE)iq"
        "Ns2byE$JtDz9=f4=YE*yRjpPg%=h#BbXA!CkG&Dp#lH~DEZe@73zG!9b;@n<_EG)vSeH$=_dl{vM!nq_|0wWZ_@|3B"
    ),
    ("3.8", "masked"): (
        "c${sJ%}T^D6ov0?GHn@VR)Q;EpqqIDQ9(om=|<dS6Ka$3FKNcKgXmIy86U&f$kv6po3$%%+EHXMa8G{EcP=@fPRBsw"
        "&El=2`5iU}r#hf&cSsZ{G$7y@RHE1mD5mk5iA3QU6#O&3FY8SL`yp(TXb`A?9HX9qf+<ekH1Jc`wjYCIwO_Lh08$-B"
        "NKVqh6G6y^Wr1O<blr(v7;SaaX?5hi^92jM)n+czwsu~(BDIyjyl!5>rv&)Q45iH$4<Va7e_weuitHq&;o~H>GFx9z"
        "f{zUpJmgX~mDN&)v6R-SrHSi_ly}R@3^zWu*GK%3EK0Ke%RVH>eqS)bZPi_c)Lq=@y6X@BbBBC)$lJqT1p5Z^qF7h"
    ),
    ("3.10", "golden"): (
        "c${rfJ#W)M7=GV7$9AH&15_<446I%(en6BmAhDn<Y$qY>@LfXS9H(~<w3R!h5-{=)=-8jZ-?*s~17c%l;=MSiCE}##"
        "v3<Vh<F)JE-2u@0R^hv!bo~xnD<V84xJN_^6dDll928Uh5){|C;({rB30V~MFfO+p_+N(uA`Jo+kfOJCK*3c++So@g"
        "YUh4*ieJYi->Seja5+%}Ew1o0e1r)qRO~Ws@fob}f;ZUm6}Du32oFI;6GrB}afx^A7$GLy4|YdHQ)uB;{{kEMiY<PE"
        "2XKX7*a=CmA!9zOWb;OFeY&6rmOt^m_tGr&HHySYJJqhSq2ceu&;<G7%nycU=9;pu7NaC&guo*>e;g*vC$;?`t;&a{"
        "E~Rm!{Pys)>vwZ3l7*g2)0|NtujHxcZdqlKkDN9W5xcUs+KITL^x0hWyTdc>);(+*s88gRO;|6q2qUL>5BKqW=Wdg6"
        "hBkaz@=uFmE-PIWeoz!ut(GR-?-a$!Qkw3K-3#u~zZAkO+x#gPD1|*-?_}JDbRXBR-|Dhi@BL5i(_t4l!ds7h{s-x6"
        "i;V"
    ),
    ("3.10", "masked"): (
        "c${reJ5Izf5S@v=NwnIf0a0-QH+upENC+V$l!nfY6=E;HI9{Br5R|}WI0n~nOM&R9sTgM$fg(nlXKQBOdt<xlbPN=)"
        "7H=G#Z!ic>c|h6j5NOa?gM?$yiDu8BnZYL}6OCse_(z;Cs-Xh=QP?IhAW;J`M!f<`ra5ubz)xM<zONXc`xP4qAmw2c"
        "iTiZ$hyn|NVY6`EiCxsjnx-@Q$b07n3%oV;T&8X1ylG`>OMh|Iyns)M{FT+@G+W$<Z0`JB>Gde;Ch@KKFo|o-)(vv-"
        "(OmG5E7g?NC>6#^S*MqEyib(6U6%E#<8vDAE&f0jAzA-pzkCiG*jEIT+?L&CNZt9hsk*-SA3x-~E5|+j71?6nQTbQl"
    ),
    ("3.11", "golden"): (
        "c${@o&ubGw6n?X_`PCm*YEo1b0v<FL7B32skg65ENH6su0a@1FO>Eum#+i+_AuTx+Or?hwTB5glsY)+Bdi6g@p@%Y1"
        "5Il&tNIghTeUoj{E$Yn9_h#n3_q}gs=i}gDA7K0Hk{3VGeuq$t9NUBI2u-lSA`TQlfrnrzi(pZkY*K(N+D#}Z7MX;M"
        "Dw$xy409=6u8|Ix4FzJ!comsQfm#&vB0_!SasDHSY>$~VL_m+nfrIcyZGuluoHeqEtF7M7TeYDUiA5IUHF6&|ac8R+"
        "J5T)(Z;hVLtSOdKMO*C$JYZ3g$C)rgr67vqoD`BrSSL*=K@FZ>m?vRD(<g*vNvYx;pDweiEMJ_2&yZ1s>KguYLG9Uc"
        "h6+WyAtJ8~r(%nkW3ZCVeJ<6e)AhrcgO{U~=MMXF&J_1e&n@SxX?bH>(POU-W@$OcGYyC5wUdY#X7j5Ef9lXmjtAfN"
        "&GpA?Pu|%ZrT5-WO506oJ=cMhR|-^q8xygzJ!3fj915kbF)JvqxbjDF+bN1DH$7%^5p_}O)Qm_3!BaM8gR*R-qdc9y"
        "!_MGL#ExZF2g0Id5WgD;+#gP@6jw*rMjNrct|0urJV4k<j_)SN8;Sj);g#&t!t%n#$fqkGF6|6y+lkgtwiVB^v+~(x"
        "2$Pf<Rm63D#&B(27k#?!dRE1e^8sCdSuvcz!_H$Ui%XEn9i2?=f*kxBLcQ193XR-u!+#(kk!cyq67tMZ@7c6%`T^(Z"
        "I*0LGAS%x;<5Ip2eosDpN(kA5{(7gkqbfo2zoBvKmo&fs;p)^l0^tGQxB"
    ),
    ("3.11", "masked"): (
        "c${^Ry-LJD5XWb-xw~*5qA1pPR>tB=D^U<c1i8j8%@VVFekGT4HzHacV&NP328#F;zJaAISXqc&<gBi8H@Qea-DUr?"
        "!_53<ckWxQI_UKj;YqCR8<bXMYR4;DZh-;A5InG88<=$sjBvao0FR_7@GORV;MyO?=>=t$Rj?K_76%WR$+tBLJ;I2t"
        "t0;RnmhwH%Og92j0-!#|AJ1lhq!hYB7ke(M`CgptM8l9re2{RqB}6P-qHM{-zN*R~7F?=o<cou&fi$dkyFICex@C8G"
        "p=$kDocn@ZHq9ftQ_svmI$B2XI@5V}I^*nbE(#NIZRJop@FPyCs#6-p>?}0*CZ(rmewar@Q>Q+FXlWxFM(je&k;@sr"
        "*r|n;r4;^=9Ae7M&muoLRMmL@m<LG?oip;&XyUBpPg)lX(;3Q5Gh2d)FVGleJFQx%>A&S>_0yQIKSEiLZ$lP&Km"
    ),
    ("3.12", "golden"): (
        "c${TY&ubGw6n?Wa*-iR`Vn|w)f}*EI$W0-oShNKZBo{rDfGq3oB)0Bm<Icu5ArTKb1QbkFsNU*L>81aIXD{)f$k>D6"
        "$y+h?U{AiuW=p^a@B8NMd+!_GoBcF9I|XPTee&=Z@=uts)R>1C5q7}^mv~SH4Q_&~b-|^a?9;fUtTl<rlme8TNewO0"
        "$c;2Ol!=SgE_F$llxb5lnPj&EAsjl<WuU8g_;S=0ktES3`{Q$mw#gd2V2)M=N4s|pzp&_3W0S#u)@E(m!f6wQ9qsud"
        "gH8(jjMJJ_l5J})X(6|!0jI5KckmX1-eFr{(o!|9`mrL7I<MJY)WkukZ*NQH+tC9_`F34W(eO=OGQquy)P)m-Tu9xw"
        "!|Fy&8XhtikxV_dy#|+=SZ9L^p`-GJk)0SG?xs+0N~02lTXyKSX4JL{<48S`xP|Z(4zu}w<<;e$@oo9W*WBvCmDhK7"
        "*LT+6@V)BW;7h(R$gTD=2#0goe(~9pz4`Z--YtHfD;#77bHzcr`1d!3{2CETvVZ<MV<nS}r#xE0;nJ2>vwdz^a>}y&"
        "z-@TyJY!jp8nzc_!YmelfT8LM&nRFCC>LtYT{zZgYAIYuGA0evNKy~(Z*nJ!TjmukBr+%I<@myD;aLpT3kmf<9Z^Ea"
        "cbGob8CmLG{R2p&u7413p|J"
    ),
    ("3.12", "masked"): (
        "c$`g8y-ve05WaKLH0lpRDi6?h%hHhv!GsVJ>H}o4LhP2GxGr`oR3?Nv@CG~s;whL}m<<~fTcwtz6L!*8wRGRz`R=~^"
        "`Diw4VBfpITWR$V?7YfaFS-_9fC0k{Vjyq^jLd*}9N)Y$B_>mh{9kAG(_Id-;W#KbIK;?oHuD(HF!rV-@{NBXwNAaA"
        "DzxJK#a>aBZv#&lVLw9C>dX9Gj599yDCg`{DXAjQ_?l+}6X;Ybu1z2kHM|~a$JB1OSJlk+>5ZqRI*{r<QS71NI``I|"
        "TUUn`9^reh^BHy)#X1oV%ii-7J8MYkC=r}eQ=?Q!Hp!gbp!9B%WMxFvZSpIqhE>X4SNR)oqN^5Wuq0UNmO1X%4KI@X"
        "$^`QAhNpR1v+rQbvkH&Oj>oFCK9Y84oqLG*1@&b>u={-Y2UZnT|LEyuEd"
    ),
    ("3.13", "golden"): (
        "c${UD&1(}u6u{r?%x;pVC6Fc}RwYI+K@u-UNGTSLl!6+>H4<oH*ruDfbwA?FM%#;cl7N@sw>Q1%t=As?4<dr#*n{Ay"
        "H!+HMb0*13zz6TWnSJm5X5PFV&dtq$l=mLGeIWfem=b;Bhk0q9fe9wM3=9rK9!%{Bn0OtP@i>KPZB!tN0JY{cLyH*4"
        "M~rn~$duV8V%XFbWeYK4Vy3rA!4Tw1!1)1@sZBfuiAh!a;qwt>4Ml-EDo@rvuA_OlNw{_fxVE|=zmT=)aJWw3KgmO*"
        "T9nO4glpQ>V*p9Wfv?Nj*uOLMD5EZ~U6j6<1o;4GwNvt>oK&B*pnz-ban{#m5$o8#<%T;2BCuy|3*uSfErIRrj=;R@"
        "sYbc&wuHf(0kgR<Jd3p*U&LJLZ5|5!uH|-Zkr;Cvn{z{wb0d*i@{vlN9T95<?4HFo#jJX^(qyNm##g0z0Q>1|zxCvF"
        "FZOxq;>S#NZ)Laq^u~+E<Hk$-Rq!cW+FR)*2AS%9D&4O<y8rsn+mmmOen^#e6N6M`5U>3CfgyVdaYgK(xL}ZXP%EHG"
        "o8OmZ8*xf~%d;sJGn9J4X4h5gSxWD8Eq4-0QQC4C4_(K%{eV(7FRMkCQXX2N)1+1yGH0V3+FZu6YRaP@Dy<BOj8d*f"
        "@(_M&SYKodQKW!bLII6nW6N%a;}V4#rznhwFOBbZp2-P=nkLVv7BE8S3nYIU1TFT?{Q~JmReu38Mz2i"
    ),
    ("3.13", "masked"): (
        "c$`&Gy-ve05Vn&vjrzv`2*iNeY+1U&gkWMope`P%WTmMaQj)lwT_H9m#0&5cJO*#TY}lB(AqB*W-K3~ky6?`uyYIVm"
        "(QY@8J}()*=GuRtwNtBn;cIw81QC3W0PP|l5o-?-dx#J0vIMLc2hPHTgJ_+@T5;?zIfe)@(bWWlO=^Z^ioqc^)M6)a"
        "m2<&`SU9>gve!tkHghjJOOngK1j7Ly1XyhjxID{dDa%+c+4vNILtraMuymqa5piHbxmgHtk_*Gs?RHf?)nfhGovKeb"
        "+=eh#EhFErZf1MoX}Cx4o!+b0D~#eZ(t2^J{&}KD_9)H6j8Uo@lxBQ9PfgsS^kyEWRc3?INdiKqNzQUkDYSIA+NM;<"
        "P$m%#rG#WOmrUr~hWSpjC^QW?D=;SN8XnM(g=>CUV_wasStzfR%STfd$+G7^kMfSn;f`Ua`cbiEcCazVZ>ag@TG)R)"
        "{6^X>yM6&Gw0Ft"
    ),
}
MASKED = """import math


class Loss(object):
    def forward(self, scores, margin=1.0):
        raise NotImplementedError
"""
GOLDEN = MASKED.replace(
    "        raise NotImplementedError\n",
    "        largest = max(scores)\n"
    "        penalties = [math.exp(value - largest) for value in scores]\n"
    '        return sum(penalties) / (margin + 0.5), "penalty"\n',
)
VERSIONS = sorted({version for version, _ in COMPILED})


def _bytes(version: str, kind: str) -> bytes:
    return zlib.decompress(base64.b85decode(COMPILED[version, kind]))


def _task(folder: Path) -> TaskDir:
    task = example_task.write(folder)
    repository = task.root / example_texts.REPOSITORY
    (repository / "ranking" / "losses.py").write_text(MASKED)
    (task.root / "golden_files" / "losses_golden.py").write_text(GOLDEN)
    info = task.load_raw()
    info["implementations"][0] |= {
        "goal_function": "forward",
        "class_name": "Loss",
        "instruction": "Implement `Loss.forward` in `ranking/losses.py` as section 3 says; return value and name.",
    }
    (task.root / "info.json").write_text(json.dumps(info))
    test = repository / "unit_test" / "unit_test_1.py"
    test.write_text(
        test.read_text()
        .replace("import pairwise_loss", "import Loss")
        .replace("pairwise_loss(", "Loss().forward(")
    )
    (repository / "ranking" / "train.py").write_text("from ranking.losses import Loss\n")
    return task


def _with_compiled(folder: Path, data: bytes) -> list[Finding]:
    task = _task(folder)
    place = task.root / example_texts.REPOSITORY / "ranking" / "__pycache__" / "losses.cpython.pyc"
    place.parent.mkdir()
    place.write_bytes(data)
    return list(validate([task]).findings)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_goldens_code_is_a_leak_and_a_cache(version: str, tmp_path: Path) -> None:
    assert [one.code for one in _with_compiled(tmp_path, _bytes(version, "golden"))] == ["LMR702", "LMR401"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_masked_code_is_only_a_cache(version: str, tmp_path: Path) -> None:
    assert [one.code for one in _with_compiled(tmp_path, _bytes(version, "masked"))] == ["LMR702"]


def test_without_compiled_files_the_task_is_clean(tmp_path: Path) -> None:
    assert validate([_task(tmp_path)]).findings == ()


@pytest.mark.parametrize("version", VERSIONS)
def test_names_constants_and_inner_code_are_read(version: str) -> None:
    module = pyc.read(_bytes(version, "golden"))
    (code,) = pyc.named(module, ["Loss", "forward"])

    assert code.name == "forward"
    assert {"n:largest", "n:penalties", "n:max", "n:exp", "n:value", "c:'penalty'", "c:0.5"} <= code.features
    assert list(pyc.named(module, ["Other", "forward"])) == []


def test_this_interpreters_code_gives_the_same_features() -> None:
    (here,) = pyc.named(pyc.from_code(compile(GOLDEN, "x", "exec")), ["Loss", "forward"])
    (there,) = pyc.named(pyc.read(_bytes("3.8", "golden")), ["Loss", "forward"])

    assert {item for item in here.features if item.startswith("n:")} == {
        item for item in there.features if item.startswith("n:")
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_a_damaged_file_is_refused_at_every_length(version: str) -> None:
    data = _bytes(version, "golden")
    for length in range(0, len(data) - 1, 7):
        with pytest.raises(pyc.NotCompiledPython):
            pyc.read(data[:length])


@given(st.data())
def test_changed_bytes_never_do_more_than_refuse(data: st.DataObject) -> None:
    raw = bytearray(_bytes(data.draw(st.sampled_from(VERSIONS)), "golden"))
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = pyc.read(bytes(raw))
    except pyc.NotCompiledPython:
        return
    assert isinstance(found, pyc.Code)


def test_deep_nesting_and_false_sizes_are_refused() -> None:
    head = b"\xa7\x0d\x0d\n" + bytes(12)
    for body in (
        b")\x01" * 5000,
        b"(\xff\xff\xff\x7f",
        b"s\xff\xff\xff\xff",
        b"r\x05\0\0\0",
        b"\xa9\x01r\0\0\0\0",
    ):
        with pytest.raises(pyc.NotCompiledPython):
            pyc.read(head + body)
