"""Comparing an expected and an actual document, without running anything of either.

Structure, types, shapes, element types, places of NaN and ``requires_grad`` always have to be the same; floating leaves
may have a tolerance. Identity is not compared, only values.
"""

from __future__ import annotations

import json
import math
from typing import Any, Callable, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from .arrays import (
    FLOATS,
    Spread,
    array_mismatch,
    dtype_of,
    has_numpy,
    listed_mismatch,
    listed_numbers,
    numbers,
    rounded,
    scalar_mismatch,
)
from .calling import EXHAUSTED, GRAD, GRADIENTS, RAISED, RETURNED, VALUE
from .document import (
    FIELDS,
    FLAG,
    INTS,
    NODES,
    TEXT,
    BadDocument,
    Document,
    by_id,
    join,
    key_text,
    parts,
    tagged,
    walk,
)

MOST = 20
"""Most differences that are reported."""
MOST_UNORDERED = 2000
"""Longer sequences are compared in order: matching each item with each would take too long."""
DEFAULT = "*"
"""Checker of every part that has none of its own, and none above it."""
CHOSEN = "as the annotator said"
"""Reason of a checker that was chosen by ``--check``."""
GRADS = "*.grad"
"""Checker of the ``.grad`` of every tensor that has none of its own."""

HAS_TO_CHANGE = "the call has to change it, and left it as it was"
HAS_TO_STAY = "the call changed it, and has to leave it as it is"

Checkers = Mapping[str, Mapping[str, Any]]

_LABELS = {"dtype": "element type", "shape": "shape", "requires_grad": "requires_grad"}
"""Fields of tensors and arrays that have to be the same before their numbers are compared."""


class Difference(NamedTuple):
    """One place where two documents differ."""

    path: str
    message: str

    def __str__(self) -> str:
        return "%s: %s" % (self.path or "the value", self.message)


class Leaf(NamedTuple):
    """A floating or complex leaf: its path and element type."""

    path: str
    dtype: str


def compare(expected: Document, actual: Document, checkers: Optional[Checkers] = None) -> List[Difference]:
    """List the differences, at most :data:`MOST`; an empty list when the documents agree.

    A malformed actual document is a difference, never an error.

    Args:
        checkers: path → ``{"kind": "exact"}``, ``{"kind": "allclose", "rtol": …, "atol": …}`` or
            ``{"kind": "ignore"}``; for sequences ``{"kind": "set"}`` (any order). A part without one takes that of the
            nearest path above it; then, where one object is in several places, that of the first place, unless that is
            not compared; then that of :data:`DEFAULT`, then exact.
    """
    return _Comparison(expected, actual, checkers or {}).run(expected.tree, actual.tree)


def changed(before: Document, after: Document, checkers: Optional[Checkers] = None) -> List[str]:
    """Name the parts of two dictionary documents whose values differ, in the order of ``before``."""
    run = _Comparison(before, after, checkers or {})
    later = after.tree
    return [name for name, node in before.tree.items() if name in later and run.run(node, later[name])]


def leaves(document: Document) -> List[Leaf]:
    """List the leaves whose comparison may have a tolerance."""
    return [Leaf(path, dtype_of(node)) for path, node in walk(document.tree) if dtype_of(node) in FLOATS]


def spread(documents: Sequence[Document]) -> Dict[str, Spread]:
    """Return for each leaf of the first document the largest distance of the others from it."""
    result = {leaf.path: Spread() for leaf in leaves(documents[0])}
    for other in documents[1:]:
        _Comparison(documents[0], other, {}, result).run(documents[0].tree, other.tree)
    return result


class _Comparison:
    """Compares two documents; with ``spreads``, notes distances of leaves there instead of differences."""

    def __init__(
        self,
        expected: Document,
        actual: Document,
        checkers: Checkers,
        spreads: Optional[Dict[str, Spread]] = None,
    ) -> None:
        self.expected, self.actual, self.checkers, self.spreads = expected, actual, checkers, spreads
        self.ids = [by_id(document.tree) for document in (expected, actual)]
        self.first = {id(node): path for path, node in walk(expected.tree) if isinstance(node, (dict, list))}
        self.differences: List[Difference] = []
        self.seen: Set[Tuple[Any, ...]] = set()
        self.kinds = {name: repr(sorted(checker.items())) for name, checker in checkers.items()}

    def run(self, expected: Any, actual: Any) -> List[Difference]:
        self.differences, self.seen = [], set()
        try:
            self.pair(expected, actual, "")
        except RecursionError:
            self.differ("", "nested too deeply to compare")
        return self.differences[:MOST]

    def differ(self, path: str, message: str) -> None:
        if self.spreads is None:
            self.differences.append(Difference(path, message))

    def pair(self, e: Any, a: Any, path: str) -> None:
        """Compare two nodes, unless that is left out or was done."""
        e, a = _followed(e, self.ids[0]), _followed(a, self.ids[1])
        first = self.first.get(id(e), path) if isinstance(e, (dict, list)) else path
        checker = self.checker(path, first)
        left_out = checker.get("kind") == "ignore" or (path.startswith(GRAD) and self.left_out(path))
        if left_out or e == {"$": "omitted"}:
            return
        if _is_shared(e) or _is_shared(a):
            pair = (id(e), id(a), repr(sorted(checker.items())), self.below(path))
            if pair in self.seen:
                return
            self.seen.add(pair)
        e, a = tagged(e), tagged(a)
        if _kind(e) != _kind(a):
            e, a = _number(e), _number(a)
        # Who unpacks a result or looks at its items cannot tell a list from a tuple.
        sequences = path == "value" and {_kind(e), _kind(a)} == {"list", "tuple"}
        if _kind(e) == _kind(a) or sequences:
            self.values(e, a, path, first, checker)
        else:
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))

    def values(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare two nodes of one kind."""
        if self.loosely(e, a, path, checker):
            return
        if dtype_of(e):
            self.leaf(e, a, path, first, checker)
        elif isinstance(e, dict):
            self.parts(e, a, path)
        elif e != a:
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))

    def checker(self, path: str, first: str) -> Mapping[str, Any]:
        """Return the checker of a path. ``first``: the first place of the same object, which has the tolerances."""
        own = self.nearest(path)
        if own is None and first != path:
            own = self.nearest(first)
            own = None if own is not None and own.get("kind") == "ignore" else own
        return self.checkers.get(DEFAULT, {}) if own is None else own

    def nearest(self, path: str) -> Optional[Mapping[str, Any]]:
        """Return the checker of a path, else of the nearest above; None where there is none."""
        while path:
            if path in self.checkers:
                return self.checkers[path]
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return None

    def below(self, path: str) -> FrozenSet[Tuple[str, str]]:
        """Return the checkers below a path: one object in two places is compared twice where these differ."""
        size = len(path)
        return frozenset(
            (name[size:], kind)
            for name, kind in self.kinds.items()
            if name.startswith(path) and name[size : size + 1] in (".", "[")
        )

    def loosely(self, e: Any, a: Any, path: str, checker: Mapping[str, Any]) -> bool:
        """Compare in any order where a checker says so; False when it is none, or does not fit the value."""
        tags = ("list", "tuple", "array", "tensor")
        if checker.get("kind") != "set" or not isinstance(e, dict) or e["$"] not in tags:
            return False
        wanted, got = _items(self.expected, e), _items(self.actual, a)
        if len(wanted) > MOST_UNORDERED and len(wanted) == len(got):
            return False
        self.unordered(wanted, got, path, checker)
        return True

    def unordered(self, wanted: List[Any], got: List[Any], path: str, checker: Mapping[str, Any]) -> None:
        """Compare items in any order; within each, the checkers below the path hold."""
        if len(wanted) != len(got):
            self.differ(path, "expected %d items, got %d" % (len(wanted), len(got)))
            return
        # An item has no place of its own, so no checker can be meant for a part of it.
        inner = _Comparison(self.expected, self.actual, {DEFAULT: dict(checker, kind="allclose")})
        for index, node in enumerate(wanted):
            match = next((number for number, other in enumerate(got) if not inner.run(node, other)), None)
            if match is None:
                self.differ(join(path, "[%d]" % index), "expected %s, which is nowhere" % describe(node))
            else:
                del got[match]

    def leaf(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare two nodes that hold numbers."""
        if isinstance(e, dict):
            for field, label in _LABELS.items():
                wanted, got = e.get(field, False), a.get(field, False)
                if wanted != got:
                    self.differ(path, "expected %s %s, got %s" % (label, wanted, got))
                    return
            if e.get("cls") != a.get("cls"):
                self.differ(path, "expected class %s, got %s" % (e.get("cls"), a.get("cls")))
        if not self.same_data(e, a):
            try:
                self.numeric(e, a, path, first, checker)
            except BadDocument as error:
                self.differ(path, str(error))
        if isinstance(e, dict) and e["$"] == "tensor":
            self.grads(e, a, join(path, ".grad"))
            attributes = [{"$": "object", "cls": "", "state": node.get("attrs", {})} for node in (e, a)]
            self.parts(attributes[0], attributes[1], path)

    def grads(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare the ``.grad`` of two tensors, unless it is left out."""
        checker = self.checkers.get(path) or self.checkers.get(GRADS) or {}
        if checker.get("kind") == "ignore":
            return
        if "grad" in e and "grad" in a:
            self.pair(e["grad"], a["grad"], path)
        elif "grad" in e:
            self.differ(path, "expected a gradient, got none")
        elif "grad" in a:
            self.differ(path, "expected no gradient")

    def left_out(self, path: str) -> bool:
        """Tell whether a part that only one side has is not compared."""
        checker = self.checkers.get(GRADS, {}) if path.startswith(GRAD) else self.checker(path, path)
        return checker.get("kind") == "ignore"

    def same_data(self, e: Any, a: Any) -> bool:
        """Tell whether two leaves have the very same numbers, written alike: most have, and numpy is not needed."""
        if not isinstance(e, dict):
            return bool(e == a or (e != e and a != a))
        if "file" in e and "file" in a:
            return bool(self.expected.buffers[e["file"]] == self.actual.buffers[a["file"]])
        return bool(e.get("data", e.get("v", e)) == a.get("data", a.get("v")))

    def numeric(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare numbers of one type and shape: ``|actual - expected| <= atol + rtol * |expected|``."""
        floating = dtype_of(e) in FLOATS
        near = floating and checker.get("kind") == "allclose"
        allowed = checker if near else {}
        rtol, atol = float(allowed.get("rtol", 0.0)), float(allowed.get("atol", 0.0))
        if isinstance(e, float):
            mismatch = scalar_mismatch(e, a, rtol, atol)
        elif has_numpy():
            wanted, got = numbers(self.expected, e), numbers(self.actual, a)
            mismatch = array_mismatch(wanted, got, floating, rtol, atol)
        else:
            listed = listed_numbers(self.expected, e), listed_numbers(self.actual, a)
            mismatch = listed_mismatch(listed[0], listed[1], floating, rtol, atol)
        if mismatch is None:
            return
        text, distance = mismatch
        if self.spreads is not None and first in self.spreads:
            self.spreads[first] = Spread(*map(max, distance, self.spreads[first]))
        if math.isfinite(distance.max_abs):
            text += "; largest difference %.3g absolute, %.3g relative" % distance
        self.differ(path, text + (" (allowed: rtol %g, atol %g)" % (rtol, atol) if near else ""))

    def parts(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare two nodes of one tag: their own texts and sizes, then their parts, by what leads to them."""
        contradiction = _contradiction(e, a)
        if contradiction:
            self.differ(path, contradiction)
            return
        by_key = all(_plain_key(key) for key, _ in _pairs(e) + _pairs(a))
        wanted, got = _parts(e, by_key), _parts(a, by_key)
        for key in dict(wanted, **got):
            if len(self.differences) >= MOST:
                return
            step = (wanted if key in wanted else got)[key][0]
            part = join(path, step) if step else path
            if key in wanted and key in got:
                self.pair(wanted[key][1], got[key][1], part)
            elif not self.left_out(part):
                self.one_sided(wanted.get(key), got.get(key), path, part)
        ordered = e.get("call") == {"$": "name", "v": "collections:OrderedDict"}
        if ordered and set(wanted) == set(got) and list(wanted) != list(got):
            self.differ(path, "the keys are in another order")

    def one_sided(
        self, wanted: Optional[Tuple[str, Any]], got: Optional[Tuple[str, Any]], path: str, part: str
    ) -> None:
        """Note a part below a path that only one side has, given as :func:`_parts` does."""
        if not path and _is_changed_argument(part):
            self.differ(part, HAS_TO_STAY if wanted is None else HAS_TO_CHANGE)
        elif wanted is None:
            self.differ(part, "expected nothing, got %s" % describe(got and got[1]))
        elif wanted[1] != {"$": "omitted"}:
            self.differ(part, "expected %s, got nothing" % describe(wanted[1]))


def _contradiction(e: Dict[str, Any], a: Dict[str, Any]) -> str:
    """Say where two nodes of one tag have other texts, flags or numbers of items; "" where they have the same."""
    for name, kind, _ in FIELDS[e["$"]]:
        if kind in (TEXT, INTS, FLAG) and e.get(name) != a.get(name):
            in_words = (describe(e), describe(a)) if name == "cls" else (_short(e[name]), _short(a[name]))
            return "expected %s, got %s" % in_words
        if kind is NODES and len(e.get(name, ())) != len(a.get(name, ())):
            return "expected %d items, got %d" % (len(e.get(name, ())), len(a.get(name, ())))
    return ""


def _is_changed_argument(part: str) -> bool:
    """Tell whether a part of an outcome is an argument, or a free variable: an outcome has those that were changed."""
    return part not in (VALUE, RAISED, EXHAUSTED, RETURNED, GRADIENTS)


def _followed(node: Any, ids: Dict[int, Any]) -> Any:
    """Return the node that a reference names; any other node as it is."""
    return ids[node["id"]] if isinstance(node, dict) and node.get("$") == "ref" else node


def _items(document: Document, node: Dict[str, Any]) -> List[Any]:
    """Return the items of a sequence, or the rows of an array."""
    return list(numbers(document, node).tolist() if "dtype" in node else node["v"])


def _pairs(node: Dict[str, Any]) -> List[List[Any]]:
    return list(node["v"] if node["$"] == "dict" else node.get("pairs", ()))


def _plain_key(key: Any) -> str:
    """Return a dictionary's key as text, by which another dictionary is searched; "" for one that is no plain value."""
    return "" if _is_compound(key) else json.dumps(key, sort_keys=True)


def _is_compound(node: Any) -> bool:
    """Tell whether a key, or a part of it, is an object, a tensor, or has its numbers or itself elsewhere."""
    if isinstance(node, list):
        return any(map(_is_compound, node))
    if not isinstance(node, dict):
        return False
    if "$" in node and (node["$"] in ("object", "call", "tensor") or "file" in node or "id" in node):
        return True
    return any(map(_is_compound, node.values()))


def _parts(node: Dict[str, Any], by_key: bool) -> Dict[str, Tuple[str, Any]]:
    """Return a node's parts as identity → (step of the path, sub-node); items of dictionaries by key or by place."""
    pairs = _pairs(node)
    others = dict(node, **{"v" if node["$"] == "dict" else "pairs": []})
    by_identity = {step: (step, part) for step, part in parts(others)}
    for position, (key, part) in enumerate(pairs):
        identity = _plain_key(key) if by_key else str(position)
        if not by_key:
            by_identity["<key>" + identity] = ("<key %d>" % position, key)
        by_identity["<item>" + identity] = (key_text(key, position), part)
    return by_identity


def _number(node: Any) -> Any:
    """Return the number that a scalar of numpy is; any other node as it is."""
    number = isinstance(node, dict) and node["$"] == "scalar" and "data" in node
    if number and isinstance(node["data"], (bool, int, float)):
        return rounded(node["data"], node["dtype"])
    return node


def _is_shared(node: Any) -> bool:
    """Tell whether other places refer to a node."""
    return isinstance(node, dict) and type(node.get("id")) is int and "$" in node


def _kind(node: Any) -> str:
    """Return what has to be the same before values are compared."""
    return str(node["$"]) if isinstance(node, dict) else type(node).__name__


def describe(node: Any) -> str:
    """Put a node into words."""
    node = tagged(node)
    if not isinstance(node, dict):
        return _short(node)
    in_words: Callable[[Any], str] = _IN_WORDS.get(node["$"], lambda node: "a %s" % node["$"])
    return in_words(node)


def _of_class(node: Dict[str, Any]) -> str:
    return "a %s" % node["cls"].rpartition(":")[2]


def _sized(node: Dict[str, Any]) -> str:
    return "a %s of %d" % (node["$"], len(node["v"]))


def _called(node: Dict[str, Any]) -> str:
    """Name the class of an object that is made by a call, as pickle would make it."""
    name = node["call"].get("v") if isinstance(node["call"], dict) else ""
    if name == "copyreg:__newobj__" and node["args"] and isinstance(node["args"][0], dict):
        name = node["args"][0].get("v", name)
    return "a %s" % str(name).rpartition(":")[2].rpartition(".")[2]


_IN_WORDS: Dict[str, Callable[[Dict[str, Any]], str]] = {
    "tensor": lambda node: "a tensor %s%s" % (node["dtype"], node["shape"]),
    "array": lambda node: "an array %s%s" % (node["dtype"], node["shape"]),
    "scalar": lambda node: "a numpy scalar",
    "list": _sized,
    "tuple": _sized,
    "set": _sized,
    "frozenset": _sized,
    "dict": _sized,
    "object": _of_class,
    "namedtuple": _of_class,
    "call": _called,
    "complex": lambda node: str(complex(*node["v"])),
    "fixture": lambda node: "the fixture %s" % node["v"],
    "name": lambda node: str(node["v"]),
    "make": lambda node: "a %s" % node["kind"],
    "omitted": lambda node: "something that was not stored",
}
"""Tag of a node → what it is called in messages; the others are called by their tags."""


def _short(value: Any) -> str:
    """Write a plain value, cut when it is long."""
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
