"""Read statements of text that is not a Python file: documents, patches, comments, Python 2, Cython.

Each logical line (brackets closed) is parsed by itself, so that prose, prompts and missing lines around it
do no harm.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import replace

from lmr_author.leaks.statements import Statement, of_all

MAX_LINES = 20_000
"""Longer texts are data: only so many lines are read."""
MAX_JOINED = 40
"""Lines that one statement may have."""
MAX_LENGTH = 4_000
"""Characters that one statement may have."""

_PROMPT = re.compile(r"^\s*(?:>>> ?|\.\.\. ?|In ?\[\d*\]: ?|\.\.\.: ?|\d{1,5}(?:[:|]| {2,}| ?\t))")
_MARKED = re.compile(r"^[ \t]*(?:[#>+*|;!]+|//+|--? )[ \t]*(?:>>> |\.\.\. )?")
_CODE = re.compile(r"[=(\[]|^\s*(?:return|yield|elif|if|for|while|with)\b")
_COMPOUND = re.compile(r"^(?:if|for|while|with|def)\b.*:\s*(?:#.*)?$", re.DOTALL)
_TYPED = re.compile(r"^c?p?def\s+(?:[\w.]+(?:\[[^\]]*\])?[ *]+)+(\w+\s*=.*[^:])$", re.DOTALL)
_STRINGS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|#.*")


def statements(text: str, first_line: int = 1) -> list[Statement]:
    """Return the lines of a text that are Python statements.

    Args:
        first_line: number of the text's first line in its file.
    """
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, piece in _logical_lines(text):
            found += [replace(item, line=first_line + number) for item in _parsed(piece)]
    return found


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number from 0, text) of lines joined until their brackets are closed."""
    lines = [_MARKED.sub("", _PROMPT.sub("", line, 1), 1) for line in text.splitlines()[:MAX_LINES]]
    number = 0
    while number < len(lines):
        piece, count = lines[number], 1
        depth = _depth(piece)
        while (depth > 0 or piece.endswith("\\")) and count < MAX_JOINED and number + count < len(lines):
            following = lines[number + count]
            piece = f"{piece.removesuffix(chr(92))} {following.strip()}"
            depth += _depth(following)
            count += 1
        if depth > 0:  # an unclosed bracket is prose
            piece, count = lines[number], 1
        if len(piece) <= MAX_LENGTH and _CODE.search(piece):
            yield number, piece.strip()
        number += count


def _depth(line: str) -> int:
    bare = _STRINGS.sub("", line)
    return sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))


def _parsed(piece: str) -> list[Statement]:
    """Return the statement that a logical line is; none when it is no Python."""
    piece = piece.removeprefix("async ")
    if piece.startswith("elif"):
        piece = piece[2:]
    if typed := _TYPED.match(piece):  # Cython
        piece = typed[1]
    if _COMPOUND.match(piece):
        piece = re.sub(r":\s*(#.*)?$", ": pass", piece)
    try:
        tree = ast.parse(piece.replace("\0", " "))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [item for item in of_all(tree) if len(item.shape) > 1]
