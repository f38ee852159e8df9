"""What the writers of an export are given: tasks on their way out, and what the caller chose."""

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
    """A task on its way out.

    Attributes:
        problems: why it is not fit for release, one line each; exports are marked with them.
        review: ``accepted``, ``disputed``, ``rejected``, or :data:`NOT_REVIEWED` while reviews are missing.
        findings: what `validate` finds.
        mutants: what became of each implementation's mutants, by its index.
        difficulty: what models' answers came to, by index; without the implementations that no model was tried on.
        challenge: how misreadings and rewrites ended.
    """

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
    """Whose release this is: as Harbor's registry and the hub's readers cite it.

    Attributes:
        release_version: of all that is exported.
        organization: the name in front of those of the data set and of Harbor's tasks.
        author: names of the people who made the tasks.
        name: of the data set.
    """

    release_version: str = "1.0.0"
    organization: str = "lmr-author"
    author: tuple[str, ...] = ()
    name: str = "research-code-to-implement-from-papers"

    def __post_init__(self) -> None:
        for option, value in (("--organization", self.organization), ("--name", self.name)):
            if not _NAME.fullmatch(value):
                raise UsageError(
                    f"{option} {value!r} is no name for Harbor",
                    "letters, digits, and single . _ - between them",
                )
        if not self.release_version.strip():
            raise UsageError("--release-version is empty", "as in 1.0.0")

    @property
    def full_name(self) -> str:
        return f"{self.organization}/{self.name}"

    @property
    def canary(self) -> str:
        """A line to find where the set was trained on: the same in all releases of a data set."""
        return f"harbor-canary GUID {uuid.uuid5(uuid.NAMESPACE_URL, self.full_name)}"


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
        offline: cut the network by a compose file from the start (harbor).
        push: registry for the tasks' images; "" has Harbor build them (harbor).
        say: called with each step of building and pushing.
    """

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
