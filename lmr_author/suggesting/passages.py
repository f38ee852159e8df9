"""Find the paragraphs that describe a function: BM25 of the paragraphs, with the function as the query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lmr_author.suggesting.bm25 import BM25
from lmr_author.suggesting.paper import APPENDIX, REFERENCES, PaperText
from lmr_author.suggesting.terms import Vocabulary

LIMIT = 5
SHARE = 0.45
"""Paragraphs told at most, and the share of the best one's score that each must have."""
TERMS = 6
"""Shared terms told of a paragraph at most."""
SHORTEST = 6
"""Words below which a paragraph is a heading, a page number or a piece of a formula."""


@dataclass(frozen=True)
class Passage:
    """A paragraph that describes a function: its place among the paragraphs, and the terms both share."""

    place: int
    terms: tuple[str, ...]


@dataclass(frozen=True)
class FunctionWords:
    """A function's names and texts (docstring, comments, instruction)."""

    name: str
    class_name: str = ""
    parameters: Sequence[str] = ()
    identifiers: Sequence[str] = ()
    texts: Sequence[str] = ()


def passages(paragraphs: Sequence[str], function: FunctionWords) -> tuple[Passage, ...]:
    """The paragraphs that describe a function best, the best first; none when they share no word.

    Args:
        paragraphs: the paper's, in order; the list of references is passed over.
        function: what is looked for.
    """
    paper = PaperText({1: "\n".join(paragraphs)})
    words = paper.vocabulary
    wanted = query(function, words)
    documents = [Counter(words.of_text(text)) if own else Counter[str]() for text, own in _own(paragraphs)]
    ranking = BM25([dict(document) for document in documents])
    scored = [(ranking.parts(place, wanted), place) for place in range(len(documents))]
    ranked = sorted(((sum(parts.values()), place, parts) for parts, place in scored), key=lambda one: -one[0])
    best = ranked[0][0] if ranked else 0.0
    return tuple(
        Passage(place, _best_terms(parts, paper))
        for score, place, parts in ranked[:LIMIT]
        if score > 0 and score >= SHARE * best
    )


def query(function: FunctionWords, words: Vocabulary) -> Mapping[str, float]:
    """The terms of a function with their weights."""
    weights: Counter[str] = Counter()
    fields = (
        (4.0, [function.name]),
        (2.0, function.class_name.split(".") if function.class_name else []),
        (1.5, function.parameters),
        (0.5, function.identifiers),
    )
    for weight, names in fields:
        for term in {term for name in names for term in words.of_identifier(name)}:
            weights[term] += weight  # type: ignore[assignment]
    for text in function.texts:
        for term in set(words.of_text(text)):
            weights[term] += 1
    return dict(weights)


def _own(paragraphs: Sequence[str]) -> list[tuple[str, bool]]:
    """Each paragraph, and whether it is text of the paper: not a scrap, and not in the list of references."""
    found, in_references = [], False
    for text in paragraphs:
        first = text.strip().split("\n", 1)[0]
        if REFERENCES.match(first):
            in_references = True
        elif in_references and APPENDIX.match(first):
            in_references = False
        found.append((text, not in_references and len(text.split()) >= SHORTEST))
    return found


def _best_terms(parts: Mapping[str, float], paper: PaperText) -> tuple[str, ...]:
    order = sorted(parts, key=lambda term: (-parts[term], term))
    kept: list[str] = []
    for term in order:
        if not any(term in other.split() for other in kept):
            kept.append(term)
    return tuple(paper.spelled(term) for term in kept[:TERMS])
