"""Wrong versions of a target: zeros in the shape of its result."""

from __future__ import annotations

import ast
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lmr_author.core.texts import whole_percent
from lmr_author.proof.evaluation.mutation_gates import zeroed

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=3)
    | arrays.arrays(
        st.sampled_from([numpy.float32, numpy.int64, numpy.bool_]), arrays.array_shapes(min_side=0)
    )
    | st.sampled_from([numpy.float32(2.5), numpy.int16(7)])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text("ab'", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


def zeros(value: Any) -> Any:
    """The value with every number zero, made here."""
    if isinstance(value, list | tuple):
        return type(value)(zeros(item) for item in value)
    if isinstance(value, dict):
        return {key: zeros(item) for key, item in value.items()}
    if isinstance(value, numpy.ndarray):
        return numpy.zeros(value.shape, value.dtype)
    return None if value is None else type(value)()


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal in type, shape and content."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, numpy.ndarray | numpy.generic):
        return (one.dtype, one.shape) == (other.dtype, other.shape) and bool((one == other).all())
    return bool(one == other)


def made(value: Any) -> Any:
    """The result of the trivial version of a function that returns its argument."""
    golden = ast.parse("def same(value: Unknown) -> Unknown:\n    return value").body[0]
    assert isinstance(golden, ast.FunctionDef)
    namespace: dict[str, Any] = {}
    exec("\n    ".join(["def same(value):", *zeroed(golden)]), namespace)
    return namespace["same"](value)


@given(VALUES)
def test_zeros_have_the_types_and_shapes_of_the_result(value: Any) -> None:
    if value is not None:
        assert same(made(value), zeros(value))


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "bfloat16"])
def test_zeros_of_a_tensor(dtype: str) -> None:
    import torch

    result = torch.ones(2, 0, 3, dtype=getattr(torch, dtype))
    zero, named = made([result, {"loss": torch.tensor(2.5)}])
    assert (zero.dtype, zero.shape) == (result.dtype, result.shape)
    assert torch.equal(named["loss"], torch.tensor(0.0))


@pytest.mark.parametrize("value", [None, {1, 2}, b"x"])
def test_of_what_has_no_zeros_there_are_none(value: object) -> None:
    with pytest.raises(NotImplementedError):
        made(value)


@pytest.mark.parametrize(
    ("killed", "tried", "said"), [(53, 59, "89%"), (9, 10, "90%"), (10, 10, "100%"), (58, 100, "58%")]
)
def test_a_share_that_is_not_enough_is_not_shown_as_enough(killed: int, tried: int, said: str) -> None:
    assert whole_percent(killed / tried) == said
