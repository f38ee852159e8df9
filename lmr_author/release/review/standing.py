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
    current = [one for one in reviews if one.content_digest == content_digest]
    names = tuple(one.reviewer for one in current)
    missing = max(0, checklist.reviewers - len(current))
    if missing:
        return Standing(WAITING, names, missing, damaged=damaged)
    decided = {one.item: one for one in decisions if one.content_digest == content_digest}
    disputes, failed = [], []
    for question in checklist.questions:
        items = {one.reviewer: one.human.get(question.id) for one in current}
        if not any(items.values()):  # asked since then: these people judged by the list of their day
            continue
        answers = {name: item.answer if item else "unsure" for name, item in items.items()}
        if question.id in decided:
            failed += [question.id] if decided[question.id].answer == "fail" else []
        elif len(set(answers.values())) > 1 or "unsure" in answers.values():
            comments = {name: item.comment if item else "" for name, item in items.items()}
            disputes.append(Dispute(question.id, question.question, answers, comments))
        elif "fail" in answers.values():
            failed.append(question.id)
    state = DISPUTED if disputes else REJECTED if failed else ACCEPTED
    signed = tuple(one.reviewer for one in current if one.signed_off)
    return Standing(state, names, 0, tuple(disputes), tuple(failed), tuple(decided.values()), damaged, signed)
