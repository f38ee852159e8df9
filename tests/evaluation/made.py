"""A masked function, and results of candidates, as tests make them."""

from __future__ import annotations

from lmr_author.evaluation.candidates.score import CaseScore, Outcome, Result, Score
from tests.evaluation.foreign import GOLDEN, MASKS, SOFTPLUS_BODY

MASKED = GOLDEN.replace(SOFTPLUS_BODY, MASKS["raises"])


def result(
    model: str = "m", outcome: Outcome = Outcome.PASSED, sample: int = 1, category: str = "c"
) -> Result:
    case = CaseScore("case_1", outcome, "why", 0.5)
    score = Score(outcome, "why", (case,), "recorded cases", "function", ("helper",), ("other",), 1.5, "log")
    return Result("7-Softplus", 1, model, sample, category, "0" * 64, score, {"kind": "local"}, 2)
