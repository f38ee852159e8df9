"""New inputs from recorded ones: other numbers in the same shapes, flags turned, options taken that no call took.

They are inputs only. The expected results are what the golden returns for them, inside the sandbox.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Mapping, Sequence
from typing import Any

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
    pairs = code.parameters(function.args)
    found = {item.arg: [value.value] if isinstance(value, ast.Constant) else [] for item, value in pairs}
    sources: list[tuple[str, ast.AST]] = [
        (item.arg, item.annotation)
        for item, _ in pairs
        if item.annotation is not None and "Literal" in ast.unparse(item.annotation)
    ]
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id in found:
            sources += [(node.left.id, other) for other in node.comparators]
    for name, source in sources:
        constants = (item.value for item in ast.walk(source) if isinstance(item, ast.Constant))
        found[name] += [value for value in constants if isinstance(value, str) and value not in found[name]]
    return {name: values for name, values in found.items() if values}


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
        arrays = [name for name in given if _is_array(made.tree[name])]
        if number // len(bases) < len(arrays):
            # Drawn numbers never overflow an exponential, so the first variations have one large argument each.
            _renumber(made, made.tree[arrays[number // len(bases)]], "large", drawn)
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
    """Return another node in place of one; arrays are changed in place."""
    others = [item for item in values if isinstance(item, str) and item != node]
    if others and (node is None or isinstance(node, str)):
        return drawn.choice(others)
    if isinstance(node, bool):
        return not node
    if isinstance(node, int):
        numbers_near = (node + 1, node - 1, 2 * node + 1, 1)
        return drawn.choice([item for item in numbers_near if node < 0 or item >= 0])
    if isinstance(node, float):
        return drawn.choice([node * 0.5, node * 2.0, node + 0.25, 0.3])
    if isinstance(node, str):
        words = node.split()
        return drawn.choice([" ".join(words[::-1]), " ".join(words[1:]), node.upper(), node + ".", ""])
    if _is_array(node):
        _renumber(made, node, drawn.choice(["fresh", "order", "scale", "ties"]), drawn)
    elif isinstance(node, list) and node:
        place, how = drawn.randrange(len(node)), drawn.choice(["change", "drop", "repeat", "reverse"])
        if how == "change" or "'id'" in repr(node):  # others refer to an item with an id
            node[place] = _changed(made, node[place], (), drawn)
        elif how == "drop":
            del node[place]
        elif how == "repeat":
            node.append(copy.deepcopy(node[place]))
        else:
            node.reverse()
    elif (
        isinstance(node, dict)
        and node
        and ("$" not in node or (node["$"] in ("tuple", "table") and node["v"]))
    ):
        items = node if "$" not in node else node["v"]
        key = drawn.choice(list(items) if "$" not in node else range(len(items)))
        items[key] = _changed(made, items[key], (), drawn)
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


def _is_array(node: Any) -> bool:
    return isinstance(node, dict) and node.get("$") in ("tensor", "array")
