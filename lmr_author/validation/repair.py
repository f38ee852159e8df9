"""Apply fixes to tasks, or show them as a diff. A copy of everything that changes is kept."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lmr_author import files
from lmr_author.checks.view import TaskView, readable
from lmr_author.task import AUTHORING, Task
from lmr_author.validation.edits import Change
from lmr_author.validation.fixes import changes_for
from lmr_author.validation.report import Report

ROUNDS = 4
"""A fix can reveal another finding, which is fixed too: so many rounds at most."""


@dataclass(frozen=True)
class Plan:
    """The changes that fix one task."""

    task: Task
    changes: tuple[Change, ...]

    @property
    def name(self) -> str:
        """The task's name in characters that can be printed."""
        return readable(self.task.name)

    def diff(self) -> Iterator[str]:
        """Yield the lines of a unified diff, and one for each file that is put aside."""
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
    """Return the changes that fix what can be fixed of a report, for each task that has any."""
    plans = []
    for one in report.tasks:
        fixable = [finding for finding in one.findings if finding.fixable]
        if fixable and (changes := changes_for(TaskView(one.directory), fixable)):
            plans.append(Plan(one.directory, changes))
    return tuple(plans)


def repair(report: Report, again: Callable[[], Report]) -> tuple[Report, tuple[Plan, ...]]:
    """Fix tasks until nothing is left that can be fixed; return the last report and the changes made.

    Args:
        report: of the tasks as they are; only what is in it is fixed.
        again: validates them once more, in the same way.

    Raises:
        UnsafePathError: ``authoring/removed/`` leads out of the task.
    """
    done: list[Plan] = []
    for _ in range(ROUNDS):
        plans = plan(report)
        if not plans:
            break
        for one in plans:
            _apply(one)
        done += plans
        report = again()
    return report, tuple(done)


def _apply(one: Plan) -> None:
    for change in one.changes:
        path = one.task.root / change.relative
        files.inside(one.task.root, f"{AUTHORING}/removed/{change.relative}")
        one.task.put_aside(path, copy=change.after is not None)
        if change.after is not None:
            files.write_bytes(path, change.after)
        elif path.parent.name == "__pycache__" and not any(path.parent.iterdir()):
            path.parent.rmdir()
