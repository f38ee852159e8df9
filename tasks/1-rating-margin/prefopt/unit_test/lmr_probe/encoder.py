"""From a Python value to a document. Takes a full copy: later changes of the value do not show."""

from __future__ import annotations

import math
import re
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from . import arrays, containers, instances, objects, projection, tensors
from .buffers import Buffer
from .document import Document, Omitted
from .instances import PLACEHOLDER
from .problems import LOCAL, Problem, TooLarge, Unstorable
from .tree import MAX_DEPTH, MAX_NODES, key_text
from .tree import join as join_path

DEFAULT_LIMIT = 256 * 1024 * 1024
"""Largest document by default (bytes)."""

NODE_BYTES = 6
"""What an item of a container takes as text, about, beside its own data."""

_PART = re.compile(r"[^.\[]*(?:[.\[][^.\[]*)?")
"""The first two steps of a path: an argument and its attribute or item."""


class Encoder:
    """One encoding run; use :func:`lmr_author.probe.codec.encode`."""

    def __init__(
        self,
        limit: int = DEFAULT_LIMIT,
        skip: Iterable[str] = (),
        stands_in: Optional[Callable[[Any, str], Optional[str]]] = None,
        project: Iterable[str] = (),
    ) -> None:
        self.limit = limit
        self.stands_in = stands_in
        self.project = frozenset(project)
        self.skip = frozenset(skip)
        self.omitted: List[Omitted] = []
        self.problems: List[Problem] = []
        self.buffers: Dict[str, Buffer] = {}
        self.storages = tensors.Storages()
        self.pending: List[Tuple[Dict[str, Any], Any, str]] = []
        self._memo: Dict[int, Tuple[Dict[str, Any], Any]] = {}
        self._open: Dict[int, bool] = {}
        self._next_id = 0
        self._nodes = 0
        self._depth = 0
        self.inside = 0
        self._size = 0
        self._parts: Dict[str, int] = {}

    def run(self, value: Any, path: str = "") -> Document:
        """Encode ``value``. Raises Unstorable, TooLarge."""
        try:
            tree = self.node(value, path)
        except RecursionError:
            self.problems.append(Problem(path, type(value).__name__, "it is nested too deeply"))
        if self.problems:
            raise Unstorable(self.problems)
        for part, size in self.storages.plan():
            self.grow(part, size)
        if self._size > self.limit:
            largest = max(self._parts, key=lambda part: self._parts[part]) if self._parts else path
            raise TooLarge(largest, self._parts.get(largest, self._size), self.limit)
        for node, array, _ in self.pending:
            node["b"] = self.new_buffer(arrays.buffer_of(array))
        self.storages.write(self.new_buffer)
        return Document(tree, self.buffers, tuple(self.omitted))

    def new_buffer(self, buffer: Buffer) -> str:
        """Add a buffer; returns its name."""
        name = "b%d" % len(self.buffers)
        self.buffers[name] = buffer
        return name

    def grow(self, path: str, size: int) -> None:
        """Count bytes of a part, so that the largest argument or attribute can be named."""
        self._size += size
        if size >= 1024:
            part = _PART.match(path).group()  # type: ignore[union-attr]
            self._parts[part] = self._parts.get(part, 0) + size

    def problem(self, path: str, value: Any, advice: str) -> Dict[str, Any]:
        """Note a part that cannot be stored; inside an object it is only left out."""
        kind = type(value)
        name = (
            kind.__qualname__
            if kind.__module__ == "builtins"
            else "%s.%s" % (kind.__module__, kind.__qualname__)
        )
        if self.inside:
            self.omitted.append(Omitted(path, name, advice))
        else:
            self.problems.append(Problem(path, name, advice))
        return dict(PLACEHOLDER)

    def node(self, value: Any, path: str) -> Any:
        """The node of a value."""
        kind = type(value)
        if value is None or kind is bool:
            return value
        self._nodes += 1
        if kind is int:
            return value if -(2**63) <= value < 2**64 else {"$": "int", "hex": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"$": "float", "v": repr(value)}
        if kind is str:
            return self._text(value, path)
        return self._compound(value, kind, path)

    def _compound(self, value: Any, kind: type, path: str) -> Any:
        fixture = self.stands_in(value, path) if self.stands_in is not None else None
        if fixture is not None:
            return {"$": "fixture", "name": fixture}
        if path in self.project:
            small = projection.project(value)
            if small is not value:
                return self.node(small, path + "@")
        known = self._memo.get(id(value))
        if known is not None:
            return self._reference(known[0], value, path)
        if path in self.skip:
            return self.problem(path, value, "it is too large; the function does not name it")
        self._nodes += 8
        if self._depth >= MAX_DEPTH - 2:
            return self.problem(path, value, "it is nested too deeply")
        if self._nodes > MAX_NODES:
            raise TooLarge(path, self._nodes * 8, self.limit)
        self._depth += 1
        try:
            handler = containers.HANDLERS.get(kind)
            if handler is not None:
                return handler(self, value, path)
            return instances.encode(self, value, kind, path)
        except (TooLarge, Unstorable, RecursionError):
            raise
        except Exception as error:
            return self.problem(path, value, "%s: %s" % (type(error).__name__, str(error)[:200]))
        finally:
            self._depth -= 1

    def _reference(self, node: Dict[str, Any], value: Any, path: str) -> Dict[str, Any]:
        if id(node) in self._open:
            return self.problem(path, value, "it contains itself in a way that cannot be rebuilt")
        if "id" not in node:
            node["id"] = self._next_id
            self._next_id += 1
        return {"$": "ref", "id": node["id"]}

    def remember(self, value: Any, node: Dict[str, Any]) -> Dict[str, Any]:
        """Note the node of an object, so that a second encounter becomes a reference."""
        self._memo[id(value)] = (node, value)
        return node

    def sealed(self, value: Any, node: Dict[str, Any], fill: Callable[[], None]) -> Dict[str, Any]:
        """Like :meth:`remember`, for what can be built only after its parts."""
        self.remember(value, node)
        self._open[id(node)] = True
        try:
            fill()
        finally:
            del self._open[id(node)]
        return node

    def items(self, value: Iterable[Any], path: str) -> List[Any]:
        """Nodes of a sequence's items."""
        nodes = [self.node(item, join_path(path, "[%d]" % place)) for place, item in enumerate(value)]
        self.grow(path, NODE_BYTES * len(nodes))
        return nodes

    def order_key(self, value: Any) -> Tuple[str, Any, str]:
        """Where an element of a set is written, so that the same set is always written alike."""
        if type(value) in (int, float):
            return ("number", value if value == value else -math.inf, type(value).__name__)
        if type(value) is str:
            return ("str", 0, value)
        try:
            text = repr(Encoder(self.limit, self.skip).run(value).tree)
        except (Unstorable, TooLarge):
            text = ""
        return (type(value).__qualname__, 0, text)

    def pairs(self, value: Iterable[Tuple[Any, Any]], path: str) -> List[List[Any]]:
        """Nodes of a mapping's items."""
        result = []
        for place, (key, item) in enumerate(value):
            key_node = self.node(key, join_path(path, "<key %d>" % place))
            result.append([key_node, self.node(item, join_path(path, key_text(key_node, place)))])
        self.grow(path, 2 * NODE_BYTES * len(result))
        return result

    def state(self, attributes: Iterable[Tuple[str, Any]], path: str, cls: type = object) -> List[List[Any]]:
        """Nodes of an object's attributes, without those that cannot be stored.

        Where the class has a default that would show in its place, the gap itself is stored.
        """
        self.inside += 1
        try:
            nodes = [[name, self.node(item, join_path(path, "." + name))] for name, item in attributes]
        finally:
            self.inside -= 1
        return [pair for pair in nodes if pair[1] != PLACEHOLDER or hasattr(cls, pair[0])]

    def _text(self, value: str, path: str) -> Any:
        self.grow(path, len(value))
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return {"$": "str", "hex": value.encode("utf-8", "surrogatepass").hex()}
        return value

    def class_name(self, cls: type, value: Any, path: str) -> Optional[str]:
        """The name of a value's class; None, and a problem, where it has none."""
        name = objects.name_of(cls)
        if name is None:
            self.problem(path, value, "its class %s: %s" % (cls.__qualname__, LOCAL))
        return name
