"""Evidence for the questions, from the paper's text and the repository's files. People answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from lmr_author.authoring.vetting.facts import Facts
from lmr_author.authoring.vetting.questions import YEARS, licence_stop, named_venues
from lmr_author.core import files
from lmr_author.core.paper import Paper
from lmr_author.core.repo import Clone
from lmr_author.core.repo.tree import unusable_code
from lmr_author.core.texts import counted, printable, unbroken

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
    activity = [f"of its commits, {pinned} alone"]
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
