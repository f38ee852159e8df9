"""What a file holds that could be code: functions, comments, cells of a notebook, passages of a text."""

from __future__ import annotations

import ast
import html
import itertools
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from lmr_author import files
from lmr_author.errors import SourceError
from lmr_author.leaks import documents, loose
from lmr_author.leaks.lines import squeezed
from lmr_author.leaks.statements import Statement, of_function, of_module
from lmr_author.source import Definition, Module, each

PYTHON = frozenset({".py", ".pyi", ".pyw"})
_PATCH = frozenset({".patch", ".diff", ".rej"})
_MARKUP = frozenset({".html", ".htm", ".xhtml", ".xml", ".svg"})
_ESCAPED = frozenset({".json", ".jsonl", ".yaml", ".yml", ".toml", ".js"})
_CLASS = re.compile(rb"(?m)^class (\w+)")
_METHOD = re.compile(rb"(?m)^([ \t]+)(?:@|(?:async )?def )")
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
        definition: the function, when it is one of a Python file, or written out in a document.
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


def fragments(name: str, data: bytes, worth: Callable[[bytes], bool]) -> Iterator[Fragment]:
    """Everything in a file that could be code.

    Args:
        name: the file's name; its ending says how to read it.
        data: its bytes.
        worth: whether a part of the file is worth being parsed.
    """
    suffix = files.suffix(name)
    if suffix == ".ipynb":
        yield from _notebook(data)
        return
    if suffix in PYTHON or ".py." in name or name.endswith(".py~") or (not suffix and b"def " in data):
        modules = _modules(name, data, worth)
        if modules is not None:
            for module in modules:
                yield from _python(module)
            return
    text = data.decode("utf-8-sig", "replace").replace("\0", "\n")
    if suffix in _PATCH or text.startswith(("diff --git ", "--- ", "Index: ")) or "\n@@ -" in text:
        yield from _patch(text)
    elif suffix in _MARKUP:
        plain = html.unescape(_TAG.sub("", _BREAK.sub("\n", text)))
        yield Fragment("text", "", 0, plain)
    else:
        shown = 0 if b"\0" in data else 1  # an editor counts other lines there
        yield Fragment("text", "", shown, text)
        for line, source, item in documents.functions(text):
            yield Fragment("text", item.qualname, line * shown, source, definition=item)
        if suffix in _ESCAPED and "\\n" in text:
            yield Fragment("text", "", 0, _unescaped(text))


def passages(fragment: Fragment, lines: int, worth: Callable[[bytes], bool]) -> Iterator[Fragment]:
    """The passages of a long text that are worth being taken apart; every other fragment as it is.

    Args:
        lines: of a passage at least. Passages overlap by half, so that a copy of half that length is in one.
    """
    texts = fragment.text.splitlines(keepends=True) if fragment.kind == "text" else []
    if len(texts) <= 2 * lines:
        yield fragment
        return
    first = last = 0  # of the passage that is not yet handed out
    for start in range(0, len(texts), lines // 2):
        end = min(start + lines, len(texts))
        if not worth("".join(texts[start:end]).encode("utf-8", "replace")):
            continue
        if start > last:
            yield from _passage(fragment, texts, first, last)
            first = start
        last = end
    yield from _passage(fragment, texts, first, last)


def _passage(fragment: Fragment, texts: list[str], first: int, last: int) -> Iterator[Fragment]:
    if first < last:
        line = fragment.line + first if fragment.line else 0
        yield Fragment(fragment.kind, fragment.where, line, "".join(texts[first:last]))


def parse(data: bytes, name: str) -> Module | None:
    """A Python 3 file, or None."""
    try:
        return Module.parse(data, name)
    except (SourceError, RecursionError, MemoryError, ValueError):
        return None


def _modules(name: str, data: bytes, worth: Callable[[bytes], bool]) -> list[Module] | None:
    """The functions of a Python file that are worth it, each parsed alone; None when it is not Python 3.

    Parsing these only, and not the file, is what makes a search through a large repository fast. Where one
    does not parse alone (a text with a definition at the left margin, another encoding), the whole file is.
    """
    parts = []
    line, at = 0, 0
    for start, end, owner, tail in _cuts(data):
        if not worth(data[start:end]):
            continue
        line, at = line + data.count(b"\n", at, start), start
        above = b"\n" * (line - 1) + b"class " + owner + b":\n" if owner else b"\n" * line
        module = parse(above + data[start:end] + tail, name)
        if module is None:
            whole = parse(data, name)
            return None if whole is None else [whole]
        parts.append(module)
    return parts


def _cuts(data: bytes) -> Iterator[tuple[int, int, bytes, bytes]]:
    """(start, end, class, what completes it) of definitions at the left margin, and of their methods."""
    heads = _heads(data, 0, len(data), b"")
    for start, end in itertools.pairwise([0, *heads, len(data)]):
        owner = _CLASS.search(data, start, end)
        inner = _METHOD.search(data, owner.end(), end) if owner else None
        if owner is None or inner is None:
            yield start, end, b"", b""
            continue
        methods = _heads(data, owner.end(), end, inner[1])
        yield start, methods[0], b"", inner[1] + b"pass\n"
        yield from ((one, other, owner[1], b"") for one, other in itertools.pairwise([*methods, end]))


def _heads(data: bytes, start: int, end: int, indent: bytes) -> list[int]:
    """Where definitions of one indentation begin, their decorators included."""
    heads: list[int] = []
    decorated = False
    # A line break that has to be there is found ten times as fast as a beginning of a line.
    head = rb"\n%s(@|(?:async )?(?:def|class) )" % re.escape(indent)
    for match in re.finditer(head, b"\n" + data[start:end]):
        if not decorated:
            heads.append(start + match.start())
        decorated = match[1] == b"@"
    return heads


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
    """(first line, text without the #) of each run of comment lines, blank lines between them allowed."""
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
    """(first line, function or class it documents, text) of each text of several lines."""
    owners = {
        id(item.node.body[0].value): item.qualname
        for item in module.definitions
        if isinstance(item.node.body[0], ast.Expr)
    }
    for node in each(module.tree, ast.Constant):
        if isinstance(node.value, str) and "\n" in node.value.strip():
            yield node.lineno, owners.get(id(node), ""), textwrap.dedent(node.value)


def _notebook(data: bytes) -> Iterator[Fragment]:
    """The cells of a notebook; their outputs, too (``function??`` prints the source)."""
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
    """Both sides of a patch: what it takes away, and what it adds."""
    lines = text.splitlines()
    for sign, other in ("-+", "+-"):
        side = ["" if line.startswith((other, "@@", sign * 3)) else line[1:] for line in lines]
        yield Fragment("patch", "removed lines" if sign == "-" else "added lines", 1, "\n".join(side))


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")
