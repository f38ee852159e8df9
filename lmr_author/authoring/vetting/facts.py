"""A paper's title, authors, year, venue and address: from its PDF, arXiv, and what the repository cites.

Several sources may state a fact; each different value is kept with all its sources, the most reliable one first.
A repository may cite other papers too: a citation is the paper's own when its title stands on the PDF's first page.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from lmr_author.core.paper import FetchedPaper, Paper
from lmr_author.core.repo.citations import Citation

DISPUTABLE = ("title", "authors", "year")
"""Facts of which one value at most is right. Venues are written in many ways, and a paper has several addresses."""

_WEAK_YEARS = ("the PDF's creation date", "the copyright line on page 1")


class Statement(NamedTuple):
    """What one source states; not certain where it may be about another paper."""

    value: str
    source: str
    certain: bool = True


@dataclass(frozen=True)
class Fact:
    """A value as text, the sources that state it, and whether one of them is about this paper beyond doubt."""

    value: str
    sources: tuple[str, ...]
    certain: bool = True

    def __str__(self) -> str:
        return f"{self.value} ({'; '.join(self.sources)})"


Facts = Mapping[str, tuple[Fact, ...]]
"""``title``, ``authors``, ``year``, ``venue``, ``url`` → the values that are stated, the best first."""


def best(facts: Facts, name: str, *, certain: bool = False) -> str:
    """Return the best value of a fact, or the best certain one; "" for none."""
    return next((fact.value for fact in facts.get(name, ()) if fact.certain or not certain), "")


def sources_of(facts: Facts, name: str, value: str) -> str:
    """Return the sources that state a value; "" for none."""
    return "; ".join(
        source
        for fact in facts.get(name, ())
        if _key(name, fact.value) == _key(name, value)
        for source in fact.sources
    )


def conflicts(facts: Facts, name: str, value: str) -> tuple[Fact, ...]:
    """Return what sources state instead of a value, for a fact of which only one value can be right."""
    stated = facts.get(name, ()) if name in DISPUTABLE else ()
    return tuple(fact for fact in stated if _key(name, fact.value) != _key(name, value))


def gather_facts(paper: Paper | None, fetched: FetchedPaper | None, citations: Sequence[Citation]) -> Facts:
    """Return what the sources state about a paper.

    Args:
        paper, fetched: the PDF's content and what arXiv says; None for none.
        citations: those of the repository.
    """
    own = _own(paper, citations)
    other = () if own else _only_work(citations)
    identifier = paper.arxiv_id if paper else ""
    statements = {
        "title": [
            Statement(fetched.title if fetched else "", "arXiv"),
            *(Statement(one.title, one.source) for one in own),
            Statement(paper.title if paper else "", "the PDF"),
            *(Statement(one.title, one.source, False) for one in other),
        ],
        "authors": _authors(paper, fetched, own, other),
        "year": _years(paper, fetched, own, other),
        "venue": [
            Statement(paper.venue if paper else "", "page 1"),
            *(Statement(one.venue, one.source) for one in own),
            *(Statement(one.venue, one.source, False) for one in other),
        ],
        "url": [
            Statement(fetched.url if fetched else "", "where it was fetched"),
            Statement(f"https://arxiv.org/abs/{identifier}" if identifier else "", "page 1"),
            *(Statement(one.url, one.source) for one in own),
            *(Statement(one.url, one.source, False) for one in other),
            *_only_address(citations),
        ],
    }
    return {name: _merged(name, stated) for name, stated in statements.items()}


def _own(paper: Paper | None, citations: Sequence[Citation]) -> list[Citation]:
    """Return the citations of the paper itself."""
    first = _squeezed(paper.pages[0]) if paper and paper.pages else ""
    identifier = re.sub(r"v\d+$", "", paper.arxiv_id) if paper else ""

    def is_own(citation: Citation) -> bool:
        named = len(citation.title.split()) >= 3 and _squeezed(citation.title) in first
        return not citation.software and (named or bool(identifier and identifier in citation.url))

    # An entry that names a venue tells more than a preprint's.
    return sorted(filter(is_own, citations), key=lambda one: (not one.venue, not one.year))


def _only_work(citations: Sequence[Citation]) -> Sequence[Citation]:
    """Return the citations of the only paper that is cited in full; none when there are several."""
    works = [one for one in citations if one.title and not one.software]
    full = [one for one in works if one.authors] or works
    titles = {_squeezed(one.title) for one in full}
    return [one for one in works if _squeezed(one.title) in titles] if len(titles) == 1 else ()


def _only_address(citations: Sequence[Citation]) -> list[Statement]:
    """Return the address of the only paper that a repository links."""
    linked = [Statement(one.url, one.source, False) for one in citations if one.url and not one.software]
    return linked if len({_key("url", one.value) for one in linked}) == 1 else []


def _authors(
    paper: Paper | None, fetched: FetchedPaper | None, own: Sequence[Citation], other: Sequence[Citation]
) -> list[Statement]:
    names = [
        (fetched.authors if fetched else (), "arXiv", True),
        *((one.authors, one.source, True) for one in own),
        (paper.authors if paper else (), "the PDF's metadata", True),
        *((one.authors, one.source, False) for one in other),
    ]
    abbreviated = {"others", "et al.", "et al"}
    whole = [one for one in names if not abbreviated & set(one[0])]
    return [
        Statement("; ".join(people), source, certain)
        for people, source, certain in (whole if any(one[0] for one in whole) else names)
    ]


def _years(
    paper: Paper | None, fetched: FetchedPaper | None, own: Sequence[Citation], other: Sequence[Citation]
) -> list[Statement]:
    """Return the years: of the venue, of a published version, of the preprint, of the file."""
    read = [Statement(str(paper.year), paper.year_origin)] if paper and paper.year else []
    cited = [(one, Statement(str(one.year or ""), one.source)) for one in own]
    return [
        *(one for one in read if one.source == "the venue named on page 1"),
        *(year for one, year in cited if one.venue),
        *(one for one in read if one.source not in _WEAK_YEARS),
        Statement(str(fetched.year or "") if fetched else "", "arXiv"),
        *(year for _, year in cited),
        *read,
        *(Statement(str(one.year or ""), one.source, False) for one in other),
    ]


def _merged(name: str, statements: Iterable[Statement]) -> tuple[Fact, ...]:
    """Return each different value once, with all its sources."""
    facts: dict[str, Fact] = {}
    for value, source, certain in statements:
        if value:
            key = _key(name, value)
            fact = facts.get(key, Fact(value, (), certain=False))
            sources = fact.sources if source in fact.sources else (*fact.sources, source)
            facts[key] = replace(fact, sources=sources, certain=fact.certain or certain)
    return tuple(facts.values())


def _key(name: str, value: str) -> str:
    """Return the form in which two spellings of one value are equal."""
    if name == "authors":
        return " ".join(_squeezed(person.split()[-1]) for person in value.split(";") if person.split())
    if name == "url":
        bare = re.sub(r"^https?://(?:www\.)?|(?:\.pdf)?/?$", "", value.lower())
        preprint = re.search(r"arxiv\.org/\w+/([\w.-]+?)(?:v\d+)?(?:\.pdf)?$", bare)
        return preprint[1] if preprint else bare
    return _squeezed(value) or value


def _squeezed(text: str) -> str:
    """Return a text's letters and digits, without case, accents and hyphens of line ends."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in plain if char.isalnum())
