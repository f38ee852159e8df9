"""``lmr-author unmask``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.cli.options import TaskOption, current_task


def unmask(
    target: Annotated[str | None, Argument(help="The function to restore; by default all.")] = None,
    force: Annotated[bool, Option("--force", help="Restore an edited file, too; keeps a copy.")] = False,
    task: TaskOption = None,
) -> int:
    """Restore masked functions byte for byte."""
    from lmr_author.cli import mask
    from lmr_author.masking import unmask as restore
    from lmr_author.masking.leftovers import HISTORY_FOLDERS

    result = restore(current_task(task), target, Path.cwd(), force=force)
    for name in result.targets:
        ui.say(name, "restored", "green")
    for name in result.also:
        ui.say(f"{name}, which was masked along", "restored", "green")
    mask.show_paths(result.put_back, "put back {}")
    for name in result.left_out:
        history = name.rpartition("/")[2] in HISTORY_FOLDERS
        why = "an agent's tree has no history" if history else "something new is in its place"
        ui.say(f"left {name} in authoring/removed/: {why}", indent=2)
    for name in result.moved:
        ui.say(f"kept {name} in authoring/removed/", indent=2)
    return 0
