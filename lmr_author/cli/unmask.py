"""``lmr-author unmask``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.cli.options import TaskOption, complete_masked, current_task
from lmr_author.cli.status import show_next
from lmr_author.core.errors import UsageError
from lmr_author.core.texts import listed

if TYPE_CHECKING:
    from lmr_author.core.task import Task


def unmask(
    target: Annotated[
        str | None, Argument(autocompletion=complete_masked, help="The function to restore.")
    ] = None,
    everything: Annotated[bool, Option("--all", help="Restore all that is masked.")] = False,
    force: Annotated[bool, Option("--force", help="Restore an edited file, too; keeps a copy.")] = False,
    task: TaskOption = None,
) -> int:
    """Restore masked functions byte for byte."""
    from lmr_author.authoring.masking import unmask as restore
    from lmr_author.authoring.masking.leftovers import HISTORY_FOLDERS
    from lmr_author.cli import mask

    folder = current_task(task)
    if everything and target is not None:
        raise UsageError("a target and --all are two answers", "give one of them")
    if target is None and not everything:
        target = _ask(folder)
    result = restore(folder, target, Path.cwd(), force=force)
    for name in result.targets:
        ui.say(name, "restored", "green")
    for name in result.also:
        ui.say(f"{name}, a look-alike", "restored", "green")
    mask.show_paths(result.put_back, "put back {}")
    for name in result.left_out:
        history = name.rpartition("/")[2] in HISTORY_FOLDERS
        why = "an agent's tree has no history" if history else "something new is in its place"
        ui.say(f"left {name} in authoring/removed/: {why}", indent=2)
    for name in result.moved:
        ui.say(f"kept {name} in authoring/removed/", indent=2)
    show_next(folder)
    return 0


def _ask(task: Task) -> str | None:
    from lmr_author.authoring.masking import masked_names

    names = masked_names(task)
    if not names:
        return None  # which is an error with a hint of its own
    quoted = listed(list(map(shlex.quote, names)), 8)
    hint = f"name one, or pass --all; masked: {quoted}"
    ui.require_person(ui.can_ask(), "no target given", hint)
    labels = {name: f"{name}  {remark}".rstrip() for name, remark in names.items()}
    if len(names) > 1:
        labels[""] = f"all of them ({len(names)})"
    return ui.choice("Which function should be restored?", labels) or None
