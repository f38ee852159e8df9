"""Python files as modules with definitions, and the definition that a target means."""

from __future__ import annotations

import ast
import difflib
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.core import files
from lmr_author.core.code.tree import children, is_same, parse
from lmr_author.core.errors import SourceError, TargetError
from lmr_author.core.task import Implementation, Target
from lmr_author.core.texts import did_you_mean

if TYPE_CHECKING:
    from lmr_author.core.code.function_text import FunctionText

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
DefinitionNode = FunctionNode | ast.ClassDef

NEWLINE = re.compile(r"\r\n|\r|\n")
"""The ends of lines that the interpreter counts."""

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Definition:
    """A function or class of a module.

    Attributes:
        qualname: dotted path, as in ``Outer.Inner.method`` or ``function.inner``.
        kind: ``"function"`` (async and methods included) or ``"class"``.
        class_name: the leading classes, dotted; "" for a plain or nested function. ``function_name`` follows them.
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
    def function(self) -> FunctionNode:
        """Its node. Raises TargetError for a class."""
        if isinstance(self.node, ast.ClassDef):
            raise TargetError(f"{self.qualname} is a class", "name one of its methods")
        return self.node

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]

    @property
    def receiver(self) -> str:
        """The name by which a method knows its object or class; "" for a function."""
        if not self.class_name or "." in self.function_name:
            return ""
        first = [*self.function.args.posonlyargs, *self.function.args.args][:1]
        is_static = "staticmethod" in map(ast.unparse, self.node.decorator_list)
        return first[0].arg if first and not is_static else ""

    @property
    def label(self) -> str:
        """The qualified name, with ``#2`` for the second definition of it in the file."""
        return self.qualname + (f"#{self.nth}" if self.nth > 1 else "")

    @property
    def docstring(self) -> str | None:
        """The docstring's value, not cleaned; None when there is none."""
        return ast.get_docstring(self.node, clean=False)

    @property
    def docstring_lines(self) -> range:
        if self.docstring is None:
            return range(0)
        first = self.node.body[0]
        return range(first.lineno, (first.end_lineno or first.lineno) + 1)

    @property
    def statements(self) -> list[ast.stmt]:
        return self.node.body[self.docstring is not None :]

    @property
    def is_overload(self) -> bool:
        """True for a stub of ``typing.overload``, which is never a target."""
        names = [ast.unparse(decorator) for decorator in self.node.decorator_list]
        return any(name.rpartition(".")[2] == "overload" for name in names)


@dataclass(frozen=True)
class Region:
    """A function's body, in characters of the module's text.

    Attributes:
        start: behind the header's colon.
        end: behind the last character of the body and of its comments; the newline that follows is outside.
        header_rest: the comment behind the colon, with the blanks before it; "" for a one-liner.
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
        self.functions: dict[Definition, FunctionText] = {}
        """Functions that libcst has read, which takes long."""
        self._encoding = encoding
        self._bom = len(_BOM) if data.startswith(_BOM) else 0

    @classmethod
    def parse(cls, data: bytes, name: str) -> Module:
        """Parse a file's bytes (encoding cookie and BOM honoured); errors call it ``name``. Raises SourceError."""
        if b"\0" in data:
            raise SourceError(
                f"{name}: not Python source: it contains null bytes (a binary file, or UTF-16)",
                "name a Python source file, saved as UTF-8",
            )
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            encoding = "utf-8" if encoding == "utf-8-sig" else encoding
            text = data[len(_BOM) if data.startswith(_BOM) else 0 :].decode(encoding)
            tree = parse(data, name)
        except SyntaxError as error:
            where = f"{name}:{error.lineno}" if error.lineno else name
            here = ".".join(map(str, sys.version_info[:2]))
            raise SourceError(
                f"{where}: not valid Python {here}: {error.msg}",
                "choose a target in another file, or install lmr-author under a newer Python if the code needs one "
                "(Python 2 files cannot be masked)",
            ) from error
        except (RecursionError, MemoryError) as error:
            raise SourceError(
                f"{name}: an expression in it is nested too deeply for the interpreter's parser",
                "choose a target in another file",
            ) from error
        except (UnicodeDecodeError, LookupError, ValueError) as error:
            raise SourceError(
                f"{name}: cannot be read as Python: {error}",
                "Python reads UTF-8 unless the first line names another encoding: # coding: latin-1",
            ) from error
        return cls(data, name, text, encoding, tree)

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """Every function and class, however nested, in file order."""
        nodes = sorted(_walk(self.tree), key=lambda walked: (walked[1].lineno, walked[1].col_offset))
        totals = Counter(".".join(parts) for parts, _, _ in nodes)
        numbers: Counter[str] = Counter()
        result = []
        for parts, node, classes in nodes:
            qualname = ".".join(parts)
            numbers[qualname] += 1
            result.append(
                Definition(
                    qualname=qualname,
                    kind="class" if isinstance(node, ast.ClassDef) else "function",
                    class_name=".".join(parts[:classes]),
                    function_name=".".join(parts[classes:]),
                    line=node.lineno,
                    end_line=node.end_lineno or node.lineno,
                    nth=numbers[qualname],
                    siblings=totals[qualname],
                    node=node,
                )
            )
        return tuple(result)

    def owner(self, method: Definition) -> Definition | None:
        """Return the class of a method; None for a function."""
        for definition in self.definitions:
            if definition.kind == "class" and definition.qualname == method.class_name:
                return definition
        return None

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in NEWLINE.finditer(self.text))]

    def offset(self, line: int, column: int) -> int:
        """Characters before a position as :mod:`ast` gives it (line from 1, column in UTF-8 bytes)."""
        start = self._line_starts[line - 1]
        piece = self.text[start : start + column]
        if piece.isascii():
            return start + column
        return start + len(self.line_text(line).encode("utf-8")[:column].decode("utf-8", "ignore"))

    def line_text(self, line: int) -> str:
        """Return a line without its line ending, counted from 1 as the interpreter counts."""
        start = self._line_starts[line - 1]
        end = self._line_starts[line] if line < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    @property
    def line_count(self) -> int:
        return len(self._line_starts)

    def encode(self, text: str) -> bytes:
        """Return text in the file's encoding; what it cannot hold is written as ``\\uXXXX``."""
        return text.encode(self._encoding, "backslashreplace")

    def can_hold(self, text: str) -> bool:
        try:
            text.encode(self._encoding)
        except UnicodeEncodeError:
            return False
        return True

    def byte_offset(self, offset: int) -> int:
        """Return the bytes of the file before a character of its text."""
        head = self.text[:offset]
        return self._bom + (offset if head.isascii() else len(self.encode(head)))

    def line_start(self, line: int) -> int:
        return self._line_starts[line - 1]


def newline_after(module: Module, line: int) -> str:
    """Return the line ending of a line, or of the file's first line when it has none."""
    match = NEWLINE.search(module.text, module.line_start(line)) or NEWLINE.search(module.text)
    return match.group() if match else "\n"


def indent_of(line: str) -> str:
    """Return a line's indentation. What is before a form feed does not count: that sets the column back to 0."""
    blank = line[: len(line) - len(line.lstrip(" \t\f"))]
    return blank.rpartition("\f")[2]


def _walk(tree: ast.Module) -> Iterator[tuple[tuple[str, ...], DefinitionNode, int]]:
    """Yield (qualified name parts, node, number of leading classes) for every definition of a module."""
    stack: list[tuple[ast.AST, tuple[str, ...], int]] = [(tree, (), 0)]
    while stack:
        current, above, leading = stack.pop()
        for child in children(current):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                own = (*above, child.name)
                is_class = isinstance(child, ast.ClassDef)
                count = len(own) if is_class and leading == len(above) else leading
                # A class is its own leading class only for what it holds; its own name is the function part.
                yield own, child, leading
                stack.append((child, own, count))
            elif not isinstance(child, ast.expr):
                stack.append((child, above, leading))


def find(module: Module, target: Target) -> Definition:
    """Return the definition that a target names. Raises TargetError: unknown (did you mean) or ambiguous."""
    same = [definition for definition in module.definitions if definition.qualname == target.qualname]
    if not same:
        raise TargetError(f"no function {target.qualname!r} in {module.name}", _suggestion(module, target))
    if target.nth is not None:
        for definition in same:
            if definition.nth == target.nth:
                return definition
        raise TargetError(
            f"{target.qualname} is defined {len(same)} times in {module.name}, there is no #{target.nth}",
            f"lines: {_lines(same)}",
        )
    if target.line is not None:
        for definition in same:
            if definition.line <= target.line <= definition.end_line:
                return definition
        raise TargetError(
            f"no {target.qualname} at line {target.line} of {module.name}", f"it is defined at {_lines(same)}"
        )
    real = [definition for definition in same if not definition.is_overload] or same
    if len(real) > 1:
        raise TargetError(
            f"{target.qualname} is defined {len(real)} times in {module.name}: {_lines(real)}",
            f"add #N or a line, as in {target.path}::{target.qualname}#{real[0].nth} or :{real[0].line}",
        )
    return real[0]


def meant(repository: Path, target: Target, masked: Sequence[Implementation]) -> list[Implementation]:
    """Return the masked functions of a target's name that its number or line selects; all where it has neither."""
    nth = target.nth
    if target.line is not None:
        data = files.inside(repository, target.path).read_bytes()
        nth = find(Module.parse(data, target.path), target).nth
    return [entry for entry in masked if nth is None or entry.nth in (None, nth)]


def number(module: Module, definition: Definition) -> int | None:
    """Return the number of a definition among those of its name; None for the only one besides overloads."""
    same = 0
    for other in module.definitions:
        is_namesake = (other.qualname, other.kind) == (definition.qualname, definition.kind)
        same += is_namesake and not other.is_overload
    return definition.nth if same > 1 else None


def _suggestion(module: Module, target: Target) -> str:
    names = list(dict.fromkeys(definition.qualname for definition in module.definitions))
    close = [name for name in names if name.rpartition(".")[2] == target.name]
    close += difflib.get_close_matches(target.qualname, names, 3, 0.6)
    last = {name.rpartition(".")[2]: name for name in reversed(names)}
    close += [last[name] for name in difflib.get_close_matches(target.name, last, 3, 0.6)]
    nodes = [f"{target.path}::{name}" for name in dict.fromkeys(close)]
    defined = f"it defines: {', '.join(names[:8]) or 'nothing'}{', …' if len(names) > 8 else ''}"
    return did_you_mean(nodes, defined)


def methods(module: Module, definition: Definition) -> tuple[Definition, ...]:
    """Return the functions that a target stands for: itself, or each method of a class (overloads left out).

    Methods below an ``if`` of the class are included, those of nested classes are not.
    """
    if definition.kind == "function":
        return (definition,)
    inside = []
    for function in module.definitions:
        if function.kind != "function" or function.is_overload:
            continue
        is_inside = definition.line <= function.line <= definition.end_line
        if is_inside and function.qualname == f"{definition.qualname}.{function.name}":
            inside.append(function)
    if not inside:
        raise TargetError(
            f"class {definition.qualname} in {module.name} has no methods", "name a function instead"
        )
    return tuple(inside)


def matching(
    golden: Module, goal: Module, qualname: str, nth: int | None = None
) -> tuple[Definition, Definition] | None:
    """Return the target's definitions in the golden and in the goal file; None where there is no single pair.

    Definitions of the name are paired by their order: the ``nth`` pair, or else the one whose bodies differ.
    """
    ours = [definition for definition in golden.definitions if definition.qualname == qualname]
    theirs = [definition for definition in goal.definitions if definition.qualname == qualname]
    if len(ours) != len(theirs):
        return None
    pairs = []
    for original, now in zip(ours, theirs, strict=True):
        if original.kind == now.kind == "function" and nth in (None, original.nth):
            pairs.append((original, now))
    if len(pairs) <= 1:
        return pairs[0] if pairs else None
    differing = [pair for pair in pairs if not is_same(pair[0].node.body, pair[1].node.body)]
    if len(differing) == 1:
        return differing[0]
    real = [pair for pair in pairs if not pair[0].is_overload]
    return real[0] if len(real) == 1 else None


def _lines(definitions: Iterable[Definition]) -> str:
    return ", ".join(f"line {definition.line}" for definition in definitions)
