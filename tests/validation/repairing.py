"""Tasks that are repaired."""

from __future__ import annotations

from lmr_author.core.task import Task
from lmr_author.proof.validation.repair import plan
from lmr_author.proof.validation.report import Report
from lmr_author.proof.validation.run import validate


def repaired(task: Task) -> Report:
    for repairs in plan(validate([task])):
        repairs.apply()
    return validate([task])
