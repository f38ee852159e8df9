"""The figures of ``mutants-die``, the sentence that everybody reads, and what they prove."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass
from enum import StrEnum
from typing import Any

from lmr_author.core.task.record import Count, Record, Text

NEEDED_PERCENT = 90
"""Share of the mutants that nobody accepted that has to be killed."""
MOST_ACCEPTED_PERCENT = 10
"""Share of all mutants that one person may accept: above it, the test rests on that person's word."""
FEWEST = 30
"""Fewer mutants prove nothing where more can be made: they may be killed by chance."""


FEWEST_EXPLORED = 100
"""Generated calls on which a survivor has to be the golden to the bit to be indistinguishable."""


class Judgement(StrEnum):
    """Verdict on the figures: HELD, or why not.

    OPEN: too many survive. ACCEPTED: too many are accepted, which reviewers may approve. FEW: too few were tried.
    """

    HELD = "held"
    OPEN = "open"
    ACCEPTED = "accepted"
    FEW = "few"


LIMITS = {
    Judgement.HELD: ("", ""),
    Judgement.OPEN: (
        "",
        (
            "record inputs on which the survivors fail, or compare more in a hand-written test; `lmr-author accept` is "
            "only for a survivor that behaves like the original on every input"
        ),
    ),
    Judgement.ACCEPTED: (
        "; more than a tenth is accepted",
        "record inputs that kill some of them, or have the reviewers approve them: `lmr-author review`",
    ),
    Judgement.FEW: (f"; fewer than {FEWEST} prove nothing", "run `lmr-author evaluate` without --mutants"),
}
"""Judgement → the end of the gate's message, and its hint."""


@dataclass(frozen=True)
class Survivor(Record):
    """A mutant that passes.

    Attributes:
        id: eight hex digits.
        line: in the golden's file.
        operator: name of the mutation operator.
        diff: the change.
        why: what makes the test miss it, in words.
        unreached: first and last line of the block that no case reaches, where that is why.
        gpu: that block runs on a GPU only.
        accepted: a person accepted it as equivalent, in ``authoring/equivalent-mutants.json``.
        explored: generated calls on which it equals the golden to the bit; 0 if it differs on one, or few were made.
        told_by: the generated call on which it differs, in words.
    """

    id: Text
    line: Count = 0
    operator: str = ""
    diff: str = ""
    why: str = ""
    unreached: tuple[int, ...] = ()
    gpu: bool = False
    accepted: bool = False
    explored: Count = 0
    told_by: str = ""

    @property
    def indistinguishable(self) -> bool:
        return self.explored >= FEWEST_EXPLORED


@dataclass(frozen=True)
class MutantTally(Record):
    """Results of one operator's mutants on a line.

    Attributes:
        line: in the golden's file.
        operator: name of the mutation operator.
        made: how many were made.
        killed: how many of them the test fails.
    """

    line: Count
    operator: str
    made: Count
    killed: Count


@dataclass(frozen=True)
class MutationScore:
    """Mutants, by what became of them. Accepted and indistinguishable ones stay among those that were made.

    Attributes:
        made: mutants that judge the test.
        killed: those that the test fails.
        accepted: survivors that a person accepted as equivalent to the golden.
        untried: further mutants that could be made and were not tried; they are not among those made.
        indistinguishable: further survivors that equal the golden on hundreds of generated calls.
    """

    made: int = 0
    killed: int = 0
    accepted: int = 0
    untried: int = 0
    indistinguishable: int = 0

    @classmethod
    def total(cls, scores: Iterable[MutationScore]) -> MutationScore:
        rows = [astuple(each) for each in scores]
        return cls(*map(sum, zip(*rows, strict=True))) if rows else cls()

    @property
    def open(self) -> int:
        """Survivors that count: nobody accepted them, and some call may tell them from the golden."""
        return self.made - self.killed - self.accepted - self.indistinguishable

    @property
    def share(self) -> float | None:
        """The killed share of those that some call may tell from the golden; None where there is none."""
        told = self.made - self.indistinguishable
        return self.killed / told if told else None

    @property
    def text(self) -> str:
        """The figures in words: ``54 of 100 mutants killed, 46 accepted, 0 open``."""
        untried = f", {self.untried} not tried" if self.untried else ""
        same = f", {self.indistinguishable} indistinguishable" if self.indistinguishable else ""
        return f"{self.killed} of {self.made} mutants killed{same}, {self.accepted} accepted, {self.open} open{untried}"

    @property
    def judgement(self) -> Judgement:
        """What the figures prove; a test that kills no mutant proves nothing, whatever was accepted."""
        counting = self.made - self.accepted - self.indistinguishable
        if not self.killed or 100 * self.killed < NEEDED_PERCENT * counting:
            return Judgement.OPEN
        if self.made < FEWEST and self.untried:
            return Judgement.FEW
        too_many = 100 * self.accepted > MOST_ACCEPTED_PERCENT * self.made
        return Judgement.ACCEPTED if too_many else Judgement.HELD

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "open": self.open}
