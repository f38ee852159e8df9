"""Evidence of models' answers: what every model solves may be too easy, what none solves may be unfair."""

from __future__ import annotations

from lmr_author.core.task import difficulty
from lmr_author.core.task.difficulty import Extreme
from lmr_author.release.review.evidence import Evidence, QuestionEvidence
from lmr_author.release.review.under_test import ReviewedTask

_ASKED = {Extreme.EVERY: "is it too easy?", Extreme.NONE: "is it fair?"}


def models_answers(reviewed: ReviewedTask, only: Extreme | None = None) -> QuestionEvidence:
    """Return what models' answers came to on each target; nothing where none were kept.

    Args:
        only: only targets of which this holds.
    """
    names = {target.implementation.index: target.implementation.qualname for target in reviewed.targets}
    lines = []
    for target in difficulty.current(reviewed.task):
        if target.index in names and (only is None or target.extreme is only):
            asked = f"; {target.extreme}: {_ASKED[target.extreme]}" if target.extreme else ""
            lines.append(f"{names[target.index]}: {target.text}{asked}")
    return QuestionEvidence((Evidence("Models' answers", tuple(lines)),) if lines else ())
