"""Two sides of a comparison: a document, from which nothing is run, and a live value.

``open`` returns one level: a plain value, or a node whose parts are opened in turn.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from .arrays import numbers
from .document import Document, by_id, tagged
from .looking import Closed, detached, look
from .objects import library

MOST_KEYS = 2_000_000
"""Most values that are opened to sort sets and to search dictionaries: a limit for hostile documents."""
DEEPEST_KEY = 4
"""Nesting of tuples and frozen sets in a sort key."""


class Stored:
    def __init__(self, document: Document) -> None:
        self.document, self.ids = document, by_id(document.tree)
        self.keys_left = MOST_KEYS

    def followed(self, node: Any) -> Any:
        return self.ids[node["id"]] if isinstance(node, dict) and node.get("$") == "ref" else node

    def open(self, node: Any) -> Any:
        return tagged(self.followed(node))

    def numbers(self, node: Any) -> Any:
        return numbers(self.document, node)


class Live:
    """``fixture_of``: object → its fixture, or None."""

    def __init__(self, fixture_of: Callable[[Any], Optional[str]] = lambda value: None) -> None:
        self.fixture_of = fixture_of
        self.keys_left = MOST_KEYS

    def followed(self, value: Any) -> Any:
        return value

    def open(self, value: Any) -> Any:
        fixture = self.fixture_of(value)
        try:
            return look(value) if fixture is None else {"$": "fixture", "v": fixture}
        except Closed:
            return {"$": "omitted"}

    def numbers(self, node: Any) -> Any:
        import numpy

        if node["$"] != "tensor":
            return numpy.asarray(node["of"])
        plain = detached(library("torch"), node["of"])
        return (plain.float() if node["dtype"] == "bfloat16" else plain).numpy()


Side = Any


def plain_value(side: Side, node: Any) -> Any:
    """Convert a numpy scalar to a plain value; return any other node as it is. Raises BadDocument."""
    if not isinstance(node, dict) or node["$"] != "scalar":
        return node
    value = side.numbers(node).item()
    if isinstance(value, complex):
        return {"$": "complex", "v": [value.real, value.imag]}
    return value if isinstance(value, (bool, int, float, str)) else node


_NUMBER, _COMPLEX, _TEXT, _NOTHING, _SEQUENCE, _CALL, _NAME, _BYTES, _OBJECT, _OTHER = range(10)
"""Ranks of sort keys."""


def sort_key(side: Side, value: Any, depth: int = DEEPEST_KEY) -> Tuple[Any, ...]:
    """Return a key of values in any order: a rank, then what identifies the value; of an object its plain attributes.

    With other attributes, elements that hold sets of one another would never end.
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
    """Return the plain attributes of an object, with a mark for its content and for each other attribute."""
    keys = [("", (_OTHER, ""))] if "base" in node else []
    for name, part in sorted(node["state"].items()):
        plain = plain_value(side, side.open(part))
        is_plain = plain is None or isinstance(plain, (bool, int, float, str))
        keys.append((name, sort_key(side, part, 0) if is_plain else (_OTHER, "")))
    return keys


def certainty(key: Any) -> int:
    """Return 2 where values are equal only if their keys are, 1 where equal keys mean equal values, else 0."""
    if isinstance(key, list):
        return min(map(certainty, key), default=2)
    rank = key[0]
    if rank == _NUMBER:
        return 1 if key[2] in ("float", "nan") else 2
    if rank == _OBJECT:
        return min([1, *(certainty(part) for _, part in key[2])]) if key[2] else 0
    if rank in (_SEQUENCE, _CALL):
        return certainty(key[-1])
    return 2 if rank in (_TEXT, _NOTHING, _NAME, _BYTES) else int(rank == _COMPLEX)
