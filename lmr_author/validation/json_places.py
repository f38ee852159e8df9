"""Where in the text of a JSON document a value stands that a JSON pointer (RFC 6901) names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def find(text: str, pointer: str) -> tuple[int, int] | None:
    """Start and end (offsets) of what a pointer names: a member with its key, an item, or the whole document.

    None when the text is not JSON up to there, or holds nothing of that name.
    """
    try:
        start, end = _skip(text, 0), len(text.rstrip())
        shown = start
        for token in pointer.split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~")
            found = next((child for child in _children(text, start) if child[0] == name), None)
            if found is None:
                return None
            _, shown, start, end = found
        return shown, end
    except (ValueError, IndexError, RecursionError):
        return None


def _children(text: str, start: int) -> Iterator[tuple[str, int, int, int]]:
    """(name, where it begins with its key, where its value begins and ends) of each member or item."""
    kind = text[start]
    if kind not in "{[":
        return
    place = _skip(text, start + 1)
    number = 0
    while text[place] not in "}]":
        shown, name = place, str(number)
        if kind == "{":
            name, place = _DECODER.raw_decode(text, place)
            place = _skip(text, _skip(text, place) + 1)  # over the colon
        _, end = _DECODER.raw_decode(text, place)
        yield name, shown, place, end
        number += 1
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    assert match is not None
    return match.end()
