"""Where in the text of a JSON document the values stand, by JSON pointer (RFC 6901)."""

from __future__ import annotations

import json
import re

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()

Places = dict[str, tuple[int, int]]
"""Pointer → start and end (offsets) of a member with its key, of an item, or of the whole document."""


def places(text: str) -> Places:
    """The places of all values of a document, in one pass; of what is no JSON, those up to there."""
    found: Places = {}
    try:
        start = _skip(text, 0)
        found[""] = start, _value(text, start, "", found)
    except (ValueError, IndexError, RecursionError):
        pass
    return found


def _value(text: str, start: int, pointer: str, found: Places) -> int:
    """Where the value that starts here ends; what is in it is added to what was found."""
    kind = text[start]
    if kind not in "{[":
        return _DECODER.raw_decode(text, start)[1]
    place = _skip(text, start + 1)
    number = 0
    while text[place] not in "}]":
        shown, name = place, str(number)
        if kind == "{":
            name, place = _DECODER.raw_decode(text, place)
            place = _skip(text, _skip(text, place) + 1)  # over the colon
        below = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
        end = _value(text, place, below, found)
        found[below] = shown, end
        number += 1
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return place + 1


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    assert match is not None
    return match.end()
