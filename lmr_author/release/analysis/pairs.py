"""Two systems on the same problems: difference, interval, exact test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from statistics import mean

import numpy

from lmr_author.proof.evaluation.candidates.results import Z95
from lmr_author.release.analysis.observations import Observation
from lmr_author.release.analysis.tables import Cell, Problem, Table, groups, name_of, percent, samples_of

FINEST = 10_000
"""Differences are rounded to this part, where samples are so many and so unlike in number that it matters."""


def comparisons(observations: Sequence[Observation]) -> Table:
    """Return the comparison of every two systems that share judged problems. Needs statsmodels."""
    from statsmodels.stats.multitest import multipletests

    rates: dict[str, dict[Problem, Fraction]] = {}
    for group, answers in groups(observations).items():
        rates[name_of(group)] = {
            problem: Fraction(sum(own), len(own)) for problem, own in samples_of(answers).items()
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
    first: Mapping[Problem, Fraction], second: Mapping[Problem, Fraction], shared: Sequence[Problem]
) -> tuple[tuple[Cell, ...], float]:
    """Return the columns from ``A %`` on, and the p-value."""
    differences = [first[problem] - second[problem] for problem in shared]
    low, high = interval(differences)
    only = [
        sum(one[problem] > 0 == other[problem] for problem in shared)
        for one, other in ((first, second), (second, first))
    ]
    shares = [float(mean(rates[problem] for problem in shared)) for rates in (first, second)]
    shown = (*shares, float(mean(differences)), low, high)
    return (*map(percent, shown), *only), p_value(differences)


def interval(differences: Sequence[Fraction]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of paired differences, each from -1 to 1.

    Agresti and Min's (2005, https://doi.org/10.1002/sim.1781): with half a problem more that only the one solves,
    half a one that only the other solves, and one without a difference. So equal systems have an interval, too.
    """
    size = len(differences) + 2
    middle = sum(differences) / size
    spread = sum(each * each for each in differences) + 1 - size * middle**2
    half = Z95 * math.sqrt(spread) / size
    return max(-1.0, middle - half), min(1.0, middle + half)


def p_value(differences: Sequence[Fraction]) -> float:
    """Test whether each problem's difference could as well have the other sign: two-sided, over all ways, exact.

    With one sample each it is McNemar's exact test.
    """
    unit = min(math.lcm(*(each.denominator for each in differences)), FINEST)
    steps = [round(each * unit) for each in differences]
    chances = numpy.ones(1)  # of each sum, from the least on, two steps apart
    for step in filter(None, map(abs, steps)):
        shifted = numpy.zeros(len(chances) + step)
        shifted[: len(chances)] += chances / 2
        shifted[step:] += chances / 2
        chances = shifted
    sums: numpy.ndarray = 2 * numpy.arange(len(chances)) - (len(chances) - 1)
    return float(min(1.0, chances[abs(sums) >= abs(sum(steps))].sum()))
