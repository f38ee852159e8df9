"""Where a function's body is, and how it is exchanged without touching another byte."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lmr_author.errors import SourceError, TargetError
from lmr_author.source.module import NEWLINE, Definition, FunctionNode, Module
from lmr_author.source.tree import children, first_line

_TYPE_COMMENT = re.compile(r"#\s*type:\s*\(")
_TO_COLON = re.compile(r"(?:[^:#]|#[^\r\n]*)*:")
"""From the last part of a header to behind its colon; texts are parts, and there are comments only."""


@dataclass(frozen=True)
class Region:
    """Where a function's body is, in characters of the module's text.

    Attributes:
        start: behind the header's colon.
        end: behind the last character of the body; the newline that follows is outside.
        header_rest: what stands on the header's line behind the colon (a comment), "" for a one-liner.
        indent: white space that body lines start with.
        newline: line ending in use at this place.
        docstring: the docstring statement as written, or None.
        type_comment: a ``# type: (...) -> ...`` line that belongs to the signature, or None.
    """

    start: int
    end: int
    header_rest: str
    indent: str
    newline: str
    docstring: str | None
    type_comment: str | None


def region(module: Module, definition: Definition) -> Region:
    """Where the body of a function is. Raises TargetError for a class."""
    node = definition.node
    if isinstance(node, ast.ClassDef):
        raise TargetError(f"{definition.qualname} in {module.name} is a class", "name one of its methods")
    first, last = node.body[0], node.body[-1]
    start_line = first_line(first)
    colon_line, colon_end = _header_end(module, node)
    rest = module.line_text(colon_line)[colon_end - module.line_start(colon_line) :]
    block = not rest.strip() or rest.lstrip().startswith("#")
    own_indent = _indent_of(module.line_text(node.lineno))
    end, end_line = _statement_end(module, last)
    if block:
        indent = _indent_of(module.line_text(start_line))
    else:
        indent = own_indent + ("\t" if "\t" in own_indent else "    ")
    end = _with_trailing_comments(module, end, end_line, _width(own_indent))
    return Region(
        start=colon_end,
        end=end,
        header_rest=rest.rstrip() if block else "",
        indent=indent,
        newline=newline_after(module, colon_line),
        docstring=_docstring_source(module, node),
        type_comment=_type_comment(module, colon_line, start_line) if block else None,
    )


def region_bytes(module: Module, definition: Definition) -> bytes:
    """The bytes of a function's region, as they stand in the file."""
    where = region(module, definition)
    return module.data[module.byte_offset(where.start) : module.byte_offset(where.end)]


def splice(module: Module, bodies: Mapping[Definition, Sequence[str]]) -> bytes:
    """The file with the bodies of some functions exchanged, everything else byte for byte.

    Args:
        module: the file.
        bodies: for each function the lines of its new body, not indented; its docstring is kept.

    Returns:
        The new file's bytes. The caller decides what a body that does not parse means.
    """
    return splice_regions(
        module,
        {
            definition: module.encode(_new_region(region(module, definition), lines))
            for definition, lines in bodies.items()
        },
    )


def splice_regions(module: Module, regions: Mapping[Definition, bytes]) -> bytes:
    """The file with the regions of some functions replaced by raw bytes (of another version of it)."""
    cuts = []
    for definition, new in regions.items():
        where = region(module, definition)
        cuts.append((module.byte_offset(where.start), module.byte_offset(where.end), new, definition))
    cuts.sort(key=lambda cut: cut[0])
    for (_, end, _, one), (start, _, _, other) in itertools.pairwise(cuts):
        if start < end:
            raise TargetError(
                f"{other.qualname} lies inside {one.qualname} ({module.name})",
                "mask the outer function alone",
            )
    data = module.data
    for start, end, new, _ in reversed(cuts):
        data = data[:start] + new + data[end:]
    return data


def outside(module: Module, definitions: Iterable[Definition]) -> bytes:
    """The file's bytes without the regions of some functions: equal in a golden and its masked copy."""
    return splice_regions(module, dict.fromkeys(definitions, b""))


def _header_end(module: Module, node: FunctionNode) -> tuple[int, int]:
    """Line of the header's colon, and the offset behind it."""
    parts = [
        *children(node.args),
        *getattr(node, "type_params", ()),
        *([node.returns] if node.returns else []),
    ]
    line, column = max(
        ((part.end_lineno, part.end_col_offset) for part in parts), default=(node.lineno, node.col_offset)
    )
    start = module.offset(line, column)
    found = _TO_COLON.match(module.text, start)
    if found is None:
        raise SourceError(
            f"{module.name}:{node.lineno}: cannot find the end of the header of {node.name}", ""
        )
    return line + len(NEWLINE.findall(module.text, start, found.end())), found.end()


def _statement_end(module: Module, last: ast.stmt) -> tuple[int, int]:
    """Where the last statement's line ends (what follows on it belongs to the body), and the line."""
    line = last.end_lineno or last.lineno
    while module.line_text(line).endswith("\\") and line < module.line_count:
        line += 1
    return module.line_start(line) + len(module.line_text(line)), line


def _with_trailing_comments(module: Module, end: int, line: int, own_width: int) -> int:
    """Extend over comment lines below the body that are indented deeper than the function itself."""
    for number in range(line + 1, module.line_count + 1):
        text = module.line_text(number)
        content = text.strip()
        if content and not (content.startswith("#") and _width(_indent_of(text)) > own_width):
            break
        if content:
            end = module.line_start(number) + len(text)
    return end


def _docstring_source(module: Module, node: FunctionNode) -> str | None:
    first = node.body[0]
    if not (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return None
    end_line, end_column = first.end_lineno or first.lineno, first.end_col_offset or 0
    return module.text[module.offset(first.lineno, first.col_offset) : module.offset(end_line, end_column)]


def _type_comment(module: Module, colon_line: int, start_line: int) -> str | None:
    for number in range(colon_line + 1, start_line):
        text = module.line_text(number).strip()
        if _TYPE_COMMENT.match(text):
            return text
    return None


def _new_region(where: Region, lines: Sequence[str]) -> str:
    kept = [text for text in (where.type_comment, where.docstring) if text is not None]
    body = [*kept, *lines]
    return where.header_rest + "".join(where.newline + (where.indent + line if line else "") for line in body)


def newline_after(module: Module, line: int) -> str:
    """The line ending of a line, or of the file's first line when it has none."""
    start = module.line_start(line)
    match = NEWLINE.search(module.text, start) or NEWLINE.search(module.text)
    return match.group() if match else "\n"


def _indent_of(text: str) -> str:
    blank = text[: len(text) - len(text.lstrip(" \t\f"))]
    return blank.rpartition("\f")[2]


def _width(indent: str) -> int:
    return len(indent.expandtabs(8))
