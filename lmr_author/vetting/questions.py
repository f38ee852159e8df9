"""The questions of vetting, their answers, and the verdict they give.

The criteria are those of LMR-Bench's paper (section on paper selection).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from lmr_author.errors import UsageError

QUESTIONS = {
    "methodological_focus": "Does the paper propose a method, not a survey, a data set or a benchmark?",
    "reproducibility": "Is the repository official and maintained, and does it reproduce the results?",
    "clarity_and_complexity": "Is the method described in enough detail, and more than a simple prompt?",
    "venue": "Published at ACL, EMNLP, NAACL, EACL or COLING (another needs a reason)?",
    "year": "Was it published in the past five years?",
    "license": "Does the repository's licence allow redistribution?",
}
"""The benchmark's three selection criteria, and venue, year and licence."""

ANSWERS = ("yes", "no", "unsure")
OPEN: Final = "open"
ACCEPTED: Final = "accepted"
REJECTED: Final = "rejected"

NAMED_VENUES = {
    "ACL": r"Annual Meeting of the Association for Computational Linguistics",
    "EMNLP": r"Empirical Methods in Natural Language Processing",
    "NAACL": r"North American Chapter of the Association for Computational Linguistics",
    "EACL": r"European Chapter of the Association for Computational Linguistics",
    "COLING": r"International Conference on Computational Linguistics",
}
"""The benchmark's venues, and how they are called in full."""
YEARS = 5
"""How old a paper may be."""

ALLOWED = frozenset(
    ("MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MPL-2.0", "Unlicense", "BSL-1.0", "CC0-1.0",
     "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "GPL-2.0", "GPL-3.0", "LGPL-2.1",
     "LGPL-3.0", "AGPL-3.0")
)  # fmt: skip
"""Licences that let a changed copy be passed on (some with conditions: the same licence, no commerce)."""

NO_CHANGES = frozenset(("CC-BY-ND-4.0", "CC-BY-NC-ND-4.0"))
"""Licences that let copies be passed on, but no changed ones; a masked repository is a changed one."""


@dataclass(frozen=True)
class Answer:
    """A person's answer: one of ``ANSWERS``, "" while there is none; and why."""

    answer: Literal["yes", "no", "unsure", ""] = ""
    justification: str = ""


def settled(venue: str, year: int | None, licence: str, this_year: int) -> dict[str, Answer]:
    """The questions that the evidence answers with yes: a person is shown them, and need not be asked.

    Args:
        venue: the line of the paper that names where it was published.
        year: of the paper; None when it is not known.
        licence: SPDX identifier; "" when none was recognised.
    """
    found = {}
    if named := named_venues(venue):
        found["venue"] = Answer("yes", f"{', '.join(named)}: {venue}")
    if year is not None and 0 <= this_year - year <= YEARS:
        found["year"] = Answer("yes", f"{year}")
    if licence in ALLOWED:
        found["license"] = Answer("yes", licence)
    return found


def named_venues(line: str) -> list[str]:
    """The benchmark's venues that a line names, by acronym or in full."""
    return [name for name, full in NAMED_VENUES.items() if re.search(rf"\b{name}\b|{full}", line)]


@dataclass(frozen=True)
class Verdict:
    """The verdict and its reasons, one line each."""

    status: Literal["open", "accepted", "rejected"]
    reasons: tuple[str, ...]


def read_answer(name: str, answer: object, justification: object = "") -> Answer:
    """Check an answer that was given. Raises UsageError: no such question, no such answer, no reason."""
    if name not in QUESTIONS:
        raise UsageError(f"there is no question {name!r}", "questions: " + ", ".join(QUESTIONS))
    if answer not in ANSWERS:
        raise UsageError(f"{name}: the answer {answer!r} is none", "one of: " + ", ".join(ANSWERS))
    why = justification.strip() if isinstance(justification, str) else ""
    if answer != "yes" and not why:
        raise UsageError(
            f"{name}: {answer!r} needs a justification", f"as in --answer '{name}={answer}: because'"
        )
    return Answer(answer, why)  # type: ignore[arg-type]


def licence_stop(licence: str, licence_file: str) -> str:
    """Why the licence that was found forbids a masked copy, "" when it does not.

    Args:
        licence: SPDX identifier; "" when none was recognised.
        licence_file: where it stands; "" when there is no such file.
    """
    if licence in ALLOWED:
        return ""
    if licence in NO_CHANGES:
        return f"{licence} forbids passing on changed copies, and a masked repository is one"
    if not licence and not licence_file:
        return "the repository has no licence: all rights are reserved"
    return ""  # a text that is not recognised: the person reads it


def verdict(answers: Mapping[str, Answer], stop: str, override: str) -> Verdict:
    """What the answers come to.

    Args:
        answers: by question.
        stop: why the licence forbids redistribution, "" when it does not.
        override: the person's reason to go on all the same.
    """
    given = {name: answers.get(name, Answer()) for name in QUESTIONS}
    against = [_against(name, one) for name, one in given.items() if one.answer == "no"]
    reasons = [reason for reason in against if reason]
    licence_fails = bool(stop) or given["license"].answer == "no"
    if licence_fails and not override:
        why = stop or given["license"].justification
        reasons.append(
            f"licence: {why}; give a reason to go on (--override-licence), or choose another paper"
        )
    if reasons:
        return Verdict(REJECTED, tuple(reasons))
    missing = [f"{name} is not answered" for name, one in given.items() if not one.answer]
    missing += [
        f"{name} is unsure: {one.justification}" for name, one in given.items() if one.answer == "unsure"
    ]
    if missing:
        return Verdict(OPEN, tuple(missing))
    remarks = [f"venue by exception: {given['venue'].justification}"] if given["venue"].answer == "no" else []
    if licence_fails:
        remarks.append(f"licence overridden: {override}")
    return Verdict(ACCEPTED, tuple(remarks))


def _against(name: str, answer: Answer) -> str:
    """A "no" as a reason to reject; a venue may be another one with a reason, and a licence is told apart."""
    return "" if name in ("venue", "license") else f"{name}: {answer.justification}"
