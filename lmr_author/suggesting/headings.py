"""Which lines of a paper are the headings of its numbered sections.

Many lines begin with a number: affiliations, footnotes, lists, cells of tables. Of all ways to read some of them as
headings whose numbers run on, the longest is taken. Numbers are arabic (``3.2``, as most set them) or, as in IEEE's
papers, Roman with letters below (``III``, ``III-B``).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
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
_ROMAN = re.compile(r"^(?P<number>[IVX]{1,5})(?P<dot>\.)[ \t]*\n?[ \t]*(?P<title>[A-Z][^\n]{2,90})$", re.M)
_LETTERED = re.compile(r"^(?P<number>[A-Z])(?P<dot>\.)[ \t]*\n?[ \t]*(?P<title>[A-Z][^\n]{2,90})$", re.M)
_SMALL_CAPITALS = re.compile(r"\b([B-Z]) (?=[A-Z]{2,})")
"""Small capitals begin with a large one, which is a word of its own in the text of a PDF: "I NTRODUCTION".

Not A, which is a word.
"""
_ROMANS = {
    tens + ones: 10 * place + number
    for place, tens in enumerate(("", "X", "XX", "XXX"))
    for number, ones in enumerate(("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"))
    if tens + ones
}
_GAP = 0.8
"""What a missing number costs a reading of the headings, in headings."""


@dataclass(frozen=True)
class Heading:
    """What may be a heading.

    Attributes:
        number: its parts, as numbers.
        label: the number as printed.
        dot: whether a dot follows the number.
        start, end: where it stands in the text.
    """

    number: tuple[int, ...]
    label: str
    dot: bool
    title: str
    start: int
    end: int

    @property
    def weight(self) -> float:
        """How sure it is one."""
        if self.title.lower().startswith("introduction"):
            return 4.0
        return 2.0 if _USUAL.match(self.title) else 1.0


def headings(text: str) -> list[Heading]:
    """The headings, in order; none when what looks like them is a list, or scraps of formulas."""
    candidates = list(_candidates(text, _ARABIC, _arabic))
    # A style sets a dot behind the number or sets none; only some set one behind 1 and none behind 1.1.
    styles = [[one for one in candidates if one.dot], [one for one in candidates if not one.dot]]
    best = max(map(_longest, styles), key=_worth)
    both = _longest(candidates)
    found = both if _worth(both) > 1.5 * _worth(best) else best
    roman = _roman_and_letters(text)
    found = max(found, roman, key=_worth)
    return [] if all(one.weight == 1.0 for one in found) else found


def _roman_and_letters(text: str) -> list[Heading]:
    """The headings of a paper that counts its sections in Roman numbers, and in letters below these."""
    sections = _longest(list(_candidates(text, _ROMAN, _roman)))
    letters = list(_candidates(text, _LETTERED, _letter))
    ends = [*(one.start for one in sections[1:]), len(text)]
    found = []
    for section, end in zip(sections, ends, strict=False):
        below = _longest([one for one in letters if section.end <= one.start < end])
        found.append(section)
        if len(below) > 1:  # one alone is somebody's initial
            found += [
                replace(one, number=(*section.number, *one.number), label=f"{section.label}-{one.label}")
                for one in below
            ]
    return found


def _arabic(number: str) -> tuple[int, ...]:
    return tuple(int(part) for part in number.split("."))


def _roman(number: str) -> tuple[int, ...]:
    """``(9,)`` for IX; empty for what is no number below 40."""
    return (_ROMANS[number],) if number in _ROMANS else ()


def _letter(letter: str) -> tuple[int, ...]:
    return (ord(letter) - ord("A") + 1,)


def _candidates(
    text: str, pattern: re.Pattern[str], read: Callable[[str], tuple[int, ...]]
) -> Iterator[Heading]:
    """Lines that begin with a number; ``read`` gives its parts, none where it is no number."""
    matches = [(match, _title(match["title"])) for match in pattern.finditer(text)]
    often = Counter(title for _, title in matches)
    for match, title in matches:
        words = title.split()
        sentence = len(words) > _LONGEST_SENTENCE and sum(word[0].isupper() for word in words) == 1
        # The same words beside several numbers are a column of a table, or a page's head.
        cut = sentence or title.count("(") != title.count(")")
        number = read(match["number"])
        if number and often[title] == 1 and not cut and not _NOT_A_TITLE.search(title):
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
    """What it costs that one number follows another: 0 for 3 after 2.4, 2.1 after 2, 2.2 after 2.1.

    A heading between them may be missing, because its title is no line of its own. None: it cannot follow.
    """
    nexts = [(*old, 1), *((*old[:depth], old[depth] + 1) for depth in range(len(old)))]
    if new in nexts:
        return 0.0
    after = [(*old, 2), *((*old[:depth], old[depth] + 2) for depth in range(len(old)))]
    after += [(*one, 1) for one in nexts]
    return _GAP if new in after else None
