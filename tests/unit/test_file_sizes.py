"""Files: what is said of them."""

from __future__ import annotations

import pytest

from lmr_author import files


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (19_917, "19.9 kB"),
        (120_400_000, "120 MB"),
        (1_300_000_000, "1.3 GB"),
        (2 * 10**12, "2000.0 GB"),
    ],
)
def test_sizes_in_words(count: int, text: str) -> None:
    assert files.size_text(count) == text
