"""Two ways to look at a value: at its node in a document, and at the live value itself.

A comparison opens one level at a time: ``open`` returns a plain value or a node, whose parts are opened in turn.
Looking at a document never imports, constructs or runs anything.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from .arrays import numbers
from .document import Document, by_id, tagged
from .looking import Closed, detached, look
from .objects import library

MOST_KEYS = 2_000_000
"""Values that are looked at to sort sets and search dictionaries, at most: a document may be made to take for ever."""
DEEPEST_KEY = 4
"""Nesting of tuples and frozen sets in a key or an element that is looked at to sort it."""


class Stored:
    """Looks at the nodes of a document."""

    def __init__(self, document: Document) -> None:
        self.document, self.ids = document, by_id(document.tree)
        self.keys_left = MOST_KEYS

    def followed(self, node: Any) -> Any:
        """Return the node that a reference names; any other node as it is."""
        return self.ids[node["id"]] if isinstance(node, dict) and node.get("$") == "ref" else node

    def open(self, node: Any) -> Any:
        return tagged(self.followed(node))

    def numbers(self, node: Any) -> Any:
        """Return the numbers of an array, a tensor or a scalar of numpy. Raises BadDocument."""
        return numbers(self.document, node)


class Live:
    """Looks at live values. ``fixture_of``: object → its fixture, or None."""

    def __init__(self, fixture_of: Callable[[Any], Optional[str]] = lambda value: None) -> None:
        self.fixture_of = fixture_of
        self.keys_left = MOST_KEYS

    def followed(self, value: Any) -> Any:
        return value

    def open(self, value: Any) -> Any:
        fixture = self.fixture_of(value)
        if fixture is not None:
            return {"$": "fixture", "v": fixture}
        try:
            return look(value)
        except Closed:
            return {"$": "omitted"}

    def numbers(self, node: Any) -> Any:
        import numpy

        if node["$"] != "tensor":
            return numpy.asarray(node["of"])
        plain = detached(library("torch"), node["of"])
        return (plain.float() if node["dtype"] == "bfloat16" else plain).numpy()


Side = Any
"""A Stored or a Live."""


def plain_value(side: Side, node: Any) -> Any:
    """Return the plain value that a scalar of numpy stands for; any other node as it is. Raises BadDocument."""
    if not isinstance(node, dict) or node["$"] != "scalar":
        return node
    value = side.numbers(node).item()
    if isinstance(value, complex):
        return {"$": "complex", "v": [value.real, value.imag]}
    return value if isinstance(value, (bool, int, float, str)) else node


_NUMBER, _COMPLEX, _TEXT, _NOTHING, _SEQUENCE, _CALL, _NAME, _BYTES, _OBJECT, _OTHER = range(10)
"""Ranks of keys: what comes first in their order."""


def sort_key(side: Side, value: Any, depth: int = DEEPEST_KEY) -> Tuple[Any, ...]:
    """Return what a set is sorted by, and a dictionary searched by: a rank, then what values of that rank are told by.

    Of an object it has the plain attributes alone: elements that have sets of one another would never end.
    """
    side.keys_left -= 1
    if side.keys_left < 0:
        return _OTHER, ""
    node = plain_value(side, side.open(value))
    if isinstance(node, (bool, int, float)):
        return (_NUMBER, node, type(node).__name__) if node == node else (_NUMBER, float("-inf"), "nan")
    if isinstance(node, str):
        return _TEXT, node
    if node is None:
        return (_NOTHING,)
    tag = node["$"]
    if tag == "complex":
        return (_COMPLEX, *node["v"])
    if tag in ("tuple", "list", "frozenset", "namedtuple") and depth:
        parts = node["v"].values() if tag == "namedtuple" else node["v"]
        keys = [sort_key(side, part, depth - 1) for part in parts]
        return _SEQUENCE, tag, sorted(keys) if tag == "frozenset" else keys
    if tag == "call" and depth and not node.keys() & {"state", "items", "pairs"}:
        return _CALL, [sort_key(side, part, depth - 1) for part in (node["call"], *node["args"])]
    if tag == "name":
        return _NAME, node["v"]
    if tag in ("bytes", "bytearray"):
        return _BYTES, tag, node["v"]
    if tag == "object":
        return _OBJECT, node["cls"], _plain_state(side, node)
    return _OTHER, tag


def _plain_state(side: Side, node: Dict[str, Any]) -> List[Any]:
    """Return the plain attributes of an object, and a mark for each other one, and for its content."""
    keys = [("", (_OTHER, ""))] if "base" in node else []
    for name, part in sorted(node["state"].items()):
        plain = plain_value(side, side.open(part))
        is_plain = plain is None or isinstance(plain, (bool, int, float, str))
        keys.append((name, sort_key(side, part, 0) if is_plain else (_OTHER, "")))
    return keys


def is_telling(key: Any) -> bool:
    """Tell whether a key tells a value from all others, but for rounding."""
    if isinstance(key, list):
        return all(map(is_telling, key))
    if key[0] == _OBJECT:
        return bool(key[2]) and all(is_telling(part) for _, part in key[2])
    return key[0] != _OTHER and (key[0] not in (_SEQUENCE, _CALL) or is_telling(key[-1]))


def is_exact(key: Any) -> bool:
    """Tell whether no value equals that of a key unless its key does."""
    if isinstance(key, list):
        return all(map(is_exact, key))
    if key[0] == _NUMBER:
        return key[2] not in ("float", "nan")
    return is_exact(key[-1]) if key[0] in (_SEQUENCE, _CALL) else key[0] in (_TEXT, _NOTHING, _NAME, _BYTES)
