"""Documents from hostile hands: reading them raises BadDocument or gives a sound document, and never more.

Nothing is imported, constructed or run here. The host reads this way what comes out of a sandbox.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any, Dict, List, Set, Tuple

from . import document as documents
from .document import (
    FIELDS,
    FLAG,
    INTS,
    MAX_DEPTH,
    NODES,
    NPY_TYPES,
    PAIRS,
    STATE,
    TEXT,
    BadDocument,
    Buffer,
    Document,
    Omitted,
    parse_json,
    parts,
)


def load(folder: str, stem: str) -> Document:
    """Read a document from a folder and check it. Raises BadDocument."""
    found = documents.read(folder, stem)
    check(found.tree, found.buffers)
    return found


def to_bytes(document: Document) -> bytes:
    """The document for a pipe: length of the JSON part (u64, little-endian), JSON, buffers in order."""
    header = {
        "omitted": [list(item) for item in document.omitted],
        "values": document.tree,
        "buffers": [
            [name, item.descr, list(item.shape), len(item.data)] for name, item in document.buffers.items()
        ],
    }
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    return b"".join([struct.pack("<Q", len(text)), text] + [item.data for item in document.buffers.values()])


def from_bytes(data: bytes) -> Document:
    """Read what :func:`to_bytes` wrote. Raises BadDocument."""
    size = struct.unpack("<Q", data[:8])[0] if len(data) >= 8 else -1
    if not 0 <= size <= len(data) - 8:
        raise BadDocument("a document of %d bytes" % len(data))
    header = parse_json(data[8 : 8 + size])
    place, buffers = 8 + size, {}
    listed = header.get("buffers")
    for item in listed if isinstance(listed, list) else ():
        if not (
            isinstance(item, list)
            and len(item) == 4
            and isinstance(item[0], str)
            and isinstance(item[1], str)
        ):
            raise BadDocument("not a buffer: %.60r" % (item,))
        if not (_holds(item[2], INTS) and type(item[3]) is int and 0 <= item[3] <= len(data) - place):
            raise BadDocument("a buffer outside of its document")
        buffers[item[0]] = Buffer(item[1], tuple(item[2]), data[place : place + item[3]])
        place += item[3]
    return _checked(header.get("values"), buffers, header)


def digest(document: Document) -> str:
    """SHA-256 of a document: the same for two of them exactly if they say the same."""
    return hashlib.sha256(to_bytes(document)).hexdigest()


def _checked(tree: Any, buffers: Dict[str, Buffer], header: Dict[str, Any]) -> Document:
    listed = header.get("omitted")
    if not isinstance(listed, list) or not all(
        isinstance(item, list) and len(item) == 3 and all(isinstance(part, str) for part in item)
        for item in listed
    ):
        raise BadDocument("no list of what was left out")
    check(tree, buffers)
    return Document(tree, buffers, tuple(Omitted(*item) for item in listed))


def check(tree: Any, buffers: Dict[str, Buffer]) -> None:
    """Check that every node has its fields and that every name leads somewhere. Raises BadDocument.

    A hostile process may have written the tree. Never recurses, so that depth cannot exhaust the stack.
    """
    ids: Set[Any] = set()
    refs: Set[Any] = set()
    stack: List[Tuple[Any, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if node is None or isinstance(node, (bool, int, float, str)):
            continue
        if depth > MAX_DEPTH:
            raise BadDocument("nested too deeply")
        if isinstance(node, dict) and "$" in node:
            if not isinstance(node["$"], str) or node["$"] not in FIELDS:
                raise BadDocument("not a node: %.60r" % (node,))
            _check_fields(node, buffers)
            if node["$"] == "ref" or "id" in node:
                number = node.get("id")
                if type(number) is not int or (number in ids and node["$"] != "ref"):
                    raise BadDocument("not an id, or one that is used twice: %.60r" % (number,))
                (refs if node["$"] == "ref" else ids).add(number)
        elif not isinstance(node, (dict, list)):
            raise BadDocument("not a node: %.60r" % (node,))
        stack.extend((item, depth + 1) for _, item in parts(node))
    if refs - ids:
        raise BadDocument("references to nothing: %.60r" % sorted(refs - ids))


def _check_fields(node: Dict[str, Any], buffers: Dict[str, Buffer]) -> None:
    for field, kind in FIELDS[node["$"]].items():
        name = field.lstrip("?")
        if name not in node:
            if not field.startswith("?"):
                raise BadDocument("a %s without %s" % (node["$"], name))
        elif not _holds(node[name], kind):
            raise BadDocument("%s of a %s is %.60r" % (name, node["$"], node[name]))
    if node["$"] == "complex" and not (
        _fits(node["v"], (2,)) and all(isinstance(n, float) for n in node["v"])
    ):
        raise BadDocument("not a complex number: %.60r" % (node["v"],))
    if "dtype" not in node:
        return
    shape = tuple(node["shape"])
    if len(shape) > 64 or ("data" in node) == ("file" in node):
        raise BadDocument("an array that has its numbers in no place, or in two")
    if "data" in node:
        if not _fits(node["data"], shape):
            raise BadDocument("an array whose shape is not its numbers'")
        return
    buffer = buffers.get(node["file"])
    if buffer is None:
        raise BadDocument("a buffer that is not there: %.60r" % node["file"])
    descr = NPY_TYPES.get(node["dtype"], node["dtype"] if node["$"] != "tensor" else None)
    if buffer.descr != descr or buffer.shape != shape:
        raise BadDocument("an array whose type or shape is not its buffer's")
    if descr in NPY_TYPES.values() and _count(shape) * int(descr[2:]) != len(buffer.data):
        raise BadDocument("%d bytes do not fit an array's type and shape" % len(buffer.data))


def _holds(value: Any, kind: int) -> bool:
    if kind == NODES:
        return isinstance(value, list)
    if kind == PAIRS:
        return isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)
    if kind == STATE:
        return isinstance(value, dict)
    if kind == TEXT:
        return isinstance(value, str)
    if kind == FLAG:
        return isinstance(value, bool)
    if kind == INTS:
        return isinstance(value, list) and all(type(n) is int and 0 <= n < 2**48 for n in value)
    return True


def _fits(data: Any, shape: Tuple[int, ...]) -> bool:
    if not shape:
        return isinstance(data, (bool, int, float, str))
    return isinstance(data, list) and len(data) == shape[0] and all(_fits(item, shape[1:]) for item in data)


def _count(shape: Tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total
