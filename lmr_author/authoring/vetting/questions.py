"""The questions of vetting, their answers, and the verdict they give.

The criteria are those of LMR-Bench's paper (section on paper selection).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from lmr_author.authoring.vetting.facts import Facts
from lmr_author.core import files
from lmr_author.core.errors import UsageError
from lmr_author.core.paper import Paper
from lmr_author.core.repo import Clone
from lmr_author.core.repo.tree import unusable_code
from lmr_author.core.task.reviews import VettingQuestion
from lmr_author.core.texts import choices_hint, counted, printable, unbroken

QUESTIONS = {
    "methodological_focus": "Does the paper propose a method, not a survey, a data set or a benchmark?",
    "reproducibility": "Is the repository official and maintained, and does it reproduce the results?",
    "clarity_and_complexity": "Is the method described in enough detail, and more than a simple prompt?",
    "venue": "Was it published at ACL, EMNLP, NAACL, EACL or COLING? (another venue: no, and why it counts)",
    "year": "Was it published in the past five years?",
    "license": "Does the repository's licence allow redistribution?",
}
"""The benchmark's three selection criteria, and venue, year and licence."""

ANSWERS = ("yes", "no", "unsure")
Status = Literal["open", "accepted", "rejected"]
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
"""The benchmark's venues and their full names."""
YEARS = 5
"""Largest age of a paper in years."""

ALLOWED = frozenset(
    ("MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MPL-2.0", "Unlicense", "BSL-1.0", "CC0-1.0",
     "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "GPL-2.0", "GPL-3.0", "LGPL-2.1",
     "LGPL-3.0", "AGPL-3.0")
)  # fmt: skip
"""Licences that permit redistribution of changed copies (some with conditions: same licence, no commerce)."""

NO_CHANGES = frozenset(("CC-BY-ND-4.0", "CC-BY-NC-ND-4.0"))
"""Licences that permit redistribution, but not of changed copies such as a masked repository."""


@dataclass(frozen=True)
class VettingAnswer:
    """A person's answer: one of ``ANSWERS``, "" while there is none; and why."""

    answer: Literal["yes", "no", "unsure", ""] = ""
    justification: str = ""


def settled(venue: str, year: int | None, licence: str, this_year: int) -> dict[str, VettingAnswer]:
    """Return the questions that the evidence answers with yes; they are shown, and not asked.

    Args:
        venue: the paper's venue, as it is named on page 1 or cited.
        year: year of the paper; None when unknown.
        licence: SPDX identifier; "" when none was recognised.
    """
    answers = {}
    if named := named_venues(venue):
        answers["venue"] = VettingAnswer("yes", f"{', '.join(named)}: {venue}")
    if year is not None and 0 <= this_year - year <= YEARS:
        answers["year"] = VettingAnswer("yes", f"{year}")
    if licence in ALLOWED:
        answers["license"] = VettingAnswer("yes", licence)
    return answers


def named_venues(line: str) -> list[str]:
    """Return the benchmark's venues that a line names, by acronym or in full."""
    return [name for name, full in NAMED_VENUES.items() if re.search(rf"\b{name}\b|{full}", line)]


def read_answer(name: str, answer: object, justification: object = "") -> VettingAnswer:
    """Return a checked answer. Raises UsageError for an unknown question or answer, or a missing reason."""
    if name not in QUESTIONS:
        raise UsageError(f"unknown question {name!r}", choices_hint(name, QUESTIONS, "questions"))
    if answer not in ANSWERS:
        raise UsageError(f"{name}: unknown answer {answer!r}", choices_hint(str(answer), ANSWERS, "answers"))
    why = justification.strip() if isinstance(justification, str) else ""
    if answer != "yes" and not why:
        raise UsageError(
            f"{name}: {answer!r} needs a justification", f"as in --answer '{name}={answer}: because'"
        )
    return VettingAnswer(answer, why)  # type: ignore[arg-type]


def licence_stop(licence: str, licence_file: str) -> str:
    """Return the reason why a licence forbids a masked copy; "" when it allows one.

    Args:
        licence: SPDX identifier; "" when none was recognised.
        licence_file: its file; "" without one.
    """
    if licence in ALLOWED:
        return ""
    if licence in NO_CHANGES:
        return f"{licence} forbids sharing modified copies, and a masked repository is one"
    if not licence and not licence_file:
        return "the repository has no licence: all rights are reserved"
    return ""  # an unrecognised text: the person reads it


def verdict(
    answers: Mapping[str, VettingAnswer | VettingQuestion], stop: str, override: str
) -> tuple[Status, tuple[str, ...]]:
    """Combine the answers into a verdict, with its reasons, one line each.

    Args:
        answers: answers by question.
        stop: reason why the licence forbids redistribution; "" when it allows it.
        override: the person's reason to continue regardless.
    """
    licence, venue = (answers.get(name, VettingAnswer()) for name in ("license", "venue"))
    licence_fails = bool(stop) or licence.answer == "no"
    reasons, missing = [], []
    for name in QUESTIONS:
        answer = answers.get(name, VettingAnswer())
        # Another venue needs only a reason, and the licence is handled apart.
        if answer.answer == "no" and name not in ("venue", "license"):
            reasons.append(f"{name}: {answer.justification}")
        elif answer.answer == "unsure":
            missing.append(f"{name} is unsure: {answer.justification}")
        elif not answer.answer:
            missing.append(f"{name} is not answered")
    if licence_fails and not override:
        why = stop or licence.justification
        reasons.append(
            f"licence: {why}; give a reason to continue anyway (--override-licence), or choose another paper"
        )
    if reasons:
        return REJECTED, tuple(reasons)
    if missing:
        return OPEN, tuple(missing)
    remarks = [f"venue by exception: {venue.justification}"] if venue.answer == "no" else []
    if licence_fails:
        remarks.append(f"licence overridden: {override}")
    return ACCEPTED, tuple(remarks)


Evidence = dict[str, list[str]]
"""Question → lines."""


def from_paper(paper: Paper, url: str) -> Evidence:
    """Take evidence from a paper; ``url``: address of the vetted repository."""
    method = []
    if summary := abstract(paper.pages[0]) if paper.pages else "":
        method.append(f"abstract: {printable(summary, 700)}")
    return {
        "methodological_focus": method,
        "reproducibility": [_linked(paper, url)],
        "clarity_and_complexity": [counted(len(paper.pages), "page")],
    }


def from_facts(facts: Facts, this_year: int) -> Evidence:
    """Return the evidence for venue and year, each with its sources.

    Args:
        this_year: year from which the age counts.
    """
    venues = facts.get("venue", ())
    named = dict.fromkeys(name for fact in venues for name in named_venues(fact.value))
    years = []
    for fact in facts.get("year", ()):
        recent = this_year - int(fact.value) <= YEARS
        years.append(f"{fact}, {'within' if recent else 'more than'} {YEARS} years{'' if recent else ' ago'}")
    return {
        "venue": [*map(str, venues), *(f"{name} is one of the benchmark's venues" for name in named)],
        "year": years or ["no year found in the paper and the repository"],
    }


def from_clone(clone: Clone, requirements: Sequence[str] | None = None) -> Evidence:
    pinned = f"the pinned one ({clone.commit_date.date()})"
    activity = [f"only {pinned} of its commits"]
    if clone.commits:
        activity = [f"{counted(clone.commits, 'commit')} up to {pinned}"]
    if clone.last_date is not None:
        activity.append(f"last commit on {clone.default_branch or 'its branch'}: {clone.last_date.date()}")
    if requirements is not None:
        listed = ", ".join(requirements)
        activity.append(f"requirements declared in: {listed}" if listed else "no requirements declared")
    sources = [path for path in files.walk(clone.folder) if path.suffix == ".py"]
    tests = sum(path.name.startswith("test_") or path.name.endswith("_test.py") for path in sources)
    return {
        "reproducibility": activity,
        "clarity_and_complexity": [
            f"{len(sources)} Python files, {tests} of them tests",
            *unusable_code(clone.folder),
        ],
        "license": _licence(clone),
    }


def merged(*parts: Evidence) -> Evidence:
    result: Evidence = {}
    for part in parts:
        for name, lines in part.items():
            result.setdefault(name, []).extend(lines)
    return result


def _linked(paper: Paper, url: str) -> str:
    short = url.rstrip("/").removesuffix(".git").lower()
    if short in [name.lower() for name in paper.repositories]:
        return "the paper links this repository"
    links = ", ".join(paper.repositories)
    return f"the paper links: {links}" if links else "the paper links no repository"


def _licence(clone: Clone) -> list[str]:
    lines = ["no licence file in the repository's root"]
    if clone.licence:
        lines = [f"{clone.licence}, recognised in {clone.licence_file}"]
    elif clone.licence_file:
        lines = [f"{clone.licence_file}, not recognised"]
    stop = licence_stop(clone.licence, clone.licence_file)
    return [*lines, stop] if stop else lines


def abstract(page: str) -> str:
    """Return the text under "Abstract", else the first running text, with words broken at a line's end joined."""
    match = re.search(r"\babstract\b[\s.:—-]*(.*?)(?:\n\s*1?\.?\s*introduction\b|\Z)", page, re.I | re.S)
    running = match or re.search(r"^((?:[^\n]{40,}\n){3}.*)", page, re.M | re.S)
    text = unicodedata.normalize("NFKC", running[1]) if running else ""
    return unbroken(text)
