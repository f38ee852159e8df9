"""Measure how well the paper describes each function: BM25 of the functions, with the paper as the query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from lmr_author.indexing import Entry, Index
from lmr_author.suggesting.bm25 import BM25
from lmr_author.suggesting.paper import PaperText
from lmr_author.suggesting.terms import Vocabulary

FIELDS = {
    "name": 4.0,
    "class": 2.0,
    "bases": 1.0,
    "file": 1.0,
    "folders": 0.5,
    "docstring": 1.0,
    "class docstring": 0.3,
    "parameters": 1.5,
    "code": 1.0,
    "comments": 0.5,
}
"""Weight of a term by the field it is in."""

TERMS = 6
PAGES = 3
"""Shared terms and pages told of a function at most."""


@dataclass(frozen=True)
class Match:
    """A term that a function and the paper share.

    Attributes:
        term: as the paper writes it.
        pages: where it stands, those that use it most first.
    """

    term: str
    pages: tuple[int, ...]


@dataclass(frozen=True)
class Description:
    """The paper's description of a function.

    Attributes:
        share: of the best function's BM25 score, 0 to 1.
        matches: the terms that count most, the best first.
        pages: those that describe it best, the best first.
    """

    share: float
    matches: tuple[Match, ...]
    pages: tuple[int, ...]


class Descriptions:
    """The paper's descriptions of the functions of an index; evidence is gathered when it is asked for."""

    def __init__(self, index: Index, functions: Sequence[Entry], paper: PaperText) -> None:
        self._paper = paper
        classes = {(item.path, item.qualname): item for item in index.entries if item.is_class}
        documents = [
            _terms(item, classes.get((item.path, item.class_name)), paper.vocabulary) for item in functions
        ]
        self._bm25 = BM25(documents)
        self._scores = [sum(self._bm25.parts(place, paper.query).values()) for place in range(len(functions))]
        self._best = max(self._scores, default=0.0)

    def share(self, place: int) -> float:
        """A function's score as a share of the best one's, 0 to 1."""
        return self._scores[place] / self._best if self._best else 0.0

    def describe(self, place: int) -> Description:
        """The evidence for one function."""
        parts = self._bm25.parts(place, self._paper.query)
        on_page: Counter[int] = Counter()
        for term, weight in parts.items():
            for number, counts in self._paper.page_terms.items():
                on_page[number] += weight * counts[term] / (counts[term] + 2)  # type: ignore[assignment]
        best = [number for number, weight in on_page.most_common(PAGES) if weight > 0]
        matches = []
        for term in _telling(parts)[:TERMS]:
            counted = {
                number: counts[term] for number, counts in self._paper.page_terms.items() if counts[term]
            }
            order = sorted(counted, key=lambda number: (-counted[number], number))
            matches.append(Match(self._paper.spelled(term), tuple(order)))
        return Description(self.share(place), tuple(matches), tuple(best))


def _terms(item: Entry, owner: Entry | None, vocabulary: Vocabulary) -> dict[str, float]:
    """The terms of a function with their frequencies, each field counted by its weight."""
    found: Counter[str] = Counter()
    single = (
        ("name", [item.name]),
        ("class", item.class_name.split(".") if item.class_name else []),
        ("bases", owner.parameters if owner is not None else ()),
        ("file", [PurePosixPath(item.path).stem]),
        ("folders", PurePosixPath(item.path).parts[:-1]),
        ("parameters", item.arguments),
        ("code", item.identifiers),
    )
    for field, identifiers in single:
        for term in {term for identifier in identifiers for term in vocabulary.of_identifier(identifier)}:
            found[term] += FIELDS[field]  # type: ignore[assignment]
    texts = [("docstring", item.docstring), ("comments", item.comments)]
    if owner is not None:
        texts.append(("class docstring", owner.docstring))
    for field, text in texts:
        for term in vocabulary.of_text(text) if text else ():
            found[term] += FIELDS[field]  # type: ignore[assignment]
    return dict(found)


def _telling(parts: dict[str, float]) -> list[str]:
    """Terms by weight; one that is part of a pair that says more is left out."""
    order = sorted(parts, key=lambda term: (-parts[term], term))
    in_pairs: set[str] = set()
    kept = []
    for term in order:
        if " " in term:
            in_pairs.update(term.split())
            kept.append(term)
    return [term for term in order if " " in term or term not in in_pairs]
