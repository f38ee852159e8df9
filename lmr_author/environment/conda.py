"""Conda's package names and versions in the package index's terms."""

from __future__ import annotations

import re

NAMES = {
    "pytorch": "torch",
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "matplotlib-base": "matplotlib",
    "opencv": "opencv-python-headless",
    "py-opencv": "opencv-python-headless",
    "faiss": "faiss-cpu",
    "faiss-gpu": "faiss-cpu",
    "tensorflow-gpu": "tensorflow",
    "pytables": "tables",
    "python-graphviz": "graphviz",
    "pyqt": "PyQt5",
    "msgpack-python": "msgpack",
    "ruamel_yaml": "ruamel.yaml",
    "dask-core": "dask",
    "importlib_metadata": "importlib-metadata",
    "brotlipy": "brotlipy",
    "spacy-model-en_core_web_sm": "",
}
"""Conda name → name on the package index; "" when it has none."""

_NOT_PYTHON = re.compile(
    r"^(_.*|lib.*|ld_impl.*|cuda.*|cudatoolkit.*|cudnn|nccl|nvidia.*|pytorch-cuda|pytorch-mutex|torchtriton|mkl.*|"
    r"intel-openmp|openblas|blas|tbb|openmp|llvm-openmp|openssl|ca-certificates|zlib|xz|zstd|bzip2|lz4-c|snappy|lzo|"
    r"tk|readline|ncurses|sqlite|gmp|mpfr|mpc|isl|icu|jpeg|giflib|lcms2|freetype|fontconfig|expat|gettext|glib.*|"
    r"pcre.*|dbus|qt.*|gstreamer|gst-.*|harfbuzz|cairo|pixman|pango|graphite2|x264|x265|lame|nettle|gnutls|openh264|"
    r"openjpeg|libpng|krb5|c-ares|curl|yaml|zeromq|hdf5|boost.*|gcc.*|gxx.*|gfortran.*|binutils.*|sysroot.*|"
    r"kernel-headers.*|make|cmake|git|git-lfs|ffmpeg|perl|ruby|r-.*|nodejs|openjdk|pip|setuptools|wheel|python_abi|"
    r"python-abi|xorg-.*|pthread-stubs|ninja-base|tzcode|ucx|gflags|glog|aws-.*|arrow-cpp|re2|orc|bottleneck-base|"
    r"nspr|nss|alsa-lib|attr|dataclasses|typing|rhash|ninja-base|(c|cxx|fortran)-compiler|compilers|clang.*|lld|llvm.*|"
    r"keyutils|gawk|bison|flex|m4|sed|tar|unzip|wget|tmux|vim|htop|screen|parallel|rust|go|maven|ant|swig|cuda|cub|"
    r"magma.*|faiss-proc|openmpi|mpich|mpi|fftw|gsl|suitesparse|metis|glpk|libblas|eigen|pybind11-abi|cpuonly|nomkl|"
    r"typing_extensions-base|certifi-base|jupyter-base|pandoc|tbb4py|icc_rt|vs2015_runtime|vc|wincertstore|console_shortcut|"
    r"menuinst|pywin32-base|winpty|m2w64-.*|msys2-.*)$"
)
"""Conda packages that are no Python packages, or part of Python, or bring pip itself."""


def requirement(spec: str) -> tuple[str, str]:
    """A conda dependency as (conda name, requirement); for ``python`` the version specifier alone.

    The requirement is "" for what the package index does not have (system libraries, CUDA).
    ``numpy=1.19.2=py38h…`` is an exact version, ``numpy=1.19`` a prefix (conda's match specification).
    """
    spec = spec.strip().rpartition("::")[2]
    match = re.match(r"^(?P<name>[\w.-]+)\s*(?:\[.*\])?\s*(?P<rest>.*)$", spec)
    if match is None:
        return "", ""
    name = match["name"].lower()
    version = _version(match["rest"].strip())
    if name == "python":
        return name, version
    if _NOT_PYTHON.match(name):
        return name, ""
    known = NAMES.get(name, name)
    return name, f"{known}{version}" if known else ""


def _version(rest: str) -> str:
    if not rest or rest == "*":
        return ""
    if rest.startswith("=") and not rest.startswith("=="):
        version, _, build = rest[1:].partition("=")
        version = version.strip()
        if build or "*" in version:
            return f"=={version}"
        # Three numbers name one release; `=1.19` is a prefix.
        return f"=={version}.*" if re.fullmatch(r"\d+(\.\d+)?", version) else f"=={version}"
    if rest[0].isdigit():
        return f"=={rest.split()[0].split('=')[0]}"
    # Alternatives ("1.2|1.3") and build strings after a blank have no counterpart.
    return re.sub(r"\s+", "", rest.split("|")[0]) if re.match(r"^[<>=!~]", rest) else ""
