"""The same work on a real Dask scheduler with two worker processes, one of which is killed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.core.errors import LmrError
from lmr_author.proof.evaluation.candidates.results import CandidateResult
from lmr_author.proof.evaluation.candidates.run import score
from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions
from lmr_author.proof.evaluation.verdict import Outcome
from lmr_author.runtime.cluster import connect
from tests.clusters import cluster_of
from tests.evaluation.foreign import PLAIN, STYLES, foreign_task

GOOD = "def softplus(x, beta=1.0):\n    return math.log1p(math.exp(-abs(beta * x))) / beta + max(x, 0.0)\n"
BAD = "def softplus(x, beta=1.0):\n    return x\n"


@pytest.mark.bwrap
@pytest.mark.timeout(600)
def test_a_worker_that_is_killed_costs_nothing(tmp_path: Path) -> None:
    task = foreign_task(tmp_path / "tasks", STYLES["asserts"])
    source = tmp_path / "predictions.jsonl"
    lines = [{"task": 7, "model": f"m{n}", "code": (GOOD, BAD)[n % 2]} for n in range(10)]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with cluster_of(tmp_path, 2) as (address, workers):
        seen: list[CandidateResult] = []

        def killing(result: CandidateResult, *_: object) -> None:
            seen.append(result)
            if len(seen) == 2:
                workers[0].kill()

        options = CandidateOptions(tmp_path / "out", where=PLAIN, scheduler=address, seconds=60)
        found = score([task], source, options, lambda _: None, killing)

        assert workers[0].wait() == -9
        assert [result.outcome for result in found.results] == [Outcome.PASSED, Outcome.FAILED] * 5
        again = score([task], source, options, lambda _: None, killing)
        assert again.resumed == 10 and len(seen) == 10
        assert [result.digest for result in again.results] == [result.digest for result in found.results]


def test_nobody_at_the_address_is_a_clear_error() -> None:
    with pytest.raises(LmrError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        connect("tcp://127.0.0.1:1", seconds=1)
