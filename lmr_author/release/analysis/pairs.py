"""Two systems on the same problems: difference, interval, exact test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import mean

import numpy

from lmr_author.proof.evaluation.candidates.intervals import Z95
from lmr_author.release.analysis.observations import Observation
from lmr_author.release.analysis.tables import Cell, Problem, Table, groups, name_of, percent, samples_of

RESAMPLES = 9_999
SEED = 0


def comparisons(observations: Sequence[Observation]) -> Table:
    """Return the comparison of every two systems that share judged problems. Needs SciPy and statsmodels."""
    from statsmodels.stats.multitest import multipletests

    rates: dict[str, dict[Problem, float]] = {}
    for group, answers in groups(observations).items():
        rates[name_of(group)] = {
            problem: mean(map(float, own)) for problem, own in samples_of(answers).items()
        }
    rows: list[tuple[Cell, ...]] = []
    values: list[float] = []
    for first, second in combinations(rates, 2):
        if shared := sorted(rates[first].keys() & rates[second].keys()):
            row, value = _compared(rates[first], rates[second], shared)
            rows.append((first, second, len(shared), *row))
            values.append(value)
    adjusted = multipletests(values, method="holm")[1] if values else []
    rows = [
        (*row, float(f"{p:.3g}"), float(f"{holm:.3g}"))
        for row, p, holm in zip(rows, values, adjusted, strict=True)
    ]
    columns = ("A", "B", "shared problems", "A %", "B %", "A - B %", "low %", "high %", "only A solves",
               "only B solves", "p", "p (Holm)")  # fmt: skip
    note = (
        "On problems for which both have a judged answer. Interval: 95 %, clustered by problem. "
        "p: exact test of the differences' signs, which is McNemar's for one sample each."
    )
    return Table("pairs", "Two systems on the same problems", columns, tuple(rows), note)


def _compared(
    first: Mapping[Problem, float], second: Mapping[Problem, float], shared: Sequence[Problem]
) -> tuple[tuple[Cell, ...], float]:
    """Return the columns from ``A %`` on, and the p-value."""
    differences = [first[problem] - second[problem] for problem in shared]
    low, high = interval(differences)
    only = [
        sum(one[problem] > 0 == other[problem] for problem in shared)
        for one, other in ((first, second), (second, first))
    ]
    shares = [mean(rates[problem] for problem in shared) for rates in (first, second)]
    return (*map(percent, (*shares, mean(differences), low, high)), *only), p_value(differences)


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of paired differences, each from -1 to 1.

    Agresti and Min's (2005, https://doi.org/10.1002/sim.1781): with half a problem more that only the one solves,
    half a one that only the other solves, and one without a difference. So equal systems have an interval, too.
    """
    size = len(differences) + 2
    middle = sum(differences) / size
    spread = sum(each * each for each in differences) + 1 - size * middle**2
    half = Z95 * math.sqrt(spread) / size
    return max(-1.0, middle - half), min(1.0, middle + half)


def p_value(differences: Sequence[float]) -> float:
    """Test whether each problem's difference could as well have the other sign, two-sided.

    Differences of one size (one sample each) give a binomial test, which is McNemar's exact one. Others are permuted:
    all ways where they are few, else :data:`RESAMPLES` of them.
    """
    from scipy.stats import binomtest, permutation_test

    unequal = numpy.array([each for each in differences if each])
    if len(unequal) < 2:
        return 1.0
    if len(set(abs(unequal))) == 1:
        return float(binomtest(int((unequal > 0).sum()), len(unequal)).pvalue)
    found = permutation_test(
        (unequal,), numpy.sum, permutation_type="samples", n_resamples=RESAMPLES, batch=500, rng=SEED
    )
    return float(found.pvalue)
