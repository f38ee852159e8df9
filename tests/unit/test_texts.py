"""Texts for people: cut, counted, listed, and fit to be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.core.texts import counted, listed, printable, shortened, size_text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (999, "999 B"),
        (1000, "1.0 kB"),
        (19_917, "19.9 kB"),
        (1_300_000_000, "1.3 GB"),
    ],
)
def test_sizes_in_words(count: int, text: str) -> None:
    assert size_text(count) == text


@given(st.text(), st.integers(5, 50))
def test_printable_text_is_one_line_that_can_be_stored(text: str, limit: int) -> None:
    clean = printable(text, limit)
    assert clean.isprintable()
    assert len(clean) <= limit
    clean.encode("utf-8")


def test_only_what_is_too_long_is_cut() -> None:
    assert (shortened("loss", 4), shortened("losses", 4)) == ("loss", "los…")


def test_names_beyond_the_first_are_counted() -> None:
    assert listed(["a", "b"], 2) == "a, b"
    assert listed(["a", "b", "c", "d"], 2) == "a, b and 2 more"
    assert listed([], 2) == ""


def test_numbers_with_their_nouns() -> None:
    said = [counted(number, "page") for number in (0, 1, 2)]
    assert said == ["0 pages", "1 page", "2 pages"]
    assert [counted(number, "copy", "copies") for number in (1, 2)] == ["1 copy", "2 copies"]
