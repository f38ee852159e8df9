"""Comparing a recorded value with another one: a document, or a live value; nothing of a document is run.

Structure, types (but 0 is 0.0), shapes, element types, places of NaN and ``requires_grad`` always have to be the same;
floating leaves may have a tolerance. Identity is not compared, only values.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable, Dict, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from .arrays import (
    Spread,
    aligned,
    array_mismatch,
    dtype_of,
    is_floating,
    native,
    scalar_mismatch,
)
from .calling import EXHAUSTED, GRAD, GRADIENTS, RAISED, RETURNED, VALUE
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
from .sides import Side, Stored, is_exact, is_telling, plain_value, sort_key

MOST = 20
"""Most differences that are reported."""
MOST_UNORDERED = 2000
"""Most items that are matched each with each; more of them would take too long."""
EXACT = 2**53
"""Whole numbers below it are floats, too."""
MOST_MATCHING = 200_000
"""Most pairs of values that are compared in vain to match items: a document may be made to take for ever."""
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
"""Name of a factory → what it makes."""
_NOTHING = object()
"""Stands for a part that one side lacks."""
Checkers = Mapping[str, Mapping[str, Any]]

_LABELS = {"dtype": "element type", "shape": "shape", "requires_grad": "requires_grad"}
"""Fields of tensors and arrays that have to be the same before their numbers are compared."""


class Difference(NamedTuple):
    """One place where two documents differ."""

    path: str
    message: str

    def __str__(self) -> str:
        return "%s: %s" % (self.path or "the value", self.message)


class Comparison:
    """Compares a recorded value with another one.

    Args:
        expected: the document.
        actual: another document, or live values.
        checkers: path → ``{"kind": "exact"}``, ``{"kind": "allclose", "rtol": …, "atol": …}`` or
            ``{"kind": "ignore"}``; for sequences ``{"kind": "set"}`` (any order). A part without one takes that of the
            nearest path above it; then, where one object is in several places, that of the first place, unless that is
            not compared; then that of :data:`DEFAULT`, then exact.
        within: the comparison whose set this one compares the elements of.
    """

    def __init__(
        self,
        expected: Stored,
        actual: Side,
        checkers: Optional[Checkers] = None,
        within: Optional[Comparison] = None,
    ) -> None:
        self.expected, self.actual, self.checkers = expected, actual, checkers or {}
        self.first: Dict[int, str] = {}
        if within is None:
            nodes = walk(expected.document.tree)
            self.first = {id(node): path for path, node in nodes if isinstance(node, (dict, list))}
        self.matches: _Matches = _Matches() if within is None else within.matches
        self.is_inner = within is not None
        self.most = 1 if self.is_inner else MOST
        self.differences: List[Difference] = []
        self.seen: Dict[Tuple[Any, ...], Any] = {}
        self.kinds = {name: repr(sorted(checker.items())) for name, checker in self.checkers.items()}

    def run(self, expected: Any, actual: Any, path: str = "") -> List[Difference]:
        self.differences, self.seen = [], {}
        try:
            self.pair(expected, actual, path)
        except (RecursionError, BadDocument) as error:
            self.differ(path, "cannot be compared: %s" % error)
        return self.differences[:MOST]

    def differ(self, path: str, message: str) -> None:
        self.differences.append(Difference(path, message))

    def pair(self, wanted: Any, got: Any, path: str) -> None:
        """Compare two values, unless that is left out or was done."""
        if self.is_inner:
            self.matches.work += 1
            if self.matches.work > MOST_MATCHING:
                self.differ(path, "too much to be compared in any order")
                return
        node = self.expected.followed(wanted)
        first = self.first.get(id(node), path) if isinstance(node, (dict, list)) else path
        checker = self.checker(path, first)
        if node == {"$": "omitted"} or (path.startswith(GRAD) and self.left_out(path)):
            return
        skipped = checker.get("kind") == "ignore"
        if skipped and not self.below(path):
            return
        e, a = self.expected.open(node), self.actual.open(got)
        if _is_shared(e) or _is_shared(a):
            pair = (id(node), id(self.actual.followed(got)), repr(sorted(checker.items())), self.below(path))
            if pair in self.seen:
                return
            self.seen[pair] = got  # kept, so that no other value gets its id
        if _kind(e) != _kind(a):
            e, a = plain_value(self.expected, e), plain_value(self.actual, a)
        if {type(e), type(a)} == {int, float} and abs(e) < EXACT and abs(a) < EXACT:
            e, a = float(e), float(a)  # whoever adds up numbers may begin with 0, or with 0.0
        # Who unpacks a result or looks at its items cannot tell a list from a tuple.
        sequences = path == "value" and {_kind(e), _kind(a)} == {"list", "tuple"}
        if _kind(e) == _kind(a) or sequences:
            self.values(e, a, path, first, checker)
        elif not skipped or isinstance(e, dict):
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))

    def values(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare two nodes of one kind."""
        tag = e["$"] if isinstance(e, dict) else ""
        if checker.get("kind") == "ignore":  # only what has a checker of its own is compared, further down
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
            if name.startswith(path) and (not path or name[size : size + 1] in (".", "["))
        )

    def loosest(self, path: str, checker: Mapping[str, Any]) -> Dict[str, Any]:
        """Return the widest tolerance of a set's elements: an element has no place of its own."""
        below = [self.checkers[path + name] for name, _ in self.below(path)]
        near = [each for each in (*below, checker) if each.get("kind") == "allclose"]
        return {name: max([each.get(name, 0.0) for each in near] or [0.0]) for name in ("rtol", "atol")}

    # in any order

    def unordered(self, wanted: List[Any], got: List[Any], path: str, checker: Mapping[str, Any]) -> None:
        """Compare items in any order, with the tolerance of the whole."""
        if len(wanted) != len(got):
            self.differ(path, "expected %d items, got %d" % (len(wanted), len(got)))
            return
        matches = self.match(wanted, got, checker)
        for index in [index for index in range(len(wanted)) if index not in matches][: self.most]:
            words = describe(self.expected.open(wanted[index]))
            self.differ(join(path, "[%d]" % index), "expected %s, which is nowhere" % words)

    def match(self, wanted: List[Any], got: List[Any], checker: Mapping[str, Any]) -> Dict[int, int]:
        """Return number of an item → number of the other side's that equals it, but for the tolerance.

        First those of equal keys, then in the order of their keys, then each with each.
        """
        wanted_keys = [sort_key(self.expected, item) for item in wanted]
        got_keys = [sort_key(self.actual, item) for item in got]
        places: Dict[str, List[int]] = {}
        for number in reversed(range(len(got))):
            if is_telling(got_keys[number]):
                places.setdefault(repr(got_keys[number]), []).append(number)
        equal = [places.get(repr(key)) for key in wanted_keys]
        matches = {index: numbers.pop() for index, numbers in enumerate(equal) if numbers}
        taken = frozenset(matches.values())
        left = [n for n, key in enumerate(wanted_keys) if n not in matches and not is_exact(key)]
        right = [n for n, key in enumerate(got_keys) if n not in taken and not is_exact(key)]
        left.sort(key=lambda index: wanted_keys[index])
        right.sort(key=lambda number: got_keys[number])
        inner = Comparison(self.expected, self.actual, {DEFAULT: dict(checker, kind="allclose")}, within=self)
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
        """Tell whether two items are equal. Items that are being compared already, further up, count as equal."""
        node, before = self.expected.followed(wanted), self.matches.work
        near = self.checkers[DEFAULT]
        pair = (id(node), id(self.actual.followed(got)), near.get("rtol"), near.get("atol"))
        if not isinstance(node, (dict, list)):
            is_equal = not self.run(wanted, got)
        else:
            is_equal = self.matches.decide(pair, (wanted, got), lambda: not self.run(wanted, got))
        if is_equal:
            self.matches.work = before
        return is_equal

    # numbers

    def leaf(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare two nodes that hold numbers."""
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

    def numeric(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare numbers of one type and shape."""
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
        """Note that numbers differ: ``|actual - expected| <= atol + rtol * |expected|`` does not hold."""
        text, distance = found
        if math.isfinite(distance.max_abs):
            text += "; largest difference %.3g absolute, %.3g relative" % distance
        near = checker.get("kind") == "allclose"
        self.differ(path, text + (" (allowed: rtol %g, atol %g)" % _tolerance(checker) if near else ""))

    def sparse(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare sparse matrices: the order of the elements, and zeros that one of them stores, do not matter."""
        contradiction = _contradiction(e, a)
        if contradiction:
            self.differ(path, contradiction)
            return
        at = join(path, ".numbers")
        checker = self.checker(at, at)
        expected, actual = (
            [side.open(node[name]) for name in ("places", "numbers")]
            for side, node in ((self.expected, e), (self.actual, a))
        )
        if _label(expected[1], "dtype") != _label(actual[1], "dtype"):
            self.differ(at, "expected %s, got %s" % (describe(expected[1]), describe(actual[1])))
            return
        wanted, got = aligned(*map(self.expected.numbers, expected), *map(self.actual.numbers, actual))
        mismatch = array_mismatch(wanted, got, wanted.dtype.kind in "fc", *_tolerance(checker))
        if mismatch is not None:
            self.mismatch(mismatch, at, at, checker)

    # parts

    def parts(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare two nodes of one tag: their own texts and sizes, then their parts, by what leads to them."""
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
            elif step[1:] not in e.get("lazy", ()):
                self.one_sided(wanted.get(step, _NOTHING), got.get(step, _NOTHING), path, part)
        self.items(e, a, path)

    def items(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare the items of two dictionaries, by their keys."""
        wanted, got = _pairs(e), _pairs(a)
        near = self.loosest(path, self.checker(path, path))
        matches = self.match([key for key, _ in wanted], [key for key, _ in got], near)
        found = frozenset(matches.values())
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
        """Compare two indices of pandas, one of which is a range."""
        wanted, got = _entries(self.expected, e), _entries(self.actual, a)
        if any(one != other for one, other in itertools.zip_longest(wanted, got)):
            self.differ(path, "expected other entries")
        self.pair(e["args"][-1], a["args"][-1], join(path, ".name"))

    def one_sided(self, wanted: Any, got: Any, path: str, part: str) -> None:
        """Note a part below a path that only one side has, unless it is left out."""
        if self.left_out(part) or wanted == {"$": "omitted"}:
            return
        if not path and _is_changed_argument(part):
            self.differ(part, HAS_TO_STAY if wanted is _NOTHING else HAS_TO_CHANGE)
        elif wanted is _NOTHING:
            self.differ(part, "expected nothing, got %s" % describe(self.actual.open(got)))
        else:
            self.differ(part, "expected %s, got nothing" % describe(self.expected.open(wanted)))


def _is_default(side: Side, part: Any, other: Side, node: Dict[str, Any]) -> bool:
    """Tell whether a part is what another side's defaultdict has for keys that it lacks: to look one up adds it."""
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


class _Matches:
    """Pairs of items that were compared. A pair that is being compared counts as equal further down."""

    def __init__(self) -> None:
        self.known: Dict[Tuple[Any, ...], Tuple[bool, Any]] = {}
        self.equal: List[Tuple[Any, ...]] = []
        self.work = 0

    def decide(self, pair: Tuple[Any, ...], kept: Any, compare_them: Callable[[], bool]) -> bool:
        """Return whether a pair is equal. ``kept``: the values whose ids are in it."""
        if pair in self.known:
            return self.known[pair][0]
        size = len(self.equal)
        self.known[pair] = True, kept
        self.equal.append(pair)
        if compare_them():
            return True
        for other in self.equal[size:]:  # found equal because this pair was taken to be
            del self.known[other]
        del self.equal[size:]
        self.known[pair] = False, kept
        return False


def _tolerance(checker: Mapping[str, Any]) -> Tuple[float, float]:
    near = checker.get("kind") == "allclose"
    return (float(checker.get("rtol", 0.0)), float(checker.get("atol", 0.0))) if near else (0.0, 0.0)


def _label(node: Dict[str, Any], field: str) -> Any:
    value = node.get(field, False)
    return native(value) if field == "dtype" and value else value


def _contradiction(e: Dict[str, Any], a: Dict[str, Any]) -> str:
    """Say where two nodes of one tag have other texts, flags or numbers of items; "" where they have the same."""
    for name, kind in FIELDS[e["$"]].items():
        if kind in (TEXT, INTS, FLAG) and e.get(name) != a.get(name):
            in_words = (
                (describe(e), describe(a)) if name == "cls" else (_short(e.get(name)), _short(a.get(name)))
            )
            return "expected %s, got %s" % in_words
        if kind == NODES and len(e.get(name, ())) != len(a.get(name, ())):
            return "expected %d items, got %d" % (len(e.get(name, ())), len(a.get(name, ())))
    return ""


def _is_changed_argument(part: str) -> bool:
    """Tell whether a part of an outcome is an argument, or a free variable: an outcome has those that were changed."""
    return part not in (VALUE, RAISED, EXHAUSTED, RETURNED, GRADIENTS)


def _rows(side: Side, node: Dict[str, Any]) -> List[Any]:
    """Return the items of a sequence, or the rows of an array."""
    return list(side.numbers(node).tolist() if "dtype" in node else node["v"])


def _pairs(node: Dict[str, Any]) -> List[List[Any]]:
    return list(node["v"] if node["$"] == "dict" else node.get("pairs", ()))


def _entries(side: Side, node: Dict[str, Any]) -> Iterable[Any]:
    """Return the entries of an index of pandas. Raises BadDocument where it is none."""
    limits, array = node["args"][:-1], side.open(node["args"][0]) if node["args"] else None
    if node["kind"] == "range" and [type(limit) for limit in limits] == [int] * 3 and limits[2]:
        return range(*limits)
    if not isinstance(array, dict) or array.get("dtype") != "int64":
        raise BadDocument("no index of whole numbers")
    return list(side.numbers(array).tolist())


def _own_steps(node: Dict[str, Any]) -> Dict[str, Any]:
    """Return a node's parts but those of its pairs, by the steps that lead to them."""
    fields = [item for item in FIELDS[node["$"]].items() if item[1] != PAIRS and item[0] in node]
    return {step: part for name, kind in fields for step, part in steps(name, kind, node[name])}


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
    """Return the last part of the name of a class or function, given as text, as a node or itself."""
    text = value.get("v", "") if isinstance(value, dict) else getattr(value, "__qualname__", value)
    return str(text).rpartition(":")[2].rpartition(".")[2]


def _short(value: Any) -> str:
    """Write a plain value, cut when it is long."""
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
