"""The sections of a paper, and the one that describes a function. A guess for a person to confirm."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lmr_author.suggesting.bm25 import BM25
from lmr_author.suggesting.paper import PaperText
from lmr_author.suggesting.passages import FunctionWords, query

MARGIN = 1.15
"""How much better than the next section the best one has to be, so that it is named."""

_NUMBERED = re.compile(
    r"^(?P<number>\d{1,2}(?:\.\d{1,2}){0,2})\.?[ \t]*\n?[ \t]*(?P<title>[A-Z][^\n]{2,70})$", re.M
)
_END = re.compile(r"^\s*(?:references|bibliography|acknowledge?ments?)\s*$", re.I | re.M)
_NOT_A_TITLE = re.compile(r"[.;:=|∈≤≥]|\d{3}|\bet al\b")
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


def sections(pages: Mapping[int, str]) -> tuple[Section, ...]:
    """The numbered sections, in order, up to the references. Numbers have to run on, so that a table's do not."""
    text = "\n".join(pages[number] for number in sorted(pages))
    end = _END.search(text)
    text = text[: end.start()] if end else text
    found: list[tuple[str, str, int, int]] = []
    for match in _NUMBERED.finditer(text):
        title = match["title"].strip()
        if not _NOT_A_TITLE.search(title) and _follows(found[-1][0] if found else "", match["number"]):
            found.append((match["number"], title, match.start(), match.end()))
    ends = [*(start for _, _, start, _ in found[1:]), len(text)][: len(found)]
    return tuple(
        Section(number, title, text[begin:stop])
        for (number, title, _, begin), stop in zip(found, ends, strict=True)
    )


def best_section(found: Sequence[Section], function: FunctionWords) -> Section | None:
    """The section that describes a function clearly better than the others; None when there is no such one."""
    own = [one for one in found if not _INTRODUCTORY.search(one.title)]
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


def _follows(last: str, number: str) -> bool:
    """Whether a section's number can come next: 3 after 2.4, 2.1 after 2, 2.2 after 2.1; the first is 1."""
    new = [int(part) for part in number.split(".")]
    old = [int(part) for part in last.split(".")] if last else []
    if not old:
        return new == [1]
    nexts = [[*old, 1], *([*old[:depth], old[depth] + 1] for depth in range(len(old)))]
    return new in nexts
