"""A paper's text, title and year, and pictures of its pages, from a child process with limits."""

from __future__ import annotations

import base64
import re
import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author.core import processes
from lmr_author.core.errors import LmrError
from lmr_author.core.parsing import NotParsed, json_data
from lmr_author.core.texts import printable, unbroken

SECONDS = 180
MEMORY_BYTES = 4 * 1024**3
"""Limits of the child process that reads the PDF."""

WIDTH = 900
"""Pixels of a page's picture, from left to right."""

SCANNED_BELOW = 30
"""Letters per page, on average, below which a PDF is taken to be a scan."""

VENUES = (
    "ACL", "EMNLP", "NAACL", "EACL", "AACL", "COLING", "CoNLL", "TACL", "NeurIPS", "ICLR", "ICML", "AAAI",
    "IJCAI", "CVPR", "ICCV", "ECCV", "KDD", "SIGIR", "COLM", "TMLR", "JMLR", "Interspeech", "WWW",
)  # fmt: skip

_NAMES = "|".join(VENUES)
_PROCEEDINGS = re.compile(
    r"^(?:\W*(?:Appear(?:ing|s) )?[Ii]n )?(?:the )?Proceedings of|^Findings of|Conference on"
)
# "Association for Computational Linguistics" alone is a publisher, so a venue needs a year beside it.
_VENUE = re.compile(
    # "Nature 630 (2024)", "Nature | Vol 630 | 20 June 2024"
    r"^[A-Z][A-Za-z&. ]{3,60},? \d{1,4}(?:\(\d+\))? ?\((?:19|20)\d\d\)|^[A-Z][A-Za-z&. ]{3,60} \| Vol\.? \d+|"
    rf"{_PROCEEDINGS.pattern}|[Pp]ublished (?:as|in|at)|[Aa]ccepted (?:at|to|by|for)|\b(?:{_NAMES})\b"
)
_ARXIV_ID = re.compile(r"[\s,;(]*\barXiv:\s?\d{4}\.\d{4,5}(?:v\d+)?(?:\s*\[[\w.-]+\])?\)?")
"""An id of arXiv beside the venue."""
_CITED = re.compile(
    r"\b(?:et al|development set|data ?set|corpus)\b|\([A-Z][a-z]+(?: and \w+)?, (?:19|20)\d\d"
)
"""Marks of a sentence that names a data set, or another paper."""

_COPYRIGHT = re.compile(r"(?:©|c⃝|Copyright(?: \(c\))?)\s*(?:Copyright )?((?:19[89]|20[0-4])\d)\b", re.I)

_STAMP = re.compile(
    r"arXiv:\s?(?P<id>\d{4}\.\d{4,5}(?:v\d+)?|[a-z-]+(?:\.[A-Z]{2})?/\d{7}(?:v\d+)?)(?:\s*\[[\w.-]+\]|(?<=v\d)\b)"
)
_REPOSITORY = re.compile(
    r"(?<![\w./])(?:https?://(?:www\.)?)?(?P<address>(?:github\.com|gitlab\.com|bitbucket\.org)/[\w.-]+/[\w.-]*\w)",
    re.I,
)
_BROKEN_LINK = re.compile(r"((?:github|gitlab|bitbucket)\.(?:com|org)/(?:\S*[-/])?)\n(?=\w)", re.I)
_JUNK_TITLE = re.compile(
    r"^(?:(?:untitled|microsoft word|paper|main|title|.*\.(?:pdf|dvi|tex|docx?|indd))\b|[a-z]:\\|\S+$)", re.I
)


@dataclass(frozen=True)
class Paper:
    """The content of a PDF.

    Attributes:
        title: the largest text on page 1, else the PDF's own title; "" when neither is one.
        year: of the venue named on page 1, else of the arXiv id, the copyright line or the PDF; None when unknown.
        authors: by the PDF's metadata, which most PDFs lack.
        arxiv_id: from arXiv's stamp on page 1, with version; "" when there is none.
        venue: the line of page 1 that names a venue and a year; "" when there is none.
        repositories: links to code hosts, each once, in order of appearance.
        notes: what a reader should know (repaired file, pages without text).
    """

    pages: tuple[str, ...]
    title: str
    year: int | None
    year_origin: str
    arxiv_id: str
    venue: str
    repositories: tuple[str, ...]
    notes: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()

    def to_json(self) -> dict[str, str]:
        """Return ``paper.json``: page number, from 1, to text."""
        return {str(number): text for number, text in enumerate(self.pages, 1)}


def extract(pdf: Path, *, seconds: float = SECONDS, memory: int = MEMORY_BYTES) -> Paper:
    """Read a PDF. A crash, a hang or a bomb in it ends the child process, not this one.

    Raises LmrError: not a PDF, empty, encrypted, cut off, a scan without text, too long.
    """
    if pdf.stat().st_size == 0:
        raise LmrError(f"{pdf.name} is empty (0 bytes)", "download the paper again")
    data = _read(pdf, seconds, memory, "text")
    pages = tuple(str(page) for page in data["pages"])
    letters = sum(char.isalnum() for page in pages for char in page)
    if letters < SCANNED_BELOW * len(pages):
        raise LmrError(
            f"{pdf.name} has {len(pages)} page(s) but almost no text: it is a scan or only pictures",
            "run OCR on it (`ocrmypdf in.pdf out.pdf`) or take the publisher's version",
        )
    stamp = _STAMP.search(pages[0])
    identifier = stamp["id"] if stamp else ""
    venue, venue_year = _venue(pages[0])
    year, origin = _year(identifier, venue_year, pages[0], data["metadata"])
    return Paper(
        pages=pages,
        title=_title(data),
        year=year,
        year_origin=origin,
        arxiv_id=identifier,
        venue=venue,
        repositories=_repositories([*pages, *data["links"]]),
        notes=tuple(_notes(data, pages)),
        authors=_authors(data["metadata"].get("author", "")),
    )


@dataclass(frozen=True)
class PageImage:
    """A page as a grey PNG: pixels across and down, the file's bytes."""

    width: int
    height: int
    png: bytes


def images(pdf: Path, numbers: Iterable[int]) -> dict[int, PageImage]:
    """Return pictures of some pages; a page that cannot be drawn is left out. Raises LmrError for an unreadable PDF."""
    wanted = list(map(str, sorted(set(numbers))))
    if not wanted:
        return {}
    data = _read(pdf, SECONDS, MEMORY_BYTES, "images", str(WIDTH), *wanted)
    return {
        int(number): PageImage(width, height, base64.b64decode(png))
        for number, (width, height, png) in data["images"].items()
    }


def _read(pdf: Path, seconds: float, memory: int, *what: str) -> dict[str, Any]:
    reader = Path(__file__).with_name("reader.py")
    # -P: the reader's own folder must not be where its imports are looked up.
    argv = [sys.executable, "-P", str(reader), str(pdf.absolute()), str(memory), str(int(seconds) + 1), *what]
    done = processes.run(argv, cwd=pdf.parent, seconds=seconds)
    name, again, other = pdf.name, "download the paper again", "take another version of the paper"
    if done.timed_out:
        raise LmrError(f"{name} could not be read within {seconds:.0f} s", other)
    try:
        data = json_data(done.stdout)
    except NotParsed:
        data = None
    if done.exit_code != 0 or not isinstance(data, dict):
        last = printable(done.stderr.strip().rpartition("\n")[2], 200) or f"exit code {done.exit_code}"
        raise LmrError(f"{name}: the PDF reader failed on it ({last})", other)
    detail = printable(str(data.get("detail", "")).replace(str(pdf.absolute()), name), 200)
    problems = {
        "broken": (f"is not a readable PDF ({detail})", again),
        "encrypted": ("is encrypted: it needs a password", "save a copy without a password and pass that"),
        "no pages": ("has no pages: it is damaged or cut off", again),
        "too long": (f"has {detail} pages, too many for a paper", "pass only the paper's own pages"),
        "memory": ("needs more memory to read than a paper may", other),
    }
    if "error" in data:
        message, hint = problems[data["error"]]
        raise LmrError(f"{name} {message}", hint)
    if data.get("repaired") and b"%%EOF" not in pdf.read_bytes()[-2048:]:
        raise LmrError(f"{name} is cut off: its end is missing", again)
    return data


def _title(data: dict[str, Any]) -> str:
    for candidate in (data["headline"], data["metadata"].get("title", "")):
        # NFKC turns ligatures such as "ﬁ" into letters.
        text = printable(unbroken(unicodedata.normalize("NFKC", candidate)), 300)
        if len(text) >= 5 and not _JUNK_TITLE.match(text):
            return text
    return ""


def _authors(text: str) -> tuple[str, ...]:
    """Return the names of a PDF's metadata; none where a single word names a program or an account."""
    separator = r"\s*;\s*" if ";" in text else r"\s*,\s*(?:and\s+)?|\s+and\s+"
    names = [printable(name, 100) for name in re.split(separator, text)]
    return tuple(name for name in names if " " in name)[:200]


def _venue(page: str) -> tuple[str, int | None]:
    """Return the line, or up to three of them, that names a venue and its year, or an edition that tells the year."""
    lines = [printable(unicodedata.normalize("NFKC", line), 200) for line in page.split("\n")]
    for number, line in enumerate(lines):
        if _VENUE.search(line) and not _CITED.search(line):
            # A publisher's line goes on below: "Proceedings of …, pages 1-9" above "Florence, Italy, 2019".
            for length in range(1, 4 if _PROCEEDINGS.search(line) else 2):
                text = unbroken("\n".join(lines[number : number + length])).replace("\n", " ")
                if year := _year_in(text):
                    return re.split(r"\s*(?:©|c⃝|Copy-?right|Copy-$)", _ARXIV_ID.sub("", text))[0][:300], year
    return "", None


def _year_in(text: str) -> int | None:
    match = re.search(r"\b(19[89]\d|20[0-4]\d)\b", text)
    if match:
        return int(match[1])
    short = re.search(r"\b[A-Z]{3,}[A-Za-z]*[-\u2019' ]{1,2}(\d\d)\b", text)  # (AAAI-19), RecSys ’21
    return 2000 + int(short[1]) if short and int(short[1]) < 50 else None


def _year(
    identifier: str, venue_year: int | None, page: str, metadata: dict[str, str]
) -> tuple[int | None, str]:
    digits = identifier.rpartition("/")[2][:2]
    arxiv_year = int(digits) + (1900 if int(digits) >= 91 else 2000) if digits else None
    # A preprint may appear the year before the conference; a later or earlier year is of something cited.
    if venue_year and (arxiv_year is None or arxiv_year <= venue_year <= arxiv_year + 2):
        return venue_year, "the venue named on page 1"
    if arxiv_year:
        return arxiv_year, "the arXiv id"
    if right := _COPYRIGHT.search(page):
        return int(right[1]), "the copyright line on page 1"
    match = re.match(r"D:(\d{4})", metadata.get("creationDate", ""))
    if match and 1980 <= int(match[1]) <= 2100:
        return int(match[1]), "the PDF's creation date"
    return None, ""


def stated_years(page: str) -> dict[str, int]:
    """Return the years that a first page states, by where: venue, arXiv's stamp, copyright line."""
    _, venue = _venue(page)
    stamp = _STAMP.search(page)
    preprint, _ = _year(stamp["id"] if stamp else "", None, "", {})
    right = _COPYRIGHT.search(page)
    years = {
        "the venue on page 1": venue,
        "arXiv's stamp": preprint,
        "the copyright line on page 1": int(right[1]) if right else None,
    }
    return {place: year for place, year in years.items() if year}


def _repositories(texts: Iterable[str]) -> tuple[str, ...]:
    links: dict[str, None] = {}
    for text in texts:
        whole = _BROKEN_LINK.sub(r"\1", text)
        for match in _REPOSITORY.finditer(whole):
            links.setdefault("https://" + match["address"].removesuffix(".git"))
    # A link at a line's end may be cut where no hyphen shows it; the whole link starts with the cut one.
    return tuple(link for link in links if not any(other.startswith(f"{link}-") for other in links))[:20]


def _notes(data: dict[str, Any], pages: tuple[str, ...]) -> Iterable[str]:
    if data.get("repaired"):
        yield "the PDF is damaged and was repaired while reading: check paper.json against it"
    empty = [str(number) for number, text in enumerate(pages, 1) if not text.strip()]
    if empty:
        yield f"paper.json: no text on page(s) {', '.join(empty[:10])}{' …' if len(empty) > 10 else ''}"
