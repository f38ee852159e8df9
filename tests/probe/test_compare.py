# ruff: noqa: E501 (samples of source code and tables of cases read better unbroken)
"""Differences are found, placed and explained; equal things are equal."""

from __future__ import annotations

import collections
import json
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmr_author.runtime.probe.arrays import numbers
from lmr_author.runtime.probe.checking import from_bytes, to_bytes
from lmr_author.runtime.probe.compare import Leaf, compare, leaves, spread
from lmr_author.runtime.probe.comparison import GRADS, Comparison
from lmr_author.runtime.probe.document import Document
from lmr_author.runtime.probe.encoding import encode
from lmr_author.runtime.probe.outcome import Inputs
from lmr_author.runtime.probe.sides import Live, Stored
from tests.probe.shapes import Config, Names, Output, Point, Spans
from tests.probe.values import anything

NAN, INF = math.nan, math.inf


def differences(expected: Any, actual: Any, checkers: Any = None) -> list[str]:
    return [str(item) for item in compare(encode(expected), encode(actual), checkers)]


@settings(max_examples=150, deadline=None)
@given(anything)
def test_everything_equals_itself(value: Any) -> None:
    assert differences(value, value) == []


@pytest.mark.parametrize(
    ("expected", "actual", "message"),
    [
        (1, 2, "the value: expected 1, got 2"),
        (True, 1, "the value: expected True, got 1"),
        ("a", "b", "the value: expected 'a', got 'b'"),
        (None, [], "the value: expected None, got a list of 0"),
        ([1], (1,), "the value: expected a list of 1, got a tuple of 1"),
        ({"a": [1, 2]}, {"a": [1]}, "a: expected 2 items, got 1"),
        ([{"a": 1}], [{}], "[0]['a']: expected 1, got nothing"),
        ([{}], [{"a": 1}], "[0]['a']: expected nothing, got 1"),
        ({"v": {1: 2}}, {"v": {1: 3}}, "v[1]: expected 2, got 3"),
        ({"v": {(1, 2): 2}}, {"v": {(1, 2): 3}}, "v[<item 0>]: expected 2, got 3"),
        (Point(1), Point(2), "x: expected 1, got 2"),
        (Config("a"), Output(), "the value: expected a Config, got a Output"),
        ({"o": Names("a")}, {"o": Names("b")}, "o[0]: expected 'a', got 'b'"),
        (2**70, 2**70 + 1, "the value: expected 1180591620717411303424, got"),
        (1, 2**70, "the value: expected 1, got 1180591620717411303424"),
        ({1, 2}, {1, 3}, "[1]: expected 2, which is nowhere"),
        (b"a", b"b", "the value: expected 'YQ==', got 'Yg=='"),
        (1.0, NAN, "the value: expected 1.0, got nan"),
        (INF, -INF, "the value: expected inf, got -inf"),
        (1j, 2j, "the value: expected 1j, got 2j"),
        (np.float32(1), np.float64(1), "the value: expected element type float32, got float64"),
        (np.zeros(2), np.zeros(3), "the value: expected shape [2], got [3]"),
        (np.zeros(0), np.zeros((0, 1)), "the value: expected shape [0], got [0, 1]"),
        (np.zeros(2), [0.0, 0.0], "the value: expected an array float64[2], got a list of 2"),
        (np.array(["a", "b"]), np.array(["a", "c"]), "the value: 1 of 2 elements differ; first at [1]: expected 'b', got 'c'"),
        (np.arange(4).reshape(2, 2), np.array([[0, 1], [2, 5]]), "the value: 1 of 4 elements differ; first at [1, 1]: expected 3, got 5"),
        (collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=2, a=1), "the value: the keys are in another order"),
    ],
)  # fmt: skip
def test_messages(expected: Any, actual: Any, message: str) -> None:
    (found,) = differences(expected, actual)
    assert found.startswith(message)
    assert differences(actual, expected), "the other way round too"


def test_what_does_not_matter() -> None:
    assert differences({"a": 1, "b": 2}, {"b": 2, "a": 1}) == []
    marks = {"object": 1, "call": 2, "tensor": 3, '"id":': 4, ("file", "object"): 5}
    assert differences(marks, dict(reversed(list(marks.items())))) == [], "a key may be a word of the format"
    shared = [1.0]
    assert differences([shared, shared], [[1.0], [1.0]]) == []
    assert differences([[1.0], [1.0]], [shared, shared]) == []
    assert differences([0.0, NAN, INF], [-0.0, NAN, INF]) == []
    array = np.ones(2)
    near = {"kind": "allclose", "rtol": 1e-2, "atol": 0}
    again = [array * 1.001, array * 1.002]
    assert differences([array, array], again, {"[0]": near}) == [], (
        "a shared part has the checker of its first place"
    )
    cycle: list[Any] = [1]
    cycle.append(cycle)
    longer: list[Any] = [1, [1]]
    longer[1].append(longer)
    assert differences(cycle, longer) == []


def counts(factory: Any, **items: Any) -> Any:
    return {"v": collections.defaultdict(factory, items)}


@pytest.mark.parametrize(
    ("expected", "actual", "is_same"),
    [
        (counts(float, a=1.0), counts(float, a=1.0, b=0.0), True),
        (counts(lambda: 7, a=1), counts(lambda: 7, a=1, b=7), True),
        (counts(float, a=1.0), counts(float, a=1.0, b=2.0), False),
        (counts(int, a=1), counts(int, a=1, b=False), False),
        (counts(list, a=[1]), counts(list, a=[1], b=[2]), False),
        (counts(float, a=1.0), {"v": {"a": 1.0, "b": 0.0}}, False),
        ({"v": {"a": 1.0}}, {"v": {"a": 1.0, "b": 0.0}}, False),
        ({"v": [Spans.Span(1, 2)]}, {"v": [Spans.Span(1, 2)]}, True),
        ({"v": [Spans.Span(1, 2)]}, {"v": [Spans.Span(2, 1)]}, False),
        ({"v": [Spans.Span(1, 2)]}, {"v": [2]}, False),
    ],
)
def test_a_key_that_was_only_looked_up_and_a_class_in_a_class(
    expected: Any, actual: Any, is_same: bool
) -> None:
    assert (differences(expected, actual) == []) is is_same
    assert (differences(actual, expected) == []) is is_same
    document = encode(expected)
    assert (Comparison(Stored(document), Live()).run(document.tree, actual) == []) is is_same


def test_a_shared_part_is_compared_as_its_own_path_says() -> None:
    """An argument that is changed and returned: how the result is compared says nothing about the argument."""
    logits = [1.0, 2.0]
    expected = {"value": logits, "logits": logits}
    checkers = {"value": {"kind": "allclose", "rtol": 1e-6, "atol": 0}, "logits": {"kind": "ignore"}}
    assert differences(expected, {"value": [1.0, 2.0], "logits": [7.0]}, checkers) == []
    assert differences(expected, {"value": [1.0, 2.0]}, checkers) == []
    assert differences(expected, {"value": [1.0, 2.5], "logits": [1.0, 2.0]}, checkers) != []
    first_ignored = {"logits": checkers["value"], "value": {"kind": "ignore"}}
    assert differences(expected, {"value": None, "logits": [1.0, 2.0]}, first_ignored) == []
    wrong = [1.0, 2.5]
    assert differences(expected, {"value": wrong, "logits": wrong}, first_ignored) != []
    apart = {"value[1]": {"kind": "allclose", "rtol": 1, "atol": 0}, "logits[1]": {"kind": "exact"}}
    assert differences(expected, {"value": wrong, "logits": wrong}, apart) != []


def test_a_change_that_is_missing_and_one_too_many() -> None:
    meter = Config([1.0])
    (missing,) = differences({"value": 1.0, "self": meter}, {"value": 1.0})
    assert missing == "self: the call has to change it, and left it as it was"
    (more,) = differences({"value": 1.0}, {"value": 1.0, "self": meter})
    assert more == "self: the call changed it, and has to leave it as it is"


def nothing(meter: Any) -> None:
    """Leave it as it is."""


def kept(change: Callable[[Any], object], golden: Callable[[Any], object] = nothing) -> list[str]:
    """Compare what an implementation did with ``self`` with what the golden did."""

    def outcome(function: Callable[[Any], object]) -> Document:
        meter = Spans()
        vars(meter).update(items=[1.0, 2.0])
        parts = {"self": meter}
        effects = Inputs(parts, encode(parts))
        function(meter)
        return effects.ended(function, {"value": 0})

    return [str(item) for item in compare(outcome(golden), outcome(change), {})]


@pytest.mark.parametrize(
    "change",
    [
        lambda meter: setattr(meter, "last", [3.0]),
        lambda meter: vars(meter).update(last=1, count=2),
        lambda meter: setattr(meter, "items", list(meter.items)),
    ],
)
def test_an_object_may_get_attributes_that_it_lacked(change: Callable[[Any], object]) -> None:
    assert kept(change) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda meter: meter.items.append(3.0),
        lambda meter: vars(meter).update(items=[1.0], last=1),
        lambda meter: delattr(meter, "items"),
    ],
)
def test_what_an_object_has_stays_as_it_is(change: Callable[[Any], object]) -> None:
    assert kept(change) == ["self: the call changed it, and has to leave it as it is"]


def test_a_gradient_is_no_attribute_that_an_object_may_get() -> None:
    torch = pytest.importorskip("torch")

    def outcome(change: Callable[[Any], object]) -> Document:
        weight = torch.ones(2, requires_grad=True)
        parts = {"weight": weight}
        effects = Inputs(parts, encode(parts))
        change(weight)
        return effects.ended(change, {"value": 0})

    changed = outcome(lambda weight: weight.sum().backward())
    assert [item.path for item in compare(outcome(nothing), changed, {})] == ["@grad weight"]
    assert compare(outcome(nothing), changed, {GRADS: {"kind": "ignore"}}) == []


def test_attributes_that_the_golden_adds_are_compared() -> None:
    def last(value: float) -> Callable[[Any], object]:
        return lambda meter: setattr(meter, "last", value)

    assert kept(last(1.0), golden=last(1.0)) == []
    assert kept(last(2.0), golden=last(1.0)) != []
    assert kept(nothing, golden=last(1.0)) == ["self: the call has to change it, and left it as it was"]


@pytest.mark.parametrize("shared", [True, False])
def test_an_ignored_first_place_does_not_hide_the_others(shared: bool) -> None:
    part = Config([1.0])
    expected = {"a": part, "b": part}
    other = Config([2.0])
    actual = {"a": other, "b": other if shared else Config([2.0])}
    assert differences(expected, actual, {"a": {"kind": "ignore"}}) != []


def test_grads_are_left_out_where_a_checker_says_so() -> None:
    torch = pytest.importorskip("torch")

    def parameter(grad: bool) -> Any:
        made = torch.nn.Parameter(torch.ones(2))
        made.grad = torch.ones(2) if grad else None
        return made

    left_out = {"*.grad": {"kind": "ignore"}}
    for expected, actual in ((True, False), (False, True)):
        pair = {"self": parameter(expected)}, {"self": parameter(actual)}
        assert differences(*pair) != []
        assert differences(*pair, left_out) == []
        assert differences(*pair, {**left_out, "self.grad": {"kind": "exact"}}) != []
        assert differences({}, {"@grad self": parameter(actual)}, left_out) == []
        assert differences({}, {"@grad self": parameter(actual)}) != []


@pytest.mark.torch
def test_keys_are_the_same_where_only_a_gradient_differs_that_is_not_compared() -> None:
    torch = pytest.importorskip("torch")

    def state(grad: float, moment: float = 1.0) -> Any:
        parameter = torch.tensor([1.0, 2.0], requires_grad=True)
        parameter.grad = torch.full((2,), grad)
        return {"state": {parameter: {"moment": moment}}}

    left_out = {"*": {"kind": "allclose", "rtol": 1e-5, "atol": 1e-6}, "*.grad": {"kind": "ignore"}}
    assert differences(state(0.5), state(0.7), left_out) == []
    assert differences(state(0.5), state(0.7)) != []
    assert differences(state(0.5), state(0.7, moment=2.0), left_out) != []


def test_tolerance_applies_to_floats_of_its_path_only() -> None:
    expected = {"value": [np.array([1.0, 100.0]), 1.0], "loss": 2.0}
    actual = {"value": [np.array([1.001, 100.1]), 1.0], "loss": 2.002}
    near = {"kind": "allclose", "rtol": 2e-3, "atol": 0}
    assert len(differences(expected, actual)) == 2
    assert len(differences(expected, actual, {"value[0]": near})) == 1
    assert differences(expected, actual, {"value[0]": near, "loss": near}) == []
    assert differences(expected, actual, {"value": near, "loss": {"kind": "ignore"}}) == []
    assert differences(expected, actual, {"*": near}) == []
    assert len(differences(expected, actual, {"*": near, "value[0]": {"kind": "exact"}})) == 1
    (message,) = differences(
        expected, actual, {"*": near, "value": {"kind": "allclose", "rtol": 1e-9, "atol": 1e-5}}
    )
    assert message.startswith(
        "value[0]: 2 of 2 elements differ; first at [0]: expected 1.0, got 1.001; largest"
    )
    assert message.endswith("(allowed: rtol 1e-09, atol 1e-05)")
    assert differences([1, True], [2, False], {"*": {"kind": "allclose", "rtol": 9, "atol": 9}}) != []
    for wrong in (NAN, INF, -INF):
        assert differences(1.0, wrong, {"*": {"kind": "allclose", "rtol": 1, "atol": 1e300}})
        assert differences(wrong, 1.0, {"*": {"kind": "allclose", "rtol": 1, "atol": 1e300}})


@pytest.mark.parametrize(
    ("expected", "actual", "checkers"),
    [
        ({"value": [0.0]}, {"value": [5.0, 6.0]}, {"*": "ignore", "value": "exact"}),
        ({"value": [0.0]}, {"value": [5.0]}, {"*": "ignore", "value[0]": "exact"}),
        ({"value": [0.0]}, {"value": []}, {"*": "ignore", "value[0]": "exact"}),
        ({"value": [0.0]}, {"value": None}, {"*": "ignore", "value[0]": "exact"}),
        ({"value": [{"a": 1, "b": 2}]}, {"value": [{"a": 3, "b": 2}]}, {"value": "ignore", "value[0]['a']": "exact"}),
        ({"value": np.ones(2)}, {"value": np.zeros(2)}, {"*": "custom", "value": "exact"}),
    ],
)  # fmt: skip
def test_what_is_left_out_does_not_hide_what_has_a_checker_below_it(
    expected: Any, actual: Any, checkers: dict[str, str]
) -> None:
    kinds = {path: {"kind": kind} for path, kind in checkers.items()}
    assert differences(expected, actual, kinds) != []
    assert differences(expected, expected, kinds) == []
    assert differences({**expected, "x": 1}, {**expected, "x": 2}, {"*": {"kind": "ignore"}}) == []
    assert differences([1, 2, 3], [1], {"*": {"kind": "ignore"}, "[0]": {"kind": "exact"}}) == []


def graph_of_sets(size: int, last: float) -> Any:
    """Return objects that all have sets of all others, and no attribute to tell them apart by."""
    members = [Config("n") for _ in range(size)]
    for member in members:
        member.parent = {other for other in members if other is not member}
    members[-1].sizes.append(int(last))
    return members[0]


def test_sets_of_objects_that_have_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Config, "__hash__", object.__hash__)
    monkeypatch.setattr(Config, "__eq__", object.__eq__)
    one, same, other = (encode(graph_of_sets(9, last)) for last in (1, 1, 2))
    assert compare(one, same) == []
    assert compare(one, other) != []


def test_objects_in_sets_and_as_keys_are_known_by_all_that_they_hold() -> None:
    one, other = Names("a"), Names("b")
    for names in (one, other):
        names.owner = "same"  # type: ignore[attr-defined]
    assert differences({"value": [one]}, {"value": [other]}) != []
    expected, actual = encode({"value": [{1}]}), encode({"value": [{1}]})
    for document, names in ((expected, one), (actual, other)):
        document.tree["value"][0]["v"] = [encode(names).tree]
    assert compare(expected, expected) == [] and compare(expected, actual) != []
    left = {(0.1 + 0.2, "a"): 1, (0.5, "b"): 2}
    right = {(0.5, "b"): 2, (0.3, "a"): 1}
    near = {"*": {"kind": "allclose", "rtol": 1e-9, "atol": 0}}
    assert differences({"v": left}, {"v": right}, near) == []
    assert differences({"v": left}, {"v": {(0.5, "a"): 2, (0.3, "b"): 1}}, near) != []


def test_a_document_that_is_made_to_take_long_is_different_in_time() -> None:
    """Sets that are equal but for the very last number: matching them by trial would take for ever."""
    deep: Any = frozenset([0.5])
    for number in range(9):
        deep = frozenset([deep, (float(number),)])
    expected = encode({"value": [{(float(n), *(0.0,) * 200) for n in range(250)}, deep]})
    assert compare(expected, expected) == []
    hostile = json.loads(json.dumps(expected.tree))
    for item in hostile["value"][0]["v"]:
        item["v"][-1], item["v"][0] = 7.0, 0.0
    start = time.process_time()
    assert compare(expected, from_bytes(to_bytes(Document(hostile, {})))) != []
    assert time.process_time() - start < 15


def test_what_a_candidate_says_of_itself_does_not_count() -> None:
    """Only the golden's class knows what it computes when it is first asked."""
    expected, actual = encode({"value": Config("a")}), encode({"value": Config("a")})
    actual.tree["value"]["state"]["more"] = 1
    actual.tree["value"]["lazy"] = ["more", "name"]
    assert compare(expected, actual) != []
    del actual.tree["value"]["state"]["more"], actual.tree["value"]["state"]["name"]
    assert compare(expected, actual) != []


@pytest.mark.parametrize(
    "change",
    [
        {"places": 1.0},
        {"places": {"$": "array", "dtype": "int64", "shape": [2, 1], "data": [[0], [0]]}},
        {"places": {"$": "array", "dtype": "<U1", "shape": [2, 2], "data": [["a", "b"], ["c", "d"]]}},
        {"numbers": {"$": "array", "dtype": "float64", "shape": [], "data": 1.0}},
        {"numbers": {"$": "array", "dtype": "<U1", "shape": [2], "data": ["a", "b"]}},
        {"numbers": None},
        {"layout": "os:system"},
        {"shape": [9, 9]},
    ],
)
def test_a_sparse_matrix_that_is_none_is_different(change: dict[str, Any]) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    expected = encode({"value": sparse.coo_matrix(([1.0, 2.0], ([0, 1], [1, 0])), (2, 2))})
    actual = json.loads(json.dumps(expected.tree))
    actual["value"].update(change)
    document = from_bytes(to_bytes(Document(actual, {})))
    assert compare(expected, expected) == []
    assert compare(expected, document) != []


def test_an_index_that_claims_to_be_endless() -> None:
    pd = pytest.importorskip("pandas")
    expected = encode({"value": pd.Index([0, 1, 2])})
    assert compare(expected, encode({"value": pd.RangeIndex(3)})) == []
    assert compare(expected, encode({"value": pd.RangeIndex(4)})) != []
    endless = encode({"value": pd.RangeIndex(3)})
    endless.tree["value"]["args"][1] = 10**30
    assert compare(expected, endless) != []


def test_an_omitted_answer_is_no_answer() -> None:
    expected = encode({"value": 1.0})
    actual = encode({"value": 1.0})
    actual.tree["value"] = {"$": "omitted"}
    (found,) = compare(expected, actual)
    assert found == ("value", "expected 1.0, got something that was not stored")
    assert compare(actual, expected) == [], "what was not recorded cannot be required"
    assert compare(encode({"value": [1]}), actual) == [
        ("value", "expected a list of 1, got something that was not stored")
    ]


def test_leaves_and_spread() -> None:
    first = {
        "value": [np.ones((2, 3), dtype=np.float32), 1.5, 3],
        "c": 1j,
        "s": np.float16(1),
        "i": np.arange(2),
    }
    assert leaves(encode(first)) == [
        Leaf("value[0]", "float32"),
        Leaf("value[1]", "float64"),
        Leaf("c", "complex128"),
        Leaf("s", "float16"),
    ]
    second = {**first, "value": [first["value"][0] * np.float32(1.5), 1.5, 4], "c": 1.25j}  # type: ignore[index]
    found = spread([encode(first), encode(second), encode(first)])
    assert found["value[0]"] == (0.5, 0.5) and found["value[1]"] == (0.0, 0.0) and found["c"] == (0.25, 0.25)
    assert spread([encode([1.0]), encode([NAN])])["[0]"] == (INF, INF)


floats = st.floats(width=32) | st.sampled_from([0.0, -0.0, NAN, INF, -INF, 1.0, 1.0 + 1e-6])


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(floats, floats), min_size=1, max_size=12),
    st.sampled_from([(0.0, 0.0), (1e-5, 1e-8), (0.0, 1.0), (0.5, 0.0)]),
)
def test_numbers_agree_as_numpy_says(pairs: list[tuple[float, float]], limits: tuple[float, float]) -> None:
    expected, actual = np.array([e for e, _ in pairs]), np.array([a for _, a in pairs])
    close = np.isclose(actual, expected, rtol=limits[0], atol=limits[1], equal_nan=True)
    near = {"*": {"kind": "allclose", "rtol": limits[0], "atol": limits[1]}}
    assert (differences(expected, actual, near) == []) == bool(close.all())
    for (one, other), same in zip(pairs, close, strict=True):
        assert (differences(one, other, near) == []) == bool(same)


@pytest.mark.torch
def test_tensors() -> None:
    import torch

    base = torch.arange(24.0).reshape(4, 6)
    assert differences(base.t(), base.t().contiguous()) == []
    assert differences([base[1:3, ::2]], [base[1:3, ::2].clone()]) == []
    assert differences(base, base.clone().requires_grad_()) == [
        "the value: expected requires_grad False, got True"
    ]
    (message,) = differences(base.to(torch.bfloat16), (base + 1).to(torch.bfloat16))
    assert message.startswith("the value: 24 of 24 elements differ; first at [0, 0]: expected 0.0, got 1.0")
    assert differences(torch.nn.Parameter(base), base.clone().requires_grad_())
    for name in ("float16", "bfloat16", "complex64"):
        tensor = torch.arange(-150, 150).float().div(3).to(getattr(torch, name))
        document = encode(tensor)
        wide = tensor if name == "complex64" else tensor.float()
        assert numbers(document, document.tree).tolist() == wide.tolist()


@pytest.mark.parametrize(
    ("expected", "actual"), [(0, 0.0), (0.0, 0), (3.0, 3), ([1.5, 2], [1.5, 2.0]), (2**53 - 1, 2.0**53 - 1)]
)
def test_a_whole_number_is_the_same_number_as_a_float(expected: object, actual: object) -> None:
    assert not differences(expected, actual)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [(1, True), (1.0, True), (1, 1.5), (0, -0.5), (2**53 + 1, 2.0**53), (1, "1"), (0, None)],
)
def test_other_kinds_and_other_numbers_differ(expected: object, actual: object) -> None:
    assert differences(expected, actual) and differences(actual, expected)
