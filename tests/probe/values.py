"""Any plain values, and a value after a trip through bytes."""

from __future__ import annotations

import argparse
import collections
from typing import Any

from hypothesis import strategies as st

from lmr_author.runtime.probe.checking import digest, from_bytes, to_bytes
from lmr_author.runtime.probe.compare import compare
from lmr_author.runtime.probe.decoding import decode
from lmr_author.runtime.probe.encoding import encode
from tests.probe.shapes import Color, Config, Frozen, Point


def through(value: Any) -> Any:
    """Return a value after a trip through bytes; the document is unchanged by it."""
    document = encode(value)
    read = from_bytes(to_bytes(document))
    assert digest(read) == digest(document)
    again = decode(read)
    assert compare(document, encode(again)) == []
    assert digest(encode(again)) == digest(document)
    return again


text = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=8)
hashable = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text | st.binary(max_size=5)
    | st.dates() | st.sampled_from(list(Color)),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
leaf = (
    hashable | st.floats() | st.complex_numbers() | st.binary(max_size=9).map(bytearray) | st.datetimes()
    | st.timedeltas() | st.decimals(allow_nan=False) | st.fractions() | st.uuids() | st.slices(9) | st.just(...)
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
