"""What a repository needs, each fact with the place it was read from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lmr_author.processes import printable

TORCH_FAMILY = frozenset({"torch", "torchvision", "torchaudio", "triton", "pytorch-triton"})
"""Packages that the base image brings; they are never installed over it."""

BUILT_WITH_TORCH = frozenset(
    {"flash-attn", "apex", "mamba-ssm", "causal-conv1d", "torch-scatter", "torch-sparse", "torch-cluster",
     "torch-spline-conv", "pyg-lib", "detectron2", "pytorch3d", "transformer-engine", "grouped-gemm"}
)  # fmt: skip
"""Packages whose source needs PyTorch and a CUDA compiler to be installed."""


@dataclass(frozen=True)
class Declared:
    """One requirement.

    Attributes:
        name: normalised package name.
        text: the requirement in PEP 508 form, made from parsed parts: no option, no URL, one line.
        origin: file and line, as in ``requirements.txt:4``.
        guessed: nobody declares it; it is taken from an import, and goes when it does not fit.
    """

    name: str
    text: str
    origin: str
    guessed: bool = False

    def __str__(self) -> str:
        return f"{self.text} ({self.origin})"


@dataclass(frozen=True)
class Recipe:
    """What a repository declares, or is seen to import.

    Attributes:
        requirements: without the PyTorch family and the repository's own package.
        torch: requirements on the PyTorch family.
        python: version specifier that the repository asks for ("" when none), with ``python_origin``.
        project: normalised name of the repository's own package, "" when it is none.
        devel: why the base image must have a compiler (a package that builds with it), or "".
        source_folder: folder of the repository that must be on Python's path (``src``), or "".
        date: when the pinned commit was made; packages newer than this are not used.
        sources: files that the facts were read from.
        problems: lines that were not used, and why.
    """

    requirements: tuple[Declared, ...] = ()
    torch: tuple[Declared, ...] = ()
    python: str = ""
    python_origin: str = ""
    project: str = ""
    devel: str = ""
    source_folder: str = ""
    date: datetime | None = None
    sources: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Manifest:
    """What one file declares."""

    path: str
    declared: tuple[Declared, ...] = ()
    python: str = ""
    project: str = ""
    problems: tuple[str, ...] = ()


def parse_requirement(text: str, origin: str, *, guessed: bool = False) -> Declared | str:
    """A requirement, or why it is not used: an address or path in place of a version, or no requirement."""
    try:
        requirement = Requirement(text)
    except (InvalidRequirement, ValueError, RecursionError):
        return f"{origin}: not used, no requirement by name and version: {_short(text)}"
    if requirement.url:
        return f"{origin}: not used, {requirement.name} comes from an address: {_short(text)}"
    return Declared(canonicalize_name(requirement.name), str(requirement), origin, guessed)


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
        part.operator == "==" and "*" not in part.version for part in Requirement(declared.text).specifier
    )


def is_freeze(declared: Sequence[Declared]) -> bool:
    """Whether this is the full list of an environment that existed: many packages, nearly all exact."""
    return len(declared) >= 15 and sum(map(is_exact, declared)) >= 0.9 * len(declared)


def _short(text: str) -> str:
    return printable(text, 120)
