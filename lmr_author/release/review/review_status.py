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
    item: str
    question: str
    answers: Mapping[str, str]
    comments: Mapping[str, str]


@dataclass(frozen=True)
class ReviewStatus:
    """The status of a review; without disputes, failures and sign-offs while ``waiting``, because reviews are blind."""

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
        """True once all reviews are in, so that answers may be shown."""
        return self.state != WAITING


def checklist_for(task: Task, path: Path | None = None) -> Checklist:
    """Return the checklist at ``path``, else the lab's beside the tasks, else our own."""
    beside = task.root.parent / BESIDE_THE_TASKS
    if path is None and not beside.is_file():
        return Checklist()
    return read_checklist(path or beside)


def read_checklist(path: Path) -> Checklist:
    """Read a lab's checklist from YAML or JSON. Raises UsageError if it is invalid."""
    data = files.read_answers(path, "--checklist", "see schemas/checklist.schema.json")
    return Checklist.from_document(data, str(path))


def load_reviews(task: Task) -> list[Review]:
    return [review for review in _read_reviews(task).values() if review]


def _read_reviews(task: Task) -> dict[str, Review | None]:
    return {path.name: Review.read_if_valid(path) for path in sorted(task.reviews_folder.glob("*.json"))}


def review_status(task: Task, asked: Checklist | None = None, digest: str | None = None) -> ReviewStatus:
    """Combine the reviews of the current state of a task with the decisions about it."""
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
        items = {review.reviewer: review.human.get(question.id, _NOT_ASKED) for review in current}
        if set(items.values()) == {_NOT_ASKED}:  # these people judged by an earlier list
            continue
        answers = {name: item.answer for name, item in items.items()}
        verdicts = {decided[question.id].answer} if question.id in decided else set(answers.values())
        if verdicts == {"fail"}:
            failed.append(question.id)
        elif verdicts != {"pass"}:
            comments = {name: item.comment for name, item in items.items()}
            disputes.append(Dispute(question.id, question.question, answers, comments))
    state = DISPUTED if disputes else REJECTED if failed else ACCEPTED
    signed = tuple(review.reviewer for review in current if review.signed_off)
    return ReviewStatus(
        state, names, 0, tuple(disputes), tuple(failed), tuple(decided.values()), damaged, signed
    )


def proof_of(task: Task, digest: str = "") -> Evaluation | None:
    """Return the evaluation that counts for release: reviewers may prove the gate about mutants.

    If more than a tenth of the mutants is accepted, the gate is unproven until as many people as the checklist demands
    have signed off this state of the task and passed the question about the tests.
    """
    evaluation = evaluations.load(task)
    if evaluation is None or not evaluation.needs_approval:
        return evaluation
    asked, digest = checklist_for(task), digest or reviewed_digest(task)
    names = {question.id for question in asked.questions}
    approving = set()
    for review in load_reviews(task):
        passed = {name for name, item in review.human.items() if item.answer == "pass"}
        if review.content_digest == digest and review.signed_off and names <= passed:
            approving.add(review.reviewer)
    is_approved = TESTS in names and len(approving) >= asked.reviewers
    return evaluation.approved() if is_approved else evaluation
