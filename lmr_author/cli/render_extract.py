"""How an extraction looks on a terminal: its diff, and the function's signature."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from lmr_author.cli.render import console

if TYPE_CHECKING:
    from lmr_author.extracting.task_file import Planned

_STYLES = (("+++", "bold"), ("---", "bold"), ("@@", "cyan"), ("+", "green"), ("-", "red"))


def preview(planned: Planned) -> None:
    """The diff on stdout; inputs, outputs and remarks on stderr."""
    report, screen = console(stderr=False), console()
    done = planned.extraction
    if report.is_terminal:
        for line in done.diff.rstrip("\n").split("\n"):
            style = next((style for start, style in _STYLES if line.startswith(start)), "")
            report.print(line.rstrip("\r"), style=style, markup=False)
    else:  # as it is, so that it can be applied: the console would turn tabs into spaces
        sys.stdout.write(done.diff)
    screen.print(f"inputs   {', '.join(done.inputs) or 'none'}", markup=False)
    screen.print(f"outputs  {', '.join(done.outputs) or 'none'}", markup=False)
    if done.mutated:
        screen.print(f"changes  {', '.join(done.mutated)} in place", markup=False)
    _notes(done.remarks)


def done(planned: Planned, remarks: tuple[str, ...], *, written: bool) -> None:
    """What was done, and the next command."""
    screen = console()
    _notes(remarks)
    if not written:
        screen.print("nothing was written (--dry-run)", markup=False)
        return
    screen.print("[green]extracted[/] ", end="")
    screen.print(str(planned.target), markup=False)
    screen.print("  original     kept in authoring/removed/", markup=False)
    screen.print(f"next: lmr-author mask {shlex.quote(str(planned.target))}", markup=False)


def left() -> None:
    """Said when the annotator does not want it."""
    console().print("nothing was written", markup=False)


def _notes(remarks: tuple[str, ...]) -> None:
    for remark in remarks:
        console().print("[yellow]note:[/] ", end="")
        console().print(remark, markup=False)
