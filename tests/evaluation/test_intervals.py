"""Pass rates and their intervals: published values, samples that are not independent, and no width of zero."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.proof.evaluation.candidates.results import PassRate, pass_at, pass_rate, wilson


def ends(rate: PassRate) -> tuple[float, float]:
    return rate.low, rate.high


@pytest.mark.parametrize(
    ("passed", "judged", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662)],
)
def test_wilsons_interval(passed: int, judged: int, low: float, high: float) -> None:
    """81 of 263: the example in Newcombe 1998, https://pubmed.ncbi.nlm.nih.gov/9595616/."""
    assert wilson(passed / judged, judged) == pytest.approx((low, high), abs=5e-5)
    once = pass_rate([[number < passed] for number in range(judged)])
    assert ends(once) == pytest.approx((low, high), abs=5e-5), "one sample for each problem"


def test_the_same_samples_again_are_no_news() -> None:
    once = [[True], [False], [True], [True], [False]]
    assert ends(pass_rate([each * 9 for each in once])) == pytest.approx(ends(pass_rate(once)))


def test_problems_of_equal_rates_have_an_interval() -> None:
    """Three of four samples pass in each of four problems: as 12 of 16 independent ones."""
    alike = pass_rate([[True, True, True, False]] * 4)
    assert alike.share == 0.75
    assert ends(alike) == pytest.approx(wilson(0.75, 16))
    assert ends(alike) == pytest.approx((0.505, 0.898), abs=5e-4)
    assert ends(pass_rate([[True] * 9] * 4)) == pytest.approx(wilson(1, 4)), "no more than four problems"
    assert pass_rate([[True, False]]).low > 0, "a single problem"
    assert pass_rate([]) == PassRate(0.0, 0.0, 1.0)


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.integers(1, 6))
def test_pass_at_k_is_the_share_of_all_draws_of_k(samples: list[bool], k: int) -> None:
    if k <= len(samples):
        draws = [any(draw) for draw in combinations(samples, k)]
        assert pass_rate([samples], k).share == pytest.approx(sum(draws) / len(draws))


def test_pass_at_k_ends_where_a_problem_has_too_few_samples() -> None:
    rates = pass_at([[True, False, False], [False] * 12, []])
    assert list(rates) == [1, 2, 3], "a problem without samples has failed, whatever k is"
    assert [rate.share for rate in rates.values()] == pytest.approx([1 / 9, 2 / 9, 1 / 3])
    assert ends(rates[1]) == ends(pass_rate([[True, False, False], [False] * 12, []]))
    assert list(pass_at([[True] * 12])) == [1, 2, 5, 10, 12] and pass_at([]) == {}


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), min_size=1, max_size=40))
def test_the_interval_holds_the_share_and_has_a_width(samples: list[list[bool]]) -> None:
    rate = pass_rate(samples)
    assert 0 <= rate.low <= rate.share <= rate.high <= 1 and rate.high - rate.low > 0.01


def test_it_covers_the_truth_nine_times_of_ten_or_more() -> None:
    """Twenty problems of very different difficulty, five samples each; a Wilson interval of 100 samples would not."""
    draw, covered, naive = random.Random(1), 0, 0
    for _ in range(400):
        samples = [
            [draw.random() < rate for _ in range(5)]
            for rate in (draw.betavariate(0.4, 0.6) for _ in range(20))
        ]
        rate = pass_rate(samples)
        covered += rate.low <= 0.4 <= rate.high
        low, high = wilson(rate.share, 100)
        naive += low <= 0.4 <= high
    assert covered / 400 >= 0.92 and naive / 400 < 0.8
