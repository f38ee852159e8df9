"""``lmr-author recipe``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.cli.options import current_task
from lmr_author.core.errors import EXIT_CLEAN


def recipe(
    task: Annotated[Path | None, Argument(help="The task, by default the current one.")] = None,
    out: Annotated[Path | None, Option(help="The folder to make; by default recipes/TASK here.")] = None,
    predictions: Annotated[
        Path | None, Option(help="Answers to the task, as `judge` reads them; with --results.")
    ] = None,
    results: Annotated[
        Path | None, Option(help="The folder with their verdicts, as `judge` writes it.")
    ] = None,
) -> int:
    """Write the recipe of a task that was made by hand, with its driver, so that `make` makes it again."""
    from lmr_author.release.recipes.write import write

    found = current_task(task)
    folder = out or Path("recipes") / found.name
    written = write(found, folder, Path.cwd(), predictions, results)
    ui.say(f"wrote {written.path}")
    for remark in written.remarks:
        ui.note(remark)
    ui.then("make", written.path, "--out", found.root.parent, "--check")
    return EXIT_CLEAN
