"""Many words are found in one pass as each of them by itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lmr_author.leaks.words import Words, searched

WORDS = st.frozensets(st.text("ab_é", min_size=1, max_size=5).map(str.encode), max_size=6)


@given(WORDS, st.lists(st.text("ab_é \n", max_size=9).map(str.encode), max_size=4).map(b"\0".join))
def test_what_is_found_is_what_stands_in_the_bytes(words: frozenset[bytes], data: bytes) -> None:
    assert searched(words).within(data) == {word for word in words if word in data}


def test_words_within_words_and_signs_are_found_as_they_stand() -> None:
    words = Words([b"loss", b"losses", b"a.b", b"axb", b"(x)*"])

    assert words.within(b"losses = a.b * f(x)**2") == {b"loss", b"losses", b"a.b", b"(x)*"}
    assert words.within(b"") == set()
