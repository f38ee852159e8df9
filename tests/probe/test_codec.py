"""Values are stored and read back as they were."""

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
import random
import re
import types
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmr_author.probe import storage
from lmr_author.probe.codec import decode, encode
from lmr_author.probe.compare import compare
from tests.probe.shapes import (
    Bits,
    Color,
    Config,
    Guarded,
    Names,
    Output,
    Ratio,
    Slotted,
    Word,
    top,
)
from tests.probe.values import anything, same, through


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
    before = Guarded.built
    guarded = Guarded([1])
    bound = through({"owner": guarded, "call": guarded.method})
    assert bound["call"]() == [1] and bound["call"].__self__ is bound["owner"]
    assert Guarded.built == before + 1, "the constructor did not run again"
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
