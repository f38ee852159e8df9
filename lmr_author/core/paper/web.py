"""Ask a public service one question: bounded in time and size. And what arXiv's API answers about a paper."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from lmr_author.core.parsing import NotParsed, json_data
from lmr_author.core.texts import printable

SECONDS = 15.0
"""An answer may take this long in all."""
SILENT_SECONDS = 30.0
"""A server that sends nothing for this long is given up."""
MOST_BYTES = 2 * 1024 * 1024
"""An answer larger than this is not read."""

ARXIV = "https://export.arxiv.org"
_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV_NAMES = "{http://arxiv.org/schemas/atom}"


class Unavailable(Exception):
    """A source that gave no answer: why, for a person."""


class Unknown(Unavailable):
    """A source that answered, and does not have what it was asked for."""


@dataclass(frozen=True)
class Reply:
    """An answer: its body, and its headers with lower-case names."""

    body: bytes
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> dict[str, Any]:
        """Return the body as a JSON object. Raises Unavailable when it is none."""
        try:
            data = json_data(self.body)
        except NotParsed as error:
            raise Unavailable("the answer is not JSON") from error
        if not isinstance(data, dict):
            raise Unavailable("the answer is not a JSON object")
        return data


def get(url: str, *, accept: str = "*/*", seconds: float = SECONDS, most_bytes: int = MOST_BYTES) -> Reply:
    """Fetch a page; redirects are followed. Raises Unavailable, with the reason, for everything that can go wrong."""
    import httpx

    ends = time.monotonic() + seconds
    headers = {"Accept": accept, "User-Agent": "lmr-author"}
    limits = httpx.Timeout(min(seconds, SILENT_SECONDS), connect=min(seconds, 10.0))
    try:
        with (
            httpx.Client(follow_redirects=True, max_redirects=5, timeout=limits, headers=headers) as client,
            client.stream("GET", url) as response,
        ):
            if response.is_error:
                raise _refusal(response)
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > most_bytes:
                    raise Unavailable(f"its answer is larger than {most_bytes // 2**20} MiB")
                if time.monotonic() > ends:
                    raise Unavailable(f"no whole answer within {seconds:g} s")
            return Reply(bytes(body), dict(response.headers))
    except httpx.TimeoutException as error:
        raise Unavailable(f"no answer within {seconds:g} s") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = printable(str(error) or type(error).__name__, 120)
        raise Unavailable(f"cannot be reached ({reason})") from error


def _refusal(response: Any) -> Unavailable:
    code = response.status_code
    if code == 404:
        return Unknown("it does not know this (404)")
    if code == 429 or response.headers.get("x-ratelimit-remaining") == "0":
        return Unavailable(f"rate limit reached{_until(response.headers)}")
    return Unavailable(f"it answers {code} {printable(response.reason_phrase, 60)}".rstrip())


def _until(headers: Mapping[str, str]) -> str:
    """Return when a rate limit ends, as far as the headers tell."""
    try:
        if "x-ratelimit-reset" in headers:
            moment = datetime.fromtimestamp(int(headers["x-ratelimit-reset"]), UTC)
            return f"; again at {moment:%H:%M} UTC"
        if "retry-after" in headers:
            return f"; again in {int(headers['retry-after'])} s"
    except (ValueError, OverflowError, OSError):
        pass
    return ""


@dataclass(frozen=True)
class ArxivEntry:
    """An entry of arXiv's API (https://info.arxiv.org/help/api/user-manual.html); texts on one line, "" for none.

    Attributes:
        authors: in order.
        published: the day of the first version, as in ``2023-05-29``.
        comment: the authors' own ("accepted at …").
        journal: the journal reference.
        subject: the primary category, as in ``cs.LG``.
        pdf_url: the address of the PDF.
    """

    title: str
    authors: tuple[str, ...]
    published: str
    comment: str
    journal: str
    subject: str
    pdf_url: str


def arxiv_entry(identifier: str, api: str = ARXIV, seconds: float = SECONDS) -> ArxivEntry:
    """Ask for a paper by its id, with or without a version. Raises Unavailable, Unknown where there is none.

    Args:
        api: address of arXiv's API, or of a mirror of it.
    """
    from xml.etree.ElementTree import ParseError, fromstring

    feed = get(f"{api}/api/query?id_list={quote(identifier)}&max_results=1", seconds=seconds).body
    # Entities are not read: they may grow without end.
    if b"<!DOCTYPE" in feed or b"<!ENTITY" in feed:
        raise Unavailable("the answer is not an Atom feed")
    try:
        entry = fromstring(feed).find(f"{_ATOM}entry")
    except ParseError as error:
        raise Unavailable("the answer is not an Atom feed") from error
    published = entry.findtext(f"{_ATOM}published", "") if entry is not None else ""
    if entry is None or not re.match(r"\d{4}-", published):
        raise Unknown("it does not know this paper")
    subject = entry.find(f"{_ARXIV_NAMES}primary_category")
    links = {link.get("title"): link.get("href", "") for link in entry.findall(f"{_ATOM}link")}
    return ArxivEntry(
        title=printable(entry.findtext(f"{_ATOM}title", "")),
        authors=tuple(
            printable(person.findtext(f"{_ATOM}name", ""), 100) for person in entry.findall(f"{_ATOM}author")
        ),
        published=published[:10],
        comment=printable(entry.findtext(f"{_ARXIV_NAMES}comment", ""), 200),
        journal=printable(entry.findtext(f"{_ARXIV_NAMES}journal_ref", ""), 200),
        subject=printable(subject.get("term", ""), 40) if subject is not None else "",
        pdf_url=links.get("pdf") or f"https://arxiv.org/pdf/{identifier}",
    )
