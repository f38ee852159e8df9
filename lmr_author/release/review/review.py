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
from lmr_author.core.task import Task, TaskState
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
from lmr_author.core.texts import choices_hint
from lmr_author.proof.validation.run import checked
from lmr_author.release.review import checklist
from lmr_author.release.review.agreement import Agreement, agreement
from lmr_author.release.review.checklist import Checklist
from lmr_author.release.review.evidence_of_questions import evidence_of
from lmr_author.release.review.review_status import ReviewStatus, checklist_for, review_status


@dataclass(frozen=True)
class ReviewResult:
    """The review of one task. ``answers``: person → task and item → answer, of blind reviews, once all are in."""

    task: str
    status: ReviewStatus
    answers: Mapping[str, Mapping[str, str]]

    @property
    def agreement(self) -> Agreement | None:
        return agreement(self.answers) if self.status.open else None


@changes_task
def save_review(
    task: Task, reviewer: str, answers: Mapping[str, Any], asked: Checklist | None = None
) -> Review:
    """Store a review; the same reviewer's earlier one is kept as ``<reviewer>.json.N``.

    A review that is stored after all others are in is not blind: its author could see their answers.

    Raises UsageError: an answer is missing or invalid, a pass on weak evidence has no comment, or the reviewer's name
    is no file name. LmrError: not a task folder.
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
    """Return this person's stored review, of any state of the task."""
    return Review.read_if_valid(path_of_reviewer(task.reviews_folder, reviewer))


def result_of(task: Task, path: Path | None = None) -> ReviewResult:
    asked, digest = checklist_for(task, path), reviewed_digest(task)
    status = review_status(task, asked, digest)
    return ReviewResult(task.name, status, _blind_answers(task, asked, digest) if status.open else {})


def overall_agreement(results: Sequence[ReviewResult]) -> Agreement:
    merged: dict[str, dict[str, str]] = {}
    for result in results:
        for person, answers in result.answers.items():
            merged.setdefault(person, {}).update(answers)
    return agreement(merged)


@changes_task
def adjudicate(
    task: Task, item: str, answer: str, reason: str, by: str, checklist: Path | None = None
) -> ReviewStatus:
    """Decide an item on which the reviewers disagree, replacing an earlier decision.

    Raises UsageError: reviews are missing, unknown item, no reason; LmrError: the stored decisions are damaged.
    """
    asked, digest = checklist_for(task, checklist), reviewed_digest(task)
    names = [question.id for question in asked.questions]
    if item not in names:
        raise UsageError(f"unknown checklist item {item!r}", choices_hint(item, names, "items"))
    status = review_status(task, asked, digest)
    if not status.open:
        problem = f"{task.name}: {status.missing} more reviews are needed before anything can be decided"
        raise UsageError(problem, "reviews stay blind until all are in")
    path_of_reviewer(task.reviews_folder, by)
    require_other(task, by)
    if answer not in ("pass", "fail"):
        raise UsageError(f"invalid decision {answer!r}", "decide for pass or fail")
    if not reason.strip():
        raise UsageError(f"the decision about {item!r} needs a reason", "add --reason TEXT")
    path = task.adjudication_path
    stored = Adjudication.read(path) if path.exists() else Adjudication()
    others = [each for each in stored.decisions if (each.item, each.content_digest) != (item, digest)]
    new = Decision(item, answer, reason.strip(), by, _now(), digest)  # type: ignore[arg-type]
    replace(stored, decisions=(*others, new)).write(path)
    return review_status(task, asked, digest)


def find_waiting(tasks: Sequence[Task], reviewer: str, path: Path | None = None) -> list[Task]:
    """Return the evaluated tasks that still need this reviewer."""
    waiting = []
    for task in tasks:
        try:
            task.load()
            state = TaskState.of(task)
            status = review_status(task, checklist_for(task, path), state.reviewed)
        except LmrError:
            continue
        evaluation = evaluations.load(task)
        is_ready = evaluation and evaluation.is_of(state) and (evaluation.passed or evaluation.needs_approval)
        if is_ready and not status.open and reviewer not in status.reviewers:
            waiting.append(task)
    return waiting


class DraftReview:
    """The answers of an unfinished review, stored after each one.

    Answers about an earlier state of the task are moved to ``<reviewer>.draft.N``, whose path is ``outdated``.

    Raises UsageError for a name that is no file name, LmrError when the file is damaged.
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
        stored = {
            name: DraftAnswer(answer["answer"], answer.get("comment", "")) for name, answer in answers.items()
        }
        ReviewDraft(content_digest=self._digest, answers=stored).write(self._path)


def _blind_answers(task: Task, asked: Checklist, digest: str) -> dict[str, dict[str, str]]:
    """Return person → task and item → answer, from each person's last blind review of the task as it is."""
    names = {question.id for question in asked.questions}
    latest: dict[str, Review] = {}
    for path in sorted(task.reviews_folder.glob("*.json*")):
        review = Review.read_if_valid(path)
        if review is None or not review.blind or review.content_digest != digest:
            continue
        earlier = latest.get(review.reviewer)
        if earlier is None or review.created >= earlier.created:
            latest[review.reviewer] = review
    return {
        name: {f"{task.name}:{item}": entry.answer for item, entry in review.human.items() if item in names}
        for name, review in sorted(latest.items())
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
