"""Functions that are written out in a document: in a block of code of a README, or in a listing."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import islice

from lmr_author.errors import SourceError
from lmr_author.source import Definition, Module

MAX_LINES = 400
"""Lines of a function that are looked at."""

MAX_ABOVE = 2000
"""Lines above a method in which its class is looked for."""

MAX_FUNCTIONS = 500
"""Functions of a document that are looked at: more of them are a log, or somebody's trap."""
_DEF = re.compile(r"^[ \t]*(?:async )?def \w+\s*\(")
_CLASS = re.compile(r"^[ \t]*class (\w+)")
_END = re.compile(r"^[ \t]*(?:```|~~~)")


def functions(text: str) -> Iterator[tuple[int, str, Definition]]:
    """(line, source, definition) of each function, with its class where that stands above it."""
    if "def " not in text:
        return
    lines = text.splitlines()
    heads = (number for number, line in enumerate(lines) if _DEF.match(line))
    for number in islice(heads, MAX_FUNCTIONS):
        source = textwrap.dedent("\n".join(_block(lines, number)))
        found = _parsed(source, _class_above(lines, number))
        if found is not None:
            yield number + 1, source, found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _block(lines: Sequence[str], start: int) -> list[str]:
    """The lines of a function: to the first that stands no further in, or to the end of its block of code."""
    found = [lines[start]]
    opened = lines[start].count("(") - lines[start].count(")")
    for line in lines[start + 1 : start + MAX_LINES]:
        outside = line.strip() and _indent(line) <= _indent(lines[start])
        if _END.match(line) or (outside and opened <= 0):
            break
        opened += line.count("(") - line.count(")") if opened > 0 else 0
        found.append(line)
    return found


def _class_above(lines: Sequence[str], number: int) -> str:
    """The class that a function is a method of; "" for none."""
    own = _indent(lines[number])
    for line in reversed(lines[max(number - MAX_ABOVE, 0) : number] if own else ()):
        if _END.match(line):
            break
        if line.strip() and _indent(line) < own:
            match = _CLASS.match(line)
            return match[1] if match else ""
    return ""


def _parsed(source: str, owner: str) -> Definition | None:
    """The function; None for what is no Python."""
    if owner:
        source = f"class {owner}:\n{textwrap.indent(source, '    ')}"
    try:
        module = Module.parse(source.encode("utf-8", "replace"), "a document")
    except (SourceError, RecursionError, MemoryError, ValueError):
        return None
    return next((item for item in module.definitions if item.kind == "function"), None)
