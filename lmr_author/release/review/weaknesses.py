"""What weakens a task: what a reviewer should know before anything else, from all questions together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lmr_author.authoring.recording.checkers import in_numbers
from lmr_author.core.task.evaluation import MUTANTS_DIE
from lmr_author.core.task.mutation import MutationScore
from lmr_author.core.texts import counted
from lmr_author.release.review import evidence_of_ledger
from lmr_author.release.review.evidence import QuestionEvidence
from lmr_author.release.review.under_test import ReviewedTask, TargetUnderTest

FIRST = {"no-leak": 0, "tests": 1, "instruction": 2}
"""The questions whose doubts weigh most, in their order."""
PASSAGES = "passages"
"""The id of the ledger on a task's page."""


@dataclass(frozen=True)
class Weakness:
    """A fact in a sentence.

    Attributes:
        place: id of the part of the task's page that shows it.
        question: the question of the checklist that it bears on.
    """

    text: str
    place: str
    question: str


def weaknesses(reviewed: ReviewedTask, evidence: Mapping[str, QuestionEvidence]) -> tuple[Weakness, ...]:
    """Return why the evidence is weak, a leak first, then what is worth knowing all the same."""
    found = [
        Weakness(doubt, f"review-{question}", question)
        for question in sorted(evidence, key=lambda question: FIRST.get(question, len(FIRST)))
        for doubt in evidence[question].doubts
    ]
    for target in reviewed.targets:
        found += _remarks(reviewed, target)
    if reviewed.proof and reviewed.proof.doubts:
        found.append(Weakness(reviewed.proof.doubts, "environment", "environment"))
    return tuple(found)


def _remarks(reviewed: ReviewedTask, target: TargetUnderTest) -> Iterator[Weakness]:
    index = target.implementation.index
    name = f"{target.implementation.qualname}: " if len(reviewed.targets) > 1 else ""
    score = target.mutants.score if target.mutants else MutationScore()
    if score.open:
        text = f"{counted(score.open, 'mutant')} of {score.made} not killed, and not accepted"
        yield Weakness(f"{name}{text}", gate_anchor(index, MUTANTS_DIE), "tests")
    if score.indistinguishable:
        same = counted(score.indistinguishable, "mutant")
        text = f"{same} of {score.made} equal the golden on every generated call"
        yield Weakness(f"{name}{text}", gate_anchor(index, MUTANTS_DIE), "tests")
    numeric = [part for part in target.compared if part.tolerance]
    if numeric and not any(part.is_weak for part in target.compared):
        widest = max(numeric, key=lambda part: part.tolerance or (0.0, 0.0))
        text = f"the widest tolerance is {in_numbers(widest.tolerance)}, for {widest.named}"
        yield Weakness(f"{name}{text}", f"cases-{index}", "tests")
    entries = [judged.entry for judged in evidence_of_ledger.entries_of(reviewed.contents, index)]
    deviations = [entry for entry in entries if entry.relation == "deviates" and not entry.waived]
    if deviations:
        places = ", ".join(evidence_of_ledger.place(entry) for entry in deviations)
        text = f"the code deviates from the paper in {counted(len(deviations), 'place')}: {places}"
        yield Weakness(f"{name}{text}; the task says so", PASSAGES, "instruction")


def gate_anchor(index: int | None, gate: str) -> str:
    """Return the id of a gate's row on the task's page; ``index`` is None for one of the whole task."""
    return f"gate-{index or 'task'}-{gate}"
