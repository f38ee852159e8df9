"""Comparing a document with another document or with live values.

Structure, types (but 0 is 0.0), shapes, element types, places of NaN and ``requires_grad`` always have to be the same;
floating leaves may have a tolerance. Identity is not compared, only values.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from .arrays import (
    Spread,
    aligned,
    array_mismatch,
    dtype_of,
    is_floating,
    native,
    scalar_mismatch,
)
from .calling import ADDED, EXHAUSTED, GRAD, GRADIENTS, RAISED, RETURNED, VALUE
from .document import (
    FIELDS,
    FLAG,
    INTS,
    NODES,
    PAIRS,
    TEXT,
    BadDocument,
    join,
    key_text,
    steps,
    tagged,
    walk,
)
from .sides import Side, Stored, certainty, plain_value, sort_key

MOST = 20
"""Most differences that are kept and reported."""
MOST_UNORDERED = 2000
"""Most items that are matched by trying each pair."""
EXACT = 2**53
"""Limit of the integers that floats represent exactly."""
MOST_MATCHING = 200_000
"""Most failed comparisons while items are matched: a limit for hostile documents."""
DEFAULT = "*"
"""Checker of every part that has none of its own, and none above it."""
GRADS = "*.grad"
"""Checker of the ``.grad`` of every tensor that has none of its own."""

HAS_TO_CHANGE = "the call has to change it, and left it as it was"
HAS_TO_STAY = "the call changed it, and has to leave it as it is"

_DEFAULTDICT = {"$": "name", "v": "collections:defaultdict"}
_DEFAULTS: Mapping[Any, Any] = {
    "builtins:int": 0,
    "builtins:float": 0.0,
    "builtins:str": "",
    "builtins:bool": False,
}
"""Name of a defaultdict's factory → its result."""
_NOTHING = object()
"""A part that one side lacks."""
_EXACTLY: Mapping[str, Any] = {}
Checkers = Mapping[str, Mapping[str, Any]]

_LABELS = {"dtype": "element type", "shape": "shape", "requires_grad": "requires_grad"}
"""Fields of tensors and arrays that have to be the same before their numbers are compared."""


class Difference(NamedTuple):
    path: str
    message: str

    def __str__(self) -> str:
        return "%s: %s" % (self.path or "the value", self.message)


class Comparison:
    """Compares a document with another document or with live values.

    Args:
        checkers: path → ``{"kind": "exact"}``, ``{"kind": "allclose", "rtol": …, "atol": …}`` or
            ``{"kind": "ignore"}``; for sequences ``{"kind": "set"}`` (any order). A part without one takes that of the
            nearest path above it; then, where one object is in several places, that of the first place, unless that is
            not compared; then that of :data:`DEFAULT`, then exact.
        within: the comparison whose unordered items this one compares.
        may_add: objects may have attributes that the document's lack: their paths are ``additions``.
    """

    def __init__(
        self,
        expected: Stored,
        actual: Side,
        checkers: Optional[Checkers] = None,
        within: Optional[Comparison] = None,
        may_add: bool = False,
    ) -> None:
        self.expected, self.actual, self.checkers = expected, actual, checkers or {}
        self.may_add = may_add
        self.additions: List[str] = []
        self.added: List[str] = []
        nodes = walk(expected.document.tree) if within is None else ()
        self.first = {id(node): path for path, node in nodes if isinstance(node, (dict, list))}
        self.outermost: Comparison = self if within is None else within.outermost
        self.most = MOST if within is None else 1
        if may_add:
            self.most = 2 * MOST  # never reached: every addition is looked for
        self.differences: List[Difference] = []
        self.seen: Dict[Tuple[Any, ...], Any] = {}
        # of the outermost comparison:
        self.agreeing: Dict[Tuple[Any, ...], Tuple[bool, Any]] = {}
        self.assumed: List[Tuple[Any, ...]] = []
        self.failures = 0

    def run(self, expected: Any, actual: Any, path: str = "") -> List[Difference]:
        self.differences, self.seen = [], {}
        try:
            self.pair(expected, actual, path)
        except (RecursionError, BadDocument) as error:
            self.differ(path, "cannot be compared: %s" % error)
        return self.differences[:MOST]

    def differ(self, path: str, message: str) -> None:
        if len(self.differences) < MOST:
            self.differences.append(Difference(path, message))

    def pair(self, wanted: Any, got: Any, path: str) -> None:
        """Compare two values, unless they are ignored or were compared before."""
        if self.outermost is not self:
            self.outermost.failures += 1  # agrees() takes it back
            if self.outermost.failures > MOST_MATCHING:
                self.differ(path, "too much to be compared in any order")
                return
        node = self.expected.followed(wanted)
        first = self.first.get(id(node), path)
        checker = self.checker(path, first)
        if node == {"$": "omitted"} or path == ADDED or (path.startswith(GRAD) and self.left_out(path)):
            return
        skipped = checker.get("kind") == "ignore"
        if skipped and not self.below(path):
            return
        e, a = self.expected.open(node), self.actual.open(got)
        if any(isinstance(side, dict) and "id" in side for side in (e, a)):
            # One object in two places is compared twice where the checkers differ.
            checkers = [(rest, id(each)) for rest, each in self.below(path).items()]
            pair = (id(node), id(self.actual.followed(got)), id(checker), *checkers)
            if pair in self.seen:
                return
            self.seen[pair] = got  # kept, so that no other value gets its id
        if _kind(e) != _kind(a):
            e, a = plain_value(self.expected, e), plain_value(self.actual, a)
        if {type(e), type(a)} == {int, float} and abs(e) < EXACT and abs(a) < EXACT:
            e, a = float(e), float(a)  # a sum may start with 0 or 0.0
        # Unpacking and indexing a result work alike for a list and a tuple.
        sequences = path == "value" and {_kind(e), _kind(a)} == {"list", "tuple"}
        if _kind(e) == _kind(a) or sequences:
            self.values(e, a, path, first, checker)
        elif not skipped or isinstance(e, dict):
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))

    def values(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare two nodes of one kind."""
        tag = e["$"] if isinstance(e, dict) else ""
        if checker.get("kind") == "ignore":  # only parts with checkers of their own are compared
            if tag:
                self.parts(e, a, path)
        elif tag in ("set", "frozenset"):
            self.unordered(e["v"], a["v"], path, self.loosest(path, checker))
        elif checker.get("kind") == "set" and tag in ("list", "tuple", "array", "tensor"):
            self.unordered(_rows(self.expected, e), _rows(self.actual, a), path, checker)
        elif dtype_of(e):
            self.leaf(e, a, path, first, checker)
        elif tag == "sparse":
            self.sparse(e, a, path)
        elif tag:
            self.parts(e, a, path)
        elif e != a:
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))

    def checker(self, path: str, first: str) -> Mapping[str, Any]:
        """Return the checker of a path, or of the first place of the same object."""
        own = self.nearest(path)
        if own is None and first != path:
            own = self.nearest(first)
            own = None if own is not None and own.get("kind") == "ignore" else own
        return self.checkers.get(DEFAULT, _EXACTLY) if own is None else own

    def nearest(self, path: str) -> Optional[Mapping[str, Any]]:
        while path:
            if path in self.checkers:
                return self.checkers[path]
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return None

    def below(self, path: str) -> Checkers:
        """Return the checkers below a path, by the rest of their paths."""
        size = len(path)
        return {
            name[size:]: checker
            for name, checker in self.checkers.items()
            if name.startswith(path) and (not path or name[size : size + 1] in (".", "["))
        }

    def loosest(self, path: str, checker: Mapping[str, Any]) -> Dict[str, Any]:
        """Return the widest tolerance of unordered items, which have no paths of their own."""
        near = [each for each in (*self.below(path).values(), checker) if each.get("kind") == "allclose"]
        return {name: max([each.get(name, 0.0) for each in near], default=0.0) for name in ("rtol", "atol")}

    # in any order

    def unordered(self, wanted: List[Any], got: List[Any], path: str, checker: Mapping[str, Any]) -> None:
        """Compare items in any order, with one tolerance for all."""
        if len(wanted) != len(got):
            self.differ(path, "expected %d items, got %d" % (len(wanted), len(got)))
            return
        matches = self.match(wanted, got, checker)
        for index in [index for index in range(len(wanted)) if index not in matches][: self.most]:
            words = describe(self.expected.open(wanted[index]))
            self.differ(join(path, "[%d]" % index), "expected %s, which is nowhere" % words)

    def match(self, wanted: List[Any], got: List[Any], checker: Mapping[str, Any]) -> Dict[int, int]:
        """Return number of an item → number of its equal on the other side.

        First by equal keys, then by the order of the keys, then by trying each pair.
        """
        wanted_keys = [sort_key(self.expected, item) for item in wanted]
        got_keys = [sort_key(self.actual, item) for item in got]
        places: Dict[str, List[int]] = {}
        for number in reversed(range(len(got))):
            if certainty(got_keys[number]):
                places.setdefault(repr(got_keys[number]), []).append(number)
        equal = [places.get(repr(key)) for key in wanted_keys]
        matches = {index: numbers.pop() for index, numbers in enumerate(equal) if numbers}
        taken = frozenset(matches.values())
        left = [n for n, key in enumerate(wanted_keys) if n not in matches and certainty(key) < 2]
        right = [n for n, key in enumerate(got_keys) if n not in taken and certainty(key) < 2]
        left.sort(key=lambda index: wanted_keys[index])
        right.sort(key=lambda number: got_keys[number])
        near = {DEFAULT: dict(checker, kind="allclose"), GRADS: self.checkers.get(GRADS, _EXACTLY)}
        inner = Comparison(self.expected, self.actual, near, within=self)
        for index, number in list(zip(left, right)):
            if inner.agrees(wanted[index], got[number]):
                matches[index] = number
                left.remove(index)
                right.remove(number)
        for index in left if len(left) <= MOST_UNORDERED else ():
            match = next((number for number in right if inner.agrees(wanted[index], got[number])), None)
            if match is not None:
                matches[index] = match
                right.remove(match)
        return matches

    def agrees(self, wanted: Any, got: Any) -> bool:
        """Tell whether two items are equal. A pair that is being compared counts as equal further down."""
        outer, near = self.outermost, self.checkers[DEFAULT]
        ids = (id(self.expected.followed(wanted)), id(self.actual.followed(got)))
        pair = (*ids, near.get("rtol"), near.get("atol"))
        failures, size = outer.failures, len(outer.assumed)
        if pair not in outer.agreeing:
            outer.agreeing[pair] = True, (wanted, got)  # kept, so that no other values get their ids
            outer.assumed.append(pair)
            if self.run(wanted, got):
                for other in outer.assumed[size:]:  # it counted as equal because this pair did
                    del outer.agreeing[other]
                del outer.assumed[size:]
                outer.agreeing[pair] = False, (wanted, got)
        is_equal = outer.agreeing[pair][0]
        if is_equal:
            outer.failures = failures
        return is_equal

    # numbers

    def leaf(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        if isinstance(e, dict):
            for field, label in _LABELS.items():
                wanted, got = _label(e, field), _label(a, field)
                if wanted != got:
                    self.differ(path, "expected %s %s, got %s" % (label, wanted, got))
                    return
            if e.get("cls") != a.get("cls"):
                self.differ(path, "expected class %s, got %s" % (e.get("cls"), a.get("cls")))
        self.numeric(e, a, path, first, checker)
        if isinstance(e, dict) and e["$"] == "tensor":
            self.grads(e, a, join(path, ".grad"))
            attributes = [{"$": "object", "state": node.get("attrs", {})} for node in (e, a)]
            self.parts(attributes[0], attributes[1], path)

    def grads(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
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
        checker = self.checkers.get(GRADS, {}) if path.startswith(GRAD) else self.checker(path, path)
        return checker.get("kind") == "ignore"

    def numeric(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        floating = is_floating(dtype_of(e))
        rtol, atol = _tolerance(checker) if floating else (0.0, 0.0)
        if isinstance(e, float):
            mismatch = scalar_mismatch(e, a, rtol, atol)
        elif e["$"] == "complex":
            mismatch = scalar_mismatch(complex(*e["v"]), complex(*a["v"]), rtol, atol)
        else:
            wanted, got = self.expected.numbers(e), self.actual.numbers(a)
            mismatch = array_mismatch(wanted, got, floating, rtol, atol)
        if mismatch is not None:
            self.mismatch(mismatch, path, first, checker if floating else {})

    def mismatch(self, found: Tuple[str, Spread], path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Report numbers for which ``|actual - expected| <= atol + rtol * |expected|`` is false."""
        text, distance = found
        if math.isfinite(distance.max_abs):
            text += "; largest difference %.3g absolute, %.3g relative" % distance
        near = checker.get("kind") == "allclose"
        self.differ(path, text + (" (allowed: rtol %g, atol %g)" % _tolerance(checker) if near else ""))

    def sparse(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare sparse matrices, in any order of their elements and without the zeros that they store."""
        at = join(path, ".numbers")
        checker = self.checker(at, at)
        expected, actual = (
            [side.open(node[name]) for name in ("places", "numbers")]
            for side, node in ((self.expected, e), (self.actual, a))
        )
        problem = _contradiction(e, a)
        if not problem and _label(expected[1], "dtype") != _label(actual[1], "dtype"):
            problem = "expected %s, got %s" % (describe(expected[1]), describe(actual[1]))
        if problem:
            self.differ(at, problem)
            return
        wanted, got = aligned(*map(self.expected.numbers, expected), *map(self.actual.numbers, actual))
        mismatch = array_mismatch(wanted, got, wanted.dtype.kind in "fc", *_tolerance(checker))
        if mismatch is not None:
            self.mismatch(mismatch, at, at, checker)

    # parts

    def parts(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare two nodes of one tag: first their own texts and sizes, then their parts."""
        if e["$"] == "make" and {e["kind"], a["kind"]} == {"range", "index"}:
            self.index(e, a, path)
            return
        contradiction = _contradiction(e, a)
        if contradiction and self.checker(path, path).get("kind") != "ignore":
            self.differ(path, contradiction)
            return
        wanted, got = _own_steps(e), _own_steps(a)
        for step in dict(wanted, **got):
            if len(self.differences) >= self.most:
                return
            part = join(path, step) if step else path
            if step in wanted and step in got:
                self.pair(wanted[step], got[step], part)
            elif self.may_add and step in got and e["$"] == "object":
                self.additions.append(part)
            elif step[1:] not in e.get("lazy", ()):
                self.one_sided(wanted.get(step, _NOTHING), got.get(step, _NOTHING), path, part)
        self.items(e, a, path)

    def items(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        wanted, got = _pairs(e), _pairs(a)
        near = self.loosest(path, self.checker(path, path))
        matches = self.match([key for key, _ in wanted], [key for key, _ in got], near)
        found = frozenset(matches.values())
        if not path:  # the whole outcome
            self.added = [name for key, part in got if key == ADDED for name in str(part).split(",")]
        more = [(number, pair) for number, pair in enumerate(got) if number not in found]
        for index, (key, part) in enumerate(wanted):
            if len(self.differences) >= self.most:
                return
            at = join(path, key_text(plain_value(self.expected, self.expected.open(key)), index))
            if index in matches:
                self.pair(part, got[matches[index]][1], at)
            elif not _is_default(self.expected, part, self.actual, a):
                self.one_sided(part, _NOTHING, path, at)
        for number, (key, part) in more[: self.most]:
            at = join(path, key_text(plain_value(self.actual, self.actual.open(key)), number))
            if not _is_default(self.actual, part, self.expected, e):
                self.one_sided(_NOTHING, part, path, at)
        numbers = [matches[index] for index in sorted(matches)]
        if e.get("call") == {"$": "name", "v": "collections:OrderedDict"} and numbers != sorted(numbers):
            self.differ(path, "the keys are in another order")

    def index(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare a range index of pandas with another index."""
        wanted, got = _entries(self.expected, e), _entries(self.actual, a)
        if any(one != other for one, other in itertools.zip_longest(wanted, got)):
            self.differ(path, "expected other entries")
        self.pair(e["args"][-1], a["args"][-1], join(path, ".name"))

    def one_sided(self, wanted: Any, got: Any, path: str, part: str) -> None:
        """Report a part that only one side has."""
        may_be = part == ADDED or (wanted is _NOTHING and part in self.added)
        if may_be or self.left_out(part) or wanted == {"$": "omitted"}:
            return
        if not path and part not in (VALUE, RAISED, EXHAUSTED, RETURNED, GRADIENTS):  # a changed argument
            self.differ(part, HAS_TO_STAY if wanted is _NOTHING else HAS_TO_CHANGE)
        elif wanted is _NOTHING:
            self.differ(part, "expected nothing, got %s" % describe(self.actual.open(got)))
        else:
            self.differ(part, "expected %s, got nothing" % describe(self.expected.open(wanted)))


def _is_default(side: Side, part: Any, other: Side, node: Dict[str, Any]) -> bool:
    """Tell whether a part is the default of the other side's defaultdict: a mere lookup adds it."""
    if other.open(node.get("call")) != _DEFAULTDICT or not node["args"]:
        return False
    factory = other.open(node["args"][0])
    if not isinstance(factory, dict):
        return False
    default = _DEFAULTS.get(factory.get("v")) if factory["$"] == "name" else None
    if factory.get("kind") == "factory":
        default = plain_value(other, other.open(factory["args"][0]))
    value = plain_value(side, side.open(part))
    return isinstance(default, (int, float, str)) and type(value) is type(default) and bool(value == default)


def _tolerance(checker: Mapping[str, Any]) -> Tuple[float, float]:
    near = checker.get("kind") == "allclose"
    return (float(checker.get("rtol", 0.0)), float(checker.get("atol", 0.0))) if near else (0.0, 0.0)


def _label(node: Dict[str, Any], field: str) -> Any:
    value = node.get(field, False)
    return native(value) if field == "dtype" and value else value


def _contradiction(e: Dict[str, Any], a: Dict[str, Any]) -> str:
    """Return how the texts, flags or sizes of two nodes of one tag differ, or ""."""
    for name, kind in FIELDS[e["$"]].items():
        if kind in (TEXT, INTS, FLAG) and e.get(name) != a.get(name):
            in_words = (
                (describe(e), describe(a)) if name == "cls" else (_short(e.get(name)), _short(a.get(name)))
            )
            return "expected %s, got %s" % in_words
        if kind == NODES and len(e.get(name, ())) != len(a.get(name, ())):
            return "expected %d items, got %d" % (len(e.get(name, ())), len(a.get(name, ())))
    return ""


def _rows(side: Side, node: Dict[str, Any]) -> List[Any]:
    return list(side.numbers(node).tolist() if "dtype" in node else node["v"])


def _pairs(node: Dict[str, Any]) -> List[List[Any]]:
    return list(node["v"] if node["$"] == "dict" else node.get("pairs", ()))


def _entries(side: Side, node: Dict[str, Any]) -> Iterable[Any]:
    """Return the integers in an index of pandas. Raises BadDocument."""
    limits, array = node["args"][:-1], side.open(node["args"][0]) if node["args"] else None
    if node["kind"] == "range" and [type(limit) for limit in limits] == [int] * 3 and limits[2]:
        return range(*limits)
    if not isinstance(array, dict) or array.get("dtype") != "int64":
        raise BadDocument("no index of whole numbers")
    return list(side.numbers(array).tolist())


def _own_steps(node: Dict[str, Any]) -> Dict[str, Any]:
    """Return step → part of a node, without its pairs."""
    fields = [item for item in FIELDS[node["$"]].items() if item[1] != PAIRS and item[0] in node]
    return {step: part for name, kind in fields for step, part in steps(name, kind, node[name])}


def _kind(node: Any) -> str:
    return str(node["$"]) if isinstance(node, dict) else type(node).__name__


def describe(node: Any) -> str:
    node = tagged(node)
    if not isinstance(node, dict):
        return _short(node)
    tag, content = node["$"], node.get("v")
    if tag == "name":
        return str(content)
    if tag == "complex":
        return str(complex(*node["v"]))
    if tag == "omitted":
        return "something that was not stored"
    if tag == "fixture":
        return "the fixture %s" % content
    if tag == "call":  # as pickle makes an object: its class is called, or is the first argument
        called = [_last_name(part) for part in (node["call"], *node["args"][:1])]
        return "a %s" % (called[-1] if called[0] == "__newobj__" and called[-1] else called[0])
    text = "an array" if tag == "array" else "a " + _last_name(node.get("cls") or node.get("kind") or tag)
    if "dtype" in node:
        return text + " %s%s" % (node["dtype"], node["shape"])
    return text + (" of %d" % len(content) if isinstance(content, list) else "")


def _last_name(value: Any) -> str:
    """Return the last part of the name of a class or function, given as a text, a node or an object."""
    text = value.get("v", "") if isinstance(value, dict) else getattr(value, "__qualname__", value)
    return str(text).rpartition(":")[2].rpartition(".")[2]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
