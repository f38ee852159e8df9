"""``report``: a task, or a folder of tasks, as one HTML file that works offline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lmr_author import files
from lmr_author.errors import UsageError
from lmr_author.model import Progress
from lmr_author.reporting import page
from lmr_author.taskdir import INFO, TaskDir
from lmr_author.workflow.report_dataset import dataset_page
from lmr_author.workflow.report_task import task_page


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
    tasks = TaskDir.find_all(place)
    _require_outside(destination)
    single = len(tasks) == 1 and not (place.is_dir() and place.absolute() == tasks[0].root.parent.absolute())
    if single:
        text = page.task_html(task_page(tasks[0], say))
    else:
        name = place.absolute().name
        text = page.dataset_html(dataset_page(name, tasks, say))
    data = text.encode("utf-8", "replace")
    files.write_bytes(destination, data)
    return Report(destination, len(data), len(tasks))


def _require_outside(destination: Path) -> None:
    """A report shows solutions, and a file in a task changes its digest: it belongs elsewhere."""
    if destination.is_dir():
        raise UsageError(f"--html {destination} is a folder", "name a file, as report.html")
    for folder in destination.absolute().parents:
        if (folder / INFO).is_file() and "authoring" not in destination.absolute().relative_to(folder).parts[
            :1
        ]:
            raise UsageError(
                f"--html {destination} lies in the task {folder.name}, and the page shows its solution",
                "write it beside the task, or below its authoring/",
            )
