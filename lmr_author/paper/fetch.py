"""Get the paper's PDF: from a file, a URL, or arXiv."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from lmr_author import files
from lmr_author.arxiv import API, ArxivEntry, arxiv_entry
from lmr_author.errors import LmrError
from lmr_author.texts import printable
from lmr_author.web import Unavailable, Unknown

MAX_BYTES = 200 * 1024 * 1024
"""A paper larger than this is refused."""

SECONDS = 300.0
"""A download may take this long in all; a silent server is given up after 30 s."""

ARXIV_SECONDS = 30.0
"""What arXiv says of a paper may take this long."""
ARXIV_PAUSE = 3.0
"""Seconds between two questions, as arXiv asks for."""

OFFLINE = "check the network, or download the PDF with a browser and pass the file"

_NEW_ID = r"\d{4}\.\d{4,5}"
_OLD_ID = r"[a-z-]+(?:\.[A-Z]{2})?/\d{7}"
_ARXIV = re.compile(rf"^(?:arxiv:\s*)?(?P<id>(?:{_NEW_ID}|{_OLD_ID})(?:v\d+)?)$", re.IGNORECASE)
_ARXIV_URL = re.compile(rf"^/(?:abs|pdf|html)/(?P<id>(?:{_NEW_ID}|{_OLD_ID})(?:v\d+)?)(?:\.pdf)?/?$")
_ARXIV_HOSTS = {"arxiv.org", "www.arxiv.org", "export.arxiv.org"}


@dataclass(frozen=True)
class FetchedPaper:
    """A PDF that was fetched.

    Attributes:
        path: where it was stored.
        source: ``"file"``, ``"url"`` or ``"arxiv"``.
        url: the paper's web address; "" for a local file.
        title, year: from arXiv's metadata; "" and None otherwise.
        arxiv_id: with its version when one was given; "" otherwise.
        sha256: of the PDF.
    """

    path: Path
    source: str
    url: str
    title: str
    year: int | None
    arxiv_id: str
    sha256: str


def arxiv_id(text: str) -> str:
    """The arXiv id that a text or URL is (``2305.18290v2``, ``arXiv:…``, ``arxiv.org/abs/…``), or ""."""
    text = text.strip()
    match = _ARXIV.match(text)
    parts = urlsplit(text) if "://" in text else None
    if match is None and parts is not None and (parts.hostname or "") in _ARXIV_HOSTS:
        match = _ARXIV_URL.match(parts.path)
    return match["id"] if match else ""


def fetch(paper: str, into: Path, *, arxiv_api: str = API) -> FetchedPaper:
    """Fetch a paper's PDF and store it as the file ``into``.

    Args:
        paper: path of a PDF file, an http(s) URL of one, or an arXiv id or URL.
        into: the file to write.
        arxiv_api: address of arXiv's API, or of a mirror of it.

    Raises LmrError: no such file, no PDF, no network, too large.
    """
    paper = paper.strip()
    local = _local_file(paper)
    if local is not None:
        data = _read(local)
        _require_pdf(data, str(local))
        return _store(data, into, "file")
    if identifier := arxiv_id(paper):
        return _from_arxiv(identifier, into, arxiv_api)
    scheme = urlsplit(paper).scheme if "://" in paper else ""
    if scheme in ("http", "https"):
        return _store(_download(paper), into, "url", url=_without_login(paper))
    if scheme:
        raise LmrError(
            f"cannot fetch a paper by {scheme}://", "give a PDF file, an http(s) URL or an arXiv id"
        )
    raise LmrError(
        f"{paper}: there is no such file", "give a PDF file, an http(s) URL or an arXiv id like 2305.18290"
    )


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
        raise LmrError(f"{path}: there is no such file", "check the path")
    if path.stat().st_size > MAX_BYTES:
        raise LmrError(
            f"{path} is larger than {MAX_BYTES // 2**20} MiB", "pass the paper without its supplement"
        )
    return path.read_bytes()


def _require_pdf(data: bytes, place: str) -> None:
    """Raise unless this is a PDF: its header stands in the first 1024 bytes (ISO 32000-1, annex H)."""
    if not data:
        raise LmrError(f"{place} is empty (0 bytes)", "download the paper again")
    if b"%PDF-" in data[:1024]:
        return
    start = data[:512].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html", b"<?xml")):
        raise LmrError(
            f"{place} is a web page, not a PDF", "give the address of the PDF itself, or download it"
        )
    raise LmrError(f"{place} is not a PDF", "give the paper as a PDF file")


def _store(
    data: bytes,
    into: Path,
    source: str,
    *,
    url: str = "",
    title: str = "",
    year: int | None = None,
    identifier: str = "",
) -> FetchedPaper:
    files.write_bytes(into, data)
    return FetchedPaper(into, source, url, title, year, identifier, files.sha256_bytes(data))


def _from_arxiv(identifier: str, into: Path, api: str) -> FetchedPaper:
    try:
        said = _asked(identifier, api)
    except Unknown as error:
        raise LmrError(f"arXiv knows no paper {identifier}", "check the id") from error
    except Unavailable as error:
        raise LmrError(f"arXiv does not answer about {identifier} ({error})", OFFLINE) from error
    return _store(
        _download(said.pdf_url),
        into,
        "arxiv",
        url=f"https://arxiv.org/abs/{identifier}",
        title=said.title,
        year=int(said.published[:4]),
        identifier=identifier,
    )


def _asked(identifier: str, api: str) -> ArxivEntry:
    """What arXiv says, asked twice where the first time brings nothing: it is often busy for a moment."""
    try:
        return arxiv_entry(identifier, api, ARXIV_SECONDS)
    except Unknown:
        raise
    except Unavailable:
        time.sleep(ARXIV_PAUSE)
        return arxiv_entry(identifier, api, ARXIV_SECONDS)


def _download(url: str) -> bytes:
    """The PDF at an http(s) URL; redirects are followed, size and time are limited."""
    import httpx

    shown = _without_login(url)
    limits = httpx.Timeout(30, connect=15)
    # Some publishers answer an unknown client with a login page; say plainly what is wanted.
    client = httpx.Client(
        follow_redirects=True, max_redirects=10, timeout=limits, headers={"Accept": "application/pdf"}
    )
    try:
        with client, client.stream("GET", url) as response:
            if response.is_error:
                raise LmrError(
                    f"{shown} answers {response.status_code} {response.reason_phrase}",
                    "check the address, or download the PDF with a browser and pass the file",
                )
            data = _limited(response, shown)
    except httpx.HTTPError as error:
        raise LmrError(f"{shown} cannot be downloaded ({_cause(error)})", OFFLINE) from error
    except httpx.InvalidURL as error:
        raise LmrError(f"{shown} is not a web address ({error})", "check the address") from error
    _require_pdf(data, shown)
    return data


def _limited(response: Any, shown: str) -> bytes:
    started = time.monotonic()
    data = bytearray()
    for chunk in response.iter_bytes():
        data += chunk
        if len(data) > MAX_BYTES:
            raise LmrError(
                f"{shown} is larger than {MAX_BYTES // 2**20} MiB", "download the paper and pass the file"
            )
        if time.monotonic() - started > SECONDS:
            raise LmrError(f"{shown} takes longer than {SECONDS:.0f} s", OFFLINE)
    return bytes(data)


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _cause(error: Exception) -> str:
    return printable(str(error) or type(error).__name__, 200)
