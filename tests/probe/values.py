"""Any values, and whether two are the same."""

from __future__ import annotations

import argparse
import collections
import datetime
import math
from typing import Any

from hypothesis import strategies as st

from lmr_author.probe import storage
from lmr_author.probe.codec import decode, encode
from lmr_author.probe.compare import compare
from tests.probe.shapes import (
    Color,
    Config,
    Frozen,
    Point,
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
