"""Whether a value that was stored came back as it was, by its tag."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lmr_author.probe.codec import encode
from lmr_author.probe.compare import compare
from tests.probe.values import same

torch = pytest.importorskip("torch")


def _state(value: Any) -> Any:
    if isinstance(value, random.Random):
        return value.getstate()
    if isinstance(value, np.random.Generator):
        return repr(value.bit_generator.state)
    if isinstance(value, np.random.RandomState):
        return repr(value.get_state())
    return value.get_state().tolist()


def _bits(tensor: Any) -> list[int]:
    dense = torch.empty(tensor.numel(), dtype=tensor.dtype)
    dense.copy_(tensor.detach().reshape(-1))
    found: list[int] = dense.view(torch.uint8).tolist()
    return found


def _same_tensor(a: Any, b: Any) -> None:
    assert (a.dtype, a.shape, a.requires_grad) == (b.dtype, b.shape, b.requires_grad)
    assert type(a) is type(b)
    if a.layout is torch.sparse_coo:
        assert a.is_coalesced() == b.is_coalesced()
        assert torch.equal(a.to_dense(), b.to_dense())
        return
    assert a.is_leaf == b.is_leaf
    assert _bits(a) == _bits(b)
    if a.numel() and not a.is_contiguous():
        assert a.stride() == b.stride()
    assert (a.grad is None) == (b.grad is None) if a.is_leaf else True


def _same_method(a: Any, b: Any) -> None:
    assert a() == b() and type(a.__self__) is type(b.__self__)


def _same_name(a: Any, b: Any) -> None:
    assert a is b or a == b


def same_plain(a: Any, b: Any) -> None:
    assert same(b, a)


def _same_array(a: Any, b: Any) -> None:
    assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


def _same_value(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    assert a == b or _state(a) == _state(b)


def _same_partial(a: Any, b: Any) -> None:
    assert a.func is b.func
    same_plain([list(a.args), dict(a.keywords)], [list(b.args), dict(b.keywords)])


def _same_reduced(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    assert getattr(a, "args", repr(a)) == getattr(b, "args", repr(b))


def _same_factory(a: Any, b: Any) -> None:
    assert dict(a) == dict(b) and a["new"] == b["new"] and b["other"] is not b["new"]


def _same_default(a: Any, b: Any) -> None:
    assert a == b and a.default_factory is b.default_factory


def _same_object(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    assert compare(encode(a), encode(b)) == []
    if isinstance(a, (list, str, float, dict)):
        assert a == b or a != a


def _same_object_array(a: Any, b: Any) -> None:
    assert a.shape == b.shape
    same_plain(a.tolist(), b.tolist())


def _omitted(a: Any, b: Any) -> None:
    with pytest.raises(RuntimeError, match="was not recorded"):
        b.anything


SAME: dict[str, Callable[[Any, Any], None]] = {
    "tensor": _same_tensor, "sparse": _same_tensor, "value": _same_value, "method": _same_method,
    "partial": _same_partial, "reduce": _same_reduced, "factory": _same_factory, "defaultdict": _same_default,
    "ndarray": _same_array, "npscalar": _same_array, "objectarray": _same_object_array, "object": _same_object,
    "dataframe": pd.testing.assert_frame_equal, "series": pd.testing.assert_series_equal,
    "index": pd.testing.assert_index_equal, "extension": pd.testing.assert_extension_array_equal,
    "categorical": pd.testing.assert_extension_array_equal, "omitted": _omitted, "name": _same_name,
    "fixture": _same_object,
}  # fmt: skip
"""How values of a tag are compared, where not by type and ``==`` throughout."""
