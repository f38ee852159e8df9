"""``lmr-author analyze``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option


def analyze(
    results: Annotated[
        list[Path],
        Argument(metavar="RESULTS…", help="JSONL, logs of Inspect AI or Harbor, or folders of them."),
    ],
    out: Annotated[Path, Option(help="The folder to write; it must not exist.")],
    tasks: Annotated[
        Path | None, Option(help="The tasks: one without a result has failed; Table 5 needs them.")
    ] = None,
    predictions: Annotated[Path | None, Option(help="The graded answers: adds people's grades.")] = None,
) -> int:
    """Make the tables and figures of LMR-Bench's paper from models' results."""
    from lmr_author.cli import ui
    from lmr_author.core.errors import EXIT_CLEAN
    from lmr_author.core.task import Task
    from lmr_author.release.analysis.analyze import analyze as run

    done = run(results, out, Task.find_all(tasks) if tasks else (), predictions)
    for remark in done.remarks:
        ui.say(remark, indent=2)
    ui.say(f"wrote {len(done.tables)} tables to {done.folder}: open results.html in a browser")
    return EXIT_CLEAN
