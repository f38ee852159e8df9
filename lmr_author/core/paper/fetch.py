"""Get the paper's PDF from a file, a URL or arXiv; ask public services, bounded in time and size."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, unquote, urlsplit

from lmr_author.core import files, foreign
from lmr_author.core.errors import LmrError
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


class SourceUnavailable(Exception):
    """A source that gave no answer: why, for a person."""


class PaperNotFound(SourceUnavailable):
    """The source answered, but does not have the paper."""


@dataclass(frozen=True)
class WebReply:
    """The body of an answer."""

    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> dict[str, Any]:
        """Return the body as a JSON object. Raises SourceUnavailable when it is none."""
        try:
            data = json_data(self.body)
        except NotParsed as error:
            raise SourceUnavailable("the response is not JSON") from error
        if not isinstance(data, dict):
            raise SourceUnavailable("the response is not a JSON object")
        return data


def get(url: str, *, accept: str = "*/*", seconds: float = SECONDS, most_bytes: int = MOST_BYTES) -> WebReply:
    """Fetch a page; redirects are followed. Raises SourceUnavailable, with the reason, whatever goes wrong."""
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
                    raise SourceUnavailable(f"the response is larger than {most_bytes // 2**20} MiB")
                if time.monotonic() > ends:
                    raise SourceUnavailable(f"no complete response within {seconds:g} s")
            return WebReply(bytes(body))
    except httpx.TimeoutException as error:
        raise SourceUnavailable(f"no response within {seconds:g} s") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = printable(str(error) or type(error).__name__, 120)
        raise SourceUnavailable(f"cannot be reached ({reason})") from error


def _refusal(response: Any) -> SourceUnavailable:
    code = response.status_code
    if code == 404:
        return PaperNotFound("not found (404)")
    if code == 429 or response.headers.get("x-ratelimit-remaining") == "0":
        return SourceUnavailable(f"rate limit reached{_until(response.headers)}")
    return SourceUnavailable(f"status {code} {printable(response.reason_phrase, 60)}".rstrip())


def _until(headers: Mapping[str, str]) -> str:
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
        published: the day of the first version, as in ``2023-05-29``.
        comment: the authors' own ("accepted at …").
        subject: the primary category, as in ``cs.LG``.
    """

    title: str
    authors: tuple[str, ...]
    published: str
    comment: str
    journal: str
    subject: str
    pdf_url: str


def arxiv_entry(identifier: str, api: str = ARXIV, seconds: float = SECONDS) -> ArxivEntry:
    """Ask arXiv, or a mirror, for a paper by its id. Raises SourceUnavailable, PaperNotFound where there is none."""
    from xml.etree.ElementTree import ParseError, fromstring

    feed = get(f"{api}/api/query?id_list={quote(identifier)}&max_results=1", seconds=seconds).body
    # Entities are not read: they may grow without end.
    if b"<!DOCTYPE" in feed or b"<!ENTITY" in feed:
        raise SourceUnavailable("the response is not an Atom feed")
    try:
        entry = fromstring(feed).find(f"{_ATOM}entry")
    except ParseError as error:
        raise SourceUnavailable("the response is not an Atom feed") from error
    published = entry.findtext(f"{_ATOM}published", "") if entry is not None else ""
    if entry is None or not re.match(r"\d{4}-", published):
        raise PaperNotFound("paper not found")
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


# the paper

MAX_BYTES = 200 * 1024 * 1024
"""A paper larger than this is refused."""

DOWNLOAD_SECONDS = 300.0
"""A download may take this long in all."""

ARXIV_SECONDS = 30.0
"""Time limit of one question to arXiv's API."""
ARXIV_PAUSE = 3.0
"""Seconds between two questions, as arXiv requests."""

_AGAIN = "download the paper again"
_BY_HAND = "check the network, or download the PDF with a browser and pass the file"
_FORMS = "give a PDF file, an http(s) URL or an arXiv id like 2305.18290"

_ID = r"(?P<id>(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?)"
_ARXIV_ID = re.compile(rf"^(?:arxiv:\s*)?{_ID}$", re.IGNORECASE)
_ARXIV_PATH = re.compile(rf"^/(?:abs|pdf|html)/{_ID}(?:\.pdf)?/?$")
_ARXIV_HOSTS = {"arxiv.org", "www.arxiv.org", "export.arxiv.org"}


@dataclass(frozen=True)
class FetchedPaper:
    """A PDF that was fetched.

    Attributes:
        url: the paper's web address; "" for a local file.
        title, year, authors: from arXiv's metadata; "", None and () otherwise.
        arxiv_id: with its version when one was given; "" otherwise.
    """

    path: Path
    source: Literal["file", "url", "arxiv"]
    sha256: str
    url: str = ""
    title: str = ""
    year: int | None = None
    arxiv_id: str = ""
    authors: tuple[str, ...] = ()


def arxiv_id(text: str) -> str:
    """Return the arXiv id that a text or URL is (``2305.18290v2``, ``arXiv:…``, ``arxiv.org/abs/…``), or ""."""
    text = text.strip()
    match = _ARXIV_ID.match(text)
    parts = urlsplit(text) if "://" in text else None
    if match is None and parts is not None and (parts.hostname or "") in _ARXIV_HOSTS:
        match = _ARXIV_PATH.match(parts.path)
    return match["id"] if match else ""


def names_a_file(paper: str) -> bool:
    return "://" not in paper and not arxiv_id(paper)


def fetch(paper: str, into: Path, *, arxiv_api: str = ARXIV) -> FetchedPaper:
    """Fetch a paper's PDF and store it as the file ``into``.

    Args:
        paper: path of a PDF file, an http(s) URL of one, or an arXiv id or URL.
        arxiv_api: address of arXiv's API, or of a mirror of it.

    Raises LmrError: no such file, no PDF, no network, too large.
    """
    paper = paper.strip()
    scheme = urlsplit(paper).scheme if "://" in paper else ""
    if local := _local_file(paper):
        return FetchedPaper(into, "file", _store(_read(local), str(local), into))
    if identifier := arxiv_id(paper):
        return _fetch_from_arxiv(identifier, into, arxiv_api)
    if scheme in ("http", "https"):
        shown = _without_login(paper)
        return FetchedPaper(into, "url", _store(_download(paper), shown, into), shown)
    if scheme:
        raise LmrError(f"cannot fetch a paper by {scheme}://", _FORMS)
    raise LmrError(f"{paper}: no such file", _FORMS)


def _local_file(paper: str) -> Path | None:
    if paper.startswith("file://"):
        return Path(unquote(urlsplit(paper).path))
    path = Path(os.path.expanduser(paper))
    try:
        return path if path.exists() else None
    except (OSError, ValueError):
        return None


def _read(path: Path) -> bytes:
    if path.is_dir():
        raise LmrError(f"{path} is a folder, not a PDF file", "name the PDF file in it")
    if not path.exists():
        raise LmrError(f"{path}: no such file", "check the path")
    return foreign.read(path, MAX_BYTES, follow=True)


def _store(data: bytes, shown: str, into: Path) -> str:
    """Write a PDF and return its SHA-256. Raises LmrError for what is none, without a trace.

    A PDF's header is in its first 1024 bytes (ISO 32000-1, annex H).
    """
    if not data:
        raise LmrError(f"{shown} is empty (0 bytes)", _AGAIN)
    if b"%PDF-" not in data[:1024]:
        if re.match(rb"\s*<(?:!doctype|html|head|\?xml)", data[:1024], re.I):
            raise LmrError(f"{shown} is a web page, not a PDF", "give the address of the PDF itself")
        raise LmrError(f"{shown} is not a PDF", "give the paper as a PDF")
    files.write_bytes(into, data)
    return files.sha256_bytes(data)


def _fetch_from_arxiv(identifier: str, into: Path, api: str) -> FetchedPaper:
    for is_last in (False, True):
        try:
            entry = arxiv_entry(identifier, api, ARXIV_SECONDS)
            break
        except PaperNotFound as error:
            raise LmrError(f"arXiv has no paper {identifier}", "check the id") from error
        except SourceUnavailable as error:
            if is_last:
                raise LmrError(f"arXiv lookup of {identifier} failed: {error}", _BY_HAND) from error
            time.sleep(ARXIV_PAUSE)  # it is often busy for a moment
    digest = _store(_download(entry.pdf_url), _without_login(entry.pdf_url), into)
    url = f"https://arxiv.org/abs/{identifier}"
    year = int(entry.published[:4])
    return FetchedPaper(into, "arxiv", digest, url, entry.title, year, identifier, entry.authors)


def _download(url: str) -> bytes:
    try:
        # Some publishers answer an unknown client with a login page; say plainly what is wanted.
        return get(url, accept="application/pdf", seconds=DOWNLOAD_SECONDS, most_bytes=MAX_BYTES).body
    except SourceUnavailable as error:
        raise LmrError(f"cannot download {_without_login(url)}: {error}", _BY_HAND) from error


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
