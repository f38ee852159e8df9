# ruff: noqa: E501 (tables of cases read better unbroken)
"""Values of every type that a document can hold, by the tag that they are stored under."""

from __future__ import annotations

import argparse
import collections
import datetime
import functools
import logging
import math
import operator
import pathlib
import random
import re
import types
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lmr_author.probe import values
from tests.probe import shapes
from tests.probe.values import hashable, text

torch = pytest.importorskip("torch")

ints, floats = st.integers(), st.floats()
small = st.integers(-5, 5)
items = st.lists(ints | floats | text, max_size=4)
seeds = st.integers(0, 2**32 - 1)

Strategy = st.SearchStrategy[Any]


def _moved(generator: Any, draws: int) -> Any:
    for _ in range(draws):
        getattr(generator, "random", generator)()
    return generator


def _numpy_legacy(seed: int, draws: int) -> Any:
    generator = np.random.RandomState(seed)
    generator.standard_normal(draws)
    return generator


def _torch_generator(seed: int, draws: int) -> Any:
    generator = torch.Generator().manual_seed(seed)
    torch.rand(draws, generator=generator)
    return generator


small_values = st.one_of(
    st.datetimes(), st.dates(), st.times(), st.timedeltas(), st.fractions(), st.uuids(),
    st.decimals(allow_nan=False), st.just(datetime.UTC),
    st.builds(lambda h: datetime.timezone(datetime.timedelta(hours=h), "Zone"), small),
    st.lists(st.sampled_from(["a", "b c", "ü"]), max_size=3).map(lambda parts: pathlib.Path(*parts)),
    st.sampled_from([pathlib.PurePosixPath("/a"), pathlib.PureWindowsPath("c:/b")]),
    st.builds(re.compile, st.sampled_from(["a+", "(?P<n>.)x", ""]), st.sampled_from([0, re.I, re.M | re.S])),
    st.builds(lambda seed, n: _moved(random.Random(seed), n), seeds, st.integers(0, 3)),
    st.builds(lambda seed, n: _moved(np.random.default_rng(seed), n), seeds, st.integers(0, 3)),
    st.builds(_numpy_legacy, seeds, st.integers(0, 3)), st.builds(_torch_generator, seeds, st.integers(0, 3)),
    hnp.scalar_dtypes(), hnp.array_dtypes(max_size=2), st.lists(st.integers(0, 4), max_size=3).map(torch.Size),
    st.sampled_from([torch.device("cpu"), torch.float16, torch.strided, torch.channels_last]),
    st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)).map(pd.Timestamp),
)  # fmt: skip
"""One of each type that is rebuilt by its constructor, and more."""

NAMES = (
    len, math.sqrt, operator.itemgetter, shapes.top, shapes.Config, str.upper, dict.fromkeys, torch.relu,
    torch.nn.functional.softmax, np.mean, math, logging.getLogger(), logging.getLogger("a.b"), pd.NaT, pd.NA,
)  # fmt: skip

TORCH_TYPES = tuple(
    getattr(torch, name)
    for name in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
                 "complex64", "complex128", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2")
)  # fmt: skip


@st.composite
def tensors(draw: Any) -> Any:
    """Of any type, layout, with or without gradient; NaN and infinities among the numbers."""
    dtype = draw(st.sampled_from(TORCH_TYPES))
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    value = (
        (torch.randn(shape, generator=generator, dtype=torch.float64) * 9).abs().to(torch.float32).to(dtype)
    )
    if dtype.is_floating_point and value.numel() and draw(st.booleans()):
        value.view(-1)[0] = float("nan")
    if len(shape) > 1 and draw(st.booleans()):
        value = value.transpose(0, 1)
    if shape and draw(st.booleans()):
        value = value[::2] if draw(st.booleans()) else value[1:]
    if dtype in (torch.float32, torch.float64) and draw(st.booleans()):
        value = value.detach().requires_grad_()
        if draw(st.booleans()):
            value.grad = torch.ones_like(value)
        elif draw(st.booleans()):
            value = value * 2
    return torch.nn.Parameter(value.detach()) if dtype == torch.float16 and draw(st.booleans()) else value


@st.composite
def sparse(draw: Any) -> Any:
    places = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=4))
    index = torch.tensor(places, dtype=torch.int64).reshape(len(places), 2).t()
    values = torch.arange(1.0, len(places) + 1)
    made = torch.sparse_coo_tensor(index, values, (4, 3), check_invariants=True)
    return made.coalesce() if draw(st.booleans()) else made


COLUMNS: dict[str, Strategy] = {
    "float": floats.map(float),
    "int": st.integers(-(2**40), 2**40),
    "text": text.filter(lambda v: v.isprintable()) | st.none(),
    "bool": st.booleans(),
    "when": st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)).map(pd.Timestamp) | st.just(pd.NaT),
}  # fmt: skip


@st.composite
def series(draw: Any, rows: int | None = None) -> Any:
    kind = draw(st.sampled_from(sorted(COLUMNS)))
    length = draw(st.integers(0, 4)) if rows is None else rows
    cells = draw(st.lists(COLUMNS[kind], min_size=length, max_size=length))
    dtype = {"when": "datetime64[ns]", "text": object}.get(kind)
    return pd.Series(cells, dtype=dtype or kind, name=draw(st.none() | text | ints))


@st.composite
def extension(draw: Any) -> Any:
    numbers = draw(st.lists(st.integers(-99, 99) | st.none(), max_size=4))
    dtype = draw(st.sampled_from(["Int64", "Float64", "boolean", "string", "UInt8"]))
    cells = {
        "string": [None if n is None else str(n) for n in numbers],
        "boolean": [None if n is None else n > 0 for n in numbers],
        "UInt8": [None if n is None else abs(n) for n in numbers],
    }.get(dtype, numbers)
    return pd.array(cells, dtype=dtype)


@st.composite
def categorical(draw: Any) -> Any:
    codes = draw(st.lists(st.integers(-1, 2), max_size=4))
    return pd.Categorical.from_codes(codes, categories=["u", "v", "w"], ordered=draw(st.booleans()))


@st.composite
def index(draw: Any) -> Any:
    kind = draw(st.sampled_from(["range", "plain", "multi", "when"]))
    if kind == "range":
        return pd.RangeIndex(
            draw(small), draw(st.integers(5, 9)), draw(st.integers(1, 3)), name=draw(st.none() | text)
        )
    if kind == "multi":
        rows = draw(st.lists(st.tuples(text, ints.filter(lambda n: abs(n) < 2**60)), min_size=1, max_size=3))
        return pd.MultiIndex.from_tuples(rows, names=["a", None])
    if kind == "when":
        return pd.to_datetime(
            draw(st.lists(st.dates(datetime.date(1990, 1, 1), datetime.date(2030, 1, 1)), max_size=3))
        )
    return pd.Index(
        draw(st.lists(st.integers(-99, 99), max_size=4)), dtype="int64", name=draw(st.none() | text)
    )


@st.composite
def frames(draw: Any) -> Any:
    rows, columns = draw(st.integers(0, 3)), draw(st.integers(0, 4))
    made = [draw(series(rows)) for _ in range(columns)]
    table = pd.DataFrame(dict(enumerate(made)), index=range(rows))
    names = draw(st.lists(text, min_size=columns, max_size=columns))  # may repeat
    table.columns = pd.Index(names, dtype=object)
    if rows and draw(st.booleans()):
        table["kind"] = pd.Categorical(["x"] * rows)
    return table


objects = st.one_of(
    st.builds(shapes.Config, text, st.lists(ints, max_size=2), floats), st.builds(shapes.Frozen, items),
    st.builds(lambda v: argparse.Namespace(a=v), items), st.builds(lambda v: types.SimpleNamespace(a=v), items),
    items.map(shapes.Names), text.map(shapes.Word), floats.map(shapes.Ratio), ints.map(shapes.Slotted),
    st.builds(lambda v: shapes.Output(loss=v), items), st.builds(shapes.Guarded, ints),
    st.builds(lambda n: torch.nn.Sequential(torch.nn.Linear(n, 2), torch.nn.Dropout(0.1)), st.integers(1, 3)),
)  # fmt: skip
reduced = st.one_of(
    st.builds(KeyError, text, ints), st.builds(ValueError, text), st.builds(operator.itemgetter, ints),
    st.builds(lambda v: torch.nn.Linear(2, 2).state_dict() and OSError(v, "text"), st.integers(1, 9)),
)  # fmt: skip

VALUES: dict[str, Strategy] = {
    "ref": st.lists(ints, max_size=3).map(lambda v: [v, v]),
    "int": st.integers(2**64, 2**200) | st.integers(-(2**200), -(2**64)),
    "str": st.just("\ud800").flatmap(lambda bad: text.map(lambda v: v + bad)),
    "float": st.sampled_from([math.inf, -math.inf, math.nan]),
    "complex": st.complex_numbers(),
    "bytes": st.binary(max_size=20),
    "bytearray": st.binary(max_size=20).map(bytearray),
    "list": items,
    "tuple": items.map(tuple),
    "set": st.sets(hashable, max_size=4),
    "frozenset": st.frozensets(hashable, max_size=4),
    "deque": st.builds(collections.deque, items, st.none() | st.integers(0, 6)),
    "dict": st.dictionaries(hashable, items, max_size=4),
    "OrderedDict": st.dictionaries(text, ints, max_size=4).map(collections.OrderedDict),
    "Counter": st.lists(hashable, max_size=6).map(collections.Counter),
    "defaultdict": st.builds(
        lambda make, v: collections.defaultdict(make, v), st.sampled_from([list, int, None]),
        st.dictionaries(text, ints, max_size=3),
    ),
    "factory": ints.map(lambda n: collections.defaultdict(lambda: [n], a=1)),
    "namedtuple": st.builds(shapes.Point, items, ints),
    "object": objects,
    "enum": st.sampled_from([*shapes.Color, shapes.Bits.A, shapes.Bits.A | shapes.Bits.B]),
    "slice": st.slices(9),
    "range": st.builds(range, ints, ints, st.integers(1, 9)),
    "ellipsis": st.just(...),
    "notimplemented": st.just(NotImplemented),
    "value": small_values,
    "name": st.sampled_from(NAMES),
    "method": st.builds(lambda n: shapes.Guarded(n).method, ints),
    "partial": st.builds(lambda a, k: functools.partial(shapes.top, *a, **k), items,
                         st.dictionaries(st.sampled_from("xyz"), ints, max_size=2)),
    "reduce": reduced,
    "ndarray": hnp.arrays(hnp.floating_dtypes() | hnp.integer_dtypes() | hnp.unicode_string_dtypes(max_len=3),
                          hnp.array_shapes(min_dims=0, min_side=0, max_side=3)).filter(lambda a: a.dtype.itemsize < 16 or a.dtype.kind == "U"),
    "objectarray": items.map(lambda v: np.array([*v, None, {"k": v}], dtype=object)),
    "npscalar": st.sampled_from([np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("ü"), np.complex64(1j), np.float64("nan")]),
    "tensor": tensors(),
    "sparse": sparse(),
    "dataframe": frames(),
    "series": series(),
    "index": index(),
    "extension": extension(),
    "categorical": categorical(),
    "fixture": st.just(shapes.Config("built")),
    "omitted": st.just(values.OmittedPart()),
}  # fmt: skip
"""Tag → values that are stored under it."""
