"""The inputs of one recorded call as data: its arguments, the places in them that can be changed, what they share."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lmr_author.core import files
from lmr_author.runtime.probe.arrays import numbers
from lmr_author.runtime.probe.calling import CLOSURE
from lmr_author.runtime.probe.document import Document, join, key_text, walk
from lmr_author.runtime.probe.storing import put_numbers

CHANGEABLE = frozenset(
    f"{kind}{size}" for kind, sizes in (("float", (16, 32, 64)), ("int", (8, 16, 32, 64)), ("uint", (8, 16, 32, 64)))
    for size in sizes
) | {"bool"}  # fmt: skip
"""Element types of the arrays that are changed."""
DEEPEST = 4
"""Nesting of containers below which a value stays as it was recorded."""


@dataclass(frozen=True)
class Place:
    """A value in the inputs of a call, and the container that holds it.

    Attributes:
        path: as in code: ``lengths``, ``spans[*].start``; elements of a list share theirs, those of a record, as
            ``(words, [(name, value), …])``, do not.
        depth: 0 for an argument.
    """

    path: str
    holder: Any
    key: Any
    depth: int

    @property
    def node(self) -> Any:
        return self.holder[self.key]

    def put(self, node: Any) -> None:
        self.holder[self.key] = node


class Inputs:
    """A copy of recorded inputs that may be changed.

    Args:
        name: what the recorded call is called where it is shown: ``call 3``.

    Attributes:
        steps: what was done to it, in words.
    """

    def __init__(self, document: Document, name: str) -> None:
        self.name = name
        self.steps: list[str] = []
        self.document = Document(copy.deepcopy(document.tree), dict(document.buffers), document.omitted)

    def copied(self) -> Inputs:
        return Inputs(self.document, self.name)

    @property
    def made_of(self) -> str:
        """What it was made of: ``call 3 with margin of call 5, another labels``."""
        return f"{self.name} with {', '.join(dict.fromkeys(self.steps))}"

    @property
    def tree(self) -> dict[str, Any]:
        tree: dict[str, Any] = self.document.tree
        return tree

    @property
    def arguments(self) -> list[str]:
        """Names of arguments and free variables; not the random states and modes of the call."""
        return [name for name in self.tree if not name.startswith("@") or name.startswith(CLOSURE)]

    @property
    def digest(self) -> str:
        numbers_in = [
            [name, files.sha256_bytes(buffer.data)] for name, buffer in sorted(self.document.buffers.items())
        ]
        return files.sha256_bytes(json.dumps([self.tree, numbers_in]).encode())

    def argument_digest(self, name: str) -> str:
        if name not in self.tree:
            return ""
        data = [self.document.buffers[part["file"]].data for part in _in_files(self.tree[name])]
        text = json.dumps(self.tree[name], default=str)
        return files.sha256_bytes(b"\0".join([text.encode(), *data]))

    def is_alone(self, name: str) -> bool:
        """Tell whether an argument shares no object with another one, so that it can be put into another call."""
        own, own_refs, other_ids, other_refs = set[int](), set[int](), set[int](), set[int]()
        for argument, node in self.tree.items():
            ids, refs = (own, own_refs) if argument == name else (other_ids, other_refs)
            for part in shared(node):
                (refs if part.get("$") == "ref" else ids).add(part["id"])
        return own_refs <= own and not (other_refs & own)

    def take(self, name: str, other: Inputs) -> None:
        """Put another call's argument in the place of this one's; without it there, it is left out here, too."""
        if name not in other.tree:
            del self.tree[name]
            return
        node, buffers = copy.deepcopy(other.tree[name]), self.document.buffers
        first = 1 + max((part["id"] for part in shared(self.tree)), default=0)
        for part in shared(node):
            part["id"] += first
        for part in _in_files(node):
            file = self._new_file()
            buffers[file] = other.document.buffers[part["file"]]
            part["file"] = file
        self.tree[name] = node

    def places(self) -> Iterator[Place]:
        """Yield the values that lie in arguments and plain containers, outermost first."""
        for name in self.arguments:
            yield from self._below(Place(name.removeprefix(CLOSURE), self.tree, name, 0))

    def _below(self, place: Place) -> Iterator[Place]:
        yield place
        node, depth = place.node, place.depth + 1
        if depth > DEEPEST:
            return
        if isinstance(node, dict):
            match node.get("$", "dict"):
                case "list" | "tuple":
                    node = node["v"]
                case "dict" if "$" in node:
                    for index, pair in enumerate(node["v"]):
                        if not isinstance(pair[0], dict | list):
                            yield from self._below(
                                Place(join(place.path, key_text(pair[0], index)), pair, 1, depth)
                            )
                    return
                case "dict":
                    for key in node:
                        yield from self._below(Place(join(place.path, f"[{key!r}]"), node, key, depth))
                    return
                case "namedtuple":
                    for key in node["v"]:
                        yield from self._below(Place(join(place.path, f".{key}"), node["v"], key, depth))
                    return
        if isinstance(node, list):
            each_has_its_own = is_record(node)
            for index in range(len(node)):
                step = f"[{index}]" if each_has_its_own else "[*]"
                yield from self._below(Place(join(place.path, step), node, index, depth))

    def attributes(self, name: str) -> Iterator[Place]:
        node = self.tree.get(name)
        if isinstance(node, dict) and node.get("$") == "object":
            for key, value in node["state"].items():
                if isinstance(value, bool | int | float | str):
                    yield Place(f"{name}.{key}", node["state"], key, 1)

    def array(self, node: Any) -> Any:
        """Return the numbers of an array; None for what is none, or whose element type is not changed."""
        is_array = isinstance(node, dict) and node.get("$") in ("tensor", "array", "scalar")
        return numbers(self.document, node) if is_array and node["dtype"] in CHANGEABLE else None

    def put_array(self, place: Place, values: Any) -> None:
        """Put other numbers, perhaps of another shape, in the place of an array's; its element type stays."""
        put_numbers(self.document, place.node, values.astype(self.array(place.node).dtype))

    def _new_file(self) -> str:
        return str(1 + max(map(int, self.document.buffers), default=-1))


def shared(node: Any) -> list[dict[str, Any]]:
    return [part for _, part in walk(node) if isinstance(part, dict) and "$" in part and "id" in part]


def _in_files(node: Any) -> list[dict[str, Any]]:
    return [part for _, part in walk(node) if isinstance(part, dict) and "$" in part and "file" in part]


def is_record(items: list[Any]) -> bool:
    """Tell whether a list is one of parts that mean different things, as ``[name, [values]]``."""
    return len(_forms(items)) > 1


def _forms(items: list[Any]) -> set[str]:
    """Return the forms that elements have, ``str`` or ``[[number]]``; an empty list has that of the other lists."""
    forms = {_form(item) for item in items} - {"NoneType"}
    return forms - {"[]"} if any(form.startswith("[") for form in forms - {"[]"}) else forms


def _form(node: Any) -> str:
    items = elements(node)
    if items is not None:
        return f"[{', '.join(sorted(_forms(items)))}]"
    if isinstance(node, dict):
        return str(node.get("$", "dict"))
    return "number" if type(node) in (int, float) else type(node).__name__


def elements(node: Any) -> list[Any] | None:
    if isinstance(node, dict) and node.get("$") in ("list", "tuple"):
        node = node["v"]
    return node if isinstance(node, list) else None
