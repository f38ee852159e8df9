"""Pass rates over problems with several samples each, and their 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import mean, variance

Z95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""


COUNTS = (1, 2, 5, 10, 20, 50, 100)
"""The k of pass@k, with the number of samples that every problem has."""


@dataclass(frozen=True)
class PassRate:
    """The mean over problems of the chance that one of k samples passes (pass@k), and its 95 % interval; 0 to 1."""

    share: float
    low: float
    high: float


def pass_at(samples: Collection[Sequence[bool]]) -> dict[int, PassRate]:
    """Measure pass@k for each k of :data:`COUNTS` up to the number of samples that every problem has, and for that one.

    A problem without samples has failed, whatever k is.
    """
    fewest = min((len(each) for each in samples if each), default=0)
    return {k: pass_rate(samples, k) for k in sorted({*COUNTS, fewest}) if 1 <= k <= fewest}


def pass_rate(samples: Collection[Sequence[bool]], k: int = 1) -> PassRate:
    """Measure pass@k over problems; samples of one problem are not independent.

    A problem's chance is the unbiased estimate of Chen and others (2021, https://arxiv.org/abs/2107.03374).
    The interval is Wilson's with the effective sample size ``share * (1 - share) / variance of the share``, which
    Franco, Little, Louis and Slud recommend for clustered samples (2019, https://pmc.ncbi.nlm.nih.gov/articles/PMC6690503).
    The effective size is at least the number of problems, as if all samples of a problem were one, and at most what
    independent samples would give. So one sample for each problem gives Wilson's own interval, and problems that all
    have the same rate give no interval without width.

    Args:
        samples: for each problem, whether each of its samples passed: k or more, or none for a problem that failed.
    """
    if not samples:
        return PassRate(0.0, 0.0, 1.0)
    rates = [_chance(len(each), sum(each), k) for each in samples]
    problems, share = len(rates), mean(rates)
    most = problems**2 / sum(k / max(len(each), k) for each in samples)
    between = variance(rates) / problems if problems > 1 else 0.0
    within = share * (1 - share)
    size = max(problems, min(most, within / between)) if between else most if within else problems
    return PassRate(share, *wilson(share, size))


def _chance(samples: int, passed: int, k: int) -> float:
    """Return the chance that one of k samples passes, drawn from these without putting back; 0 without samples."""
    return 1 - math.comb(samples - passed, k) / math.comb(samples, k) if samples else 0.0


def wilson(share: float, size: float) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share (Wilson 1927, https://doi.org/10.1080/01621459.1927.10502953)."""
    z = Z95
    scale = 1 + z * z / size
    middle = (share + z * z / (2 * size)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return (0.0 if share == 0 else middle - half), (1.0 if share == 1 else middle + half)
