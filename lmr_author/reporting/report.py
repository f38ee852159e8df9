"""``report``: a task, or a folder of tasks, as one HTML file that works offline."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from lmr_author import files
from lmr_author.errors import UsageError
from lmr_author.reporting import page
from lmr_author.reporting.dataset_page import dataset_page
from lmr_author.reporting.task_page import task_page
from lmr_author.task import AUTHORING, INFO, Progress, Task


@dataclass(frozen=True)
class Report:
    """A written report: the file, its size in bytes, how many tasks it shows."""

    path: Path
    bytes: int
    tasks: int


def report(place: Path, destination: Path, say: Progress) -> Report:
    """Write the page of the task that ``place`` is or lies in, else of the tasks below it.

    Raises:
        UsageError: the file would become part of a task, or is a folder.
        NotATaskError: no task there.
    """
    tasks = Task.find_all(place)
    require_outside(destination)
    single = len(tasks) == 1 and not (place.is_dir() and place.absolute() == tasks[0].root.parent.absolute())
    if single:
        text = page.task_html(task_page(tasks[0], say))
    else:
        name = place.absolute().name
        text = page.dataset_html(dataset_page(name, tasks, say))
    data = text.encode("utf-8", "replace")
    files.write_bytes(destination, data)
    return Report(destination, len(data), len(tasks))


def require_outside(destination: Path) -> None:
    """A report shows solutions, and a file in a task changes its digest: it belongs elsewhere."""
    if destination.is_dir():
        raise UsageError(f"--html {destination} is a folder", "name a file, as report.html")
    destination = Path(os.path.normpath(destination.absolute()))
    for folder in destination.parents:
        if (folder / INFO).is_file() and destination.relative_to(folder).parts[0] != AUTHORING:
            raise UsageError(
                f"--html {destination} lies in the task {folder.name}, and the page shows its solution",
                "write it beside the task, or below its authoring/",
            )
