"""``lmr-author next``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import default_tasks
from lmr_author.core.errors import EXIT_CLEAN


def next_step(
    place: Annotated[
        Path | None, Option("--task", "-t", help="A task or a folder of tasks, if not this.")
    ] = None,
    show: Annotated[bool, Option("--show", help="Only print the command, to be completed.")] = False,
) -> int:
    """Run the next command of a task, as `status` shows it; a terminal asks for what only a person knows."""
    from lmr_author.cli import app
    from lmr_author.core.task import Task
    from lmr_author.release.reporting.status import status

    for task in Task.find_all(place or default_tasks()):
        current = status(task)
        if not current.next:
            continue
        if show:
            print(current.next)
            return EXIT_CLEAN
        ui.say(f"{current.task}: {current.note}")
        ui.say(current.next, "$", "bold cyan", tone="bold", whole=True)
        return app.run(shlex.split(current.next)[1:])
    ui.say("nothing is left to do: every task is accepted")
    return EXIT_CLEAN
