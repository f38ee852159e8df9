"""The section and the paragraphs of a paper that describe a function, and its likely category: guesses to confirm."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from operator import itemgetter

from lmr_author.authoring.suggesting.paper import BM25, TABLES, FunctionWords, PaperText, split

MARGIN = 2.0
"""Factor by which a section must beat the next one to be named where no title names the function."""
SAME = 5
"""Letters with which two words begin that are taken for one: "Decoder" and ``decode``."""

PASSAGES = 5
SHARE = 0.45
"""The most paragraphs that are shown, and the share of the best one's score that each must have."""
SHORTEST = 6
"""Words below which a paragraph is a heading, a page number or a piece of a formula."""

_HEADING = re.compile(
    r"^(?P<number>\d{1,2}(?:\.\d{1,2}){0,2})(?P<dot>\.?)[ \t]*\n?[ \t]*(?P<title>[A-Z][^\n]{2,90})$", re.M
)
_NOT_A_TITLE = re.compile(
    r"[;=|∈≤≥*@]|\.(?:\s|$)|^\w+,|[-:,]$|\d{3}|\bet al\b|^(?:Table|Figure)\b"
    r"|\b(?:University|Universit\w+|Department|Institut\w*|School|Laborator\w+|College|Academy|Labs?|Inc)\b"
)
_LONGEST_SENTENCE = 8
"""Words of a title in which only the first one is capitalised; more are the begin of a footnote or a list."""
_SMALL_CAPITALS = re.compile(r"\b([B-Z]) (?=[A-Z]{2,})")
"""Small capitals begin with a large one, which is a word of its own in the text of a PDF: "I NTRODUCTION"."""
_END = re.compile(r"^\s*(?:references|bibliography|acknowledge?ments?)\s*$", re.I | re.M)
_IN_ANY_TITLE = {word[:SAME] for word in ("model", "models", "method", "training", "forward", "results")}
_INTRODUCTORY = re.compile(r"introduction|related work|conclusion|background|abstract|limitations", re.I)


@dataclass(frozen=True)
class Section:
    """A section: its number as printed, its title, its text without the heading."""

    number: str
    title: str
    text: str

    @property
    def named(self) -> str:
        """As an instruction names it: ``section 3.2 (Training objective)``."""
        return f"section {self.number} ({self.title})"


@dataclass(frozen=True)
class Passage:
    """A paragraph that describes a function: its place among the paragraphs, and the terms both share."""

    place: int
    terms: tuple[str, ...]


def sections(pages: Mapping[int, str]) -> tuple[Section, ...]:
    """Return the numbered sections from "1 Introduction" to the references; none without such a heading.

    Many lines begin with a number: affiliations, footnotes, lists, cells of tables. Of all ways to read some of
    them as headings whose numbers run on, the longest is taken.
    """
    text = "\n".join(pages[number] for number in sorted(pages))
    end = _END.search(text)
    text = text[: end.start()] if end else text
    headings = _longest_chain(_headings(text))
    ends = [*(match.start() for match, _ in headings[1:]), len(text)]
    return tuple(
        Section(match["number"], title, text[match.end() : stop])
        for (match, title), stop in zip(headings, ends, strict=False)
    )


def _headings(text: str) -> list[tuple[re.Match[str], str]]:
    """Return the lines that may be headings, with their titles, beginning with the introduction's."""
    candidates = []
    for match in _HEADING.finditer(text):
        title = unicodedata.normalize("NFKC", match["title"]).strip()
        candidates.append((match, _SMALL_CAPITALS.sub(r"\1", title)))
    # The same words beside several numbers are a column of a table, or a page's head.
    often = Counter(title for _, title in candidates)
    titled = [(match, title) for match, title in candidates if often[title] == 1 and _is_title(title)]
    headings = list(dropwhile(lambda heading: not _is_introduction(*heading), titled))
    # A style sets a dot behind all numbers of sections or behind none; subsections may differ.
    dots = [match["dot"] for match, _ in headings[:1]]
    return [heading for heading in headings if "." in heading[0]["number"] or heading[0]["dot"] in dots]


def _is_introduction(match: re.Match[str], title: str) -> bool:
    return match["number"] == "1" and title.lower().startswith("introduction")


def _is_title(title: str) -> bool:
    words = title.split()
    is_sentence = len(words) > _LONGEST_SENTENCE and sum(word[0].isupper() for word in words) == 1
    is_cut = title.count("(") != title.count(")")
    return not is_sentence and not is_cut and not _NOT_A_TITLE.search(title)


def _longest_chain(candidates: Sequence[tuple[re.Match[str], str]]) -> list[tuple[re.Match[str], str]]:
    """Return the longest chain from the first candidate on in which each number may follow the one before.

    A heading between two may be missing, as its title is no line of its own; that costs most of a heading.
    """
    if not candidates:
        return []
    numbers = [tuple(map(int, match["number"].split("."))) for match, _ in candidates]
    # The best chain that ends in each candidate, and its worth.
    chains: list[tuple[float, list[int]]] = [(1.0, [0])]
    for position in range(1, len(numbers)):
        longer = []
        for worth, chain in chains:
            gap = _gap(numbers[chain[-1]], numbers[position])
            longer.append((worth + 1 - gap, [*chain, position]))
        chains.append(max(longer, key=itemgetter(0)))
    _, best = max(chains, key=itemgetter(0))
    return [candidates[position] for position in best]


def _gap(old: tuple[int, ...], new: tuple[int, ...]) -> float:
    """Return the cost of one number following another: 0 for 3 after 2.4, 2.1 after 2; infinite where it cannot."""
    nexts = _following(old, 1)
    if new in nexts:
        return 0.0
    after = [*_following(old, 2), *((*number, 1) for number in nexts)]
    return 0.8 if new in after else math.inf


def _following(number: tuple[int, ...], step: int) -> list[tuple[int, ...]]:
    """Return the numbers that follow one in a step: for 2.4 and 1 those are 2.4.1, 3 and 2.5."""
    return [(*number, step), *((*number[:depth], number[depth] + step) for depth in range(len(number)))]


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
    """Count the words of a section's title that are in the name of the function or of its class."""
    names = {part[:SAME] for name in (function.name, function.class_name) for part in split(name)}
    words = {word.lower()[:SAME] for word in re.findall(r"[^\W\d_]{4,}", section.title)} - _IN_ANY_TITLE
    return len(words & names)


def passages(paragraphs: Sequence[str], function: FunctionWords) -> tuple[Passage, ...]:
    """Return the paragraphs that describe a function best, the best first; none when they share no word.

    Args:
        paragraphs: the paper's, in order; the list of references is passed over.
    """
    paper = PaperText(dict(enumerate(paragraphs)))
    long = [number for number, text in paper.own_text.items() if len(text.split()) >= SHORTEST]
    ranked = _ranked(paper, function, long)[:PASSAGES]
    return tuple(
        Passage(number, tuple(map(paper.spelled, paper.telling_terms(parts))))
        for score, number, parts in ranked
        if score >= SHARE * ranked[0][0]
    )


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
    scores: dict[str, float] = defaultdict(float)
    named = [function.name, *function.class_name.split(".")]
    for weight, texts in ((4.0, named), (1.0, [*function.parameters, *function.texts])):
        parts = re.findall(r"\w+", "\n".join(texts))
        words = {word for part in parts for word in split(part)}
        for category, beginnings in TABLES["categories"].items():
            hits = sum(word.startswith(tuple(beginnings.split())) for word in words)
            scores[category] += weight * min(hits, 3)
    best = max(scores, key=lambda category: scores[category])
    return best if scores[best] else ""
