"""A paper's title, authors, year, venue and address: from its PDF, arXiv, and what the repository cites.

Several sources may state a fact; each different value is kept with all its sources, the most reliable one first.
A repository may cite other papers too: a citation is the paper's own when its title stands on the PDF's first page.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from lmr_author.core.paper import FetchedPaper, Paper
from lmr_author.core.repo.citations import Citation

DISPUTABLE = ("title", "authors", "year")
"""Facts of which one value at most is right. Venues are written in many ways, and a paper has several addresses."""

LIKE = 0.9
"""Similarity of two titles of one paper: a word in the plural, a colon or an article more."""
_WEAK_YEARS = ("the PDF's creation date", "the copyright line on page 1")
_ABBREVIATED = {"others", "et al.", "et al"}

Statement = tuple[str, str]
"""A value and the source that states it; "" where the source does not."""


@dataclass(frozen=True)
class Fact:
    """A value as text, and the sources that state it."""

    value: str
    sources: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.value} ({'; '.join(self.sources)})"


Facts = Mapping[str, tuple[Fact, ...]]
"""``title``, ``authors``, ``year``, ``venue``, ``url`` → the values that are stated, the best first."""


def best(facts: Facts, name: str) -> str:
    stated = facts.get(name)
    return stated[0].value if stated else ""


def sources_of(facts: Facts, name: str, value: str) -> str:
    """Return the sources that state a value; "" for none."""
    wanted = _key(name, value)
    same = [fact for fact in facts.get(name, ()) if _key(name, fact.value) == wanted]
    return "; ".join(source for fact in same for source in fact.sources)


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
    paper = paper or Paper((), "", None, "", "", "", ())
    fetched = fetched or FetchedPaper(Path(), "file", "")
    own = _own(paper, citations)
    identifier = paper.arxiv_id
    statements: dict[str, list[Statement]] = {
        "title": [
            (fetched.title, "arXiv"),
            *((citation.title, citation.source) for citation in own),
            (paper.title, "the PDF"),
        ],
        "authors": _authors(paper, fetched, own),
        "year": _years(paper, fetched, own),
        "venue": [(paper.venue, "page 1"), *((citation.venue, citation.source) for citation in own)],
        "url": [
            (fetched.url, "where it was fetched"),
            (f"https://arxiv.org/abs/{identifier}" if identifier else "", "page 1"),
            *((citation.url, citation.source) for citation in own),
            # Last, and only for the address: it may be another paper.
            *(
                (citation.url, citation.source)
                for citation in _similar(fetched.title or paper.title, citations)
            ),
        ],
    }
    return {name: _merged(name, stated) for name, stated in statements.items()}


def _own(paper: Paper, citations: Sequence[Citation]) -> list[Citation]:
    """Return the citations of the paper itself; an entry that names a venue tells more than a preprint's."""
    first = _squeezed(paper.pages[0]) if paper.pages else ""
    identifier = re.sub(r"v\d+$", "", paper.arxiv_id)
    own = []
    for citation in citations:
        # A title of a word or two is on many pages.
        is_named = len(citation.title.split()) >= 3 and _squeezed(citation.title) in first
        is_linked = bool(identifier) and identifier in citation.url
        if (is_named or is_linked) and not (citation.software or citation.is_link):
            own.append(citation)
    return sorted(own, key=lambda citation: (not citation.venue, not citation.year))


def _similar(title: str, citations: Sequence[Citation]) -> list[Citation]:
    """Return the citations of a title like the paper's, the likest first: people shorten titles, and mistype them."""
    matcher = SequenceMatcher(b=_squeezed(title), autojunk=False)
    similar = []
    for citation in citations:
        matcher.set_seq1(_squeezed(citation.title))
        is_long = min(len(citation.title.split()), len(title.split())) >= 3
        if is_long and not citation.software and (likeness := matcher.ratio()) >= LIKE:
            similar.append((likeness, citation))
    return [citation for _, citation in sorted(similar, key=lambda pair: -pair[0])]


def _authors(paper: Paper, fetched: FetchedPaper, own: Sequence[Citation]) -> list[Statement]:
    """Return the authors by source; a list that ends in "et al." only where there is no other."""
    page = " ".join(paper.pages[:1])
    stated: list[tuple[Sequence[str], str]] = [
        (fetched.authors, "arXiv"),
        *(([_as_printed(name, page) for name in citation.authors], citation.source) for citation in own),
        (paper.authors, "the PDF's metadata"),
    ]
    whole = [(names, source) for names, source in stated if names and not _ABBREVIATED & set(names)]
    return [("; ".join(names), source) for names, source in whole or stated]


def _as_printed(name: str, page: str) -> str:
    """Return a name with dots behind its initials where page 1 has them: BibTeX often drops the dots."""
    dotted = re.sub(r"\b([A-Z])(?=\s)", r"\1.", name)
    return dotted if dotted in page else name


def _years(paper: Paper, fetched: FetchedPaper, own: Sequence[Citation]) -> list[Statement]:
    """Return the years: of the venue, of a published version, of the preprint, of the file."""
    read = (str(paper.year or ""), paper.year_origin)
    cited = [(str(citation.year or ""), citation.source) for citation in own]
    published = [year for year, citation in zip(cited, own, strict=True) if citation.venue]
    preprint = (str(fetched.year or ""), "arXiv")
    if paper.year_origin == "the venue named on page 1":
        return [read, *published, preprint, *cited]
    if paper.year_origin in _WEAK_YEARS:
        return [*published, preprint, *cited, read]
    return [*published, read, preprint, *cited]


def _merged(name: str, statements: Sequence[Statement]) -> tuple[Fact, ...]:
    facts: dict[str, tuple[str, dict[str, None]]] = {}
    for value, source in statements:
        if value:
            _, sources = facts.setdefault(_key(name, value), (value, {}))
            sources[source] = None
    return tuple(Fact(value, tuple(sources)) for value, sources in facts.values())


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
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in plain if char.isalnum())
