"""The sections of a paper, and the one that describes a function. A guess for a person to confirm."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lmr_author.suggesting.bm25 import BM25
from lmr_author.suggesting.paper import PaperText
from lmr_author.suggesting.passages import FunctionWords, query
from lmr_author.suggesting.terms import split

MARGIN = 1.4
"""How much better than the next section the best one has to be, so that it is named: a wrong one misleads."""
SAME = 5
"""Letters with which two words begin that are taken for one: "Decoder" and ``decode``."""

_NUMBERED = re.compile(
    r"^(?P<number>\d{1,2}(?:\.\d{1,2}){0,2})(?P<dot>\.?)[ \t]*\n?[ \t]*(?P<title>[A-Z][^\n]{2,90})$", re.M
)
_END = re.compile(r"^\s*(?:references|bibliography|acknowledge?ments?)\s*$", re.I | re.M)
_NOT_A_TITLE = re.compile(
    r"[;=|∈≤≥*@]|\.(?:\s|$)|^\w+,|[-:,]$|\d{3}|\bet al\b|^(?:Table|Figure)\b"
    r"|\b(?:University|Universit\w+|Department|Institut\w*|School|Laborator\w+|College|Academy|Labs?|Inc)\b"
)
_LONGEST_SENTENCE = 8
"""Words of a title in which only the first one is capitalised; more are the begin of a footnote or a list."""
_USUAL = re.compile(
    r"^(?:related work|background|methods?|experiments?|results|discussion|conclusions?)\b", re.I
)
_GAP = 0.8
"""What a missing number costs a reading of the headings, in headings."""
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
class _Heading:
    """What may be a heading: the parts of its number, whether a dot follows it, and where it stands."""

    number: tuple[int, ...]
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


def sections(pages: Mapping[int, str]) -> tuple[Section, ...]:
    """The numbered sections, in order, up to the references.

    Many lines of a paper begin with a number: affiliations, footnotes, lists, cells of tables. Of all ways to
    read some of them as headings whose numbers run on, the longest is taken.
    """
    text = "\n".join(pages[number] for number in sorted(pages))
    end = _END.search(text)
    text = text[: end.start()] if end else text
    candidates = list(_candidates(text))
    # A style sets a dot behind the number or sets none; only some set one behind 1 and none behind 1.1.
    styles = [[one for one in candidates if one.dot], [one for one in candidates if not one.dot]]
    best = max(map(_longest, styles), key=_worth)
    both = _longest(candidates)
    found = both if _worth(both) > 1.5 * _worth(best) else best
    if all(one.weight == 1.0 for one in found):  # a list, or scraps of formulas
        return ()
    ends = [*(one.start for one in found[1:]), len(text)][: len(found)]
    return tuple(
        Section(".".join(map(str, one.number)), one.title, text[one.end : stop])
        for one, stop in zip(found, ends, strict=True)
    )


def best_section(found: Sequence[Section], function: FunctionWords) -> Section | None:
    """The section that describes a function clearly better than the others; None when there is no such one."""
    own = [one for one in found if not _INTRODUCTORY.search(one.title)]
    named = [_in_title(one, function) for one in own]
    most = max(named, default=0)
    if most and named.count(most) == 1:
        return own[named.index(most)]
    words = PaperText({1: "\n".join(f"{one.title}\n{one.text}" for one in found)}).vocabulary
    documents = [dict(Counter(words.of_text(f"{one.title}\n{one.text}"))) for one in own]
    ranking, wanted = BM25(documents), query(function, words)
    scores = sorted(
        ((sum(ranking.parts(place, wanted).values()), -place) for place in range(len(own))), reverse=True
    )
    if not scores or scores[0][0] <= 0:
        return None
    if len(scores) > 1 and scores[0][0] < MARGIN * scores[1][0]:
        return None
    return own[-scores[0][1]]


def _in_title(section: Section, function: FunctionWords) -> int:
    """How many words of a section's title stand in the name of the function or of its class."""
    names = {part[:SAME] for name in (function.name, function.class_name) for part in split(name)}
    words = {word.lower()[:SAME] for word in re.findall(r"[^\W\d_]{4,}", section.title)} - _IN_ANY_TITLE
    return len(words & names)


def _candidates(text: str) -> Iterator[_Heading]:
    matches = [
        (match, unicodedata.normalize("NFKC", match["title"]).strip()) for match in _NUMBERED.finditer(text)
    ]
    often = Counter(title for _, title in matches)
    for match, title in matches:
        words = title.split()
        sentence = len(words) > _LONGEST_SENTENCE and sum(word[0].isupper() for word in words) == 1
        # The same words beside several numbers are a column of a table, or a page's head.
        cut = sentence or title.count("(") != title.count(")")
        if often[title] == 1 and not cut and not _NOT_A_TITLE.search(title):
            number = tuple(int(part) for part in match["number"].split("."))
            yield _Heading(number, bool(match["dot"]), title, match.start(), match.end())


def _longest(candidates: Sequence[_Heading]) -> list[_Heading]:
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
    chain: list[_Heading] = []
    while place >= 0 and best[place][0] > 0:
        chain.append(candidates[place])
        place = best[place][1]
    return chain[::-1]


def _worth(chain: Sequence[_Heading]) -> float:
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
