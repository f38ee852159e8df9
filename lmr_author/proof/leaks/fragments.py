"""Split a file into pieces of possible code: functions, comments, cells of a notebook, texts.

Text that is not a Python file (documents, patches, comments, Python 2, Cython) is parsed one logical line (brackets
closed) at a time, so that prose, prompts and missing lines do not matter.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from lmr_author.core import files
from lmr_author.core.code import Definition, Module, each
from lmr_author.core.errors import SourceError
from lmr_author.core.parsing import NotParsed, json_data
from lmr_author.proof.leaks.statements import Statement, of_function, of_module

_PYTHON_NAME = re.compile(r"(?i:\.py[iw]?\Z)|\.py\.|\.py~\Z")
MAX_LINES = 20_000
"""Longer texts are data: the rest is not read."""
MAX_JOINED, MAX_LENGTH = 40, 4_000
"""Most lines and characters of one statement in a text."""

_PATCH = frozenset({".patch", ".diff", ".rej"})
_COMMENT = re.compile(r"[ \t\f]*#+ ?(.*)")
_MAGIC = re.compile(r"^[^\S\n]*[%!?].*|^.*\?[^\S\n]*$", re.MULTILINE)
_PROMPT = re.compile(r"^\s*(?:>>> ?|\.\.\. ?|In ?\[\d*\]: ?|\.\.\.: ?|\d{1,5}(?:[:|]| {2,}| ?\t))")
_MARKED = re.compile(r"^[ \t]*(?:[#>+*|;!]+|//+|--? )[ \t]*(?:>>> |\.\.\. )?")
_CODE = re.compile(r"[=(\[]|^\s*(?:return|yield|elif|if|for|while|with)\b")
_COMPOUND = re.compile(r"^(?:if|for|while|with|def)\b.*:\s*(?:#.*)?$", re.DOTALL)
_STRINGS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|#.*")
_LINE_MARK = re.compile(r"^[\s#>+\-*/|;!\"']+")


@dataclass(frozen=True)
class Fragment:
    """A piece of a file that may contain a copy.

    Attributes:
        kind: ``code``, ``comments``, ``notebook``, ``patch`` or ``text``.
        where: the function, or the cell of a notebook; "" for the top level or a whole text.
        line: its first line in the file; 0 if unknown (notebooks).
        definition: the function of a Python file, or None.
        parsed: its statements, if already parsed as Python.
    """

    kind: str
    where: str
    line: int
    text: str
    definition: Definition | None = None
    parsed: tuple[Statement, ...] | None = None

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        if self.definition is not None:
            return tuple(of_function(self.definition.function))
        return self.parsed if self.parsed is not None else tuple(loose_statements(self.text, self.line or 1))

    @property
    def name(self) -> str:
        return self.definition.name if self.definition else ""

    @property
    def owner(self) -> str:
        return f".{self.definition.qualname}".split(".")[-2] if self.definition else ""

    @cached_property
    def lines(self) -> set[str]:
        return {squeezed(line) for line in self.text.splitlines()}

    @cached_property
    def data(self) -> bytes:
        return self.text.encode("utf-8", "replace")


def fragments(name: str, data: bytes) -> Iterator[Fragment]:
    suffix = files.suffix(name)
    if suffix == ".ipynb":
        yield from _notebook(data)
        return
    if _PYTHON_NAME.search(name) or (not suffix and b"def " in data):
        module = parse(data, name)
        if module is not None:
            yield from _python(module)
            return
    text = data.decode("utf-8-sig", "replace").replace("\0", "\n")
    if suffix in _PATCH or text.startswith(("diff --git ", "--- ", "Index: ")) or "\n@@ -" in text:
        lines = text.splitlines()
        for sign, other, where in (("-", "+", "removed lines"), ("+", "-", "added lines")):
            side = ["" if line.startswith((other, "@@", sign * 3)) else line[1:] for line in lines]
            yield Fragment("patch", where, 1, "\n".join(side))
    else:
        # Editors count lines differently in a file with null bytes.
        yield Fragment("text", "", 0 if b"\0" in data else 1, text)


def parse(data: bytes, name: str) -> Module | None:
    try:
        return Module.parse(data, name)
    except (SourceError, RecursionError, MemoryError, ValueError):
        return None


def _python(module: Module, kind: str = "code", cell: str = "") -> Iterator[Fragment]:
    if top := tuple(of_module(module.tree, definitions=False)):
        yield Fragment(kind, cell, 1, module.text, parsed=top)
    owners = {}
    for definition in module.definitions:
        owners[id(definition.node.body[0])] = definition.qualname
        if definition.kind == "function":
            text = "\n".join(_lines(module, definition.line, definition.end_line))
            where = f"{cell}, {definition.qualname}" if cell else definition.qualname
            yield Fragment(kind, where, definition.line, text, definition=definition)
    quiet = "comments" if kind == "code" else kind
    matches = [_COMMENT.match(line) for line in _lines(module, 1, module.line_count)]
    if any(matches):
        yield Fragment(quiet, cell, 1, "\n".join(match[1] if match else "" for match in matches))
    documented = {id(node.value): owners.get(id(node), "") for node in each(module.tree, ast.Expr)}
    for node in each(module.tree, ast.Constant):
        if isinstance(node.value, str) and "\n" in node.value.strip():
            where = documented.get(id(node)) or cell
            yield Fragment(quiet, where, node.lineno, textwrap.dedent(node.value))


def _lines(module: Module, first: int, last: int) -> Iterator[str]:
    return map(module.line_text, range(first, last + 1))


def _notebook(data: bytes) -> Iterator[Fragment]:
    try:
        entries = [cell for cell in json_data(data)["cells"] if isinstance(cell, dict)]
    except (NotParsed, KeyError, TypeError):  # damaged, or of an older format
        quoted = re.split(r'(?<!\\)"', data.decode("utf-8", "replace"))
        plain = [text.replace("\\n", "\n").replace('\\"', '"') for text in quoted if "\\n" in text]
        yield Fragment("notebook", "", 0, "\n".join(plain))
        return
    code = []
    for number, cell in enumerate(entries, 1):
        source, where = cell.get("source", ""), f"cell {number}"
        text = "".join(map(str, source)) if isinstance(source, list) else str(source)
        module = None
        if cell.get("cell_type") == "code":
            text = _MAGIC.sub("", text)
            code.append(text)
            module = parse(text.encode("utf-8", "replace"), where)
        if module is None:
            yield Fragment("notebook", where, 0, text)
        else:
            yield from _python(module, "notebook", where)
    if len(code) > 1:
        yield Fragment("notebook", "", 0, "\n".join(code))


# statements in text


def loose_statements(text: str, first_line: int = 1) -> list[Statement]:
    statements = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, piece in _logical_lines(text):
            for statement in _parsed(piece):
                statements.append(replace(statement, line=first_line + number))
    return statements


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
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
    piece = piece.removeprefix("async ")
    if piece.startswith("elif"):
        piece = piece[2:]
    if _COMPOUND.match(piece):
        piece = re.sub(r":\s*(#.*)?$", ": pass", piece)
    try:
        tree = ast.parse(piece.replace("\0", " "))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [statement for statement in of_module(tree, definitions=True) if len(statement.shape) > 1]


# lines of comments


def squeezed(line: str) -> str:
    """Return a line of code without spaces and without leading comment, quote or patch marks."""
    return "".join(_LINE_MARK.sub("", line, count=1).split())


def is_telling(line: str) -> bool:
    """Return whether a line (without spaces) is distinctive: long enough, and a computation."""
    return len(line) >= 10 and bool(re.search(r"[=(\[.]", line)) and bool(re.search(r"[A-Za-z_]{2}", line))


def is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")
