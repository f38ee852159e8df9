"""Statements of text that is not a Python file: documents, patches, comments, Python 2, Cython.

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
"""Lines of a text that are looked at; what is longer is data."""
MAX_JOINED = 40
"""Lines that one statement may have."""

_PROMPT = re.compile(r"^\s*(?:>>> ?|\.\.\. ?|In ?\[\d*\]: ?|\.\.\.: ?|\d{1,5}(?:[:|]| {2,}| ?\t))")
_MARKED = re.compile(r"^[ \t]*(?:[#>+*|;!]+|//+|--? )[ \t]*(?:>>> |\.\.\. )?")
_CODE = re.compile(r"[=(\[]|^\s*(?:return|yield|elif|if|for|while|with)\b")
_COMPOUND = re.compile(r"^(?:async\s+)?(if|for|while|with|def)\b.*:\s*(?:#.*)?$", re.DOTALL)
_TYPED = re.compile(r"^c?p?def\s+(?:[\w.]+(?:\[[^\]]*\])?[ *]+)+(\w+\s*=.*)$", re.DOTALL)
_CAST = re.compile(r"<\s*[\w. ]+\*?\s*>\s*(?=[\w(])")
_STRINGS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|#.*")


def statements(text: str, first_line: int = 1) -> list[Statement]:
    """Every line of a text that is a Python statement.

    Args:
        text: the text.
        first_line: number of its first line in the file it is from.
    """
    found = []
    with warnings.catch_warnings():  # once around all lines, as `source.parse` would around each
        warnings.simplefilter("ignore")
        for number, piece in _logical_lines(text):
            for item in _parsed(piece):
                found.append(replace(item, line=first_line + number))
    return found


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """(number from 0, text) of lines joined until their brackets are closed."""
    lines = [_unmarked(line) for line in text.splitlines()[:MAX_LINES]]
    number = 0
    while number < len(lines):
        piece, count = lines[number], 1
        depth = _depth(piece)
        while (depth > 0 or piece.endswith("\\")) and count < MAX_JOINED and number + count < len(lines):
            following = lines[number + count]
            piece = f"{piece[:-1] if piece.endswith(chr(92)) else piece} {following.strip()}"
            depth += _depth(following)
            count += 1
        if depth > 0 and count > 1:
            piece, count = lines[number], 1
        if len(piece) <= 4000 and _CODE.search(piece):
            yield number, piece.strip()
        number += count


def _unmarked(line: str) -> str:
    line = _PROMPT.sub("", line, count=1)
    return _MARKED.sub("", line, count=1)


def _depth(line: str) -> int:
    bare = _STRINGS.sub("", line)
    return sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))


def _parsed(piece: str) -> list[Statement]:
    """The statement that a logical line is; none when it is no Python."""
    if piece.startswith("elif"):
        piece = piece[2:]
    typed = _TYPED.match(piece)
    if typed and not piece.endswith(":"):
        piece = typed[1]
    for form in dict.fromkeys((piece, _CAST.sub("", piece))):
        if _COMPOUND.match(form):
            form = re.sub(r":\s*(#.*)?$", ": pass", form)
        if form.startswith("async "):
            form = form[6:]
        try:
            tree = ast.parse(form.replace("\0", " "))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return [item for item in of_all(tree) if len(item.shape) > 1]
    return []
