"""What a command line names: tasks, and an implementation of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from lmr_author.errors import UsageError
from lmr_author.model import Implementation, TaskInfo
from lmr_author.taskdir import TaskDir


def tasks_at(paths: Iterable[Path]) -> list[TaskDir]:
    """The tasks that some paths mean, each once. Raises NotATaskError for a path without any."""
    found = [task for path in paths for task in TaskDir.find_all(path)]
    return list({task.root.resolve(): task for task in found}.values())


def by_name(tasks: Sequence[TaskDir], result: str) -> dict[str, TaskDir]:
    """The tasks by the names of their folders.

    Args:
        result: what is told apart by these names alone, for the message.

    Raises UsageError when two folders have the same name: what belongs to one would be taken for the other's.
    """
    named: dict[str, TaskDir] = {}
    for task in tasks:
        other = named.setdefault(task.name, task)
        if other is not task:
            raise UsageError(
                f"{other.root} and {task.root} have the same name, and {result} are told apart by it",
                "name one of the two, then the other with an --out of its own",
            )
    return named


def implementation_of(info: TaskInfo, index: int | None) -> Implementation:
    """The implementation of an index, or the only one. Raises UsageError when it is not clear which."""
    known = [one.index for one in info.implementations]
    if index is None and len(known) == 1:
        index = known[0]
    if index not in known:
        listed = ", ".join(map(str, known)) or "none: nothing is masked"
        raise UsageError(f"which implementation? (there is {listed})", "add --implementation N")
    return next(one for one in info.implementations if one.index == index)
