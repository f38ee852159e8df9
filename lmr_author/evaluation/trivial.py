"""Trivial versions of a target that no honest test may pass."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from lmr_author import code
from lmr_author.evaluation.bench import Bench
from lmr_author.probe.document import Document, tagged, walk

MAX_ARGUMENTS = 4
"""How many different "return this argument" versions are tried."""


def trivial_sources(bench: Bench, expected: Sequence[Document]) -> dict[str, bytes]:
    """The goal file with the target's body replaced by do-nothing bodies, by a name that says which.

    Args:
        bench: the implementation.
        expected: recorded outcomes, from which zeros of the right shape are made; may be empty.
    """
    pair = bench.definitions
    if pair is None:
        return {}
    node = _function(pair[1])
    generator = code.is_generator(node)
    bodies = {"return None": "return None"}
    alone = len(bench.pairs) == 1  # the parameters of one method mean nothing in another
    names = [item.arg for item in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    values = [name for name in names if name not in {"self", "cls", "mcs"}]
    if not generator and alone:
        bodies |= {f"return {name}": f"return {name}" for name in values[:MAX_ARGUMENTS]}
        for number, document in enumerate(expected, 1):
            expression = zeros_expression(document)
            if expression is not None and expression != "None":
                bodies[f"zeros as in case {number}"] = f"return {expression}"
    unique = {body: name for name, body in reversed(bodies.items())}
    functions = [one for _, one in bench.pairs if not isinstance(one.node, ast.ClassDef)]
    return {
        name: code.splice(
            bench.masked_module,
            {one: [body, *(["yield"] if code.is_generator(_function(one)) else [])] for one in functions},
        )
        for body, name in reversed(unique.items())
    }


def _function(definition: code.Definition) -> code.FunctionNode:
    assert not isinstance(definition.node, ast.ClassDef)
    return definition.node


def zeros_expression(document: Document) -> str | None:
    """Return a Python expression for the recorded structure with every number zero; None if there is none."""
    tree = document.tree
    nodes = (node for _, node in walk(tree) if isinstance(node, dict) and node.get("$", "ref") != "ref")
    known = {node["id"]: node for node in nodes if "id" in node}
    return _zeros(tree["value"], known) if isinstance(tree, dict) and "value" in tree else None


def _zeros(node: Any, known: Mapping[int, Any]) -> str | None:
    node = tagged(node)
    if isinstance(node, dict) and node["$"] == "ref":
        node = known.get(node["id"], node)
    if not isinstance(node, dict):
        return "None" if node is None else repr(type(node)())
    if node["$"] == "tensor":
        return (
            f"__import__('torch').zeros({tuple(node['shape'])!r}, dtype=__import__('torch').{node['dtype']})"
        )
    if node["$"] in {"array", "scalar"}:
        scalar = "[()]" if node["$"] == "scalar" else ""
        return f"__import__('numpy').zeros({tuple(node['shape'])!r}, {node['dtype']!r}){scalar}"
    if node["$"] == "complex":
        return "0j"
    if node["$"] in {"list", "tuple"}:
        items = [_zeros(item, known) for item in node["v"]]
        if any(item is None for item in items):
            return None
        inner = ", ".join(str(item) for item in items)
        return f"[{inner}]" if node["$"] == "list" else f"({inner}{',' if items else ''})"
    if node["$"] == "dict":
        pairs = [(key, _zeros(value, known)) for key, value in node["v"] if isinstance(key, str)]
        if len(pairs) != len(node["v"]) or any(value is None for _, value in pairs):
            return None
        return "{" + ", ".join(f"{key!r}: {value}" for key, value in pairs) + "}"
    return None
