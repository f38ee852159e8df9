"""The coverage of recorded calls, and advice about large ones."""

from __future__ import annotations

from pathlib import Path

from lmr_author.authoring.recording.choose import too_much
from lmr_author.authoring.recording.run import RecordedCall, coverage
from lmr_author.core.task.recording import Coverage

MB = 2**20


def test_lines_that_no_call_executes() -> None:
    blocks = {0: 10, 1: 12, 2: 14, 3: 12}
    assert coverage(frozenset({0, 1}), blocks, {}) == Coverage((10, 12), (14,))
    assert coverage(frozenset({0, 1, 2, 3}), blocks, {}) == Coverage((10, 12, 14), ())
    assert coverage(frozenset(), blocks, {}) == Coverage((), (10, 12, 14))


def test_a_condition_is_never_false_when_it_was_asked_and_always_held() -> None:
    blocks, absent = {0: 10, 1: 12, 2: 11}, {2: 1}
    assert coverage(frozenset({0, 1}), blocks, absent) == Coverage((10, 12), (), (11,))
    assert coverage(frozenset({0, 1} | {0, 2}), blocks, absent) == Coverage((10, 12), ())
    assert coverage(frozenset({0, 2}), blocks, absent) == Coverage((10,), (12,))
    assert coverage(frozenset({0}), blocks, absent) == Coverage((10,), (12,)), "the condition was never asked"


def test_a_call_without_room_names_what_is_left_and_a_remedy(tmp_path: Path) -> None:
    large = RecordedCall(1, tmp_path, frozenset(), 6 * MB, {"x": "tensor float32 [1000, 1500]"})
    advice = too_much(large, 3 * MB)

    assert "32.0 MB in all, of which its other functions leave 3.1 MB" in advice
    assert advice.endswith("slice the batch in the driver")
