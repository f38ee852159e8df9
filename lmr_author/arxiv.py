"""What arXiv says of a paper: one entry of its API (https://info.arxiv.org/help/api/user-manual.html)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from lmr_author.texts import printable
from lmr_author.web import SECONDS, Unavailable, Unknown, get

API = "https://export.arxiv.org"
_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"


@dataclass(frozen=True)
class ArxivEntry:
    """An entry, every text on one line, "" where it has none.

    Attributes:
        published: the day of the first version, as in ``2023-05-29``.
        comment: the authors' own ("accepted at …").
        journal: the journal reference.
        subject: the primary category, as in ``cs.LG``.
        pdf_url: the address of the PDF.
    """

    title: str
    published: str
    comment: str
    journal: str
    subject: str
    pdf_url: str


def arxiv_entry(identifier: str, api: str = API, seconds: float = SECONDS) -> ArxivEntry:
    """Ask for a paper by its id, with or without a version. Raises Unavailable, Unknown where there is none.

    Args:
        api: address of arXiv's API, or of a mirror of it.
    """
    reply = get(f"{api}/api/query?id_list={quote(identifier)}&max_results=1", seconds=seconds)
    entry = _entry(reply.body)
    published = entry.findtext(f"{_ATOM}published", "") if entry is not None else ""
    if entry is None or not re.match(r"\d{4}-", published):
        raise Unknown("it does not know this paper")
    subject = entry.find(f"{_ARXIV}primary_category")
    links = {link.get("title"): link.get("href", "") for link in entry.findall(f"{_ATOM}link")}
    return ArxivEntry(
        title=printable(entry.findtext(f"{_ATOM}title", "")),
        published=published[:10],
        comment=printable(entry.findtext(f"{_ARXIV}comment", ""), 200),
        journal=printable(entry.findtext(f"{_ARXIV}journal_ref", ""), 200),
        subject=printable(subject.get("term", ""), 40) if subject is not None else "",
        pdf_url=links.get("pdf") or f"https://arxiv.org/pdf/{identifier}",
    )


def _entry(feed: bytes) -> Any:
    """The first entry of an Atom feed, None when it has none. Entities are not read: they may grow without end."""
    from xml.etree.ElementTree import ParseError, fromstring

    if b"<!DOCTYPE" in feed or b"<!ENTITY" in feed:
        raise Unavailable("the answer is not an Atom feed")
    try:
        return fromstring(feed).find(f"{_ATOM}entry")
    except ParseError as error:
        raise Unavailable("the answer is not an Atom feed") from error
