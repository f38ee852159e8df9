"""Assertions that only a thread or another process runs, and nobody looks at whether they held."""

from __future__ import annotations

import ast

from lmr_author.checks.base import Wrong
from lmr_author.checks.reading import Reading
from lmr_author.checks.sites import is_site_call
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.source import each, walk

_STARTERS = {"Thread": "a thread", "Process": "a process", "submit": "an executor", "apply_async": "a pool"}
"""What starts a function that nobody waits for → where it runs."""
_LOOKS = frozenset(
    """
    exitcode excepthook is_alive settrace interrupt_main kill _exit abort
    result exception get add_done_callback as_completed wait
    """.split()  # noqa: SIM905
)
_OR = {
    "Process": ", or assert its exitcode",
    "submit": ", or ask for its result()",
    "apply_async": ", or ask for it by get()",
}
_HANDED_ON = frozenset({"append", "put", "set", "send", "add", "write"})


def unseen(test: Reading) -> Wrong | None:
    """What to say where all that can fail is in the target of a thread; None where anything else may tell of it."""
    tree = test.module.tree
    started = {_target(call): call for call in each(tree, ast.Call) if last_name(call.func) in _STARTERS}
    functions = [item for item in each(tree, ast.FunctionDef) if item.name in started]
    if test.helpers or not functions or len(functions) != len(started):
        return None
    if any(last_name(item) in _LOOKS for item in each(tree, ast.Attribute, ast.Name)) or each(
        tree, ast.ClassDef
    ):
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
    starter = last_name(call.func)
    return Wrong(
        f"it cannot fail: its assertions are in {functions[0].name}, which runs in {_STARTERS[starter]} of its own,"
        " and nothing looks at whether it failed",
        f"compare in the main program what it hands back{_OR.get(starter, '')}",
        call.lineno,
    )


def _target(call: ast.Call) -> str:
    """The function that a thread or an executor is given by name."""
    if last_name(call.func) in ("submit", "apply_async"):
        return dotted(call.args[0]) if call.args else ""
    return next((dotted(item.value) for item in call.keywords if item.arg == "target"), "")


def _says_nothing(function: ast.FunctionDef) -> bool:
    """Whether a function hands nothing on by which its failure could be told: a list, a queue, a flag."""
    for item in walk(function):
        if isinstance(item, ast.Global | ast.Nonlocal | ast.Try | ast.With):
            return False
        if isinstance(item, ast.Subscript | ast.Attribute) and isinstance(item.ctx, ast.Store):
            return False
        if isinstance(item, ast.Call) and last_name(item.func) in _HANDED_ON:
            return False
    return not function.decorator_list
