"""The needs of a repository, each with its origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from packaging.requirements import Requirement

from lmr_author.runtime.environment.packages import names


@dataclass(frozen=True)
class DeclaredNeed:
    """One requirement.

    Attributes:
        name: normalised package name.
        text: the requirement in PEP 508 form, built from parsed parts: no option, no URL, one line.
        origin: file and line, as in ``requirements.txt:4``.
        guessed: derived from an import, not declared; dropped in a conflict.
        mentioned: its version comes from a README, a Dockerfile or conda, and may be missing on the package index;
            the version is dropped in a conflict.
    """

    name: str
    text: str
    origin: str
    guessed: bool = False
    mentioned: bool = False

    def __str__(self) -> str:
        return f"{self.text} ({self.origin})"


@dataclass(frozen=True)
class Fact:
    text: str
    origin: str


NOTHING = Fact("", "")


@dataclass(frozen=True)
class SystemPackage:
    name: str
    reason: str
    origin: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason} ({self.origin})"


@dataclass(frozen=True)
class Needs:
    """All needs that a repository declares, or that its code shows.

    Attributes:
        requirements: without the PyTorch family and the repository's own package.
        torch: requirements on the PyTorch family.
        beside_torch: torchvision and torchaudio, if the code imports them: conda files name both out of habit, and one
            built for another PyTorch fails on import.
        python: the required version specifier ("" for none), with ``python_origin``.
        project: normalised name of the repository's own package, or "".
        own_version: that package's version, if the code reads the installed one; else "".
        devel: why the base image must have a compiler, or "".
        source_folder: folder of the repository that must be on Python's path (``src``), or "".
        date: date of the pinned commit; newer packages are not used.
        sources: files with the declarations.
        problems: unused lines, and why.
        constraints: versions of packages that the goal files do not import themselves; dropped in a conflict.
        system: packages of the operating system.
        credentials: variables with keys that the code requires; tests get a dummy value.
    """

    requirements: tuple[DeclaredNeed, ...] = ()
    torch: tuple[DeclaredNeed, ...] = ()
    beside_torch: tuple[str, ...] = ()
    python: str = ""
    python_origin: str = ""
    project: str = ""
    own_version: str = ""
    devel: str = ""
    source_folder: str = ""
    date: datetime | None = None
    sources: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    constraints: tuple[DeclaredNeed, ...] = ()
    system: tuple[SystemPackage, ...] = ()
    credentials: tuple[str, ...] = ()

    def own_metadata(self) -> dict[str, str]:
        """Return package metadata that declares the repository's own package as installed: path → text.

        Empty if the code does not need it. The published package is never installed, as it contains the solution.
        """
        if not self.own_version:
            return {}
        folder = f"{self.project.replace('-', '_')}-{self.own_version}.dist-info"
        text = f"Metadata-Version: 2.1\nName: {self.project}\nVersion: {self.own_version}\n"
        return {f"{folder}/METADATA": text}


def applies(declared: DeclaredNeed) -> bool:
    """Return whether a marker holds on Linux x86-64, ignoring the Python version."""
    marker = Requirement(declared.text).marker
    if marker is None:
        return True
    linux = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "extra": ""}
    linux["platform_machine"] = "x86_64"
    pythons = ("3.7", "3.8", "3.10", "3.11", "3.12")
    return any(
        marker.evaluate({**linux, "python_version": python, "python_full_version": f"{python}.0"})
        for python in pythons
    )


def exact_version(text: str) -> str:
    for part in Requirement(text).specifier:
        if part.operator in ("==", "===") and "*" not in part.version:
            return part.version
    return ""


def is_exact(declared: DeclaredNeed) -> bool:
    return bool(exact_version(declared.text))


def has_version(declared: DeclaredNeed) -> bool:
    return bool(Requirement(declared.text).specifier)


def is_freeze(declared: Sequence[DeclaredNeed]) -> bool:
    """Return whether this lists a whole environment: many packages, including indirect ones, nearly all exact.

    A long list of direct requirements with versions is not one: it lacks their dependencies.
    """
    indirect = sum(requirement.name in names("indirect") for requirement in declared)
    return len(declared) >= 15 and indirect >= 3 and sum(map(is_exact, declared)) >= 0.9 * len(declared)
