"""The needs of a repository, each fact with the place it was read from."""

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
        text: the requirement in PEP 508 form, made from parsed parts: no option, no URL, one line.
        origin: file and line, as in ``requirements.txt:4``.
        guessed: derived from an import; nobody declares it, so it is dropped when it does not fit.
        mentioned: its version comes from a README, a Dockerfile or conda, whose versions the package index need not
            have; it is dropped when it does not fit.
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
    """Everything that a repository declares, or that its code shows.

    Attributes:
        requirements: without the PyTorch family and the repository's own package.
        torch: requirements on the PyTorch family.
        beside_torch: torchvision and torchaudio, as far as the code imports them: a conda file names both out of
            habit, and one built for another PyTorch breaks whatever tries to import it.
        python: version specifier that the repository asks for ("" for none), with ``python_origin``.
        project: normalised name of the repository's own package, "" when it is none.
        own_version: that package's version, where the code asks for an installed one; else "".
        devel: why the base image must have a compiler, or "".
        source_folder: folder of the repository that must be on Python's path (``src``), or "".
        date: when the pinned commit was made; newer packages are not used.
        sources: files that the facts were read from.
        problems: lines that were not used, and why.
        constraints: versions of what the goal files do not import itself; dropped when they do not fit.
        system: packages of the operating system.
        credentials: variables that hold keys which the code cannot do without; tests get a dummy value.
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
        """Return the file that says that the repository's own package is installed, by its path among the packages.

        Empty where the code does not ask. The published form is never installed, as that holds the solution.
        """
        if not self.own_version:
            return {}
        folder = f"{self.project.replace('-', '_')}-{self.own_version}.dist-info"
        text = f"Metadata-Version: 2.1\nName: {self.project}\nVersion: {self.own_version}\n"
        return {f"{folder}/METADATA": text}


def applies(declared: DeclaredNeed) -> bool:
    """Return whether a marker holds on Linux x86-64; markers on the Python version are left open."""
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
    """Return whether this lists a whole environment: many packages, indirect ones too, nearly all exact.

    A long list of what somebody asked for by name and version is none: it lacks what these packages need.
    """
    indirect = sum(requirement.name in names("indirect") for requirement in declared)
    return len(declared) >= 15 and indirect >= 3 and sum(map(is_exact, declared)) >= 0.9 * len(declared)
