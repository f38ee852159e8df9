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
    """Put requirements into the lock, pinned as of the commit's date; in place of what it has of the same name."""

    texts: tuple[str, ...]

    def __str__(self) -> str:
        return f"put {', '.join(self.texts)} into requirements.lock, as of the commit's date"


@dataclass(frozen=True)
class Drop:
    """Leave a requirement out of the lock: only if nobody declares it, that is, if it was guessed."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"leave {self.name} out of requirements.lock: {self.reason}"


@dataclass(frozen=True)
class Wheel:
    """Pin a package at the first later version that has a wheel; one that was guessed and has none is left out."""

    name: str

    def __str__(self) -> str:
        return f"pin {self.name} at the first later version that has a wheel for the image's Python"


@dataclass(frozen=True)
class Variable:
    """Set an environment variable in the Dockerfile, before anything is installed."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"set {self.name}={self.value} in the Dockerfile"


@dataclass(frozen=True)
class ArchivedMirrors:
    """Let apt use archive.debian.org, where releases go that are no longer served."""

    def __str__(self) -> str:
        return "let apt use archive.debian.org"


Change = SystemPackages | Requirements | Drop | Wheel | Variable | ArchivedMirrors
