"""The section and the paragraphs of a paper that describe a function, and its likely category: guesses to confirm."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    headings: list[tuple[re.Match[str], str]] = []
    for match, title in candidates:
        if often[title] > 1 or not _is_title(title):
            continue
        if not headings and (match["number"] != "1" or not title.lower().startswith("introduction")):
            continue
        # A style sets a dot behind all numbers of sections or behind none; subsections may differ.
        if not headings or "." in match["number"] or match["dot"] == headings[0][0]["dot"]:
            headings.append((match, title))
    return headings


def _is_title(title: str) -> bool:
    words = title.split()
    is_sentence = len(words) > _LONGEST_SENTENCE and sum(word[0].isupper() for word in words) == 1
    is_cut = title.count("(") != title.count(")")
    return not is_sentence and not is_cut and not _NOT_A_TITLE.search(title)


def _longest_chain(candidates: Sequence[tuple[re.Match[str], str]]) -> list[tuple[re.Match[str], str]]:
    """Return the longest chain from the first candidate on in which each number may follow the one before.

    A heading between two may be missing, as its title is no line of its own; that costs most of a heading.
    """
    numbers = [tuple(map(int, match["number"].split("."))) for match, _ in candidates]
    best: list[tuple[float, list[int]]] = []
    for position, number in enumerate(numbers):
        worth, chain = (1.0, [0]) if position == 0 else (0.0, [])
        for before in range(position):
            gap = _gap(numbers[before], number)
            if best[before][1] and gap is not None and best[before][0] + 1 - gap > worth:
                worth, chain = best[before][0] + 1 - gap, [*best[before][1], position]
        best.append((worth, chain))
    chain = max(best, key=lambda scored: scored[0])[1] if best else []
    return [candidates[position] for position in chain]


def _gap(old: tuple[int, ...], new: tuple[int, ...]) -> float | None:
    """Return the cost of one number following another: 0 for 3 after 2.4, 2.1 after 2; None where it cannot."""
    nexts = [(*old, 1), *((*old[:depth], old[depth] + 1) for depth in range(len(old)))]
    if new in nexts:
        return 0.0
    after = [(*old, 2), *((*old[:depth], old[depth] + 2) for depth in range(len(old)))]
    return 0.8 if new in [*after, *((*number, 1) for number in nexts)] else None


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
        return best if named.count(most) == 1 and own[named.index(most)] is best else None
    return best if len(ranked) == 1 or ranked[0][0] >= MARGIN * ranked[1][0] else None


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
    best = []
    ranked = _ranked(paper, function, long)
    for score, number, parts in ranked[:PASSAGES]:
        if score >= SHARE * ranked[0][0]:
            best.append(Passage(number, tuple(map(paper.spelled, paper.telling_terms(parts)))))
    return tuple(best)


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
        words = {word for text in texts for part in re.findall(r"\w+", text) for word in split(part)}
        for category, beginnings in TABLES["categories"].items():
            hits = sum(word.startswith(tuple(beginnings.split())) for word in words)
            scores[category] += weight * min(hits, 3)
    best = max(scores, key=lambda category: scores[category])
    return best if scores[best] else ""
