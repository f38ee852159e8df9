"""Packages of the operating system that Python packages need, by Debian's and Ubuntu's names.

The names exist in Ubuntu 18.04 to 24.04 (PyTorch's images) and Debian 11 to 13.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lmr_author.environment.recipe import Declared, Fact, SystemPackage, Unused
from lmr_author.texts import printable

_COMPILER = ("build-essential", "{} is compiled when it is installed")
_GL = (("libgl1", "{} loads libGL.so.1"), ("libglib2.0-0", "{} loads libglib-2.0.so.0"))
_JAVA = (("default-jre-headless", "{} runs Java"),)
_FFMPEG = (("ffmpeg", "{} runs ffmpeg"),)
_SOUND = (("libsndfile1", "{} loads libsndfile"),)

NEEDS: dict[str, tuple[tuple[str, str], ...]] = {
    **dict.fromkeys(("opencv-python", "opencv-contrib-python", "open3d", "pyrender", "pyqt5", "pyside2"), _GL),
    **dict.fromkeys(
        ("pycocoevalcap", "language-tool-python", "tabula-py", "pyspark", "jpype1", "konlpy", "h2o", "python-weka-wrapper3",  # noqa: E501
         "nlg-eval", "tika", "sutime"),
        _JAVA,
    ),
    **dict.fromkeys(("pyserini", "pyjnius", "python-terrier"), (("default-jdk-headless", "{} runs Java"),)),
    **dict.fromkeys(("soundfile", "pysoundfile", "librosa"), _SOUND),
    **dict.fromkeys(("ffmpeg-python", "moviepy", "pydub", "audioread", "openai-whisper", "whisperx", "ffmpy"), _FFMPEG),
    **dict.fromkeys(
        ("fasttext", "kenlm", "pyemd", "nmslib", "hnswlib", "youtokentome", "pycld2", "python-levenshtein", "fairseq",
         "cchardet", "bitarray", "jericho", "pytrec-eval", "fastbpe", "hdbscan",
         "editdistance", "pytorch-fast-transformers", "pydensecrf"),
        (_COMPILER,),
    ),
    "gitpython": (("git", "{} runs git when it is imported"),),
    "phonemizer": (("espeak-ng", "{} loads espeak"),),
    "py-espeak-ng": (("espeak-ng", "{} runs espeak"),),
    "graphviz": (("graphviz", "{} runs dot"),),
    "pydot": (("graphviz", "{} runs dot"),),
    "pydotplus": (("graphviz", "{} runs dot"),),
    "pygraphviz": (("graphviz", "{} runs dot"), ("libgraphviz-dev", "{} is compiled against it"), _COMPILER),
    "pyaudio": (("portaudio19-dev", "{} is compiled against it"), _COMPILER),
    "sounddevice": (("libportaudio2", "{} loads libportaudio"),),
    "psycopg2": (("libpq-dev", "{} is compiled against it"), _COMPILER),
    "mysqlclient": (("default-libmysqlclient-dev", "{} is compiled against it"), ("pkg-config", "{} asks it"), _COMPILER),  # noqa: E501
    "python-magic": (("libmagic1", "{} loads libmagic"),),
    "pdf2image": (("poppler-utils", "{} runs pdftoppm"),),
    "pdftotext": (("libpoppler-cpp-dev", "{} is compiled against it"), ("pkg-config", "{} asks it"), _COMPILER),
    "pytesseract": (("tesseract-ocr", "{} runs tesseract"),),
    "weasyprint": (("libpangoft2-1.0-0", "{} loads it"),),
    "cairosvg": (("libcairo2", "{} loads it"),),
    "pycairo": (("libcairo2-dev", "{} is compiled against it"), ("pkg-config", "{} asks it"), _COMPILER),
    "mpi4py": (("libopenmpi-dev", "{} is compiled against it"), ("openmpi-bin", "{} is run by it"), _COMPILER),
    "deepspeed": (("libaio-dev", "{} compiles its asynchronous I/O against it"),),
    "pyenchant": (("libenchant-2-2", "{} loads libenchant"),),
    "lightgbm": (("libgomp1", "{} loads libgomp"),),
    "pyicu": (("libicu-dev", "{} is compiled against it"), ("pkg-config", "{} asks it"), _COMPILER),
    "polyglot": (("libicu-dev", "{} is compiled against it"), ("pkg-config", "{} asks it"), _COMPILER),
    "pyrouge": (("libxml-parser-perl", "{} runs ROUGE-1.5.5.pl"),),
    "rouge155": (("libxml-parser-perl", "{} runs ROUGE-1.5.5.pl"),),
    "files2rouge": (("libxml-parser-perl", "{} runs ROUGE-1.5.5.pl"),),
    "natto-py": (("mecab", "{} loads it"), ("libmecab-dev", "{} loads it")),
    "python-mecab-ko": (("libmecab-dev", "{} is compiled against it"), _COMPILER),
    "box2d-py": (("swig", "{} is generated with it"), _COMPILER),
    "mujoco-py": (("libosmesa6-dev", "{} renders with it"), ("patchelf", "{} runs it"), _COMPILER),
    "dlib": (("cmake", "{} is compiled with it"), _COMPILER),
    "horovod": (("cmake", "{} is compiled with it"), _COMPILER),
    "pysam": (("zlib1g-dev", "{} is compiled against it"), _COMPILER),
}  # fmt: skip
"""Package → what it needs of the system, each with the reason; ``{}`` stands for the package."""

_ALIASES = {
    "libgl1-mesa-glx": "libgl1",
    "libglib2.0": "libglib2.0-0",
    "libglib2.0-dev": "libglib2.0-0",
    "libsndfile-dev": "libsndfile1",
    "libsndfile1-dev": "libsndfile1",
    "gcc": "build-essential",
    "g++": "build-essential",
    "make": "build-essential",
    "espeak": "espeak-ng",
    "openjdk-8-jdk": "default-jdk-headless",
    "openjdk-11-jdk": "default-jdk-headless",
    "openjdk-17-jdk": "default-jdk-headless",
    "default-jdk": "default-jdk-headless",
    "default-jre": "default-jre-headless",
}
_MORE = frozenset(
    {"libsm6", "libxext6", "libxrender1", "perl", "sox", "libsox-dev", "unzip", "cmake", "swig", "aspell"}
)
_COMMON = frozenset(
    {"git", "curl", "wget", "ca-certificates", "sudo", "vim", "nano", "tmux", "htop", "less", "locales", "apt-utils",
     "bzip2", "git-lfs", "openssh-client", "openssh-server", "python3", "python3-pip", "python3-dev", "python3-venv",
     "python3-setuptools", "software-properties-common"}
)  # fmt: skip
"""What Dockerfiles install out of habit, or what the base image has."""
KNOWN = frozenset(name for needs in NEEDS.values() for name, _ in needs) | _MORE
"""Names that are put into a Dockerfile; nothing else that a repository says is."""


def packages_for(
    declared: Iterable[Declared], unused: Iterable[Unused], apt: Iterable[Fact]
) -> tuple[SystemPackage, ...]:
    """What to install of the system: for packages, for repositories to install from, and as the repository does."""
    found: dict[str, SystemPackage] = {}
    for item in declared:
        for name, reason in NEEDS.get(item.name, ()):
            found.setdefault(name, SystemPackage(name, reason.format(item.name), item.origin))
    for unusable in unused:
        if unusable.kind == "git":
            reason = f"to install {unusable.name or 'a package'} from its repository, which is left to you"
            found.setdefault("git", SystemPackage("git", reason, unusable.origin))
    for fact in apt:
        name = known_name(fact.text)
        if name:
            found.setdefault(name, SystemPackage(name, "the repository installs it", fact.origin))
    if "default-jdk-headless" in found:
        found.pop("default-jre-headless", None)
    return tuple(sorted(found.values(), key=lambda item: item.name))


def known_name(name: str) -> str:
    """The name of a package as it is put into a Dockerfile; "" for one that is not known here."""
    if re.fullmatch(r"openjdk-\d+-jdk(-headless)?", name):
        return "default-jdk-headless"
    if re.fullmatch(r"openjdk-\d+-jre(-headless)?", name):
        return "default-jre-headless"
    known = _ALIASES.get(name, name)
    return known if known in KNOWN else ""


def unknown(apt: Iterable[Fact]) -> list[str]:
    """What the repository installs of the system and we do not, in words; what CI installs is passed over."""
    listed = [fact for fact in apt if not known_name(fact.text) and fact.text not in _COMMON]
    listed = [fact for fact in listed if not fact.origin.startswith(".github")]
    return [f"not installed, a system package: {printable(str(fact))}" for fact in listed]
