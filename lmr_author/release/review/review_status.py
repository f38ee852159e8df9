"""The review status of a task: missing reviewers, disputes, decisions, and what its reviewers approve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.task import Evaluation, Task
from lmr_author.core.task import evaluation as evaluations
from lmr_author.core.task.folder import reviewed_digest
from lmr_author.core.task.reviews import Adjudication, Decision, Review, ReviewItem
from lmr_author.release.review.checklist import TESTS, Checklist

WAITING, DISPUTED, REJECTED, ACCEPTED = "waiting", "disputed", "rejected", "accepted"

BESIDE_THE_TASKS = "checklist.yaml"
"""A lab's own list, in the folder that holds the tasks."""
_NOT_ASKED = ReviewItem(id="", question="", kind="human", answer="unsure")


@dataclass(frozen=True)
class Dispute:
    """An item on which reviewers disagree: their answers and comments, by reviewer."""

    item: str
    question: str
    answers: Mapping[str, str]
    comments: Mapping[str, str]


@dataclass(frozen=True)
class ReviewStatus:
    """The status of a review.

    Attributes:
        state: ``waiting`` for reviewers, ``disputed``, ``rejected`` or ``accepted``.
        reviewers: people who reviewed the task as it is.
        missing: number of reviews still needed.
        disputes: items without agreement and without a decision; empty while ``waiting``, because reviews
            are blind until all are in.
        failed: items that everybody failed, or that were decided so.
        decisions: those that hold.
        damaged: files of reviews that cannot be read and do not count.
        signed_off: reviewers who passed every item; empty while ``waiting``.
    """

    state: str
    reviewers: tuple[str, ...]
    missing: int
    disputes: tuple[Dispute, ...] = ()
    failed: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    damaged: tuple[str, ...] = ()
    signed_off: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        """True if answers may be shown, because all reviews are in."""
        return self.state != WAITING


def checklist_for(task: Task, path: Path | None = None) -> Checklist:
    """Return the checklist at ``path``, else the lab's beside the tasks, else our own.

    Raises UsageError when it is not as its schema says.
    """
    beside = task.root.parent / BESIDE_THE_TASKS
    if path is None and not beside.is_file():
        return Checklist()
    return read_checklist(path or beside)


def read_checklist(path: Path) -> Checklist:
    """Read a lab's list, YAML or JSON. Raises UsageError when it is none."""
    data = files.read_answers(path, "--checklist", "see schemas/checklist.schema.json")
    return Checklist.from_document(data, str(path))


def load_reviews(task: Task) -> list[Review]:
    """Return the last review of each reviewer; skip files that cannot be read."""
    return [review for review in _read_reviews(task).values() if review]


def _read_reviews(task: Task) -> dict[str, Review | None]:
    """Return the last review of each reviewer by file name; None for a damaged file."""
    return {path.name: Review.read_if_valid(path) for path in sorted(task.reviews_folder.glob("*.json"))}


def review_status(task: Task, asked: Checklist | None = None, digest: str | None = None) -> ReviewStatus:
    """Combine the reviews of a task as it is with the decisions about it.

    A task is accepted when everybody passes every item, or a decision says so for items that are disputed.
    """
    asked, digest = asked or checklist_for(task), digest or reviewed_digest(task)
    reviews = _read_reviews(task)
    damaged = tuple(name for name, review in reviews.items() if review is None)
    current = [review for review in reviews.values() if review and review.content_digest == digest]
    names = tuple(review.reviewer for review in current)
    missing = max(0, asked.reviewers - len(current))
    if missing:
        return ReviewStatus(WAITING, names, missing, damaged=damaged)
    stored = Adjudication.read_if_valid(task.adjudication_path) or Adjudication()
    decided = {decision.item: decision for decision in stored.decisions if decision.content_digest == digest}
    disputes, failed = [], []
    for question in asked.questions:
        entries = {review.reviewer: review.human.get(question.id, _NOT_ASKED) for review in current}
        answers = {name: entry.answer for name, entry in entries.items()}
        if not set(entries.values()) - {_NOT_ASKED}:  # these people judged by the list of their day
            continue
        verdicts = set(answers.values())
        if question.id in decided:
            verdicts = {decided[question.id].answer}
        if verdicts == {"fail"}:
            failed.append(question.id)
        elif verdicts != {"pass"}:
            comments = {name: entry.comment for name, entry in entries.items()}
            disputes.append(Dispute(question.id, question.question, answers, comments))
    state = DISPUTED if disputes else REJECTED if failed else ACCEPTED
    signed = tuple(review.reviewer for review in current if review.signed_off)
    return ReviewStatus(
        state, names, 0, tuple(disputes), tuple(failed), tuple(decided.values()), damaged, signed
    )


def proof_of(task: Task, digest: str = "") -> Evaluation | None:
    """Return the evaluation that counts, as release sees it: the gate about mutants may be proven by reviewers.

    More than a tenth of the mutants accepted leaves the gate unproven until as many people as the checklist asks for
    have signed off this state of the task, with a pass for the question about the tests.

    Args:
        digest: that of what is reviewed, where it is known.
    """
    found = evaluations.load(task)
    if found is None or not found.needs_approval:
        return found
    return found.approved() if _is_approved(task, digest or reviewed_digest(task)) else found


def _is_approved(task: Task, digest: str) -> bool:
    asked = checklist_for(task)
    names = {question.id for question in asked.questions}
    approving = set()
    for review in load_reviews(task):
        passed = {name for name, entry in review.human.items() if entry.answer == "pass"}
        if review.content_digest == digest and review.signed_off and names <= passed:
            approving.add(review.reviewer)
    return TESTS in names and len(approving) >= asked.reviewers
