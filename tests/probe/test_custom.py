"""Functions of the annotator that compare: what they are given, and what their answers mean."""

from __future__ import annotations

import collections
from typing import Any

import numpy
import pytest

from lmr_author.probe.custom import verdict
from lmr_author.probe.encoding import encode

OUTCOME = encode({"value": {"scores": [1.0, 2.0], "name": "a"}})


def answered(answer: Any) -> str:
    """Return the verdict on an answer."""
    return verdict({"close": lambda expected, actual: answer}, "close", OUTCOME, OUTCOME, "value['scores']")


@pytest.mark.parametrize(
    ("answer", "against"),
    [
        (True, ""),
        (None, ""),
        ("", ""),
        (numpy.bool_(True), ""),
        (False, "close says no"),
        (numpy.bool_(False), "close says no"),
        (1, "close says no"),
        ([True], "close says no"),
        (numpy.array([True]), "close says no"),
        ("too far apart", "too far apart"),
        ("x" * 600, "x" * 500),
    ],
)
def test_what_an_answer_means(answer: Any, against: str) -> None:
    assert answered(answer) == against


def test_a_function_is_given_the_part_of_both_sides() -> None:
    seen: list[Any] = []
    other = encode({"value": {"scores": [3.0], "name": "b"}})
    assert (
        verdict({"note": lambda *sides: seen.extend(sides)}, "note", OUTCOME, other, "value['scores']") == ""
    )
    assert verdict({"note": lambda *sides: seen.extend(sides)}, "note", OUTCOME, other, "value['name']") == ""
    assert seen == [[1.0, 2.0], [3.0], "a", "b"]


def test_a_part_that_stands_elsewhere_is_read_there() -> None:
    shared = [1, 2]
    both = encode({"value": {"first": shared, "second": shared}})
    assert (
        verdict({"same": lambda one, other: one == [1, 2] == other}, "same", both, both, "value['second']")
        == ""
    )


class Weights(collections.UserList):  # type: ignore[type-arg]
    """A container that only the repository has."""


def test_what_cannot_be_judged_is_told() -> None:
    functions = {"fail": lambda *_: 1 / 0, "same": lambda *_: True}
    assert "has no function missing" in verdict(functions, "missing", OUTCOME, OUTCOME, "value")
    assert verdict(functions, "same", OUTCOME, OUTCOME, "value.other") == "there is no value.other"
    assert (
        verdict(functions, "fail", OUTCOME, OUTCOME, "value")
        == "fail raised ZeroDivisionError: division by zero"
    )
    own = encode({"value": Weights([1])})
    assert "a checker sees plain values only" in verdict(functions, "same", own, own, "value")
