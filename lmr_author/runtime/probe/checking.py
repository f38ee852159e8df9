"""Data from hostile hands: documents and messages that come out of a sandbox, or out of somebody's task folder.

Reading a document raises BadDocument or returns a sound document, and reading messages never raises. Nothing is
imported, constructed or run here.
"""

from __future__ import annotations

import functools
import hashlib
import json
import operator
import os
import struct
from typing import Any, Callable, Dict, List, NamedTuple, Set, Tuple

from .document import (
    FIELDS,
    FLAG,
    INTS,
    NAMES,
    NODES,
    NPY_TYPES,
    PAIRS,
    STATE,
    TEXT,
    BadDocument,
    Buffer,
    Document,
    is_complex,
    parts,
    read,
)
from .storing import MAX_DEPTH, Omitted

MAGIC = b"\x00LMR-FRAME\x01"
_LENGTHS = struct.Struct("<IQ")
MAX_HEADER = 16 * 1024 * 1024


def _are_pairs(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)


def _anything(value: Any) -> bool:
    return True


def _are_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(size) is int and 0 <= size < 2**48 for size in value)


_FITS: Dict[str, Callable[[Any], bool]] = {
    NODES: lambda value: isinstance(value, list),
    PAIRS: _are_pairs,
    STATE: lambda value: isinstance(value, dict),
    TEXT: lambda value: isinstance(value, str),
    FLAG: lambda value: isinstance(value, bool),
    INTS: _are_sizes,
    NAMES: lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value),
}
"""Kind of a field → whether a value is of it; anything is of the others."""
_OPTIONAL = frozenset("data file requires_grad leaf grad attrs coalesced base lazy items pairs".split())
"""Fields that no node need have."""
_OPTIONAL_OF = frozenset([("tensor", "cls"), ("array", "cls"), ("structured", "cls"), ("call", "state")])
"""Tag and field of those that other tags need."""
_UNREADABLE = (
    ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError,
    struct.error,
)  # fmt: skip
"""Errors of reading a file whose writer is unknown."""


def load(folder: str, stem: str) -> Document:
    """Read and check a document that :func:`.storing.dump` wrote. Raises BadDocument."""
    try:
        document = read(folder, stem)
    except OSError as error:
        raise BadDocument(
            "cannot read %s: %s" % (os.path.basename(str(error.filename)), error.strerror)
        ) from error
    except _UNREADABLE as error:
        raise BadDocument("not a document: %s" % error) from error
    return _checked(document.tree, document.buffers, document.omitted)


def to_bytes(document: Document) -> bytes:
    """Return a document for a pipe: length of the JSON part (u64, little-endian), JSON, buffers in order."""
    header = {
        "omitted": [list(omission) for omission in document.omitted],
        "values": document.tree,
        "buffers": [
            [name, buffer.descr, list(buffer.shape), len(buffer.data)]
            for name, buffer in document.buffers.items()
        ],
    }
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    return b"".join(
        [struct.pack("<Q", len(text)), text] + [buffer.data for buffer in document.buffers.values()]
    )


def from_bytes(data: bytes) -> Document:
    """Read and check what :func:`to_bytes` wrote. Raises BadDocument."""
    size = struct.unpack("<Q", data[:8])[0] if len(data) >= 8 else -1
    if not 0 <= size <= len(data) - 8:
        raise BadDocument("a document of %d bytes" % len(data))
    header = parse_json(data[8 : 8 + size])
    start, buffers = 8 + size, {}
    entries = header.get("buffers")
    for entry in entries if isinstance(entries, list) else ():
        if not _is_buffer(entry):
            raise BadDocument("not a buffer: %.60r" % (entry,))
        name, descr, shape, length = entry
        if length > len(data) - start:
            raise BadDocument("a buffer outside of its document")
        buffers[name] = Buffer(descr, tuple(shape), data[start : start + length])
        start += length
    return _checked(header.get("values"), buffers, header.get("omitted"))


def parse_json(data: bytes) -> Dict[str, Any]:
    try:
        header = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError, MemoryError) as error:
        raise BadDocument("not JSON: %s" % error) from error
    if not isinstance(header, dict):
        raise BadDocument("no JSON object")
    return header


def _is_buffer(entry: Any) -> bool:
    if not isinstance(entry, list) or len(entry) != 4:
        return False
    name, descr, shape, length = entry
    return isinstance(name, str) and isinstance(descr, str) and _are_sizes(shape) and _are_sizes([length])


def digest(document: Document) -> str:
    return hashlib.sha256(to_bytes(document)).hexdigest()


def _checked(tree: Any, buffers: Dict[str, Buffer], omitted: Any) -> Document:
    if not isinstance(omitted, list) or not all(map(_is_omitted, omitted)):
        raise BadDocument("no list of what was left out")
    check(tree, buffers)
    return Document(tree, buffers, tuple(Omitted(*part) for part in omitted))


def _is_omitted(part: Any) -> bool:
    return isinstance(part, list) and len(part) == 3 and all(isinstance(text, str) for text in part)


def check(tree: Any, buffers: Dict[str, Buffer]) -> None:
    """Check that every node has its fields and that every name leads somewhere. Raises BadDocument.

    A hostile process may have written the tree, so this never recurses: depth cannot exhaust the stack.
    """
    ids: Set[int] = set()
    refs: Set[int] = set()
    stack: List[Tuple[Any, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, _PLAIN):
            continue
        if depth > MAX_DEPTH:
            raise BadDocument("nested too deeply")
        if not isinstance(node, (dict, list)):
            raise BadDocument("not a node: %.60r" % (node,))
        if isinstance(node, dict) and "$" in node:
            _check_tagged(node, buffers)
            _note_id(node, ids, refs)
        stack.extend((part, depth + 1) for _, part in parts(node))
    if refs - ids:
        raise BadDocument("references to nothing: %.60r" % sorted(refs - ids))


_PLAIN = (type(None), bool, int, float, str)


def _note_id(node: Dict[str, Any], ids: Set[int], refs: Set[int]) -> None:
    is_reference = node["$"] == "ref"
    if "id" not in node and not is_reference:
        return
    number = node.get("id")
    if type(number) is not int:
        raise BadDocument("not an id: %.60r" % (number,))
    if number in ids and not is_reference:
        raise BadDocument("an id that is used twice: %.60r" % (number,))
    (refs if is_reference else ids).add(number)


def _check_tagged(node: Dict[str, Any], buffers: Dict[str, Buffer]) -> None:
    tag = node["$"]
    if not isinstance(tag, str) or tag not in FIELDS:
        raise BadDocument("not a node: %.60r" % (node,))
    for name, kind in FIELDS[tag].items():
        if name in node and not _FITS.get(kind, _anything)(node[name]):
            raise BadDocument("%s of a %s is %.60r" % (name, tag, node[name]))
        if name not in node and name not in _OPTIONAL and (tag, name) not in _OPTIONAL_OF:
            raise BadDocument("a %s without %s" % (tag, name))
    if tag == "complex" and not (_fits(node["v"], (2,)) and {*map(type, node["v"])} == {float}):
        raise BadDocument("not a complex number: %.60r" % (node["v"],))
    if "dtype" in node:
        _check_array(node, buffers)


def _check_array(node: Dict[str, Any], buffers: Dict[str, Buffer]) -> None:
    shape = tuple(node["shape"])
    if len(shape) > 64 or ("data" in node) == ("file" in node):
        raise BadDocument("an array that has its numbers in no place, or in two")
    if "data" in node:
        if not _fits(node["data"], (*shape, 2) if is_complex(node["dtype"]) else shape):
            raise BadDocument("an array whose shape is not its numbers'")
        return
    buffer = buffers.get(node["file"])
    if buffer is None:
        raise BadDocument("a buffer that is not there: %.60r" % node["file"])
    descr = NPY_TYPES.get(node["dtype"], node["dtype"] if node["$"] != "tensor" else None)
    if buffer.descr != descr or buffer.shape != shape or not _are_sizes(list(buffer.shape)):
        raise BadDocument("an array whose type or shape is not its buffer's")
    if descr in NPY_TYPES.values():
        size = functools.reduce(operator.mul, shape, int(descr[2:]))
        if size != len(buffer.data):
            raise BadDocument("%d bytes do not fit an array's type and shape" % len(buffer.data))


def _fits(data: Any, shape: Tuple[int, ...]) -> bool:
    if not shape:
        return isinstance(data, (bool, int, float, str))
    return isinstance(data, list) and len(data) == shape[0] and all(_fits(row, shape[1:]) for row in data)


class Frame(NamedTuple):
    """A message on the replayer's standard output. ``header["kind"]`` is ``case``, ``facts``, ``start`` or ``end``."""

    header: Dict[str, Any]
    payload: bytes


def write_frame(header: Dict[str, Any], payload: bytes = b"") -> bytes:
    """Return the bytes of a message: magic, two lengths, a JSON header, payload."""
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    return b"".join([MAGIC, _LENGTHS.pack(len(text), len(payload)), text, payload])


def read_frames(data: bytes) -> List[Frame]:
    """Return every complete message in some output. Skips noise between them; never raises."""
    frames: List[Frame] = []
    position = data.find(MAGIC)
    while position >= 0:
        try:
            frame, end = _read_frame(data, position + len(MAGIC))
            frames.append(frame)
        except BadDocument:
            end = position + 1  # where the next message may begin
        position = data.find(MAGIC, end)
    return frames


def _read_frame(data: bytes, position: int) -> Tuple[Frame, int]:
    """Return the message whose lengths begin at a position, and its end. Raises BadDocument."""
    start = position + _LENGTHS.size
    if start > len(data):
        raise BadDocument("no lengths")
    header_size, payload_size = _LENGTHS.unpack(data[position:start])
    middle = start + header_size
    end = middle + payload_size
    if header_size > MAX_HEADER or end > len(data):
        raise BadDocument("no complete message")
    return Frame(parse_json(data[start:middle]), data[middle:end]), end
