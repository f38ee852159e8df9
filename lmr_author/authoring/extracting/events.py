"""The events of names: what statements, expressions and scopes do to them, in the order of evaluation.

A ``:=`` binds in the middle of an expression, perhaps; scopes that have one are refused before (``selection.check``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from lmr_author.core import code

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

CONSUMERS = frozenset(
    {"all", "any", "dict", "frozenset", "join", "list", "max", "min", "set", "sorted", "sum", "tuple"}
)
"""Functions and methods that use up a generator before they return."""


class Kind(Enum):
    """The kinds of events."""

    READ = auto()
    BIND = auto()  # by `del` too: what is shared with a block is refused (``names``)
    LATE_READ = auto()  # by a function, lambda or generator that is made here and may run at any later time


@dataclass(frozen=True, slots=True)
class Event:
    """One event of one name."""

    kind: Kind
    name: str
    line: int


def event(kind: Kind, name: str, node: ast.AST) -> Event:
    """Return an event at a node."""
    return Event(kind, name, getattr(node, "lineno", 0))


# expressions


def parameters(function: Function | ast.Lambda) -> list[str]:
    """Return the names of a function's parameters."""
    return [argument.arg for argument in code.arguments(function)]


def expressions(nodes: Iterable[ast.expr | None]) -> Iterator[Event]:
    """Yield the events of expressions in the order of evaluation; None stands for one that is left out."""
    for node in nodes:
        if node is not None:
            yield from expression(node)


def expression(node: ast.expr) -> Iterator[Event]:
    """Yield the events of an expression."""
    match node:
        case ast.Name(ctx=ast.Load()):
            yield event(Kind.READ, node.id, node)
        case ast.Name(ctx=ast.Del()):
            yield event(Kind.READ, node.id, node)
            yield event(Kind.BIND, node.id, node)
        case ast.Name():
            yield event(Kind.BIND, node.id, node)
        case ast.Lambda():
            yield from expressions([*node.args.defaults, *node.args.kw_defaults])
            yield from _foreign_reads(expression(node.body), parameters(node), late=True)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from _comprehension(node, late=isinstance(node, ast.GeneratorExp))
        case ast.Call():
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for part in _parts(node):
                if isinstance(part, ast.GeneratorExp) and called in CONSUMERS:
                    yield from _comprehension(part, late=False)
                else:
                    yield from expression(part)
        case _:
            yield from expressions(_parts(node))


def _foreign_reads(inner: Iterable[Event], own: Iterable[str], *, late: bool) -> Iterator[Event]:
    """Yield the reads of what a nested scope does not bind itself."""
    for happening in inner:
        if happening.kind is Kind.BIND or happening.name in own:
            continue
        yield Event(Kind.LATE_READ, happening.name, happening.line) if late else happening


def _parts(node: ast.AST) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.keyword):
            yield child.value


def _comprehension(node: Comprehension, *, late: bool) -> Iterator[Event]:
    """Yield the events of the first iterable, which is evaluated here, and of the rest: later in a generator."""
    first, *others = node.generators
    yield from expression(first.iter)
    inner = list(expressions(generator.iter for generator in others))
    for generator in node.generators:
        inner += expressions([generator.target, *generator.ifs])
    inner += expressions(_parts(node))
    own = {happening.name for happening in inner if happening.kind is Kind.BIND}
    yield from _foreign_reads(inner, own, late=late)


# statements


def header(statement: ast.stmt) -> list[Event]:
    """Return the events when a statement is reached; of a compound one, without its suites.

    The target of a ``for`` and the name of an ``except`` are left to the caller: they happen on some ways only.
    """
    return list(_header(statement))


def _header(statement: ast.stmt) -> Iterator[Event]:
    match statement:
        case ast.If() | ast.While():
            yield from expression(statement.test)
        case ast.For() | ast.AsyncFor():
            yield from expression(statement.iter)
        case ast.With() | ast.AsyncWith():
            for context in statement.items:
                yield from expressions([context.context_expr, context.optional_vars])
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            arguments = statement.args
            yield from expressions([*statement.decorator_list, *arguments.defaults, *arguments.kw_defaults])
            yield from expressions(argument.annotation for argument in code.arguments(statement))
            yield from expressions([statement.returns])
            yield event(Kind.BIND, statement.name, statement)
            yield from _foreign_reads(scope(statement.body), own_names(statement), late=True)
        case ast.ClassDef():
            # The body runs at once; what it binds are attributes, and its methods do not see them.
            yield from expressions(_parts(statement))
            yield from _foreign_reads(scope(statement.body), (), late=False)
            yield event(Kind.BIND, statement.name, statement)
        case ast.Assign():
            yield from expressions([statement.value, *statement.targets])
        case ast.AugAssign(target=ast.Name() as name):
            yield event(Kind.READ, name.id, statement)
            yield from expression(statement.value)
            yield event(Kind.BIND, name.id, statement)
        case ast.AnnAssign():
            yield from expressions([statement.value, statement.annotation])
            if statement.value is not None or not isinstance(statement.target, ast.Name):
                yield from expression(statement.target)
        case ast.Import() | ast.ImportFrom():
            for alias in statement.names:
                if alias.name != "*":
                    yield event(Kind.BIND, alias.asname or alias.name.partition(".")[0], statement)
        case ast.Try() | ast.Global() | ast.Nonlocal():
            return
        case _:
            yield from expressions(_parts(statement))


def caught(handler: ast.ExceptHandler) -> list[Event]:
    """Return the events of entering an ``except`` clause."""
    happening = list(expressions([handler.type]))
    if handler.name:
        happening.append(event(Kind.BIND, handler.name, handler))
    return happening


# scopes


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield every statement of a scope, those of nested suites included, those of nested scopes not."""
    for statement in body:
        yield statement
        if isinstance(statement, Function | ast.ClassDef):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from statements(getattr(statement, name, ()))
        for handler in getattr(statement, "handlers", ()):
            yield from statements(handler.body)


def everything(statement: ast.stmt) -> list[Event]:
    """Return the events of a statement on all its ways, without its suites."""
    happening = header(statement)
    if isinstance(statement, ast.For | ast.AsyncFor):
        happening += expression(statement.target)
    for handler in getattr(statement, "handlers", ()):
        happening += caught(handler)
    return happening


def scope(body: Iterable[ast.stmt]) -> Iterator[Event]:
    """Yield all events of the statements of a scope, in file order."""
    for statement in statements(body):
        yield from everything(statement)


def own_names(node: Function) -> frozenset[str]:
    """Return the local variables of a function, parameters included."""
    names = set(parameters(node))
    names |= {happening.name for happening in scope(node.body) if happening.kind is Kind.BIND}
    for statement in statements(node.body):
        if isinstance(statement, ast.Global | ast.Nonlocal):
            names.difference_update(statement.names)
    return frozenset(names)


def shared_names(tree: ast.AST) -> frozenset[str]:
    """Return the names that functions in a tree declare ``global`` or ``nonlocal``: they may bind them at any time."""
    declarations = [node for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal)]
    return frozenset(name for declaration in declarations for name in declaration.names)
