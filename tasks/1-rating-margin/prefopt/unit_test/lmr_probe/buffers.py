"""Raw array data on disk: the safetensors format, and ``.npy`` for what safetensors cannot hold.

Both formats are a header and plain numbers: reading them never runs code. Own readers and writers,
because an old environment has neither package, and because the writers have to be deterministic.
Formats: https://github.com/huggingface/safetensors#format and
https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
"""

from __future__ import annotations

import ast
import json
import re
import struct
from typing import Any, Dict, List, NamedTuple, Tuple

MAX_HEADER = 100 * 1024 * 1024
"""Longest safetensors header (bytes), the same limit as the reference implementation."""

SAFE_SIZES = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2,
    "I32": 4, "U32": 4, "F32": 4, "F64": 8, "I64": 8, "U64": 8, "C64": 8,
}  # fmt: skip
"""safetensors' names of element types → bytes per element."""

_SIMPLE = re.compile(r"^[<>|=]([?bBiufcmMOSUVa])(\d+)(\[[\w/ ]+\])?$")


class BadDocument(Exception):
    """A recording that is damaged or was never one: the only error that reading one raises."""


class Buffer(NamedTuple):
    """Numbers of one type.

    ``dtype`` is a safetensors name (``F32``) or numpy's array-protocol string (``<c16``, ``<U5``; a
    structured type as the text of its field list). ``data`` is in C order, little-endian.
    """

    dtype: str
    shape: Tuple[int, ...]
    data: bytes

    @property
    def in_safetensors(self) -> bool:
        """Whether safetensors can hold it."""
        return self.dtype in SAFE_SIZES


def count(shape: Tuple[int, ...]) -> int:
    """Number of elements of a shape."""
    total = 1
    for size in shape:
        total *= size
    return total


def item_size(dtype: str) -> int:
    """Bytes per element of a buffer's type. Raises BadDocument for a type that cannot be stored."""
    if dtype in SAFE_SIZES:
        return SAFE_SIZES[dtype]
    if dtype.startswith("["):
        try:
            return _fields_size(ast.literal_eval(dtype) if len(dtype) < 10_000 else None)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as error:
            raise BadDocument("not an element type: %.60r" % dtype) from error
    match = _SIMPLE.match(dtype)
    if match is None or match.group(1) == "O":
        raise BadDocument("not an element type: %.60r" % dtype)
    return int(match.group(2)[:9]) * (4 if match.group(1) == "U" else 1)


def _fields_size(fields: Any) -> int:
    if not isinstance(fields, list):
        raise TypeError("not a list of fields")
    total = 0
    for field in fields:
        kind = field[1]
        size = _fields_size(kind) if isinstance(kind, list) else item_size(kind)
        total += size * count(tuple(int(n) for n in field[2]) if len(field) > 2 else ())
    return total


def check_buffer(name: str, buffer: Buffer) -> Buffer:
    """The buffer itself, when its data fit its type and shape. Raises BadDocument."""
    if any(size < 0 for size in buffer.shape):
        raise BadDocument("buffer %s has a negative size" % name)
    if count(buffer.shape) * item_size(buffer.dtype) != len(buffer.data):
        raise BadDocument("buffer %s: %d bytes do not fit its type and shape" % (name, len(buffer.data)))
    return buffer


def write_safetensors(buffers: Dict[str, Buffer]) -> bytes:
    """A safetensors file: names sorted by falling alignment, then name, as the reference writer does."""
    order = sorted(buffers, key=lambda name: (-SAFE_SIZES[buffers[name].dtype], name))
    header: Dict[str, Any] = {}
    offset = 0
    for name in order:
        buffer = buffers[name]
        end = offset + len(buffer.data)
        header[name] = {"dtype": buffer.dtype, "shape": list(buffer.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text] + [buffers[name].data for name in order])


def read_safetensors(data: bytes) -> Dict[str, Buffer]:
    """The buffers of a safetensors file. Raises BadDocument."""
    if len(data) < 8:
        raise BadDocument("a safetensors file of %d bytes" % len(data))
    (length,) = struct.unpack("<Q", data[:8])
    if length > min(MAX_HEADER, len(data) - 8):
        raise BadDocument("a safetensors header that is longer than its file")
    header = parse_json(data[8 : 8 + length])
    if not isinstance(header, dict):
        raise BadDocument("a safetensors header that is no object")
    body = memoryview(data)[8 + length :]
    result: Dict[str, Buffer] = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if not isinstance(entry, dict) or not isinstance(entry.get("dtype"), str):
            raise BadDocument("safetensors entry %.60r has no type" % name)
        begin, end = integers(entry.get("data_offsets"), 2)
        if not 0 <= begin <= end <= len(body) or entry["dtype"] not in SAFE_SIZES:
            raise BadDocument("safetensors entry %.60r lies outside its file" % name)
        shape = tuple(integers(entry.get("shape")))
        result[name] = check_buffer(name, Buffer(entry["dtype"], shape, bytes(body[begin:end])))
    return result


def write_npy(buffer: Buffer) -> bytes:
    """A ``.npy`` file, version 1.0 (2.0 for a long header), without pickle."""
    descr = buffer.dtype if buffer.dtype.startswith("[") else repr(buffer.dtype)
    text = "{'descr': %s, 'fortran_order': False, 'shape': %r, }" % (descr, tuple(buffer.shape))
    raw = text.encode("latin1")
    large = len(raw) + 65 > 65535
    prefix = b"\x93NUMPY" + (b"\x02\x00" if large else b"\x01\x00")
    head = len(prefix) + (4 if large else 2)
    raw += b" " * (-(head + len(raw) + 1) % 64) + b"\n"
    return prefix + struct.pack("<I" if large else "<H", len(raw)) + raw + buffer.data


def read_npy(data: bytes) -> Buffer:
    """The buffer of a ``.npy`` file as :func:`write_npy` makes it. Raises BadDocument."""
    if data[:6] != b"\x93NUMPY" or len(data) < 12 or data[6] not in (1, 2):
        raise BadDocument("not a .npy file")
    head, size = (12, "<I") if data[6] == 2 else (10, "<H")
    (length,) = struct.unpack(size, data[8:head])
    if length > min(len(data) - head, 1_000_000):
        raise BadDocument("a .npy header that is longer than its file")
    try:
        header = ast.literal_eval(data[head : head + length].decode("latin1").strip())
        descr, shape = header["descr"], tuple(header["shape"])
        fortran = header["fortran_order"]
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as error:
        raise BadDocument("not a .npy header") from error
    if fortran is not False or not all(type(n) is int for n in shape):
        raise BadDocument("a .npy file that is not in C order")
    dtype = descr if isinstance(descr, str) else repr(descr)
    return check_buffer("npy", Buffer(dtype, shape, data[head + length :]))


def parse_json(data: bytes) -> Any:
    """JSON from bytes. Raises BadDocument."""
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError, MemoryError) as error:
        raise BadDocument("not JSON: %s" % error) from error


def integers(value: Any, length: int = -1) -> List[int]:
    """``value`` when it is a list of integers (of that length). Raises BadDocument."""
    if not isinstance(value, list) or not all(type(n) is int and abs(n) < 2**62 for n in value):
        raise BadDocument("not a list of integers: %.60r" % (value,))
    if length >= 0 and len(value) != length:
        raise BadDocument("not %d integers: %.60r" % (length, value))
    return value
