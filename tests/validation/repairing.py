"""Tasks that are repaired."""

from __future__ import annotations

from lmr_author.taskdir import TaskDir
from lmr_author.validation.fixing import repair
from lmr_author.validation.report import Report
from lmr_author.validation.run import validate


def repaired(task: TaskDir) -> Report:
    report, _ = repair(validate([task]), lambda: validate([task]))
    return report
