"""Take a file apart into what could be code: functions, comments, cells of a notebook, texts."""

from __future__ import annotations

import ast
import html
import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from lmr_author import files
from lmr_author.code import Definition, Module, each
from lmr_author.errors import SourceError
from lmr_author.leaks import loose
from lmr_author.leaks.lines import squeezed
from lmr_author.leaks.statements import Statement, of_function, of_module

PYTHON = frozenset({".py", ".pyi", ".pyw"})
_PATCH = frozenset({".patch", ".diff", ".rej"})
_MARKUP = frozenset({".html", ".htm", ".xhtml", ".xml", ".svg"})
_ESCAPED = frozenset({".json", ".jsonl", ".yaml", ".yml", ".toml", ".js"})
_COMMENT = re.compile(r"(?m)^[ \t]*#+ ?(.*)$")
_TAG = re.compile(r"<[^<>\n]{0,400}>")
_BREAK = re.compile(r"(?i)<br\s*/?>|</(?:p|div|tr|li|pre|h\d)>")
_MAGIC = re.compile(r"^\s*[%!?].*|^.*\?\??\s*$")


@dataclass(frozen=True)
class Fragment:
    """A piece of a file that may hold a copy.

    Attributes:
        kind: ``code``, ``comments``, ``notebook``, ``patch`` or ``text``.
        where: the function, or the cell of a notebook; "" for the top level or a whole text.
        line: its first line in the file; 0 when it has none (notebooks, archives of lines).
        text: its source.
        definition: the function, when it is one of a Python file.
        parsed: its statements, when it was taken apart as Python already.
    """

    kind: str
    where: str
    line: int
    text: str
    definition: Definition | None = None
    parsed: tuple[Statement, ...] | None = None

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Its statements; for text, those lines that are some."""
        if self.definition is not None and not isinstance(self.definition.node, ast.ClassDef):
            return tuple(of_function(self.definition.node))
        if self.parsed is not None:
            return self.parsed
        return tuple(loose.statements(self.text, self.line or 1))

    @cached_property
    def lines(self) -> set[str]:
        """Its lines without blanks."""
        return {squeezed(line) for line in self.text.splitlines()}

    @cached_property
    def data(self) -> bytes:
        """Its text as bytes, for a quick look."""
        return self.text.encode("utf-8", "replace")


def fragments(name: str, data: bytes) -> Iterator[Fragment]:
    """Yield everything in a file that could be code.

    Args:
        name: the file's name; its ending says how to read it.
        data: its bytes.
    """
    suffix = files.suffix(name)
    if suffix == ".ipynb":
        yield from _notebook(data)
        return
    if suffix in PYTHON or ".py." in name or name.endswith(".py~") or (not suffix and b"def " in data):
        module = parse(data, name)
        if module is not None:
            yield from _python(module)
            return
    text = data.decode("utf-8-sig", "replace").replace("\0", "\n")
    if suffix in _PATCH or text.startswith(("diff --git ", "--- ", "Index: ")) or "\n@@ -" in text:
        yield from _patch(text)
    elif suffix in _MARKUP:
        yield Fragment("text", "", 0, html.unescape(_TAG.sub("", _BREAK.sub("\n", text))))
    else:
        # An editor counts other lines in a file with null bytes.
        yield Fragment("text", "", 0 if b"\0" in data else 1, text)
        if suffix in _ESCAPED and "\\n" in text:
            yield Fragment("text", "", 0, _unescaped(text))


def parse(data: bytes, name: str) -> Module | None:
    """Return a Python 3 file; None for what is none."""
    try:
        return Module.parse(data, name)
    except (SourceError, RecursionError, MemoryError, ValueError):
        return None


def _python(module: Module, kind: str = "code", cell: str = "") -> Iterator[Fragment]:
    top = tuple(of_module(module.tree))
    if top:
        yield Fragment(kind, cell, 1, module.text, parsed=top)
    for item in module.definitions:
        if item.kind == "function":
            text = "\n".join(module.line_text(number) for number in range(item.line, item.end_line + 1))
            where = f"{cell}, {item.qualname}" if cell else item.qualname
            yield Fragment(kind, where, item.line, text, definition=item)
    quiet = "comments" if kind == "code" else kind
    for line, text in _comments(module):
        yield Fragment(quiet, cell, line, text)
    for line, where, text in _strings(module):
        yield Fragment(quiet, where or cell, line, text)


def _comments(module: Module) -> Iterator[tuple[int, str]]:
    """Yield (first line, text without the #) of each run of comment lines, blank lines between them allowed."""
    run: list[str] = []
    start, line, at, end = 0, 1, 0, 0
    for match in _COMMENT.finditer(module.text):
        line += module.text.count("\n", at, match.start())
        at = match.start()
        if run and module.text[end:at].strip():
            yield start, textwrap.dedent("\n".join(run))
            run = []
        start = start if run else line
        run.append(match[1])
        end = match.end()
    if run:
        yield start, textwrap.dedent("\n".join(run))


def _strings(module: Module) -> Iterator[tuple[int, str, str]]:
    """Yield (first line, function or class it documents, text) of each text of several lines."""
    owners = {
        id(item.node.body[0].value): item.qualname
        for item in module.definitions
        if isinstance(item.node.body[0], ast.Expr)
    }
    for node in each(module.tree, ast.Constant):
        if isinstance(node.value, str) and "\n" in node.value.strip():
            yield node.lineno, owners.get(id(node), ""), textwrap.dedent(node.value)


def _notebook(data: bytes) -> Iterator[Fragment]:
    """Yield the cells of a notebook, and their outputs (``function??`` prints the source)."""
    try:
        document = json.loads(data)
        cells = document.get("cells") or [
            cell for sheet in document.get("worksheets", []) for cell in sheet.get("cells", [])
        ]
        entries = [cell for cell in cells if isinstance(cell, dict)]
    except (ValueError, AttributeError, RecursionError, TypeError):
        yield Fragment("notebook", "", 0, _unescaped(data.decode("utf-8", "replace")))
        return
    code = []
    for number, cell in enumerate(entries, 1):
        text = _joined(cell.get("source", cell.get("input", "")))
        where = f"cell {number}"
        if cell.get("cell_type") != "code":
            yield Fragment("notebook", where, 0, text)
            continue
        text = "\n".join("" if _MAGIC.match(line) else line for line in text.splitlines())
        code.append(text)
        module = parse(text.encode("utf-8", "replace"), where)
        if module is None:
            yield Fragment("notebook", where, 0, text)
        else:
            yield from _python(module, "notebook", where)
        yield from (Fragment("notebook", f"{where}, output", 0, shown) for shown in _outputs(cell))
    if len(code) > 1:
        yield Fragment("notebook", "", 0, "\n".join(code))


def _outputs(cell: dict[str, object]) -> Iterator[str]:
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        content = output.get("data") if isinstance(output.get("data"), dict) else output
        text = _joined(output.get("text") or (content or {}).get("text/plain") or "")
        if "\n" in text:
            yield re.sub(r"\x1b\[[0-9;]*m", "", text)


def _joined(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _patch(text: str) -> Iterator[Fragment]:
    """Yield the removed and the added lines of a patch."""
    lines = text.splitlines()
    for sign, other in ("-+", "+-"):
        side = ["" if line.startswith((other, "@@", sign * 3)) else line[1:] for line in lines]
        yield Fragment("patch", "removed lines" if sign == "-" else "added lines", 1, "\n".join(side))


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")
