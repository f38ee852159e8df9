"""Read one Python file for the index: its definitions, the names in each, and the calls of the whole file."""

from __future__ import annotations

import ast
import errno
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from lmr_author.code import Definition, Module, children, first_line, is_generator
from lmr_author.errors import SourceError
from lmr_author.indexing.entry import Entry

MAX_BYTES = 2 * 1024 * 1024
"""Larger Python files are generated tables, not code."""

NOT_PARSED = f"not Python {sys.version_info.major}.{sys.version_info.minor}"

SHAPES: dict[type[ast.AST], str] = {
    ast.Assign: "a", ast.AugAssign: "a", ast.AnnAssign: "a", ast.Expr: "e", ast.Return: "r", ast.If: "I",
    ast.For: "F", ast.AsyncFor: "F", ast.While: "W", ast.With: "w", ast.AsyncWith: "w", ast.Try: "T",
    ast.TryStar: "T", ast.Match: "M", ast.Raise: "x", ast.Assert: "x", ast.Delete: "d", ast.FunctionDef: "D",
    ast.AsyncFunctionDef: "D", ast.ClassDef: "C",
}  # fmt: skip
"""A letter for each kind of statement; those that compute nothing (pass, import, global, …) have none."""

_BRANCHES = "IFWTM"
_KINDS = {ast.FunctionDef: "function", ast.AsyncFunctionDef: "async", ast.ClassDef: "class"}
_SELF = frozenset({"self", "cls"})
_STRING_OR_COMMENT = re.compile(
    r'"""(?:\\.|[^\\])*?"""'
    r"|'''(?:\\.|[^\\])*?'''"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*'"
    r"|#[^\n]*",
    re.DOTALL,
)


def content(path: str) -> tuple[bytes | None, str]:
    """(content of a regular file, "") or (None, why it is not read). Never waits for a FIFO."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        linked = error.errno == errno.ELOOP
        return None, "a symbolic link" if linked else f"cannot be opened: {error.strerror}"
    try:
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None, "not a regular file"
            if status.st_size > MAX_BYTES:
                return None, f"{status.st_size / 2**20:.1f} MB: too large to be code"
            return file.read(MAX_BYTES), ""
    except OSError as error:
        return None, f"cannot be read: {error.strerror}"


def entries(path: str, data: bytes) -> tuple[list[Entry], Counter[str]]:
    """The definitions of a file in file order, and how often the file calls each name. Raises SourceError."""
    module = Module.parse(data, path)
    calls: Counter[str] = Counter()
    inside = _inside(module, calls)
    comments = list(_comments(module.text)) if "#" in module.text else []
    found = [_entry(path, item, inside[item.node], comments, b"yield" in data) for item in module.definitions]
    return found, calls


class _Inside:
    """The code of one definition while its file is read."""

    def __init__(self) -> None:
        self.shape: list[str] = []
        self.names: dict[str, None] = {}
        self.calls: dict[str, None] = {}
        self.bound: set[str] = set()


def _inside(module: Module, calls: Counter[str]) -> dict[ast.AST, _Inside]:
    """The code of each definition: one pass over the tree, in which nested code counts for all around it."""
    found: dict[ast.AST, _Inside] = {}
    called: set[ast.AST] = set()
    stack: list[tuple[ast.AST, tuple[_Inside, ...]]] = [(module.tree, ())]
    while stack:
        node, around = stack.pop()
        kind = type(node)
        if (letter := SHAPES.get(kind)) is not None:
            for one in around:
                one.shape.append(letter)
        name = ""
        if isinstance(node, ast.Name):
            name = node.id
            if not isinstance(node.ctx, ast.Load):
                for one in around:
                    one.bound.add(name)
        elif isinstance(node, ast.Attribute):
            name = node.attr
        elif isinstance(node, ast.arg | ast.keyword):
            name = node.arg or ""
        elif isinstance(node, ast.Call):
            called.add(node.func)
        elif kind in _KINDS:
            assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            own = found[node] = _Inside()
            name = node.name
            stack += [(item, around) for item in reversed(node.decorator_list)]
            inner = (*around, own)
            stack += [(item, inner) for item in reversed(children(node)) if item not in node.decorator_list]
        if name and name not in _SELF:
            if node in called:
                calls[name] += 1
            for one in around:
                (one.calls if node in called else one.names)[name] = None
        if kind not in _KINDS:
            stack += [(item, around) for item in reversed(children(node))]
    return found


def _entry(
    path: str, item: Definition, inside: _Inside, comments: list[tuple[int, str]], yields: bool
) -> Entry:
    node = item.node
    shape = "".join(sorted(inside.shape))
    if item.docstring is not None:
        shape = shape.replace("e", "", 1)
    is_class = isinstance(node, ast.ClassDef)
    return Entry(
        path=path,
        qualname=item.qualname,
        kind=_KINDS[type(node)],
        class_name=item.class_name,
        function_name=item.function_name,
        line=item.line,
        end_line=item.end_line,
        first_line=first_line(node),
        nth=item.nth,
        siblings=item.siblings,
        generator=yields and not isinstance(node, ast.ClassDef) and is_generator(node),
        decorators=tuple(
            ast.unparse(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list
        ),
        parameters=tuple(
            map(ast.unparse, node.bases) if isinstance(node, ast.ClassDef) else _parameters(node.args)
        ),
        shape=shape,
        branches=sum(map(shape.count, _BRANCHES)),
        bound=frozenset(inside.bound),
        docstring=item.docstring or "",
        names=() if is_class else tuple(inside.names),
        calls=() if is_class else tuple(inside.calls),
        comments="\n".join(text for line, text in comments if item.line <= line <= item.end_line),
    )


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    for item in chain(arguments.posonlyargs, arguments.args):
        yield _annotated(item)
    if arguments.vararg:
        yield "*" + _annotated(arguments.vararg)
    yield from map(_annotated, arguments.kwonlyargs)
    if arguments.kwarg:
        yield "**" + _annotated(arguments.kwarg)


def _annotated(argument: ast.arg) -> str:
    annotation = argument.annotation
    if annotation is None:
        return argument.arg
    quoted = isinstance(annotation, ast.Constant) and isinstance(annotation.value, str)
    return f"{argument.arg}: {annotation.value if quoted else ast.unparse(annotation)}"  # type: ignore[attr-defined]


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """(line, text) of each comment. :mod:`tokenize` takes eight times as long."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    line, at = 1, 0
    for match in _STRING_OR_COMMENT.finditer(text):
        if match[0][0] == "#":
            line, at = line + text.count("\n", at, match.start()), match.start()
            if comment := match[0].lstrip("#!: ").rstrip():
                yield line, comment


def reason(error: SourceError) -> str:
    """Say why a file was not parsed, naming the Python that tried: a later one may read it."""
    cause = error.__cause__
    if isinstance(cause, SyntaxError) and cause.lineno:
        return f"{NOT_PARSED}: line {cause.lineno}: {cause.msg}"
    return f"{NOT_PARSED}: {error.message.partition(': ')[2]}"
