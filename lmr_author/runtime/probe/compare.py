"""Comparing an expected and an actual document, without running anything of either.

Structure, types, shapes, element types, places of NaN and ``requires_grad`` always have to be the same; floating leaves
may have a tolerance. Identity is not compared, only values.
"""

from __future__ import annotations

import cmath
import json
import math
import struct
from typing import Any, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from .calling import EXHAUSTED, FILES, GRAD, GRADIENTS, RAISED, RETURNED, VALUE
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
SKIPPED = ("ignore", "custom")
"""Kinds of checkers whose parts are not compared here; functions of the annotator judge those of ``custom``."""
FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
DEFAULT = "*"
"""Checker of every part that has none of its own, and none above it."""
CHOSEN = "as the annotator said"
"""Reason of a checker that was chosen by ``--check``."""
GRADS = "*.grad"
"""Checker of the ``.grad`` of every tensor that has none of its own."""

HAS_TO_CHANGE = "the call has to change it, and left it as it was"
HAS_TO_STAY = "the call changed it, and has to leave it as it is"

Checkers = Mapping[str, Mapping[str, Any]]


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


class Spread(NamedTuple):
    """The distance between repeated runs at a leaf."""

    max_abs: float = 0.0
    max_rel: float = 0.0


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
    return [name for name, item in before.tree.items() if name in later and run.run(item, later[name])]


def leaves(document: Document) -> List[Leaf]:
    """List the leaves whose comparison may have a tolerance."""
    return [Leaf(path, dtype_of(node)) for path, node in walk(document.tree) if dtype_of(node) in FLOATS]


def spread(documents: Sequence[Document]) -> Dict[str, Spread]:
    """Return for each leaf of the first document the largest distance of the others from it."""
    result = {leaf.path: Spread() for leaf in leaves(documents[0])}
    for other in documents[1:]:
        _Comparison(documents[0], other, {}, result).run(documents[0].tree, other.tree)
    return result


def dtype_of(node: Any) -> str:
    """Return the element type of a numeric leaf; "" for no leaf."""
    if isinstance(node, float):
        return "float64"
    if not isinstance(node, dict):
        return ""
    return "complex128" if node.get("$") == "complex" else str(node.get("dtype", ""))


def numbers(document: Document, node: Any) -> Any:
    """Return the numbers of a leaf as an array of numpy. Raises BadDocument."""
    import numpy

    try:
        if isinstance(node, float):
            return numpy.float64(node)
        if node["$"] == "complex":
            return numpy.complex128(complex(*node["v"]))
        kind = node["dtype"]
        if "data" in node:
            return numpy.array(node["data"], "float64" if kind == "bfloat16" else kind).reshape(node["shape"])
        buffer = document.buffers[node["file"]]
        value = numpy.frombuffer(buffer.data, numpy.dtype(buffer.descr)).reshape(buffer.shape)
        return (value.astype("<u2").astype("<u4") << 16).view("<f4") if kind == "bfloat16" else value
    except (ValueError, TypeError, KeyError, OverflowError, SyntaxError) as error:
        raise BadDocument("invalid numbers: %s" % error) from error


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
        self.found: List[Difference] = []
        self.seen: Set[Tuple[Any, ...]] = set()
        self.kinds = {name: repr(sorted(item.items())) for name, item in checkers.items()}

    def run(self, expected: Any, actual: Any) -> List[Difference]:
        self.found, self.seen = [], set()
        try:
            self.pair(expected, actual, "")
        except RecursionError:
            self.differ("", "nested too deeply to compare")
        return self.found[:MOST]

    def differ(self, path: str, message: str) -> None:
        if self.spreads is None:
            self.found.append(Difference(path, message))

    def pair(self, e: Any, a: Any, path: str) -> None:
        """Compare two nodes."""
        e, a = (
            ids[node["id"]] if isinstance(node, dict) and node.get("$") == "ref" else node
            for node, ids in zip((e, a), self.ids)
        )
        if path.startswith(GRAD) and self.left_out(path):
            return
        first = self.first.get(id(e), path) if isinstance(e, (dict, list)) else path
        checker = self.checker(path, first)
        if checker.get("kind") in SKIPPED or (isinstance(e, dict) and e.get("$") == "omitted"):
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
        if _kind(e) != _kind(a) and not sequences:
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))
        elif self.loosely(e, a, path, checker):
            return
        elif dtype_of(e):
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
            own = None if own is not None and own.get("kind") in SKIPPED else own
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
        sides = ((self.expected, e), (self.actual, a))
        wanted, got = (
            list(numbers(document, node).tolist() if "dtype" in node else node["v"])
            for document, node in sides
        )
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
        for place, item in enumerate(wanted):
            match = next((number for number, other in enumerate(got) if not inner.run(item, other)), None)
            if match is None:
                self.differ(join(path, "[%d]" % place), "expected %s, which is nowhere" % describe(item))
            else:
                del got[match]

    def leaf(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare two nodes that hold numbers."""
        if isinstance(e, dict) and e["$"] != "complex":
            labels = (("dtype", "element type"), ("shape", "shape"), ("requires_grad", "requires_grad"))
            for field, label in labels:
                if e.get(field, False) != a.get(field, False):
                    self.differ(
                        path, "expected %s %s, got %s" % (label, e.get(field, False), a.get(field, False))
                    )
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
        if checker.get("kind") in SKIPPED or not ("grad" in e or "grad" in a):
            return
        if "grad" in e and "grad" in a:
            self.pair(e["grad"], a["grad"], path)
        else:
            self.differ(path, "expected %s" % ("a gradient, got none" if "grad" in e else "no gradient"))

    def left_out(self, path: str) -> bool:
        """Tell whether a part that only one side has is not compared."""
        checker = self.checkers.get(GRADS, {}) if path.startswith(GRAD) else self.checker(path, path)
        return checker.get("kind") in SKIPPED

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
        rtol, atol = (float(checker.get(name, 0.0)) if near else 0.0 for name in ("rtol", "atol"))
        if isinstance(e, float):
            found = _scalar_mismatch(e, a, rtol, atol)
        elif _has_numpy():
            found = _mismatch(numbers(self.expected, e), numbers(self.actual, a), floating, rtol, atol)
        else:
            found = _listed_mismatch(_listed(self.expected, e), _listed(self.actual, a), floating, rtol, atol)
        if found is None:
            return
        text, distance = found
        if self.spreads is not None and first in self.spreads:
            self.spreads[first] = Spread(*map(max, distance, self.spreads[first]))
        if math.isfinite(distance.max_abs):
            text += "; largest difference %.3g absolute, %.3g relative" % distance
        self.differ(path, text + (" (allowed: rtol %g, atol %g)" % (rtol, atol) if near else ""))

    def parts(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare two nodes of one tag: their own texts and sizes, then their parts, by what leads to them."""
        for field, kind in FIELDS[e["$"]].items():
            name = field.lstrip("?")
            if kind in (TEXT, INTS, FLAG) and e.get(name) != a.get(name):
                texts = (describe(e), describe(a)) if name == "cls" else (_short(e[name]), _short(a[name]))
                self.differ(path, "expected %s, got %s" % texts)
                return
            if kind == NODES and len(e.get(name, ())) != len(a.get(name, ())):
                self.differ(path, "expected %d items, got %d" % (len(e.get(name, ())), len(a.get(name, ()))))
                return
        by_key = all(_plain_key(key) for node in (e, a) for key, _ in _pairs(node))
        wanted, got = _parts(e, by_key), _parts(a, by_key)
        for key in [*wanted, *(key for key in got if key not in wanted)]:
            if len(self.found) >= MOST:
                return
            step = (wanted if key in wanted else got)[key][0]
            place = join(path, step) if step else path
            if key in wanted and key in got:
                self.pair(wanted[key][1], got[key][1], place)
            elif self.left_out(place):
                continue
            elif not path and _is_changed_argument(place):
                self.differ(place, HAS_TO_CHANGE if key in wanted else HAS_TO_STAY)
            elif key not in wanted:
                self.differ(place, "expected nothing, got %s" % describe(got[key][1]))
            elif wanted[key][1] != {"$": "omitted"}:
                self.differ(place, "expected %s, got nothing" % describe(wanted[key][1]))
        ordered = e.get("call") == {"$": "name", "v": "collections:OrderedDict"}
        if ordered and set(wanted) == set(got) and list(wanted) != list(got):
            self.differ(path, "the keys are in another order")


def _is_changed_argument(part: str) -> bool:
    """Tell whether a part of an outcome is an argument, or a free variable: an outcome has those that were changed."""
    return part != VALUE and part not in (RAISED, EXHAUSTED, RETURNED, GRADIENTS, FILES)


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
    rest = dict(node, **{"v" if node["$"] == "dict" else "pairs": []})
    found = {step: (step, item) for step, item in parts(rest)}
    for place, (key, item) in enumerate(pairs):
        identity = _plain_key(key) if by_key else str(place)
        if not by_key:
            found["<key>" + identity] = ("<key %d>" % place, key)
        found["<item>" + identity] = (key_text(key, place), item)
    return found


_BEYOND = Spread(math.inf, math.inf)
"""The distance of what no tolerance would make equal, as of NaN or an infinity."""


def _scalar_mismatch(e: Any, a: Any, rtol: float, atol: float) -> Optional[Tuple[str, Spread]]:
    """Compare two floats or complex numbers that are not equal, as :func:`_mismatch` does arrays."""
    distance = _BEYOND
    if cmath.isfinite(e) and cmath.isfinite(a):
        if abs(a - e) <= atol + rtol * abs(e):
            return None
        distance = Spread(abs(a - e), abs(a - e) / abs(e) if e else math.inf)
    return "expected %r, got %r" % (e, a), distance


_CODES = {
    "|b1": "?", "|u1": "B", "|i1": "b", "<i2": "h", "<u2": "H", "<i4": "i", "<u4": "I", "<i8": "q", "<u8": "Q",
    "<f2": "e", "<f4": "f", "<f8": "d", "<c8": "ff", "<c16": "dd",
}  # fmt: skip
"""``.npy`` type → code of :mod:`struct`."""


def _listed(document: Document, node: Dict[str, Any]) -> List[Any]:
    """Return the numbers of a leaf in a list: an environment with PyTorch may lack numpy. Raises BadDocument."""
    if node["$"] == "complex":
        return [complex(*node["v"])]
    if "data" in node:
        values = [node["data"]]
        for _ in node["shape"]:
            values = [item for row in values for item in row]
        return [_rounded(item, node["dtype"]) for item in values]
    buffer = document.buffers[node["file"]]
    if buffer.descr not in _CODES:
        raise BadDocument("the numbers differ, and without numpy nobody can say how much")
    rows = struct.iter_unpack("<" + _CODES[buffer.descr], buffer.data)
    if node["dtype"] == "bfloat16":
        return [struct.unpack("<f", struct.pack("<I", (row[0] & 0xFFFF) << 16))[0] for row in rows]
    return [complex(*row) if len(row) == 2 else row[0] for row in rows]


def _rounded(value: Any, dtype: str) -> Any:
    """Return a number that was written in few digits as its type has it."""
    if dtype not in ("float32", "float16", "bfloat16") or not isinstance(value, float):
        return value
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:  # a hostile document
        return value


def _listed_mismatch(
    e: List[Any], a: List[Any], floating: bool, rtol: float, atol: float
) -> Optional[Tuple[str, Spread]]:
    """Compare numbers one by one; see :func:`_mismatch`."""
    distance, first, count = Spread(), "", 0
    for place, (wanted, got) in enumerate(zip(e, a)):
        if wanted == got or (floating and wanted != wanted and got != got):
            continue
        mismatch = _scalar_mismatch(wanted, got, rtol, atol) if floating else ("", _BEYOND)
        if mismatch is not None:
            count, distance = count + 1, Spread(*map(max, distance, mismatch[1]))
            first = first or "first is number %d: expected %r, got %r" % (place, wanted, got)
    return ("%d of %d elements differ; %s" % (count, len(e), first), distance) if count else None


def _mismatch(e: Any, a: Any, floating: bool, rtol: float, atol: float) -> Optional[Tuple[str, Spread]]:
    """Compare arrays; returns None when they agree, else a text and the largest distance.

    NaN agrees with NaN only, and an infinity with the same infinity only.
    """
    import numpy

    if not floating:
        wrong = e != a
        return (_first(e, a, wrong), _BEYOND) if wrong.any() else None
    with numpy.errstate(all="ignore"):
        # In double precision, so that no type's own rounding decides, here or in a test that is shipped.
        e, a = (side.astype("c16" if side.dtype.kind == "c" else "f8") for side in (e, a))
        same = (e == a) | (numpy.isnan(e) & numpy.isnan(a))
        finite = numpy.isfinite(e) & numpy.isfinite(a)
        error, scale = abs(a - e), abs(e)
        wrong = ~same & ~(finite & (error <= atol + rtol * scale))
        if not wrong.any():
            return None
        distance = _BEYOND
        if not (wrong & ~finite).any():
            counted = finite & ~same
            relative = numpy.where(scale > 0, error / scale, math.inf)
            distance = Spread(float(error[counted].max()), float(relative[counted].max()))
    return _first(e, a, wrong), distance


def _first(e: Any, a: Any, wrong: Any) -> str:
    """Say how many elements differ, and show the first with its place."""
    import numpy

    if not wrong.shape:
        return "expected %r, got %r" % (e.item(), a.item())
    place = tuple(int(number) for number in numpy.argwhere(wrong)[0])
    count = "%d of %d elements differ" % (wrong.sum(), wrong.size)
    return "%s; first at %s: expected %r, got %r" % (count, list(place), e[place].item(), a[place].item())


def _number(node: Any) -> Any:
    """Return the number that a scalar of numpy is; any other node as it is."""
    number = isinstance(node, dict) and node["$"] == "scalar" and "data" in node
    if number and isinstance(node["data"], (bool, int, float)):
        return _rounded(node["data"], node["dtype"])
    return node


def _has_numpy() -> bool:
    try:
        import numpy  # noqa: F401
    except ImportError:
        return False
    return True


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
    tag = node["$"]
    if tag in ("tensor", "array"):
        return "%s %s%s" % ("a tensor" if tag == "tensor" else "an array", node["dtype"], node["shape"])
    if tag in ("list", "tuple", "set", "frozenset", "dict"):
        return "a %s of %d" % (tag, len(node["v"]))
    if "cls" in node:
        return "a %s" % str(node["cls"]).rpartition(":")[2]
    if tag == "call":
        name = node["call"].get("v") if isinstance(node["call"], dict) else ""
        if name == "copyreg:__newobj__" and node["args"] and isinstance(node["args"][0], dict):
            name = node["args"][0].get("v", name)
        return "a %s" % str(name).rpartition(":")[2].rpartition(".")[2]
    if tag == "complex":
        return str(complex(*node["v"]))
    if tag == "fixture":
        return "the fixture %s" % node["v"]
    if tag == "omitted":
        return "something that was not stored"
    if tag == "name":
        return str(node["v"])
    return "a numpy scalar" if tag == "scalar" else "a %s" % node.get("kind", tag)


def _short(value: Any) -> str:
    """Write a plain value, cut when it is long."""
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
