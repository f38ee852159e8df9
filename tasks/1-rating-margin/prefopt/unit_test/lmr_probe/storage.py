"""Documents on disk and in a pipe. Reading parses JSON and numbers, and nothing else.

On disk: ``<stem>.json``, ``<stem>.safetensors`` for most arrays and tensors, ``<stem>.<n>.npy`` for
types that safetensors lacks.
"""

from __future__ import annotations

import json
import os
import struct
from typing import Any, Dict, List, Tuple

from .buffers import (
    BadDocument,
    Buffer,
    check_buffer,
    integers,
    item_size,
    parse_json,
    read_npy,
    read_safetensors,
    write_npy,
    write_safetensors,
)
from .document import FORMAT, Document, Omitted
from .tree import check

READABLE = 100_000
"""JSON shorter than this (characters) is written with a line per value."""


def dump(document: Document, folder: str, stem: str) -> List[str]:
    """Write ``<stem>.json``, ``<stem>.safetensors`` and ``<stem>.<n>.npy``; returns the files' names."""
    safe = {name: item for name, item in document.buffers.items() if item.in_safetensors}
    header = document.header()
    places: Dict[str, str] = {}
    written: List[str] = []
    if safe:
        written.append("%s.safetensors" % stem)
        _write(os.path.join(str(folder), written[-1]), write_safetensors(safe))
    for name in document.buffers:
        if name in safe:
            places[name] = "safetensors"
            continue
        places[name] = "%d.npy" % len([place for place in places.values() if place != "safetensors"])
        written.append("%s.%s" % (stem, places[name]))
        _write(os.path.join(str(folder), written[-1]), write_npy(document.buffers[name]))
    header["buffers"] = places
    written.append("%s.json" % stem)
    text = json.dumps(header, separators=(",", ":"))
    if len(text) < READABLE:
        text = json.dumps(header, indent=1)
    _write(os.path.join(str(folder), written[-1]), text.encode("ascii") + b"\n")
    return written


def load(folder: str, stem: str) -> Document:
    """Read what :func:`dump` wrote. Raises BadDocument."""
    base = os.path.join(str(folder), stem)
    header = _header(parse_json(_read(base + ".json")))
    places = header.get("buffers")
    if not isinstance(places, dict) or not all(isinstance(place, str) for place in places.values()):
        raise BadDocument("%s.json does not say where its buffers are" % base)
    safe = read_safetensors(_read(base + ".safetensors")) if "safetensors" in places.values() else {}
    buffers: Dict[str, Buffer] = {}
    for name, place in places.items():
        if place == "safetensors" and name in safe:
            buffers[name] = safe[name]
        elif place.endswith(".npy") and place[:-4].isdigit():
            buffers[name] = read_npy(_read("%s.%s" % (base, place)))
        else:
            raise BadDocument("buffer %.60r is nowhere" % name)
    return _checked(Document(header["tree"], buffers, _omitted(header)))


def to_bytes(document: Document) -> bytes:
    """The document for a pipe: length of the JSON part (u64, little-endian), JSON, buffers in order."""
    header = document.header()
    header["buffers"] = [[name, item.dtype, list(item.shape)] for name, item in document.buffers.items()]
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    return b"".join([struct.pack("<Q", len(text)), text] + [item.data for item in document.buffers.values()])


def from_bytes(data: bytes) -> Document:
    """Read what :func:`to_bytes` wrote. Raises BadDocument."""
    if len(data) < 8:
        raise BadDocument("a document of %d bytes" % len(data))
    (length,) = struct.unpack("<Q", data[:8])
    if length > len(data) - 8:
        raise BadDocument("a document that is cut off")
    header = _header(parse_json(data[8 : 8 + length]))
    entries = header.get("buffers")
    if not isinstance(entries, list):
        raise BadDocument("a document without its list of buffers")
    buffers: Dict[str, Buffer] = {}
    position = 8 + length
    for entry in entries:
        if not isinstance(entry, list) or len(entry) != 3 or not all(isinstance(e, str) for e in entry[:2]):
            raise BadDocument("not a buffer: %.60r" % (entry,))
        shape = tuple(integers(entry[2]))
        size = item_size(entry[1])
        for length in shape:
            size *= length
        if not 0 <= size <= len(data) - position:
            raise BadDocument("a buffer that is cut off")
        buffers[entry[0]] = check_buffer(entry[0], Buffer(entry[1], shape, data[position : position + size]))
        position += size
    return _checked(Document(header["tree"], buffers, _omitted(header)))


def _checked(document: Document) -> Document:
    check(document.tree, document.buffers)
    return document


def _header(value: Any) -> Dict[str, Any]:
    if not isinstance(value, dict) or value.get("format") != FORMAT or "tree" not in value:
        raise BadDocument("not a recording of format %s" % FORMAT)
    return value


def _omitted(header: Dict[str, Any]) -> Tuple[Omitted, ...]:
    entries = header.get("omitted", [])
    if not isinstance(entries, list):
        raise BadDocument("omitted is no list")
    for entry in entries:
        if not isinstance(entry, list) or len(entry) != 3 or not all(isinstance(e, str) for e in entry):
            raise BadDocument("not an omitted part: %.60r" % (entry,))
    return tuple(Omitted(*entry) for entry in entries)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise BadDocument("cannot read %s: %s" % (path, error.strerror)) from error


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
