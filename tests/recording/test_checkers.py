"""The comparison of parts of an outcome: as the annotator says, else by tolerances that fit the golden's rounding."""

from __future__ import annotations

import ast
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmr_author.authoring.recording.checkers import (
    check_option,
    compact,
    parse,
    with_chosen,
)
from lmr_author.authoring.recording.replay import changes_by_the_way
from lmr_author.authoring.recording.run import RecordedCall
from lmr_author.authoring.recording.tolerance import BY_DTYPE, derive, differs_in_double, in_double, narrowed
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.runtime.probe.compare import compare
from lmr_author.runtime.probe.comparison import Comparison
from lmr_author.runtime.probe.decoding import decode
from lmr_author.runtime.probe.encoding import encode
from lmr_author.runtime.probe.sides import Stored


def differences(expected: Any, actual: Any, *checks: str) -> list[str]:
    wanted = encode({"value": expected})
    checkers = with_chosen(derive(wanted, []).checkers, parse(checks), wanted)
    return [str(item) for item in compare(wanted, encode({"value": actual}), checkers)]


@pytest.mark.parametrize(
    ("check", "expected", "same", "other"),
    [
        ("value=set", [3, 1, 2, 2], [2, 3, 2, 1], [1, 1, 2, 3]),
        ("value=set", ["a", "b"], ["b", "a"], ["a", "b", "b"]),
        ("value=set", [{"id": 1, "score": 0.5}, {"id": 2, "score": 0.25}],
         [{"id": 2, "score": 0.25}, {"id": 1, "score": 0.50000001}],
         [{"id": 2, "score": 0.5}, {"id": 1, "score": 0.25}]),
        ("value=allclose:1e-2,0", 1.0, 1.005, 1.02),
        ("value[0]=ignore", [1, 2], [7, 2], [1, 3]),
        ("value=exact", 1.0, 1.0, 1.0 + 1e-12),
        ("value=set", [], [], [1]),
        ("value=set", [1], [1], []),
        ("value['x']=set", {"x": [1]}, {"x": [1]}, {"x": (1,)}),
    ],
)  # fmt: skip
def test_what_passes_and_what_does_not(check: str, expected: Any, same: Any, other: Any) -> None:
    assert differences(expected, same, check) == []
    assert differences(expected, other, check) != []


@pytest.mark.parametrize(
    "text",
    ["value", "value=sorted", "=set", "value=allclose", "value=allclose:1,1", "value=allclose:x,0", "value=set:3",
     "value=text:rouge_l>=0.5", "value=custom:name"],
)  # fmt: skip
def test_checks_that_cannot_be_read(text: str) -> None:
    with pytest.raises(UsageError):
        parse([text])


def test_a_part_that_is_not_there_and_a_test_without_a_check() -> None:
    with pytest.raises(LmrError, match=r"no part value\[5\]"):
        differences([1], [1], "value[5]=exact")
    with pytest.raises(LmrError, match="nothing that the function returns"):
        differences([1], [1], "value=ignore")


def test_an_argument_that_the_golden_does_not_change_can_be_left_out() -> None:
    wanted, given = encode({"value": 1}), encode({"self": 3, "x": {"y": 4}})
    chosen = with_chosen({}, parse(["self=ignore"]), wanted, inputs=given)
    assert {path: checker["kind"] for path, checker in chosen.items()} == {"self": "ignore"}
    assert compare(wanted, encode({"value": 1, "self": 2}), chosen) == []
    assert "x['y']" in with_chosen({}, parse(["x['y']=ignore"]), wanted, inputs=given)
    for check in ("self=exact", "slef=ignore"):
        with pytest.raises(LmrError, match="no part s"):
            with_chosen({}, parse([check]), wanted, inputs=given)


@pytest.mark.parametrize(
    ("body", "nothing", "ignored"),
    [
        ("xs.sort()\n        return xs[0]", False, ("self", "xs")),
        ("xs.sort()", True, ()),
        ('"""Sorts in place."""\n        xs.sort()\n        return xs', False, ()),
        ("self.last = xs[0]\n        return self.last + 1", False, ("self", "xs")),
        (
            "self.table = [0]\n        self.table[0] = xs[0]\n        return self.table[0]",
            False,
            ("self", "xs"),
        ),
        ("self.mean = self.mean / 2 + xs[0]\n        return self.mean", False, ("xs",)),
        ("if xs:\n            self.seen = xs\n        return self.seen.pop()", False, ("xs",)),
        ("self.total += xs.pop()\n        return self.total", False, ("xs",)),
        ("self.cache = xs[0]\n        return xs[0]", False, ("self", "xs")),
    ],
)
def test_what_an_implementation_need_not_change(body: str, nothing: bool, ignored: tuple[str, ...]) -> None:
    tree = ast.parse(f"class Meter:\n    def add(self, xs):\n        {body}\n").body[0]
    assert isinstance(tree, ast.ClassDef) and isinstance(tree.body[0], ast.FunctionDef)
    summary = {"self": "Meter", "xs": "list of 3"}
    call = RecordedCall(1, Path(), frozenset(), 1, summary, changed=("self", "xs"), nothing=nothing)
    assert changes_by_the_way(tree.body[0], "self", [call]) == ignored


# tolerances


def test_inputs_in_double_precision() -> None:
    inputs = {"x": np.arange(3, dtype="f4"), "n": np.arange(2), "y": np.ones(2)}
    made = in_double(encode(inputs))
    assert made is not None
    again = decode(made)
    assert {name: str(item.dtype) for name, item in again.items() if name != "@mode"} == {
        "x": "float64", "n": "int64", "y": "float64",
    }  # fmt: skip
    assert again["x"].tolist() == [0, 1, 2]
    assert in_double(encode({"y": np.ones(2), "n": 3})) is None
    of_numpy = in_double(encode(inputs), with_torch=False)
    assert of_numpy is not None and "@mode" not in of_numpy.tree, "torch may not be installed"


@pytest.mark.torch
def test_modules_views_and_the_default_type() -> None:
    import torch

    layer = torch.nn.Linear(2, 3)
    base = torch.randn(4, 6)
    made = in_double(encode({"self": layer, "x": base[:, 1:3], "y": base.t(), "@mode": {"grad": False}}))
    assert made is not None
    again = decode(made)
    assert again["@mode"] == {"dtype": "float64", "grad": False}
    assert torch.equal(again["x"], base[:, 1:3].double())
    assert torch.equal(again["self"](again["x"]), layer.double()(base[:, 1:3].double()))


def outcome(values: Any, dtype: str) -> Any:
    return encode({"value": np.asarray(values, dtype)})


def test_rounding_widens_a_tolerance_and_another_computation_does_not() -> None:
    own = BY_DTYPE["float32"]
    exact = [1.0, 10.0]
    for error, widened in [(0.0, False), (1e-7, False), (5e-6, True), (1e-2, False)]:
        recorded = outcome([value * (1 + error) for value in exact], "f4")
        derived = derive(recorded, [], outcome(exact, "f8"))
        checker = derived.checkers["value"]
        assert ((checker["rtol"], checker["atol"]) != own) == widened, error
        assert (checker["reason"] == "float64 gives another result") == widened
        if widened:
            assert error < checker["rtol"] < 100 * own[0]


def test_what_float64_says_nothing_about() -> None:
    recorded = outcome([1.0, 2.0], "f4")
    for other in (
        outcome([1.0], "f8"),
        outcome([1.0, 2.5], "f4"),
        encode({"@raised": "ValueError"}),
        outcome([1.0, np.nan], "f8"),
    ):
        assert derive(recorded, [], other) == derive(recorded, [])


def passes(expected: Any, actual: Any, inputs: dict[str, Any], name: str = "value") -> bool:
    """Compare a part of an outcome with the tolerance that is derived for it."""
    wanted = encode({name: expected})
    checkers = derive(wanted, [], None, encode(inputs)).checkers
    return compare(wanted, encode({name: actual}), checkers) == []


def test_what_is_computed_from_single_precision_has_its_tolerance() -> None:
    """As every metric that ends in ``.item()``, or a mean by numpy."""
    single, double = {"x": np.ones(3, "f4")}, {"x": np.ones(3)}
    assert passes(0.25, 0.25 * (1 + 1e-6), single)
    assert not passes(0.25, 0.25 * (1 + 1e-6), double)
    assert not passes(0.25, 0.25 * (1 + 1e-4), single)
    assert passes(np.float64(0.25), 0.25, double) and passes(0.25, np.float64(0.25), double)
    assert passes(3, np.int64(3), double) and passes(3, np.float64(3), double) and not passes(3, 3.5, double)
    assert passes((1, 2), [1, 2], double) and not passes([(1, 2)], [[1, 2]], double)


def test_a_step_of_an_optimizer_is_larger_than_its_tolerance() -> None:
    """Adam with a learning rate of 1e-5 moves each weight by that much: the absolute tolerance of float32."""
    before = np.array([1.0, -0.5, 0.01], "f4")
    after = before - np.float32(1e-5)
    assert passes(after, after + np.float32(3e-8), {"p": before}, "p")
    for wrong in (before, before - np.float32(5e-6), before + np.float32(1e-5)):
        assert not passes(after, wrong, {"p": before}, "p")


def test_small_numbers_are_compared_in_proportion_unless_they_are_nothing_but_rounding() -> None:
    small = outcome([2e-6, 3e-6], "f4")
    checkers = derive(small, [], outcome([2e-6, 3e-6], "f8")).checkers
    assert compare(small, outcome([2e-6, 4e-6], "f4"), checkers) != []
    noise = outcome([3e-8, -1e-8], "f4")
    checkers = derive(noise, [], outcome([0.0, 1e-17], "f8")).checkers
    assert compare(noise, outcome([-6e-8, 9e-8], "f4"), checkers) == []


def test_a_tie_that_rounding_breaks_is_found() -> None:
    """What a correct version gives that computes in double precision, and rounds in the end."""
    recorded = encode({"value": {"x": np.ones(2, "f4"), "best": 1}})
    exact, other = (encode({"value": {"x": np.ones(2) * (1 + 1e-9), "best": best}}) for best in (1, 0))
    checkers = derive(recorded, [], exact).checkers
    assert differs_in_double(recorded, exact, checkers) == []
    assert differs_in_double(recorded, other, checkers) == ["value['best']"]


def test_a_golden_that_is_exact_has_a_narrow_tolerance() -> None:
    """A tolerance of 1e-5 would hide weight decay after the update: lr² times the decay, on weights of 0.2."""
    exact = np.linspace(-0.2, 0.2, 12)
    recorded = outcome(exact.astype("f4"), "f4")
    derived = derive(recorded, [], outcome(exact, "f8"))
    (checkers,) = narrowed([(derived.checkers, derived.exact)])
    assert derived.checkers["value"]["atol"] == 1e-5 and checkers["value"]["atol"] < 1e-6
    assert compare(recorded, outcome(exact.astype("f4") + np.float32(2e-7), "f4"), checkers) == []
    assert compare(recorded, outcome(exact.astype("f4") + np.float32(5e-6), "f4"), checkers) != []


def test_a_tolerance_is_narrowed_by_the_least_exact_call_and_not_by_chance() -> None:
    few, rough = np.array([0.1, 0.2]), np.linspace(0.1, 0.2, 12)
    derived = [
        derive(outcome(few.astype("f4"), "f4"), [], outcome(few, "f8")),
        derive(outcome((rough + 3e-7).astype("f4"), "f4"), [], outcome(rough, "f8")),
    ]
    assert narrowed([(derived[0].checkers, derived[0].exact)]) == [derived[0].checkers], (
        "two numbers show little"
    )
    both = narrowed([(item.checkers, item.exact) for item in derived])
    assert all(4e-6 <= item["value"]["atol"] < 1e-5 for item in both), "16 times the error of the worse one"
    chosen = with_chosen(derived[1].checkers, parse(["value=allclose:1e-3,1e-3"]), outcome(rough, "f4"))
    assert narrowed([(chosen, derived[1].exact)]) == [chosen]


@pytest.mark.parametrize("path", ["self._buffers['zero']", "value[0]", "value['it\\'s']"])
def test_an_advised_check_can_be_pasted_into_a_shell(path: str) -> None:
    option, text = shlex.split(check_option(path, "allclose:1e-3,1e-3"))
    assert option == "--check" and parse([text]) == {path: {"kind": "allclose", "rtol": 1e-3, "atol": 1e-3}}


def test_most_parts_share_a_default() -> None:
    near = {"kind": "allclose", "rtol": 1e-7, "atol": 1e-9, "reason": "usual"}
    other = {**near, "atol": 1e-10}
    checkers = {
        **{f"value[{n}]": near for n in range(20)}, "value[3]": other, "self.w": other, "self.w.grad": near,
        "@gradients['x']": near, "b": {"kind": "ignore"},
    }  # fmt: skip
    found = compact(checkers)
    assert list(found) == ["*", "value[3]", "self.w", "self.w.grad", "@gradients['x']", "b"]
    nearest = Comparison(Stored(encode(0)), Stored(encode(0)), found)
    assert {path: nearest.checker(path, path) for path in checkers} == checkers
