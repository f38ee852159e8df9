"""What can be changed in a task's Dockerfile or lock to put a failure right. Data only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SystemPackages:
    """Install Debian packages in the Dockerfile."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"install the system package{'s' * (len(self.names) > 1)} {', '.join(self.names)}"


@dataclass(frozen=True)
class Requirements:
    """Put requirements into the lock, pinned as of the commit's date; in place of what it has of the same name.

    Where they are only the first that a package of the lock (``of``) misses, so is the rest of what it needs.
    """

    texts: tuple[str, ...]
    of: str = ""

    def __str__(self) -> str:
        return f"put {', '.join(self.texts)} into requirements.lock, as of the commit's date"


@dataclass(frozen=True)
class Drop:
    """Leave a requirement out of the lock: only if nobody declares it, or no code imports it at once."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"leave {self.name} out of requirements.lock: {self.reason}"


@dataclass(frozen=True)
class Wheel:
    """Pin a package at the first later version that has a wheel; one without, which may be dropped, is left out."""

    name: str

    def __str__(self) -> str:
        return f"pin {self.name} at the first later version that has a wheel for the image's Python"


@dataclass(frozen=True)
class Instead:
    """Take the package that brings the same module and has wheels: a continuation, or a build of the same."""

    name: str
    other: str

    def __str__(self) -> str:
        return f"take {self.other} in place of {self.name}: it brings the same module, and has wheels"


@dataclass(frozen=True)
class BuiltWith:
    """Build a package of the lock before the others, with what its source needs and without pip's build isolation."""

    name: str
    needs: tuple[str, ...]

    def __str__(self) -> str:
        return f"build {self.name} with {', '.join(self.needs)} and what the image has (--no-build-isolation)"


@dataclass(frozen=True)
class Relaxed:
    """Lock again with as little to compile as possible: what is pinned and has no wheel, or needs it, gives way."""

    def __str__(self) -> str:
        return "lock again as `lmr-author env lock --relax` does"


@dataclass(frozen=True)
class Newer:
    """Take a later version of a package: the newest that was out when there were packages for the image's Python.

    With ``newest`` the newest of all, where the image's PyTorch is newer than that.
    """

    name: str
    newest: bool = False

    def __str__(self) -> str:
        if self.newest:
            return f"take the newest version of {self.name}, as the image's PyTorch is new"
        return f"take a later version of {self.name}, which is made for the image's Python"


@dataclass(frozen=True)
class Older:
    """Take the version of a package that was current some years before the commit: code is older than its last commit.

    Never of what the repository itself pins.
    """

    name: str
    years: int = 1

    def __str__(self) -> str:
        when = f"{self.years} year{'s' * (self.years > 1)}"
        return f"take the version of {self.name} that was current {when} before the commit"


@dataclass(frozen=True)
class OldNames:
    """Give Python's own modules back what newer versions of it no longer have, or no longer let pass."""

    def __str__(self) -> str:
        return (
            "give the image's Python back the names that code of 2020 and before imports (collections.Mapping, …), and"
            " let it take dataclasses as defaults"
        )


@dataclass(frozen=True)
class Variable:
    """Set an environment variable in the Dockerfile, before anything is installed."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"set {self.name}={self.value} in the Dockerfile"


@dataclass(frozen=True)
class ManualPages:
    """Make the folder of manual pages, which slim images lack."""

    def __str__(self) -> str:
        return "make the folder /usr/share/man/man1, which slim images lack"


@dataclass(frozen=True)
class ArchivedMirrors:
    """Let apt use archive.debian.org, where releases go that are no longer served."""

    def __str__(self) -> str:
        return "let apt use archive.debian.org"


Change = (
    SystemPackages
    | Requirements
    | Drop
    | Wheel
    | Instead
    | BuiltWith
    | Relaxed
    | Newer
    | Older
    | OldNames
    | Variable
    | ManualPages
    | ArchivedMirrors
)
