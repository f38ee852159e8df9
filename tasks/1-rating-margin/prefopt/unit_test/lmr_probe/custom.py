"""Checkers written by the annotator: functions in ``unit_test/checkers.py``.

A checker gets the expected and the actual value of a part of the outcome. It returns True or None when they agree,
and False or a text that says why not; or it raises. Values are rebuilt from documents, so a checker only ever sees
plain ones: numbers, texts, containers, arrays, tensors and tables. A document that names a class or a function is
refused, for whoever was called chose the name.
"""

from __future__ import annotations

import importlib.util
from typing import Any, Dict, Mapping

from .buffers import BadDocument
from .decoder import Decoder
from .document import Document
from .leaves import first_paths, walk

NOT_PLAIN = frozenset(
    {"object", "reduce", "name", "method", "partial", "namedtuple", "enum", "factory", "defaultdict", "fixture",
     "omitted"}
)  # fmt: skip
"""Nodes that name code, or hold nothing."""


class Plain(Decoder):
    """Decodes a part of a document, and nothing that names code."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._by_id = first_paths(document)[1]

    def node(self, node: Any) -> Any:
        """The value of a node. Raises BadDocument."""
        if isinstance(node, dict):
            if node["$"] in NOT_PLAIN or node.get("cls") not in (None, "matrix", "recarray"):
                raise BadDocument("a checker sees plain values only, and this holds a %s" % node["$"])
            if node["$"] == "ref" and node["id"] not in self._known:
                return self.node(self._by_id[node["id"]])  # the first place lies outside of this part
        return super().node(node)

    def part(self, path: str) -> Any:
        """The value at a path; asked once. Raises BadDocument."""
        for found, node in walk(self.document):
            if found == path:
                self.document = Document(node, self.document.buffers)
                return self.run()
        raise BadDocument("there is no %s" % path)


def load_checkers(path: Any) -> Dict[str, Any]:
    """The functions of a checkers file. Raises whatever importing it raises."""
    spec: Any = importlib.util.spec_from_file_location("lmr_checkers", str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: value for name, value in vars(module).items() if callable(value)}


def verdict(functions: Mapping[str, Any], name: str, expected: Document, actual: Document, path: str) -> str:
    """What a checker says of a part: "" when the values agree, else why not. Never raises an Exception."""
    if name not in functions:
        return "unit_test/checkers.py has no function %s" % name
    try:
        wanted, got = Plain(expected).part(path), Plain(actual).part(path)
    except BadDocument as error:
        return str(error)
    try:
        said = functions[name](wanted, got)
    except Exception as error:
        return "%s raised %s: %s" % (name, type(error).__name__, str(error)[:300])
    if said is None or said is True or (isinstance(said, str) and not said):
        return ""
    if isinstance(said, str):
        return said[:500]
    return "" if said is not False and _is_true(said) else "%s says no" % name


def _is_true(said: Any) -> bool:
    """Whether an answer is numpy's or torch's True; anything else is not."""
    return type(said).__name__ in ("bool", "bool_", "Tensor") and bool(said)
