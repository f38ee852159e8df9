"""Moving lines of code to another indentation, without touching what is inside of strings."""

from __future__ import annotations

import io
import tokenize

from lmr_author.code import Module


def shifted(module: Module, start: int, end: int, old: str, new: str, newline: str) -> str:
    """Some characters of a module, their lines (but the first) moved from one indentation to another.

    Args:
        start, end: in characters of the module's text; the first line may begin anywhere.
        old: what the lines begin with.
        new: what they are to begin with.
        newline: how lines are to end.
    """
    inside = _lines_inside_strings(module.text)
    number = module.text.count("\n", 0, start) + 1
    result = []
    for offset, line in enumerate(module.text[start:end].split("\n")):
        if offset == 0 or number + offset in inside:
            result.append(line)
        elif not line.strip():
            result.append("")
        else:
            result.append(new + (line[len(old) :] if line.startswith(old) else line.lstrip(" \t")))
    return newline.join(result)


def _lines_inside_strings(text: str) -> set[int]:
    """Numbers of the lines that begin inside of a string."""
    found: set[int] = set()
    opened: list[int] = []
    starts = {getattr(tokenize, name, -1) for name in ("FSTRING_START", "TSTRING_START")}
    ends = {getattr(tokenize, name, -1) for name in ("FSTRING_END", "TSTRING_END")}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING:
                found.update(range(token.start[0] + 1, token.end[0] + 1))
            elif token.type in starts:
                opened.append(token.start[0])
            elif token.type in ends and opened:
                found.update(range(opened.pop() + 1, token.end[0] + 1))
    except (tokenize.TokenError, IndentationError):
        pass  # it was parsed, so only its very end can be odd
    return found
