"""The choice among recorded calls, and what is said of it."""

from __future__ import annotations

from pathlib import Path

from lmr_author.recording.calls import RecordedCall
from lmr_author.recording.choose import Catch, Options, additions, order_of_choice


def call(
    number: int, hits: set[int], size: int = 10, outcome: str = "returned", **summary: str
) -> RecordedCall:
    named = {name.replace("__", "."): text for name, text in summary.items()}
    return RecordedCall(number, Path(), frozenset(hits), size, named, outcome)


def numbers(calls: list[RecordedCall]) -> list[int]:
    return [item.number for item in order_of_choice(calls)]


def chosen(calls: list[RecordedCall], killed: dict[int, set[str]], wanted: int = 3) -> dict[int, str]:
    """Choose among calls; returns the number of each chosen one → what is said of it."""
    ordered = order_of_choice(calls)
    catch = Catch(ordered, {number: frozenset(names) for number, names in killed.items()})
    found = catch.choose(ordered, wanted)
    return additions(sorted(found, key=lambda item: item.number), catch)


def test_everything_covered_comes_before_anything_else() -> None:
    many = [call(n, {0, 1}, size=n) for n in range(1, 30)]
    rare = call(99, {0, 2}, size=5000)
    assert set(numbers([*many, rare])[:2]) == {1, 99}


def test_small_before_large_and_success_before_error() -> None:
    large, small = call(1, {0}, size=500), call(2, {0}, size=5)
    error = call(3, {0}, size=1, outcome="raised")
    assert numbers([small, large, error])[-1] == 3 or numbers([small, large, error])[0] == 2
    assert set(numbers([call(1, {0, 1}), call(2, {0, 1}), call(3, {0, 2}, outcome="raised")])[:2]) == {1, 3}


def test_an_attribute_of_self_is_an_option_like_an_argument() -> None:
    """A layer that is merged, one that is not: the same class, the same shapes, another result."""
    plain = [call(n, {0}, self="Linear", self__merged="False", x="tensor float32[4]") for n in range(1, 9)]
    merged = call(9, {0}, self="Linear", self__merged="True", x="tensor float32[4]")
    assert 9 in numbers([*plain, merged])[:2]
    assert "the only one with self.merged=True" in chosen([*plain, merged], {})[9]


def test_options_are_flags_texts_and_what_is_left_out_but_no_numbers() -> None:
    calls = [
        call(1, {0}, x="tensor float32[4]", beta="0.1", kind="'hinge'"),
        call(2, {0}, x="tensor float32[6]", beta="0.2", kind="'ipo'", mask="None"),
        call(3, {0}, x="tensor float32[6, 2]", beta="0.3", kind="'ipo'", items="list of 7"),
    ]
    options = Options(calls)
    assert options.of(calls[0]) >= {("kind", "'hinge'"), ("mask", "not given"), ("items", "not given")}
    assert ("items", "list of several") in options.of(calls[2])
    assert {path for item in calls for path, _ in options.of(item)} == {"kind", "mask", "items", "x"}
    assert ("x", "tensor float32 with 1 dimension") in options.of(calls[0]) & options.of(calls[1])


def test_three_cases_where_three_catch_all() -> None:
    calls = [call(n, {0}, x="1") for n in range(1, 20)]
    killed = {1: {"a", "b"}, 2: {"b", "c"}, 3: {"d"}, 4: {"a"}}
    assert set(chosen(calls, killed)) == {1, 2, 3}


def test_more_where_each_catches_something_and_twelve_at_most() -> None:
    calls = [call(n, {0}, x=str(n)) for n in range(1, 31)]
    found = chosen(calls, {n: {str(n)} for n in range(1, 6)})
    assert set(found) == {1, 2, 3, 4, 5}
    assert found[4] == "1 mutant fails only here; x=4"
    assert len(chosen(calls, {n: {str(n)} for n in range(1, 31)})) == 12


def test_a_case_whose_place_others_fill_is_dropped() -> None:
    """The second kills most and is taken first; the others together kill all that it does."""
    calls = [call(1, {0, 1}), call(2, {0}), call(3, {0, 2}), call(4, {0, 3})]
    assert set(chosen(calls, {1: {"a", "b"}, 2: {"a", "b", "c", "d"}, 3: {"c"}, 4: {"d"}})) == {1, 3, 4}
