"""Find the headings of a paper's numbered sections.

Many lines begin with a number: affiliations, footnotes, lists, cells of tables. Of all ways to read some of them as
headings whose numbers run on, the longest is taken.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_ARABIC = re.compile(
    r"^(?P<number>\d{1,2}(?:\.\d{1,2}){0,2})(?P<dot>\.?)[ \t]*\n?[ \t]*(?P<title>[A-Z][^\n]{2,90})$", re.M
)
_NOT_A_TITLE = re.compile(
    r"[;=|∈≤≥*@]|\.(?:\s|$)|^\w+,|[-:,]$|\d{3}|\bet al\b|^(?:Table|Figure)\b"
    r"|\b(?:University|Universit\w+|Department|Institut\w*|School|Laborator\w+|College|Academy|Labs?|Inc)\b"
)
_LONGEST_SENTENCE = 8
"""Words of a title in which only the first one is capitalised; more are the begin of a footnote or a list."""
_USUAL = re.compile(
    r"^(?:related work|background|methods?|experiments?|results|discussion|conclusions?)\b", re.I
)
_SMALL_CAPITALS = re.compile(r"\b([B-Z]) (?=[A-Z]{2,})")
"""Small capitals begin with a large one, which is a word of its own in the text of a PDF: "I NTRODUCTION".

Not A, which is a word.
"""
_GAP = 0.8
"""Cost of a missing number in a reading of the headings, in headings."""


@dataclass(frozen=True)
class Heading:
    """A line that may be a heading.

    Attributes:
        number: its parts, as numbers.
        label: the number as printed.
        dot: whether a dot follows the number.
        start, end: its offsets in the text.
    """

    number: tuple[int, ...]
    label: str
    dot: bool
    title: str
    start: int
    end: int

    @property
    def weight(self) -> float:
        """The confidence that it is one."""
        if self.title.lower().startswith("introduction"):
            return 4.0
        return 2.0 if _USUAL.match(self.title) else 1.0


def headings(text: str) -> list[Heading]:
    """The headings, in order; none when what looks like them is a list, or scraps of formulas."""
    candidates = list(_candidates(text))
    # A style sets a dot behind the number or sets none; only some set one behind 1 and none behind 1.1.
    styles = [[one for one in candidates if one.dot], [one for one in candidates if not one.dot]]
    best = max(map(_longest, styles), key=_worth)
    both = _longest(candidates)
    found = both if _worth(both) > 1.5 * _worth(best) else best
    return [] if all(one.weight == 1.0 for one in found) else found


def _candidates(text: str) -> Iterator[Heading]:
    """Yield the lines that begin with a number."""
    matches = [(match, _title(match["title"])) for match in _ARABIC.finditer(text)]
    often = Counter(title for _, title in matches)
    for match, title in matches:
        words = title.split()
        sentence = len(words) > _LONGEST_SENTENCE and sum(word[0].isupper() for word in words) == 1
        # The same words beside several numbers are a column of a table, or a page's head.
        cut = sentence or title.count("(") != title.count(")")
        number = tuple(map(int, match["number"].split(".")))
        if often[title] == 1 and not cut and not _NOT_A_TITLE.search(title):
            yield Heading(number, match["number"], bool(match["dot"]), title, match.start(), match.end())


def _title(text: str) -> str:
    return _SMALL_CAPITALS.sub(r"\1", unicodedata.normalize("NFKC", text).strip())


def _longest(candidates: Sequence[Heading]) -> list[Heading]:
    """The chain of headings, in order, that is worth most: see :func:`_worth`."""
    best: list[tuple[float, int]] = []  # worth of the best chain that ends here; place of the one before
    for place, one in enumerate(candidates):
        options = [(one.weight, -1)] if one.number == (1,) else []
        for before in range(place):
            step = _step(candidates[before].number, one.number)
            if step is not None and best[before][0] > 0:
                options.append((best[before][0] + one.weight - step, before))
        best.append(max(options, default=(0.0, -1)))
    if not best:
        return []
    place = max(range(len(best)), key=lambda index: best[index][0])
    chain: list[Heading] = []
    while place >= 0 and best[place][0] > 0:
        chain.append(candidates[place])
        place = best[place][1]
    return chain[::-1]


def _worth(chain: Sequence[Heading]) -> float:
    missing = sum(_step(one.number, other.number) or 0.0 for one, other in pairwise(chain))
    return sum(one.weight for one in chain) - missing


def _step(old: tuple[int, ...], new: tuple[int, ...]) -> float | None:
    """Return the cost of one number following another: 0 for 3 after 2.4, 2.1 after 2, 2.2 after 2.1.

    A heading between them may be missing, because its title is no line of its own. None: it cannot follow.
    """
    nexts = [(*old, 1), *((*old[:depth], old[depth] + 1) for depth in range(len(old)))]
    if new in nexts:
        return 0.0
    after = [(*old, 2), *((*old[:depth], old[depth] + 2) for depth in range(len(old)))]
    after += [(*one, 1) for one in nexts]
    return _GAP if new in after else None
