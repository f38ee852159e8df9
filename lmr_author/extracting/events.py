"""What happens to names, in the order of evaluation: the alphabet of the data flow analysis."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    """What happens to a name."""

    READ = auto()
    BIND = auto()
    MAYBE_BIND = auto()  # in a part of an expression that may be passed over
    DELETE = auto()
    UNBIND = auto()  # what Python does with the name of an `except` clause at its end
    LATE_READ = auto()  # by a function, lambda or generator that is made here and may run at any later time
    LATE_BIND = auto()  # likewise, through `nonlocal`
    GLOBAL_READ = auto()  # likewise, of the module's variable
    GLOBAL_BIND = auto()
    READ_LOCALS = auto()  # every variable of this scope: locals(), vars(), dir()
    READ_ALL = auto()  # likewise, and every variable of the module: eval, exec, globals()


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happens to one name; of what reads every name, ``name`` is the function called."""

    kind: Kind
    name: str
    line: int


BINDS = frozenset({Kind.BIND, Kind.MAYBE_BIND})
CHANGES = BINDS | {Kind.DELETE, Kind.UNBIND}

SEES_LOCALS = frozenset({"locals", "vars", "dir"})
SEES_ALL = frozenset({"globals", "eval", "exec"})

CONSUMERS = frozenset(
    {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"}
)
"""Builtins that use up an iterator, and call a function they are given, before they return."""

LAZY = frozenset({"enumerate", "filter", "map", "reversed", "zip"})
"""Builtins whose result is used up with what they were given."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def header(statement: ast.stmt) -> list[Event]:
    """What a statement does when it is reached; of a compound one, without its suites.

    Left to the caller, because they happen on some ways only: the target of a ``for``, the name of an
    ``except``, the patterns of a ``match``.
    """
    match statement:
        case ast.If() | ast.While():
            return list(_expression(statement.test, True))
        case ast.For() | ast.AsyncFor():
            return list(_expression(statement.iter, True))
        case ast.With() | ast.AsyncWith():
            parts = [part for item in statement.items for part in (item.context_expr, item.optional_vars)]
            return list(_expressions(parts, True))
        case ast.Match():
            return list(_expression(statement.subject, True))
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return [*_signature(statement), _event(Kind.BIND, statement.name, statement), *_late(statement)]
        case ast.ClassDef():
            return list(_class(statement))
        case _:
            return list(_simple(statement))


def target(node: ast.expr) -> list[Event]:
    """What binding a target does."""
    return list(_expression(node, True))


def pattern(case: ast.match_case) -> list[Event]:
    """Names that a pattern reads and binds."""
    found = []
    for node in ast.walk(case.pattern):
        if isinstance(node, ast.MatchValue):
            found += list(_expression(node.value, True))
        elif isinstance(node, ast.MatchClass):
            found += list(_expression(node.cls, True))
        elif isinstance(node, ast.MatchMapping):
            found += [item for key in node.keys for item in _expression(key, True)]
            found += [_event(Kind.BIND, node.rest, node)] if node.rest else []
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            found.append(_event(Kind.BIND, node.name, node))
    return found


def expression(node: ast.expr) -> list[Event]:
    """What evaluating an expression does."""
    return list(_expression(node, True))


def when_true(test: ast.expr) -> list[Event]:
    """Names that are bound for certain when an ``and`` has come out true."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return []
    found = [item for value in test.values for item in [*_expression(value, True), *when_true(value)]]
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
    found = list(_expression(handler.type, True)) if handler.type else []
    return [*found, _event(Kind.BIND, handler.name, handler)] if handler.name else found


def declared(body: Iterable[ast.stmt], kind: type[ast.Global] | type[ast.Nonlocal]) -> frozenset[str]:
    """Names that a scope declares ``global`` or ``nonlocal``."""
    return frozenset(name for item in statements(body) if isinstance(item, kind) for name in item.names)


def parameters(arguments: ast.arguments) -> list[str]:
    """Names of a function's parameters."""
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    starred = [item for item in (arguments.vararg, arguments.kwarg) if item]
    return [item.arg for item in (*named, *starred)]


def own_names(node: Function) -> frozenset[str]:
    """The local variables of a function, parameters included."""
    bound = {item.name for item in scope(node.body) if item.kind in CHANGES}
    outer = declared(node.body, ast.Global) | declared(node.body, ast.Nonlocal)
    return frozenset((bound | set(parameters(node.args))) - outer)


def _event(kind: Kind, name: str, node: ast.AST) -> Event:
    return Event(kind, name, getattr(node, "lineno", 0))


def _simple(statement: ast.stmt) -> Iterator[Event]:
    match statement:
        case ast.Assign():
            yield from _expression(statement.value, True)
            yield from _expressions(statement.targets, True)
        case ast.AugAssign(target=ast.Name() as name):
            yield _event(Kind.READ, name.id, statement)
            yield from _expression(statement.value, True)
            yield _event(Kind.BIND, name.id, statement)
        case ast.AnnAssign():
            yield from _expressions([statement.value, statement.annotation], True)
            if statement.value is not None or not isinstance(statement.target, ast.Name):
                yield from _expression(statement.target, True)
        case ast.Import():
            for alias in statement.names:
                yield _event(Kind.BIND, alias.asname or alias.name.partition(".")[0], statement)
        case ast.ImportFrom():
            for alias in statement.names:
                if alias.name != "*":
                    yield _event(Kind.BIND, alias.asname or alias.name, statement)
        case ast.Assert():
            yield from _expression(statement.test, True)
            yield from _expressions([statement.msg], False)
        case ast.Try() | ast.TryStar() | ast.Global() | ast.Nonlocal():
            return
        case _:
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, ast.expr):
                    yield from _expression(child, True)


def _expressions(nodes: Iterable[ast.expr | None], sure: bool) -> Iterator[Event]:
    for node in nodes:
        if node is not None:
            yield from _expression(node, sure)


def _expression(node: ast.expr, sure: bool, consumed: bool = False) -> Iterator[Event]:
    """Events of an expression: ``sure`` when it is surely evaluated, ``consumed`` when used up at once."""
    match node:
        case ast.Name(ctx=ast.Load()):
            yield _event(Kind.READ, node.id, node)
        case ast.Name(ctx=ast.Del()):
            yield _event(Kind.DELETE, node.id, node)
        case ast.Name():
            yield _event(Kind.BIND if sure else Kind.MAYBE_BIND, node.id, node)
        case ast.NamedExpr():
            yield from _expression(node.value, sure)
            yield from _expression(node.target, sure)
        case ast.BoolOp():
            yield from _expression(node.values[0], sure)
            yield from _expressions(node.values[1:], False)
        case ast.IfExp():
            yield from _expression(node.test, sure)
            yield from _expressions([node.body, node.orelse], False)
        case ast.Compare():
            yield from _expressions([node.left, node.comparators[0]], sure)
            yield from _expressions(node.comparators[1:], False)
        case ast.Lambda():
            yield from _expressions([*node.args.defaults, *node.args.kw_defaults], sure)
            inner = _leaving(_expression(node.body, False), set(parameters(node.args)))
            yield from inner if consumed else map(_later, inner)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from _comprehension(node, sure, consumed)
        case ast.Call():
            yield from _call(node, sure, consumed)
        case _:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from _expression(child, sure)


def _call(node: ast.Call, sure: bool, consumed: bool) -> Iterator[Event]:
    yield from _expression(node.func, sure)
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    last = node.func.attr if isinstance(node.func, ast.Attribute) else name
    at_once = name in CONSUMERS or last == "reduce" or (consumed and name in LAZY)
    for argument in node.args:
        joined = last == "join" and isinstance(argument, ast.GeneratorExp)
        yield from _expression(argument, sure, at_once or joined)
    for keyword in node.keywords:
        by_key = keyword.arg == "key" and (name in CONSUMERS or last == "sort")
        yield from _expression(keyword.value, sure, by_key)
    bare = not node.args and not node.keywords
    if name in SEES_ALL or (name in SEES_LOCALS and bare):
        yield _event(Kind.READ_ALL if name in SEES_ALL else Kind.READ_LOCALS, name, node)


def _comprehension(node: Comprehension, sure: bool, consumed: bool) -> Iterator[Event]:
    """The first iterable is evaluated here; the rest at once, or later when it is a generator."""
    yield from _expression(node.generators[0].iter, sure, consumed)
    element = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    inner: list[Event] = []
    own: set[str] = set()
    for number, generator in enumerate(node.generators):
        inner += _expression(generator.iter, False) if number else ()
        bound = list(_expression(generator.target, False))
        own |= {item.name for item in bound if item.kind in BINDS}
        inner += bound
        inner += _expressions(generator.ifs, False)
    inner += _expressions(element, False)
    lazy = isinstance(node, ast.GeneratorExp) and not consumed
    yield from map(_later, _leaving(inner, own)) if lazy else _leaving(inner, own)


def _leaving(inner: Iterable[Event], own: set[str]) -> Iterator[Event]:
    """The events of a nested scope that concern the names of the scope around it."""
    return (item for item in inner if item.name not in own)


_LATER = {
    Kind.READ: Kind.LATE_READ,
    Kind.BIND: Kind.LATE_BIND,
    Kind.MAYBE_BIND: Kind.LATE_BIND,
    Kind.DELETE: Kind.LATE_BIND,
}


def _later(item: Event) -> Event:
    return Event(_LATER.get(item.kind, item.kind), item.name, item.line)


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
    yield from _expressions(node.decorator_list, True)
    yield from _expressions([*arguments.defaults, *arguments.kw_defaults], True)
    yield from _expressions([item.annotation for item in annotated if item], True)
    yield from _expressions([node.returns], True)


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
            yield _later(item)


def _class(node: ast.ClassDef) -> Iterator[Event]:
    """A class body runs at once; its methods see the names around the class, not those of its body."""
    yield from _expressions([*node.decorator_list, *node.bases], True)
    yield from _expressions([item.value for item in node.keywords], True)
    to_module = declared(node.body, ast.Global)
    for item in scope(node.body):
        if item.name in to_module:
            yield Event(Kind.GLOBAL_BIND if item.kind in CHANGES else Kind.GLOBAL_READ, item.name, item.line)
        elif item.kind not in CHANGES and item.kind is not Kind.READ_LOCALS:
            yield item
    yield _event(Kind.BIND, node.name, node)
