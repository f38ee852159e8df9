"""``lmr-author report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli.common import default_tasks


def report(
    place: Annotated[
        Path | None,
        typer.Argument(metavar="PATH", help="A task, or a folder of tasks; by default the current one."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="PATH",
            help="The file to write; or a folder, for an index with linked task pages.",
        ),
    ] = None,
) -> int:
    """Write one HTML page about a task, or about a folder of tasks; it shows solutions and works offline."""
    from lmr_author.cli import render
    from lmr_author.errors import EXIT_CLEAN, UsageError
    from lmr_author.reporting import report as workflow
    from lmr_author.texts import size_text

    if html is None:
        raise UsageError("no file to write", "add --html FILE")
    with render.progress("gathering") as say:
        written = workflow.report(place or default_tasks(), html, say)
    what = "1 task" if written.tasks == 1 else f"{written.tasks} tasks"
    screen = render.console()
    screen.print(
        f"wrote {written.path} ({what}, {size_text(written.bytes)}): open it in a browser", markup=False
    )
    return EXIT_CLEAN
