"""The events of names: what statements, expressions and scopes do to them, in the order of evaluation."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

SEES_LOCALS = frozenset({"locals", "vars", "dir"})
SEES_ALL = frozenset({"globals", "eval", "exec"})
CONSUMERS = frozenset(
    {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"}
)
"""Builtins that use up an iterator, and call a function they are given, before they return."""
LAZY = frozenset({"enumerate", "filter", "map", "reversed", "zip"})
"""Builtins whose result is used up with what they were given."""


class Kind(Enum):
    """The kinds of events."""

    READ = auto()
    BIND = auto()
    MAYBE_BIND = auto()  # in a part of an expression that may be passed over
    UNBIND = auto()  # by `del`, and at the end of an `except` clause
    LATE_READ = auto()  # by a function, lambda or generator that is made here and may run at any later time
    LATE_BIND = auto()  # likewise, through `nonlocal`
    GLOBAL_READ = auto()  # likewise, of the module's variable
    GLOBAL_BIND = auto()
    READ_LOCALS = auto()  # every variable of this scope: locals(), vars(), dir()
    READ_ALL = auto()  # likewise, and every variable of the module: eval, exec, globals()


BINDS = frozenset({Kind.BIND, Kind.MAYBE_BIND})
CHANGES = BINDS | {Kind.UNBIND}


@dataclass(frozen=True, slots=True)
class Event:
    """One event of one name; of a read of every name, ``name`` is the function called."""

    kind: Kind
    name: str
    line: int

    def later(self) -> Event:
        """Return the same event in a function that may run at any later time."""
        if self.kind is Kind.READ:
            return Event(Kind.LATE_READ, self.name, self.line)
        return Event(Kind.LATE_BIND, self.name, self.line) if self.kind in CHANGES else self

    def of_module(self) -> Event:
        """Return the same event for a name that its scope declares ``global``."""
        changed = self.kind in CHANGES or self.kind is Kind.LATE_BIND
        return Event(Kind.GLOBAL_BIND if changed else Kind.GLOBAL_READ, self.name, self.line)


def event(kind: Kind, name: str, node: ast.AST) -> Event:
    """Return an event at a node."""
    return Event(kind, name, getattr(node, "lineno", 0))


# expressions


def parameters(arguments: ast.arguments) -> list[str]:
    """Return the names of a function's parameters."""
    return [argument.arg for argument in _arguments(arguments)]


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [*named, *filter(None, (arguments.vararg, arguments.kwarg))]


def expressions(nodes: Iterable[ast.expr | None], sure: bool = True) -> Iterator[Event]:
    """Yield the events of expressions in the order of evaluation; None stands for one that is left out."""
    for node in nodes:
        if node is not None:
            yield from expression(node, sure)


def expression(node: ast.expr, sure: bool = True, consumed: bool = False) -> Iterator[Event]:
    """Yield the events of an expression.

    Args:
        sure: it is surely evaluated.
        consumed: a generator or function that it makes is used up at once.
    """
    match node:
        case ast.Name(ctx=ast.Load()):
            yield event(Kind.READ, node.id, node)
        case ast.Name(ctx=ast.Del()):
            yield event(Kind.READ, node.id, node)
            yield event(Kind.UNBIND, node.id, node)
        case ast.Name():
            yield event(Kind.BIND if sure else Kind.MAYBE_BIND, node.id, node)
        case ast.NamedExpr():
            yield from expressions([node.value, node.target], sure)
        case ast.BoolOp():
            yield from expression(node.values[0], sure)
            yield from expressions(node.values[1:], False)
        case ast.IfExp():
            yield from expression(node.test, sure)
            yield from expressions([node.body, node.orelse], False)
        case ast.Compare():
            yield from expressions([node.left, node.comparators[0]], sure)
            yield from expressions(node.comparators[1:], False)
        case ast.Lambda():
            yield from expressions([*node.args.defaults, *node.args.kw_defaults], sure)
            own = set(parameters(node.args))
            yield from _inner(expression(node.body, False), own, lazy=not consumed)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from _comprehension(node, sure, consumed)
        case ast.Call():
            yield from _call(node, sure, consumed)
        case _:
            yield from expressions(_parts(node), sure)


def _inner(happening: Iterable[Event], own: set[str], *, lazy: bool) -> Iterator[Event]:
    """Yield the events inside a lambda or comprehension that are not of its own names."""
    for inner in happening:
        if inner.name not in own:
            yield inner.later() if lazy else inner


def _parts(node: ast.AST) -> Iterator[ast.expr]:
    return (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))


def _call(node: ast.Call, sure: bool, consumed: bool) -> Iterator[Event]:
    yield from expression(node.func, sure)
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    last = node.func.attr if isinstance(node.func, ast.Attribute) else name
    at_once = name in CONSUMERS or last == "reduce" or (consumed and name in LAZY)
    for argument in node.args:
        joined = last == "join" and isinstance(argument, ast.GeneratorExp)
        yield from expression(argument, sure, at_once or joined)
    for keyword in node.keywords:
        by_key = keyword.arg == "key" and (name in CONSUMERS or last == "sort")
        yield from expression(keyword.value, sure, by_key)
    bare = not node.args and not node.keywords
    if name in SEES_ALL or (name in SEES_LOCALS and bare):
        yield event(Kind.READ_ALL if name in SEES_ALL else Kind.READ_LOCALS, name, node)


def _comprehension(node: Comprehension, sure: bool, consumed: bool) -> Iterator[Event]:
    """Yield the events of the first iterable, which is evaluated here, and of the rest: later in a generator."""
    yield from expression(node.generators[0].iter, sure, consumed)
    inner: list[Event] = []
    own: set[str] = set()
    for number, generator in enumerate(node.generators):
        inner += expression(generator.iter, False) if number else ()
        bound = list(expression(generator.target, False))
        own |= {target.name for target in bound if target.kind in BINDS}
        inner += [*bound, *expressions(generator.ifs, False)]
    inner += expressions([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt], False)
    yield from _inner(inner, own, lazy=isinstance(node, ast.GeneratorExp) and not consumed)


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
            yield from _function(statement)
        case ast.ClassDef():
            yield from _class(statement)
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
        case ast.Assert():
            yield from expression(statement.test)
            yield from expressions([statement.msg], False)
        case ast.Try() | ast.Global() | ast.Nonlocal():
            return
        case _:
            yield from expressions(_parts(statement))


def _function(node: Function) -> Iterator[Event]:
    """Yield what a ``def`` evaluates at once, its name, and what the function takes from outside when it runs."""
    arguments = node.args
    yield from expressions([*node.decorator_list, *arguments.defaults, *arguments.kw_defaults])
    yield from expressions([argument.annotation for argument in _arguments(arguments)])
    yield from expressions([node.returns])
    yield event(Kind.BIND, node.name, node)
    own, to_module = own_names(node), declared(node.body, ast.Global)
    for inner in scope(node.body):
        is_global = inner.kind in (Kind.GLOBAL_READ, Kind.GLOBAL_BIND)
        if is_global or (inner.kind is Kind.READ_ALL and inner.name not in own):
            yield inner
        elif inner.name in to_module:
            yield inner.of_module()
        elif inner.name not in own and inner.kind is not Kind.READ_LOCALS:
            yield inner.later()


def _class(node: ast.ClassDef) -> Iterator[Event]:
    """Yield the events of a class body, which runs at once; its methods see the names around the class."""
    yield from expressions([*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)])
    to_module = declared(node.body, ast.Global)
    for inner in scope(node.body):
        if inner.name in to_module:
            yield inner.of_module()
        elif inner.kind not in CHANGES and inner.kind is not Kind.READ_LOCALS:
            yield inner
    yield event(Kind.BIND, node.name, node)


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


def declared(body: Iterable[ast.stmt], kind: type[ast.Global] | type[ast.Nonlocal]) -> frozenset[str]:
    """Return the names that a scope declares ``global`` or ``nonlocal``."""
    names: set[str] = set()
    for statement in statements(body):
        if isinstance(statement, kind):
            names.update(statement.names)
    return frozenset(names)


def own_names(node: Function) -> frozenset[str]:
    """Return the local variables of a function, parameters included."""
    bound = {inner.name for inner in scope(node.body) if inner.kind in CHANGES}
    outer = declared(node.body, ast.Global) | declared(node.body, ast.Nonlocal)
    return frozenset((bound | set(parameters(node.args))) - outer)
