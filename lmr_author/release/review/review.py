"""``review``: the checklist of a task answered by one person, decisions about disputes, the review queue.

A review holds for one state of the task. Reviews are blind: nobody sees another's answers before all are in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lmr_author.core import files
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.locks import changes_task
from lmr_author.core.task import State, Task
from lmr_author.core.task import evaluation as evaluations
from lmr_author.core.task.folder import reviewed_digest
from lmr_author.core.task.provenance import require_other
from lmr_author.core.task.reviews import (
    Adjudication,
    Decision,
    DraftAnswer,
    Review,
    ReviewDraft,
    number_aside,
    path_of_reviewer,
)
from lmr_author.proof.validation.run import checked
from lmr_author.release.review import checklist
from lmr_author.release.review.agreement import Agreement, agreement
from lmr_author.release.review.checklist import Checklist
from lmr_author.release.review.evidence_of_questions import evidence_of
from lmr_author.release.review.review_status import ReviewStatus, checklist_for, review_status


@dataclass(frozen=True)
class ReviewResult:
    """The review of one task; answers by person and item, as far as they were given blind and may be shown."""

    task: str
    status: ReviewStatus
    answers: Mapping[str, Mapping[str, str]]

    @property
    def agreement(self) -> Agreement | None:
        """The agreement of the answers; None while reviews are missing."""
        return agreement(self.answers) if self.status.open else None


@changes_task
def save_review(
    task: Task, reviewer: str, answers: Mapping[str, Any], asked: Checklist | None = None
) -> Review:
    """Store a review; an earlier one of the same reviewer is kept as ``<reviewer>.json.N``.

    A review stored after all others are in, whose answers could be seen, is marked as not blind.

    Raises:
        UsageError: an answer is missing or invalid, passes on weak evidence without a comment, or the name cannot be
            a file's.
        LmrError: not a task folder.
    """
    task.load()
    asked = asked or checklist_for(task)
    path = path_of_reviewer(task.reviews_folder, reviewer)
    require_other(task, reviewer)
    findings = checked([task]).findings
    items = (
        *checklist.automatic_items(task, findings),
        *checklist.human_items(answers, asked.questions, evidence_of(task, findings)),
    )
    digest = reviewed_digest(task)
    review = Review(
        reviewer=reviewer,
        created=_now(),
        content_digest=digest,
        checklist=asked.name,
        blind=not review_status(task, asked, digest).open,
        items=items,
        signed_off=all(entry.signs_off for entry in items),
    )
    if path.exists():
        files.write_bytes(number_aside(path), path.read_bytes())
    review.write(path)
    path.with_suffix(".draft").unlink(missing_ok=True)
    return review


def earlier_review(task: Task, reviewer: str) -> Review | None:
    """Return the review that this person has stored, of whatever state of the task; None without one."""
    return Review.read_if_valid(path_of_reviewer(task.reviews_folder, reviewer))


def result_of(task: Task, path: Path | None = None) -> ReviewResult:
    """Return the review status of a task, with the answers when all reviews are in."""
    asked, digest = checklist_for(task, path), reviewed_digest(task)
    status = review_status(task, asked, digest)
    return ReviewResult(task.name, status, _blind_answers(task, asked, digest) if status.open else {})


def overall_agreement(results: Sequence[ReviewResult]) -> Agreement:
    """Measure the agreement over all tasks whose reviews are in."""
    merged: dict[str, dict[str, str]] = {}
    for result in results:
        for person, answers in result.answers.items():
            merged.setdefault(person, {}).update(answers)
    return agreement(merged)


@changes_task
def adjudicate(
    task: Task, item: str, answer: str, reason: str, by: str, checklist: Path | None = None
) -> ReviewStatus:
    """Decide an item on which the reviewers disagree, in place of an earlier decision; return the new status.

    Raises UsageError: reviews are missing, no such item, no reason; LmrError: the stored decisions are damaged.
    """
    asked, digest = checklist_for(task, checklist), reviewed_digest(task)
    names = [question.id for question in asked.questions]
    if item not in names:
        raise UsageError(f"unknown checklist item {item!r}", "items: " + ", ".join(names))
    status = review_status(task, asked, digest)
    if not status.open:
        raise UsageError(
            f"{task.name}: {status.missing} more reviews are needed before anything can be decided",
            "reviews stay blind until all are in",
        )
    path_of_reviewer(task.reviews_folder, by)
    require_other(task, by)
    if answer not in ("pass", "fail"):
        raise UsageError(f"invalid decision {answer!r}", "decide for pass or fail")
    if not reason.strip():
        raise UsageError(f"the decision about {item!r} needs a reason", "add --reason TEXT")
    path = task.adjudication_path
    stored = Adjudication.read(path) if path.exists() else Adjudication()
    others = [
        decision
        for decision in stored.decisions
        if (decision.item, decision.content_digest) != (item, digest)
    ]
    new = Decision(item, answer, reason.strip(), by, _now(), digest)  # type: ignore[arg-type]
    replace(stored, decisions=(*others, new)).write(path)
    return review_status(task, asked, digest)


def find_waiting(tasks: Sequence[Task], reviewer: str, path: Path | None = None) -> list[Task]:
    """Return the tasks that this person should review next: evaluated, and waiting for another reviewer."""
    waiting = []
    for task in tasks:
        try:
            task.load()
            state = State.of(task)
            status = review_status(task, checklist_for(task, path), state.reviewed)
        except LmrError:
            continue
        evaluation = evaluations.load(task)
        if evaluation is None or not evaluation.is_of(state):
            continue
        ready = evaluation.passed or evaluation.needs_approval
        if ready and not status.open and reviewer not in status.reviewers:
            waiting.append(task)
    return waiting


class DraftReview:
    """The answers of an unfinished review, kept after each one so that an interruption loses none.

    Answers about an earlier state of the task are moved to ``<reviewer>.draft.N``.

    Attributes:
        outdated: file of such answers, None when there were none.

    Raises UsageError for a name that cannot be a file's, LmrError when the file is damaged.
    """

    def __init__(self, task: Task, reviewer: str) -> None:
        self._path = path_of_reviewer(task.reviews_folder, reviewer).with_suffix(".draft")
        self._digest = reviewed_digest(task)
        self.answers: dict[str, dict[str, str]] = {}
        self.outdated: Path | None = None
        draft = ReviewDraft.read(self._path) if self._path.is_file() else None
        if draft and draft.content_digest == self._digest:
            self.answers = {question: asdict(answer) for question, answer in draft.answers.items()}
        elif draft and draft.answers:
            self.outdated = self._path.rename(number_aside(self._path))

    def keep(self, answers: Mapping[str, Mapping[str, str]]) -> None:
        """Store the answers so far: ``{item: {"answer": …, "comment": …}}``."""
        stored = {}
        for question, answer in answers.items():
            stored[question] = DraftAnswer(answer["answer"], answer.get("comment", ""))
        ReviewDraft(content_digest=self._digest, answers=stored).write(self._path)


def _blind_answers(task: Task, asked: Checklist, digest: str) -> dict[str, dict[str, str]]:
    """Return person → task and item → answer, from the last blind review of the task as it is by each person."""
    names = {question.id for question in asked.questions}
    latest: dict[str, Review] = {}
    for path in sorted(task.reviews_folder.glob("*.json*")):
        review = Review.read_if_valid(path)
        if review is None or not review.blind or review.content_digest != digest:
            continue
        earlier = latest.get(review.reviewer)
        if earlier is None or review.created >= earlier.created:
            latest[review.reviewer] = review
    answers: dict[str, dict[str, str]] = {}
    for name, review in sorted(latest.items()):
        answers[name] = {}
        for question, entry in review.human.items():
            if question in names:
                answers[name][f"{task.name}:{question}"] = entry.answer
    return answers


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
