# ruff: noqa: E501 (tables of cases read better unbroken)
"""For every tag of a document: whatever value it stands for comes back as it was, and fits the schema."""

from __future__ import annotations

import argparse
import collections
import datetime
import functools
import json
import logging
import math
import operator
import pathlib
import random
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from jsonschema import Draft202012Validator

from lmr_author import resources
from lmr_author.probe import storage, values
from lmr_author.probe.codec import Document, Fixtures, decode, encode
from lmr_author.probe.compare import compare
from lmr_author.probe.leaves import walk
from lmr_author.probe.tree import FIELDS
from tests.probe import shapes
from tests.probe.test_codec import hashable, same, text

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

SCHEMA = Draft202012Validator(resources.schema("document"))
ints, floats = st.integers(), st.floats()
small = st.integers(-5, 5)
items = st.lists(ints | floats | text, max_size=4)
seeds = st.integers(0, 2**32 - 1)

Strategy = st.SearchStrategy[Any]


# Values, by the tag that they are stored under.


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


# Whether a value came back as it was.


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


def _same_plain(a: Any, b: Any) -> None:
    assert same(b, a)


def _same_array(a: Any, b: Any) -> None:
    assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


def _same_value(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    assert a == b or _state(a) == _state(b)


def _same_partial(a: Any, b: Any) -> None:
    assert a.func is b.func
    _same_plain([list(a.args), dict(a.keywords)], [list(b.args), dict(b.keywords)])


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
    _same_plain(a.tolist(), b.tolist())


def _omitted(a: Any, b: Any) -> None:
    with pytest.raises(RuntimeError, match="was not recorded"):
        b.anything


SAME: dict[str, Callable[[Any, Any], None]] = {
    "tensor": _same_tensor, "sparse": _same_tensor, "value": _same_value, "method": _same_method,
    "partial": _same_partial, "reduce": _same_reduced, "factory": _same_factory, "defaultdict": _same_default,
    "ndarray": _same_array, "npscalar": _same_array, "objectarray": _same_object_array, "object": _same_object,
    "dataframe": pd.testing.assert_frame_equal, "series": pd.testing.assert_series_equal,
    "index": pd.testing.assert_index_equal, "extension": pd.testing.assert_extension_array_equal,
    "categorical": pd.testing.assert_extension_array_equal, "omitted": _omitted, "name": _same_name, "fixture": _same_object,
}  # fmt: skip
"""How values of a tag are compared, where not by type and ``==`` throughout."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("unit_test") / "fixtures.py"
    path.write_text("from tests.probe.shapes import Config\n\ndef thing():\n    return Config('built')\n")
    return str(path)


def stored(value: Any, folder: Any, fixtures: Fixtures) -> Document:
    """Encoded, written to disk, valid by the schema, and read again."""
    document = encode({"thing": value}, stands_in=fixtures.find)
    storage.dump(document, str(folder), "inputs")
    assert storage.load(str(folder), "inputs").digest() == document.digest()
    problems = [
        error.message for error in SCHEMA.iter_errors(json.loads((folder / "inputs.json").read_text()))
    ]
    assert problems == []
    return storage.from_bytes(storage.to_bytes(document))


def tags(document: Document) -> Iterator[str]:
    for _, node in walk(document):
        if isinstance(node, dict):
            yield node["$"]


def test_every_tag_has_its_values() -> None:
    assert sorted(VALUES) == sorted(FIELDS)
    assert set(resources.schema("document")["$defs"]["tagged"]["properties"]["$"]["enum"]) == set(FIELDS)


@pytest.mark.parametrize("tag", sorted(VALUES))
def test_values_come_back(tag: str, built: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("case")
    fewer = 12 if tag in ("tensor", "dataframe", "series", "object", "value") else 6

    @settings(
        max_examples=5 * fewer, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
    )
    @given(VALUES[tag])
    def check(value: Any) -> None:
        names = ("thing",) if tag == "fixture" else ()
        document = stored(value, folder, Fixtures(names))
        assert tag in set(tags(document))
        again = decode(document, Fixtures(path=built))["thing"]
        if tag not in ("omitted", "fixture"):
            assert compare(document, encode({"thing": again})) == []
        SAME.get(tag, _same_plain)(value, again)

    check()


def test_every_small_value_is_among_them() -> None:
    """Each constructor that a document may name is drawn at least once."""
    found: set[str] = set()

    @settings(
        max_examples=1500,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(small_values)
    def collect(value: Any) -> None:
        described = values.describe(value)
        assert described is not None
        found.add(described[0])

    collect()
    assert found == set(values.BUILDERS)
