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
) -> int:
    """Write the recipe of a task that was made by hand, with its driver, so that `make` makes it again."""
    from lmr_author.release.recipes.write import write

    folder = current_task(task)
    written = write(folder, out or Path("recipes") / folder.name, Path.cwd())
    ui.say(f"wrote {written.path}")
    for remark in written.remarks:
        ui.note(remark)
    ui.then("make", written.path, "--out", "made")
    return EXIT_CLEAN
