"""Shares, intervals and estimates over results."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.evaluation.candidates.results import summary, wilson
from lmr_author.evaluation.candidates.run import Pace
from lmr_author.evaluation.verdict import Outcome
from tests.evaluation.made import result


def test_the_estimate_counts_only_what_this_run_judged() -> None:
    pace = Pace(10)
    pace.skip()
    assert pace.seconds_left is None and pace.done == 1
    pace.step()
    assert pace.seconds_left is not None and pace.seconds_left >= 0


@pytest.mark.parametrize(
    ("passed", "judged", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (0, 0, 0.0, 1.0),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_wilsons_interval(passed: int, judged: int, low: float, high: float) -> None:
    """81 of 263: the example in Newcombe 1998, https://pubmed.ncbi.nlm.nih.gov/9595616/."""
    found = wilson(passed, judged)

    assert found == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 500), st.integers(0, 500))
def test_the_interval_holds_the_share(passed: int, more: int) -> None:
    low, high = wilson(passed, passed + more)

    assert 0 <= low <= high <= 1
    if passed + more:
        assert low <= passed / (passed + more) <= high


def test_what_could_not_be_judged_is_apart() -> None:
    outcomes = [*Outcome, Outcome.PASSED]
    rows = summary(result("m", outcome, number) for number, outcome in enumerate(outcomes))

    assert [(row.category, row.judged, row.passed, row.infrastructure) for row in rows] == [
        ("c", 6, 2, 1),
        ("all", 6, 2, 1),
    ]
