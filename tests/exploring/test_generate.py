"""Generated calls: what they are made of, what they keep of the recorded ones, and that each is a call."""

from __future__ import annotations

import ast
import itertools
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmr_author.core.code import FunctionNode
from lmr_author.proof.exploring.generate import GeneratedCall, generate
from lmr_author.runtime.probe import checking
from lmr_author.runtime.probe.decoding import decode
from lmr_author.runtime.probe.document import Document
from lmr_author.runtime.probe.encoding import encode

CODE = "def f(x, n=2, mode='mean', *, late=False):\n    return 7 if mode == 'sum' else x\n"


def function(source: str = CODE) -> FunctionNode:
    found = ast.parse(source).body[0]
    assert isinstance(found, ast.FunctionDef)
    return found


def made(
    *calls: dict[str, Any], bold: bool = False, most: int = 300, seed: int = 0, source: str = CODE
) -> list[GeneratedCall]:
    named = [(f"call {number}", encode(call)) for number, call in enumerate(calls, 1)]
    return list(itertools.islice(generate(named, function(source), bold=bold, seed=seed), most))


def values(found: list[GeneratedCall]) -> list[dict[str, Any]]:
    return [decode(each.document) for each in found]


def test_arguments_of_several_calls_are_put_together() -> None:
    found = made({"x": "a b", "n": 1}, {"x": "c d", "n": 5})
    pairs = {(call["x"], call["n"]) for call in values(found)}
    assert {("a b", 5), ("c d", 1)} <= pairs
    assert {"call 1 with n of call 2", "call 1 with x of call 2"} & {each.made_of for each in found}


def test_an_argument_that_some_call_lacks_may_be_left_out() -> None:
    found = values(made({"x": 1, "n": 3}, {"x": 2}))
    assert {"x": 1} in found and {"x": 2, "n": 3} in found


def test_a_dictionary_may_have_a_key_that_is_called_id() -> None:
    found = values(made({"x": {"id": "a"}, "n": 1}, {"x": {"id": "b"}, "n": 2}))
    assert {"x": {"id": "a"}, "n": 2} in found


def test_it_is_known_where_a_number_has_a_sign_that_no_other_has() -> None:
    source = "def f(x, scale=2.0, shift=0.0):\n    return x * scale + shift\n"
    calls = [{"x": numpy.array([0.5, 2.0]), "y": 3}, {"x": numpy.array([1.0, 4.0]), "y": 2}]
    found = made(*calls, bold=True, most=600, source=source)
    odd: dict[str, int] = dict.fromkeys(("x", "scale", "shift", "y"), 0)
    for call, each in zip(values(found), found, strict=True):
        signs = {
            "x": bool(call["x"].size) and call["x"].min() <= 0,
            "scale": call.get("scale", 2.0) <= 0,
            "shift": call.get("shift", 0.0) < 0,
            "y": call["y"] <= 0,
        }
        assert each.keeps_signs == (not any(signs.values())), call
        for name, is_odd in signs.items():
            odd[name] += is_odd
    assert all(odd.values()), "bold calls try them all the same"


def test_sizes_that_are_equal_in_every_call_stay_equal() -> None:
    calls = [{"x": list(range(size)), "y": list(range(size)), "n": size} for size in (2, 3, 5)]
    found = values(made(*calls))
    sizes = {len(call["x"]) for call in found}
    assert all(len(call["x"]) == len(call["y"]) == call["n"] for call in found)
    assert 4 in sizes and sizes <= {2, 3, 4, 5}


def test_numbers_that_never_exceed_others_never_do() -> None:
    calls = [
        {"n": 10, "c": [0, 3, 10], "k": 2},
        {"n": [10, 20], "c": [0, 3], "k": 5},
        {"n": numpy.array([4, 9]), "c": numpy.array([4, 6]), "k": 3},
    ]
    found = values(made(*calls))
    assert len(found) > 20
    for call in found:
        assert (numpy.array(call["c"]) <= numpy.array(call["n"])).all(), call
        assert (call["k"] <= numpy.array(call["n"])).all(), call


class Layer:
    def __init__(self, size: int) -> None:
        self.size, self.weights, self.bias = size, numpy.ones((size, size)), True


def test_an_object_stays_with_what_has_its_size() -> None:
    calls = []
    for size, rows in ((2, 1), (3, 4), (4, 2)):
        calls.append({"self": Layer(size), "x": numpy.linspace(0, 1, rows * size).reshape(rows, size)})
    careful, bold = made(*calls), made(*calls, bold=True, most=600)
    assert len(careful) > 20
    for call in values(careful):
        assert call["x"].shape[1] == call["self"].size == len(call["self"].weights)
    objects = [call["self"] for call in values(bold)]
    assert all(layer.size == len(layer.weights) for layer in objects)
    assert not all(layer.bias for layer in objects), "an option of an object may change"


def test_numbers_and_sizes_stay_within_those_that_were_seen() -> None:
    calls = [{"x": numpy.array([[0.5, 2.0], [1.0, 4.0]]), "n": 3}, {"x": numpy.array([[3.5, 1.5]]), "n": 7}]
    found = values(made(*calls))
    assert len(found) > 50
    for call in found:
        assert call["x"].min() >= 0.5 and call["x"].max() <= 4 and 3 <= call["n"] <= 7
        assert call["x"].shape in ((1, 2), (2, 2))


@pytest.mark.parametrize(
    ("rows", "holds"),
    [
        ([[0.25, 0.75], [0.5, 0.5]], lambda x: numpy.allclose(x.sum(axis=-1), 1)),
        ([[1, 1, 0], [1, 0, 0]], lambda x: (numpy.diff(x) <= 0).all()),
        ([[2, 0], [0, 3]], lambda x: (x == x.T).all()),
        ([1, 4, 9], lambda x: len(set(x.tolist())) == x.size),
        ([2.0, 3.0, 8.0], lambda x: (x == numpy.round(x)).all()),
    ],
    ids=["distributions", "masks", "symmetric", "without ties", "whole numbers"],
)
def test_what_holds_of_every_array_still_holds(rows: list[Any], holds: Any) -> None:
    one, other = numpy.array(rows), numpy.flip(numpy.array(rows), 0).copy()
    calls = [{"x": one}, {"x": other if holds(other) else one, "n": 1}]
    found = values(made(*calls))
    assert found and all(holds(call["x"]) for call in found)


def test_the_parts_of_a_record_keep_their_forms() -> None:
    calls = [
        {"x": (["a", "b"], [["c", ["d"]], ["e", ["f", "g"]]], 2)},
        {"x": (["h"], [["i", ["j"]]], 5)},
        {"x": (["k", "a", "b"], [["l", []], ["i", ["j"]], ["c", ["d"]]], 3)},
    ]
    found = values(made(*calls))
    assert len(found) > 30
    for words, pairs, number in (call["x"] for call in found):
        assert all(isinstance(word, str) for word in words) and type(number) is int
        assert all(isinstance(name, str) and isinstance(value, list) for name, value in pairs)


def test_a_careful_call_has_no_word_that_was_not_seen() -> None:
    found = values(made({"x": "the cat sat"}, {"x": "a dog ran off"}))
    words = {word for call in found for word in call["x"].split(" ")}
    assert len(found) > 10 and words <= {"the", "cat", "sat", "a", "dog", "ran", "off"}


def test_a_bold_call_sets_what_no_driver_set() -> None:
    """Options that no call gives, numbers and texts of the code, letters and sizes that were not seen."""
    found = made({"x": "the cat"}, {"x": "a dog"}, bold=True, most=800)
    calls = values([each for each in found if not each.is_within])
    assert {True} <= {call["late"] for call in calls if "late" in call}
    assert {"sum"} & {call.get("mode") for call in calls}
    assert {7} & {call.get("n") for call in calls}
    assert any(not call["x"].isascii() for call in calls) and any(call["x"] == "" for call in calls)


def test_attributes_of_the_object_are_set_in_bold_calls_only() -> None:
    node = {
        "$": "object",
        "cls": "m:Loss",
        "state": {"margin": 1.0, "hard": False, "inner": {"$": "dict", "v": []}},
    }
    named = [(f"call {n}", Document({"self": node, "x": n}, {})) for n in (1, 2)]
    code = function("def forward(self, x):\n    return x\n")
    careful = itertools.islice(generate(named, code, bold=False), 100)
    bold = list(itertools.islice(generate(named, code, bold=True), 300))
    assert all(each.document.tree["self"] == node for each in careful)
    assert {each.document.tree["self"]["state"]["hard"] for each in bold} == {False, True}


def test_objects_that_two_arguments_share_stay_in_their_call() -> None:
    shared = [1, 2]
    found = made({"x": shared, "y": {"same": shared}}, {"x": [3], "y": {"same": [3]}})
    calls = values([each for each in found if each.made_of.startswith("call 1")])
    assert len(calls) > 1 and all(call["x"] is call["y"]["same"] for call in calls)


def test_nothing_is_made_of_what_cannot_be_changed() -> None:
    assert made({"x": None}) == []


def test_the_same_calls_give_the_same_and_recorded_ones_stay_as_they_are() -> None:
    calls = [
        ("call 1", encode({"x": numpy.arange(300.0), "n": 1})),
        ("call 2", encode({"x": numpy.arange(9.0)})),
    ]
    before = [checking.to_bytes(document) for _, document in calls]
    first, second = (
        [
            checking.to_bytes(each.document)
            for each in itertools.islice(generate(calls, function(), bold=True), 60)
        ]
        for _ in range(2)
    )
    assert first == second and len(set(first)) == 60
    assert before == [checking.to_bytes(document) for _, document in calls]


plain = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.text(max_size=6)
arrays = st.sampled_from(
    [numpy.zeros((2, 3), "f4"), numpy.arange(4), numpy.ones(2, bool), numpy.zeros((0, 2)), numpy.float32(2)]
)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, max_size=3) | st.tuples(inner, inner)
    return lists | st.dictionaries(st.text(max_size=3), inner, max_size=2) | st.frozensets(st.integers(0, 9))


parts = st.recursive(plain | arrays, containers, max_leaves=5)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.fixed_dictionaries({"x": parts}, optional={"n": parts}), min_size=1, max_size=3),
    st.booleans(),
)
def test_each_is_a_document_that_can_be_read(calls: list[dict[str, Any]], bold: bool) -> None:
    for each in made(*calls, bold=bold, most=40):
        read = checking.from_bytes(checking.to_bytes(each.document))
        assert set(decode(read)) <= {"x", "n", "mode", "late"}
