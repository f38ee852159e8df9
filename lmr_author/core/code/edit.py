"""Replace function bodies: libcst edits the text of one function, the rest of the file is copied byte for byte.

A whole file that libcst writes back is not the same file (lone CR, mixed line ends, form feeds). So only the lines of
the function, which :mod:`ast` names, go through it; a check of the result is the caller's.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from lmr_author.core.code.module import NEWLINE, Definition, Module, Region, indent_of
from lmr_author.core.code.tree import first_line
from lmr_author.core.errors import TargetError

if TYPE_CHECKING:
    from lmr_author.core.code.function_text import FunctionText


def region(module: Module, definition: Definition) -> Region:
    """Find the body of a function. Raises TargetError for a class, SourceError for what libcst cannot read."""
    return _read(module, definition).region


def region_bytes(module: Module, definition: Definition) -> bytes:
    where = region(module, definition)
    return module.data[module.byte_offset(where.start) : module.byte_offset(where.end)]


def splice(module: Module, bodies: Mapping[Definition, Sequence[str]]) -> bytes:
    """Return the file with the bodies of some functions replaced, everything else byte for byte.

    ``bodies``: the lines of each new body, not indented; docstrings are kept. Raises SourceError if not Python.
    """
    cuts = []
    for definition, lines in bodies.items():
        text = _read(module, definition)
        cuts.append((text.region.start, text.region.end, module.encode(text.with_body(lines)), definition))
    return _replaced(module, cuts)


def splice_regions(module: Module, regions: Mapping[Definition, bytes]) -> bytes:
    """Return the file with the regions of some functions replaced by raw bytes (of another version of it)."""
    cuts = []
    for definition, new in regions.items():
        old = region(module, definition)
        cuts.append((old.start, old.end, new, definition))
    return _replaced(module, cuts)


def outside(module: Module, definitions: Iterable[Definition]) -> bytes:
    """Return the file's bytes without the regions of some functions: equal in a golden and its masked copy."""
    return splice_regions(module, dict.fromkeys(definitions, b""))


def body_from(source: Module, own: Definition, module: Module, definition: Definition) -> bytes:
    """Return the region of a function of another module, indented for its place in a module."""
    theirs, ours = region(source, own), region(module, definition)
    first = len(NEWLINE.findall(source.text, 0, theirs.start)) + 1
    head, *below = NEWLINE.split(source.text[theirs.start : theirs.end])
    lines = indented(source, first + 1, first + len(below), theirs.indent, ours.indent)
    return module.encode(ours.newline.join([head, *lines]))


def body_of(source: Module, statements: Sequence[ast.stmt], module: Module, definition: Definition) -> bytes:
    """Return a function's region with statements of another module, to its end, below the docstring that it has."""
    ours, first = region(module, definition), first_line(statements[0])
    old = source.line_text(first)[: statements[0].col_offset].rpartition("\f")[2]
    head = [ours.indent + part for part in (ours.type_comment, ours.docstring) if part is not None]
    lines = indented(source, first, source.line_count, old, ours.indent)
    return module.encode(ours.newline.join([ours.header_rest, *head, *lines]).rstrip())


def statement_text(module: Module, statement: ast.stmt) -> str:
    """Return the source of a statement, its decorators included, not indented."""
    first, last = first_line(statement), statement.end_lineno or statement.lineno
    lines = indented(module, first, last, indent_of(module.line_text(first)), "")
    end = module.offset(last, statement.end_col_offset or 0) - module.line_start(last)
    lines[-1] = lines[-1].removesuffix(module.line_text(last)[end:])
    return "\n".join(lines)


def insert_above(module: Module, definition: Definition, texts: Sequence[str], *, at_top: bool) -> bytes:
    """Return the file with statements (not indented) above a function, or the statement at the top that holds it."""
    node: ast.stmt = definition.node
    if at_top:
        for statement in module.tree.body:
            if statement.lineno <= definition.line:
                node = statement
    line = first_line(node)
    indent, newline = indent_of(module.line_text(line)), region(module, definition).newline
    chunk = ""
    for text in texts:
        new = Module.parse(text.encode(), "a statement")
        chunk += newline.join(indented(new, 1, new.line_count, "", indent)) + newline * 2
    at = module.byte_offset(module.line_start(line))
    return module.data[:at] + module.encode(chunk) + module.data[at:]


def indented(module: Module, first: int, last: int, old: str, new: str) -> list[str]:
    """Return lines of a module with another indentation in place of an old one; inside strings nothing moves."""
    inside = _lines_inside_strings(module.tree)
    lines = []
    for number in range(first, last + 1):
        line = module.line_text(number)
        if number in inside:
            lines.append(line)
        elif not line.strip():
            lines.append("")
        else:
            own = indent_of(line) + line.lstrip(" \t\f")
            lines.append(new + (own.removeprefix(old) if own.startswith(old) else own.lstrip(" \t")))
    return lines


def _lines_inside_strings(tree: ast.AST) -> set[int]:
    """Return the lines that begin inside of a string: their indentation is part of its value."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        if isinstance(node, ast.JoinedStr) or isinstance(node.value, str | bytes):
            lines.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
    return lines


def _replaced(module: Module, cuts: list[tuple[int, int, bytes, Definition]]) -> bytes:
    cuts.sort(key=lambda cut: cut[0])
    for (_, end, _, outer), (start, _, _, inner) in itertools.pairwise(cuts):
        if start < end:
            raise TargetError(
                f"{inner.qualname} lies inside {outer.qualname} ({module.name})",
                "mask the outer function alone",
            )
    data = module.data
    for start, end, new, _ in reversed(cuts):
        data = data[: module.byte_offset(start)] + new + data[module.byte_offset(end) :]
    return data


def _read(module: Module, definition: Definition) -> FunctionText:
    # libcst takes 0.2 s to import, and the index's processes, which only read, run without installed packages.
    from lmr_author.core.code.function_text import FunctionText

    if definition not in module.functions:
        module.functions[definition] = FunctionText(module, definition)
    return module.functions[definition]
