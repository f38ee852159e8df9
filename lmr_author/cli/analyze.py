"""``lmr-author analyze``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option


def analyze(
    results: Annotated[
        list[Path],
        Argument(
            metavar="RESULTS…", help="JSONL, logs of Inspect AI or Harbor, LMR-Bench's results, or folders."
        ),
    ],
    out: Annotated[Path, Option(help="New folder to write.")],
    tasks: Annotated[Path | None, Option(help="Tasks, for Table 5; without a result: failed.")] = None,
    predictions: Annotated[
        Path | None, Option(help="The answers that people graded; adds their grades.")
    ] = None,
    scale: Annotated[
        list[str] | None,
        Option(
            metavar="ANNOTATOR=LOWEST", help="An annotator's lowest grade in LMR-Bench's results, as ada=0."
        ),
    ] = None,
    cutoff: Annotated[
        list[str] | None,
        Option(metavar="MODEL=YYYY-MM", help="A model's last month of training data, as gpt-4o=2023-10."),
    ] = None,
) -> int:
    """Make the tables and figures of LMR-Bench's paper from models' results."""
    from lmr_author.cli import ui
    from lmr_author.core.errors import EXIT_CLEAN, UsageError
    from lmr_author.core.task import Task
    from lmr_author.release.analysis.analyze import analyze as run

    scales = {}
    for text in scale or ():
        name, _, lowest = text.rpartition("=")
        if not name or lowest not in ("0", "1"):
            raise UsageError(f"--scale {text!r} is no annotator with a lowest grade", "as in --scale ada=0")
        scales[name] = int(lowest)
    done = run(results, out, Task.find_all(tasks) if tasks else (), predictions, scales, cutoff or ())
    for remark in done.remarks:
        ui.say(remark, indent=2)
    ui.say(f"wrote {len(done.tables)} tables to {done.folder}: open results.html in a browser")
    return EXIT_CLEAN
