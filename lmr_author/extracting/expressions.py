"""What evaluating an expression does to names."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from lmr_author.extracting.event import BINDS, Event, Kind, event

SEES_LOCALS = frozenset({"locals", "vars", "dir"})
SEES_ALL = frozenset({"globals", "eval", "exec"})

CONSUMERS = frozenset(
    {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"}
)
"""Builtins that use up an iterator, and call a function they are given, before they return."""

LAZY = frozenset({"enumerate", "filter", "map", "reversed", "zip"})
"""Builtins whose result is used up with what they were given."""

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def parameters(arguments: ast.arguments) -> list[str]:
    """Names of a function's parameters."""
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    starred = [item for item in (arguments.vararg, arguments.kwarg) if item]
    return [item.arg for item in (*named, *starred)]


def of_all(nodes: Iterable[ast.expr | None], sure: bool) -> Iterator[Event]:
    """Events of expressions in the order of evaluation; None stands for one that is left out."""
    for node in nodes:
        if node is not None:
            yield from of_one(node, sure)


def of_one(node: ast.expr, sure: bool, consumed: bool = False) -> Iterator[Event]:
    """Events of an expression: ``sure`` when it is surely evaluated, ``consumed`` when used up at once."""
    match node:
        case ast.Name(ctx=ast.Load()):
            yield event(Kind.READ, node.id, node)
        case ast.Name(ctx=ast.Del()):
            yield event(Kind.DELETE, node.id, node)
        case ast.Name():
            yield event(Kind.BIND if sure else Kind.MAYBE_BIND, node.id, node)
        case ast.NamedExpr():
            yield from of_one(node.value, sure)
            yield from of_one(node.target, sure)
        case ast.BoolOp():
            yield from of_one(node.values[0], sure)
            yield from of_all(node.values[1:], False)
        case ast.IfExp():
            yield from of_one(node.test, sure)
            yield from of_all([node.body, node.orelse], False)
        case ast.Compare():
            yield from of_all([node.left, node.comparators[0]], sure)
            yield from of_all(node.comparators[1:], False)
        case ast.Lambda():
            yield from of_all([*node.args.defaults, *node.args.kw_defaults], sure)
            inner = _leaving(of_one(node.body, False), set(parameters(node.args)))
            yield from inner if consumed else map(later, inner)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from _comprehension(node, sure, consumed)
        case ast.Call():
            yield from _call(node, sure, consumed)
        case _:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from of_one(child, sure)


def _call(node: ast.Call, sure: bool, consumed: bool) -> Iterator[Event]:
    yield from of_one(node.func, sure)
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    last = node.func.attr if isinstance(node.func, ast.Attribute) else name
    at_once = name in CONSUMERS or last == "reduce" or (consumed and name in LAZY)
    for argument in node.args:
        joined = last == "join" and isinstance(argument, ast.GeneratorExp)
        yield from of_one(argument, sure, at_once or joined)
    for keyword in node.keywords:
        by_key = keyword.arg == "key" and (name in CONSUMERS or last == "sort")
        yield from of_one(keyword.value, sure, by_key)
    bare = not node.args and not node.keywords
    if name in SEES_ALL or (name in SEES_LOCALS and bare):
        yield event(Kind.READ_ALL if name in SEES_ALL else Kind.READ_LOCALS, name, node)


def _comprehension(node: Comprehension, sure: bool, consumed: bool) -> Iterator[Event]:
    """The first iterable is evaluated here; the rest at once, or later when it is a generator."""
    yield from of_one(node.generators[0].iter, sure, consumed)
    element = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    inner: list[Event] = []
    own: set[str] = set()
    for number, generator in enumerate(node.generators):
        inner += of_one(generator.iter, False) if number else ()
        bound = list(of_one(generator.target, False))
        own |= {item.name for item in bound if item.kind in BINDS}
        inner += bound
        inner += of_all(generator.ifs, False)
    inner += of_all(element, False)
    lazy = isinstance(node, ast.GeneratorExp) and not consumed
    yield from map(later, _leaving(inner, own)) if lazy else _leaving(inner, own)


def _leaving(inner: Iterable[Event], own: set[str]) -> Iterator[Event]:
    """The events of a nested scope that concern the names of the scope around it."""
    return (item for item in inner if item.name not in own)


_LATER = {
    Kind.READ: Kind.LATE_READ,
    Kind.BIND: Kind.LATE_BIND,
    Kind.MAYBE_BIND: Kind.LATE_BIND,
    Kind.DELETE: Kind.LATE_BIND,
}


def later(item: Event) -> Event:
    """The same, done by a function that may run at any later time."""
    return Event(_LATER.get(item.kind, item.kind), item.name, item.line)
