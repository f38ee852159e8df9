"""What a draft is of, and what it may use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lmr_author.release.recipes.stages import StandIns
from lmr_author.runtime.environment.where import Where


@dataclass(frozen=True)
class Request:
    """A paper and its repository. ``commit``: "" for the newest one."""

    paper: str
    repository: str
    commit: str = ""


@dataclass(frozen=True)
class Budget:
    """What a draft may use: runs of ``make``, tokens, minutes, and dollars where the provider tells what it costs."""

    rounds: int
    tokens: int
    minutes: float
    cost: float | None = None


@dataclass(frozen=True)
class DraftOptions:
    """Options of ``draft``.

    Attributes:
        model: as Inspect AI names it.
        out: folder of the recipes.
        tasks: folder of the tasks that are made of them.
        budget: of each paper.
        where: the sandbox of all that the model writes.
        stand_ins: clones and PDFs on this machine.
        jobs: papers side by side.
    """

    model: str
    out: Path
    tasks: Path
    budget: Budget
    where: Where
    stand_ins: StandIns
    jobs: int = 1
