"""Reading syntax trees: what :mod:`ast` leaves to its users."""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar, overload

A = TypeVar("A", bound=ast.AST)
B = TypeVar("B", bound=ast.AST)
C = TypeVar("C", bound=ast.AST)
D = TypeVar("D", bound=ast.AST)

_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def parse(code: bytes | str, name: str = "<unknown>") -> ast.Module:
    """Parse foreign code without the warnings it gives rise to, such as invalid escapes.

    Raises what :func:`ast.parse` does: SyntaxError, ValueError, RecursionError, MemoryError.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code, name)


@lru_cache(maxsize=1024)
def walk(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return everything in a tree in the order of :func:`ast.walk`, without ``Load``, ``Store`` and ``Del``.

    Kept, as the checks of a task look at the same few functions: a tree that was walked is not to be changed.
    """
    return tuple(node for node in ast.walk(tree) if not isinstance(node, ast.expr_context))


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes that :func:`ast.iter_child_nodes` yields, without contexts."""
    return [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context)]


@overload
def each(tree: ast.AST, one: type[A], /) -> list[A]: ...
@overload
def each(tree: ast.AST, one: type[A], two: type[B], /) -> list[A | B]: ...
@overload
def each(tree: ast.AST, one: type[A], two: type[B], three: type[C], /) -> list[A | B | C]: ...
@overload
def each(
    tree: ast.AST, one: type[A], two: type[B], three: type[C], four: type[D], /
) -> list[A | B | C | D]: ...
@overload
def each(tree: ast.AST, /, *kinds: type[ast.AST]) -> list[ast.AST]: ...
def each(tree: ast.AST, /, *kinds: type[ast.AST]) -> Any:
    """Return the nodes of some kinds in a tree, in the order of :func:`walk`."""
    return [node for node in walk(tree) if isinstance(node, kinds)]


def first_line(statement: ast.stmt) -> int:
    """Return the line a statement begins on, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def block_end(tree: ast.AST, line: int) -> int:
    """Return the last line of the block that begins on a line; the line itself where none does."""
    for block in blocks(tree):
        if first_line(block[0]) == line:
            return block[-1].end_lineno or line
    return line


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements that are indented together."""
    for node in walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def behind_exits(tree: ast.AST, lines: Iterable[int]) -> list[tuple[int, int]]:
    """Return first and last lines of what follows the ``if`` on each of some lines, where its body leaves the block."""
    wanted, behind = set(lines), list[tuple[int, int]]()
    for block in blocks(tree):
        for statement, follower in pairwise(block):
            leaves = isinstance(statement, ast.If) and isinstance(statement.body[-1], _EXITS)
            if leaves and statement.lineno in wanted:
                behind.append((first_line(follower), block[-1].end_lineno or follower.lineno))
    return behind


def parameters(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """Return every named parameter in its order, with its default; None where it has none."""
    positional = [*arguments.posonlyargs, *arguments.args]
    required: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    return [
        *zip(positional, [*required, *arguments.defaults], strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]


def form(tree: Any) -> str:
    """Return a tree (or a list of them) as text that is equal for equal code: places and contexts do not count."""
    pieces: list[str] = []
    _put(tree, pieces.append)
    return "".join(pieces)


def is_same(tree: Any, other: Any) -> bool:
    """Return True when two trees, or two lists of them, are equal code."""
    return tree.__class__ is other.__class__ and form(tree) == form(other)


def _put(value: Any, put: Callable[[str], None]) -> None:
    if isinstance(value, ast.AST):
        put(value.__class__.__name__ + "(")
        for name in value._fields:
            if name != "ctx":
                _put(getattr(value, name, None), put)
        put(")")
    elif value.__class__ is list:
        put("[")
        for element in value:
            _put(element, put)
        put("]")
    else:
        put(f"{value!r},")


# names


def bound_by(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the names that an import binds: ``a`` for ``import a.b``, ``c`` for ``import a.b as c``, ``*`` for all."""
    return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]


def bindings(nodes: Iterable[ast.AST]) -> dict[str, list[ast.AST]]:
    """Return the nodes that bind each name; all that is imported by a star is bound to ``*``."""
    result: dict[str, list[ast.AST]] = defaultdict(list)
    for node in nodes:
        names: list[str] = []
        match node:
            case ast.Import() | ast.ImportFrom():
                names = bound_by(node)
            case ast.Name(ctx=ast.Store() | ast.Del()):
                names = [node.id]
            case ast.arg():
                names = [node.arg]
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names = [node.name]
            case ast.ExceptHandler(name=str() as name):
                names = [name]
        for name in names:
            result[name].append(node)
    return result


def imported_as(tree: ast.Module) -> dict[str, str]:
    """Return the meaning of imported names: ``api`` → ``gensim.downloader`` for ``import gensim.downloader as api``.

    Names of modules that mean themselves are left out, and so are relative imports.
    """
    meanings: dict[str, str] = {}
    for node in each(tree, ast.Import, ast.ImportFrom):
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                if node.module and not node.level:
                    meanings[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            elif alias.asname:
                meanings[alias.asname] = alias.name
    return meanings


def root_name(node: ast.expr | None) -> str:
    """Return the name at the beginning of ``name.attribute[item]…``; "" where something else stands there."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def last_name(node: ast.AST | None) -> str:
    """Return the name at the end of ``a.b.name``; "" where something else stands there."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def with_callees(function: ast.AST, tree: ast.Module | None, visit: Callable[[ast.AST], set[str]]) -> None:
    """Visit a function, and the functions of its file that it calls, directly or not.

    Args:
        tree: the file; None to visit the function alone.
        visit: returns the names that are called.
    """
    own: dict[str, ast.AST] = {}
    if tree is not None:
        own = {node.name: node for node in each(tree, ast.FunctionDef, ast.AsyncFunctionDef)}
    waiting, seen = [function], {function}
    while waiting:
        for name in visit(waiting.pop()):
            callee = own.get(name)
            if callee is not None and callee not in seen:
                seen.add(callee)
                waiting.append(callee)
