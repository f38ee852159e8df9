"""The words that a paper and its code share: identifiers split, abbreviations expanded, words stemmed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

ABBREVIATIONS: Mapping[str, str] = {
    "acc": "accuracy", "adv": "advantage", "attn": "attention", "avg": "average",
    "bce": "binary cross entropy", "bsz": "batch size", "ce": "cross entropy", "cls": "class",
    "coef": "coefficient", "coeff": "coefficient", "conv": "convolution", "cos": "cosine",
    "ctx": "context", "dec": "decoder", "desc": "descriptor", "dim": "dimension", "dims": "dimension",
    "dist": "distance", "doc": "document", "docs": "document", "ema": "exponential moving average",
    "emb": "embedding", "embd": "embedding", "embed": "embedding", "embs": "embedding", "enc": "encoder",
    "ent": "entropy", "eps": "epsilon", "eval": "evaluation", "ffn": "feed forward network",
    "feat": "feature", "feats": "feature", "freq": "frequency", "gen": "generate", "grad": "gradient",
    "grads": "gradient", "hid": "hidden", "hyp": "hypothesis", "idx": "index", "img": "image",
    "imgs": "image", "init": "initialization", "ipt": "importance", "iter": "iteration",
    "kd": "knowledge distillation", "kl": "kl divergence", "kld": "kl divergence", "lang": "language",
    "len": "length", "ln": "layer normalization", "lm": "language model", "logp": "log probability",
    "logprob": "log probability", "logprobs": "log probability", "logps": "log probability",
    "logsigmoid": "log sigmoid", "logsoftmax": "log softmax", "logsumexp": "log sum exp",
    "logratio": "log ratio", "logratios": "log ratio", "lr": "learning rate", "lstm": "lstm recurrent",
    "max": "maximum", "mha": "multi head attention", "min": "minimum", "mlm": "masked language model",
    "mlp": "mlp feed forward", "mse": "squared error", "mul": "multiply", "neg": "negative",
    "negs": "negative", "ner": "named entity recognition", "nll": "negative log likelihood",
    "norm": "normalization", "num": "number", "obj": "objective", "opt": "optimizer",
    "param": "parameter", "params": "parameter", "pos": "positive", "posn": "position",
    "ppl": "perplexity", "ppo": "policy optimization", "pred": "prediction", "preds": "prediction",
    "prob": "probability", "probs": "probability", "proj": "projection", "pt": "prompt", "ptr": "pointer",
    "qkv": "query key value", "quant": "quantization", "quantised": "quantized",
    "quantisation": "quantization", "recon": "reconstruction", "ref": "reference",
    "reg": "regularization", "rel": "relation", "relu": "relu activation", "rep": "representation",
    "repr": "representation", "reps": "representation", "rl": "reinforcement learning",
    "rnn": "recurrent network", "sa": "self attention", "seg": "segment", "sent": "sentence",
    "seq": "sequence", "seqs": "sequence", "sim": "similarity", "sims": "similarity",
    "sqrt": "square root", "src": "source", "std": "standard deviation", "sup": "supervised",
    "svd": "singular value decomposition", "temp": "temperature", "tgt": "target", "tok": "token",
    "toks": "token", "unsup": "unsupervised", "val": "validation", "var": "variance", "vec": "vector",
    "vecs": "vector", "vocab": "vocabulary", "vq": "vector quantization",
}  # fmt: skip
"""Abbreviation in code → the paper's words."""

GREEK: Mapping[str, str] = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ϵ": "epsilon", "ζ": "zeta",
    "η": "eta", "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi",
    "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "ϕ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
    "Δ": "delta", "Σ": "sum", "∑": "sum", "∇": "gradient", "Λ": "lambda", "Ω": "omega",
}  # fmt: skip
"""Letter of a formula → its spelling in code."""

_STOP = """
    a about above after again against all also although am among an and any are as at be because been
    before being below between both but by can cannot could did do does doing done down during each et
    al etc few for from further get given had has have having he her here him his how however i if in
    into is it its itself just let like made make many may me more most much my no nor not now of off on
    once one only or other our out over own per same set she should show shown shows since so some such
    take than that the their them then there these they this those through thus to too two under until
    up upon us use used uses using very via was we well were what when where whether which while who why
    will with within without would yet you your paper figure table section appendix equation eq fig see
    work works method methods approach propose proposed results result experiments experiment follows
    following first second third arxiv preprint proceedings conference self cls args kwargs arg kwarg
    none true false return def class import str int float bool list dict tuple type isinstance range
    print torch nn np numpy tensor tensors device cuda cpu shape size dtype unsqueeze squeeze view
    append keys values items item data value name string file path config todo optional callable union
    default len zip enumerate super init call main run x y z n k j t s m d
    compute computes computed computing computation computational indicate indicates indicated indicating
    indicative denote denotes denoted obtain obtains obtained contain contains containing need needs needed
    require requires required linguistics association university
"""
STOP = frozenset(_STOP.split())
"""Words that say nothing about what a function does: English, the furniture of papers, and that of code."""

_GREEK = str.maketrans({letter: f" {name} " for letter, name in GREEK.items()})
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+|\d+")
_WORD = re.compile(r"[^\W_]+")
_BROKEN = re.compile(r"(?<=[a-z])-\s*\n\s*(?=[a-z])")


@cache
def stem(word: str) -> str:
    """Return the stem of a lower-case English word (Porter's second algorithm, https://snowballstem.org)."""
    return str(_stemmer().stemWord(word)) if len(word) > 3 else word


@cache
def _stemmer() -> Any:
    import snowballstemmer  # here, as it reads the rules of 30 languages

    return snowballstemmer.stemmer("english")


@cache
def split(identifier: str) -> tuple[str, ...]:
    """Return the words of an identifier, in lower case: ``getHTTPLogps_v2`` → get, http, logps, v, 2."""
    return tuple(part.lower() for part in _HUMP.findall(identifier))


class Vocabulary:
    """Turns words into terms: stems, and pairs of neighbouring stems.

    Args:
        acronyms: the paper's own acronym → its words, in lower case.
        names: names that the paper writes with capitals inside (LoRA, SimCSE), in lower case: one word each.
    """

    def __init__(self, acronyms: Mapping[str, str] | None = None, names: Iterable[str] = ()) -> None:
        self._names = frozenset(names)
        known = {**ABBREVIATIONS, **(acronyms or {})}
        self._known = {short: tuple(long.split()) for short, long in known.items()}
        self._memo: dict[str, tuple[str, ...]] = {}

    def of_identifier(self, identifier: str) -> tuple[str, ...]:
        """Return the terms of an identifier; an abbreviation counts as itself and as its long form."""
        if identifier not in self._memo:
            words: list[str] = []
            short: list[str] = []
            for word in self._joined(split(identifier)):
                long = self._known.get(word, (word,))
                words += long
                if word not in long and len(word) > 1:
                    short.append(word)
            self._memo[identifier] = (*short, *terms_of(words))
        return self._memo[identifier]

    def of_text(self, text: str) -> list[str]:
        """Return the terms of a docstring, a comment or a paper; identifiers in it are split, too."""
        words: list[str] = []
        for word in _WORD.findall(normal(text)):
            words += (word.lower(),) if word.islower() or word.isupper() else self._joined(split(word))
        return terms_of(words)

    def _joined(self, words: Sequence[str]) -> Sequence[str]:
        """Put the paper's names together again: lo, ra, layer → lora, layer."""
        result: list[str] = []
        start = 0
        while start < len(words):
            ends = range(min(len(words), start + 5), start, -1)
            end = next((end for end in ends if "".join(words[start:end]) in self._names), start + 1)
            result.append("".join(words[start:end]))
            start = end
        return result


def terms_of(words: Sequence[str]) -> list[str]:
    """Return the stems of the words that say something, each followed by the pair it ends."""
    terms: list[str] = []
    last = ""
    for word in words:
        if word in STOP or word.isdecimal() or (len(word) == 1 and word.isascii()):
            last = ""
            continue
        own = stem(word)
        terms.append(own)
        if last:
            terms.append(f"{last} {own}")
        last = own
    return terms


def normal(text: str) -> str:
    """Return a text with ligatures, Greek letters and words broken at a line's end as code would spell them."""
    text = _BROKEN.sub("", text if text.isascii() else unicodedata.normalize("NFKC", text))
    return text if text.isascii() else text.translate(_GREEK)
