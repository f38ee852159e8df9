"""Rank the functions of a repository."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from lmr_author.indexing import Entry, Index
from lmr_author.suggesting.copies import Copies
from lmr_author.suggesting.criteria import CRITERIA, score
from lmr_author.suggesting.criterion import Case, Judgement
from lmr_author.suggesting.described import Description, Descriptions
from lmr_author.suggesting.origin import Origins
from lmr_author.suggesting.paper import PaperText

DETAILED = 100
"""Of so many functions near copies and matching terms are gathered when all are wanted."""
SLACK = 3
"""Near copies and obstacles are looked for among this many times the functions that are wanted: they only move one
down."""


@dataclass(frozen=True)
class Suggestion:
    """A function, how good a task it makes, and why.

    Attributes:
        rank: from 1.
        score: 0 to 100; comparable within one repository.
        masked: index of the implementation that masks it; None when nothing does.
    """

    rank: int
    entry: Entry
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

    def to_json(self) -> dict[str, Any]:
        """The suggestion as a JSON object."""
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
        }


def rank(
    index: Index,
    paper: PaperText,
    *,
    top: int | None = None,
    globs: Sequence[str] = (),
    masked: Mapping[tuple[str, str], int] | None = None,
    repository: str = "",
    obstacle: Callable[[Entry], str] = lambda entry: "",
) -> list[Suggestion]:
    """The functions of a repository, the best tasks first.

    Args:
        index: of the repository.
        paper: what describes them; an empty one leaves that out.
        top: how many; None for all, of which the best have their evidence.
        globs: only functions of files that one of these matches (``*`` crosses folders).
        masked: (path, qualified name) → index of the implementation that masks it.
        repository: its name, by which its own folders are told from those of other projects.
        obstacle: why a function cannot run in a test, as a sentence, or ""; asked of the best only.
    """
    described = Descriptions(index, index.functions, paper) if paper.pages else None
    found = _found(index, described, globs, Origins(index, repository))
    copies = Copies(index)
    number = masked or {}
    limit = (DETAILED if top is None else top) * SLACK + 20

    def detailed(case: Case, place: int) -> Case:
        about = described.describe(place) if described else case.description
        return replace(case, description=about, copies=copies.of(case.entry), obstacle=obstacle(case.entry))

    best: list[Suggestion] = []
    rest: list[Suggestion] = []
    for place, (value, own_place, case) in enumerate(found if top is None else found[:limit]):
        into, entry = best if place < limit else rest, case.entry
        known = detailed(case, own_place) if place < limit else case
        judged = _judge(known)
        value = score(judged)
        masks = number.get((entry.path, entry.qualname))
        into.append(Suggestion(0, entry, value, known.description, judged, masks))
    best.sort(key=lambda item: -item.score)
    return [replace(item, rank=place) for place, item in enumerate([*best, *rest][:top], 1)]


def _found(
    index: Index, described: Descriptions | None, globs: Sequence[str], origins: Origins
) -> list[tuple[float, int, Case]]:
    """Score, place in the index and case of each function, the best first; without what takes long to find out."""
    found = []
    for place, entry in enumerate(index.functions):
        if globs and not any(fnmatchcase(entry.path, glob) for glob in globs):
            continue
        about = Description(described.share(place) if described else 1.0, (), ())
        case = Case(entry, index, about, origin=origins.of(entry.path, entry.class_name))
        found.append((score(_judge(case)), place, case))
    return sorted(found, key=lambda item: (-item[0], item[1]))


def _judge(case: Case) -> tuple[Judgement, ...]:
    return tuple(criterion.judge(case) for criterion in CRITERIA)
