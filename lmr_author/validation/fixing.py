"""Repairing tasks: what would be changed, as a diff, and changing it, with a copy of everything that changes."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmr_author import files
from lmr_author.checks.lenient import readable
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding
from lmr_author.taskdir import AUTHORING, TaskDir
from lmr_author.validation.edits import Change, changes
from lmr_author.validation.fixes import edits_for
from lmr_author.validation.report import Report

ROUNDS = 4
"""A repair can bring up what was hidden, and that is repaired too: so many times at most."""


@dataclass(frozen=True)
class Plan:
    """What would be changed in one task."""

    task: TaskDir
    changes: tuple[Change, ...]

    @property
    def name(self) -> str:
        """Of the task, in characters that can be printed."""
        return readable(self.task.name)

    def diff(self) -> Iterator[str]:
        """The lines of a unified diff, and one for each file that is put aside."""
        for change in self.changes:
            path = f"{self.name}/{change.shown}"
            if change.before is None or change.after is None:
                yield f"moved {path} to {AUTHORING}/removed/"
                continue
            before, after = (
                data.decode("utf-8", "replace").split("\n") for data in (change.before, change.after)
            )
            yield from difflib.unified_diff(before, after, f"a/{path}", f"b/{path}", lineterm="")


def plan(report: Report) -> tuple[Plan, ...]:
    """What repairs the findings of a report that can be repaired; tasks without any are left out."""
    plans = (Plan(task.directory, _changes(task.directory, task.findings)) for task in report.tasks)
    return tuple(one for one in plans if one.changes)


def _changes(task: TaskDir, findings: Sequence[Finding]) -> tuple[Change, ...]:
    fixable = [finding for finding in findings if finding.fixable]
    if not fixable:
        return ()
    view = TaskView(task)
    return changes(view, [edit for finding in fixable for edit in edits_for(view, finding)])


def apply(plans: Iterable[Plan]) -> None:
    """Change the tasks.

    What was there is kept in ``authoring/removed/``. Raises UnsafePathError when that leads out of the task.
    """
    for one in plans:
        for change in one.changes:
            path = one.task.root / change.relative
            files.inside(one.task.root, f"{AUTHORING}/removed/{change.relative}")
            one.task.put_aside(path, copy=change.after is not None)
            if change.after is not None:
                files.write_bytes(path, change.after)
            else:
                _remove_if_empty(path.parent, one.task.root)


def repair(report: Report, again: Callable[[], Report]) -> tuple[Report, tuple[Plan, ...]]:
    """Repair tasks until nothing is left that can be; returns the last report, and what was changed.

    Args:
        report: of the tasks as they are; only what is in it is repaired.
        again: validates them once more, in the same way.
    """
    done: list[Plan] = []
    for _ in range(ROUNDS):
        plans = plan(report)
        if not plans:
            break
        apply(plans)
        done += plans
        report = again()
    return report, tuple(done)


def _remove_if_empty(folder: Path, root: Path) -> None:
    """A __pycache__ whose only file was moved away is of no use to anybody."""
    if folder.name == "__pycache__" and folder != root and not any(folder.iterdir()):
        folder.rmdir()
