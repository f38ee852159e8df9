"""Texts for people: cut, counted, listed, and fit to be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.core.texts import printable, size_text


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
