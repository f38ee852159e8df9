"""Get the paper's PDF: from a file, a URL, or arXiv."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from lmr_author.core import files, foreign
from lmr_author.core.errors import LmrError
from lmr_author.core.paper.web import ARXIV, Unavailable, Unknown, arxiv_entry, get

MAX_BYTES = 200 * 1024 * 1024
"""A paper larger than this is refused."""

SECONDS = 300.0
"""A download may take this long in all."""

ARXIV_SECONDS = 30.0
"""Time limit of one question to arXiv's API."""
ARXIV_PAUSE = 3.0
"""Seconds between two questions, as arXiv asks for."""

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
        path: where it was stored.
        source: ``"file"``, ``"url"`` or ``"arxiv"``.
        url: the paper's web address; "" for a local file.
        title, year, authors: from arXiv's metadata; "", None and () otherwise.
        arxiv_id: with its version when one was given; "" otherwise.
        sha256: of the PDF.
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
    """Tell whether a paper is named as a file, and not as a URL or an arXiv id."""
    return "://" not in paper and not arxiv_id(paper)


def fetch(paper: str, into: Path, *, arxiv_api: str = ARXIV) -> FetchedPaper:
    """Fetch a paper's PDF and store it as the file ``into``.

    Args:
        paper: path of a PDF file, an http(s) URL of one, or an arXiv id or URL.
        into: the file to write.
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
    raise LmrError(f"{paper}: there is no such file", _FORMS)


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
    return foreign.read(path, MAX_BYTES, follow=True)


def _store(data: bytes, shown: str, into: Path) -> str:
    """Write a PDF and return its SHA-256. Raises LmrError for what is none, without a trace.

    A PDF's header stands in its first 1024 bytes (ISO 32000-1, annex H).
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
    for last in (False, True):
        try:
            entry = arxiv_entry(identifier, api, ARXIV_SECONDS)
            break
        except Unknown as error:
            raise LmrError(f"arXiv knows no paper {identifier}", "check the id") from error
        except Unavailable as error:
            if last:
                raise LmrError(f"arXiv does not answer about {identifier} ({error})", _BY_HAND) from error
            time.sleep(ARXIV_PAUSE)  # it is often busy for a moment
    digest = _store(_download(entry.pdf_url), _without_login(entry.pdf_url), into)
    url = f"https://arxiv.org/abs/{identifier}"
    year = int(entry.published[:4])
    return FetchedPaper(into, "arxiv", digest, url, entry.title, year, identifier, entry.authors)


def _download(url: str) -> bytes:
    try:
        # Some publishers answer an unknown client with a login page; say plainly what is wanted.
        return get(url, accept="application/pdf", seconds=SECONDS, most_bytes=MAX_BYTES).body
    except Unavailable as error:
        raise LmrError(f"{_without_login(url)} cannot be downloaded: {error}", _BY_HAND) from error


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
