"""``lmr-author export``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lmr_author.taskdir import TaskDir


class ExportFormat(StrEnum):
    """What to export to."""

    agent = "agent"


def export(
    tasks: Annotated[list[Path], typer.Argument(metavar="TASK…", help="Tasks, or a folder of them.")],
    to: Annotated[ExportFormat, typer.Option("--to", help="agent: what a model is given, and nothing else.")],
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the bundles; one folder per task is made in it.")
    ],
) -> int:
    """Make bundles of finished tasks; goldens and expected outputs never leave the authoring side."""
    from lmr_author.cli import render_runs
    from lmr_author.export.agent import agent_bundle
    from lmr_author.workflow.named import by_name, tasks_at
    from lmr_author.workflow.status import status

    found = by_name(tasks_at(tasks), "bundles").values()
    destinations = [_destination(task, out) for task in found]
    for task, destination in zip(found, destinations, strict=True):
        render_runs.exported(destination, len(agent_bundle(task, task.load(), destination)))
        render_runs.exported_too_early(status(task))
    return 0


def _destination(task: TaskDir, out: Path) -> Path:
    """Where a task's bundle is made. Raises UsageError where it cannot be, LmrError where something is."""
    from lmr_author.errors import LmrError, UsageError

    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is not a folder", "name a folder; each task gets one in it")
    if out.resolve().is_relative_to(task.root.resolve()):
        raise UsageError(f"--out {out} lies inside the task {task.name}", "choose a folder outside of it")
    destination = out / task.name
    if destination.exists():
        raise LmrError(f"{destination} exists already", "remove it, or choose another --out")
    return destination
