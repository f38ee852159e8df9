"""``lmr-author report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli import ui
from lmr_author.cli.options import NoInputOption, default_tasks
from lmr_author.errors import UsageError


def report(
    place: Annotated[
        Path | None,
        typer.Argument(metavar="PATH", help="A task, or a folder of tasks; by default the current one."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="The file to write; or a folder, for an index with linked task pages."
        ),
    ] = None,
    no_input: NoInputOption = False,
) -> int:
    """Write one HTML page about a task, or about a folder of tasks; it shows solutions and works offline."""
    from lmr_author.reporting.report import report as write_report
    from lmr_author.reporting.report import require_outside
    from lmr_author.texts import counted, size_text

    def problem(answer: str) -> str:
        try:
            require_outside(Path(answer).expanduser())
        except UsageError as error:
            return error.message
        return ""

    if html is None:
        if not ui.can_ask(no_input):
            raise UsageError("no file to write", "add --html FILE")
        html = Path(
            ui.path(
                "File to write:", "../report.html" if Path("info.json").is_file() else "report.html", problem
            )
        )
    with ui.progress("gathering") as progress:
        written = write_report(place or default_tasks(), html, progress)
    ui.say(
        f"wrote {written.path} ({counted(written.tasks, 'task')}, {size_text(written.bytes)}): "
        "open it in a browser"
    )
    return 0
