"""New inputs from recorded ones: other numbers in the same shapes, flags turned, options taken that no call took.

They are inputs only. What the function has to return for them is what the golden returns, inside the sandbox.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lmr_author import code
from lmr_author.probe.checking import digest
from lmr_author.probe.compare import numbers
from lmr_author.probe.document import BadDocument, Buffer, Document

MOST = 60
"""Variations tried."""
MOST_CHANGES = 3
"""Arguments that one of them changes at most."""
LARGE = 10.0
"""How much larger numbers are that show what overflows: drawn ones are never large enough."""
_LARGEST = 1 << 20
"""Arrays with more elements are left as they are."""


@dataclass(frozen=True)
class Parameters:
    """What the source says about parameters: plain defaults, and the texts that they are compared with."""

    defaults: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Parameters:
    """Read a function's plain defaults, and the texts that its parameters stand for."""
    pairs = code.parameters(function.args)
    defaults = {item.arg: value.value for item, value in pairs if isinstance(value, ast.Constant)}
    choices: dict[str, dict[str, None]] = {item.arg: {} for item, _ in pairs}
    for item, _ in pairs:
        if item.annotation is not None and "Literal" in ast.unparse(item.annotation):
            choices[item.arg].update(_texts(item.annotation))
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id in choices:
            for other in node.comparators:
                choices[node.left.id].update(_texts(other))
    return Parameters(defaults, {name: tuple(texts) for name, texts in choices.items() if texts})


def _texts(node: ast.AST) -> dict[str, None]:
    constants = (item.value for item in ast.walk(node) if isinstance(item, ast.Constant))
    return {value: None for value in constants if isinstance(value, str)}


def variations(bases: Sequence[Document], parameters: Parameters) -> list[Document]:
    """Return up to ``MOST`` different inputs, the same each time.

    Args:
        bases: inputs of calls, as recorded.
    """
    drawn = random.Random(0)
    known = {digest(item) for item in bases}
    found: list[Document] = []
    for number in range(4 * MOST):
        # The first ones have one argument much larger each.
        made = _Variation(bases[number % len(bases)], parameters, drawn).make(number // len(bases))
        if len(found) < MOST and digest(made) not in known:
            known.add(digest(made))
            found.append(made)
    return found


class _Variation:
    """One new document, changed in a few places."""

    def __init__(self, base: Document, parameters: Parameters, drawn: random.Random) -> None:
        self.parameters, self.drawn = parameters, drawn
        self.made = Document(copy.deepcopy(base.tree), dict(base.buffers), base.omitted)

    def make(self, number: int) -> Document:
        """Change some arguments. The states of random generators are left out, so that they are fresh."""
        tree = self.made.tree
        tree.pop("@random", None)
        arrays = [name for name in tree if name[:1] != "@" and _is_array(tree[name])]
        if number < len(arrays):
            self.renumber(tree[arrays[number]], "large")
            return self.made
        names = [name for name in tree if name[:1] != "@"]
        names += [name for name in self.parameters.defaults if name not in tree]
        for name in self.drawn.sample(names, min(len(names), self.drawn.randint(1, MOST_CHANGES))):
            default = self.parameters.defaults.get(name)
            tree[name] = self.value(tree.get(name, default), name)
        return self.made

    def value(self, node: Any, name: str) -> Any:
        """Return another node in place of one."""
        choices = [item for item in self.parameters.choices.get(name, ()) if item != node]
        if (node is None or isinstance(node, str)) and choices:
            return self.drawn.choice(choices)
        if isinstance(node, bool):
            return not node
        if isinstance(node, int):
            return self.drawn.choice(
                [item for item in (node + 1, node - 1, 2 * node + 1, 1) if node < 0 or item >= 0]
            )
        if isinstance(node, float):
            return self.drawn.choice([node * 0.5, node * 2.0, node + 0.25, 0.3])
        if isinstance(node, str):
            words = node.split()
            texts = [" ".join(reversed(words)), " ".join(words[1:]), node.upper(), node + ".", ""]
            return self.drawn.choice(texts)
        if _is_array(node):
            self.renumber(node, self.drawn.choice(["fresh", "order", "scale", "ties"]))
        elif isinstance(node, list) and node:
            self.sequence(node, name)
        elif isinstance(node, dict) and node.get("$") in ("tuple", "table"):
            place = self.drawn.randrange(len(node["v"])) if node["v"] else None
            if place is not None:
                node["v"][place] = self.value(node["v"][place], name)
        elif isinstance(node, dict) and "$" not in node and node:
            key = self.drawn.choice(list(node))
            node[key] = self.value(node[key], name)
        return node

    def sequence(self, items: list[Any], name: str) -> None:
        """Change, drop or repeat an item, or turn the order around. An item that others name stays."""
        place, how = (
            self.drawn.randrange(len(items)),
            self.drawn.choice(["change", "drop", "repeat", "reverse"]),
        )
        if how == "change" or '"id"' in repr(items).replace("'", '"'):
            items[place] = self.value(items[place], name)
        elif how == "drop":
            del items[place]
        elif how == "repeat":
            items.append(copy.deepcopy(items[place]))
        else:
            items.reverse()

    def renumber(self, node: dict[str, Any], how: str) -> None:
        """Put other numbers of the same kind into an array: floats about as large, integers from the same range."""
        import numpy

        try:
            values = numpy.array(numbers(self.made, node)) if node["dtype"] != "bfloat16" else None
        except BadDocument:
            return
        if values is None or not 0 < values.size <= _LARGEST or values.dtype.kind not in "fiub":
            return
        drawn, flat = numpy.random.default_rng(self.drawn.randrange(2**16)), values.reshape(-1)
        if how == "large":
            flat = flat * LARGE
        elif how == "ties":
            flat = numpy.where(drawn.random(flat.size) < 0.5, flat[0], flat)
        elif how == "scale" and values.dtype.kind == "f":
            flat = flat * drawn.choice([0.1, 0.5, 2.0, -1.0])
        elif how == "fresh" and values.dtype.kind == "f":
            flat = drawn.normal(numpy.nanmean(flat), numpy.nanstd(flat) or 1.0, flat.size)
        elif how == "fresh" and values.dtype.kind in "iu":
            flat = drawn.integers(flat.min(), flat.max(), flat.size, endpoint=True)
        else:
            flat = drawn.permutation(flat)
        values = flat.astype(values.dtype).reshape(values.shape)
        if "data" in node:
            node["data"] = values.tolist()
        else:
            buffer = self.made.buffers[node["file"]]
            self.made.buffers[node["file"]] = Buffer(
                buffer.descr, buffer.shape, values.astype(buffer.descr).tobytes()
            )


def _is_array(node: Any) -> bool:
    return isinstance(node, dict) and node.get("$") in ("tensor", "array")
