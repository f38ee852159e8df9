"""The choice among recorded calls, their coverage, and advice about large ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.recording.calls import (
    RecordedCall,
    Room,
    coverage,
    hits_of,
    order_of_choice,
    too_large_advice,
    too_much,
)
from lmr_author.task.recording import Coverage

MB = 2**20


def call(
    number: int, hits: set[int], size: int = 10, outcome: str = "returned", **summary: str
) -> RecordedCall:
    return RecordedCall(number, Path(), frozenset(hits), size, summary, outcome)


def numbers(calls: list[RecordedCall]) -> list[int]:
    return [item.number for item in order_of_choice(calls)]


def test_a_call_made_superfluous_by_later_ones_gives_its_place_to_a_different_one() -> None:
    """Preference loss: plain, smoothed, ipo, reference-free. Two cover all; the smoothed one differs most."""
    plain = call(1, {0, 1, 3}, beta="float")
    smoothed = call(2, {0, 1, 3}, beta="float", label_smoothing="float")
    ipo = call(3, {0, 1, 2}, beta="float", ipo="True")
    free = call(4, {0, 3, 4}, beta="float", reference_free="True")
    assert set(numbers([plain, smoothed, ipo, free])[:3]) == {2, 3, 4}
    assert set(numbers([plain, plain, ipo, free])[:2]) == {3, 4}


def test_everything_covered_comes_before_anything_else() -> None:
    many = [call(n, {0, 1}, size=n) for n in range(1, 30)]
    rare = call(99, {0, 2}, size=5000)
    assert set(numbers([*many, rare])[:2]) == {1, 99}


def test_small_before_large_and_success_before_error() -> None:
    large, small = call(1, {0}, size=500), call(2, {0}, size=5)
    error = call(3, {0}, size=1, outcome="raised")
    assert numbers([large, small, error])[0] == 2
    assert numbers([large, small, error])[-1] == 3


def test_an_error_that_alone_reaches_a_branch_is_chosen() -> None:
    assert set(numbers([call(1, {0, 1}), call(2, {0, 1}), call(3, {0, 2}, outcome="raised")])[:2]) == {1, 3}


def test_lines_that_no_call_executes() -> None:
    blocks = {0: 10, 1: 12, 2: 14, 3: 12}
    assert coverage(hits_of([call(1, {0, 1})]), blocks, {}) == Coverage((10, 12), (14,))
    assert coverage(hits_of([call(1, {0, 1, 2, 3})]), blocks, {}) == Coverage((10, 12, 14), ())
    assert coverage(hits_of([]), blocks, {}) == Coverage((), (10, 12, 14))


def test_a_condition_is_never_false_when_it_was_asked_and_always_held() -> None:
    blocks, absent = {0: 10, 1: 12, 2: 11}, {2: 1}
    assert coverage(hits_of([call(1, {0, 1})]), blocks, absent) == Coverage((10, 12), (), (11,))
    assert coverage(hits_of([call(1, {0, 1}), call(2, {0, 2})]), blocks, absent) == Coverage((10, 12), ())
    assert coverage(hits_of([call(1, {0, 2})]), blocks, absent) == Coverage((10,), (12,))
    assert coverage(hits_of([call(1, {0})]), blocks, absent) == Coverage((10,), (12,)), (
        "the condition was never asked"
    )


def test_other_recordings_take_room() -> None:
    assert Room(10 * MB).left == 10 * MB
    assert Room(10 * MB, {"a.py::f": 3 * MB, "a.py::g": 4 * MB}).left == 3 * MB
    assert Room(10 * MB, {"a.py::f": 30 * MB}).left == 0


def test_a_call_without_room_names_who_has_it_and_a_remedy(tmp_path: Path) -> None:
    large = RecordedCall(1, tmp_path, frozenset(), 6 * MB, {"x": "tensor float32 [1000, 1500]"})
    advice = too_much(large, Room(10 * MB, {"a.py::f": 7 * MB}))

    assert "10.0 MB in all, 7.0 MB of it taken by a.py::f" in advice
    assert "x[:150] instead of all 1000 rows" in advice
    assert advice.endswith("--max-total-mb 16")


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("x: 40000000 bytes, more than the limit of 8000000 (x: [500, 20000], y: [500])", "x[:90] instead of all 500"),
        ("self.table: 40000000 bytes, more than the limit of 8000000", "--max-mb 39"),
        ("x: nothing of the kind", "--max-mb"),
    ],
)  # fmt: skip
def test_advice_about_a_call_that_was_too_large(reason: str, advice: str) -> None:
    assert advice in too_large_advice(reason)
