"""``lmr-author status``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli.common import Format, FormatOption, default_tasks, print_json


def status(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH…", help="Tasks, or a folder of them.")
    ] = None,
    output: FormatOption = Format.text,
) -> int:
    """Show where each task stands and which command comes next."""
    from lmr_author.cli import render, render_runs
    from lmr_author.reporting import status as workflow
    from lmr_author.task import tasks_at

    tasks = tasks_at(paths or [default_tasks()])
    with render.progress("checking") as say:
        done = iter(range(1, len(tasks) + 1))
        found = workflow.statuses(
            tasks, lambda one: say(f"checked {next(done)} of {len(tasks)} tasks: {one.task}")
        )
    if output is Format.json:
        print_json({"tasks": [item.to_json() for item in found]})
    else:
        render_runs.status_table(found)
    return 0
