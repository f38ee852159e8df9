"""What statements and scopes do to names, in the order of evaluation."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from lmr_author.extracting.event import CHANGES, Event, Kind, event
from lmr_author.extracting.expressions import later, of_all, of_one, parameters

Function = ast.FunctionDef | ast.AsyncFunctionDef


def header(statement: ast.stmt) -> list[Event]:
    """What a statement does when it is reached; of a compound one, without its suites.

    Left to the caller, because they happen on some ways only: the target of a ``for``, the name of an
    ``except``, the patterns of a ``match``.
    """
    match statement:
        case ast.If() | ast.While():
            return list(of_one(statement.test, True))
        case ast.For() | ast.AsyncFor():
            return list(of_one(statement.iter, True))
        case ast.With() | ast.AsyncWith():
            parts = [part for item in statement.items for part in (item.context_expr, item.optional_vars)]
            return list(of_all(parts, True))
        case ast.Match():
            return list(of_one(statement.subject, True))
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return [*_signature(statement), event(Kind.BIND, statement.name, statement), *_late(statement)]
        case ast.ClassDef():
            return list(_class(statement))
        case _:
            return list(_simple(statement))


def target(node: ast.expr) -> list[Event]:
    """What binding a target does."""
    return list(of_one(node, True))


def pattern(case: ast.match_case) -> list[Event]:
    """Names that a pattern reads and binds."""
    found = []
    for node in ast.walk(case.pattern):
        if isinstance(node, ast.MatchValue):
            found += list(of_one(node.value, True))
        elif isinstance(node, ast.MatchClass):
            found += list(of_one(node.cls, True))
        elif isinstance(node, ast.MatchMapping):
            found += [item for key in node.keys for item in of_one(key, True)]
            found += [event(Kind.BIND, node.rest, node)] if node.rest else []
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            found.append(event(Kind.BIND, node.name, node))
    return found


def expression(node: ast.expr) -> list[Event]:
    """What evaluating an expression does."""
    return list(of_one(node, True))


def when_true(test: ast.expr) -> list[Event]:
    """Names that are bound for certain when an ``and`` has come out true."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return []
    found = [item for value in test.values for item in [*of_one(value, True), *when_true(value)]]
    return [item for item in found if item.kind is Kind.BIND]


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement of a scope, those of nested suites included, those of nested scopes not."""
    for statement in body:
        yield statement
        if isinstance(statement, Function | ast.ClassDef):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from statements(getattr(statement, name, ()))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from statements(part.body)


def scope(body: Iterable[ast.stmt]) -> Iterator[Event]:
    """Everything that the statements of a scope do to names, in file order."""
    for statement in statements(body):
        yield from header(statement)
        if isinstance(statement, ast.For | ast.AsyncFor):
            yield from target(statement.target)
        for handler in getattr(statement, "handlers", ()):
            yield from caught(handler)
        for case in getattr(statement, "cases", ()):
            yield from pattern(case)
            yield from expression(case.guard) if case.guard else ()


def caught(handler: ast.ExceptHandler) -> list[Event]:
    """What entering an ``except`` clause does."""
    found = list(of_one(handler.type, True)) if handler.type else []
    return [*found, event(Kind.BIND, handler.name, handler)] if handler.name else found


def declared(body: Iterable[ast.stmt], kind: type[ast.Global] | type[ast.Nonlocal]) -> frozenset[str]:
    """Names that a scope declares ``global`` or ``nonlocal``."""
    return frozenset(name for item in statements(body) if isinstance(item, kind) for name in item.names)


def own_names(node: Function) -> frozenset[str]:
    """The local variables of a function, parameters included."""
    bound = {item.name for item in scope(node.body) if item.kind in CHANGES}
    outer = declared(node.body, ast.Global) | declared(node.body, ast.Nonlocal)
    return frozenset((bound | set(parameters(node.args))) - outer)


def _simple(statement: ast.stmt) -> Iterator[Event]:
    match statement:
        case ast.Assign():
            yield from of_one(statement.value, True)
            yield from of_all(statement.targets, True)
        case ast.AugAssign(target=ast.Name() as name):
            yield event(Kind.READ, name.id, statement)
            yield from of_one(statement.value, True)
            yield event(Kind.BIND, name.id, statement)
        case ast.AnnAssign():
            yield from of_all([statement.value, statement.annotation], True)
            if statement.value is not None or not isinstance(statement.target, ast.Name):
                yield from of_one(statement.target, True)
        case ast.Import():
            for alias in statement.names:
                yield event(Kind.BIND, alias.asname or alias.name.partition(".")[0], statement)
        case ast.ImportFrom():
            for alias in statement.names:
                if alias.name != "*":
                    yield event(Kind.BIND, alias.asname or alias.name, statement)
        case ast.Assert():
            yield from of_one(statement.test, True)
            yield from of_all([statement.msg], False)
        case ast.Try() | ast.TryStar() | ast.Global() | ast.Nonlocal():
            return
        case _:
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, ast.expr):
                    yield from of_one(child, True)


def _signature(node: Function) -> Iterator[Event]:
    """What a ``def`` evaluates at once: decorators, defaults, annotations."""
    arguments = node.args
    annotated = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    yield from of_all(node.decorator_list, True)
    yield from of_all([*arguments.defaults, *arguments.kw_defaults], True)
    yield from of_all([item.annotation for item in annotated if item], True)
    yield from of_all([node.returns], True)


def _late(node: Function) -> Iterator[Event]:
    """What a function takes from outside when it runs."""
    own = own_names(node)
    to_module = declared(node.body, ast.Global)
    for item in scope(node.body):
        if item.kind in (Kind.GLOBAL_READ, Kind.GLOBAL_BIND) or (
            item.kind is Kind.READ_ALL and item.name not in own
        ):
            yield item
        elif item.name in to_module:
            changed = item.kind in CHANGES or item.kind is Kind.LATE_BIND
            yield Event(Kind.GLOBAL_BIND if changed else Kind.GLOBAL_READ, item.name, item.line)
        elif item.name not in own and item.kind is not Kind.READ_LOCALS:
            yield later(item)


def _class(node: ast.ClassDef) -> Iterator[Event]:
    """A class body runs at once; its methods see the names around the class, not those of its body."""
    yield from of_all([*node.decorator_list, *node.bases], True)
    yield from of_all([item.value for item in node.keywords], True)
    to_module = declared(node.body, ast.Global)
    for item in scope(node.body):
        if item.name in to_module:
            yield Event(Kind.GLOBAL_BIND if item.kind in CHANGES else Kind.GLOBAL_READ, item.name, item.line)
        elif item.kind not in CHANGES and item.kind is not Kind.READ_LOCALS:
            yield item
    yield event(Kind.BIND, node.name, node)
