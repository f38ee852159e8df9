"""The recorded calls that are kept: those that cover much and differ, by their options, shapes and outcomes."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from typing import Any, Dict, FrozenSet, Iterator, List, NamedTuple, Set, Tuple

from .compare import describe
from .document import Document, by_id, dump, parts, tagged

MOST_OPTIONS = 8
"""A part with more values than these is data and no option."""
MOST_DESCRIBED, DEEPEST, LONG_TEXT = 40, 3, 40
"""Parts of a call that are described, how deep they lie, and the length of a text that is no option."""
_SPREAD = 2654435761
"""Knuth's multiplier: multiples of it, modulo 2**32, lie anywhere."""


class Kept(NamedTuple):
    """A call in the pool. ``traits``: its options, shapes and outcome, as (path, text)."""

    number: int
    hits: FrozenSet[int]
    traits: FrozenSet[Tuple[str, str]]
    size: int


class Pool:
    """Keeps calls that cover much and differ, and no large ones where others do as well.

    Args:
        folder: gets a folder ``calls/000012`` for each call, complete from the moment it exists.
        most: number of calls at most.
        max_bytes: size of all of them together at most.
    """

    def __init__(self, folder: str, most: int, max_bytes: int) -> None:
        self.folder = os.path.join(folder, "calls")
        self.most, self.max_bytes = max(1, most), max_bytes
        self.kept: List[Kept] = []

    @property
    def covered(self) -> Set[int]:
        """Return the blocks that the kept calls execute together."""
        return set().union(*(item.hits for item in self.kept))

    def offer(self, call: Kept, inputs: Document, expected: Document, meta: Dict[str, Any]) -> bool:
        """Store a call if it is worth its place, and drop others for it. Returns whether it was stored."""
        staying, dropped = [*self.kept, call], []
        while len(staying) > 1 and (
            len(staying) > self.most or sum(item.size for item in staying) > self.max_bytes
        ):
            worst = self._most_superfluous(staying)
            staying.remove(worst)
            dropped.append(worst)
        if call in dropped:
            return False
        partial = os.path.join(self.folder, ".partial-%06d" % call.number)
        os.makedirs(partial)
        dump(inputs, partial, "inputs")
        dump(expected, partial, "expected")
        with open(os.path.join(partial, "meta.json"), "w", encoding="ascii") as file:
            json.dump(meta, file, indent=1)
        os.rename(partial, os.path.join(self.folder, "%06d" % call.number))
        self.kept = staying
        for other in dropped:
            shutil.rmtree(os.path.join(self.folder, "%06d" % other.number), ignore_errors=True)
        return True

    @staticmethod
    def _most_superfluous(staying: List[Kept]) -> Kept:
        """Return the call without coverage or options of its own, then of many like it, then much larger, then by lot.

        The smallest of many calls are the poorest too: an empty text, a single row. So sizes count by powers of
        two, and among equals the number is as good as drawn, though the same each time.
        """
        executed = Counter(block for item in staying for block in item.hits)
        shared = Counter(trait for item in staying for trait in item.traits)
        values = Counter(path for path, _ in shared)
        alike = Counter((item.traits, item.hits) for item in staying)

        def burden(item: Kept) -> Any:
            covered = all(executed[block] > 1 for block in item.hits)
            own = sum(shared[trait] == 1 and values[trait[0]] <= MOST_OPTIONS for trait in item.traits)
            lot = item.number * _SPREAD % 2**32
            return covered, -own, alike[item.traits, item.hits], item.size.bit_length(), lot

        return max(staying, key=burden)


def summarize(arguments: Dict[str, Any], names: Set[str]) -> Dict[str, str]:
    """Describe arguments, and the attributes of objects that the target names: path → shape and type, or the value.

    Two layers are not alike where one is merged. A path is written as in code: ``self.config.beta``.
    """
    ids = by_id(arguments)
    found: Dict[str, str] = {}
    waiting = [(name, node, 0) for name, node in reversed(list(arguments.items()))]
    while waiting and len(found) < MOST_DESCRIBED:
        path, node, depth = waiting.pop()
        if isinstance(node, dict) and node.get("$") == "ref":
            node = ids[node["id"]]
        found[path] = _in_words(node)
        if depth < DEEPEST:
            waiting.extend(reversed([(path + step, item, depth + 1) for step, item in _named(node, names)]))
    return found


def _named(node: Any, names: Set[str]) -> Iterator[Tuple[str, Any]]:
    """Yield the parts of a node by which calls differ: named attributes, items of dictionaries, one of a list."""
    node = tagged(node)
    tag = node["$"] if isinstance(node, dict) else ""
    if tag in ("list", "tuple"):
        yield from (("[0]", item) for item in node["v"][:1] if isinstance(item, (dict, list)))
    elif tag == "dict":
        yield from ((step, item) for step, item in parts(node) if step[:1] == "[")
    elif tag == "object":
        for name, item in node["state"].items():
            if name in ("_modules", "_parameters", "_buffers"):
                yield from (("." + step[2:-2], inner) for step, inner in parts(item) if step[2:-2] in names)
            elif name in names or name == "training":
                yield "." + name, item


def _in_words(node: Any) -> str:
    """Describe a node by its shape and type, or as the value that it is."""
    if isinstance(node, str) and len(node) > LONG_TEXT:
        return "text of %d characters" % len(node)
    if isinstance(node, float):
        text = "%.6g" % node
        return text if set(text) & set(".en") else text + ".0"
    text = describe(node)
    if isinstance(node, (dict, list)) and text[:2] in ("a ", "an"):
        text = text[text.index(" ") + 1 :]
    return text + (", requires grad" if isinstance(node, dict) and node.get("requires_grad") else "")
