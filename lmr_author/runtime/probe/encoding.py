"""Values to documents, without pickle: a full copy, so that later changes of the value do not show.

A value that has no node of its own is stored by what ``__reduce_ex__`` says of it. That is what pickle would do, but as
a tree that can be read and checked.
"""

from __future__ import annotations

import ctypes
import re
import struct
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from .document import (
    FIELDS,
    NODE,
    NODES,
    NPY_TYPES,
    PAIRS,
    STATE,
    Buffer,
    Document,
    join,
    key_text,
)
from .looking import Closed, detached, is_plain_value, look
from .objects import library
from .sides import Live, sort_key
from .storing import DEFAULT_LIMIT, MAX_DEPTH, Omitted, TooLarge, Unstorable

MOST_INLINE = 200
"""Largest array (elements) that is written into the tree, for people to read; larger ones get a file of their own."""
_NODE_BYTES = 6
"""Size of a container's item as text, about, beside its own data."""
_PART = re.compile(r"[^.\[]*(?:[.\[][^.\[]*)?")
"""The first two steps of a path: an argument and its attribute or item."""


def encode(
    value: Any,
    limit: int = DEFAULT_LIMIT,
    skip: Iterable[str] = (),
    stands_in: Optional[Callable[[Any, str], Optional[str]]] = None,
) -> Document:
    """Copy a value into a document.

    Args:
        limit: largest size of the result, in bytes.
        skip: paths of attributes to leave out (they are listed in ``omitted``).
        stands_in: object and path → the fixture that is recorded in its place, or None.

    Paths start at the value: item ``loss`` of a dictionary is ``loss``, its second item ``loss[1]``. A part that cannot
    be stored is left out when it is an object's attribute (see ``omitted``); otherwise raises Unstorable with all such
    parts. Raises TooLarge before large data are copied.
    """
    return _Encoder(limit, skip, stands_in).run(value)


class _Encoder:
    def __init__(
        self, limit: int, skip: Iterable[str], stands_in: Optional[Callable[[Any, str], Optional[str]]]
    ) -> None:
        self.limit, self.skip, self.stands_in = limit, frozenset(skip), stands_in
        self.omitted: List[Omitted] = []
        self.problems: List[Omitted] = []
        self.buffers: List[Tuple[Dict[str, Any], Callable[[], Buffer]]] = []
        self.nodes: Dict[int, Tuple[Dict[str, Any], Any]] = {}
        """``id`` of an object → its node, and the object, kept so that no other gets its ``id``."""
        self.ids = self.depth = self.inside = self.size = 0
        self.sizes: Dict[str, int] = {}
        self.live = Live()

    def run(self, value: Any) -> Document:
        try:
            tree = self.node(value, "")
        except RecursionError:
            self.problems.append(Omitted("", type(value).__name__, "it is nested too deeply"))
        if self.problems:
            raise Unstorable(self.problems)
        if self.size > self.limit:
            largest = max(self.sizes, key=lambda part: self.sizes[part]) if self.sizes else ""
            raise TooLarge(largest, self.sizes.get(largest, self.size), self.limit)
        buffers: Dict[str, Buffer] = {}
        for node, copied in self.buffers:
            node["file"] = str(len(buffers))
            buffers[node["file"]] = copied()
        return Document(_abbreviated(tree), buffers, tuple(self.omitted))

    def grow(self, path: str, size: int) -> None:
        """Count bytes of a part, so that the largest argument or attribute can be named."""
        self.size += size
        if size >= 1024:
            part = _PART.match(path).group()  # type: ignore[union-attr]
            self.sizes[part] = self.sizes.get(part, 0) + size

    def problem(self, path: str, value: Any, advice: str) -> Dict[str, Any]:
        """Note a part that cannot be stored; inside an object it is only left out."""
        kind = type(value)
        prefix = "" if kind.__module__ == "builtins" else kind.__module__ + "."
        omissions = self.omitted if self.inside else self.problems
        omissions.append(Omitted(path, prefix + kind.__qualname__, advice))
        self.nodes.pop(id(value), None)  # its node is in no tree: nothing may refer to it
        return {"$": "omitted"}

    def node(self, value: Any, path: str) -> Any:
        if is_plain_value(value):
            if type(value) is str:
                self.grow(path, len(value))
            return value
        fixture = self.stands_in(value, path) if self.stands_in is not None else None
        if fixture is not None:
            return {"$": "fixture", "v": fixture}
        encoded = self.nodes.get(id(value))
        if encoded is not None:
            first = encoded[0]
            if "id" not in first:
                first["id"] = self.ids
                self.ids += 1
            return {"$": "ref", "id": first["id"]}
        if path in self.skip:
            return self.problem(path, value, "it is too large; the function does not name it")
        if self.depth >= MAX_DEPTH // 2 or self.size > 4 * self.limit:
            return self.problem(path, value, "it is nested too deeply, or has too many parts")
        self.depth += 1
        try:
            return self.compound(value, path)
        except RecursionError:
            raise
        except Exception as error:
            return self.problem(path, value, "%s: %s" % (type(error).__name__, str(error)[:200]))
        finally:
            self.depth -= 1

    def items(self, value: Iterable[Any], path: str) -> List[Any]:
        nodes = [self.node(part, join(path, "[%d]" % index)) for index, part in enumerate(value)]
        self.grow(path, _NODE_BYTES * len(nodes))
        return nodes

    def pairs(self, value: Iterable[Tuple[Any, Any]], path: str) -> List[List[Any]]:
        result = []
        for index, (key, part) in enumerate(value):
            key_node = self.node(key, join(path, "<key %d>" % index))
            result.append([key_node, self.node(part, join(path, key_text(key_node, index)))])
        self.grow(path, 2 * _NODE_BYTES * len(result))
        return result

    def state(self, attributes: Dict[str, Any], path: str, gaps: bool) -> Dict[str, Any]:
        """Encode an object's attributes. ``gaps``: one that cannot be stored leaves a gap."""
        self.inside += gaps
        try:
            return {name: self.node(part, join(path, "." + name)) for name, part in attributes.items()}
        finally:
            self.inside -= gaps

    def compound(self, value: Any, path: str) -> Any:
        try:
            node = look(value)
        except Closed as error:
            return self.problem(path, value, str(error))
        if not isinstance(node, dict) or node["$"] in ("name", "omitted"):
            return node
        if node["$"] not in ("complex", "scalar"):  # two equal numbers need not be one object
            self.nodes[id(value)] = node, value
        if node["$"] in ("set", "frozenset"):
            node["v"].sort(key=self.order)  # the same order, whatever the hash seed
        if isinstance(value, (bytes, bytearray)):
            self.grow(path, len(value))
        if "of" in node:
            self.numbers(node, node.pop("of"), path)
        if node["$"] == "call":
            return self.call(node, path)
        self.parts(node, path)
        return node

    def order(self, part: Any) -> Any:
        return sort_key(self.live, part)

    def parts(self, node: Dict[str, Any], path: str) -> None:
        for name, kind in FIELDS[node["$"]].items():
            if name not in node:
                continue
            value = node[name]
            if kind == NODE:
                node[name] = self.node(value, path + _step(name))
            elif kind == NODES:
                node[name] = self.items(value, path)
            elif kind == PAIRS:
                node[name] = self.pairs(value, path)
            elif kind == STATE:
                node[name] = self.state(value, path, node["$"] not in ("namedtuple", "structured"))

    def call(self, node: Dict[str, Any], path: str) -> Any:
        before, self.inside = len(self.omitted), self.inside + 1
        try:
            self.parts(node, path)
        finally:
            self.inside -= 1
        # Here a gap would be passed to the object's own code: it cannot be stored without the part.
        if len(self.omitted) > before and not self.inside:
            self.problems.extend(self.omitted[before:])
        return node

    def numbers(self, node: Dict[str, Any], value: Any, path: str) -> None:
        dtype, shape = node["dtype"], tuple(node["shape"])
        if node["$"] == "tensor":
            plain = detached(library("torch"), value)
            count, size = plain.numel(), plain.numel() * plain.element_size()
        else:
            plain, count, size = value, value.size, value.nbytes
        self.grow(path, size)
        readable = dtype in NPY_TYPES or dtype[1:2] == "U"
        if count <= MOST_INLINE and readable:
            data = plain.tolist()
            node["data"] = _shortened(data, dtype)
            return

        def copied() -> Buffer:
            descr = NPY_TYPES.get(dtype, dtype)
            if node["$"] != "tensor":
                return Buffer(descr, shape, plain.tobytes("C"))
            dense = plain.contiguous()
            return Buffer(descr, shape, ctypes.string_at(dense.data_ptr(), size) if size else b"")

        self.buffers.append((node, copied))


def _step(field: str) -> str:
    return "" if field == "base" else "." + field


def _abbreviated(node: Any) -> Any:
    """Return the tree with lists and plain dictionaries as JSON has them, where nothing refers to them."""
    if isinstance(node, list):
        return [_abbreviated(part) for part in node]
    if not isinstance(node, dict):
        return node
    tag = node.get("$")
    node = {name: part if name == "data" else _abbreviated(part) for name, part in node.items()}
    if "id" in node:
        return node
    if tag == "list":
        return node["v"]
    if tag == "dict" and all(isinstance(key, str) and key != "$" for key, _ in node["v"]):
        return dict(node["v"])
    return node


def _shortened(data: Any, dtype: str) -> Any:
    """Return numbers in few digits: enough to tell two numbers of single precision apart."""
    if isinstance(data, list):
        return [_shortened(number, dtype) for number in data]
    if dtype.startswith("complex"):
        half = "float32" if dtype == "complex64" else "float64"
        return [_shortened(data.real, half), _shortened(data.imag, half)]
    if dtype not in ("float32", "float16", "bfloat16") or data - data != 0:  # infinite, or NaN
        return data
    for digits in (6, 7, 8):
        short = float("%.*g" % (digits, data))
        if abs(short) < 3.4e38 and struct.unpack("<f", struct.pack("<f", short))[0] == data:
            return short
    return data
