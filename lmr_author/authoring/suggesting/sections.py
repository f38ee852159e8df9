"""The section of a paper that describes a function, and its likely category: guesses to confirm."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from lmr_author.authoring.suggesting.paper import BM25, TABLES, FunctionWords, PaperText, split
from lmr_author.core.paper.parts import Section

MARGIN = 2.0
"""Factor by which a section must beat the next one to be named where no title names the function."""
SAME = 5
"""Letters with which two words begin that are taken for one: "Decoder" and ``decode``."""

CLEAR = 4.0
"""How much more than twice as many words, the function's name counting as four, speak for another category."""

_IN_ANY_TITLE = {word[:SAME] for word in ("model", "models", "method", "training", "forward", "results")}
_INTRODUCTORY = re.compile(r"introduction|related work|conclusion|background|abstract|limitations", re.I)


def best_section(titled: Sequence[Section], function: FunctionWords) -> Section | None:
    """Return the section that describes a function clearly better than the others; None when there is none.

    The one that shares most words with the function; a title that names the function must be its own.
    """
    own = [section for section in titled if not _INTRODUCTORY.search(section.title)]
    paper = PaperText({number: f"{section.title}\n{section.text}" for number, section in enumerate(own)})
    ranked = _ranked(paper, function, range(len(own)))
    if not ranked:
        return None
    best = own[ranked[0][1]]
    named = [_words_of_title(section, function) for section in own]
    if most := max(named):
        is_clear = named[ranked[0][1]] == most and named.count(most) == 1
    else:
        is_clear = len(ranked) == 1 or ranked[0][0] >= MARGIN * ranked[1][0]
    return best if is_clear else None


def _words_of_title(section: Section, function: FunctionWords) -> int:
    names = {part[:SAME] for name in (function.name, function.class_name) for part in split(name)}
    words = {word.lower()[:SAME] for word in re.findall(r"[^\W\d_]{4,}", section.title)} - _IN_ANY_TITLE
    return len(words & names)


def _ranked(
    paper: PaperText, function: FunctionWords, pages: Sequence[int]
) -> list[tuple[float, int, dict[str, float]]]:
    """Return score, number and shared terms of the pages that share any with a function, the best first."""
    bm25, query = BM25([paper.page_terms[page] for page in pages]), function.terms()
    scored = []
    for position, page in enumerate(pages):
        if parts := bm25.parts(position, query):
            scored.append((sum(parts.values()), page, parts))
    return sorted(scored, key=lambda section: (-section[0], section[1]))


def likely_category(function: FunctionWords) -> str:
    """Return the category that a function's names and texts speak for most; "" when they speak for none."""
    scores = _category_scores(function)
    best = max(scores, key=lambda category: scores[category])
    return best if scores[best] else ""


def contradicting_category(function: FunctionWords, category: str) -> str:
    """Return the category that a function's words clearly speak for instead of a given one; "" for none.

    Of 50 targets of the starter tasks and the recipes, 2 are contradicted (13 have another likely category); with a
    wrong category, three of five are.
    """
    likely, scores = likely_category(function), _category_scores(function)
    is_clear = likely and scores[likely] >= 2 * scores.get(category, 0.0) + CLEAR
    return likely if is_clear and likely != category else ""


def _category_scores(function: FunctionWords) -> dict[str, float]:
    scores: dict[str, float] = defaultdict(float)
    named = [function.name, *function.class_name.split(".")]
    for weight, texts in ((4.0, named), (1.0, [*function.parameters, *function.texts])):
        parts = re.findall(r"\w+", "\n".join(texts))
        words = {word for part in parts for word in split(part)}
        for category, beginnings in TABLES["categories"].items():
            hits = sum(word.startswith(tuple(beginnings.split())) for word in words)
            scores[category] += weight * min(hits, 3)
    return scores
