"""Is a task fit for release, and if not, why: asked before anything is exported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lmr_author.core.errors import LmrError
from lmr_author.core.task import Finding, Severity, Task, TaskInfo, challenge
from lmr_author.core.task.challenge import Standing
from lmr_author.core.texts import listed
from lmr_author.proof.validation.run import checked
from lmr_author.release.reporting.status import status_with
from lmr_author.release.review.standing import DISPUTED, REJECTED, WAITING

NOT_REVIEWED = "not reviewed"


@dataclass(frozen=True)
class Exportable:
    """A task on its way out.

    Attributes:
        problems: why it is not fit for release, one line each; exports are marked with them.
        review: ``accepted``, ``disputed``, ``rejected``, or :data:`NOT_REVIEWED` while reviews are missing.
        findings: what `validate` finds.
    """

    task: Task
    info: TaskInfo
    problems: tuple[str, ...]
    review: str = NOT_REVIEWED
    findings: tuple[Finding, ...] = ()


def examine(tasks: Sequence[Task], *, challenged: bool = False) -> list[Exportable]:
    """Check tasks, their evaluations and their reviews. Raises LmrError for a task in which nothing is masked.

    Args:
        challenged: ask for a challenge that leaves nothing open, too.
    """
    exportables = []
    for task, report in zip(tasks, checked(tasks).tasks, strict=True):
        info = task.load()
        if not info.implementations:
            raise LmrError(
                f"{task.name}: nothing is masked, so there is nothing to export", "mask a function"
            )
        problems = []
        for finding in report.findings:
            if finding.severity is not Severity.NOTE:
                problems.append(f"{finding.code} {finding.path or task.name}: {finding.message}")
        # Without the findings, so that a task with findings is also reported as stale or never evaluated.
        standing = status_with(task, ())
        if "evaluated" not in standing.done:
            problems.append(standing.note)
        if standing.review in (DISPUTED, REJECTED):
            problems.append(f"{standing.review} by its reviewers ({standing.people})")
        if challenged and (problem := _challenge(task, info)):
            problems.append(problem)
        review = NOT_REVIEWED if standing.review == WAITING else standing.review
        exportables.append(Exportable(task, info, tuple(problems), review, tuple(report.findings)))
    return exportables


def _challenge(task: Task, info: TaskInfo) -> str:
    """Return why a task does not count as challenged; "" where it does."""
    standing, record = challenge.standing(task, info)
    if record is None:
        return "never challenged with misreadings and rewrites"
    if standing is Standing.STALE:
        return "changed since it was challenged, or a function of it never was"
    if standing is Standing.OPEN:
        names = [challenger.name for challenger in record.open]
        return f"its challenge leaves something open: {listed(names, 5)}"
    return ""
