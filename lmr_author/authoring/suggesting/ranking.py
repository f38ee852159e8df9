"""``suggest``: index the repository, read the paper, rank the functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import prod
from pathlib import Path
from typing import Any

from lmr_author.authoring.suggesting.criteria import CRITERIA, CriterionScore, Prospect, has_own_package
from lmr_author.authoring.suggesting.paper import ALIKE, Description, Descriptions, PaperText
from lmr_author.core import files, foreign, indexing
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.indexing import MAX_BYTES, Index, IndexEntry, UnreadFile
from lmr_author.core.repo.tree import unusable_code
from lmr_author.core.task import UNIT_TEST, Task, TaskInfo
from lmr_author.core.texts import listed


@dataclass(frozen=True)
class Suggestion:
    """A function, how good a task it makes, and why.

    Attributes:
        score: 0 to 100; comparable within one repository.
        masked: index of the implementation that masks it.
        copies: targets of the same function in other files.
    """

    rank: int
    entry: IndexEntry
    score: float
    description: Description
    judgements: tuple[CriterionScore, ...]
    masked: int | None = None
    copies: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        return self.entry.node_id

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(judgement.warning for judgement in self.judgements if judgement.warning)

    @property
    def reason(self) -> str:
        """The criterion that lowers its score most, in a few words."""
        worst = min(self.judgements, key=_weighted)
        if worst.value == 1:
            return "no drawback found"
        if worst.criterion == "described" and not worst.warning:
            return f"similarity to the paper: {100 * worst.value:.0f} of 100"
        return worst.warning or worst.sentence

    def to_json(self) -> dict[str, Any]:
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
            "copies": list(self.copies),
            "pages": list(self.description.pages),
            "terms": [{"term": match.term, "pages": list(match.pages)} for match in self.description.matches],
            "criteria": {
                judgement.criterion: {"value": round(judgement.value, 3), "reason": judgement.sentence}
                for judgement in self.judgements
            },
            "warnings": list(self.warnings),
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Suggestions:
    """The result of ``suggest``, the best tasks first; ``notes`` are about notebooks and files for Python 2."""

    repository: str
    suggestions: tuple[Suggestion, ...]
    functions: int
    files: int
    pages: int
    unread: tuple[UnreadFile, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "repository": self.repository,
            "functions": self.functions,
            "files": self.files,
            "pages": self.pages,
            "notes": list(self.notes),
            "unread": [{"path": file.path, "reason": file.reason} for file in self.unread],
            "suggestions": [suggestion.to_json() for suggestion in self.suggestions],
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
    masked = {(entry.goal_file, entry.qualname): entry.index for entry in info.implementations}
    ranked = rank(index, paper, top=top, globs=globs, masked=masked, repository=repository.name)
    return _result(repository, index, paper, ranked, globs)


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
    index, repository = indexing.build(repository), repository.resolve()
    ranked = rank(index, text, top=top, globs=globs, repository=repository.name)
    return _result(repository, index, text, ranked, globs)


def rank(
    index: Index,
    paper: PaperText,
    *,
    top: int | None = None,
    globs: Sequence[str] = (),
    masked: Mapping[tuple[str, str], int] | None = None,
    repository: str = "",
) -> list[Suggestion]:
    """Return the ``top`` functions of a repository, the best tasks first.

    Args:
        paper: describes them; an empty one leaves that out.
        globs: only functions of files that one of these matches (``*`` crosses folders), or that are in a folder.
        masked: (path, qualified name) → index of the implementation that masks it.
        repository: its name, by which its own folders are told from those of other projects.
    """
    descriptions = Descriptions(index, paper) if paper.pages else None
    has_package, suggestions = has_own_package(index.files), []
    for number, entry in enumerate(index.functions):
        if not matches(entry.path, globs):
            continue
        description = descriptions.describe(number) if descriptions else Description(1.0)
        judgements = _judge(Prospect(entry, index, description, repository, has_package))
        own = masked.get((entry.path, entry.qualname)) if masked else None
        suggestions.append(Suggestion(0, entry, _score(judgements), description, judgements, own))
    suggestions.sort(key=lambda suggestion: -suggestion.score)
    distinct = _without_copies(suggestions)[:top]
    return [replace(suggestion, rank=number) for number, suggestion in enumerate(distinct, 1)]


def matches(path: str, globs: Sequence[str]) -> bool:
    return not globs or any(
        fnmatchcase(path, glob) or path.startswith(f"{glob.rstrip('/')}/") for glob in globs
    )


def _without_copies(suggestions: Sequence[Suggestion]) -> list[Suggestion]:
    """Return one suggestion for each function, with its copies: the masked one, else the best, in the upper folder."""
    alike: dict[tuple[object, ...], list[Suggestion]] = {}
    for suggestion in suggestions:
        entry = suggestion.entry
        form: tuple[object, ...] = (entry.node_id,)
        if entry.statements >= ALIKE:
            size = entry.statements, entry.branches, entry.end_line - entry.line
            form = entry.qualname, entry.parameters, entry.docstring, entry.names, entry.calls, size
        alike.setdefault(form, []).append(suggestion)
    distinct = []
    for copies in alike.values():
        copies.sort(key=lambda copy: (copy.masked is None, -round(copy.score), copy.entry.path.count("/")))
        distinct.append(replace(copies[0], copies=tuple(copy.target for copy in copies[1:])))
    return distinct


def _judge(prospect: Prospect) -> tuple[CriterionScore, ...]:
    return tuple(replace(criterion(prospect), criterion=name) for name, (_, criterion) in CRITERIA.items())


def _score(judgements: Sequence[CriterionScore]) -> float:
    return 100 * prod(map(_weighted, judgements))


def _weighted(judgement: CriterionScore) -> float:
    weight, _ = CRITERIA[judgement.criterion]
    return float(judgement.value**weight)


def _result(
    repository: Path, index: Index, paper: PaperText, ranked: Sequence[Suggestion], globs: Sequence[str]
) -> Suggestions:
    name, notes = repository.name, unusable_code(repository)
    unread = tuple(file for file in index.unread if matches(file.path, globs))
    if ranked:
        return Suggestions(
            name,
            tuple(ranked),
            len(index.functions),
            len(index.files),
            len(paper.pages),
            unread,
            tuple(notes),
        )
    reasons = [f"{file.path}: {file.reason}" for file in unread]
    why = f" (not read: {listed(reasons, 3)})" if reasons else ""
    if index.functions:
        raise UsageError(
            f"no function in a file that matches {' or '.join(globs)}{why}",
            "name a folder, or a pattern of paths in the repository, as in 'src/*.py'",
        )
    raise LmrError(
        f"no function in {name}/{why}",
        "; ".join(notes) or "a task masks a function of a Python file: is this the right folder?",
    )


def read_paper(path: Path) -> PaperText:
    if not path.is_file():
        raise UsageError(f"--paper {path}: no such file", "name a PDF or a paper.json")
    if path.suffix.lower() == ".json":
        text = PaperText.from_json(files.read_json(path))
        if not text.pages:
            raise LmrError(f"{path} has no page", 'it must map page numbers to text, as in {"1": "..."}')
        return text
    from lmr_author.core.paper import extract

    with path.open("rb") as file:
        if b"%PDF-" not in file.read(1024):
            raise UsageError(f"--paper {path} is not a PDF", "name a PDF or a paper.json")
    return PaperText(dict(enumerate(extract(path).pages, 1)))


def _goldens(task: Task, info: TaskInfo) -> dict[str, bytes]:
    goldens = {}
    for entry in info.implementations:
        try:
            data = foreign.read_regular(str(task.golden(entry)), MAX_BYTES)
        except LmrError:
            continue
        if data is not None:
            goldens[entry.goal_file] = data
    return goldens
