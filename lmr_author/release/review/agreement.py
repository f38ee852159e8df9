"""Measures of agreement between people who judged the same things.

- percent: share of equal judgements among all pairs of people who judged a thing (A. Scott, 1955, "observed").
- Cohen's kappa for two people (J. Cohen, 1960), Fleiss' kappa for more (J. L. Fleiss, 1971): agreement beyond
  chance. Both leave out things that not everybody judged.
- Krippendorff's alpha (K. Krippendorff, 2011), nominal: the same with missing judgements allowed.

A measure is None when it is undefined: nothing was judged twice, or all judgements are equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any


@dataclass(frozen=True)
class Agreement:
    """Shares from 0 to 1; kappa and alpha from -1 to 1."""

    people: int
    judged: int
    percent: float | None
    cohen: float | None
    fleiss: float | None
    krippendorff: float | None

    @property
    def coefficients(self) -> list[tuple[str, str]]:
        """The defined coefficients by name, with two digits."""
        named = (
            ("Cohen's kappa", self.cohen),
            ("Fleiss' kappa", self.fleiss),
            ("Krippendorff's alpha", self.krippendorff),
        )
        return [(name, f"{value:.2f}") for name, value in named if value is not None]

    def to_json(self) -> dict[str, Any]:
        return {
            name: round(value, 4) if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }


def agreement(judgements: Mapping[str, Mapping[str, str]]) -> Agreement:
    """Measure the agreement of judgements: person → item → answer."""
    people = sorted(judgements)
    questions = sorted(set().union(*judgements.values()))
    rows = []
    for question in questions:
        rows.append([judgements[person][question] for person in people if question in judgements[person]])
    twice = [row for row in rows if len(row) > 1]
    complete = [row for row in twice if len(row) == len(people)]
    return Agreement(
        len(people),
        len(twice),
        _percent(twice),
        _cohen(complete) if len(people) == 2 else None,
        _fleiss(complete) if len(people) > 2 else None,
        _krippendorff(judgements, people, questions, twice),
    )


def _percent(rows: Sequence[Sequence[str]]) -> float | None:
    pairs = [first == second for row in rows for first, second in combinations(row, 2)]
    return sum(pairs) / len(pairs) if pairs else None


def _cohen(rows: Sequence[Sequence[str]]) -> float | None:
    if not rows:
        return None
    first, second = Counter(row[0] for row in rows), Counter(row[1] for row in rows)
    by_chance = sum(first[word] * second[word] for word in first) / len(rows) ** 2
    observed = sum(row[0] == row[1] for row in rows) / len(rows)
    return _beyond(observed, by_chance)


def _fleiss(rows: Sequence[Sequence[str]]) -> float | None:
    if not rows:
        return None
    raters = len(rows[0])
    within = [sum(n * (n - 1) for n in Counter(row).values()) / (raters * (raters - 1)) for row in rows]
    total = Counter(word for row in rows for word in row)
    by_chance = sum((n / (raters * len(rows))) ** 2 for n in total.values())
    return _beyond(sum(within) / len(rows), by_chance)


def _beyond(observed: float, by_chance: float) -> float | None:
    return None if by_chance >= 1 - 1e-12 else (observed - by_chance) / (1 - by_chance)


def _krippendorff(
    judgements: Mapping[str, Mapping[str, str]],
    people: Sequence[str],
    questions: Sequence[str],
    twice: Sequence[Sequence[str]],
) -> float | None:
    words = sorted({word for row in twice for word in row})
    if len(words) < 2:
        return None
    import krippendorff

    codes = {word: float(code) for code, word in enumerate(words)}
    missing = float("nan")
    table = []
    for person in people:
        table.append([codes.get(judgements[person].get(question, ""), missing) for question in questions])
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))


def majority(judgements: Mapping[str, str]) -> str:
    """Return the answer of more than half of the people; "" for no answers, "disputed" without a majority."""
    if not judgements:
        return ""
    answer, count = Counter(judgements.values()).most_common(1)[0]
    return answer if 2 * count > len(judgements) else "disputed"
