"""``suggest``: index the repository, read the paper, rank the functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from lmr_author import files, indexing
from lmr_author.errors import LmrError, UsageError
from lmr_author.indexing import Entry, Unread
from lmr_author.suggesting import PaperText, Suggestion, rank, reader
from lmr_author.task import UNIT_TEST, Task, TaskInfo

MAX_GOLDEN = indexing.MAX_BYTES


@dataclass(frozen=True)
class SuggestOptions:
    """The options of ``suggest``.

    Attributes:
        top: how many functions; None for all.
        globs: only functions of files that one of these matches.
    """

    top: int | None = 20
    globs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suggestions:
    """The result of ``suggest``.

    Attributes:
        repository: its folder's name.
        suggestions: the best tasks first.
        functions, files: how many there are.
        pages: of the paper; 0 when there is no text of it.
        unread: Python files that could not be read.
    """

    repository: str
    suggestions: tuple[Suggestion, ...]
    functions: int
    files: int
    pages: int
    unread: tuple[Unread, ...]

    def to_json(self) -> dict[str, Any]:
        """The result as a JSON object."""
        return {
            "repository": self.repository,
            "functions": self.functions,
            "files": self.files,
            "pages": self.pages,
            "unread": [{"path": item.path, "reason": item.reason} for item in self.unread],
            "suggestions": [item.to_json() for item in self.suggestions],
        }


def suggest(task: Task, options: SuggestOptions) -> Suggestions:
    """Rank the functions of a task's repository; masked ones are judged by their golden, and marked.

    Raises LmrError: no ``info.json``, no repository, no function in it.
    """
    info = task.load()
    repository = task.repository(info)
    if not repository.is_dir():
        raise LmrError(
            f"the task has no repository {repository.name}/", "check repo_folder_name in info.json"
        )
    goldens = _goldens(task, info)
    index = indexing.build(repository, instead=goldens, without=(UNIT_TEST,))
    path = task.paper_json(info)
    paper = PaperText.from_json(files.read_json(path)) if path.is_file() else PaperText({})
    masked = {(item.goal_file, item.qualname): item.index for item in info.implementations}
    return _ranked(repository.name, index, paper, options, masked, reader(repository, goldens))


def suggest_repository(repository: Path, paper: Path | None, options: SuggestOptions) -> Suggestions:
    """The same for a repository that is no task yet.

    Args:
        paper: a PDF or a ``paper.json``; without one only the functions themselves are judged.
    """
    if not repository.is_dir():
        what = "not a folder" if repository.exists() else "no such folder"
        raise UsageError(f"--repo {repository}: {what}", "name the folder of a repository")
    text = PaperText({}) if paper is None else read_paper(paper)
    index = indexing.build(repository)
    return _ranked(repository.resolve().name, index, text, options, {}, reader(repository, {}))


def read_paper(path: Path) -> PaperText:
    """The text of a PDF or a ``paper.json``."""
    if not path.is_file():
        raise UsageError(f"--paper {path}: no such file", "name a PDF or a paper.json")
    if path.suffix.lower() == ".json":
        text = PaperText.from_json(files.read_json(path))
        if not text.pages:
            raise LmrError(f"{path} has no page", 'it maps page numbers to texts, as in {"1": "..."}')
        return text
    from lmr_author.paper import extract

    with path.open("rb") as file:
        if b"%PDF-" not in file.read(1024):
            raise UsageError(f"--paper {path} is not a PDF", "name a PDF or a paper.json")
    return PaperText(dict(enumerate(extract(path).pages, 1)))


def _goldens(task: Task, info: TaskInfo) -> dict[str, bytes]:
    """The originals of the masked files, by the path of the goal file; what cannot be read is left out."""
    found = {}
    for item in info.implementations:
        try:
            path = task.golden(item)
            if path.is_file() and path.stat().st_size <= MAX_GOLDEN:
                found[item.goal_file] = path.read_bytes()
        except (LmrError, OSError):
            continue
    return found


def _ranked(
    name: str,
    index: indexing.Index,
    paper: PaperText,
    options: SuggestOptions,
    masked: dict[tuple[str, str], int],
    obstacle: Callable[[Entry], str],
) -> Suggestions:
    found = rank(
        index, paper, top=options.top, globs=options.globs, masked=masked, repository=name, obstacle=obstacle
    )
    if not found:
        unread = [
            item for item in index.unread if any(fnmatchcase(item.path, glob) for glob in options.globs)
        ]
        if unread:
            raise UsageError(
                f"{unread[0].path} is not read: {unread[0].reason}", "choose functions of another file"
            )
        if index.functions:
            raise UsageError(
                f"no function in a file that matches {' or '.join(options.globs)}",
                "patterns match the path in the repository, as in 'src/*.py'",
            )
        why = f" ({index.unread[0].path}: {index.unread[0].reason})" if index.unread else ""
        raise LmrError(
            f"no function in {name}/{why}",
            "a task masks a function of a Python file: is this the right folder?",
        )
    return Suggestions(
        name, tuple(found), len(index.functions), len(index.files), len(paper.pages), index.unread
    )
