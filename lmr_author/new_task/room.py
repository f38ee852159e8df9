"""Conflicts of a new task: numbers and folders that are taken, files of the repository in its way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.errors import LmrError, UsageError
from lmr_author.new_task.draft import require_name
from lmr_author.task import Task, TaskInfo

if TYPE_CHECKING:
    from lmr_author.new_task.new_task import NewTaskOptions, Stages


def taken_numbers(options: NewTaskOptions) -> dict[int, str]:
    """Return the folder of each task number in use below ``tasks_dir``; check the options that depend on it."""
    if options.name is not None:
        require_name(options.name, "--name")
    if options.year is not None and not 1950 <= options.year <= 2100:
        raise UsageError(f"--year {options.year} is not a year", "give four digits, like 2023")
    if options.tasks_dir.exists() and not options.tasks_dir.is_dir():
        raise UsageError(
            f"--tasks-dir {options.tasks_dir} is not a folder", "name the folder that holds the tasks"
        )
    taken: dict[int, str] = {}
    for folder in sorted(options.tasks_dir.iterdir()) if options.tasks_dir.is_dir() else ():
        number, dash, _ = folder.name.partition("-")
        if dash and number.isdecimal():
            taken.setdefault(int(number), folder.name)
        if (folder / "info.json").is_file() and not folder.name.startswith("."):
            taken.setdefault(_instance_id(folder), folder.name)
    if options.id is not None and options.id < 1:
        raise UsageError(f"--id {options.id} is not a task number", "numbers start at 1")
    if options.id in taken:
        raise LmrError(
            f"the number {options.id} is taken by {taken[options.id]}/", "pass another --id, or none"
        )
    return taken


def _instance_id(folder: Path) -> int:
    try:
        return Task(folder).load().instance_id
    except LmrError:
        return 0


def require_free(final: Path) -> None:
    """Raise LmrError when the task's folder exists."""
    if final.exists() or final.is_symlink():
        raise LmrError(f"{final} exists already", "choose another --id or --name, or remove it")


def require_room(task: Task, info: TaskInfo, stages: Stages) -> None:
    """Raise when the repository has other files where the paper and the tests belong."""
    wanted = (
        (task.paper_pdf(info), stages.fetched.path.read_bytes()),
        (
            task.paper_json(info),
            (json.dumps(stages.paper.to_json(), indent=2, ensure_ascii=False) + "\n").encode(),
        ),
    )
    for path, data in wanted:
        if path.is_symlink() or (path.exists() and not (path.is_file() and path.read_bytes() == data)):
            raise LmrError(
                f"the repository already has a {path.name}, where the task's paper belongs",
                "pass that file as the paper if it is the same, or use a fork of the repository without it",
            )
    tests = task.unit_test_folder(info)
    if tests.is_symlink() or (tests.exists() and not tests.is_dir()):
        raise LmrError(
            "the repository has a file unit_test, where the task's tests belong",
            "use a fork of the repository without it",
        )
