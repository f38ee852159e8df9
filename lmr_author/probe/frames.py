"""The replayer's messages on its standard output: magic, two lengths, a JSON header, payload bytes.

The reader runs on the host and trusts nothing: noise between frames is skipped, and what is cut off is
left out and noticed.
"""

from __future__ import annotations

import json
import struct
from typing import Any, Dict, List, NamedTuple

MAGIC = b"\x00LMR-FRAME\x01"
_LENGTHS = struct.Struct("<IQ")
MAX_HEADER = 16 * 1024 * 1024


class Frame(NamedTuple):
    """One message. ``header["kind"]`` is ``case``, ``facts``, ``start`` or ``end``."""

    header: Dict[str, Any]
    payload: bytes


class Frames(List[Frame]):
    """Frames in order. ``whole``: nothing but complete frames, the last one an ``end``."""

    whole: bool = False


def write_frame(header: Dict[str, Any], payload: bytes = b"") -> bytes:
    """A frame as bytes."""
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    return b"".join([MAGIC, _LENGTHS.pack(len(text), len(payload)), text, payload])


def read_frames(data: bytes) -> Frames:
    """Every complete frame in some output. Never raises."""
    frames = Frames()
    position, clean = 0, True
    while True:
        start = data.find(MAGIC, position)
        if start < 0:
            clean = clean and position == len(data)
            break
        clean = clean and start == position
        body = start + len(MAGIC) + _LENGTHS.size
        position = start + 1
        if body > len(data):
            clean = False
            continue
        header_size, payload_size = _LENGTHS.unpack(data[start + len(MAGIC) : body])
        if header_size > MAX_HEADER or body + header_size + payload_size > len(data):
            clean = False
            continue
        try:
            header = json.loads(data[body : body + header_size].decode("utf-8"))
        except (ValueError, RecursionError):
            clean = False
            continue
        if not isinstance(header, dict):
            clean = False
            continue
        position = body + header_size + payload_size
        frames.append(Frame(header, data[body + header_size : position]))
    frames.whole = clean and bool(frames) and frames[-1].header.get("kind") == "end"
    return frames
