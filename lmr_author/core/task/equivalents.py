"""Mutants that an annotator accepted as equivalent to the golden: ``authoring/equivalent-mutants.json``.

A mutant's id depends on the target's source, so an acceptance no longer matches when the golden changes. Each change
has a reason of its own: an acceptance without one is refused, and does not count where somebody wrote it into the file.
Format: ``schemas/equivalent-mutants.schema.json``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

from lmr_author.core.errors import UsageError
from lmr_author.core.task.folder import Task
from lmr_author.core.task.record import Record, Text

FEWEST_WORDS, FEWEST_CHARACTERS = 4, 20
"""What a reason has to have to be a sentence."""

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

    target: Text
    id: Id
    reason: Text
    date: Date
    by: str = ""
    diff: str = ""


@dataclass(frozen=True, kw_only=True)
class EquivalentMutants(Record):
    """Mutants accepted as equivalent: ``authoring/equivalent-mutants.json``.

    Attributes:
        accepted: the mutants.
    """

    accepted: tuple[EquivalentMutant, ...]

    def of(self, target: object) -> tuple[EquivalentMutant, ...]:
        return tuple(mutant for mutant in self.accepted if mutant.target == str(target))


def load(task: Task) -> EquivalentMutants:
    path = task.equivalent_mutants_path
    return EquivalentMutants.read(path) if path.exists() else EquivalentMutants(accepted=())


def add(task: Task, mutants: Iterable[EquivalentMutant]) -> None:
    """Store acceptances over earlier ones. Raises UsageError for a reason that is not a sentence, or not unique."""
    new = {(mutant.target, mutant.id): mutant for mutant in mutants}
    by_key = {(mutant.target, mutant.id): mutant for mutant in load(task).accepted} | new
    ordered = tuple(by_key[key] for key in sorted(by_key))
    for mutant in new.values():
        if flaw := flaw_of(mutant, ordered):
            raise UsageError(f"mutant {mutant.id} is not accepted: {flaw}", HOW)
    EquivalentMutants(accepted=ordered).write(task.equivalent_mutants_path)


HOW = (
    "explain in one sentence why this change makes no difference on any input, as in "
    "--reason 'labels are 0 or 1, so > 0 selects the same ones as == 1'"
)
"""How to write a reason."""


def flaw_of(mutant: EquivalentMutant, others: Sequence[EquivalentMutant]) -> str:
    """Return what is wrong with the reason of an acceptance; "" for nothing."""
    reason = mutant.reason.strip()
    if len(reason.split()) < FEWEST_WORDS or len(reason) < FEWEST_CHARACTERS:
        return (
            f"{reason!r} is not a sentence (at least {FEWEST_WORDS} words and {FEWEST_CHARACTERS} characters)"
        )
    for other in others:
        is_itself = (other.target, other.id) == (mutant.target, mutant.id)
        if (
            not is_itself
            and _letters(other.reason) == _letters(reason)
            and not _is_same_change(mutant, other)
        ):
            return f"{reason!r} is already the reason for {other.id}, a different change"
    return ""


def valid_changes(task: Task) -> dict[str, str]:
    """Return id → change of the acceptances that follow the rules; none where the file is damaged."""
    stored = EquivalentMutants.read_if_valid(task.equivalent_mutants_path)
    accepted = stored.accepted if stored else ()
    return {mutant.id: mutant.diff for mutant in accepted if not flaw_of(mutant, accepted)}


def _letters(reason: str) -> str:
    return " ".join(re.findall(r"[^\W\d_]+", reason.casefold()))


def _is_same_change(first: EquivalentMutant, second: EquivalentMutant) -> bool:
    changes = [[line[:1] + line[1:].strip() for line in one.diff.splitlines()] for one in (first, second)]
    return bool(first.diff) and changes[0] == changes[1]
