"""The works that a repository cites: BibTeX and links in its README and *.bib files, CITATION.cff, docstrings."""

from __future__ import annotations

import itertools
import logging
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author.core import files, foreign
from lmr_author.core.parsing import NotParsed, yaml_data
from lmr_author.core.texts import printable

MOST_FILES = 12
MOST_MODULES = 1000
"""Python files that are searched for BibTeX."""
MOST_BYTES = 1024 * 1024
MOST_ENTRIES = 200
MOST_CHARACTERS = 256 * 1024
"""Limits of what is read: the files belong to strangers. A longer list is a paper's bibliography.

That of characters is of BibTeX: text that only looks like it takes the parser half a minute a megabyte.
"""

_CITING_FILE = re.compile(r"^(readme|citation|citing)(\.(md|rst|txt|bib|tex|cff))?$|\.bib$", re.I)
_PREPRINT = re.compile(r"\barxiv\b|\bcorr\b|computing research repository|preprint", re.I)
_ARXIV = re.compile(r"(?:arxiv[:./ ]*(?:org/)?(?:abs/|pdf/)?\s*)(\d{4}\.\d{4,5})", re.I)
_ARXIV_MONTH = re.compile(r"(?:^|/)(\d\d)(0[1-9]|1[0-2])(?:\.\d{4,5}|\d{3})(?:v\d+)?$")
_LINK = re.compile(r"\[([^\[\]]{10,300})\]\((https?://[^\s()<>]{5,200})\)")
_PUBLISHER = re.compile(
    r"//(?:www\.)?(?:arxiv\.org/(?:abs|pdf)|openreview\.net|aclanthology\.org|doi\.org|proceedings\.|papers\.)",
    re.I,
)
"""The beginning of an address at which papers are published."""
_IN_CODE = re.compile(
    r"@(?:article|inproceedings|conference|misc|proceedings|techreport)\s*\{(?:(?!\"\"\"|''').){20,4000}",
    re.IGNORECASE | re.DOTALL,
)
"""An entry in a docstring, up to the docstring's end."""
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{},;]+")


@dataclass(frozen=True)
class Citation:
    """A work as a file of the repository states it; "" and None for what it does not state.

    Attributes:
        source: the file and line that state it.
        venue: journal or proceedings; "" for a preprint.
        is_link: its title is the text of a link, which may say anything.
    """

    source: str
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    url: str = ""
    software: bool = False
    is_link: bool = False


def read_citations(folder: Path) -> list[Citation]:
    """Return the works cited at the top of a repository, those of CITATION.cff first."""
    root = os.path.realpath(folder)
    named = sorted(path for path in folder.iterdir() if _CITING_FILE.search(path.name))[:MOST_FILES]
    structured, entries = list[Citation](), list[Citation]()
    for path in named:
        data = foreign.read_inside(root, path, MOST_BYTES)
        text = data.decode("utf-8", "replace") if data else ""
        name = printable(path.name)
        if path.suffix.lower() == ".cff":
            structured += read_cff(text, name)
        else:
            entries += [*read_bibtex(text, name), *_read_links(text, name)]
    return [*structured, *entries][:MOST_ENTRIES]


def every_citation(folder: Path) -> list[Citation]:
    """Return the works cited at the top of a repository, then those in docstrings, for which its code is read."""
    return [*read_citations(folder), *_in_code(os.path.realpath(folder))][:MOST_ENTRIES]


def _in_code(root: str) -> Iterator[Citation]:
    modules = (path for path in files.walk(Path(root)) if path.suffix == ".py")
    for path in itertools.islice(modules, MOST_MODULES):
        data = foreign.read_inside(root, path, MOST_BYTES) or b""
        for match in _IN_CODE.finditer(data.decode("utf-8", "replace")):
            yield from read_bibtex(match[0], printable(path.relative_to(root).as_posix()))


def read_cff(text: str, name: str) -> list[Citation]:
    """Return the works of a CITATION.cff (https://citation-file-format.github.io): the preferred one first."""
    try:
        data = yaml_data(text)
    except NotParsed:
        return []
    if not isinstance(data, dict):
        return []
    citations = []
    for work in (data.get("preferred-citation"), *_list(data.get("references"))):
        if isinstance(work, dict):
            citations.append(_of_cff(work, name, software=work.get("type") == "software"))
    repository = _of_cff(data, name, software=data.get("type", "software") == "software")
    return [*citations, repository][:MOST_ENTRIES]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _of_cff(work: Mapping[str, Any], name: str, *, software: bool) -> Citation:
    def text(key: str, within: Mapping[str, Any] = work) -> str:
        value = within.get(key)
        return printable(str(value), 300) if isinstance(value, str | int) else ""

    authors = []
    for person in _list(work.get("authors")):
        if isinstance(person, dict):
            full = f"{text('given-names', person)} {text('family-names', person)}".strip()
            authors.append(text("name", person) or full)
    conference = work.get("conference")
    collection = text("name", conference) if isinstance(conference, dict) else text("collection-title")
    year = text("year") or str(work.get("date-published") or work.get("date-released") or "")
    venue = text("journal") or collection
    return Citation(
        name,
        text("title"),
        tuple(filter(None, authors)),
        _year(year),
        "" if _PREPRINT.search(venue) else venue,
        _address(text("url"), text("doi"), text("journal"), str(work.get("identifiers") or "")[:1000]),
        software,
    )


def read_bibtex(text: str, name: str) -> list[Citation]:
    """Return the entries of BibTeX that a text contains, in a file of its own or within a README."""
    # Not at the top: most commands read no citations.
    from bibtexparser.entrypoint import parse_string

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # it warns of what only looks like an entry
    citations: list[Citation] = []
    for block in parse_string(text[:MOST_CHARACTERS], parse_stack=[]).entries[:MOST_ENTRIES]:
        fields = {field.key.lower(): field.value.strip('"') for field in block.fields}
        source = f"{name}, line {(block.start_line or 0) + 1}"
        citations.append(_of_bibtex(fields, source, software=block.entry_type in ("software", "manual")))
    return citations


def _read_links(text: str, name: str) -> Iterator[Citation]:
    """Yield the works that Markdown links by their titles."""
    for match in _LINK.finditer(text):
        if _PUBLISHER.search(match[2]):
            line = text.count("\n", 0, match.start()) + 1
            title = printable(match[1].strip("*_ "), 300)
            yield Citation(f"{name}, line {line}", title, url=match[2], is_link=True)


def _of_bibtex(fields: Mapping[str, str], source: str, *, software: bool) -> Citation:
    plain = {key: plain_latex(value) for key, value in fields.items()}
    venue = plain.get("booktitle") or plain.get("journal") or ""
    where = " ".join(plain.get(key, "") for key in ("journal", "volume", "note", "eprint", "howpublished"))
    eprint = plain.get("eprint", "")
    authors = re.split(r"\s+and\s+", plain.get("author", ""))
    url, doi = plain.get("url", ""), plain.get("doi", "")
    address = _address(url, doi, f"arXiv:{eprint} {where}" if eprint else where, "")
    venue = "" if _PREPRINT.search(venue) else venue
    return Citation(
        source,
        plain.get("title", ""),
        tuple(_name(author) for author in authors if author.strip()),
        _year(plain.get("year") or plain.get("date", "")) or _year(venue) or _year_of_preprint(address),
        venue,
        address,
        software,
    )


def _name(person: str) -> str:
    last, comma, first = re.sub(r"[*†‡]", "", person).partition(",")
    return " ".join(f"{first} {last}".split() if comma else person.split())


def _year(text: str) -> int | None:
    match = re.search(r"\b(19[5-9]\d|20\d\d)\b", text)
    return int(match[1]) if match else None


def _year_of_preprint(address: str) -> int | None:
    number = _ARXIV.search(address)
    month = month_of_preprint(number[1]) if number else None
    return int(month[:4]) if month else None


def month_of_preprint(arxiv_id: str) -> str | None:
    """Return the month of a preprint's first version: ``2305.18290v2`` and ``cs/0112017`` begin with it."""
    match = _ARXIV_MONTH.search(arxiv_id)
    if match is None:
        return None
    year, month = int(match[1]), match[2]
    return f"{1900 + year if year > 90 else 2000 + year}-{month}"


def _address(url: str, doi: str, *texts: str) -> str:
    identifier = _DOI.search(f"{doi} {' '.join(texts)}")
    preprint = _ARXIV.search(" ".join((url, doi, *texts)))
    if url.startswith(("https://", "http://")) and not re.search(r"//(?:www\.)?git(?:hub|lab)\.", url):
        return url
    if identifier and not preprint:
        return f"https://doi.org/{identifier[0].rstrip('.')}"
    return f"https://arxiv.org/abs/{preprint[1]}" if preprint else ""


def plain_latex(text: str) -> str:
    """Return a BibTeX value as text on one line: accents as letters, without braces and commands."""
    from pylatexenc.latex2text import LatexNodes2Text

    # Titles and addresses have no comments and no columns; an address would get angle brackets.
    text = re.sub(r"\\url(?![A-Za-z])|(?<!\\)(?=[%&])", lambda match: "" if match[0] else "\\", text[:5000])
    try:
        text = LatexNodes2Text(math_mode="text").latex_to_text(text)
    except Exception:  # what strangers write meets its defects: an IndexError, a RecursionError
        pass
    return printable(text, 300)
