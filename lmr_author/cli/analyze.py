"""``lmr-author analyze``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def analyze(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS…", help="JSONL files, logs of Inspect AI or Harbor, or folders of them."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder to write; it must not exist.")
    ],
    tasks: Annotated[
        Path | None,
        typer.Option(
            "--tasks",
            metavar="DIR",
            help="The tasks: problems without a result count as failed; Table 5 needs them.",
        ),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            "--predictions",
            metavar="FILE",
            help="The graded answers: adds the grades that `score` stored in the tasks.",
        ),
    ] = None,
) -> int:
    """Make the tables and figures of LMR-Bench's paper from models' results."""
    from lmr_author.analysis.analyze import analyze as run
    from lmr_author.cli import ui
    from lmr_author.errors import EXIT_CLEAN
    from lmr_author.task import Task

    done = run(results, out, Task.find_all(tasks) if tasks else (), predictions)
    for remark in done.remarks:
        ui.say(remark, indent=2)
    ui.say(f"wrote {len(done.tables)} tables to {done.folder}: open results.html in a browser")
    return EXIT_CLEAN
