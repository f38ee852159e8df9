"""People's judgements: reviews, drafts of them, decisions about disputes, grades of candidates, vetting of papers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from lmr_author.core.errors import UsageError
from lmr_author.core.task.record import Digest, Index, Record, Text, Time

GRADES = {
    "completely-correct": "It does what the paper and the golden do.",
    "logically-correct": "The idea is right, a detail is wrong: it would not pass.",
    "logically-incorrect": "The idea itself is wrong or missing.",
}
"""The grades of LMR-Bench's paper (human evaluation), the best first."""


@dataclass(frozen=True)
class ReviewItem(Record):
    """An answered item of the checklist.

    Attributes:
        id: name of the item.
        question: the question as it was asked.
        kind: answered by the program (automatic) or by the reviewer (human).
        answer: of a reviewer, only "pass" signs off; of the program, "unsure" leaves it to the reviewers.
        comment: the reviewer's remark; "" for none.
        evidence: the result that an automatic answer rests on; for a human one, why the evidence was weak.
    """

    id: Text
    question: Text
    kind: Literal["automatic", "human"]
    answer: Literal["pass", "fail", "unsure"]
    comment: str = ""
    evidence: str = ""

    @property
    def signs_off(self) -> bool:
        """True for a pass, and for what the program leaves to the reviewers."""
        return self.answer == "pass" or (self.kind == "automatic" and self.answer == "unsure")


@dataclass(frozen=True, kw_only=True)
class Review(Record):
    """One reviewer's answers to the checklist, for one state of the task: ``authoring/reviews/<reviewer>.json``.

    Attributes:
        format: version of this document.
        reviewer: name of the reviewer.
        created: time of the review (RFC 3339).
        content_digest: SHA-256 of what was reviewed: the content, the accepted mutants and the ledger.
        checklist: name of the list that was asked.
        blind: true if nobody's answers had been shown before.
        items: the answered items.
        signed_off: true if every item passed, except those that the program leaves to the reviewers.
    """

    format: Literal["lmr-review/1"] = "lmr-review/1"
    reviewer: Text
    created: Time = ""
    content_digest: Digest
    checklist: str = ""
    blind: bool = True
    items: tuple[ReviewItem, ...]
    signed_off: bool

    @property
    def human(self) -> dict[str, ReviewItem]:
        return {item.id: item for item in self.items if item.kind == "human"}


@dataclass(frozen=True)
class DraftAnswer:
    """An answer in an interrupted review.

    Attributes:
        answer: pass, fail or unsure.
        comment: the reviewer's remark.
    """

    answer: str
    comment: str = ""


@dataclass(frozen=True, kw_only=True)
class ReviewDraft(Record):
    """The answers of an interrupted review: ``authoring/reviews/<reviewer>.draft``. They count for nothing.

    Attributes:
        format: version of this document.
        content_digest: SHA-256 of what was reviewed: the content, the accepted mutants and the ledger.
        answers: the answers so far, by item.
    """

    format: Literal["lmr-review-draft/1"] = "lmr-review-draft/1"
    content_digest: str
    answers: Mapping[str, DraftAnswer]


@dataclass(frozen=True)
class Decision:
    """A decision about an item on which reviewers disagree.

    Attributes:
        item: id of the item.
        answer: the answer that holds.
        reason: justification of the decision.
        by: name of the person who decided.
        date: time of the decision (RFC 3339).
        content_digest: SHA-256 of what was reviewed.
    """

    item: Text
    answer: Literal["pass", "fail"]
    reason: Text
    by: Text
    date: Time
    content_digest: Digest


@dataclass(frozen=True, kw_only=True)
class Adjudication(Record):
    """Decisions about disputed items: ``authoring/adjudication.json``.

    Attributes:
        format: version of this document.
        decisions: at most one for each item and state of the task.
    """

    format: Literal["lmr-adjudication/1"] = "lmr-adjudication/1"
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True)
class Grade:
    """One person's grade of one candidate.

    Attributes:
        candidate: name of its file, or a name that does not reveal the model.
        sha256: digest of its text.
        implementation: index of the implementation.
        score: the grade.
        justification: reason for the grade.
        date: time of grading (RFC 3339).
        golden_sha256: digest of the golden that it was compared with.
    """

    candidate: Text
    sha256: Digest
    implementation: Index
    score: Literal["completely-correct", "logically-correct", "logically-incorrect"]
    justification: Text
    date: Time
    golden_sha256: Digest

    def __post_init__(self) -> None:
        if self.score not in GRADES:
            raise UsageError(f"unknown grade {self.score!r}", "choose one of " + ", ".join(GRADES))
        if not self.justification.strip():
            raise UsageError("a grade needs a justification", "add --reason TEXT")


@dataclass(frozen=True, kw_only=True)
class Grades(Record):
    """Everything one person graded: ``authoring/scores/<reviewer>.json``.

    Attributes:
        format: version of this document.
        reviewer: name of the grader.
        scores: the grades.
    """

    format: Literal["lmr-scores/1"] = "lmr-scores/1"
    reviewer: Text
    scores: tuple[Grade, ...] = field(default=())


def path_of_reviewer(folder: Path, reviewer: str) -> Path:
    """Return a reviewer's file. Raises UsageError for a name that cannot be a file's."""
    if not re.fullmatch(r"[\w][\w .@+-]{0,80}", reviewer):
        raise UsageError(
            f"invalid reviewer name {reviewer!r}", "use letters, digits, spaces and the characters . @ + - _"
        )
    return folder / f"{reviewer}.json"


def number_aside(path: Path) -> Path:
    """Return the first free ``<name>.N`` beside a file, where an earlier version is kept."""
    number = 1
    while (older := path.with_name(f"{path.name}.{number}")).exists():
        number += 1
    return older


CRITERIA = ("methodological_focus", "reproducibility", "clarity_and_complexity", "venue", "year", "license")
_QUESTIONS = {"propertyNames": {"enum": list(CRITERIA)}, "required": list(CRITERIA)}


@dataclass(frozen=True)
class VettingQuestion:
    """A question with its evidence and its answer.

    Attributes:
        question: the question as asked.
        evidence: findings about the paper and its repository, one line each.
        answer: a person's answer; null while there is none.
        justification: reason for the answer; required for all but "yes".
    """

    question: str
    evidence: tuple[str, ...] = ()
    answer: Literal["yes", "no", "unsure"] | None = None
    justification: str = ""


@dataclass(frozen=True)
class VettingSource:
    """A source of evidence.

    Attributes:
        name: name of the source.
        status: answered, skipped or failed.
        note: reason for a failure.
    """

    name: str
    status: Literal["answered", "skipped", "failed"]
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class VettingRecord(Record):
    """The vetting of a paper and its repository.

    Attributes:
        status: open until every question is answered.
        paper: title of the paper, or the path it was read from.
        repository: public address of the repository.
        gathered: time at which the evidence was gathered (RFC 3339).
        sources: the sources that were asked.
        questions: the criteria by name: methodological_focus, reproducibility, clarity_and_complexity, venue,
            year, license.
        licence_stop: reason why the licence forbids redistribution; "" when it does not.
        licence_override: a person's reason to continue regardless.
        reasons: reasons for the status.
    """

    status: Literal["open", "accepted", "rejected"]
    paper: str = ""
    repository: str = ""
    gathered: Time = ""
    sources: tuple[VettingSource, ...] = ()
    questions: Annotated[Mapping[str, VettingQuestion], msgspec.Meta(extra_json_schema=_QUESTIONS)]
    licence_stop: str = ""
    licence_override: str = ""
    reasons: tuple[str, ...] = field(default=())
