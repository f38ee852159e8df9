"""Evidence for the questions, from the paper's text and the repository's files. People answer."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lmr_author.authoring.vetting.facts import Facts
from lmr_author.authoring.vetting.questions import YEARS, licence_stop, named_venues
from lmr_author.core import files
from lmr_author.core.paper import Paper
from lmr_author.core.repo import Clone
from lmr_author.core.texts import counted, printable, size_text

Evidence = dict[str, list[str]]
"""Question → lines."""

LANGUAGES = {
    ".py": "Python", ".ipynb": "notebooks", ".sh": "shell", ".c": "C", ".cc": "C++", ".cpp": "C++", ".cu": "CUDA",
    ".java": "Java", ".js": "JavaScript", ".ts": "TypeScript", ".r": "R", ".lua": "Lua", ".pl": "Perl", ".rs": "Rust",
}  # fmt: skip


def from_paper(paper: Paper, url: str) -> Evidence:
    """Return the paper's evidence for each question.

    Args:
        url: address of the vetted repository.
    """
    return {
        "methodological_focus": _method(paper),
        "reproducibility": [_linked(paper, url)],
        "clarity_and_complexity": [f"{len(paper.pages)} pages"],
    }


def from_facts(facts: Facts, this_year: int) -> Evidence:
    """Return the evidence for venue and year, each with its sources.

    Args:
        this_year: year from which the age counts.
    """
    venues = facts.get("venue", ())
    named = dict.fromkeys(name for fact in venues for name in named_venues(fact.value))
    return {
        "venue": [*map(str, venues), *(f"{name} is one of the benchmark's venues" for name in named)],
        "year": [f"{fact}, {_age(int(fact.value), this_year)}" for fact in facts.get("year", ())]
        or ["no year found in the paper and the repository"],
    }


def from_clone(clone: Clone, requirements: Sequence[str] | None = None) -> Evidence:
    """Return the clone's evidence for each question."""
    folder = clone.folder
    found = list(files.walk(folder))
    sources = [path for path in found if path.suffix == ".py"]
    tests = sum(path.name.startswith("test_") or path.name.endswith("_test.py") for path in sources)
    pinned = f"the pinned one ({clone.commit_date.date()})"
    activity = [
        f"{counted(clone.commits, 'commit')} up to {pinned}"
        if clone.commits
        else f"of its commits, {pinned} alone"
    ]
    if clone.last_date is not None:
        activity.append(f"last commit on {clone.default_branch or 'its branch'}: {clone.last_date.date()}")
    if requirements is not None:
        listed = ", ".join(requirements)
        activity.append(f"requirements declared in: {listed}" if listed else "no requirements declared")
    readme = next((path for path in sorted(folder.iterdir()) if path.name.lower().startswith("readme")), None)
    documented = f"{readme.name}: {_words(readme)} words" if readme and readme.is_file() else "no README"
    counts = f"{len(sources)} Python files, {tests} of them tests"
    return {
        "reproducibility": activity,
        "clarity_and_complexity": [counts, documented, _languages(found)],
        "license": _licence(clone),
    }


def merged(*parts: Evidence) -> Evidence:
    """Merge the evidence of several sources, in order."""
    result: Evidence = {}
    for part in parts:
        for name, lines in part.items():
            result.setdefault(name, []).extend(lines)
    return result


def _method(paper: Paper) -> list[str]:
    found = []
    text = "\n".join(paper.pages)
    if summary := abstract(paper.pages[0], text) if paper.pages else "":
        found.append(f"abstract: {printable(summary, 700)}")
    boxes = len(set(re.findall(r"^\s*(?:Algorithm|ALGORITHM) (\d+)\b", text, re.M)))
    found.append(f"algorithm boxes: {boxes}; numbered equations: {_equations(text)}")
    words = re.findall(r"\b(survey|benchmark|dataset|data set|corpus|shared task)\b", paper.title, re.I)
    if words:
        found.append(f"the title says: {', '.join(words)}")
    return found


def _linked(paper: Paper, url: str) -> str:
    short = url.rstrip("/").removesuffix(".git").lower()
    if short in [name.lower() for name in paper.repositories]:
        return "the paper links this repository"
    links = ", ".join(paper.repositories)
    return f"the paper links: {links}" if links else "the paper links no repository"


def _age(year: int, this_year: int) -> str:
    return f"within {YEARS} years" if this_year - year <= YEARS else f"more than {YEARS} years ago"


def _languages(found: Sequence[Path]) -> str:
    sizes: Counter[str] = Counter()
    for path in found:
        if language := LANGUAGES.get(path.suffix.lower()):
            sizes[language] += path.stat().st_size
    total = sum(path.stat().st_size for path in found)
    code = sum(sizes.values())
    shares = (
        ", ".join(f"{name} {size / code:.0%}" for name, size in sizes.most_common(3)) if code else "no code"
    )
    return f"{len(found)} files, {size_text(total)}; {shares}"


def _licence(clone: Clone) -> list[str]:
    if clone.licence:
        found = [f"{clone.licence}, recognised in {clone.licence_file}"]
    elif clone.licence_file:
        found = [f"{clone.licence_file}, not recognised"]
    else:
        found = ["no licence file in the repository's root"]
    stop = licence_stop(clone.licence, clone.licence_file)
    return [*found, stop] if stop else found


def _words(path: Path) -> int:
    with path.open("rb") as file:
        return len(file.read(1024 * 1024).split())


def _equations(text: str) -> int:
    """Count numbered equations: lines that end in (1), (2), … with at most two numbers missing in a row."""
    found = re.findall(r"^(.*)\((\d{1,3})\)[ \t]*$", text, re.M)
    numbers = {int(number) for before, number in found if len(re.findall(r"[A-Za-z]{3,}", before)) < 3}
    count = 0
    while following := next((count + step for step in (1, 2, 3) if count + step in numbers), 0):
        count = following
    return count


def abstract(page: str, paper: str) -> str:
    """Return the text under "Abstract", else the first running text, with hyphenated words joined."""
    match = re.search(r"\babstract\b[\s.:—-]*(.*?)(?:\n\s*1?\.?\s*introduction\b|\Z)", page, re.I | re.S)
    running = match or re.search(r"^((?:[^\n]{40,}\n){3}.*)", page, re.M | re.S)
    known = set(re.findall(r"\w+(?:-\w+)*", paper.lower()))

    def joined(broken: re.Match[str]) -> str:
        whole = f"{broken[1]}{broken[2]}"
        parted = f"{broken[1]}-{broken[2]}"
        return parted if parted.lower() in known and whole.lower() not in known else whole

    text = unicodedata.normalize("NFKC", running[1]) if running else ""
    return re.sub(r"([\w-]+)-\n([a-z]\w*)", joined, text)
