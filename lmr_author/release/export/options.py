"""Input of the export writers: the tasks, and the caller's options."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lmr_author.core.errors import UsageError
from lmr_author.core.task import Finding, Task, TaskInfo
from lmr_author.core.task.challenge import ChallengeStatus
from lmr_author.core.task.difficulty import TargetDifficulty
from lmr_author.core.task.mutation import MutationScore

NOT_REVIEWED = "not reviewed"

_NAME = re.compile(r"[A-Za-z0-9](?:[._-]?[A-Za-z0-9])*")


@dataclass(frozen=True)
class Exportable:
    """A task to export; exports are marked with its ``problems``. ``mutants`` and ``difficulty``: by implementation."""

    task: Task
    info: TaskInfo
    problems: tuple[str, ...]
    review: str = NOT_REVIEWED
    findings: tuple[Finding, ...] = ()
    mutants: Mapping[int, MutationScore] = field(default_factory=dict)
    difficulty: Mapping[int, TargetDifficulty] = field(default_factory=dict)
    challenge: ChallengeStatus = ChallengeStatus.NEVER


@dataclass(frozen=True)
class Publication:
    """Version, publisher and authors of a release, as Harbor's registry and the hub's readers cite it."""

    release_version: str = "1.0.0"
    organization: str = "lmr-author"
    author: tuple[str, ...] = ()
    name: str = "research-code-to-implement-from-papers"

    def __post_init__(self) -> None:
        for option, value in (("--organization", self.organization), ("--name", self.name)):
            if not _NAME.fullmatch(value):
                raise UsageError(
                    f"{option} {value!r} is not a valid name for Harbor",
                    "letters, digits, and single . _ - between them",
                )
        if not self.release_version.strip():
            raise UsageError("--release-version is empty", "as in 1.0.0")

    @property
    def full_name(self) -> str:
        return f"{self.organization}/{self.name}"

    @property
    def canary(self) -> str:
        """A line that reveals training on the data set; the same in all its releases."""
        return f"harbor-canary GUID {uuid.uuid5(uuid.NAMESPACE_URL, self.full_name)}"


@dataclass(frozen=True)
class ExportOptions:
    """Options of ``export``, as its help describes them; ``say`` gets each step of building and pushing."""

    format: str
    out: Path
    base_image: str = ""
    private: Path | None = None
    unreviewed: bool = False
    force: bool = False
    challenged: bool = False
    publication: Publication = field(default_factory=Publication)
    offline: bool = False
    push: str = ""
    say: Callable[[str], None] = field(default=lambda _: None, compare=False)
