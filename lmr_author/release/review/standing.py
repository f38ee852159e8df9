"""The standing of a task's review: missing reviewers, disputes, decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lmr_author.core.task.reviews import Decision, Review
from lmr_author.release.review.checklist import Checklist

WAITING, DISPUTED, REJECTED, ACCEPTED = "waiting", "disputed", "rejected", "accepted"


@dataclass(frozen=True)
class Dispute:
    """An item on which reviewers disagree: their answers and comments, by reviewer."""

    item: str
    question: str
    answers: Mapping[str, str]
    comments: Mapping[str, str]


@dataclass(frozen=True)
class Standing:
    """The standing of a review.

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


def find_standing(
    reviews: Sequence[Review],
    decisions: Sequence[Decision],
    checklist: Checklist,
    content_digest: str,
    damaged: tuple[str, ...] = (),
) -> Standing:
    """Combine the reviews of the task as it is with the decisions about it.

    A task is accepted when everybody passes every item, or a decision says so for items that are disputed.
    """
    current = [review for review in reviews if review.content_digest == content_digest]
    names = tuple(review.reviewer for review in current)
    missing = max(0, checklist.reviewers - len(current))
    if missing:
        return Standing(WAITING, names, missing, damaged=damaged)
    decided = {decision.item: decision for decision in decisions if decision.content_digest == content_digest}
    disputes, failed = [], []
    for question in checklist.questions:
        answers, comments = _answers(question.id, current)
        if not answers:  # asked since then: these people judged by the list of their day
            continue
        verdicts = set(answers.values())
        if question.id in decided:
            verdicts = {decided[question.id].answer}
        if verdicts == {"fail"}:
            failed.append(question.id)
        elif verdicts != {"pass"}:
            disputes.append(Dispute(question.id, question.question, answers, comments))
    state = DISPUTED if disputes else REJECTED if failed else ACCEPTED
    signed = tuple(review.reviewer for review in current if review.signed_off)
    return Standing(state, names, 0, tuple(disputes), tuple(failed), tuple(decided.values()), damaged, signed)


def _answers(question: str, reviews: Sequence[Review]) -> tuple[dict[str, str], dict[str, str]]:
    """Return answers and comments by reviewer; "unsure" for who was not asked, nothing where nobody was."""
    if not any(question in review.human for review in reviews):
        return {}, {}
    answers: dict[str, str] = {}
    comments: dict[str, str] = {}
    for review in reviews:
        entry = review.human.get(question)
        answers[review.reviewer] = entry.answer if entry else "unsure"
        comments[review.reviewer] = entry.comment if entry else ""
    return answers, comments
