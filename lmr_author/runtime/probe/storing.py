"""Writing documents, and what cannot be written."""

from __future__ import annotations

import json
import os
import struct
from typing import Any, Dict, Iterable, NamedTuple

from .document import FORMAT, Buffer, Document, Refused

DEFAULT_LIMIT = 256 * 1024 * 1024
"""Largest document by default (bytes)."""
MAX_DEPTH = 200
"""Deepest nesting of a tree; encoder and reader agree on it."""


class Omitted(NamedTuple):
    """A part that was left out of an object's state: where, what it was, what to do about it."""

    path: str
    type: str
    advice: str


class Unstorable(Refused):
    """Values that cannot be stored: ``problems`` are (path, type, advice)."""

    def __init__(self, problems: Iterable[Omitted]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join("%s: cannot store a %s (%s)" % problem for problem in self.problems))


class TooLarge(Refused):
    """A value over the size limit. ``path`` is its largest part; sizes in bytes."""

    def __init__(self, path: str, size: int, limit: int) -> None:
        self.path, self.size, self.limit = path, size, limit
        super().__init__("%s: %d bytes, more than the limit of %d" % (path or "value", size, limit))


def dump(document: Document, folder: str, stem: str) -> None:
    """Write ``<stem>.json`` and, for each large array, ``<stem>.<n>.npy``."""
    base = os.path.join(str(folder), stem)
    for name, buffer in document.buffers.items():
        with open("%s.%s.npy" % (base, name), "wb") as file:
            file.write(write_npy(buffer))
    header = {
        "format": FORMAT,
        "omitted": [list(omission) for omission in document.omitted],
        "values": document.tree,
    }
    with open(base + ".json", "w", encoding="ascii") as text:
        text.write(pretty(header) + "\n")


def pretty(value: Any, indent: str = "") -> str:
    """Format JSON for people: whatever fits into a line is one line."""
    text = json.dumps(value)
    if len(text) + len(indent) <= 110 or not isinstance(value, (dict, list)):
        return text
    inner = indent + " "
    if isinstance(value, list) and not any(isinstance(part, (dict, list)) for part in value):
        # Lines are broken between items only: a blank inside of a text stays what it is.
        rows, row = [], inner
        for part in value:
            word = json.dumps(part) + ", "
            if len(row) + len(word) > 110 and row != inner:
                rows.append(row)
                row = inner
            row += word
        return "[\n%s\n%s]" % ("\n".join([*(part.rstrip() for part in rows), row[:-2]]), indent)
    if isinstance(value, list):
        lines = [inner + pretty(part, inner) for part in value]
    else:
        lines = ["%s%s: %s" % (inner, json.dumps(key), pretty(part, inner)) for key, part in value.items()]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return "%s\n%s\n%s%s" % (opening, ",\n".join(lines), indent, closing)


def put_numbers(document: Document, node: Dict[str, Any], values: Any) -> None:
    """Put an array of numpy in the place of the numbers of a node, which no other node shares."""
    node["dtype"], node["shape"] = str(values.dtype), list(values.shape)
    if "data" in node:
        node["data"] = values.tolist()
    else:
        document.buffers[node["file"]] = Buffer(values.dtype.str, tuple(values.shape), values.tobytes())


def write_npy(buffer: Buffer) -> bytes:
    """Return the bytes of a ``.npy`` file, version 1.0; see :func:`.document.read_npy`."""
    text = "{'descr': %r, 'fortran_order': False, 'shape': %r, }" % (buffer.descr, tuple(buffer.shape))
    raw = text.encode("latin1")
    raw += b" " * (-(len(raw) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(raw)) + raw + buffer.data
