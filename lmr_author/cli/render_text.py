"""Foreign text on a terminal: what cannot be printed is shown as Python writes it, and colours are ours."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

_COLOURS = {
    "error": "1;31",
    "warning": "33",
    "note": "36",
    "task": "1",
    "path": "4",
    "dim": "2",
    "good": "32",
    "bad": "31",
}
WIDE = 120
"""Columns where there is no terminal, or a wider one: longer lines are hard to read."""


def one_line(text: str) -> str:
    """Text that cannot move the cursor or start a line: control characters as Python writes them."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text
    )


def escape(text: str) -> str:
    """Text in which rich finds no markup of its own."""
    from rich.markup import escape as escaped

    return escaped(text)


def columns() -> int:
    """How wide a report may be."""
    return max(40, min(WIDE, shutil.get_terminal_size((WIDE, 24)).columns)) if sys.stdout.isatty() else WIDE


def coloured(stream: TextIO) -> bool:
    """Whether a stream is a terminal that is to show colours."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(kind: str, text: str, colour: bool) -> str:
    """Text in the colour of a kind of thing, or as it is."""
    return f"\033[{_COLOURS[kind]}m{text}\033[0m" if colour and text else text
