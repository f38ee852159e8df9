"""Tolerances from float64, and what is said of calls that are too large."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lmr_author.probe.decoding import decode
from lmr_author.probe.encoding import encode
from lmr_author.recording.tolerance import BY_DTYPE, _rounding_errors, derive, in_double


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
    exact = [1.0, 1000.0]
    for error, widened in [(0.0, False), (1e-7, False), (5e-6, True), (1e-2, False)]:
        recorded = outcome([value * (1 + error) for value in exact], "f4")
        checkers, wide = derive(recorded, [], outcome(exact, "f8"))
        checker = checkers["value"]
        assert ((checker["rtol"], checker["atol"]) != own) == widened, error
        assert bool(wide) == widened
        if widened:
            (item,) = wide
            assert item.reason == "float64 gives another result" and item.rtol == checker["rtol"]
            assert 4 * error / 2 < checker["rtol"] < 100 * own[0]


def test_what_float64_says_nothing_about() -> None:
    recorded = outcome([1.0, 2.0], "f4")
    assert _rounding_errors(recorded, outcome([1.0], "f8")) == {}
    assert _rounding_errors(recorded, outcome([1.0, 2.0], "f4")) == {}, "it made float32 of float64"
    assert _rounding_errors(recorded, encode({"@raised": "ValueError"})) == {}
    assert _rounding_errors(recorded, outcome([1.0, np.nan], "f8")) == {"value": np.inf}
