"""The values that ``new-task`` writes about paper and folders: given, else derived, else asked for.

A wizard shows all of them before anything is written, and lets all of them be changed. Answers are kept beside
the tasks until the task is made, so that an interrupted wizard can resume.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from lmr_author import files
from lmr_author.errors import LmrError, UsageError
from lmr_author.repo.address import Address, safe_name
from lmr_author.task import NOT_SHIPPED

PROGRESS = ".new-task.json"
"""File in the folder of tasks with the answers given so far, one entry for each paper."""

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")
_RESERVED = (*NOT_SHIPPED, "dockerfile", "info.json", "requirements.lock")

LABELS = {
    "number": "Number",
    "name": "Short name",
    "title": "Title of the paper",
    "year": "Year of the paper",
    "paper_url": "Paper's address",
    "repo_url": "Repository's public address",
    "repo_folder": "Repository's folder",
}
"""The editable fields, in the order shown."""

_OPTIONS = {"number": "--id", "name": "--name", "title": "--title", "year": "--year", "repo_url": "--repo-url",
            "paper_url": "--paper-url", "repo_folder": "--repo-folder"}  # fmt: skip


@dataclass(frozen=True)
class Draft:
    """The values of :data:`LABELS`, as text; "" for what is not known."""

    number: str = ""
    name: str = ""
    title: str = ""
    year: str = ""
    paper_url: str = ""
    repo_url: str = ""
    repo_folder: str = ""


class Wizard(Protocol):
    """A person at a terminal."""

    def repository(self, linked: tuple[str, ...]) -> str:
        """The repository's address; ``linked`` are those that the paper links."""

    def edit(self, draft: Draft, taken: Mapping[int, str], note: Callable[[Draft], None]) -> Draft:
        """Show the draft, and let everything be changed; what comes back has no problems.

        Each answer is passed to ``note`` at once, so that an interruption loses none.
        """


def problems(draft: Draft, taken: Mapping[int, str]) -> dict[str, str]:
    """Return the problems of a draft, by field."""
    found = {}
    for field in ("title", "year"):
        if not getattr(draft, field):
            found[field] = "not found in the paper"
    if draft.year and not re.fullmatch(r"19[5-9]\d|20\d\d|2100", draft.year):
        found["year"] = f"{draft.year!r} is not a year"
    if not re.fullmatch(r"[1-9]\d{0,8}", draft.number):
        found["number"] = f"{draft.number!r} is not a task number"
    elif int(draft.number) in taken:
        found["number"] = f"the number {draft.number} is taken by {taken[int(draft.number)]}/"
    for field in ("name", "repo_folder"):
        if not _NAME.match(getattr(draft, field)):
            found[field] = f"{getattr(draft, field)!r} is not a valid folder name"
    if draft.repo_folder.lower() in _RESERVED:
        found["repo_folder"] = f"the repository's folder cannot be called {draft.repo_folder}"
    if draft.repo_url:
        try:
            Address.parse(draft.repo_url)
        except LmrError as error:
            found["repo_url"] = error.message
    return found


def require_complete(draft: Draft, taken: Mapping[int, str]) -> None:
    """Raise UsageError for the first problem, naming the option that gives the value."""
    for field, problem in problems(draft, taken).items():
        raise UsageError(f"{LABELS[field].lower()}: {problem}", f"pass it with {_OPTIONS[field]}")


def require_name(name: str, option: str) -> None:
    """Raise UsageError for an invalid folder name."""
    if not _NAME.match(name):
        raise UsageError(
            f"{option} {name!r} is not a valid folder name",
            "use letters, digits, '.', '_' and '-', starting with a letter or digit",
        )


def require_folder(name: str, shown: str) -> None:
    """Raise UsageError for a name that the repository's folder cannot have."""
    if not name:
        raise UsageError(f"{shown} gives the repository's folder no name", "pass one with --repo-folder")
    if name.lower() in _RESERVED:
        raise UsageError(
            f"the repository's folder cannot be called {name}", "pass another name with --repo-folder"
        )


def default_name(title: str) -> str:
    """Return a short name from a title: the part before its colon, or an acronym in it; "" when it has neither.

    "SimPO: Simple …" → ``SimPO``; "Direct Preference Optimization: Your …" → ``DPO``.
    """
    head, colon, _ = title.partition(":")
    words = head.split()
    if colon and 1 <= len(words) <= 2:
        return safe_name("-".join(words))
    if colon and len(words) <= 6:
        initials = "".join(
            word[0] for part in words for word in part.split("-") if word and word[0].isupper()
        )
        if len(initials) >= 2:
            return safe_name(initials)
    acronym = re.search(r"\(([A-Z][A-Za-z0-9-]*[A-Z0-9][A-Za-z0-9-]*)\)", title)
    return safe_name(acronym[1]) if acronym else ""


@dataclass(frozen=True)
class InterruptedDraft:
    """The state of an interrupted wizard: paper and repository as they were named, and answers by field."""

    paper: str
    repo: str
    answers: Mapping[str, str]


def keep(tasks_dir: Path, kept: InterruptedDraft) -> None:
    """Store the state of a paper's wizard. Raises LmrError when the file is damaged."""
    _write(tasks_dir, [*_others(tasks_dir, kept.paper), kept])


def kept_in(tasks_dir: Path) -> list[InterruptedDraft]:
    """Read the states of interrupted wizards, one for each paper.

    Raises LmrError when the file is damaged: the next answer would be written over all of them.
    """
    path = tasks_dir / PROGRESS
    return [_read(path, entry) for entry in files.read_entries_to_change(path, "interrupted")]


def answers_about(tasks_dir: Path, paper: str) -> Mapping[str, str]:
    """Return the earlier answers about a paper. Raises LmrError when the file is damaged."""
    return next((one.answers for one in kept_in(tasks_dir) if one.paper == paper), {})


def forget(tasks_dir: Path, paper: str) -> None:
    """Drop the state of a paper whose task is made or given up. Raises LmrError when the file is damaged."""
    _write(tasks_dir, _others(tasks_dir, paper))


def _others(tasks_dir: Path, paper: str) -> list[InterruptedDraft]:
    return [one for one in kept_in(tasks_dir) if one.paper != paper]


def _write(tasks_dir: Path, kept: Collection[InterruptedDraft]) -> None:
    path = tasks_dir / PROGRESS
    if kept:
        files.write_json(path, {"interrupted": [asdict(one) for one in kept]})
    else:
        path.unlink(missing_ok=True)


def _read(path: Path, entry: Mapping[str, Any]) -> InterruptedDraft:
    paper, repo, answers = entry.get("paper"), entry.get("repo", ""), entry.get("answers", {})
    if paper and isinstance(paper, str) and isinstance(repo, str) and isinstance(answers, dict):
        fields = {name: value for name, value in answers.items() if name in LABELS}
        if all(isinstance(value, str) for value in fields.values()):
            return InterruptedDraft(paper, repo, fields)
    raise LmrError(
        f"{path}: not the answers of an interrupted new-task",
        "correct the file by hand, or move it away to be asked everything again",
    )


def with_answers(draft: Draft, answers: Mapping[str, str], given: Collection[str]) -> Draft:
    """Return the draft with earlier answers, except for fields ``given`` on the command line now."""
    return replace(draft, **{key: value for key, value in answers.items() if key not in given})
