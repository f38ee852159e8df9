"""Mutants that an annotator accepted as equivalent to the golden: ``authoring/equivalent-mutants.json``.

A mutant's id depends on the target's source, so an acceptance no longer matches when the golden changes.
Format: ``schemas/equivalent-mutants.schema.json``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import msgspec

from lmr_author.core.task.folder import Task
from lmr_author.core.task.record import Record, Text

Id = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{8}$")]
Date = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date"})]


@dataclass(frozen=True)
class EquivalentMutant(Record):
    """A mutant that does not count.

    Attributes:
        target: node id of the masked function.
        id: its name in evaluation reports.
        reason: justification.
        date: day of acceptance.
        by: name of the person; "" when unknown.
        diff: its change, as lines with - and +; "" in a recipe, which has no lines of the repository's code.
    """

    optional: ClassVar = ("by", "diff")

    target: Text
    id: Id
    reason: Text
    date: Date
    by: str = ""
    diff: str = ""


@dataclass(frozen=True, kw_only=True)
class EquivalentMutants(Record):
    """Mutants of the golden that are no mistakes: ``authoring/equivalent-mutants.json``.

    Attributes:
        accepted: the mutants.
    """

    optional: ClassVar = ("$schema",)

    accepted: tuple[EquivalentMutant, ...]

    def of(self, target: object) -> tuple[EquivalentMutant, ...]:
        """Return the mutants of one target, given as its node id."""
        return tuple(mutant for mutant in self.accepted if mutant.target == str(target))


def load(task: Task) -> EquivalentMutants:
    """Return the accepted mutants of a task. Raises LmrError when the file is damaged."""
    path = task.equivalent_mutants_path
    return EquivalentMutants.read(path) if path.exists() else EquivalentMutants(accepted=())


def add(task: Task, mutants: Iterable[EquivalentMutant]) -> None:
    """Store acceptances in place of earlier ones of the same mutants. Raises LmrError when the file is damaged."""
    by_key = {(mutant.target, mutant.id): mutant for mutant in (*load(task).accepted, *mutants)}
    ordered = tuple(by_key[key] for key in sorted(by_key))
    EquivalentMutants(accepted=ordered).write(task.equivalent_mutants_path)
