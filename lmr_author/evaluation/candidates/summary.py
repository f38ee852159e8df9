"""How often candidates pass, by model and category, with intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lmr_author.evaluation.candidates.score import Outcome, Result

Z95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""

ALL = "all"


def wilson(passed: int, judged: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share (Wilson 1927, https://doi.org/10.1080/01621459.1927.10502953)."""
    if judged == 0:
        return 0.0, 1.0
    share, z = passed / judged, Z95
    scale = 1 + z * z / judged
    middle = (share + z * z / (2 * judged)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / judged + z * z / (4 * judged * judged))
    return (0.0 if passed == 0 else middle - half), (1.0 if passed == judged else middle + half)


@dataclass(frozen=True)
class Row:
    """Candidates of one model in one category, or in ``all``.

    Attributes:
        judged: those with a verdict; ``infrastructure`` is apart from them.
        low, high: 95 % interval of the share that passes.
    """

    model: str
    category: str
    judged: int
    passed: int
    failed: int
    timeout: int
    crashed: int
    invalid: int
    infrastructure: int
    share: float
    low: float
    high: float

    def to_json(self) -> dict[str, Any]:
        """The row as an object."""
        return {
            key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(self).items()
        }


def summary(results: Iterable[Result]) -> list[Row]:
    """A row for each model and category, and one for all of a model's."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        for category in (ALL, result.category or "(no category)"):
            groups.setdefault((result.model, category), []).append(result)
    ordered = sorted(groups, key=lambda group: (group[0], group[1] == ALL, group[1]))
    return [_row(*group, groups[group]) for group in ordered]


def _row(model: str, category: str, results: Sequence[Result]) -> Row:
    counts = Counter(result.score.outcome for result in results)
    judged = len(results) - counts[Outcome.INFRASTRUCTURE]
    passed = counts[Outcome.PASSED]
    low, high = wilson(passed, judged)
    return Row(
        model,
        category,
        judged,
        passed,
        counts[Outcome.FAILED],
        counts[Outcome.TIMEOUT],
        counts[Outcome.CRASHED],
        counts[Outcome.INVALID],
        counts[Outcome.INFRASTRUCTURE],
        passed / judged if judged else 0.0,
        low,
        high,
    )
