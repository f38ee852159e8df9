"""Comparing an expected and an actual document, without running anything of either.

Structure, types, shapes, element types, places of NaN and ``requires_grad`` always have to be the same; floating leaves
may have a tolerance. Identity is not compared, only values.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from . import loose
from .document import (
    FIELDS,
    FLAG,
    INTS,
    NODE,
    NODES,
    PAIRS,
    STATE,
    TEXT,
    BadDocument,
    Document,
    join,
    key_text,
    tagged,
    walk,
)  # fmt: skip

MOST = 20
"""So many differences are reported at most."""
FLOATS = (
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "float8_e4m3fn",
    "float8_e5m2",
    "complex64",
    "complex128",
)

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
    """How far repeated runs are apart at a leaf."""

    max_abs: float = 0.0
    max_rel: float = 0.0


class Enough(Exception):
    """Enough differences were found."""


def compare(expected: Document, actual: Document, checkers: Optional[Checkers] = None) -> List[Difference]:
    """List what differs, at most :data:`MOST`; an empty list when the documents agree.

    A malformed actual document is a difference, never an error.

    Args:
        checkers: path → ``{"kind": "exact"}``, ``{"kind": "allclose", "rtol": …, "atol": …}`` or
            ``{"kind": "ignore"}``; for sequences ``{"kind": "set"}`` (any order), for tables
            ``{"kind": "dataframe"}`` (rows in any order), for texts
            ``{"kind": "text", "metric": "rouge_l", "at_least": 0.9}``. What has none takes that of the
            nearest path above it, then that of ``"*"``, then exact.
    """
    return _Comparison(expected, actual, checkers or {}).run(expected.tree, actual.tree)


def changed(before: Document, after: Document) -> List[str]:
    """Names of the parts of two dictionary documents whose values differ, in the order of ``before``."""
    run = _Comparison(before, after, {})
    later = after.tree
    return [name for name, item in before.tree.items() if name in later and run.run(item, later[name])]


def leaves(document: Document) -> List[Leaf]:
    """List the leaves whose comparison may have a tolerance."""
    return [Leaf(path, dtype_of(node)) for path, node in walk(document.tree) if dtype_of(node) in FLOATS]


def spread(documents: Sequence[Document]) -> Dict[str, Spread]:
    """For each leaf of the first document: how far the others are from it at most."""
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
    """Return the numbers of a leaf as an array of numpy, or a tensor where there is no numpy. Raises BadDocument."""
    try:
        if library().__name__ == "torch" and isinstance(node, dict) and node["$"] == "tensor":
            from .decoding import decode

            value = decode(
                Document(
                    {"$": "tensor", **{k: v for k, v in node.items() if k in _NUMBERS}}, document.buffers
                )
            )
            return value.to(value.new_zeros(0).double().dtype) if dtype_of(node) in FLOATS[:6] else value
        return _array(document, node)
    except (ValueError, TypeError, KeyError, OverflowError, ImportError, SyntaxError) as error:
        raise BadDocument("numbers that are none: %s" % error) from error


_NUMBERS = ("dtype", "shape", "data", "file")


def library() -> Any:
    """Return what compares numbers: numpy, or torch in an environment that has loaded that alone."""
    for name in ("numpy", "torch"):
        if hasattr(sys.modules.get(name), "isfinite"):
            return sys.modules[name]
    return importlib.import_module("numpy")


def _array(document: Document, node: Any) -> Any:
    import numpy

    kind = dtype_of(node)
    if isinstance(node, float):
        return numpy.float64(node)
    if node["$"] == "complex":
        return numpy.complex128(complex(*node["v"]))
    if "data" in node:
        wide = "float64" if kind == "bfloat16" or kind.startswith("float8") else kind
        return numpy.array(node["data"], dtype=wide).reshape(tuple(node["shape"]))
    buffer = document.buffers[node["file"]]
    if buffer.descr.startswith("["):
        return numpy.array([buffer.data])
    value = numpy.frombuffer(buffer.data, numpy.dtype(buffer.descr)).reshape(buffer.shape)
    if kind == "bfloat16":
        return (value.astype("<u2").astype("<u4") << 16).view("<f4")
    if kind == "float8_e5m2":
        return (value.astype("<u2") << 8).view("<f2")
    if kind == "float8_e4m3fn":
        # 4 bits of exponent with bias 7, 3 of mantissa; only ±0x7f is not a number.
        exponent, mantissa = (value >> 3) & 15, (value & 7) / 8.0
        size = numpy.where(
            exponent == 0, mantissa * 2.0**-6, (1 + mantissa) * 2.0 ** (exponent.astype(int) - 7)
        )
        return numpy.where(value & 127 == 127, numpy.nan, numpy.where(value & 128, -size, size))
    return value


class _Comparison:
    def __init__(
        self,
        expected: Document,
        actual: Document,
        checkers: Checkers,
        spreads: Optional[Dict[str, Spread]] = None,
    ) -> None:
        self.expected, self.actual, self.checkers, self.spreads = expected, actual, checkers, spreads
        self.ids = [_by_id(document.tree) for document in (expected, actual)]
        self.first = {id(node): path for path, node in walk(expected.tree) if isinstance(node, (dict, list))}
        self.found: List[Difference] = []
        self.seen: Set[Tuple[int, int]] = set()

    def run(self, expected: Any, actual: Any) -> List[Difference]:
        self.found, self.seen = [], set()
        try:
            self.pair(expected, actual, "")
        except Enough:
            pass
        except RecursionError:
            self.found.append(Difference("", "nested too deeply to compare"))
        return self.found

    def differ(self, path: str, message: str) -> None:
        if self.spreads is None:
            self.found.append(Difference(path, message))
            if len(self.found) >= MOST:
                raise Enough

    def pair(self, e: Any, a: Any, path: str) -> None:
        """Compare two nodes."""
        e, a = (
            ids[node["id"]] if isinstance(node, dict) and node.get("$") == "ref" else node
            for node, ids in zip((e, a), self.ids)
        )
        if isinstance(e, (dict, list)):
            if (id(e), id(a)) in self.seen:
                return
            self.seen.add((id(e), id(a)))
        path_of_checker = self.first.get(id(e), path) if isinstance(e, (dict, list)) else path
        checker = self.checker(path_of_checker) or self.checker(path)
        e, a = tagged(e), tagged(a)
        if checker.get("kind") == "ignore" or (isinstance(e, dict) and e["$"] == "omitted"):
            return
        if kind_of(e) != kind_of(a):
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))
        elif self.loosely(e, a, path, checker):
            return
        elif dtype_of(e):
            self.leaf(e, a, path, path_of_checker, checker)
        elif isinstance(e, dict):
            self.fields(e, a, path)
        elif e != a:
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))

    def checker(self, place: str) -> Mapping[str, Any]:
        """Return the checker of a path, else of the nearest above, else of ``*``."""
        while place:
            if place in self.checkers:
                return self.checkers[place]
            place = place[: max(place.rfind("."), place.rfind("["), 0)]
        return self.checkers.get("", self.checkers.get("*", {}))

    def loosely(self, e: Any, a: Any, path: str, checker: Mapping[str, Any]) -> bool:
        """Compare as a checker for order or text says; False when it is none, or does not fit the value."""
        kind = checker.get("kind")
        if kind == "text" and isinstance(e, str):
            problem = loose.text_problem(checker, e, a)
            if problem:
                self.differ(path, problem)
            return True
        if kind == "set" and isinstance(e, dict) and e["$"] in ("list", "tuple", "array", "tensor"):
            rows = [self.rows(document, node) for document, node in ((self.expected, e), (self.actual, a))]
        elif kind == "dataframe" and isinstance(e, dict) and e["$"] == "table":
            self.pair(e["columns"], a["columns"], path + ".columns")
            rows = [self.cells(document, node) for document, node in ((self.expected, e), (self.actual, a))]
            kinds = [[(kind_of(item), dtype_of(item)) for item in table["v"]] for table in (e, a)]
            if kinds[0] != kinds[1]:
                self.differ(path, "the columns have other types")
                return True
        else:
            return False
        if len(rows[0]) != len(rows[1]):
            self.differ(path, "expected %d items, got %d" % (len(rows[0]), len(rows[1])))
        elif len(rows[0]) > loose.MOST_UNORDERED:
            return False
        else:
            near = dict(checker, kind="allclose")
            inner = {
                name: item
                for name, item in self.checkers.items()
                if name.startswith((path + ".", path + "["))
            }

            def alike(wanted: Any, got: Any) -> bool:
                run = _Comparison(self.expected, self.actual, dict({"*": near}, **inner))
                return not run.run(wanted, got)

            for place in loose.unmatched(rows[0], rows[1], alike):
                self.differ(
                    join(path, "[%d]" % place), "expected %s, which is nowhere" % describe(rows[0][place])
                )
        return True

    def rows(self, document: Document, node: Any) -> List[Any]:
        return list(numbers(document, node).tolist() if "dtype" in node else node["v"])

    def cells(self, document: Document, table: Any) -> List[Any]:
        """Return a table's rows, each as a list node."""
        columns = []
        for node in table["v"]:
            if "dtype" in node:
                columns.append([item if item == item else None for item in numbers(document, node).tolist()])
            else:
                inner = node.get("v", node.get("args", [[]])[0])
                columns.append(inner if isinstance(inner, list) else [inner])
        return [list(row) for row in zip(*columns)]

    def leaf(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        if isinstance(e, dict) and e["$"] != "complex":
            labels = (("dtype", "element type"), ("shape", "shape"), ("requires_grad", "requires_grad"))
            for field, label in labels:
                if e.get(field, False) != a.get(field, False):
                    self.differ(
                        path, "expected %s %s, got %s" % (label, e.get(field, False), a.get(field, False))
                    )
                    return
            if e.get("cls") != a.get("cls"):
                self.differ(path, "expected a %s, got a %s" % (e.get("cls"), a.get("cls")))
        if not self.same_data(e, a):
            try:
                self.numeric(e, a, path, first, checker)
            except BadDocument as error:
                self.differ(path, str(error))
        if isinstance(e, dict) and e["$"] == "tensor":
            if ("grad" in e) != ("grad" in a):
                wanted = "a gradient, got none" if "grad" in e else "no gradient"
                self.differ(join(path, ".grad"), "expected %s" % wanted)
            elif "grad" in e:
                self.pair(e["grad"], a["grad"], join(path, ".grad"))
            self.state(e.get("attrs", {}), a.get("attrs", {}), path)

    def same_data(self, e: Any, a: Any) -> bool:
        """Tell whether two leaves have the very same numbers, written alike: the quick way to agree."""
        if not isinstance(e, dict):
            return bool(e == a)
        if "file" in e and "file" in a:
            return bool(self.expected.buffers[e["file"]] == self.actual.buffers[a["file"]])
        return bool(e.get("data", e.get("v", e)) == a.get("data", a.get("v")))

    def numeric(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        if isinstance(e, float) and e != e and a != a:
            return
        plain = isinstance(e, float)
        wanted, got = (e, a) if plain else (numbers(self.expected, e), numbers(self.actual, a))
        floating = dtype_of(e) in FLOATS
        near = floating and checker.get("kind") == "allclose"
        rtol, atol = (
            (float(checker.get("rtol", 0.0)), float(checker.get("atol", 0.0))) if near else (0.0, 0.0)
        )
        found = _mismatch(math if plain else library(), wanted, got, floating, rtol, atol)
        if found is None:
            return
        if self.spreads is not None and first in self.spreads:
            before = self.spreads[first]
            far = (math.inf, math.inf) if found.other else (found.max_abs, found.max_rel)
            self.spreads[first] = Spread(max(far[0], before.max_abs), max(far[1], before.max_rel))
        allowed = " (allowed: rtol %g, atol %g)" % (rtol, atol) if near else ""
        self.differ(path, found.text + allowed)

    def fields(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare two nodes of one tag, field by field."""
        for field, kind in FIELDS[e["$"]].items():
            name = field.lstrip("?")
            if (name in e) != (name in a):
                self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))
            elif name not in e:
                continue
            elif kind in (TEXT, INTS, FLAG):
                if e[name] != a[name]:
                    labels = (
                        ("%s" % describe(e), describe(a))
                        if name == "cls"
                        else (short(e[name]), short(a[name]))
                    )
                    self.differ(path, "expected %s, got %s" % labels)
                    return
            elif kind == NODE:
                self.pair(e[name], a[name], path if name == "base" else join(path, "." + name))
            elif kind == NODES:
                if len(e[name]) != len(a[name]):
                    self.differ(path, "expected %d items, got %d" % (len(e[name]), len(a[name])))
                    return
                for place, (wanted, got) in enumerate(zip(e[name], a[name])):
                    self.pair(wanted, got, join(path, "[%d]" % place))
            elif kind == PAIRS:
                ordered = e["$"] == "call" and e["call"].get("v") == "collections:OrderedDict"
                self.pairs(e[name], a[name], path, ordered)
            elif kind == STATE:
                self.state(e[name], a[name], path)

    def state(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        have = dict(a)
        for name, wanted in e.items():
            if name in have:
                self.pair(wanted, have.pop(name), join(path, "." + name))
            elif tagged(wanted) != {"$": "omitted"}:
                self.differ(join(path, "." + name), "expected %s, got nothing" % describe(wanted))
        for name in have:
            self.differ(join(path, "." + name), "expected nothing, got %s" % describe(have[name]))

    def pairs(self, e: List[List[Any]], a: List[List[Any]], path: str, ordered: bool) -> None:
        """Compare dictionaries: by their keys, whatever the order, or by place where keys are no plain values."""
        keys = [[_plain_key(key) for key, _ in side] for side in (e, a)]
        if None in keys[0] or None in keys[1]:
            keys = [[str(place) for place in range(len(side))] for side in (e, a)]
        rest = {key: (place, item) for place, (key, item) in enumerate(zip(keys[1], a))}
        for place, (key, (raw, wanted)) in enumerate(zip(keys[0], e)):
            step = join(path, key_text(raw, place))
            if key in rest:
                _, (other, got) = rest.pop(key)
                self.pair(raw, other, join(path, "<key %d>" % place))
                self.pair(wanted, got, step)
            elif self.checker(step).get("kind") != "ignore":
                self.differ(step, "expected %s, got nothing" % describe(wanted))
        for place, (raw, got) in rest.values():
            step = join(path, key_text(raw, place))
            if self.checker(step).get("kind") != "ignore":
                self.differ(step, "expected nothing, got %s" % describe(got))
        if (
            ordered
            and not rest
            and keys[0] != keys[1]
            and sorted(map(str, keys[0])) == sorted(map(str, keys[1]))
        ):
            self.differ(path, "the keys are in another order")


def _plain_key(key: Any) -> Optional[str]:
    text = json.dumps(key, sort_keys=True)
    return (
        None if any(word in text for word in ('"file":', '"id":', '"object"', '"call"', '"tensor"')) else text
    )


def _by_id(tree: Any) -> Dict[int, Any]:
    nodes = (node for _, node in walk(tree) if isinstance(node, dict) and node.get("$") != "ref")
    return {node["id"]: node for node in nodes if "$" in node and "id" in node}


class _Mismatch(NamedTuple):
    """Two leaves that differ; ``other``: beyond what any tolerance allows, as NaN or in an infinity."""

    text: str
    max_abs: float
    max_rel: float
    other: bool


def _mismatch(library: Any, e: Any, a: Any, floating: bool, rtol: float, atol: float) -> Optional[_Mismatch]:
    """Compare numbers of one type and shape: ``|actual - expected| <= atol + rtol * |expected|``.

    NaN agrees with NaN only and an infinity with the same infinity only. ``library``: ``math``, numpy or torch.
    """
    if library is math:
        if e == a:
            return None
        finite = math.isfinite(e) and math.isfinite(a)
        error = abs(a - e) if finite else math.inf
        if finite and error <= atol + rtol * abs(e):
            return None
        return _Mismatch(_one(e, a, error, abs(e)), error, error / abs(e) if e else math.inf, not finite)
    if not floating:
        wrong = e != a
        if not wrong.any():
            return None
        return _Mismatch(_first(e, a, wrong), math.inf, math.inf, True)
    with library.errstate(all="ignore") if hasattr(library, "errstate") else library.no_grad():
        same = (e == a) | (library.isnan(e) & library.isnan(a))
        finite = library.isfinite(e) & library.isfinite(a)
        error, scale = abs(a - e), abs(e)
        wrong = ~same & ~(finite & (error <= atol + rtol * scale))
        if not wrong.any():
            return None
        other = bool((wrong & ~finite).any())
        finite = finite & ~same
        largest = float(error[finite].max()) if finite.any() else math.inf
        part = finite & (scale > 0)
        relative = float((error[part] / scale[part]).max()) if part.any() else math.inf
        relative = math.inf if (finite & (scale == 0)).any() else relative
    text = _first(e, a, wrong)
    if finite.any():
        text += "; largest difference %.3g absolute, %.3g relative" % (largest, relative)
    return _Mismatch(text, largest, relative, other)


def _one(e: Any, a: Any, error: float, scale: float) -> str:
    text = "expected %r, got %r" % (e, a)
    if math.isfinite(error) and scale:
        text += "; largest difference %.3g absolute, %.3g relative" % (error, error / scale)
    return text


def _first(e: Any, a: Any, wrong: Any) -> str:
    """Say how many differ, and the first with its place."""
    if not len(wrong.shape):
        return "expected %r, got %r" % (e.item(), a.item())
    place: List[int] = []
    rest = int(wrong.reshape(-1).nonzero()[0][0])
    wanted, got = (_value(side.reshape(-1)[rest]) for side in (e, a))
    for size in reversed(tuple(wrong.shape)):
        place.insert(0, rest % size)
        rest //= size
    total = wrong.reshape(-1).shape[0]
    return "%d of %d elements differ; first at %s: expected %r, got %r" % (
        int(wrong.sum()),
        total,
        place,
        wanted,
        got,
    )


def _value(item: Any) -> Any:
    return item.item() if hasattr(item, "item") else item


def kind_of(node: Any) -> str:
    """Return what has to be the same before values are compared."""
    return str(node["$"]) if isinstance(node, dict) else type(node).__name__


def describe(node: Any) -> str:
    """Put a node into words."""
    node = tagged(node)
    if not isinstance(node, dict):
        return short(node)
    tag = node["$"]
    if tag in ("tensor", "array"):
        return "%s %s%s" % ({"tensor": "a tensor", "array": "an array"}[tag], node["dtype"], node["shape"])
    if tag in ("list", "tuple", "set", "frozenset", "dict"):
        return "a %s of %d" % (tag, len(node["v"]))
    if "cls" in node:
        return "a %s" % str(node["cls"]).rpartition(":")[2]
    if tag == "call":
        return "a %s" % _called(node)
    if tag == "complex":
        return str(complex(*node["v"]))
    names = {
        "scalar": "a numpy scalar",
        "omitted": "something that was not stored",
        "name": str(node.get("v")),
    }
    return names.get(
        tag, "the fixture %s" % node["v"] if tag == "fixture" else "a %s" % node.get("kind", tag)
    )


def _called(node: Dict[str, Any]) -> str:
    name = node["call"].get("v") if isinstance(node["call"], dict) else ""
    if name == "copyreg:__newobj__" and node["args"] and isinstance(node["args"][0], dict):
        name = node["args"][0].get("v", name)
    return str(name).rpartition(":")[2].rpartition(".")[2]


def short(value: Any) -> str:
    """Write a plain value, cut when it is long."""
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
