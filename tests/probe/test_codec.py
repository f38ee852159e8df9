# ruff: noqa: E501 (tables of cases read better unbroken)
"""Values are stored and read back as they were; what cannot be stored is named."""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import functools
import io
import logging
import math
import operator
import pathlib
import re
import subprocess
import sys
import threading
import types
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lmr_author.runtime.probe.checking import digest, from_bytes, load, to_bytes
from lmr_author.runtime.probe.compare import compare
from lmr_author.runtime.probe.decoding import decode
from lmr_author.runtime.probe.document import BadDocument
from lmr_author.runtime.probe.encoding import encode
from lmr_author.runtime.probe.objects import is_plain
from lmr_author.runtime.probe.storing import TooLarge, Unstorable, dump
from tests.probe.shapes import Bits, Color, Config, Guarded, Names, Output, Point, Ratio, Slotted, Word, top
from tests.probe.values import anything, through

DTYPES = (
    hnp.boolean_dtypes() | hnp.integer_dtypes() | hnp.unsigned_integer_dtypes() | hnp.floating_dtypes(sizes=(16, 32, 64))
    | hnp.complex_number_dtypes(sizes=(64, 128)) | hnp.unicode_string_dtypes(max_len=4) | hnp.byte_string_dtypes(max_len=4)
    | hnp.datetime64_dtypes() | hnp.timedelta64_dtypes() | hnp.array_dtypes(max_size=3)
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(anything)
def test_any_nesting_round_trips(value: Any) -> None:
    through(value)


def test_small_values_are_readable(tmp_path: Path) -> None:
    value = {"beta": 0.1, "x": np.array([0.1, 2], "f4"), "names": ["a", "b"], "large": np.arange(300)}
    dump(encode(value), str(tmp_path), "inputs")
    text = (tmp_path / "inputs.json").read_text()
    assert '"beta": 0.1' in text and '"data": [0.1, 2.0]' in text and '"names": ["a", "b"]' in text
    assert np.load(tmp_path / "inputs.0.npy", allow_pickle=False).tolist() == list(range(300))
    assert digest(load(str(tmp_path), "inputs")) == digest(encode(value))


@pytest.mark.parametrize(
    "value",
    [
        2**200, -(2**64), float("-inf"), -0.0, Color.BLUE, Bits.A | Bits.B, uuid.UUID(int=5),
        decimal.Decimal("1.50"), fractions.Fraction(-1, 3), pathlib.PurePosixPath("/a/b"), Path("x") / "y",
        re.compile("a+", re.IGNORECASE), collections.Counter("abca"), types.SimpleNamespace(a=[1]), Word("w"), Names(["a"]),
        Ratio(0.5), Point(1, [2]), len, math.sqrt, operator.itemgetter, top, Config, math, int, str.upper, dict.fromkeys,
        collections.OrderedDict(b=1, a=2), datetime.UTC, logging.getLogger("some.name"), logging.getLogger(), io.BytesIO,
        {"$": 1}, {1: 2, (1, 2): 3}, range(3), NotImplemented, slice(1, None), b"x", np.float32, np.dtype("<f4"), np.float64(2),
        np.str_("ü"), np.datetime64("2020-01-01"), pd.Timestamp("2020-01-01", tz="UTC"),
    ],
    ids=lambda value: re.sub(r" at 0x\w+", "", repr(value)),
)  # fmt: skip
def test_single_values(value: Any) -> None:
    result = through(value)
    assert type(result) is type(value)
    assert result == value


def test_more_kinds_of_values() -> None:
    generator = np.random.default_rng(3)
    assert through(generator).random() == generator.random(), "it goes on where it was"
    table = through(collections.defaultdict(list, a=[1]))
    assert table["new"] == [] and table.default_factory is list
    unnamed = through(collections.defaultdict(lambda: [7], a=1))
    assert unnamed["new"] == [7] and dict(unnamed) == {"a": 1, "new": [7]}
    assert through(functools.partial(int, "11", base=2))() == 3
    before = Guarded.built
    guarded = Guarded([1])
    bound = through({"owner": guarded, "call": guarded.method})
    assert bound["call"]() == [1] and bound["call"].__self__ is bound["owner"]
    assert Guarded.built == before + 1, "the constructor did not run again"
    assert through("ab".upper)() == "AB"
    assert through(Slotted(3)).same(Slotted(3))
    asked = KeyError("k", 2)
    assert asked.__dict__ == {}
    assert compare(encode(KeyError("k", 2)), encode(asked)) == []
    output = through(Output(loss=[1], logits=None))
    assert type(output) is Output and list(output.items()) == [("loss", [1]), ("logits", None)]
    assert output.loss is output["loss"]
    assert through(pd.NaT) is pd.NaT and through(pd.NA) is pd.NA


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=8))
def test_identity_is_kept(places: list[int]) -> None:
    pool: list[Any] = [[], {}, set(), Config("c"), bytearray(b"x")]
    value = [pool[place] for place in places]
    result = through(value)
    for a in range(len(places)):
        for b in range(len(places)):
            assert (result[a] is result[b]) == (value[a] is value[b])


def test_cycles_and_copies() -> None:
    items: list[Any] = [1]
    items.append(items)
    config = Config("c")
    config.parent = {"me": config, "items": items}
    result = through(config)
    assert result.parent["me"] is result
    assert result.parent["items"][1] is result.parent["items"]
    document = encode(items)
    items[0] = 2
    assert decode(document)[0] == 1


@settings(max_examples=150, deadline=None)
@given(hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)))
def test_arrays(array: Any) -> None:
    result = through({"a": array, "same": array})
    assert result["a"] is result["same"]
    assert result["a"].dtype == array.dtype and result["a"].shape == array.shape
    assert _without_payloads(result["a"]).tobytes() == _without_payloads(array).tobytes()
    assert result["a"].flags.writeable


def _without_payloads(array: Any) -> Any:
    """One NaN for all: which of its bits are set says nothing, and JSON does not keep them."""
    if array.dtype.kind == "c":
        cleaned = array.copy()
        cleaned.real, cleaned.imag = _without_payloads(array.real), _without_payloads(array.imag)
        return cleaned
    if array.dtype.kind != "f":
        return array
    return np.where(np.isnan(array), np.array(np.nan, array.dtype), array)


def test_arrays_of_other_layouts() -> None:
    base = np.arange(24.0).reshape(4, 6)
    for value in (base.T, base[::2, ::-1], np.asfortranarray(base), np.eye(2).view(np.matrix)):
        result = through(value)
        assert np.array_equal(result, value) and type(result) is type(value)
    objects = through(np.array([None, [1], "x", {"a": base}], dtype=object).reshape(2, 2))
    assert objects[0, 1] == [1] and np.array_equal(objects[1, 1]["a"], base)
    with pytest.raises(Unstorable, match="only plain arrays"):
        encode([np.ma.masked_array([1, 2], [True, False])])


def test_tables() -> None:
    frame = pd.DataFrame(
        {
            "int": [1, 2, 3],
            "float": [0.5, float("nan"), -0.0],
            "text": ["a", None, "c"],
            "when": pd.to_datetime(["2020-01-01", None, "2021-05-05"]),
            "zone": pd.to_datetime(["2020-01-01"] * 3).tz_localize("Europe/Berlin"),
            "kind": pd.Categorical(["u", "v", "u"], categories=["v", "u"], ordered=True),
            "nullable": pd.array([1, None, 3], dtype="Int64"),
        },
        index=pd.Index(["r1", "r2", "r3"], name="row"),
    )
    pd.testing.assert_frame_equal(through(frame), frame)
    pd.testing.assert_series_equal(through(frame["kind"]), frame["kind"])
    wide = pd.DataFrame(np.eye(2), columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", "y"]))
    pd.testing.assert_frame_equal(through(wide), wide)
    (difference,) = compare(encode(frame), encode(frame.assign(float=[0.5, 1.0, -0.0])))
    assert "1 of 3 elements differ" in difference.message


@pytest.mark.torch
def test_tensors() -> None:
    import torch

    names = [
        "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16",
        "float32", "float64", "complex64", "complex128",
    ]  # fmt: skip
    for base in (torch.arange(6).reshape(2, 3), torch.arange(300)):
        for name in names:
            value = base.to(getattr(torch, name))
            result = through([value])[0]
            assert result.dtype == value.dtype and result.shape == value.shape, name
            assert torch.equal(result.to(torch.complex128), value.to(torch.complex128)), name
    random = torch.randn(50) / 3
    assert torch.equal(through(random), random), "few digits tell all numbers apart"
    base = torch.arange(6.0).reshape(2, 3)
    for value in (base.t(), base[:, ::2], torch.empty(0, 3), torch.tensor(1.5), torch.tensor([1j]).conj()):
        assert torch.equal(through(value), value)
    leaf = torch.ones(2, requires_grad=True)
    leaf.grad = torch.tensor([3.0, 4.0])
    result = through({"leaf": leaf, "other": leaf * 2, "parameter": torch.nn.Parameter(torch.ones(2))})
    assert result["leaf"].grad.tolist() == [3, 4] and result["leaf"].is_leaf
    assert result["other"].requires_grad and not result["other"].is_leaf
    assert type(result["parameter"]) is torch.nn.Parameter
    pairs = torch.sparse_coo_tensor(
        torch.tensor([[0], [1]]), torch.tensor([5.0]), (2, 2), check_invariants=True
    )
    assert torch.equal(through(pairs).to_dense(), pairs.to_dense())
    with pytest.raises(Unstorable, match="only dense"):
        encode([torch.empty(2, device="meta")])

    class Local(torch.Tensor):
        pass

    odd = torch.ones(1).as_subclass(Local)
    document = encode(Config("c", parent=[odd, odd]))
    assert len(document.omitted) == 2
    assert decode(from_bytes(to_bytes(document))).name == "c", "nothing refers to what was left out"


def test_what_cannot_be_stored_is_named() -> None:
    class Local:
        pass

    with open(__file__) as file:
        values = [
            ("function", lambda: 1), ("generator", (k for k in "a")), ("_io.TextIOWrapper", file),
            ("_thread.lock", threading.Lock()), ("list_iterator", iter([1])),
            (f"{__name__}.{Local.__qualname__}", Local()),
        ]  # fmt: skip
        with pytest.raises(Unstorable) as caught:
            encode({"args": [value for _, value in values], "fine": 1})
    assert [item.path for item in caught.value.problems] == [f"args[{n}]" for n in range(len(values))]
    assert [item.type for item in caught.value.problems] == [name for name, _ in values]
    assert all(item.advice for item in caught.value.problems)


def test_an_attribute_that_cannot_be_stored_is_left_out() -> None:
    config = Config("c", [1], parent=threading.Lock())
    config.hooks = [1, lambda: 2]  # type: ignore[attr-defined]
    document = encode({"self": config})
    assert [(item.path, item.type) for item in document.omitted] == [
        ("self.parent", "_thread.lock"),
        ("self.hooks[1]", "function"),
    ]
    result = decode(document)["self"]
    assert result.sizes == [1]
    with pytest.raises(RuntimeError, match="was not recorded"):
        result.parent.acquire  # and not the default of the class
    assert compare(document, encode({"self": result})) == []


def test_a_class_that_only_has_the_name_of_another_is_not_that_other() -> None:
    other = type("Config", (), {"__module__": "tests.probe.shapes"})
    for value in (other(), other):
        with pytest.raises(Unstorable, match="no importable name"):
            encode([value])
    document = encode(Config("c"))
    document.tree["cls"] = "tests.probe.shapes:Gone"
    with pytest.raises(BadDocument, match=r"no tests\.probe\.shapes:Gone"):
        decode(document)


def test_a_function_that_the_run_made_says_what_to_pass_instead() -> None:
    """An optimizer's ``closure``, mostly: it is no attribute, so the call is lost."""
    with pytest.raises(Unstorable, match=r"closure: cannot store a function \(.*leave it out \(None\)"):
        encode({"closure": lambda: 1.0})


def test_what_cannot_be_rebuilt_is_named() -> None:
    document = encode({"self": Config("c", parent=Config("inner"))})
    document.tree["self"]["state"]["parent"]["cls"] = "tests.probe.shapes:Gone"
    with pytest.raises(BadDocument, match=r"^self\.parent: ") as caught:
        decode(document)
    assert caught.value.part == "self.parent"


def test_an_object_that_native_code_makes_is_no_plain_object() -> None:
    """A tokenizer in Rust has a ``__dict__``, as an object of Python's, and its state elsewhere."""
    assert not is_plain(functools.partial)
    assert is_plain(Config) and is_plain(Guarded)


def test_limits() -> None:
    config = Config("c")
    config.parent = b"x" * 50_000
    with pytest.raises(TooLarge) as caught:
        encode({"a": b"y" * 20_000, "self": config}, limit=60_000)
    assert (caught.value.path, caught.value.size, caught.value.limit) == ("self.parent", 50_000, 60_000)
    document = encode({"a": b"y" * 20_000, "self": config}, limit=60_000, skip=["self.parent"])
    assert [item.path for item in document.omitted] == ["self.parent"]
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(Unstorable, match="nested too deeply"):
        encode(deep)
    shared: tuple[Any, ...] = ()
    for _ in range(60):
        shared = (shared, shared)
    assert compare(encode(shared), encode(shared)) == [], "2**60 paths, 60 tuples"


def test_the_same_whatever_the_hash_seed() -> None:
    code = (
        "from lmr_author.runtime.probe.checking import digest\nfrom lmr_author.runtime.probe.encoding import encode\n"
        "print(digest(encode([{'a', 'b', 'c', 'zz'}, frozenset(['x', 'y', 3, 4.5, None])])))"
    )
    environments = [{"PYTHONHASHSEED": str(seed), "PYTHONPATH": ":".join(sys.path)} for seed in (0, 1, 2)]
    assert (
        len({subprocess.check_output([sys.executable, "-c", code], env=each) for each in environments}) == 1
    )
