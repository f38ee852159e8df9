"""Functions of the annotator that compare: what they are given, and what their answers mean."""

from __future__ import annotations

import collections
from typing import Any

import numpy
import pytest

from lmr_author.runtime.probe.custom import verdict
from lmr_author.runtime.probe.encoding import encode

OUTCOME = encode({"value": {"scores": [1.0, 2.0], "name": "a"}})
PART = "value['scores']"


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
    assert verdict({"close": lambda expected, actual: answer}, "close", OUTCOME, OUTCOME, PART) == against


def test_a_function_is_given_the_part_of_both_sides() -> None:
    seen: list[Any] = []
    functions = {"note": lambda *sides: seen.extend(sides)}
    shared = [3.0]
    other = encode({"value": {"scores": shared, "name": "b", "same": shared}})
    for actual, path in ((other, PART), (other, "value['name']")):
        assert verdict(functions, "note", OUTCOME, actual, path) == ""
    assert verdict(functions, "note", other, other, "value['same']") == "", "it lies outside of this part"
    assert seen == [[1.0, 2.0], [3.0], "a", "b", [3.0], [3.0]]


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
