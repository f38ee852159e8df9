"""Read a PDF with PyMuPDF; run as a program of its own, because a PDF is untrusted.

    python reader.py PAPER.pdf MEMORY_BYTES CPU_SECONDS >RESULT.json

Writes one JSON object to stdout: ``{"error": KIND, "detail": …}``, or ``pages``, ``metadata``,
``headline``, ``links``, ``repaired``. Limits on memory, processor time and written bytes are set
before the file is opened. Imports nothing of lmr-author, so that it runs as a file.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from typing import Any

MAX_PAGES = 2000
MAX_PAGE_CHARACTERS = 1_000_000


def main(path: str, memory: int, cpu_seconds: int) -> dict[str, Any]:
    """Read the PDF at ``path``; expected failures are data."""
    import pymupdf

    limit(memory, cpu_seconds)
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        document = pymupdf.open(path, filetype="pdf")
    except (RuntimeError, ValueError) as error:
        return {"error": "broken", "detail": str(error)}
    if document.needs_pass:
        return {"error": "encrypted"}
    if document.page_count == 0:
        return {"error": "no pages"}
    if document.page_count > MAX_PAGES:
        return {"error": "too long", "detail": str(document.page_count)}
    pages, unreadable = [], []
    letters = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_PRESERVE_LIGATURES  # "ﬁxed" is "fixed"
    for number in range(document.page_count):
        try:
            pages.append(clean(document[number].get_text(flags=letters))[:MAX_PAGE_CHARACTERS])
        except (RuntimeError, ValueError):
            pages.append("")
            unreadable.append(number + 1)
    return {
        "pages": pages,
        "unreadable": unreadable,
        "metadata": {key: clean(str(value or "")) for key, value in (document.metadata or {}).items()},
        "headline": _headline(document),
        "links": _links(document),
        "repaired": bool(document.is_repaired),
    }


def limit(memory: int, cpu_seconds: int) -> None:
    """Let this process use no more memory (bytes) and processor time, and write no file."""
    try:
        import resource
    except ImportError:  # not a Unix machine: the parent's time limit remains
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def clean(text: str) -> str:
    """Without NUL and without lone surrogates, which no UTF-8 file can hold."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _headline(document: Any) -> str:
    """The title on page 1: the text in the largest letters, else the first lines in bold letters of one size.

    Only horizontal lines count, so that arXiv's stamp is left out.
    """
    try:
        blocks = document[0].get_text("dict")["blocks"]
    except (RuntimeError, ValueError):
        return ""
    lines = [found for block in blocks for line in block.get("lines", ()) if (found := _line(line))]
    letters_of = Counter[float]()
    for size, _, text in lines:
        letters_of[size] += len(text)
    body = letters_of.most_common(1)[0][0] if lines else 0.0
    # The authors' names are often a little larger than the body; a title is clearly larger.
    for wanted in [size for size in sorted(letters_of, reverse=True) if size > 1.12 * body][:4]:
        text = " ".join(text for size, _, text in lines if abs(size - wanted) < 0.3)
        if 8 <= len(text) <= 300 and " " in text:
            return clean(text)
    return clean(_first_in_bold(lines))


def _line(line: Any) -> tuple[float, bool, str] | None:
    """Size of its letters, whether they are bold, and its text; None for a line without words, or aslant."""
    text = "".join(span["text"] for span in line["spans"]).strip()
    letters = sum(char.isalpha() for char in text)
    if letters < 2 or abs(line["dir"][0] - 1) >= 0.01:
        return None
    # A drop capital or an icon does not make a line large: the size of most of its letters does.
    main = max(line["spans"], key=lambda span: len(span["text"].strip()))
    bold = bool(main["flags"] & 16) or bool(re.search(r"bold|CMBX|-Medi", main["font"], re.I))
    return round(main["size"], 1), bold, text


def _first_in_bold(lines: list[tuple[float, bool, str]]) -> str:
    """Journals set the title no larger than the text, but bold: the first lines of the page that are."""
    run: list[str] = []
    first = 0.0
    for size, bold, text in lines[:12]:
        if bold and first in (0.0, size):
            first = size
            run.append(text)
        elif run:
            break
    text = " ".join(run)
    return text if 8 <= len(text) <= 300 and len(text.split()) >= 3 else ""


def _links(document: Any) -> list[str]:
    found: list[str] = []
    for number in range(min(document.page_count, 50)):
        try:
            found.extend(str(link["uri"]) for link in document[number].get_links() if link.get("uri"))
        except (RuntimeError, ValueError):
            continue
    return found[:2000]


if __name__ == "__main__":
    try:
        result = main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    except MemoryError:
        result = {"error": "memory"}
    json.dump(result, sys.stdout)
