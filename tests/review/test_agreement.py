"""The measures of agreement, against numbers worked out elsewhere."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.release.review.agreement import agreement


def table(columns: list[str]) -> dict[str, dict[str, str]]:
    """Person → thing → answer, from one text of answers for each person; ``.`` is no answer."""
    return {
        f"p{number}": {str(place): word for place, word in enumerate(column) if word != "."}
        for number, column in enumerate(columns)
    }


def test_cohen_of_the_usual_example() -> None:
    """20 both yes, 15 both no, 5 and 10 apart: kappa 0.4 (en.wikipedia.org/wiki/Cohen's_kappa)."""
    first = "y" * 20 + "y" * 5 + "n" * 10 + "n" * 15
    second = "y" * 20 + "n" * 5 + "y" * 10 + "n" * 15
    found = agreement(table([first, second]))
    assert found.cohen == pytest.approx(0.4)
    assert found.percent == pytest.approx(0.7)
    assert found.fleiss is None


def test_fleiss_of_the_usual_example() -> None:
    """Fourteen people, ten things, five categories: kappa 0.210 (en.wikipedia.org/wiki/Fleiss'_kappa)."""
    counts = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    rows = ["".join(word * n for word, n in zip("abcde", row, strict=True)) for row in counts]
    found = agreement(table(["".join(row[person] for row in rows) for person in range(14)]))
    assert found.fleiss == pytest.approx(0.20993, abs=1e-4)


def test_krippendorff_of_the_usual_example() -> None:
    """Four people, twelve things, gaps: nominal alpha 0.743 (Krippendorff, Computing alpha-reliability, 2011)."""
    found = agreement(table(["123321412...", "1233224125.3", ".3332342251.", "12332441251."]))
    assert found.krippendorff == pytest.approx(0.743, abs=5e-4)
    assert found.judged == 11


def test_measures_that_are_undefined() -> None:
    found = agreement(table(["ppp", "ppp", "ppp"]))
    assert (found.percent, found.fleiss, found.krippendorff) == (1.0, None, None)
    found = agreement(table(["pfp"]))
    assert (found.judged, found.percent, found.cohen, found.krippendorff) == (0, None, None, None)


answers = st.text(alphabet="pfu.", min_size=1, max_size=12)


@given(st.lists(answers, max_size=5))
def test_measures_are_shares_or_nothing(columns: list[str]) -> None:
    found = agreement(table(columns))
    for value in (found.percent, found.cohen, found.fleiss, found.krippendorff):
        assert value is None or (math.isfinite(value) and -1 - 1e-9 <= value <= 1 + 1e-9)


@given(answers)
def test_a_perfect_copy_agrees_perfectly(column: str) -> None:
    found = agreement(table([column, column]))
    assert found.percent in (None, 1.0)
    assert found.cohen is None or found.cohen == pytest.approx(1)
    assert found.krippendorff is None or found.krippendorff == pytest.approx(1)
