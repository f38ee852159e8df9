"""A recorded value as data: a JSON tree, and beside it the arrays that are too large to be written into it.

The tree holds ``null``, booleans, numbers and texts as they are, lists as lists, and dictionaries with texts for keys
as objects. Everything else is an object whose ``$`` says what it is (:data:`FIELDS`). Any of these may have an ``id``,
which a ``{"$": "ref"}`` elsewhere names: one Python object stays one object.
"""

from __future__ import annotations

import ast
import json
import os
import struct
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

FORMAT = "lmr-recording/2"
NODE, NODES, PAIRS, STATE = "node", "nodes", "pairs", "state"
"""Kinds of fields with nodes in them: one, a list, a list of pairs, one for each attribute."""
TEXT, FLAG, INTS, NAMES, DATA = "text", "flag", "ints", "names", "data"
"""Kinds of the others."""
_ARRAY = {"dtype": TEXT, "shape": INTS, "data": DATA, "file": TEXT}
FIELDS: Dict[str, Dict[str, str]] = {
    "ref": {},
    **{tag: {"v": NODES} for tag in ("list", "tuple", "set", "frozenset")},
    "dict": {"v": PAIRS},
    **{tag: {"v": TEXT} for tag in ("bytes", "bytearray", "name", "fixture")},
    "complex": {"v": DATA},
    "tensor": {**_ARRAY, "requires_grad": FLAG, "leaf": FLAG, "cls": TEXT, "grad": NODE, "attrs": STATE},
    "array": {**_ARRAY, "cls": TEXT},
    "scalar": _ARRAY,
    "objects": {"shape": INTS, "v": NODES},
    "structured": {"layout": DATA, "shape": INTS, "v": STATE, "cls": TEXT},
    "sparse": {"layout": TEXT, "shape": INTS, "places": NODE, "numbers": NODE, "coalesced": FLAG},
    "table": {"columns": NODE, "index": NODE, "v": NODES},
    "namedtuple": {"cls": TEXT, "v": STATE},
    "object": {"cls": TEXT, "base": NODE, "state": STATE, "lazy": NAMES},
    "call": {"call": NODE, "args": NODES, "state": NODE, "items": NODES, "pairs": PAIRS},
    "make": {"kind": TEXT, "args": NODES},
    "omitted": {},
}
"""Tag → its fields and their kinds, in the order in which their nodes are walked."""

NPY_TYPES = {
    "bool": "|b1", "uint8": "|u1", "int8": "|i1", "int16": "<i2", "uint16": "<u2", "int32": "<i4", "uint32": "<u4",
    "int64": "<i8", "uint64": "<u8", "float16": "<f2", "float32": "<f4", "float64": "<f8", "complex64": "<c8",
    "complex128": "<c16", "bfloat16": "<i2",
}  # fmt: skip
"""Element type → its ``.npy`` type. bfloat16, which numpy lacks, is stored as the integers with the same bits."""


class BadDocument(Exception):
    """A damaged recording. ``part``: what cannot be rebuilt, as in ``self.tokenizer``; "" for the whole."""

    def __init__(self, message: str, part: str = "") -> None:
        self.part = part
        super().__init__("%s: %s" % (part, message) if part else message)


class Refused(Exception):
    """A value that cannot be recorded."""


class Buffer(NamedTuple):
    """Numbers in C order. ``descr``: their type in ``.npy`` files."""

    descr: str
    shape: Tuple[int, ...]
    data: bytes


class Document:
    """A value as a JSON tree and buffers by name, and the parts that were left out."""

    def __init__(self, tree: Any, buffers: Dict[str, Buffer], omitted: Tuple[Any, ...] = ()) -> None:
        self.tree, self.buffers, self.omitted = tree, buffers, omitted


def is_complex(dtype: str) -> bool:
    return dtype.startswith("complex")


def tagged(node: Any) -> Any:
    """Return the tagged form of a node that JSON abbreviates: a list or an object with text keys."""
    if isinstance(node, list):
        return {"$": "list", "v": node}
    if isinstance(node, dict) and "$" not in node:
        return {"$": "dict", "v": [[key, value] for key, value in node.items()]}
    return node


def join(path: str, step: str) -> str:
    """Extend a path by a step; at the root, ``['loss']`` becomes ``loss``."""
    if path:
        return path + step
    return step[2:-2] if step.startswith(("['", '["')) else step.lstrip(".")


def key_text(key: Any, index: int) -> str:
    plain = key is None or isinstance(key, (bool, int, float, str))
    return "[%r]" % (key,) if plain else "[<item %d>]" % index


def parts(node: Any) -> Iterator[Tuple[str, Any]]:
    """Yield a node's children as (step, child), including the keys of pairs."""
    node = tagged(node)
    for name, kind in FIELDS[node["$"]].items() if isinstance(node, dict) else ():
        if name in node:
            yield from steps(name, kind, node[name])


def steps(name: str, kind: str, value: Any) -> Iterator[Tuple[str, Any]]:
    if kind == NODE:
        yield "" if name == "base" else "." + name, value
    elif kind == NODES:
        yield from (("[%d]" % index, node) for index, node in enumerate(value))
    elif kind == STATE:
        yield from (("." + attribute, node) for attribute, node in value.items())
    elif kind == PAIRS:
        for index, (key, node) in enumerate(value):
            if isinstance(key, (dict, list)):
                yield "<key %d>" % index, key
            yield key_text(key, index), node


def walk(tree: Any) -> Iterator[Tuple[str, Any]]:
    """Yield (path, node) of every node in recording order, without following references."""
    stack: List[Tuple[str, Any]] = [("", tree)]
    while stack:
        path, node = stack.pop()
        yield path, node
        if isinstance(node, (dict, list)):
            below = [(join(path, step) if step else path, part) for step, part in parts(node)]
            stack.extend(reversed(below))


def by_id(tree: Any) -> Dict[int, Any]:
    nodes = (node for _, node in walk(tree) if isinstance(node, dict) and node.get("$", "ref") != "ref")
    return {node["id"]: node for node in nodes if "id" in node}


def read(folder: str, stem: str) -> Document:
    """Read a trusted document; :func:`.checking.load` reads untrusted ones."""
    base = os.path.join(str(folder), stem)
    with open(base + ".json", encoding="utf-8") as text:
        header = json.load(text)
    if header["format"] != FORMAT:
        raise BadDocument("the format is %.40r, not %s" % (header["format"], FORMAT))
    buffers = {}
    for _, node in walk(header["values"]):
        if isinstance(node, dict) and "$" in node and "file" in node:
            name = node["file"]
            if not (isinstance(name, str) and name.isdigit()):
                raise BadDocument("not the name of a file: %.60r" % (name,))
            with open("%s.%s.npy" % (base, name), "rb") as file:
                buffers[name] = read_npy(file.read())
    return Document(header["values"], buffers, header["omitted"])


def read_npy(data: bytes) -> Buffer:
    """Parse ``.npy`` 1.0 by hand: it must not import numpy, which the recorded code may not use."""
    if data[:8] != b"\x93NUMPY\x01\x00":
        raise BadDocument("not a .npy file")
    (size,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + size].decode("latin1").strip())
    if header["fortran_order"] is not False:
        raise BadDocument("a .npy file that is not in C order")
    return Buffer(header["descr"], tuple(header["shape"]), data[10 + size :])
