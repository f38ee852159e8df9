"""How drafts of a masked body look on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lmr_author.cli.render import console

if TYPE_CHECKING:
    from lmr_author.leaks import Leak
    from lmr_author.masking.notes import MaskNotes


def preview(name: str, code: str) -> None:
    """A function as it would stand in the masked file."""
    from rich.padding import Padding
    from rich.syntax import Syntax
    from rich.text import Text

    screen = console()
    screen.print(Text(name, style="bold"))
    shown = Syntax(code, "python", theme="ansi_dark", background_color="default", word_wrap=True)
    screen.print(Padding(shown, (0, 0, 0, 2)))


def several(drafts: Mapping[str, MaskNotes]) -> None:
    """Which parts were drafted, one line for each function."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("function", "docstring", "inputs", "outputs", "dependencies"):
        table.add_column(title, overflow="fold")
    for name, notes in drafts.items():
        used = len(notes.dependencies) + len(notes.outside)
        table.add_row(
            name,
            "drafted" if notes.docstring else "kept",
            *(str(number or "") for number in (len(notes.inputs), len(notes.outputs), used)),
        )
    console().print(table)


def likeness(leak: Leak) -> None:
    """How much of a solution stands in a place, and the difference from one to the other."""
    from rich.padding import Padding
    from rich.syntax import Syntax

    screen = console()
    line = f", line {leak.line}" if leak.line and not leak.member else ""
    title = f"{leak.path}{line}, {leak.place}: {round(leak.similarity * 100)} % the same"
    screen.print(title, style="bold", markup=False)
    if leak.diff:
        shown = Syntax(leak.diff, "diff", theme="ansi_dark", background_color="default", word_wrap=True)
        screen.print(Padding(shown, (0, 0, 0, 2)))
    else:
        screen.print("  the same, word for word", markup=False)
