"""The records of a task as its report shows them: environment, vetting, reviews, history. Read leniently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lmr_author.core.errors import LmrError
from lmr_author.core.task import Evaluation, Task, TaskInfo, accepted, provenance
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.equivalents import EquivalentMutants
from lmr_author.core.task.folder import reviewed_digest
from lmr_author.core.task.reviews import Review
from lmr_author.core.texts import counted
from lmr_author.release.review.agreement import Agreement
from lmr_author.release.review.review import result_of
from lmr_author.release.review.review_status import load_reviews

History = tuple[tuple[str, str], ...]
"""Time (RFC 3339) and event, in order of time."""


def environment(task: Task, evaluation: Evaluation | None) -> tuple[tuple[str, str], ...]:
    """Return the facts of the evaluation's sandbox, then the Dockerfile's base image."""
    facts: list[tuple[str, str]] = []
    if evaluation:
        facts += [(name, value) for name, value in evaluation.sandbox.to_json().items() if name != "packages"]
    base = provenance.load(task).environment.base_image
    if base.reference:
        facts.append(("base image", f"{base.reference} ({base.reason})"))
    if evaluation:
        facts.append(("evaluated", f"{evaluation.started}, {evaluation.seconds:.0f} s"))
    return tuple(facts)


@dataclass(frozen=True)
class ReviewView:
    """Reviews as a report may show them.

    Attributes:
        note: their status, or the reason why it cannot be told.
        stored: the last review of each person, with whether it is about the task as it is.
        open: answers may be shown, because all reviews are in.
        rows: question, and answer with comment by each reviewer of the task as it is; disputed ones first.
        agreement: measures that are defined, by name.
    """

    note: str
    stored: Sequence[tuple[Review, bool]] = ()
    open: bool = False
    rows: Sequence[tuple[str, Sequence[tuple[str, str]]]] = ()
    agreement: Sequence[tuple[str, str]] = ()


def reviews(task: Task) -> ReviewView:
    """Return reviews, their status and agreement; blind until all are done."""
    digest = reviewed_digest(task)
    try:
        result = result_of(task)
    except LmrError as error:
        return ReviewView(error.message)
    status = result.status
    notes = [status.state]
    if status.missing:
        notes = [f"{status.state}: {counted(status.missing, 'more review')} needed"]
    if status.disputes:
        notes.append("disputed: " + ", ".join(dispute.item for dispute in status.disputes))
    for decision in status.decisions:
        notes.append(f"{decision.item}: {decision.answer}, decided by {decision.by}: {decision.reason}")
    stored = [(review, review.content_digest == digest) for review in load_reviews(task)]
    current = [review for review, is_current in stored if is_current]
    rows = _answers(current) if status.open else []
    return ReviewView("; ".join(notes), stored, status.open, rows, _measures(result.agreement))


def _answers(current: Sequence[Review]) -> list[tuple[str, Sequence[tuple[str, str]]]]:
    """Return each question with every reviewer's answer and comment, disputed ones first."""
    by_reviewer = []
    questions: dict[str, None] = {}
    for review in current:
        answers = {entry.question: (entry.answer, entry.comment or entry.evidence) for entry in review.items}
        by_reviewer.append(answers)
        questions |= dict.fromkeys(answers)
    rows = [(name, [answers.get(name, ("–", "")) for answers in by_reviewer]) for name in questions]
    return sorted(rows, key=lambda row: len({answer for answer, _ in row[1]}) == 1)


def _measures(agreement: Agreement | None) -> list[tuple[str, str]]:
    if agreement is None or agreement.percent is None:
        return []
    return [("Pairs that agree", f"{agreement.percent:.0%}"), *agreement.coefficients]


def history(task: Task, info: TaskInfo, evaluation: Evaluation | None) -> History:
    """Return the task's history in order of time, as far as its records go."""
    origin = provenance.load(task)
    events = [
        (origin.repository.commit_date, f"commit {info.repo_commit[:12]}" if info.repo_commit else "code"),
        (origin.created, "task created"),
        *_recorded(task, info),
    ]
    if evaluation:
        outcome = "every gate passed" if evaluation.passed else evaluation.open_gates
        place = evaluation.place.removeprefix("the ")
        events.append((evaluation.started, f"evaluated, {place}: {outcome}"))
    for review in load_reviews(task):
        events.append((review.created, f"reviewed by {review.reviewer}"))
    for finding in accepted.load(task):
        events.append((finding.date, f"finding {finding.code} accepted: {finding.reason}"))
    equivalent = EquivalentMutants.read_if_valid(task.equivalent_mutants_path)
    for mutant in equivalent.accepted if equivalent else ():
        events.append((mutant.date, f"mutant {mutant.id} accepted: {mutant.reason}"))
    return tuple(sorted((event for event in events if event[0]), key=lambda event: event[0]))


def _recorded(task: Task, info: TaskInfo) -> Iterator[tuple[str, str]]:
    for implementation in info.implementations:
        try:
            recording = recorded.load(task.recording(info, implementation.index))
        except LmrError:
            continue
        if recording is not None:
            cases = counted(len(recording.cases), "case")
            yield recording.created, f"{implementation.target} recorded: {cases}"
