"""What the checks find in tasks, for commands that look at tasks as a whole: status, review, report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lmr_author.task import Task
from lmr_author.validation.report import Report, TaskReport
from lmr_author.validation.run import processors, validate

STALE_RECORDS = "LMR803"
"""Finds an evaluation or sign-off of an earlier state. The commands that use this ask about each by itself:
as a finding, one reviewer's old sign-off would keep every other reviewer from signing off."""


def checked(tasks: Sequence[Task], on_task: Callable[[TaskReport], None] | None = None) -> Report:
    """Validate tasks, and leave out what :data:`STALE_RECORDS` finds."""
    found = validate(tasks, on_task=on_task, jobs=processors())
    return Report(tuple(_without_stale_records(task) for task in found.tasks))


def _without_stale_records(task: TaskReport) -> TaskReport:
    findings = tuple(finding for finding in task.findings if finding.code != STALE_RECORDS)
    accepted = tuple(pair for pair in task.accepted if pair[0].code != STALE_RECORDS)
    return replace(task, findings=findings, accepted=accepted)
