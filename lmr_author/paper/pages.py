"""Where a paper's paragraphs are on its pages, and pictures of the pages, from a child process with limits."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author import processes
from lmr_author.errors import LmrError
from lmr_author.paper.extract import MEMORY_BYTES, SECONDS

WIDTH = 900
"""Pixels of a page's picture, from left to right."""


@dataclass(frozen=True)
class Block:
    """A paragraph: its page from 1, its left, upper, right and lower side as shares of the page, its text."""

    page: int
    left: float
    top: float
    right: float
    bottom: float
    text: str


@dataclass(frozen=True)
class PageImage:
    """A page as a grey PNG: pixels across and down, the file's bytes."""

    width: int
    height: int
    png: bytes


def blocks(pdf: Path) -> tuple[Block, ...]:
    """The paragraphs of a PDF, in reading order. Raises LmrError when it cannot be read."""
    data = _paint(pdf, [])
    return tuple(
        Block(int(page), float(left), float(top), float(right), float(bottom), str(text))
        for page, left, top, right, bottom, text in data["blocks"]
    )


def images(pdf: Path, numbers: Iterable[int]) -> dict[int, PageImage]:
    """Pictures of some pages; a page that cannot be drawn is left out. Raises LmrError as :func:`blocks`."""
    wanted = sorted(set(numbers))
    if not wanted:
        return {}
    data = _paint(pdf, wanted)
    return {
        int(number): PageImage(int(width), int(height), base64.b64decode(png))
        for number, (width, height, png) in data["images"].items()
    }


def _paint(pdf: Path, pages: list[int]) -> dict[str, Any]:
    painter = Path(__file__).with_name("painter.py")
    argv = [sys.executable, "-P", str(painter), str(pdf.absolute()), str(MEMORY_BYTES), str(int(SECONDS) + 1)]
    request = json.dumps({"pages": pages, "width": WIDTH}).encode()
    done = processes.run(argv, cwd=pdf.parent, seconds=SECONDS, stdin=request)
    try:
        data = json.loads(done.stdout)
    except (ValueError, RecursionError):
        data = {}
    if done.exit_code != 0 or not isinstance(data, dict) or "blocks" not in data:
        why = data.get("error", "the reader failed") if isinstance(data, dict) else "the reader failed"
        raise LmrError(
            f"the pages of {pdf.name} cannot be drawn ({why})", "take another version of the paper"
        )
    return data
