"""Parsing without warnings, and walking through syntax trees, as :mod:`ast` does it, in a fraction of the time.

Every check walks through the same few files over and over. What takes :func:`ast.walk` its time is to ask each field
of each node what it holds; here each kind of node is known to have fields that never hold another one.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeGuard, TypeVar, overload

A = TypeVar("A", bound=ast.AST)
B = TypeVar("B", bound=ast.AST)
C = TypeVar("C", bound=ast.AST)
D = TypeVar("D", bound=ast.AST)

_PLAIN = frozenset(
    """
    ctx id attr arg asname name level module lineno kind type_comment conversion simple is_async rest kwd_attrs tag
    """.split()  # noqa: SIM905
)
"""Fields that hold names, numbers or contexts."""


class _Parts(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each kind of node that can hold nodes, in their order."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        plain = _PLAIN - {"name"} if kind.__name__ == "TypeAlias" else _PLAIN
        names = () if kind is ast.Constant else tuple(name for name in kind._fields if name not in plain)
        self[kind] = names
        return names


_PARTS = _Parts()


@lru_cache(maxsize=1024)
def walk(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Everything in a tree in the order of :func:`ast.walk`, without the contexts ``Load``, ``Store`` and ``Del``.

    It is kept, as many checks look at the same few functions: a tree that was walked through is not to be changed.
    """
    found = [tree]
    add, parts, node_type = found.append, _PARTS, ast.AST
    for node in found:
        for name in parts[node.__class__]:
            value: Any = getattr(node, name, None)
            if value is None:
                continue
            if value.__class__ is list:
                for item in value:
                    if isinstance(item, node_type):
                        add(item)
            elif isinstance(value, node_type):
                add(value)
    return tuple(found)


def children(node: ast.AST) -> list[ast.AST]:
    """What :func:`ast.iter_child_nodes` yields, without contexts."""
    found: list[ast.AST] = []
    for name in _PARTS[node.__class__]:
        value: Any = getattr(node, name, None)
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


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
    """The nodes of some kinds in a tree, in the order of :func:`walk`. Kinds are final ones, as ``ast.Call``."""
    known = _by_kind(tree)
    if len(kinds) == 1:
        return [node for _, node in known.get(kinds[0], ())]
    found = [pair for kind in kinds for pair in known.get(kind, ())]
    return [node for _, node in sorted(found, key=itemgetter(0))]


@lru_cache(maxsize=64)
def _by_kind(tree: ast.AST) -> dict[type[ast.AST], list[tuple[int, ast.AST]]]:
    """Kind → (place in the order, node) of each: most of those who search a file want few of its nodes."""
    found: dict[type[ast.AST], list[tuple[int, ast.AST]]] = {}
    for pair in enumerate(walk(tree)):
        found.setdefault(pair[1].__class__, []).append(pair)
    return found


def parse(code: bytes | str, name: str = "<unknown>") -> ast.Module:
    """Parse foreign code: what Python warns of in it (an invalid escape, say) is not its reader's business.

    Raises what :func:`ast.parse` does: SyntaxError, ValueError, RecursionError, MemoryError.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code, name)


def first_line(statement: ast.stmt) -> int:
    """The line a statement begins on, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(item.lineno for item in decorators)])


def block_end(tree: ast.AST, line: int) -> int:
    """The last line of the statements that stand together from a line on; the line itself where none begins there."""
    for node in walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and first_line(block[0]) == line:
                return int(block[-1].end_lineno or line)
    return line


def parameters(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """Every named parameter in its order, with its default; None where it has none."""
    positional = [*arguments.posonlyargs, *arguments.args]
    required: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    return [
        *zip(positional, [*required, *arguments.defaults], strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]


def is_main_guard(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether it is ``if __name__ == "__main__":``, also with a further condition, or misspelt as ``"main"``.

    What stands in its body runs in a script only, or never; what stands in its ``else`` runs on import.
    """
    if not isinstance(node, ast.If):
        return False
    test = node.test
    every = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return any(map(_compares_name, every))


def _compares_name(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq | ast.Is | ast.In):
        return False
    sides = [test.left, *test.comparators]
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)


def is_same(one: Any, other: Any) -> bool:
    """Whether two trees, or two lists of them, are equal code: what :func:`form` would write of both is equal."""
    if isinstance(one, ast.AST):
        if one.__class__ is not other.__class__:
            return False
        for name in one._fields:
            if name != "ctx" and not is_same(getattr(one, name, None), getattr(other, name, None)):
                return False
        return True
    if one.__class__ is list:
        return other.__class__ is list and len(one) == len(other) and all(map(is_same, one, other))
    return repr(one) == repr(other)


def form(node: ast.AST) -> str:
    """A tree as text that is equal for equal code, as that of :func:`ast.dump`: places and contexts do not count."""
    pieces: list[str] = []
    _put(node, pieces.append)
    return "".join(pieces)


def _put(value: Any, put: Callable[[str], None]) -> None:
    if isinstance(value, ast.AST):
        put(value.__class__.__name__ + "(")
        for name in value._fields:
            if name != "ctx":
                _put(getattr(value, name, None), put)
        put(")")
    elif value.__class__ is list:
        put("[")
        for item in value:
            _put(item, put)
        put("]")
    else:
        put(f"{value!r},")
