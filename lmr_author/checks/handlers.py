"""What an ``except``, or a ``with suppress``, does to a failure."""

from __future__ import annotations

import ast
from collections.abc import Collection

from lmr_author.checks.sites import is_exit, is_none, is_quiet_exit, is_site_call, is_zero, mentions
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.source import bound_by, each, walk

_BROAD = frozenset({"Exception", "BaseException", "AssertionError", "SystemExit", "NotImplementedError"})
_IMPORTS = frozenset({"Exception", "BaseException", "ImportError", "ModuleNotFoundError"})
_EXITS = frozenset({"BaseException", "SystemExit"})


def suppresses(node: ast.stmt) -> bool:
    """Whether a statement is ``with suppress(Exception):``, or of another exception that a failing test raises."""
    return isinstance(node, ast.With) and any(
        isinstance(item.context_expr, ast.Call)
        and dotted(item.context_expr.func).rpartition(".")[2] == "suppress"
        and any(dotted(name).rpartition(".")[2] in _BROAD for name in item.context_expr.args)
        for item in node.items
    )


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches what a failing test raises."""
    return handler.type is None or not _BROAD.isdisjoint(_caught(handler.type))


def catches_exit(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches an exit, and the program goes on."""
    caught = handler.type is None or not _EXITS.isdisjoint(_caught(handler.type))
    return caught and not any(isinstance(item, ast.Raise) or is_exit(item) for item in walk(handler))


def _caught(node: ast.expr) -> list[str]:
    """The names of the exceptions behind an ``except``."""
    return list(map(last_name, node.elts if isinstance(node, ast.Tuple) else [node]))


def own_version(tree: ast.Module, names: Collection[str]) -> int:
    """The line where a failing import of some names is caught, and one of them defined anew; 0 for none."""
    for node in each(tree, ast.Try):
        imports = [line for line in node.body if isinstance(line, ast.Import | ast.ImportFrom)]
        imported = {name for line in imports for name in bound_by(line)} & set(names)
        for statement in (line for handler in node.handlers for line in handler.body):
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name in imported:
                return statement.lineno
            if isinstance(statement, ast.Assign) and imported & set(map(last_name, statement.targets)):
                return statement.lineno
    return 0


def given_up(tree: ast.Module, names: Collection[str]) -> int:
    """The line where a failing import of one of some names or modules ends the test well; 0 for none."""
    for node in each(tree, ast.Try):
        imports = [line for line in node.body if isinstance(line, ast.Import | ast.ImportFrom)]
        parts = {alias.name.rpartition(".")[2] for line in imports for alias in line.names}
        parts |= {
            (line.module or "").rpartition(".")[2] for line in imports if isinstance(line, ast.ImportFrom)
        }
        if parts & set(names) and any(_gives_up(handler) for handler in node.handlers):
            return node.lineno
    return 0


def _gives_up(handler: ast.ExceptHandler) -> bool:
    """Whether what follows a failing import is an end with 0, or a skip."""
    caught = _caught(handler.type) if handler.type is not None else ["Exception"]
    if _IMPORTS.isdisjoint(caught):
        return False
    calls = [item for item in walk(handler) if isinstance(item, ast.Call)]
    return any(
        is_quiet_exit(call) or last_name(call.func) in ("skip", "SkipTest", "skipTest") for call in calls
    )


def gives_nothing(handler: ast.ExceptHandler) -> bool:
    """Whether a function returns nothing true from here, when nothing follows."""
    values = [item.value for item in walk(handler) if isinstance(item, ast.Return)]
    return all(value is None or is_zero(value) for value in values)


def lets_through(handler: ast.ExceptHandler | ast.FunctionDef, function: str, exit_texts: str) -> bool:
    """Whether a handler, or an ``__exit__``, makes the program fail all the same, or hands the failure on as a value.

    Args:
        function: the name of the function that it stands in.
        exit_texts: what exits, raises and assertions hang on.
    """
    for node in walk(handler):
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and is_site_call(node)):
            return True
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            kept = last_name(node.value if isinstance(node, ast.Subscript) else node)
            if kept and mentions(exit_texts, kept):
                return True
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("append", "add")
            and mentions(exit_texts, dotted(node.func.value).rpartition(".")[2])
        ):
            return True
        gives = isinstance(node, ast.Return) and node.value is not None and not is_none(node.value)
        if gives and function and mentions(exit_texts, function):
            return True
    return False


def ends_quietly(body: list[ast.stmt]) -> bool:
    """Whether a block ends the process with 0, whichever way is taken."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return ends_quietly(last.body) and ends_quietly(last.orelse)
    return isinstance(last, ast.Expr) and is_quiet_exit(last.value)


def is_wanted(node: ast.Try, handler: ast.ExceptHandler, following: ast.stmt | None) -> bool:
    """Whether a failure is what is wanted: it ends the function well, and without it the test fails."""
    if any(_fails(item) for item in node.orelse):
        return True
    ends = bool(handler.body) and isinstance(handler.body[-1], ast.Return | ast.Continue)
    return ends and following is not None and _fails(following)


def ends_badly(node: ast.Try | ast.With, following: ast.stmt | None) -> bool:
    """Whether what is tried ends the program well, and what follows fails: ``sys.exit(0)``, then ``sys.exit(1)``."""
    return following is not None and _fails(following) and ends_quietly(node.body)


def _fails(node: ast.stmt) -> bool:
    """Whether a statement fails the test, whatever the values are."""
    return (
        isinstance(node, ast.Raise)
        or (isinstance(node, ast.Assert) and is_zero(node.test))
        or (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and dotted(node.value.func).rpartition(".")[2] in ("fail", "exit", "_exit")
            and not is_quiet_exit(node.value)
        )
    )
