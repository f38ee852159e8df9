"""Values survive being stored: types, identity, exactness; and what does not is said."""

from __future__ import annotations

import argparse
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
import random
import re
import subprocess
import sys
import threading
import types
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmr_author.probe import codec, storage
from lmr_author.probe.codec import TooLarge, Unstorable, decode, encode
from lmr_author.probe.compare import compare
from tests.probe.shapes import (
    Bits,
    Color,
    Config,
    Frozen,
    Guarded,
    Names,
    Output,
    Point,
    Ratio,
    Slotted,
    Word,
    top,
)


def through(value: Any) -> Any:
    """A value after a trip through bytes; the document is unchanged by it."""
    document = encode(value)
    read = storage.from_bytes(storage.to_bytes(document))
    assert read.digest() == document.digest()
    again = decode(read)
    assert compare(document, encode(again)) == []
    return again


def same(a: Any, b: Any) -> bool:
    """Equal, of the same types throughout, NaN and signed zero told apart from others."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, (list, tuple, collections.deque)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return len(a) == len(b) and all(
            same(k, m) and same(x, y) for (k, x), (m, y) in zip(a.items(), b.items(), strict=True)
        )
    if isinstance(a, (Config, Frozen, argparse.Namespace)):
        return same(vars(a), vars(b))
    return bool(a == b)


text = st.text(alphabet=st.characters(exclude_categories=()), max_size=8)
hashable = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text | st.binary(max_size=5)
    | st.dates() | st.sampled_from(list(Color)),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
leaf = (
    hashable | st.floats() | st.complex_numbers() | st.binary(max_size=9).map(bytearray) | st.datetimes()
    | st.timedeltas() | st.times() | st.decimals(allow_nan=False) | st.fractions() | st.uuids()
    | st.datetimes(timezones=st.just(datetime.timezone(datetime.timedelta(hours=3))))
    | st.slices(9) | st.just(...) | st.just(NotImplemented) | st.builds(range, st.integers(-9, 9), st.integers(0, 9))
)  # fmt: skip
anything = st.recursive(
    leaf,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(hashable, inner, max_size=4)
        | st.dictionaries(text, inner, max_size=3).map(collections.OrderedDict)
        | st.lists(inner, max_size=3).map(lambda v: collections.deque(v, maxlen=5))
        | st.sets(hashable, max_size=4)
        | st.builds(Point, inner, inner)
        | st.builds(Config, text, st.lists(st.integers(), max_size=2), inner)
        | st.builds(Frozen, inner)
        | st.builds(lambda v: argparse.Namespace(a=v), inner)
    ),
    max_leaves=15,
)


@settings(max_examples=300, deadline=None)
@given(anything)
def test_any_nesting_round_trips(value: Any) -> None:
    assert same(through(value), value)


@settings(max_examples=60, deadline=None)
@given(anything)
def test_on_disk_too(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    folder = tmp_path_factory.mktemp("case")
    document = encode(value)
    storage.dump(document, str(folder), "inputs")
    assert storage.load(str(folder), "inputs").digest() == document.digest()


@pytest.mark.parametrize(("count", "lines"), [(3, 10), (storage.READABLE, 1)])
def test_what_is_small_is_written_for_people_and_what_is_large_is_not(
    count: int, lines: int, tmp_path: Path
) -> None:
    storage.dump(encode([1] * count), str(tmp_path), "inputs")
    written = len((tmp_path / "inputs.json").read_text().splitlines())
    assert written == 1 if lines == 1 else written >= lines


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=8))
def test_identity_is_kept(places: list[int]) -> None:
    pool: list[Any] = [[], {}, set(), Config("c"), bytearray(b"x")]
    value = [pool[place] for place in places]
    result = through(value)
    for a in range(len(places)):
        for b in range(len(places)):
            assert (result[a] is result[b]) == (value[a] is value[b])


def test_cycles() -> None:
    items: list[Any] = [1]
    items.append(items)
    config = Config("c")
    config.parent = {"me": config, "items": items}
    result = through(config)
    assert result.parent["me"] is result
    assert result.parent["items"][1] is result.parent["items"]


@pytest.mark.parametrize(
    "value",
    [
        2**200,
        -(2**64),
        "\ud83d\ude00 as two surrogates",
        float("-inf"),
        -0.0,
        Color.BLUE,
        Bits.A | Bits.B,
        uuid.UUID(int=5),
        decimal.Decimal("1.50"),
        decimal.Decimal("NaN").copy_abs().is_nan(),
        fractions.Fraction(-1, 3),
        pathlib.PurePosixPath("/a/b"),
        Path("x") / "y",
        re.compile("a+", re.IGNORECASE),
        collections.Counter("abca"),
        types.SimpleNamespace(a=[1]),
        Word("w"),
        Names(["a"]),
        Ratio(0.5),
        len,
        math.sqrt,
        operator.itemgetter,
        top,
        Config,
        math,
        int,
        collections.OrderedDict(b=1, a=2),
        datetime.UTC,
        logging.getLogger("some.name"),
        io.BytesIO,
        logging.getLogger(),
        str.upper,
        dict.fromkeys,
    ],
    ids=lambda value: re.sub(r" at 0x\w+", "", repr(value)),
)
def test_single_values(value: Any) -> None:
    result = through(value)
    assert type(result) is type(value)
    assert result == value


def test_more_kinds_of_values() -> None:
    table = collections.defaultdict(list, a=[1])
    result = through(table)
    assert result["new"] == [] and result.default_factory is list
    call = through(functools.partial(int, "11", base=2))
    assert call() == 3
    guarded = Guarded([1])
    bound = through({"owner": guarded, "call": guarded.method})
    assert bound["call"]() == [1] and bound["call"].__self__ is bound["owner"]
    assert Guarded.built == 1, "the constructor did not run again"
    assert through("ab".upper)() == "AB"
    slotted = through(Slotted(3))
    assert slotted.same(Slotted(3))
    asked = KeyError("k", 2)
    assert asked.__dict__ == {}
    assert compare(encode(KeyError("k", 2)), encode(asked)) == []
    error = through(KeyError("k", 2))
    assert error.args == ("k", 2) and type(error) is KeyError
    output = through(Output(loss=[1], logits=None))
    assert type(output) is Output and list(output.items()) == [("loss", [1]), ("logits", None)]
    assert output.loss is output["loss"]


def test_random_generators_go_on_where_they_were() -> None:
    generator = random.Random(5)
    generator.gauss(0, 1)
    result = through([generator, generator])
    assert result[0] is result[1]
    assert [result[0].gauss(0, 1) for _ in range(3)] == [generator.gauss(0, 1) for _ in range(3)]


def test_a_document_is_a_copy() -> None:
    value = {"a": [1, bytearray(b"x")]}
    document = encode(value)
    value["a"][1][0] = 0  # type: ignore[index]
    value["a"].append(2)
    assert decode(document) == {"a": [1, bytearray(b"x")]}


def unstorable() -> list[tuple[str, Any]]:
    return [
        ("function", lambda: 1),
        ("generator", (k for k in "a")),
        ("_io.TextIOWrapper", open(__file__)),
        ("_thread.lock", threading.Lock()),
        ("list_iterator", iter([1])),
        ("zip", zip("a", "b", strict=False)),
        ("tests.probe.test_codec.local_class.<locals>.Local", local_class()),
    ]


def local_class() -> Any:
    class Local:
        pass

    return Local()


def test_what_cannot_be_stored_is_named() -> None:
    values = unstorable()
    with pytest.raises(Unstorable) as caught:
        encode({"args": [value for _, value in values], "fine": 1})
    assert [item.path for item in caught.value.problems] == [f"args[{n}]" for n in range(len(values))]
    assert [item.type for item in caught.value.problems] == [name for name, _ in values]
    assert all(item.advice for item in caught.value.problems)
    values[2][1].close()


def test_an_attribute_that_cannot_be_stored_is_left_out() -> None:
    config = Config("c", [1], parent=threading.Lock())
    config.hooks = [1, lambda: 2]  # type: ignore[attr-defined]
    document = encode({"self": config})
    assert [(item.path, item.type) for item in document.omitted] == [
        ("self.parent", "_thread.lock"),
        ("self.hooks[1]", "function"),
    ]
    result = decode(storage.from_bytes(storage.to_bytes(document)))["self"]
    assert result.sizes == [1]
    with pytest.raises(RuntimeError, match="was not recorded"):
        result.parent.acquire  # and not the default of the class
    with pytest.raises(RuntimeError, match="was not recorded"):
        result.hooks[1]()
    assert compare(document, encode({"self": result})) == []


def test_a_class_that_only_has_the_name_of_another_is_not_that_other() -> None:
    other = type("Config", (), {"__module__": "tests.probe.shapes"})
    with pytest.raises(Unstorable, match="no importable name"):
        encode([other()])
    with pytest.raises(Unstorable, match="no importable name"):
        encode([other])


def test_the_limit_names_the_largest_part() -> None:
    config = Config("c")
    config.parent = b"x" * 50_000
    with pytest.raises(TooLarge) as caught:
        encode({"a": b"y" * 20_000, "self": config}, limit=60_000)
    assert (caught.value.path, caught.value.size, caught.value.limit) == ("self.parent", 50_000, 60_000)
    document = encode({"a": b"y" * 20_000, "self": config}, limit=60_000, skip=["self.parent"])
    assert [item.path for item in document.omitted] == ["self.parent"]


def test_deep_nesting_is_refused_not_fatal() -> None:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    with pytest.raises(Unstorable, match="nested too deeply"):
        encode(value)
    shared: tuple[Any, ...] = ()
    for _ in range(60):
        shared = (shared, shared)
    assert len(storage.to_bytes(encode(shared))) < 10_000, "2**60 paths, 60 tuples"
    assert compare(encode(shared), encode(shared)) == []


DETERMINISM = """
from lmr_author.probe.codec import encode
from tests.probe.shapes import Color
print(encode([{"a", "b", "c", "zz"}, frozenset(["x", "y", 3, 4.5, None]), {Color.RED, Color.BLUE}]).digest())
"""


def test_the_same_whatever_the_hash_seed() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", DETERMINISM],
            env={"PYTHONHASHSEED": str(seed), "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in (0, 1, 2, 3)
    }
    assert len(digests) == 1


def test_a_class_that_is_gone_makes_a_bad_document() -> None:
    document = encode(Config("c"))
    document.tree["cls"] = "tests.probe.shapes:Gone"
    with pytest.raises(codec.BadDocument, match=r"no tests\.probe\.shapes:Gone"):
        decode(document)
