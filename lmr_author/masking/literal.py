"""A docstring as Python source: text in, the lines of a literal out."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def clean_docstring(text: str) -> str:
    """A docstring's text as `inspect.cleandoc` would give it back: no margin, no blanks around it or behind
    its lines.
    """
    lines = (line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    cleaned = inspect.cleandoc("\n".join(lines)).strip()
    # Text whose first line stood alone has a margin only now.
    return inspect.cleandoc(cleaned)


def docstring_lines(text: str, can_hold: Callable[[str], bool] = lambda text: True) -> list[str]:
    """The lines of a docstring literal, not indented, whose cleaned value is ``clean_docstring(text)``.

    Args:
        text: what the docstring says; not empty.
        can_hold: whether the file's encoding has every character of a text. What it has not is later
            written as ``\\uXXXX``, which a raw literal would not understand.
    """
    text = clean_docstring(text)
    several = "\n" in text
    fits_raw = '"""' not in text and not _CONTROL.search(text) and can_hold(text)
    if "\\" in text and fits_raw and (several or not text.endswith(('"', "\\"))):
        prefix = "r"
    else:
        prefix = ""
        body = text if several else text.rstrip('"')
        closing = len(text) - len(body)
        text = body.replace("\\", "\\\\").replace('"""', r"\"\"\"") + r"\"" * closing
        text = _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", text)
    lines = f'{prefix}"""{text}'.split("\n")
    if several:
        return [*lines, '"""']
    return [lines[0] + '"""']
