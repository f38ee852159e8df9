"""One comparison of an expected and an actual document, node by node: see :mod:`.compare`."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Set, Tuple

from . import loose
from .bertscore import DEFAULT, Unavailable
from .buffers import BadDocument
from .document import Document
from .keys import match, same_order
from .leaves import Numbers, dtype_of, first_paths, numbers
from .numeric import Tolerance, mismatch, spread_of
from .tree import FIELDS, FLAG, INT, INTS, MAYBE_INT, NODE, NODES, PAIRS, STATE, TEXT, key_text, kind_of
from .tree import join as join_path
from .wording import describe, explain, short

MOST = 20
"""So many differences are reported at most."""

_NOT_COMPARED = ("b", "stride", "offset", "leaf", "device", "order")
_DECLARED = (("dtype", "element type"), ("shape", "shape"), ("requires_grad", "requires_grad"))
_ORDERED = ("OrderedDict",)

Checkers = Mapping[str, Mapping[str, Any]]


class Difference(NamedTuple):
    """One place where two documents differ."""

    path: str
    message: str

    def __str__(self) -> str:
        return "%s: %s" % (self.path or "the value", self.message)


class Spread(NamedTuple):
    """How far repeated runs are apart at a leaf."""

    max_abs: float
    max_rel: float


class Enough(Exception):
    """Enough differences were found."""


class Comparison:
    def __init__(
        self,
        expected: Document,
        actual: Document,
        checkers: Checkers,
        spreads: Optional[Dict[str, Spread]] = None,
    ) -> None:
        self.expected, self.actual, self.checkers, self.spreads = expected, actual, checkers, spreads
        self.paths, self.expected_ids = first_paths(expected)
        self.actual_ids = first_paths(actual)[1]
        self.found: List[Difference] = []
        self.seen: Set[Tuple[int, int]] = set()

    def differ(self, path: str, message: str) -> None:
        if self.spreads is not None:
            return
        self.found.append(Difference(path, message))
        if len(self.found) >= MOST:
            raise Enough

    def pair(self, e: Any, a: Any, path: str) -> None:
        """Compare two nodes."""
        if isinstance(e, dict) and e["$"] == "ref":
            e = self.expected_ids[e["id"]]
        if isinstance(a, dict) and a["$"] == "ref":
            a = self.actual_ids[a["id"]]
        if isinstance(e, dict):
            if (id(e), id(a)) in self.seen or e["$"] == "omitted":
                return
            if isinstance(a, dict):
                self.seen.add((id(e), id(a)))
        checker = self.checker(e, path)
        if checker.get("kind") == "ignore":
            return
        if kind_of(e) != kind_of(a):
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))
        elif self.loosely(e, a, path, checker):
            return
        elif dtype_of(e):
            self.leaf(e, a, path, checker)
        elif isinstance(e, dict) and isinstance(a, dict):
            self.fields(e, a, path)
        elif e != a:
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))

    def checker(self, e: Any, path: str) -> Mapping[str, Any]:
        """The checker of a node: of its own path, else of the nearest above, else of ``*``."""
        if not self.checkers:
            return {}
        first = self.paths.get(id(e), path) if isinstance(e, dict) else path
        for place in (first, path):
            while place:
                if place in self.checkers:
                    return self.checkers[place]
                place = place[: max(place.rfind("."), place.rfind("["), 0)]
        return self.checkers.get("", self.checkers.get("*", {}))

    def loosely(self, e: Any, a: Any, path: str, checker: Mapping[str, Any]) -> bool:
        """Compare as a checker for order or text says; False when it is none, or does not fit the value."""
        kind = checker.get("kind")
        if kind == "text" and isinstance(e, str):
            self.text(e, a, path, checker)
            return True
        if not isinstance(e, dict):
            return False
        if kind == "set" and e["$"] in ("list", "tuple", "deque"):
            return self.unordered(e["v"], a["v"], path, path)
        if kind == "dataframe" and e["$"] == "dataframe":
            self.pair(e["columns"], a["columns"], path + ".columns")
            rows = [loose.rows(e, self.wanted_numbers), loose.rows(a, self.actual_numbers)]
            types = [[(kind_of(item), dtype_of(item)) for item in table["v"]] for table in (e, a)]
            if types[0] != types[1]:
                self.differ(path, "the columns have other types")
                return True
            if rows[0] is None or rows[1] is None:
                return False
            return self.unordered(rows[0], rows[1], path, path)
        return False

    def text(self, e: str, a: str, path: str, checker: Mapping[str, Any]) -> None:
        """Compare two texts by how alike they are."""
        metric, model = str(checker.get("metric", "token_f1")), str(checker.get("model", DEFAULT))
        needed = float(checker.get("at_least", 1.0))
        try:
            found = loose.similarity(metric, e, a, model)
        except Unavailable as error:
            self.differ(path, str(error))
            return
        if found < needed:
            self.differ(path, "%.3f alike, less than %g: %s" % (found, needed, short(a)))

    def wanted_numbers(self, node: Any) -> Numbers:
        """The numbers of a leaf of the expected document."""
        return numbers(self.expected, node)

    def actual_numbers(self, node: Any) -> Numbers:
        """The numbers of a leaf of the actual document."""
        return numbers(self.actual, node)

    def unordered(self, e: Any, a: Any, path: str, own: str) -> bool:
        """Compare items in whatever order; False when there are too many."""
        if len(e) != len(a):
            self.differ(path, "expected %d items, got %d" % (len(e), len(a)))
            return True
        if len(e) > loose.MOST_UNORDERED:
            return False
        inner = {name: checker for name, checker in self.checkers.items() if name != own}
        tolerance = dict(self.checkers[own], kind="allclose") if own in self.checkers else {}

        def alike(wanted: Any, got: Any) -> bool:
            if isinstance(wanted, list):
                return all(alike(one, other) for one, other in zip(wanted, got))
            run = Comparison(self.expected, self.actual, {**inner, own: tolerance})
            run.paths = self.paths
            try:
                run.pair(wanted, got, join_path(own, "[]"))
            except Enough:
                pass
            return not run.found

        for place in loose.unmatched(e, a, alike):
            self.differ(join_path(path, "[%d]" % place), "expected %s, which is nowhere" % describe(e[place]))
        return True

    def leaf(self, e: Any, a: Any, path: str, checker: Mapping[str, Any]) -> None:
        for field, label in _DECLARED:
            have, want = _field(a, field), _field(e, field)
            if have != want:
                self.differ(path, "expected %s %s, got %s" % (label, want, have))
                return
        if _field(e, "cls") != _field(a, "cls"):
            self.differ(path, "expected a %s, got a %s" % (_field(e, "cls"), _field(a, "cls")))
        if not self.same_data(e, a):
            self.numeric(e, a, path, checker)
        if isinstance(e, dict) and e["$"] == "tensor":
            self.extras(e, a, path)

    def same_data(self, e: Any, a: Any) -> bool:
        """Whether two leaves have the very same bytes in the same layout: the quick way to agree."""
        if not isinstance(e, dict) or "b" not in e:
            return False
        if (e.get("stride"), e.get("offset")) != (a.get("stride"), a.get("offset")):
            return False
        return self.expected.buffers[e["b"]] == self.actual.buffers[a["b"]]

    def numeric(self, e: Any, a: Any, path: str, checker: Mapping[str, Any]) -> None:
        try:
            wanted, got = numbers(self.expected, e), numbers(self.actual, a)
        except BadDocument as error:
            self.differ(path, "cannot be read: %s" % error)
            return
        if len(wanted.values) != len(got.values):
            self.differ(path, "expected %d numbers, got %d" % (len(wanted.values), len(got.values)))
            return
        self.values(wanted, got, path, checker)
        if self.spreads is not None:
            self.note_spread(self.paths.get(id(e), path) if isinstance(e, dict) else path, wanted, got)

    def values(self, wanted: Numbers, got: Numbers, path: str, checker: Mapping[str, Any]) -> None:
        tolerance = Tolerance()
        if checker.get("kind") == "allclose":
            tolerance = Tolerance(float(checker.get("rtol", 0.0)), float(checker.get("atol", 0.0)))
        found = mismatch(wanted, got, tolerance)
        if found is not None:
            self.differ(path, explain(found, wanted, got, tolerance))

    def note_spread(self, path: str, wanted: Numbers, got: Numbers) -> None:
        assert self.spreads is not None
        absolute, relative = spread_of(wanted, got)
        before = self.spreads.get(path, Spread(0.0, 0.0))
        self.spreads[path] = Spread(max(absolute, before.max_abs), max(relative, before.max_rel))

    def extras(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """A tensor's gradient and attributes."""
        if ("grad" in e) != ("grad" in a):
            self.differ(
                path + ".grad", "expected %s" % ("a gradient, got none" if "grad" in e else "no gradient")
            )
        elif "grad" in e:
            self.pair(e["grad"], a["grad"], path + ".grad")
        self.state(e.get("attrs", []), a.get("attrs", []), path)

    def fields(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare two nodes of one tag, field by field."""
        for field, kind in FIELDS[e["$"]].items():
            name = field.lstrip("?")
            if name in _NOT_COMPARED or (name not in e and name not in a):
                continue
            if (name in e) != (name in a):
                self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))
            elif kind in (TEXT, INT, INTS, FLAG, MAYBE_INT):
                if e[name] != a[name] and name == "cls":
                    self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))
                    return
                if e[name] != a[name]:
                    self.differ(path, "expected %s %s, got %s" % (name, short(e[name]), short(a[name])))
                    return
            elif kind == NODE:
                self.pair(e[name], a[name], join_path(path, "" if name == "base" else "." + name))
            elif kind == NODES:
                self.items(e[name], a[name], path)
            elif kind == PAIRS:
                self.pairs(e[name], a[name], path, e["$"] in _ORDERED)
            elif kind == STATE:
                self.state(e[name], a[name], path)

    def items(self, e: List[Any], a: List[Any], path: str) -> None:
        if len(e) != len(a):
            self.differ(path, "expected %d items, got %d" % (len(e), len(a)))
            return
        for place, (wanted, got) in enumerate(zip(e, a)):
            self.pair(wanted, got, join_path(path, "[%d]" % place))

    def state(self, e: List[List[Any]], a: List[List[Any]], path: str) -> None:
        have = dict(a)
        for name, wanted in e:
            if name in have:
                self.pair(wanted, have.pop(name), join_path(path, "." + name))
            else:
                self.differ(join_path(path, "." + name), "expected %s, got nothing" % describe(wanted))
        for name in have:
            self.differ(join_path(path, "." + name), "expected nothing, got %s" % describe(have[name]))

    def pairs(self, e: List[List[Any]], a: List[List[Any]], path: str, ordered: bool) -> None:
        entries = match(e, a, path)
        if entries is None:
            self.pairs_in_order(e, a, path)
            return
        for step, wanted, got in entries:
            if wanted is not None and got is not None:
                self.pair(wanted[1], got[1], step)
            elif self.checker(None, step).get("kind") != "ignore":
                sides = tuple(describe(side[1]) if side else "nothing" for side in (wanted, got))
                self.differ(step, "expected %s, got %s" % sides)
        complete = all(wanted is not None and got is not None for _, wanted, got in entries)
        if ordered and complete and not same_order(e, a):
            self.differ(path, "the keys are in another order")

    def pairs_in_order(self, e: List[List[Any]], a: List[List[Any]], path: str) -> None:
        if len(e) != len(a):
            self.differ(path, "expected %d items, got %d" % (len(e), len(a)))
            return
        for place, ((key, wanted), (other_key, got)) in enumerate(zip(e, a)):
            self.pair(key, other_key, join_path(path, "<key %d>" % place))
            self.pair(wanted, got, join_path(path, key_text(key, place)))


def _field(node: Any, name: str) -> Any:
    return node.get(name) if isinstance(node, dict) else None
