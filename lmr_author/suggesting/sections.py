"""The sections of a paper, and the one that describes a function. A guess for a person to confirm."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lmr_author.suggesting.bm25 import BM25
from lmr_author.suggesting.headings import headings
from lmr_author.suggesting.paper import PaperText
from lmr_author.suggesting.passages import FunctionWords, query
from lmr_author.suggesting.terms import split

MARGIN = 1.4
"""Factor by which the best section must beat the next one to be named: a wrong one misleads."""
SAME = 5
"""Letters with which two words begin that are taken for one: "Decoder" and ``decode``."""

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


def sections(pages: Mapping[int, str]) -> tuple[Section, ...]:
    """The numbered sections, in order, up to the references."""
    text = "\n".join(pages[number] for number in sorted(pages))
    end = _END.search(text)
    text = text[: end.start()] if end else text
    found = headings(text)
    ends = [*(one.start for one in found[1:]), len(text)][: len(found)]
    return tuple(
        Section(one.label, one.title, text[one.end : stop]) for one, stop in zip(found, ends, strict=True)
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
    """Count the words of a section's title that are in the name of the function or of its class."""
    names = {part[:SAME] for name in (function.name, function.class_name) for part in split(name)}
    words = {word.lower()[:SAME] for word in re.findall(r"[^\W\d_]{4,}", section.title)} - _IN_ANY_TITLE
    return len(words & names)
