"""Draw pages of a PDF and say where its paragraphs are; run as a program of its own, as ``reader.py`` is.

    python painter.py PAPER.pdf MEMORY_BYTES CPU_SECONDS <REQUEST.json >RESULT.json

The request is ``{"pages": [number, …], "width": pixels}``, numbers from 1; with no pages only the paragraphs
are told. Writes one JSON object: ``{"error": KIND}``, or ``blocks`` (page, four sides as shares of the page,
text) and ``images`` (page → width, height, PNG in base64). Imports nothing of lmr-author but its neighbour.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

MAX_BLOCKS = 20_000
MAX_BLOCK_CHARACTERS = 20_000


def main(path: str, memory: int, cpu_seconds: int, request: dict[str, Any]) -> dict[str, Any]:
    """Paragraphs of the PDF at ``path``, and pictures of the pages asked for; expected failures are data."""
    import pymupdf

    reader = _neighbour()
    reader.limit(memory, cpu_seconds)
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        document = pymupdf.open(path, filetype="pdf")
    except (RuntimeError, ValueError):
        return {"error": "broken"}
    if document.needs_pass:
        return {"error": "encrypted"}
    if document.page_count > reader.MAX_PAGES:
        return {"error": "too long"}
    if request["pages"]:
        return {"blocks": [], "images": _images(document, request["pages"], request["width"])}
    return {"blocks": _blocks(document, reader.clean), "images": {}}


def _neighbour() -> Any:
    """``reader.py``, found beside this file: its limits hold here, too."""
    spec = importlib.util.spec_from_file_location("reader", Path(__file__).with_name("reader.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _blocks(document: Any, clean: Callable[[str], str]) -> list[list[Any]]:
    found: list[list[Any]] = []
    for number in range(document.page_count):
        try:
            page = document[number]
            wide, high = page.rect.width or 1, page.rect.height or 1
            for x0, y0, x1, y1, text, _, kind in page.get_text("blocks"):
                if kind == 0:
                    sides = [x0 / wide, y0 / high, x1 / wide, y1 / high]
                    short = clean(text)[:MAX_BLOCK_CHARACTERS]
                    found.append([number + 1, *(round(side, 4) for side in sides), short])
        except (RuntimeError, ValueError):
            continue
    return found[:MAX_BLOCKS]


def _images(document: Any, pages: list[int], width: int) -> dict[str, list[Any]]:
    import pymupdf

    found: dict[str, list[Any]] = {}
    for number in pages:
        if not 1 <= number <= document.page_count:
            continue
        try:
            page = document[number - 1]
            scale = width / (page.rect.width or 1)
            picture = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csGRAY)
            data = base64.b64encode(picture.tobytes("png")).decode()
            found[str(number)] = [picture.width, picture.height, data]
        except (RuntimeError, ValueError):
            continue
    return found


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    try:
        result = main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), asked)
    except MemoryError:
        result = {"error": "memory"}
    json.dump(result, sys.stdout)
