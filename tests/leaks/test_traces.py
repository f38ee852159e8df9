"""A trace is found in some bytes when too little of it is missing, and short words count by themselves only."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from lmr_author.leaks.solution import SHORT, Trace

WORDS = (b"log", b"exp", b"sum_", b"penalty", b"scores", b"mean_penalty", b"margin", b"xs")
PIECES = st.sampled_from([*WORDS, b" ", b"(", b"\\n", b"\\t", b"\n", b"_", b"x", b"1", b"\xff", b"\\"])


def _is_there(word: bytes, data: bytes) -> bool:
    """What the standard library's expressions say."""
    text = re.escape(word)
    alone = rb"(?:(?<!\w)|(?<=\\[nt]))%s(?!\w)" % text
    return re.search(alone if len(word) <= SHORT else text, data) is not None


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, unique=True),
    st.sampled_from([0.0, 0.2, 0.4, 1.0]),
    st.lists(PIECES, max_size=12).map(b"".join),
)
@example([b"log"], 0.0, b"\\nlog")
@example([b"log"], 0.0, b"\\\\xlog log")
@example([b"log"], 0.0, b"log")
@example([b"log", b"exp"], 0.0, b"logs log_ (log exp)")
def test_what_is_left_is_what_is_there_unless_too_much_is_missing(
    words: list[bytes], share: float, data: bytes
) -> None:
    trace = Trace.of(words, share)
    kept = [(word, weight) for word, weight in trace.words if _is_there(word, data)]
    missing = sum(weight for _, weight in trace.words) - sum(weight for _, weight in kept)

    found = trace.within(data, {word for word in WORDS if word in data})

    assert found is None or trace.may_be_in(data)
    if missing > trace.missing + 1e-9:
        assert found is None
    elif missing < trace.missing - 1e-9 or not missing:
        assert found is not None
        assert found.words == tuple(kept)
        assert abs(found.missing - (trace.missing - missing)) < 1e-9


def test_without_any_of_the_words_that_tell_most_a_trace_is_ruled_out_at_once() -> None:
    trace = Trace(((b"a", 1.0), (b"b", 1.0), (b"c", 0.5)), 1.0)

    assert trace.may_be_in(b"b") and not trace.may_be_in(b"c")
    assert Trace(((b"a", 1.0),), 1.0).may_be_in(b"")


def test_a_trace_needs_at_least_as_many_words_as_those_that_tell_most() -> None:
    assert Trace(((b"a", 1.0), (b"b", 1.0), (b"c", 0.5)), 0.0).least == 3
    assert Trace(((b"a", 1.0), (b"b", 1.0), (b"c", 0.5)), 0.5).least == 2
    assert Trace(((b"a", 1.0), (b"b", 1.0), (b"c", 0.5)), 1.0).least == 2
    assert Trace(((b"a", 1.0), (b"b", 1.0), (b"c", 0.5)), 2.5).least == 0
