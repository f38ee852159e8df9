"""The inputs of recorded calls as data, and the invariants that generated calls must keep.

As in Daikon (Ernst et al., 2007), an invariant is a relation that holds in every recorded call: `len(a) == len(b)`,
`k <= n`, rows that sum to one. Simple ones suffice, as the golden rejects other bad inputs.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lmr_author.core import files
from lmr_author.runtime.probe.arrays import numbers
from lmr_author.runtime.probe.calling import CLOSURE
from lmr_author.runtime.probe.document import Document, join, key_text, walk
from lmr_author.runtime.probe.storing import put_numbers

CHANGEABLE = frozenset(
    f"{kind}{size}" for kind, sizes in (("float", (16, 32, 64)), ("int", (8, 16, 32, 64)), ("uint", (8, 16, 32, 64)))
    for size in sizes
) | {"bool"}  # fmt: skip
"""Element types of the arrays that are changed."""
DEEPEST = 4
"""Values nested more deeply are not changed."""


@dataclass(frozen=True)
class InputPlace:
    """A value in the inputs of a call, and its container.

    Attributes:
        path: as in code: ``lengths``, ``spans[*].start``; elements of a list share a path, those of a record such as
            ``(words, [(name, value), …])`` do not.
        depth: 0 for an argument.
    """

    path: str
    holder: Any
    key: Any
    depth: int

    @property
    def node(self) -> Any:
        return self.holder[self.key]

    def put(self, node: Any) -> None:
        self.holder[self.key] = node


class CallInputs:
    """A copy of recorded inputs, to be changed.

    Args:
        name: display name of the recorded call: ``call 3``.

    Attributes:
        steps: descriptions of the changes.
    """

    def __init__(self, document: Document, name: str) -> None:
        self.name = name
        self.steps: list[str] = []
        self.document = Document(copy.deepcopy(document.tree), dict(document.buffers), document.omitted)

    def copied(self) -> CallInputs:
        return CallInputs(self.document, self.name)

    @property
    def made_of(self) -> str:
        return f"{self.name} with {', '.join(dict.fromkeys(self.steps))}"

    @property
    def tree(self) -> dict[str, Any]:
        tree: dict[str, Any] = self.document.tree
        return tree

    @property
    def arguments(self) -> list[str]:
        """Names of arguments and free variables, without the call's random states and modes."""
        return [name for name in self.tree if not name.startswith("@") or name.startswith(CLOSURE)]

    @property
    def digest(self) -> str:
        numbers_in = [
            [name, files.sha256_bytes(buffer.data)] for name, buffer in sorted(self.document.buffers.items())
        ]
        return files.sha256_bytes(json.dumps([self.tree, numbers_in]).encode())

    def argument_digest(self, name: str) -> str:
        if name not in self.tree:
            return ""
        data = [self.document.buffers[part["file"]].data for part in _in_files(self.tree[name])]
        text = json.dumps(self.tree[name], default=str)
        return files.sha256_bytes(b"\0".join([text.encode(), *data]))

    def is_alone(self, name: str) -> bool:
        """Return whether an argument shares no object with others, so that it can move to another call."""
        own, own_refs, other_ids, other_refs = set[int](), set[int](), set[int](), set[int]()
        for argument, node in self.tree.items():
            ids, refs = (own, own_refs) if argument == name else (other_ids, other_refs)
            for part in shared(node):
                (refs if part.get("$") == "ref" else ids).add(part["id"])
        return own_refs <= own and not (other_refs & own)

    def take(self, name: str, other: CallInputs) -> None:
        """Replace an argument with another call's; if that call lacks it, remove it."""
        if name not in other.tree:
            del self.tree[name]
            return
        node, buffers = copy.deepcopy(other.tree[name]), self.document.buffers
        first = 1 + max((part["id"] for part in shared(self.tree)), default=0)
        for part in shared(node):
            part["id"] += first
        for part in _in_files(node):
            file = self._new_file()
            buffers[file] = other.document.buffers[part["file"]]
            part["file"] = file
        self.tree[name] = node

    def places(self) -> Iterator[InputPlace]:
        for name in self.arguments:
            yield from self._below(InputPlace(name.removeprefix(CLOSURE), self.tree, name, 0))

    def _below(self, place: InputPlace) -> Iterator[InputPlace]:
        yield place
        node, depth = place.node, place.depth + 1
        if depth > DEEPEST:
            return
        if isinstance(node, dict):
            match node.get("$", "dict"):
                case "list" | "tuple":
                    node = node["v"]
                case "dict" if "$" in node:
                    for index, pair in enumerate(node["v"]):
                        if not isinstance(pair[0], dict | list):
                            yield from self._below(
                                InputPlace(join(place.path, key_text(pair[0], index)), pair, 1, depth)
                            )
                    return
                case "dict":
                    for key in node:
                        yield from self._below(InputPlace(join(place.path, f"[{key!r}]"), node, key, depth))
                    return
                case "namedtuple":
                    for key in node["v"]:
                        yield from self._below(InputPlace(join(place.path, f".{key}"), node["v"], key, depth))
                    return
        if isinstance(node, list):
            each_has_its_own = is_record(node)
            for index in range(len(node)):
                step = f"[{index}]" if each_has_its_own else "[*]"
                yield from self._below(InputPlace(join(place.path, step), node, index, depth))

    def attributes(self, name: str) -> Iterator[InputPlace]:
        node = self.tree.get(name)
        if isinstance(node, dict) and node.get("$") == "object":
            for key, value in node["state"].items():
                if isinstance(value, bool | int | float | str):
                    yield InputPlace(f"{name}.{key}", node["state"], key, 1)

    def array(self, node: Any) -> Any:
        is_array = isinstance(node, dict) and node.get("$") in ("tensor", "array", "scalar")
        return numbers(self.document, node) if is_array and node["dtype"] in CHANGEABLE else None

    def put_array(self, place: InputPlace, values: Any) -> None:
        put_numbers(self.document, place.node, values.astype(self.array(place.node).dtype))

    def _new_file(self) -> str:
        return str(1 + max(map(int, self.document.buffers), default=-1))


def shared(node: Any) -> list[dict[str, Any]]:
    return [part for _, part in walk(node) if isinstance(part, dict) and "$" in part and "id" in part]


def _in_files(node: Any) -> list[dict[str, Any]]:
    return [part for _, part in walk(node) if isinstance(part, dict) and "$" in part and "file" in part]


def is_record(items: list[Any]) -> bool:
    """Return whether the elements of a list have different meanings, as in ``[name, [values]]``."""
    return len(_forms(items)) > 1


def _forms(items: list[Any]) -> set[str]:
    """Return the forms of elements, ``str`` or ``[[number]]``; an empty list has the form of the other lists."""
    forms = {_form(item) for item in items} - {"NoneType"}
    return forms - {"[]"} if any(form.startswith("[") for form in forms - {"[]"}) else forms


def _form(node: Any) -> str:
    items = elements(node)
    if items is not None:
        return f"[{', '.join(sorted(_forms(items)))}]"
    if isinstance(node, dict):
        return str(node.get("$", "dict"))
    return "number" if type(node) in (int, float) else type(node).__name__


def elements(node: Any) -> list[Any] | None:
    if isinstance(node, dict) and node.get("$") in ("list", "tuple"):
        node = node["v"]
    return node if isinstance(node, list) else None


# profile: sizes, limits and relations

MOST_SIZES = 40
"""Most sizes to search for relations."""
MOST_COMPARED, MOST_ELEMENTS = 12, 1000
"""Most parts of a call whose numbers are compared, and the most numbers of one."""
DIGITS = 4
"""Digits of a row's sum: the rows of a distribution sum to one up to rounding."""

Facts = dict[str, float]
"""A fact about a call → its number."""


class Profile:
    """Facts of all recorded calls.

    Args:
        calls: at least one.
    """

    def __init__(self, calls: Sequence[CallInputs]) -> None:
        seen = [facts(call) for call in calls]
        names = dict.fromkeys(itertools.chain.from_iterable(seen))
        values = {name: [one[name] for one in seen if name in one] for name in names}
        # Facts that hold only in some calls are not invariants.
        self._limits = {
            name: (min(numbers), 1.0 if name.startswith(_HOLDS) else max(numbers))
            for name, numbers in values.items()
        }
        sizes = [name for name in names if name.startswith(_SIZE)][:MOST_SIZES]
        pairs = itertools.combinations(sizes, 2)
        self._relations = [relation for pair in pairs if (relation := _relation(*pair, seen))]

    def allows(self, call: CallInputs) -> bool:
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
"""Two sizes, and the smallest and largest allowed difference."""

_ANY = float("inf")


def _relation(first: str, second: str, seen: Sequence[Facts]) -> Relation | None:
    """Return a relation that holds in every call which has both: a constant difference, or an order."""
    pairs = {(one[first], one[second]) for one in seen if first in one and second in one}
    gaps = {one - other for one, other in pairs}
    if not gaps:
        return None
    if len(gaps) == 1:
        gap = gaps.pop()
        # In a single pair, a difference of three is no evidence; equality may well be intended.
        return (first, second, gap, gap) if gap == 0 or len(pairs) > 1 else None
    if min(gaps) >= 0:
        return first, second, 0, _ANY
    return (first, second, -_ANY, 0) if max(gaps) <= 0 else None


_SIZE, _RANGE, _HOLDS, _TYPE = "size ", "range ", "holds ", "type "


def size_of(path: str, axis: int | None = None) -> str:
    """Return the fact's name for a size: an integer, or an axis of an array."""
    return f"{_SIZE}{path}" + ("" if axis is None else f".shape[{axis}]")


def length_of(path: str) -> str:
    """Return the fact's name for the length of a list: in another call the argument may be an integer."""
    return f"{_SIZE}len({path})"


def facts(call: CallInputs) -> Facts:
    """Return the facts of a call; for values in a list, their minimum and maximum."""
    found: Facts = {}
    for place in call.places():
        for name, number in _facts_of(call, place):
            if "[*]" not in place.path or name.startswith(_TYPE):
                found[name] = number
                continue
            for end, pick in (("least", min), ("most", max)):
                key = f"{name} {end}"
                found[key] = pick(found.get(key, number), number)
    return {**found, **_comparisons(call), **_sizes_of_objects(call)}


def _sizes_of_objects(call: CallInputs) -> Facts:
    """Return the sizes of the arrays in objects, and their integers: a layer fits only what has its size."""
    found: Facts = {}
    for name in call.arguments:
        node = call.tree[name]
        if not isinstance(node, dict) or node.get("$") != "object":
            continue
        for place in call.attributes(name):
            if type(place.node) is int:
                found[size_of(place.path)] = place.node
        for path, part in walk(node):
            if isinstance(part, dict) and part.get("$") in ("tensor", "array"):
                found.update(
                    (size_of(f"{name}.{path}", axis), size) for axis, size in enumerate(part["shape"])
                )
    return found


def _comparisons(call: CallInputs) -> Facts:
    """Return which numbers are at most those of another part: all of them, or each its counterpart, as `k <= n`."""
    import numpy

    parts: dict[str, Any] = {}
    for place in call.places():
        if "[*]" in place.path or len(parts) == MOST_COMPARED:
            continue
        values = call.array(place.node)
        if values is None:
            values = numpy.array(_numbers(place.node) or [])
        if values.dtype.kind in "iuf" and 0 < values.size <= MOST_ELEMENTS:
            parts[place.path] = values.reshape(-1)
    found: Facts = {}
    for (first, own), (second, others) in itertools.permutations(parts.items(), 2):
        is_fitting = len(own) == len(others) or 1 in (len(own), len(others))
        found[f"{_HOLDS}{first} fits {second}"] = float(is_fitting)
        if is_fitting:
            found[f"{_HOLDS}{first} <= {second}"] = float((own <= others).all())
    return found


def _numbers(node: Any) -> list[float] | None:
    """Return the numbers of a list, or a number as a list of its own; None for another value."""
    items = [node] if is_number(node) else elements(node) or []
    return items if all(map(is_number, items)) else None


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _facts_of(call: CallInputs, place: InputPlace) -> Iterator[tuple[str, float]]:
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
        # Reordered words are plausible text; parts of words may not be.
        yield from ((f"{_TYPE}{path} has {word!r}", 1) for word in node.split(" "))
    elif items is not None:
        yield f"{_TYPE}{path} list", 1
        yield length_of(path), len(items)
        if items and all(isinstance(item, int | float) for item in items):
            yield from _orders(path, items)
    elif (values := call.array(node)) is not None:
        yield f"{_TYPE}{path} {node['$']} {node['dtype']} {values.ndim}", 1
        for axis, size in enumerate(values.shape):
            yield size_of(path, axis), size
        yield from _facts_of_array(path, values)
    elif isinstance(node, dict) and node.get("$") in ("set", "frozenset"):
        yield f"{_TYPE}{path} set", 1
        yield length_of(path), len(node["v"])


def _orders(path: str, numbers: Sequence[float]) -> Iterator[tuple[str, float]]:
    neighbours = list(itertools.pairwise(numbers))
    yield f"{_HOLDS}{path} ascends", all(first <= second for first, second in neighbours)
    yield f"{_HOLDS}{path} descends", all(first >= second for first, second in neighbours)
    yield f"{_HOLDS}{path} has no ties", len(set(numbers)) == len(numbers)


def _facts_of_array(path: str, values: Any) -> Iterator[tuple[str, float]]:
    """Yield limits of the numbers, and properties of rows that masks and distributions need."""
    import numpy

    if not values.size:
        return
    with numpy.errstate(all="ignore"):
        yield f"{_RANGE}{path} has NaN", float(numpy.isnan(values).any()) if values.dtype.kind == "f" else 0.0
        if values.dtype.kind in "iu":  # indices and counts are sizes too
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
