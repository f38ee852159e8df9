"""The numbered sections of a paper, from its text."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from operator import itemgetter

_HEADING = re.compile(
    r"^(?P<number>\d{1,2}(?:\.\d{1,2}){0,2})(?P<dot>\.?)[ \t]*\n?[ \t]*(?P<title>[a-z]{0,3}-?[A-Z][^\n]{2,90})$",
    re.M,
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
