"""``authoring/vetting.json``: the selection criteria of the benchmark's paper, with evidence and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec

from lmr_author.core.task.record import Record, Time

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
        licence_override: a person's reason to go on all the same.
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
