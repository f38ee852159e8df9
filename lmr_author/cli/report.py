"""``lmr-author report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import PlaceOption, TaskArgument, default_tasks, named_once


def report(
    word: TaskArgument = None,
    task: PlaceOption = None,
    html: Annotated[Path | None, Option(help="File to write; or folder, for an index and pages.")] = None,
) -> int:
    """Write one HTML page about a task, or about a folder of tasks; it shows solutions and works offline."""
    from lmr_author.core.texts import counted, size_text
    from lmr_author.release.reporting.report import report as write_report
    from lmr_author.release.reporting.report import require_outside

    if html is None:
        ui.require_person(ui.can_ask(), "no file to write", "add --html FILE")
        usual = "../report.html" if Path("info.json").is_file() else "report.html"
        outside = lambda answer: ui.problem(lambda: require_outside(Path(answer).expanduser()))  # noqa: E731
        html = Path(ui.path("File to write:", usual, outside))
    with ui.progress("gathering") as progress:
        written = write_report(named_once(word, task) or default_tasks(), html, progress)
    ui.say(
        f"wrote {written.path} ({counted(written.tasks, 'task')}, {size_text(written.bytes)}): "
        "open it in a browser"
    )
    return 0
