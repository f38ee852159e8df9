"""Tasks that are repaired."""

from __future__ import annotations

from lmr_author.core.task import Task
from lmr_author.proof.validation.repair import repair
from lmr_author.proof.validation.report import Report
from lmr_author.proof.validation.run import validate


def repaired(task: Task) -> Report:
    report, _ = repair(validate([task]), lambda: validate([task]))
    return report
