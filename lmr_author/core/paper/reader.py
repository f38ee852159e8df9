"""Read a PDF with PyMuPDF; run as a program of its own, because a PDF is untrusted.

    python reader.py PAPER.pdf MEMORY_BYTES CPU_SECONDS text|images [WIDTH PAGE…] >RESULT.json

Writes one JSON object to stdout: ``{"error": KIND, "detail": …}`` for an expected failure, else

- text: ``pages``, ``metadata``, ``headline``, ``links``, ``repaired``
- images: ``images``, page → width, height, grey PNG of that width in base64

Limits on memory, processor time and written bytes are set before the file is opened. Imports nothing of lmr-author,
so that it runs as a file.
"""

from __future__ import annotations

import base64
import json
import resource
import sys
from collections import Counter
from typing import Any

MAX_PAGES = 2000
MAX_PAGE_CHARACTERS = 1_000_000
MAX_LINKS = 2000


def main(path: str, memory: int, cpu_seconds: int, what: str, *rest: str) -> dict[str, Any]:
    """Read the PDF at ``path``; expected failures are data."""
    import pymupdf

    limits = {"AS": memory, "CPU": cpu_seconds, "FSIZE": 0, "CORE": 0}
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
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
    if what == "images":
        width, *pages = map(int, rest)
        return {"images": _images(document, pages, width)}
    return _text(document)


def _text(document: Any) -> dict[str, Any]:
    import pymupdf

    letters = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_PRESERVE_LIGATURES  # "ﬁxed" is "fixed"
    pages: list[str] = []
    links: list[str] = []
    for number in range(document.page_count):
        try:
            page = document[number]
            pages.append(_clean(page.get_text(flags=letters))[:MAX_PAGE_CHARACTERS])
            links.extend(str(link["uri"]) for link in page.get_links() if link.get("uri"))
        except (RuntimeError, ValueError):
            pages += [""] * (number + 1 - len(pages))
    return {
        "pages": pages,
        "metadata": {key: _clean(str(value or "")) for key, value in (document.metadata or {}).items()},
        "headline": _clean(_headline(document)),
        "links": links[:MAX_LINKS],
        "repaired": bool(document.is_repaired),
    }


def _clean(text: str) -> str:
    """Return a text without NUL and without lone surrogates, which no UTF-8 file can hold."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _headline(document: Any) -> str:
    """Return the title on page 1: the text in the largest letters; "" when none are clearly larger than the rest."""
    try:
        blocks = document[0].get_text("dict")["blocks"]
    except (RuntimeError, ValueError):
        return ""
    lines: list[tuple[float, str]] = []
    for block in blocks:
        lines += filter(None, map(_line, block.get("lines", ())))
    letters_of = Counter[float]()
    for size, text in lines:
        letters_of[size] += len(text)
    body = letters_of.most_common(1)[0][0] if lines else 0.0
    # The authors' names are often a little larger than the body; a title is clearly larger.
    for wanted in [size for size in sorted(letters_of, reverse=True) if size > 1.12 * body][:4]:
        text = "\n".join(text for size, text in lines if abs(size - wanted) < 0.3)
        if 8 <= len(text) <= 300 and len(text.split()) > 1:
            return text
    return ""


def _line(line: Any) -> tuple[float, str] | None:
    """Return the size of a line's letters, and its text; None for one without words, or aslant, as arXiv's stamp."""
    text = "".join(span["text"] for span in line["spans"]).strip()
    letters = sum(char.isalpha() for char in text)
    if letters < 2 or abs(line["dir"][0] - 1) >= 0.01:
        return None
    # A drop capital or an icon does not make a line large: the size of most of its letters does.
    main = max(line["spans"], key=lambda span: len(span["text"].strip()))
    return round(main["size"], 1), text


def _images(document: Any, pages: list[int], width: int) -> dict[str, list[Any]]:
    import pymupdf

    pictures: dict[str, list[Any]] = {}
    for number in pages:
        try:
            page = document[number - 1]
            scale = width / (page.rect.width or 1)
            picture = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csGRAY)
            data = base64.b64encode(picture.tobytes("png")).decode()
            pictures[str(number)] = [picture.width, picture.height, data]
        except (RuntimeError, ValueError, IndexError):
            continue
    return pictures


if __name__ == "__main__":
    try:
        result = main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
    except MemoryError:
        result = {"error": "memory"}
    json.dump(result, sys.stdout)
