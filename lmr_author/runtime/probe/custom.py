"""Checkers written by the annotator, functions in ``unit_test/checkers.py``: applied in a sandbox of their own.

A checker gets the expected and the actual value of a part of the outcome. It returns True or None when they agree,
and False or a text that says why not; or it raises. It only ever sees plain values: numbers, texts, containers, arrays,
tensors and tables. A document that names a class or a function is refused, because candidates chose the name.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Union

from .decoding import Decoder
from .document import BadDocument, Document, by_id, walk
from .objects import load_helper

NOT_PLAIN = frozenset({"object", "call", "name", "namedtuple", "fixture", "omitted"})
"""Nodes that name code, or hold nothing."""


class _Plain(Decoder):
    """Decodes a part of a document, and nothing that names code."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.nodes = dict(walk(document.tree))
        self.by_id = by_id(document.tree)

    def node(self, node: Any) -> Any:
        if isinstance(node, dict) and "$" in node:
            if node["$"] in NOT_PLAIN or node.get("cls") not in (None, "matrix"):
                raise BadDocument("a checker sees plain values only, and this holds a %s" % node["$"])
            if node["$"] == "ref" and node["id"] not in self.values:
                return self.node(self.by_id[node["id"]])  # the first place lies outside of this part
        return super().node(node)

    def part(self, path: str) -> Any:
        if path not in self.nodes:
            raise BadDocument("there is no %s" % path)
        return self.node(self.nodes[path])


def load_checkers(path: Any) -> Dict[str, Any]:
    """Return the functions of a checkers file. Raises whatever importing it raises."""
    return {name: value for name, value in vars(load_helper(path)).items() if callable(value)}


def verdict(
    functions: Mapping[str, Any],
    name: str,
    expected: Document,
    actual: Union[Document, Dict[str, Any]],
    path: str,
) -> str:
    """Return a checker's objection to a part: "" when the values agree. Never raises an Exception.

    Args:
        actual: a document, or live values by their paths.
    """
    if name not in functions:
        return "unit_test/checkers.py has no function %s" % name
    try:
        if not isinstance(actual, Document) and path not in actual:
            raise BadDocument("there is no %s" % path)
        got = _Plain(actual).part(path) if isinstance(actual, Document) else actual[path]
        answer = functions[name](_Plain(expected).part(path), got)
    except BadDocument as error:
        return str(error)
    except Exception as error:
        return "%s raised %s: %s" % (name, type(error).__name__, str(error)[:300])
    if isinstance(answer, str):
        return answer[:500]
    # numpy's or torch's True will do; anything else that is merely truthy will not.
    agreed = answer is None or (type(answer).__name__ in ("bool", "bool_", "Tensor") and bool(answer))
    return "" if agreed else "%s says no" % name
