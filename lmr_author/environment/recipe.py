"""What a repository needs, each fact with the place it was read from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from packaging.requirements import Requirement

BUILT_WITH_TORCH = frozenset(
    {"flash-attn", "apex", "mamba-ssm", "causal-conv1d", "torch-scatter", "torch-sparse", "torch-cluster",
     "torch-spline-conv", "pyg-lib", "detectron2", "pytorch3d", "transformer-engine", "grouped-gemm"}
)  # fmt: skip
"""Packages whose source needs PyTorch and a CUDA compiler to be installed."""

BACKPORTS = frozenset(
    {"argparse", "asyncio", "backports-lzma", "dataclasses", "enum34", "functools32", "futures", "pathlib", "typing",
     "unittest2", "uuid"}
)  # fmt: skip
"""Packages that brought parts of Python to versions before 3.7."""


@dataclass(frozen=True)
class Declared:
    """One requirement.

    Attributes:
        name: normalised package name.
        text: the requirement in PEP 508 form, made from parsed parts: no option, no URL, one line.
        origin: file and line, as in ``requirements.txt:4``.
        guessed: nobody declares it; it is taken from an import, and goes when it does not fit.
        conda: it is one of conda's packages, whose names and versions the package index need not have.
        mentioned: its version is only told in a README, a Dockerfile, CI or an extra, and gives way when it does
            not fit.
    """

    name: str
    text: str
    origin: str
    guessed: bool = False
    conda: bool = False
    mentioned: bool = False

    def __str__(self) -> str:
        return f"{self.text} ({self.origin})"


@dataclass(frozen=True)
class Unused:
    """A requirement that cannot be used as it stands.

    Attributes:
        text: as written, made printable.
        origin: file and line.
        kind: ``git`` (or another version control), ``url``, ``path``, ``own`` (this repository), ``option``,
            ``unavailable`` (imported, and not on the package index), ``unreadable``.
        reason: why, for a person.
        name: the package's name, normalised, where it is known.
    """

    text: str
    origin: str
    kind: str
    reason: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.origin}: not used, {self.reason}: {self.text}"


@dataclass(frozen=True)
class Fact:
    """Something that a place of the repository says or shows."""

    text: str
    origin: str

    def __str__(self) -> str:
        return f"{self.text} ({self.origin})"


@dataclass(frozen=True)
class Download:
    """A model or data set that the code fetches.

    Attributes:
        kind: ``model``, ``dataset``, ``nltk``, ``spacy`` or ``file``.
        what: its name or address.
        origin: file and line.
        at_import: whether importing the module fetches it; otherwise calling something does.
    """

    kind: str
    what: str
    origin: str
    at_import: bool

    def __str__(self) -> str:
        when = "when imported" if self.at_import else "when run"
        return f"{self.kind} {self.what}, {when} ({self.origin})"


@dataclass(frozen=True)
class SystemPackage:
    """A package of the image's operating system: Debian's and Ubuntu's name, and why it is needed."""

    name: str
    reason: str
    origin: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason} ({self.origin})"


@dataclass(frozen=True)
class Contradiction:
    """Requirements on one package, in one or several places, that no version satisfies together."""

    name: str
    declared: tuple[Declared, ...]

    def __str__(self) -> str:
        return f"contradictory: {' against '.join(map(str, self.declared))}"


@dataclass(frozen=True)
class Recipe:
    """What a repository declares, or is seen to import.

    Attributes:
        requirements: without the PyTorch family and the repository's own package.
        torch: requirements on the PyTorch family.
        python: version specifier that the repository asks for ("" when none), with ``python_origin``.
        project: normalised name of the repository's own package, "" when it is none.
        own_version: the version of that package, where the code asks which is installed; else "".
        devel: why the base image must have a compiler (a package that builds with it), or "".
        source_folder: folder of the repository that must be on Python's path (``src``), or "".
        date: when the pinned commit was made; packages newer than this are not used.
        sources: files that the facts were read from.
        problems: lines that were not used, and why.
        constraints: versions that the repository's own lock files name; they give way when they do not fit.
        pythons: every place that names a Python version.
        suggested: requirements that are only mentioned (README, Dockerfile, CI, extras) and not used.
        unused: requirements that cannot be used: addresses, paths, options.
        contradictions: requirements that exclude one another.
        cuda: where the code cannot do without a GPU, or compiles for one.
        system: packages of the operating system.
        downloads: models and data that the code fetches.
        imported: names of the packages that the main code imports at once, with others that bring the same module.
    """

    requirements: tuple[Declared, ...] = ()
    torch: tuple[Declared, ...] = ()
    python: str = ""
    python_origin: str = ""
    project: str = ""
    own_version: str = ""
    devel: str = ""
    source_folder: str = ""
    date: datetime | None = None
    sources: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    constraints: tuple[Declared, ...] = ()
    pythons: tuple[Fact, ...] = ()
    suggested: tuple[Declared, ...] = ()
    unused: tuple[Unused, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    cuda: tuple[Fact, ...] = ()
    system: tuple[SystemPackage, ...] = ()
    downloads: tuple[Download, ...] = ()
    imported: frozenset[str] = frozenset()

    @property
    def idle(self) -> frozenset[str]:
        """Names of the requirements that somebody declares and that no code imports at once."""
        return frozenset(item.name for item in self.requirements) - self.imported


@dataclass(frozen=True)
class Manifest:
    """What one file says.

    Attributes:
        declared: requirements of the repository.
        python: specifier of the Python version it asks for, with the line in ``python_origin``.
        project: normalised name of the repository's package.
        problems: what could not be read, for a person.
        unused: requirements that cannot be used.
        suggested: requirements that are optional (extras, groups) or only mentioned.
        constraints: versions that apply if the package is installed at all (lock files, ``-c``).
        includes: requirement files that a README, a Dockerfile or CI tells to install.
        apt: packages of the operating system that it installs.
    """

    path: str
    declared: tuple[Declared, ...] = ()
    python: str = ""
    project: str = ""
    problems: tuple[str, ...] = ()
    unused: tuple[Unused, ...] = ()
    suggested: tuple[Declared, ...] = ()
    constraints: tuple[Declared, ...] = ()
    python_origin: str = ""
    includes: tuple[str, ...] = ()
    apt: tuple[Fact, ...] = ()


def applies(declared: Declared) -> bool:
    """Whether a requirement's marker holds on Linux x86-64; markers on the Python version are left open."""
    marker = Requirement(declared.text).marker
    if marker is None:
        return True
    linux = {
        "sys_platform": "linux",
        "platform_system": "Linux",
        "os_name": "posix",
        "platform_machine": "x86_64",
    }
    versions = (
        {"python_version": v, "python_full_version": f"{v}.0"} for v in ("3.7", "3.8", "3.10", "3.11", "3.12")
    )
    return any(marker.evaluate({**linux, **version, "extra": ""}) for version in versions)


def is_exact(declared: Declared) -> bool:
    """Whether a requirement names one version."""
    return any(
        part.operator in ("==", "===") and "*" not in part.version
        for part in Requirement(declared.text).specifier
    )


INDIRECT = frozenset(
    {"certifi", "idna", "urllib3", "six", "charset-normalizer", "chardet", "pytz", "markupsafe", "zipp", "pyparsing",
     "python-dateutil", "click", "joblib", "attrs", "typing-extensions", "threadpoolctl"}
)  # fmt: skip
"""Packages that nobody asks for, and that nearly every environment holds."""


def is_freeze(declared: Sequence[Declared]) -> bool:
    """Whether this is the full list of an environment that existed: many packages, indirect ones too, nearly all exact.

    A long list of what somebody asked for by name and version is none: what these packages need is missing in it.
    """
    indirect = sum(item.name in INDIRECT for item in declared)
    return len(declared) >= 15 and indirect >= 3 and sum(map(is_exact, declared)) >= 0.9 * len(declared)
