"""The evaluation and the test that is shipped give the same verdict, whatever a call returns, changes and shares."""

from __future__ import annotations

import ast
import sys
import tempfile
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lmr_author.core import resources
from lmr_author.runtime.probe.checking import from_bytes, load, to_bytes
from lmr_author.runtime.probe.compare import compare
from lmr_author.runtime.probe.document import Document
from lmr_author.runtime.probe.encoding import encode
from lmr_author.runtime.probe.outcome import Inputs
from lmr_author.runtime.probe.repeating import repeat
from lmr_author.runtime.probe.storing import dump
from tests.probe.shapes import Config

Behaviour = tuple[str, str, float]
CHANGES: dict[str, Callable[[Any, float], Any]] = {
    "nothing": lambda items, by: None,
    "scales": lambda items, by: items.__setitem__(0, items[0] * by),
    "adds": lambda items, by: items.append(by),
    "empties": lambda items, by: items.clear(),
}
RETURNS: dict[str, Callable[[Any, Any, float], Any]] = {
    "an argument": lambda a, b, by: a,
    "the other argument": lambda a, b, by: b,
    "a copy": lambda a, b, by: list(a),
    "one object twice": lambda a, b, by: [a, a],
    "two copies": lambda a, b, by: [list(a), list(a)],
    "both": lambda a, b, by: (a, b),
    "an object": lambda a, b, by: Config([a, by]),
    "a dictionary": lambda a, b, by: {"a": a, "sum": sum(a) * by},
    "an array": lambda a, b, by: np.array(a) * by,
    "a number": lambda a, b, by: by,
    "numpy's number": lambda a, b, by: np.float32(by),
    "a tuple": lambda a, b, by: tuple(a),
    "nothing": lambda a, b, by: None,
}
factors = st.sampled_from([1.0, 1.0 + 1e-9, 1.0 + 1e-5, 1.5, float("nan"), -0.0])
behaviours = st.tuples(st.sampled_from([*CHANGES]), st.sampled_from([*RETURNS]), factors)
items = st.lists(st.sampled_from([0.0, 1.0, -2.5, 1e-7, 3e5]), min_size=1, max_size=3)
kinds = st.sampled_from(
    [
        {"kind": "ignore"},
        {"kind": "exact"},
        {"kind": "set", "rtol": 1e-6, "atol": 1e-6},
        {"kind": "allclose", "rtol": 1e-6, "atol": 1e-6},
        {"kind": "allclose", "rtol": 0.9, "atol": 0.9},
    ]
)
places = st.sampled_from(
    ["*", "value", "value[0]", "value[1]", "value.name[0]", "value['a']", "a", "b", "a[0]"]
)


def function(behaviour: Behaviour) -> Callable[[Any, Any], Any]:
    change, result, by = behaviour

    def behaves(a: Any, b: Any) -> Any:
        CHANGES[change](a, by)
        return RETURNS[result](a, b, by)

    return behaves


def recorded(call: Any, arguments: dict[str, Any], folder: Path) -> Document:
    """Record a call, and return its outcome."""
    inputs = encode(arguments)
    dump(inputs, str(folder), "inputs")
    outcome = Inputs(arguments, inputs).ended(call, {"value": call(**arguments)})
    dump(outcome, str(folder), "expected")
    return outcome


def evaluated(call: Any, folder: Path, checkers: Any) -> bool:
    """Return the verdict of an evaluation: the outcome travels as bytes and is compared elsewhere."""
    made = repeat(lambda free: call, load(str(folder), "inputs"), Inputs)
    assert made.document is not None, made.error
    return not compare(load(str(folder), "expected"), from_bytes(to_bytes(made.document)), checkers)


@cache
def support() -> types.ModuleType:
    module = types.ModuleType("lmr_support_of_a_test")
    sys.modules[module.__name__] = module
    exec(compile(resources.support_file(), module.__name__, "exec"), module.__dict__)
    return module


def shipped(call: Any, folder: Path, checkers: Any) -> bool:
    """Return the verdict of the support file."""
    try:
        support().check(types.SimpleNamespace(function=lambda free: call), folder, checkers)
    except AssertionError:
        return False
    return True


@settings(max_examples=150, deadline=None)
@given(items, items, st.booleans(), behaviours, behaviours, st.dictionaries(places, kinds, max_size=3))
def test_evaluation_and_support_file_agree(
    a: list[float], b: list[float], shared: bool, golden: Behaviour, other: Behaviour, checkers: Any
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recorded(function(golden), {"a": a, "b": a if shared else b}, folder)
        assert shipped(function(golden), folder, checkers) and evaluated(function(golden), folder, checkers)
        assert shipped(function(other), folder, checkers) == evaluated(function(other), folder, checkers)


def test_the_support_file_defines_every_name_once() -> None:
    names = [
        name
        for node in ast.parse(resources.support_file()).body
        for name in (
            [node.name]
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            else [target.id for target in getattr(node, "targets", ()) if isinstance(target, ast.Name)]
        )
    ]
    assert sorted(names) == sorted(set(names))
