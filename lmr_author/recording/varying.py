"""New inputs from recorded ones: other numbers in the same shapes, flags turned, options taken that no call took.

They are inputs only. The expected results are what the golden returns for them, inside the sandbox.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from lmr_author import code
from lmr_author.probe.checking import digest
from lmr_author.probe.compare import numbers
from lmr_author.probe.document import BadDocument, Buffer, Document

MOST, MOST_CHANGES = 60, 3
"""Variations tried, and arguments that one of them changes, at most."""
LARGEST = 1 << 20
"""Arrays with more elements are left as they are."""


def options_of(function: code.FunctionNode) -> dict[str, list[Any]]:
    """Return the values that the source shows for parameters: plain defaults, and texts that they are compared with."""
    found: dict[str, list[Any]] = {}
    for item, default in code.parameters(function.args):
        sources: list[ast.AST] = [
            other
            for node in ast.walk(function)
            if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == item.arg
            for other in node.comparators
        ]
        if item.annotation is not None and "Literal" in ast.unparse(item.annotation):
            sources.insert(0, item.annotation)
        constants = [node.value for source in sources for node in ast.walk(source) if _is_text(node)]
        plain = [default.value] if isinstance(default, ast.Constant) else []
        if values := list(dict.fromkeys([*plain, *constants])):
            found[item.arg] = values
    return found


def _is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def variations(bases: Sequence[Document], options: Mapping[str, Sequence[Any]]) -> list[Document]:
    """Return up to ``MOST`` different inputs, the same each time.

    Args:
        bases: inputs of calls, as recorded.
        options: parameter → values, as :func:`options_of` returns them.
    """
    drawn, known, found = random.Random(0), {digest(item) for item in bases}, list[Document]()
    for number in range(4 * MOST):
        base = bases[number % len(bases)]
        made = Document(copy.deepcopy(base.tree), dict(base.buffers), base.omitted)
        made.tree.pop("@random", None)  # a fresh state is another input
        given = [name for name in made.tree if name[:1] != "@"]
        nodes = [made.tree[name] for name in given]
        arrays = [node for node in nodes if isinstance(node, dict) and node.get("$") in ("tensor", "array")]
        if number // len(bases) < len(arrays):
            # Drawn numbers never overflow an exponential, so the first variations have one large argument each.
            _renumber(made, arrays[number // len(bases)], "large", drawn)
        else:
            names = [*given, *(name for name in options if name not in given)]
            for name in drawn.sample(names, min(len(names), drawn.randint(1, MOST_CHANGES))):
                values = options.get(name, ())
                first = values[0] if values else None
                made.tree[name] = _changed(made, made.tree.get(name, first), values, drawn)
        if len(found) < MOST and digest(made) not in known:
            known.add(digest(made))
            found.append(made)
    return found


def _changed(made: Document, node: Any, values: Sequence[Any], drawn: random.Random) -> Any:
    """Return another node in place of one; arrays and containers are changed in place."""
    others = [item for item in values if isinstance(item, str) and item != node]
    match node:
        case None | str() if others:
            return drawn.choice(others)
        case bool():
            return not node
        case int():
            near = (node + 1, node - 1, 2 * node + 1, 1)
            return drawn.choice([item for item in near if node < 0 or item >= 0])
        case float():
            return drawn.choice([node * 0.5, node * 2.0, node + 0.25, 0.3])
        case str():
            words = node.split()
            return drawn.choice([" ".join(words[::-1]), " ".join(words[1:]), node.upper(), node + ".", ""])
        case {"$": "tensor" | "array"}:
            _renumber(made, node, drawn.choice(["fresh", "order", "scale", "ties"]), drawn)
        case [_, *_]:
            place, how = drawn.randrange(len(node)), drawn.choice(["change", "drop", "repeat", "reverse"])
            if how == "change" or "'id'" in repr(node):  # others refer to an item with an id
                node[place] = _changed(made, node[place], (), drawn)
            elif how == "drop":
                del node[place]
            elif how == "repeat":
                node.append(copy.deepcopy(node[place]))
            else:
                node.reverse()
        case {"$": "tuple" | "table", "v": [_, *_] as items}:
            place = drawn.randrange(len(items))
            items[place] = _changed(made, items[place], (), drawn)
        case dict() if node and "$" not in node:
            key = drawn.choice(list(node))
            node[key] = _changed(made, node[key], (), drawn)
    return node


def _renumber(made: Document, node: dict[str, Any], how: str, drawn: random.Random) -> None:
    """Put other numbers of the same kind into an array: floats about as large, integers from the same range."""
    import numpy

    try:
        values = numpy.array(numbers(made, node)) if node["dtype"] != "bfloat16" else numpy.array([])
    except BadDocument:
        return
    kind, flat = values.dtype.kind, values.reshape(-1)
    if not 0 < flat.size <= LARGEST or kind not in "fiub":
        return
    generator = numpy.random.default_rng(drawn.randrange(2**16))
    if how == "large":
        flat = flat * 10.0
    elif how == "ties":
        flat = numpy.where(generator.random(flat.size) < 0.5, flat[0], flat)
    elif how == "scale" and kind == "f":
        flat = flat * generator.choice([0.1, 0.5, 2.0, -1.0])
    elif how == "fresh" and kind == "f":
        flat = generator.normal(numpy.nanmean(flat), numpy.nanstd(flat) or 1.0, flat.size)
    elif how == "fresh" and kind in "iu":
        flat = generator.integers(flat.min(), flat.max(), flat.size, endpoint=True)
    else:
        flat = generator.permutation(flat)
    values = flat.astype(values.dtype).reshape(values.shape)
    if "data" in node:
        node["data"] = values.tolist()
    else:
        buffer = made.buffers[node["file"]]
        made.buffers[node["file"]] = Buffer(buffer.descr, buffer.shape, values.astype(buffer.descr).tobytes())
