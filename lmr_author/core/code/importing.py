"""What runs when a file is imported, and what that leaves unset or demands."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import TypeGuard

from lmr_author.core.code.tree import bindings, each, root_name, walk, with_callees

PYTHON_2 = frozenset(
    {"basestring", "cmp", "execfile", "long", "raw_input", "reduce", "unichr", "unicode", "xrange"}
)
"""Builtins that Python 3 no longer has."""
MODULE_NAMES = frozenset({"__annotations__", "__cached__", "__file__", "__path__"})
"""Names that every module has, beside those of :mod:`builtins`."""
_VERSIONS = frozenset({"PY2", "PY3", "version_info", "python_2_unicode_compatible"})


def is_main_guard(node: ast.AST) -> TypeGuard[ast.If]:
    """Return True for ``if __name__ == "__main__":``, also with a further condition, or misspelt as ``"main"``.

    Its body runs in a script only, or never; its ``else`` runs on import.
    """
    if not isinstance(node, ast.If):
        return False
    test = node.test
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(_compares_name, test.values))
    return _compares_name(test)


def _compares_name(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq | ast.Is | ast.In):
        return False
    sides = [test.left, *test.comparators]
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)


def running(tree: ast.Module) -> Iterator[ast.AST]:
    """Return the nodes that run on import, in the order of the file; of functions only decorators and defaults.

    What an ``if`` keeps from running is taken to run.
    """
    stack: list[ast.AST] = list(reversed(tree.body))
    while stack:
        node = stack.pop()
        if is_main_guard(node):
            stack += reversed(node.orelse)
            continue
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            stack += [*getattr(node, "decorator_list", []), *node.args.defaults]
            stack += filter(None, node.args.kw_defaults)
        else:
            stack += reversed(list(ast.iter_child_nodes(node)))


def demanded(tree: ast.Module) -> str:
    """Return the end of a sentence about a file that demands a command line on import, with the line; "" for others."""
    line, argument = 0, ""
    for call in running(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr == "add_argument":
            argument = argument or _required(call)
        elif call.func.attr in ("parse_args", "parse_known_args") and not (call.args or call.keywords):
            line = line or call.lineno
    if not line or not argument:
        return ""
    return f"reads the command line when it is imported (line {line}) and demands {argument}"


def _required(call: ast.Call) -> str:
    """Return the name of an argument that has to be given; "" for one that need not."""
    values = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    names = [value for value in values if isinstance(value, str)]
    if not names:
        return ""
    options = {}
    for keyword in call.keywords:
        options[keyword.arg] = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    if names[0].startswith("-"):
        return names[-1] if options.get("required") is True else ""
    return "" if options.get("nargs") in ("?", "*") else names[0]


def set_at_run_time(tree: ast.Module, function: ast.AST) -> tuple[str, ...]:
    """Return the globals that a function, or its callees in the file, read and that importing the file does not set.

    Such as ``args`` of a script that parses its command line below ``if __name__ == "__main__"``, and what a
    function of the file rebinds by ``global``.
    """
    imported = {*dir(builtins), *MODULE_NAMES, *bindings(running(tree))}
    if "*" in imported:
        return ()
    rebound = {name for node in each(tree, ast.Global) for name in node.names}
    return tuple(sorted(_global_names(tree, function) - (imported - rebound)))


def python_2_names(tree: ast.Module, function: ast.AST) -> tuple[str, ...]:
    """Return the builtins of Python 2 that a function, or its callees in the file, use and the file does not bind.

    () where the file asks for Python's version.
    """
    used = _global_names(tree, function) & PYTHON_2
    if not used:
        return ()
    bound = set(bindings(walk(tree)))
    attributes = {node.attr for node in each(tree, ast.Attribute)}
    if "*" in bound or _VERSIONS & (bound | attributes):
        return ()
    return tuple(sorted(used - bound))


def _global_names(tree: ast.Module, function: ast.AST) -> set[str]:
    """Return the names that a function and its callees in the file use and do not bind themselves."""
    used: set[str] = set()

    def called(node: ast.AST) -> set[str]:
        stated = {name for statement in each(node, ast.Global) for name in statement.names}
        bound = set(bindings(walk(node))) - stated
        read = {name.id for name in each(node, ast.Name) if isinstance(name.ctx, ast.Load)}
        read |= {root_name(statement.target) for statement in each(node, ast.AugAssign)}
        used.update(read - bound)
        return (read - bound) | {attribute.attr for attribute in each(node, ast.Attribute)}

    with_callees(function, tree, called)
    return used
