"""What a caller of ``export`` may choose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import msgspec

from lmr_author.core.errors import UsageError

_ORGANIZATION = re.compile(r"[A-Za-z0-9](?:[._-]?[A-Za-z0-9])*")


@dataclass(frozen=True)
class Publication:
    """Whose release this is: as Harbor's registry and the hub's readers cite it.

    Attributes:
        release_version: of all that is exported.
        organization: the name in front of those of Harbor's tasks.
        author: names of the people who made the tasks.
    """

    release_version: str = "1.0.0"
    organization: str = "lmr-author"
    author: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _ORGANIZATION.fullmatch(self.organization):
            raise UsageError(
                f"--organization {self.organization!r} is no name for Harbor",
                "letters, digits, and single . _ - between them",
            )
        if not self.release_version.strip():
            raise UsageError("--release-version is empty", "as in 1.0.0")


@dataclass(frozen=True)
class HarborMachine:
    """What Harbor gives to the agent.

    Attributes:
        agent_seconds: time of an agent.
        offline: cut the network by a compose file from the start, for Docker on a machine without a network.
    """

    cpus: Annotated[float, msgspec.Meta(ge=0.1)] = 2
    memory_mb: Annotated[int, msgspec.Meta(ge=256)] = 8192
    storage_mb: Annotated[int, msgspec.Meta(ge=256)] = 20480
    gpus: Annotated[int, msgspec.Meta(ge=0)] = 0
    agent_seconds: Annotated[float, msgspec.Meta(ge=1)] = 3600
    offline: bool = False

    @classmethod
    def parse(cls, texts: Sequence[str]) -> HarborMachine:
        """Return the machine of some ``NAME=VALUE``. Raises UsageError."""
        values = {}
        for text in texts:
            name, _, value = text.partition("=")
            field = name.replace("-", "_")
            if field not in cls.__dataclass_fields__:
                known = ", ".join(cls.__dataclass_fields__).replace("_", "-")
                raise UsageError(f"--harbor {text}: there is no {name}", f"one of {known}, as in cpus=4")
            values[field] = value
        try:
            return msgspec.convert(values, cls, strict=False)
        except msgspec.ValidationError as error:
            raise UsageError(
                f"--harbor: {error}", "as in --harbor cpus=4 --harbor memory-mb=16384"
            ) from error

    @property
    def words(self) -> list[str]:
        """The values that are not as usual, as ``NAME=VALUE``."""
        usual = HarborMachine()
        words = []
        for name, value in vars(self).items():
            if value != getattr(usual, name):
                words.append(f"{name.replace('_', '-')}={str(value).lower()}")
        return words


@dataclass(frozen=True)
class ExportOptions:
    """Options of ``export``.

    Attributes:
        format: a key of :data:`~lmr_author.release.export.export.WRITERS`.
        out: a folder that does not exist yet, or is empty.
        base_image: default base of the exported Dockerfiles; "" leaves each task its own.
        private: folder for goldens and tests (huggingface).
        unreviewed: export tasks whose reviews are missing, marked as such.
        force: export every task, marked with what is wrong.
        challenged: tasks have to be challenged, and nothing of it may be open.
    """

    format: str
    out: Path
    base_image: str = ""
    private: Path | None = None
    unreviewed: bool = False
    force: bool = False
    challenged: bool = False
    publication: Publication = field(default_factory=Publication)
    machine: HarborMachine = field(default_factory=HarborMachine)
