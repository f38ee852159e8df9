"""Trivial versions of a target that no honest test may pass."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from lmr_author import source
from lmr_author.evaluation.bench import Bench
from lmr_author.probe.codec import Document

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
    generator = source.is_generator(node)
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
        name: source.splice(
            bench.masked_module,
            {one: [body, *(["yield"] if source.is_generator(_function(one)) else [])] for one in functions},
        )
        for body, name in reversed(unique.items())
    }


def _function(definition: source.Definition) -> source.FunctionNode:
    assert not isinstance(definition.node, ast.ClassDef)
    return definition.node


def zeros_expression(document: Document) -> str | None:
    """A Python expression for the recorded structure with every number zero; None if there is none."""
    root = document.tree
    if not isinstance(root, dict):
        return None
    value = _outcome_value(root)
    return None if value is _NOTHING else _zeros(value)


_NOTHING = object()


def _outcome_value(root: Mapping[str, Any]) -> Any:
    """The returned value's node in an outcome document; ``_NOTHING`` when the call raised."""
    pairs = {key: value for key, value in root.get("v", []) if isinstance(key, str)}
    return pairs.get("value", _NOTHING)


def _zeros(node: Any) -> str | None:
    if node is None or isinstance(node, bool | str):
        return repr(type(node)()) if node is not None else "None"
    if isinstance(node, int | float):
        return "0" if isinstance(node, int) else "0.0"
    tag = node.get("$")
    if tag in {"int", "float", "complex", "npscalar"}:
        return {"int": "0", "float": "0.0", "complex": "0j"}.get(
            tag, f"__import__('numpy').zeros((), {node.get('dtype')!r})[()]"
        )
    if tag == "tensor":
        dtype = str(node["dtype"]).rpartition(".")[2]
        return f"__import__('torch').zeros({tuple(node['shape'])!r}, dtype=__import__('torch').{dtype})"
    if tag == "ndarray":
        module = "jax.numpy', fromlist=['zeros'])" if node.get("cls") == "jax" else "numpy')"
        return f"__import__('{module}.zeros({tuple(node['shape'])!r}, {node['dtype']!r})"
    if tag in {"list", "tuple"}:
        items = [_zeros(item) for item in node["v"]]
        if any(item is None for item in items):
            return None
        inner = ", ".join(str(item) for item in items)
        return f"[{inner}]" if tag == "list" else f"({inner}{',' if items else ''})"
    if tag == "dict":
        pairs = [(key, _zeros(value)) for key, value in node["v"] if isinstance(key, str)]
        if len(pairs) != len(node["v"]) or any(value is None for _, value in pairs):
            return None
        return "{" + ", ".join(f"{key!r}: {value}" for key, value in pairs) + "}"
    return None
