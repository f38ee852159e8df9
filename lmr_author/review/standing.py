"""Where the review of a task stands: who is missing, what is disputed, what was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lmr_author import files
from lmr_author.errors import UsageError
from lmr_author.review.checklist import Checklist
from lmr_author.review.store import StoredReview

FORMAT = "lmr-adjudication/1"

WAITING, DISPUTED, REJECTED, ACCEPTED = "waiting", "disputed", "rejected", "accepted"


@dataclass(frozen=True)
class Decision:
    """An adjudicated item: the answer that holds, why, who decided."""

    item: str
    answer: str
    reason: str
    by: str


@dataclass(frozen=True)
class Dispute:
    """An item on which reviewers differ: what each said, with the comment."""

    item: str
    question: str
    answers: Mapping[str, str]
    comments: Mapping[str, str]


@dataclass(frozen=True)
class Standing:
    """Where the review stands.

    Attributes:
        state: ``waiting`` for reviewers, ``disputed``, ``rejected`` or ``accepted``.
        reviewers: whose review is of the task as it is.
        missing: how many more are needed.
        disputes: items without agreement and without a decision; empty while ``waiting``, because reviews
            are blind until all are in.
        failed: items that all found wanting, or for which that was decided.
        decisions: those that hold.
        damaged: files of reviews that cannot be read, and do not count.
    """

    state: str
    reviewers: tuple[str, ...]
    missing: int
    disputes: tuple[Dispute, ...]
    failed: tuple[str, ...]
    decisions: tuple[Decision, ...]
    damaged: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        """Whether answers may be shown: all reviews are in."""
        return self.state != WAITING


def standing(
    reviews: Sequence[StoredReview], decisions: Sequence[Decision], checklist: Checklist, content_digest: str
) -> Standing:
    """Put the reviews of the task as it is together with the decisions about it.

    A task is accepted when everybody passes every item, or a decision says so where they differ.
    """
    current = [one for one in reviews if one.content_digest == content_digest]
    names = tuple(one.reviewer for one in current)
    missing = max(0, checklist.reviewers - len(current))
    if missing:
        return Standing(WAITING, names, missing, (), (), ())
    decided = {one.item: one for one in decisions}
    disputes, failed = [], []
    for question in checklist.questions:
        said = {one.reviewer: one.answers.get(question.id, "unsure") for one in current}
        if question.id in decided:
            failed += [question.id] if decided[question.id].answer == "fail" else []
        elif len(set(said.values())) > 1 or "unsure" in said.values():
            comments = {one.reviewer: one.comments.get(question.id, "") for one in current}
            disputes.append(Dispute(question.id, question.question, said, comments))
        elif "fail" in said.values():
            failed.append(question.id)
    state = DISPUTED if disputes else REJECTED if failed else ACCEPTED
    return Standing(state, names, 0, tuple(disputes), tuple(failed), tuple(decided.values()))


def load_decisions(path: Path, content_digest: str) -> list[Decision]:
    """The decisions about the task as it is; none from a file that is damaged."""
    return [
        Decision(str(item["item"]), str(item["answer"]), str(item.get("reason", "")), str(item.get("by", "")))
        for item in files.objects_in(files.read_object_or_empty(path).get("decisions"))
        if item.get("content_digest") == content_digest and "item" in item and "answer" in item
    ]


def decide(path: Path, decision: Decision, content_digest: str) -> None:
    """Store a decision, in place of an earlier one about the same item.

    Raises UsageError without a reason, and LmrError when the file of decisions is damaged.
    """
    if decision.answer not in ("pass", "fail"):
        raise UsageError(f"the decision {decision.answer!r} is none", "decide for pass or fail")
    if not decision.reason.strip():
        raise UsageError(f"the decision about {decision.item!r} needs a reason", "say it with --reason TEXT")
    kept = [
        item
        for item in files.read_entries_to_change(path, "decisions")
        if (item.get("item"), item.get("content_digest")) != (decision.item, content_digest)
    ]
    new = {
        "item": decision.item,
        "answer": decision.answer,
        "reason": decision.reason.strip(),
        "by": decision.by,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "content_digest": content_digest,
    }
    files.write_json(path, {"format": FORMAT, "decisions": [*kept, new]})
