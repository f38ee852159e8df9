"""Find a function in a Python file and exchange its body, byte for byte: the only splice.

Targets are located with :mod:`ast`, the interpreter's own parser, and cut out of the file's bytes;
everything outside the body is never decoded and encoded again, let alone reformatted
(``docs/decisions/0002-splice-by-bytes.md`` says why this is not a libcst edit).

A function's *region* runs from behind the colon of its header to the end of its body, comments that
belong to the body included. The region is what masking exchanges and unmasking puts back.
"""

from __future__ import annotations

import ast
import difflib
import io
import itertools
import re
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lmr_author.errors import SourceError, TargetError
from lmr_author.model import Target

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
DefinitionNode = FunctionNode | ast.ClassDef

_NEWLINE = re.compile(r"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"
_TYPE_COMMENT = re.compile(r"#\s*type:\s*\(")


@dataclass(frozen=True)
class Definition:
    """A function or class of a module.

    Attributes:
        qualname: dotted path, as in ``Outer.Inner.method`` or ``function.inner``.
        kind: ``"function"`` (async and methods included) or ``"class"``.
        class_name: the leading classes, dotted; "" for a plain or nested function.
        function_name: what follows them.
        line, end_line: of the ``def`` or ``class`` keyword (below its decorators) and its last line, from 1.
        nth: 1 for the first definition of this qualified name in the file, 2 for the second…
        siblings: how many definitions of this qualified name the file has.
    """

    qualname: str
    kind: str
    class_name: str
    function_name: str
    line: int
    end_line: int
    nth: int
    siblings: int
    node: DefinitionNode = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """Last part of the qualified name."""
        return self.qualname.rpartition(".")[2]

    @property
    def docstring(self) -> str | None:
        """The docstring's value, not cleaned; None when there is none."""
        return ast.get_docstring(self.node, clean=False)

    @property
    def is_overload(self) -> bool:
        """Whether it is a ``typing.overload`` stub, which is never what a target means."""
        return any(ast.unparse(item).rpartition(".")[2] == "overload" for item in self.node.decorator_list)


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


class Module:
    """A parsed Python file: its bytes, its text and its definitions."""

    def __init__(self, data: bytes, name: str, text: str, encoding: str, tree: ast.Module) -> None:
        self.data = data
        self.name = name
        self.text = text
        self.tree = tree
        self._encoding = encoding
        self._bom = len(_BOM) if data.startswith(_BOM) else 0

    @classmethod
    def parse(cls, data: bytes, name: str) -> Module:
        """Parse a file's bytes (encoding cookie and BOM honoured). Raises SourceError.

        Args:
            data: the file, as read.
            name: how errors call it, as in ``src/model.py``.
        """
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            encoding = "utf-8" if encoding == "utf-8-sig" else encoding
            text = data[len(_BOM) if data.startswith(_BOM) else 0 :].decode(encoding)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(data, name)
        except SyntaxError as error:
            place = f"{name}:{error.lineno}" if error.lineno else name
            raise SourceError(
                f"{place}: not valid Python 3: {error.msg}",
                "correct the file, or choose a target in another one (Python 2 files cannot be masked)",
            ) from error
        except (UnicodeDecodeError, LookupError, ValueError, RecursionError, MemoryError) as error:
            raise SourceError(
                f"{name}: cannot be read as Python: {error}", "check the file's encoding"
            ) from error
        return cls(data, name, text, encoding, tree)

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """Every function and class, however nested, in file order."""
        found = sorted(_walk(self.tree, ()), key=lambda item: (item[1].lineno, item[1].col_offset))
        totals = Counter(".".join(parts) for parts, _, _ in found)
        seen: Counter[str] = Counter()
        result = []
        for parts, node, classes in found:
            qualname = ".".join(parts)
            seen[qualname] += 1
            result.append(
                Definition(
                    qualname=qualname,
                    kind="class" if isinstance(node, ast.ClassDef) else "function",
                    class_name=".".join(parts[:classes]),
                    function_name=".".join(parts[classes:]),
                    line=node.lineno,
                    end_line=node.end_lineno or node.lineno,
                    nth=seen[qualname],
                    siblings=totals[qualname],
                    node=node,
                )
            )
        return tuple(result)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    def offset(self, line: int, column: int) -> int:
        """Characters before a position as :mod:`ast` gives it (line from 1, column in UTF-8 bytes)."""
        start = self._line_starts[line - 1]
        piece = self.text[start : start + column]
        if piece.isascii():
            return start + column
        return start + len(self.line_text(line).encode("utf-8")[:column].decode("utf-8", "ignore"))

    def line_text(self, line: int) -> str:
        """A line without its line ending, counted from 1 as the interpreter counts."""
        start = self._line_starts[line - 1]
        end = self._line_starts[line] if line < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    @property
    def line_count(self) -> int:
        """Number of lines, an unfinished last one included."""
        return len(self._line_starts)

    def encode(self, text: str) -> bytes:
        """Text in the file's encoding; what it cannot hold is written as ``\\uXXXX``."""
        return text.encode(self._encoding, "backslashreplace")

    def byte_offset(self, offset: int) -> int:
        """Bytes of the file before a character of its text."""
        head = self.text[:offset]
        return self._bom + (
            offset if head.isascii() and self._encoding != "utf-16" else len(self.encode(head))
        )

    def line_start(self, line: int) -> int:
        """Characters before a line, counted from 1."""
        return self._line_starts[line - 1]


def find(module: Module, target: Target) -> Definition:
    """The definition that a target names. Raises TargetError: unknown (did you mean) or ambiguous."""
    same = [item for item in module.definitions if item.qualname == target.qualname]
    if not same:
        raise TargetError(f"no function {target.qualname!r} in {module.name}", suggestion(module, target))
    if target.nth is not None:
        for item in same:
            if item.nth == target.nth:
                return item
        raise TargetError(
            f"{target.qualname} is defined {len(same)} times in {module.name}, there is no #{target.nth}",
            f"lines: {_lines(same)}",
        )
    if target.line is not None:
        for item in same:
            if item.line <= target.line <= item.end_line:
                return item
        raise TargetError(
            f"no {target.qualname} at line {target.line} of {module.name}", f"it is defined at {_lines(same)}"
        )
    real = [item for item in same if not item.is_overload] or same
    if len(real) > 1:
        raise TargetError(
            f"{target.qualname} is defined {len(real)} times in {module.name}: {_lines(real)}",
            f"add #N or a line, as in {target.path}::{target.qualname}#{real[0].nth} or :{real[0].line}",
        )
    return real[0]


def suggestion(module: Module, target: Target) -> str:
    """ "did you mean …" for a name that a module does not define."""
    names = list(dict.fromkeys(item.qualname for item in module.definitions))
    close = [name for name in names if name.rpartition(".")[2] == target.name]
    close += difflib.get_close_matches(target.qualname, names, 3, 0.6)
    close += difflib.get_close_matches(target.name, names, 3, 0.6)
    if not close:
        return f"it defines: {', '.join(names[:8]) or 'nothing'}{', …' if len(names) > 8 else ''}"
    return (
        "did you mean "
        + " or ".join(f"{target.path}::{name}" for name in list(dict.fromkeys(close))[:4])
        + "?"
    )


def methods(module: Module, definition: Definition) -> tuple[Definition, ...]:
    """The functions that a target stands for: itself, or each method of a class (overloads left out)."""
    if definition.kind == "function":
        return (definition,)
    inside = tuple(
        item
        for item in module.definitions
        if item.kind == "function" and item.node in definition.node.body and not item.is_overload
    )
    if not inside:
        raise TargetError(
            f"class {definition.qualname} in {module.name} has no methods", "name a function instead"
        )
    return inside


def region(module: Module, definition: Definition) -> Region:
    """Where the body of a function is. Raises TargetError for a class."""
    node = definition.node
    if isinstance(node, ast.ClassDef):
        raise TargetError(f"{definition.qualname} in {module.name} is a class", "name one of its methods")
    first, last = node.body[0], node.body[-1]
    first_line = min([first.lineno, *(item.lineno for item in getattr(first, "decorator_list", []))])
    colon_line, colon_end = _header_end(module, node, first)
    rest = module.line_text(colon_line)[colon_end - module.line_start(colon_line) :]
    block = not rest.strip() or rest.lstrip().startswith("#")
    own_indent = _indent_of(module.line_text(node.lineno))
    end, end_line = _statement_end(module, last)
    if block:
        indent = _indent_of(module.line_text(first_line))
    else:
        indent = own_indent + ("\t" if "\t" in own_indent else "    ")
    end = _with_trailing_comments(module, end, end_line, _width(own_indent))
    return Region(
        start=colon_end,
        end=end,
        header_rest=rest.rstrip() if block else "",
        indent=indent,
        newline=_newline_after(module, colon_line),
        docstring=_docstring_source(module, node),
        type_comment=_type_comment(module, colon_line, first_line) if block else None,
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


def is_generator(node: FunctionNode) -> bool:
    """Whether a function contains a ``yield`` of its own, which makes it a generator."""
    stack: list[ast.AST] = list(node.body)
    while stack:
        current = stack.pop()
        if isinstance(current, ast.Yield | ast.YieldFrom):
            return True
        if isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            # Decorators, defaults and bases are evaluated in the enclosing scope, and a yield there is ours.
            stack.extend(getattr(current, "decorator_list", []))
            arguments = getattr(current, "args", None)
            if isinstance(arguments, ast.arguments):
                stack.extend([*arguments.defaults, *(item for item in arguments.kw_defaults if item)])
            stack.extend(getattr(current, "bases", []))
            continue
        stack.extend(ast.iter_child_nodes(current))
    return False


def matching(golden: Module, goal: Module, qualname: str) -> tuple[Definition, Definition] | None:
    """The target's definitions in the golden and in the goal file, of which only a name is known.

    Of several definitions of the name (``#2``), the one whose region differs is meant; they are
    paired by their order. None when either file lacks it, or the pair cannot be told.
    """
    ours = [item for item in golden.definitions if item.qualname == qualname]
    theirs = [item for item in goal.definitions if item.qualname == qualname]
    if not ours or len(ours) != len(theirs):
        return None
    pairs = [pair for pair in zip(ours, theirs, strict=True) if pair[0].kind == pair[1].kind == "function"]
    if len(pairs) == 1:
        return pairs[0]
    differing = [pair for pair in pairs if region_bytes(golden, pair[0]) != region_bytes(goal, pair[1])]
    if len(differing) == 1:
        return differing[0]
    real = [pair for pair in pairs if not pair[0].is_overload]
    return real[0] if len(real) == 1 else None


def _walk(
    node: ast.AST, parts: tuple[str, ...], classes: int = 0
) -> Iterator[tuple[tuple[str, ...], DefinitionNode, int]]:
    """Yield (qualified name parts, node, number of leading classes) for every definition below a node."""
    stack: list[tuple[ast.AST, tuple[str, ...], int]] = [(node, parts, classes)]
    while stack:
        current, above, leading = stack.pop()
        for child in ast.iter_child_nodes(current):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                own = (*above, child.name)
                is_class = isinstance(child, ast.ClassDef)
                count = len(own) if is_class and leading == len(above) else leading
                # A class is its own leading class only for what it holds; its own name is the function part.
                yield own, child, leading
                stack.append((child, own, count))
            elif not isinstance(child, ast.expr):
                stack.append((child, above, leading))


def _header_end(module: Module, node: FunctionNode, first: ast.stmt) -> tuple[int, int]:
    """Line of the header's colon, and the offset behind it."""
    start = module.offset(node.lineno, node.col_offset)
    decorators = getattr(first, "decorator_list", [])
    stop_line = min([first.lineno, *(item.lineno for item in decorators)])
    stop = module.line_start(stop_line) if decorators else module.offset(first.lineno, first.col_offset)
    lines = [piece + "\n" for piece in _NEWLINE.split(module.text[start:stop])]
    depth, found = 0, (0, 0)
    try:
        for token in tokenize.generate_tokens(iter(lines).__next__):
            if token.type != tokenize.OP:
                continue
            if token.string in "([{":
                depth += 1
            elif token.string in ")]}":
                depth -= 1
            elif token.string == ":" and depth == 0:
                found = token.end
    except (tokenize.TokenError, IndentationError):
        pass  # the piece ends in the middle of the file; its header was complete
    row, column = found
    if not row:
        raise SourceError(
            f"{module.name}:{node.lineno}: cannot find the end of the header of {node.name}", ""
        )
    line = node.lineno + row - 1
    return line, (start + column if row == 1 else module.line_start(line) + column)


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


def _type_comment(module: Module, colon_line: int, first_line: int) -> str | None:
    for number in range(colon_line + 1, first_line):
        text = module.line_text(number).strip()
        if _TYPE_COMMENT.match(text):
            return text
    return None


def _new_region(where: Region, lines: Sequence[str]) -> str:
    kept = [text for text in (where.type_comment, where.docstring) if text is not None]
    body = [*kept, *lines]
    return where.header_rest + "".join(where.newline + (where.indent + line if line else "") for line in body)


def _newline_after(module: Module, line: int) -> str:
    """The line ending of a line, or of the file's first line when it has none."""
    start = module.line_start(line)
    match = _NEWLINE.search(module.text, start) or _NEWLINE.search(module.text)
    return match.group() if match else "\n"


def _indent_of(text: str) -> str:
    blank = text[: len(text) - len(text.lstrip(" \t\f"))]
    return blank.rpartition("\f")[2]


def _width(indent: str) -> int:
    return len(indent.expandtabs(8))


def _lines(definitions: Iterable[Definition]) -> str:
    return ", ".join(f"line {item.line}" for item in definitions)
