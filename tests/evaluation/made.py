"""A masked function, and results of candidates, as tests make them."""

from __future__ import annotations

from lmr_author.proof.evaluation.candidates.results import CandidateResult
from lmr_author.proof.evaluation.verdict import CaseScore, Outcome
from tests.evaluation.foreign import GOLDEN, MASKS, SOFTPLUS_BODY

MASKED = GOLDEN.replace(SOFTPLUS_BODY, MASKS["raises"])


def result(
    model: str = "m", outcome: Outcome = Outcome.PASSED, sample: int = 1, category: str = "c"
) -> CandidateResult:
    case = CaseScore("case_1", outcome, "why", 0.5)
    return CandidateResult(
        task="7-Softplus",
        index=1,
        model=model,
        sample=sample,
        category=category,
        outcome=outcome,
        reason="why",
        method="recorded cases",
        cases=(case,),
        kept=("helper",),
        seconds=1.5,
        environment={"kind": "local"},
        digest="0" * 64,
    )
