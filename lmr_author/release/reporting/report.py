"""``report``: a task, or a folder of tasks, as HTML that works offline."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from lmr_author.core import files
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import AUTHORING, INFO, Progress, Task
from lmr_author.release.reporting.dataset_page import dataset_page
from lmr_author.release.reporting.page import render
from lmr_author.release.reporting.task_page import task_page


@dataclass(frozen=True)
class WrittenReport:
    """The file to open, the size of all files in bytes, and the number of tasks."""

    path: Path
    bytes: int
    tasks: int


def report(path: Path, destination: Path, say: Progress) -> WrittenReport:
    """Write the page of the task at or around ``path``, else of the tasks below it.

    Args:
        destination: a file; or a folder (existing, or a name without ``.html``), which gets ``index.html`` and a
            linked page for each task.

    Raises UsageError: the file would become part of a task. NotATaskError: no task there.
    """
    tasks = Task.find_all(path)
    require_outside(destination)
    single = len(tasks) == 1 and not (path.is_dir() and path.absolute() == tasks[0].root.parent.absolute())
    in_folder = destination.is_dir() or destination.suffix.lower() not in (".html", ".htm")
    start = destination / "index.html" if in_folder else destination
    if single:
        return WrittenReport(start, _write(start, render("task.html.j2", task_page(tasks[0], say))), 1)
    size = 0
    following = [*(f"{quote(task.name)}.html" for task in tasks[1:]), ""]
    for task, after in zip(tasks, following, strict=True) if in_folder else ():
        try:
            page = {**task_page(task, say), "index": start.name, "following": after}
            text = render("task.html.j2", page)
        except LmrError as error:
            text = render("broken.html.j2", {"name": task.name, "problem": error.message})
        size += _write(destination / f"{task.name}.html", text)
    table = dataset_page(path.absolute().name, tasks, say, linked=in_folder)
    size += _write(start, render("dataset.html.j2", table))
    return WrittenReport(start, size, len(tasks))


def _write(path: Path, text: str) -> int:
    data = text.encode("utf-8", "replace")
    files.write_bytes(path, data)
    return len(data)


def require_outside(destination: Path) -> None:
    """Raise UsageError for a file in a task: a report shows solutions, and would change the task's digest."""
    destination = Path(os.path.normpath(destination.absolute()))
    for folder in (destination, *destination.parents):
        if (folder / INFO).is_file() and destination.relative_to(folder).parts[:1] != (AUTHORING,):
            raise UsageError(
                f"--html {destination} is inside the task {folder.name}, and the page shows its solution",
                "write it beside the task, or below its authoring/",
            )
