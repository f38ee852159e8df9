"""What the checks find in tasks, for commands that look at tasks as a whole: status, review, report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lmr_author.checks.registry import ALL_CHECKS
from lmr_author.taskdir import TaskDir
from lmr_author.validation.report import Report, TaskReport
from lmr_author.validation.run import processors, validate
from lmr_author.validation.store import Store

STALE_RECORDS = "LMR803"
"""Finds an evaluation or sign-off of an earlier state. The commands that use this ask about each by itself:
as a finding, one reviewer's old sign-off would keep every other reviewer from signing off."""


def checked(tasks: Sequence[TaskDir], on_task: Callable[[TaskReport], None] | None = None) -> Report:
    """Validate tasks, and leave out what :data:`STALE_RECORDS` finds.

    All checks are run, so that the results are those that ``validate`` keeps: unchanged tasks are not even read.
    """
    store = Store.of_user([check.code for check in ALL_CHECKS])
    found = validate(tasks, ALL_CHECKS, on_task, store=store, jobs=processors())
    return Report(tuple(_without_stale_records(task) for task in found.tasks))


def _without_stale_records(task: TaskReport) -> TaskReport:
    findings = tuple(finding for finding in task.findings if finding.code != STALE_RECORDS)
    accepted = tuple(pair for pair in task.accepted if pair[0].code != STALE_RECORDS)
    return replace(task, findings=findings, accepted=accepted)
