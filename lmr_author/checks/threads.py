"""Assertions that only a thread or another process runs, and nobody looks at whether they held."""

from __future__ import annotations

import ast

from lmr_author.checks.base import Wrong
from lmr_author.checks.reading import Reading
from lmr_author.checks.sites import is_site_call
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.source import each, walk

_STARTERS = frozenset({"Thread", "Process"})
_LOOKS = frozenset(
    {"exitcode", "excepthook", "is_alive", "settrace", "interrupt_main", "kill", "_exit", "abort"}
)


def unseen(test: Reading) -> Wrong | None:
    """What to say where all that can fail is in the target of a thread; None where anything else may tell of it."""
    tree = test.module.tree
    started = {_target(call): call for call in each(tree, ast.Call) if last_name(call.func) in _STARTERS}
    functions = [item for item in each(tree, ast.FunctionDef) if item.name in started]
    if test.helpers or not functions or len(functions) != len(started):
        return None
    if any(item.attr in _LOOKS for item in each(tree, ast.Attribute)) or each(tree, ast.ClassDef):
        return None
    own = {id(item) for function in functions for item in walk(function)}
    used = [item.id for item in each(tree, ast.Name) if item.id in started]
    if len(used) != len(started) or not all(map(_says_nothing, functions)):
        return None
    sites: list[ast.AST] = list(each(tree, ast.Assert, ast.Raise))
    sites += [item for item in each(tree, ast.Call) if is_site_call(item)]
    if not sites or any(id(item) not in own for item in sites):
        return None
    call = started[functions[0].name]
    kind = "thread" if last_name(call.func) == "Thread" else "process"
    return Wrong(
        f"it cannot fail: its assertions are in {functions[0].name}, which runs in a {kind} of its own,"
        " and nothing looks at whether it failed",
        "compare in the main program what it hands back"
        + (", or assert its exitcode" if kind == "process" else ""),
        call.lineno,
    )


def _target(call: ast.Call) -> str:
    """The function that a thread is given by name."""
    return next((dotted(item.value) for item in call.keywords if item.arg == "target"), "")


def _says_nothing(function: ast.FunctionDef) -> bool:
    """Whether a function hands nothing on by which its failure could be told: a list, a queue, a flag."""
    for item in walk(function):
        if isinstance(item, ast.Global | ast.Nonlocal | ast.Try | ast.With):
            return False
        if isinstance(item, ast.Subscript | ast.Attribute) and isinstance(item.ctx, ast.Store):
            return False
        if isinstance(item, ast.Call) and last_name(item.func) in (
            "append",
            "put",
            "set",
            "send",
            "add",
            "write",
        ):
            return False
    return not function.decorator_list
