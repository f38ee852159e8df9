"""JSON and names as people and file systems have them: with slips, and with bytes that are no text."""

from __future__ import annotations

import json
import os
import re

_PIECE = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])|//[^\n]*', re.DOTALL)


def read_json(data: bytes) -> object:
    """JSON, also with the usual slips of files that were written by hand; None when it is something else.

    A comma too many, a ``//`` comment, a line break inside of a text and another encoding are read over.
    """
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        pass
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    text = _PIECE.sub(lambda match: match[0] if match[0].startswith('"') else "", text)
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def readable(name: str) -> str:
    """A file name in characters that JSON and terminals take: bytes that are no UTF-8 as ``\\xNN``."""
    return os.fsencode(name).decode("utf-8", "backslashreplace") if _has_surrogates(name) else name


def _has_surrogates(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)
