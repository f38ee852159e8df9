"""What recorded calls have in common: sizes, limits and relations that a generated call has to keep.

As in Daikon (Ernst et al., 2007), a relation counts that holds in every recorded call: `len(a) == len(b)`, `k <= n`,
rows that sum to one. The plainest such relations are enough here, as the golden has the last word.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from lmr_author.proof.exploring.inputs import Inputs, Place, elements

MOST_SIZES = 40
"""Sizes among which relations are looked for."""
DIGITS = 4
"""Digits of the sum of a row that count: those of a distribution sum to one but for rounding."""

Facts = dict[str, float]
"""A fact about a call → its number."""


class Profile:
    """Facts of all recorded calls.

    Args:
        calls: at least one.
    """

    def __init__(self, calls: Sequence[Inputs]) -> None:
        seen = [facts(call) for call in calls]
        names = dict.fromkeys(itertools.chain.from_iterable(seen))
        values = {name: [one[name] for one in seen if name in one] for name in names}
        # What holds in some calls only may hold or not.
        self._limits = {
            name: (min(numbers), 1.0 if name.startswith(_HOLDS) else max(numbers))
            for name, numbers in values.items()
        }
        sizes = [name for name in names if name.startswith(_SIZE)][:MOST_SIZES]
        pairs = itertools.combinations(sizes, 2)
        self._relations = [relation for pair in pairs if (relation := _relation(*pair, seen))]

    def allows(self, call: Inputs) -> bool:
        own = facts(call)
        for name, number in own.items():
            least, most = self.limits(name)
            if not least <= number <= most:
                return False
        for first, second, least, most in self._relations:
            if first in own and second in own and not least <= own[first] - own[second] <= most:
                return False
        return True

    def linked(self, size: str) -> set[str]:
        equal = {size}
        for first, second, least, most in self._relations:
            if least == most == 0 and size in (first, second):
                equal |= {first, second}
        return equal

    def limits(self, name: str) -> tuple[float, float]:
        return self._limits.get(name, (1.0, 0.0))


Relation = tuple[str, str, float, float]
"""Two sizes, and the least and the largest difference that they may have."""

_ANY = float("inf")


def _relation(first: str, second: str, seen: Sequence[Facts]) -> Relation | None:
    """Return a relation that holds in every call which has both: a constant difference, or an order."""
    pairs = {(one[first], one[second]) for one in seen if first in one and second in one}
    gaps = {one - other for one, other in pairs}
    if not gaps:
        return None
    if len(gaps) == 1:
        gap = gaps.pop()
        # That a single pair differs by three says nothing; that it is equal may well be meant.
        return (first, second, gap, gap) if gap == 0 or len(pairs) > 1 else None
    if min(gaps) >= 0:
        return first, second, 0, _ANY
    return (first, second, -_ANY, 0) if max(gaps) <= 0 else None


_SIZE, _RANGE, _HOLDS, _TYPE = "size ", "range ", "holds ", "type "


def size_of(path: str, axis: int | None = None) -> str:
    """Return the name of the fact that a size is: of a list, of an axis of an array, or a whole number."""
    return f"{_SIZE}{path}" + ("" if axis is None else f".shape[{axis}]")


def facts(call: Inputs) -> Facts:
    """Return the facts of a call. Of values that lie in a list, the least and the largest count."""
    found: Facts = {}
    for place in call.places():
        for name, number in _facts_of(call, place):
            if "[*]" not in place.path or name.startswith(_TYPE):
                found[name] = number
                continue
            for end, pick in (("least", min), ("most", max)):
                key = f"{name} {end}"
                found[key] = pick(found.get(key, number), number)
    return found


def _facts_of(call: Inputs, place: Place) -> Iterator[tuple[str, float]]:
    path, node = place.path, place.node
    items = elements(node)
    if node is None or isinstance(node, bool):
        yield f"{_TYPE}{path} {node}", 1
    elif isinstance(node, int):
        yield f"{_TYPE}{path} number", 1
        yield size_of(path), node
    elif isinstance(node, float):
        yield f"{_TYPE}{path} number", 1
        yield f"{_RANGE}{path}", node
    elif isinstance(node, str):
        yield f"{_TYPE}{path} text", 1
        yield f"{_RANGE}len({path})", len(node)
        yield f"{_RANGE}longest word of {path}", max(map(len, node.split()), default=0)
        # Words in another order are still words; a part of one is perhaps what nobody would write.
        yield from ((f"{_TYPE}{path} has {word!r}", 1) for word in node.split(" "))
    elif items is not None:
        yield f"{_TYPE}{path} list", 1
        yield size_of(path), len(items)
        if items and all(isinstance(item, int | float) for item in items):
            yield from _orders(path, items)
    elif (values := call.array(node)) is not None:
        yield f"{_TYPE}{path} {node['$']} {node['dtype']} {values.ndim}", 1
        for axis, size in enumerate(values.shape):
            yield size_of(path, axis), size
        yield from _facts_of_array(path, values)
    elif isinstance(node, dict) and node.get("$") in ("set", "frozenset"):
        yield f"{_TYPE}{path} set", 1
        yield size_of(path), len(node["v"])


def _orders(path: str, numbers: Sequence[float]) -> Iterator[tuple[str, float]]:
    neighbours = list(itertools.pairwise(numbers))
    yield f"{_HOLDS}{path} ascends", all(first <= second for first, second in neighbours)
    yield f"{_HOLDS}{path} descends", all(first >= second for first, second in neighbours)
    yield f"{_HOLDS}{path} has no ties", len(set(numbers)) == len(numbers)


def _facts_of_array(path: str, values: Any) -> Iterator[tuple[str, float]]:
    """Yield limits of the numbers, and what holds of their rows, which a mask or a distribution needs."""
    import numpy

    if not values.size:
        return
    with numpy.errstate(all="ignore"):
        yield f"{_RANGE}{path} has NaN", float(numpy.isnan(values).any()) if values.dtype.kind == "f" else 0.0
        if values.dtype.kind in "iu":  # indices and counts are sizes, too
            yield f"{size_of(path)} least", float(values.min())
            yield f"{size_of(path)} most", float(values.max())
        elif values.dtype.kind == "f":
            yield f"{_RANGE}{path} least", float(values.min())
            yield f"{_RANGE}{path} most", float(values.max())
            yield f"{_HOLDS}{path} is whole", float((values == numpy.round(values)).all())
        if values.dtype.kind == "b" or (values.min() >= 0 and values.max() <= 1):
            sums = values.sum(axis=-1)
            yield f"{_RANGE}{path} rows least", round(float(sums.min()), DIGITS)
            yield f"{_RANGE}{path} rows most", round(float(sums.max()), DIGITS)
        if values.ndim:
            rows = values.astype("f8")
            steps = numpy.diff(rows, axis=-1)
            yield f"{_HOLDS}{path} ascends", float((steps >= 0).all())
            yield f"{_HOLDS}{path} descends", float((steps <= 0).all())
            yield f"{_HOLDS}{path} has no ties", float(len(numpy.unique(values)) == values.size)
        if values.ndim >= 2 and values.shape[-1] == values.shape[-2]:
            turned = numpy.swapaxes(values, -1, -2)
            yield f"{_HOLDS}{path} is symmetric", float(numpy.allclose(values, turned))
