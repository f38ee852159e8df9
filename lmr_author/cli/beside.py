"""Two texts beside one another on the screen."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from lmr_author.cli import ui

SIDE_BY_SIDE = 120
"""Columns from which two texts stand side by side."""
_LEFT, _RIGHT = "red", "green"

Row = tuple[str, str, str]
"""A mark, ``<`` for a line of the left text alone, ``>`` of the right one, ``|`` for two that differ; both lines."""


def show_beside(left: tuple[str, str], right: tuple[str, str]) -> None:
    """Print two texts, each with its title: side by side, or one below the other on a narrow screen."""
    lines = [[ui.one_line(line.expandtabs(4)) for line in text.splitlines()] for _, text in (left, right)]
    rows = list(aligned(*lines))
    if ui.console().width < SIDE_BY_SIDE:
        _show_below(left[0], [(mark, line) for mark, line, _ in rows if mark != ">"], _LEFT)
        _show_below(right[0], [(mark, line) for mark, _, line in rows if mark != "<"], _RIGHT)
    else:
        _show_side_by_side((left[0], right[0]), rows)


def aligned(left: Sequence[str], right: Sequence[str]) -> Iterator[Row]:
    """Yield two texts line by line, equal lines in one row."""
    for tag, start, end, begin, stop in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        for here, there in zip_longest(left[start:end], right[begin:stop]):
            mark = " " if tag == "equal" else ">" if here is None else "<" if there is None else "|"
            yield mark, here or "", there or ""


def _show_below(title: str, lines: Sequence[tuple[str, str]], style: str) -> None:
    from rich.text import Text

    ui.say(title, tone="bold")
    screen = ui.console()
    for mark, line in lines:
        for number, part in enumerate(_folded(line, screen.width - 2)):
            shown = f"{' ' if number else mark} {part}"
            screen.print(Text(shown, style if mark.strip() else ""), soft_wrap=True)
    ui.say("")


def _folded(line: str, width: int) -> list[str]:
    """Return a line of code in parts of so many columns, the later ones indented more than it is."""
    from rich.cells import chop_cells

    hang = min(len(line) - len(line.lstrip()) + 4, width // 2)
    parts = textwrap.wrap(line, width, subsequent_indent=" " * hang, break_on_hyphens=False)
    return [piece for part in parts for piece in chop_cells(part, width)] or [""]


def _show_side_by_side(titles: tuple[str, str], rows: Sequence[Row]) -> None:
    from rich.cells import set_cell_size
    from rich.text import Text

    screen = ui.console()
    half = (screen.width - 3) // 2
    screen.print(Text(f"{set_cell_size(titles[0], half)}   {titles[1]}", "bold"), soft_wrap=True)
    for mark, left, right in rows:
        styles = (_LEFT, _RIGHT) if mark.strip() else ("", "")
        for here, there in zip_longest(_folded(left, half), _folded(right, half), fillvalue=""):
            row = (
                Text(set_cell_size(here, half), styles[0])
                .append(f" {mark} ", "bold")
                .append(there, styles[1])
            )
            screen.print(row, soft_wrap=True)
    ui.say("")
