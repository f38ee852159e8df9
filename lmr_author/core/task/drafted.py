"""Which model drafted a recipe: ``drafted.json`` beside ``recipe.yaml``, and in the task's ``authoring/``.

The program writes it, never the model. A drafted task is confirmed by people's reviews, as any other is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lmr_author import __version__
from lmr_author.core.errors import UsageError
from lmr_author.core.task.folder import Task
from lmr_author.core.task.record import Record, Text, Time

DRAFTED = "drafted.json"


@dataclass(frozen=True, kw_only=True)
class DraftOrigin(Record):
    """The model that wrote a recipe.

    Attributes:
        format: version of this document.
        tool: version of lmr-author.
        model: the model, as Inspect AI names it.
        date: when it began.
        parts: what it wrote.
    """

    format: Literal["lmr-drafted/1"] = "lmr-drafted/1"
    tool: str = __version__
    model: Text
    date: Time
    parts: tuple[str, ...] = ("target", "instruction", "driver", "environment", "answers", "ledger")


def drafted_by(task: Task) -> DraftOrigin | None:
    return DraftOrigin.read_if_valid(task.drafted_path)


def require_other(task: Task, person: str) -> None:
    """Raise UsageError for a review by the model that drafted the task."""
    drafted = drafted_by(task)
    if drafted and person.casefold() == drafted.model.rpartition("/")[2].casefold():
        raise UsageError(
            f"{person} drafted this task, and cannot review it", "a person has to: add --reviewer NAME"
        )
