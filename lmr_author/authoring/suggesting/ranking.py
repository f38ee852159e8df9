"""``suggest``: index the repository, read the paper, rank the functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import prod
from pathlib import Path
from typing import Any

from lmr_author.authoring.suggesting.criteria import CRITERIA, Judgement, Prospect
from lmr_author.authoring.suggesting.paper import Description, Descriptions, PaperText
from lmr_author.core import files, indexing
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.indexing import MAX_BYTES, Index, IndexEntry, Unread
from lmr_author.core.task import UNIT_TEST, Task, TaskInfo

DETAILED = 100
"""The terms that a function shares with the paper are gathered for so many of the best."""


@dataclass(frozen=True)
class Suggestion:
    """A function, how good a task it makes, and why.

    Attributes:
        rank: from 1.
        score: 0 to 100; comparable within one repository.
        masked: index of the implementation that masks it; None when nothing does.
    """

    rank: int
    entry: IndexEntry
    score: float
    description: Description
    judgements: tuple[Judgement, ...]
    masked: int | None = None

    @property
    def target(self) -> str:
        """Its node id, as ``mask`` takes it."""
        return self.entry.node_id

    @property
    def warnings(self) -> tuple[str, ...]:
        """The reasons against it, in a few words each."""
        return tuple(item.warning for item in self.judgements if item.warning)

    @property
    def reason(self) -> str:
        """What lowers its score most, in a few words."""
        worst = min(self.judgements, key=lambda item: item.value ** CRITERIA[item.criterion][0])
        if worst.value == 1:
            return "nothing speaks against it"
        share = f"{worst.value:.0%}".replace("%", " %")
        return worst.warning or (
            f"described {share} as well as the best" if worst.criterion == "described" else worst.sentence
        )

    def to_json(self) -> dict[str, Any]:
        """Return the suggestion as a JSON object."""
        return {
            "rank": self.rank,
            "target": self.target,
            "score": round(self.score, 1),
            "path": self.entry.path,
            "qualname": self.entry.qualname,
            "lines": [self.entry.line, self.entry.end_line],
            "statements": self.entry.statements,
            "branches": self.entry.branches,
            "masked": self.masked,
            "pages": list(self.description.pages),
            "terms": [{"term": item.term, "pages": list(item.pages)} for item in self.description.matches],
            "criteria": {
                item.criterion: {"value": round(item.value, 3), "reason": item.sentence}
                for item in self.judgements
            },
            "warnings": list(self.warnings),
            "reason": self.reason,
        }


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
        """Return the result as a JSON object."""
        return {
            "repository": self.repository,
            "functions": self.functions,
            "files": self.files,
            "pages": self.pages,
            "unread": [{"path": item.path, "reason": item.reason} for item in self.unread],
            "suggestions": [item.to_json() for item in self.suggestions],
        }


def suggest(task: Task, top: int | None = None, globs: Sequence[str] = ()) -> Suggestions:
    """Rank the functions of a task's repository; masked ones are judged by their golden, and marked.

    Args:
        top: how many functions; None for all.
        globs: only functions of files that one of these matches.

    Raises LmrError: no ``info.json``, no repository, no function in it.
    """
    info = task.load()
    repository = task.repository(info)
    if not repository.is_dir():
        raise LmrError(
            f"the task has no repository {repository.name}/", "check repo_folder_name in info.json"
        )
    index = indexing.build(repository, instead=_goldens(task, info), without=(UNIT_TEST,))
    path = task.paper_json(info)
    paper = PaperText.from_json(files.read_json(path)) if path.is_file() else PaperText({})
    masked = {(item.goal_file, item.qualname): item.index for item in info.implementations}
    found = rank(index, paper, top=top, globs=globs, masked=masked, repository=repository.name)
    return _result(repository.name, index, paper, found, globs)


def suggest_repository(
    repository: Path, paper: Path | None, top: int | None = None, globs: Sequence[str] = ()
) -> Suggestions:
    """Do the same for a repository that is no task yet.

    Args:
        paper: a PDF or a ``paper.json``; without one only the functions themselves are judged.
    """
    if not repository.is_dir():
        what = "not a folder" if repository.exists() else "no such folder"
        raise UsageError(f"--repo {repository}: {what}", "name the folder of a repository")
    text = PaperText({}) if paper is None else read_paper(paper)
    index, name = indexing.build(repository), repository.resolve().name
    return _result(name, index, text, rank(index, text, top=top, globs=globs, repository=name), globs)


def rank(
    index: Index,
    paper: PaperText,
    *,
    top: int | None = None,
    globs: Sequence[str] = (),
    masked: Mapping[tuple[str, str], int] | None = None,
    repository: str = "",
) -> list[Suggestion]:
    """Return the functions of a repository, the best tasks first.

    Args:
        paper: describes them; an empty one leaves that out.
        top: how many; None for all, of which the best have their evidence.
        globs: only functions of files that one of these matches (``*`` crosses folders).
        masked: (path, qualified name) → index of the implementation that masks it.
        repository: its name, by which its own folders are told from those of other projects.
    """
    descriptions = Descriptions(index, paper) if paper.pages else None
    found: list[tuple[int, Suggestion]] = []
    for place, entry in enumerate(index.functions):
        if not globs or any(fnmatchcase(entry.path, glob) for glob in globs):
            description = Description(descriptions.share(place) if descriptions else 1.0)
            found.append((place, _judge(Prospect(entry, index, description, repository))))
    found.sort(key=lambda item: -item[1].score)
    suggestions = []
    for number, (place, item) in enumerate(found[:top], 1):
        if descriptions and number <= max(DETAILED, top or 0):
            item = _judge(Prospect(item.entry, index, descriptions.describe(place), repository))
        own = masked.get((item.entry.path, item.entry.qualname)) if masked else None
        suggestions.append(replace(item, rank=number, masked=own))
    return suggestions


def _judge(case: Prospect) -> Suggestion:
    """Return a function's score; its rank is not known yet."""
    judgements = tuple(replace(judge(case), criterion=name) for name, (_, judge) in CRITERIA.items())
    score = 100 * prod(item.value ** CRITERIA[item.criterion][0] for item in judgements)
    return Suggestion(0, case.entry, score, case.description, judgements)


def _result(
    name: str, index: Index, paper: PaperText, found: Sequence[Suggestion], globs: Sequence[str]
) -> Suggestions:
    if found:
        pages = len(paper.pages)
        return Suggestions(name, tuple(found), len(index.functions), len(index.files), pages, index.unread)
    for item in index.unread:
        if any(fnmatchcase(item.path, glob) for glob in globs):
            raise UsageError(f"{item.path} is not read: {item.reason}", "choose functions of another file")
    if index.functions:
        raise UsageError(
            f"no function in a file that matches {' or '.join(globs)}",
            "patterns match the path in the repository, as in 'src/*.py'",
        )
    why = f" ({index.unread[0].path}: {index.unread[0].reason})" if index.unread else ""
    raise LmrError(
        f"no function in {name}/{why}", "a task masks a function of a Python file: is this the right folder?"
    )


def read_paper(path: Path) -> PaperText:
    """Return the text of a PDF or a ``paper.json``."""
    if not path.is_file():
        raise UsageError(f"--paper {path}: no such file", "name a PDF or a paper.json")
    if path.suffix.lower() == ".json":
        text = PaperText.from_json(files.read_json(path))
        if not text.pages:
            raise LmrError(f"{path} has no page", 'it maps page numbers to texts, as in {"1": "..."}')
        return text
    from lmr_author.core.paper import extract

    with path.open("rb") as file:
        if b"%PDF-" not in file.read(1024):
            raise UsageError(f"--paper {path} is not a PDF", "name a PDF or a paper.json")
    return PaperText(dict(enumerate(extract(path).pages, 1)))


def _goldens(task: Task, info: TaskInfo) -> dict[str, bytes]:
    """Return the originals of the masked files, by the path of the goal file; without those that cannot be read."""
    found = {}
    for item in info.implementations:
        try:
            data = files.read_regular(str(task.golden(item)), MAX_BYTES)
        except LmrError:
            continue
        if data is not None:
            found[item.goal_file] = data
    return found
