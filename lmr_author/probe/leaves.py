"""The numeric leaves of a document: where they are, and their numbers, without torch.

A leaf is a Python float or complex, a numpy scalar or array, or a tensor. Numbers are read from the
raw buffers by standard library means, or by numpy when there are many and numpy can be imported.
"""

from __future__ import annotations

import array
import struct
import sys
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from .buffers import BadDocument, Buffer, count, item_size
from .document import Document
from .dtypes import EXTENDED
from .tree import TORCH_SIZES, children
from .tree import join as join_path

MANY = 50_000
"""From so many elements on, numpy is imported if it can be."""

FLOATS = ("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2")
COMPLEX = ("complex64", "complex128")

_NUMPY_NAMES = {
    "|b1": "bool", "|u1": "uint8", "|i1": "int8", "i2": "int16", "u2": "uint16", "f2": "float16",
    "i4": "int32", "u4": "uint32", "f4": "float32", "i8": "int64", "u8": "uint64", "f8": "float64",
    "c8": "complex64", "c16": "complex128",
}  # fmt: skip
_CODES = {
    "bool": "B", "uint8": "B", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "uint64": "Q", "float32": "f", "float64": "d", "complex64": "f", "complex128": "d",
}  # fmt: skip


class Leaf(NamedTuple):
    """A floating or complex leaf: its path, element type by torch's name, and shape."""

    path: str
    dtype: str
    shape: Tuple[int, ...]


class Numbers(NamedTuple):
    """A leaf's numbers.

    ``dtype`` is torch's name, or numpy's string for text, dates and records, whose ``values`` are then
    raw bytes per element. ``values`` of a complex leaf are real and imaginary part in turn.
    """

    dtype: str
    shape: Tuple[int, ...]
    values: Sequence[Any]


def walk(document: Document) -> Iterator[Tuple[str, Any]]:
    """Every node once, as (path, node), in recording order; references are not followed."""
    stack: List[Tuple[str, Any]] = [("", document.tree)]
    while stack:
        path, node = stack.pop()
        yield path, node
        if isinstance(node, dict) and node["$"] not in ("complex", "ref"):
            below = [
                (join_path(path, "" if name == "base" else step), item)
                for name, step, item in children(node)
                if not step.startswith("<key") or isinstance(item, dict)
            ]
            stack.extend(reversed(below))


def leaves(document: Document) -> List[Leaf]:
    """The leaves whose comparison may have a tolerance."""
    found = []
    for path, node in walk(document):
        kind = dtype_of(node)
        if kind in FLOATS or kind in COMPLEX:
            shape = tuple(node["shape"]) if isinstance(node, dict) and "shape" in node else ()
            found.append(Leaf(path, kind, shape))
    return found


def shapes(document: Document) -> Dict[str, str]:
    """A summary of a document: path of each array or tensor → ``float32[4, 8]``."""
    summary = {}
    for path, node in walk(document):
        if isinstance(node, dict) and node["$"] in ("tensor", "ndarray"):
            summary[path] = "%s%s" % (dtype_of(node), list(node["shape"]))
    return summary


def dtype_of(node: Any) -> str:
    """Element type of a numeric leaf by torch's name; numpy's string for other arrays; "" for no leaf."""
    if isinstance(node, float):
        return "float64"
    if not isinstance(node, dict):
        return ""
    tag = node["$"]
    if tag == "float":
        return "float64"
    if tag == "complex":
        return "complex128"
    if tag == "tensor":
        return str(node["dtype"])
    if tag in ("ndarray", "npscalar"):
        text = str(node["dtype"])
        return _NUMPY_NAMES.get(text) or _NUMPY_NAMES.get(text[1:]) or text
    return ""


def numbers(document: Document, node: Any) -> Numbers:
    """The numbers of a leaf. Raises BadDocument."""
    kind = dtype_of(node)
    if isinstance(node, float):
        return Numbers(kind, (), [node])
    try:
        if node["$"] == "float":
            return Numbers(kind, (), [float(node["v"])])
        if node["$"] == "complex":
            return Numbers(kind, (), [_part(node["re"]), _part(node["im"])])
        if node["$"] == "npscalar":
            raw = bytes.fromhex(node["hex"])
            if len(raw) != (EXTENDED.get(kind) or item_size(node["dtype"])):
                raise BadDocument("a scalar of %d bytes" % len(raw))
            return Numbers(kind, (), _values(raw, kind, node["dtype"][:1] == ">"))
    except (ValueError, TypeError, KeyError) as error:
        raise BadDocument("a number that is none: %.60r" % (node,)) from error
    buffer = document.buffers[node["b"]]
    shape = tuple(node["shape"])
    if node["$"] == "tensor":
        return Numbers(kind, shape, _gather(buffer, node, kind))
    return Numbers(kind, shape, _values(buffer.data, kind, False, item_size(buffer.dtype)))


def _part(node: Any) -> float:
    return float(node["v"]) if isinstance(node, dict) else float(node)


def _gather(buffer: Buffer, node: Dict[str, Any], kind: str) -> Sequence[Any]:
    """The elements of a tensor in C order, from its storage."""
    shape, stride, size = node["shape"], node["stride"], TORCH_SIZES[kind]
    total = count(tuple(shape))
    dense, step = [], 1
    for length in reversed(shape):
        dense.append(step)
        step *= max(length, 1)
    begin = node["offset"] * size
    if total == 0:
        return []
    if all(have == want or length == 1 for have, want, length in zip(stride, reversed(dense), shape)):
        return _values(buffer.data[begin : begin + total * size], kind, False, size)
    places = [node["offset"]]
    for length, step in zip(shape, stride):
        places = [place + n * step for place in places for n in range(length)]
    data = buffer.data
    return _values(b"".join([data[p * size : p * size + size] for p in places]), kind, False, size)


def _values(raw: bytes, kind: str, swapped: bool, size: int = 0) -> Sequence[Any]:
    """Raw little-endian bytes as numbers."""
    if kind in _CODES:
        result = array.array(_CODES[kind])
        result.frombytes(raw)
        if swapped != (sys.byteorder == "big"):
            result.byteswap()
        return result
    if kind == "float16":
        return struct.unpack("%s%de" % (">" if swapped else "<", len(raw) // 2), raw)
    if kind == "bfloat16":
        halves = struct.unpack("<%dH" % (len(raw) // 2), raw)
        return struct.unpack(
            "<%df" % len(halves), struct.pack("<%dI" % len(halves), *[h << 16 for h in halves])
        )
    if kind == "float8_e5m2":
        return struct.unpack("<%de" % len(raw), b"".join(b"\0" + raw[n : n + 1] for n in range(len(raw))))
    if kind == "float8_e4m3fn":
        return [_e4m3(byte) for byte in raw]
    size = size or len(raw) or 1
    return [raw[n : n + size] for n in range(0, len(raw), size)]


def _e4m3(byte: int) -> float:
    """An 8-bit float with 4 bits of exponent (bias 7) and 3 of mantissa; only ±0x7f is not a number."""
    sign = -1.0 if byte & 0x80 else 1.0
    exponent, mantissa = (byte >> 3) & 0xF, byte & 7
    if byte & 0x7F == 0x7F:
        return float("nan")
    if exponent == 0:
        return sign * mantissa * 2.0**-9
    return sign * (1 + mantissa / 8) * 2.0 ** (exponent - 7)


def numpy_for(elements: int) -> Optional[Any]:
    """numpy when it is loaded already, or when there is enough to do that importing it pays."""
    if elements < 256:
        return None
    module = sys.modules.get("numpy")
    if module is None and elements >= MANY:
        try:
            import numpy as module
        except Exception:  # a broken numpy must not keep anyone from comparing
            return None
    return module if hasattr(module, "frombuffer") else None


def first_paths(document: Document) -> Tuple[Dict[int, str], Dict[int, Any]]:
    """For a document's nodes: identity of a compound node → its first path; id → node."""
    paths: Dict[int, str] = {}
    ids: Dict[int, Any] = {}
    for path, node in walk(document):
        if isinstance(node, dict):
            paths.setdefault(id(node), path)
            if "id" in node and node["$"] != "ref":
                ids[node["id"]] = node
    return paths, ids
