"""What code demands of the place it runs in: what runs on import, and which lines need a GPU."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from typing import TypeGuard

from lmr_author.core.code.tree import (
    bindings,
    each,
    last_name,
    root_name,
    walk,
    with_callees,
)

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
    match node:
        case ast.If(test=ast.BoolOp(op=ast.And(), values=tests)):
            return any(map(_compares_name, tests))
        case ast.If(test=test):
            return _compares_name(test)
    return False


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
    options = {keyword.arg: getattr(keyword.value, "value", None) for keyword in call.keywords}
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


_NEEDS_GPU = re.compile(
    r"\w+Tensor|current_device|get_device_\w+|get_rng_state\w*|set_device|synchronize|memory_\w+|Stream|Event"
)
"""Functions of ``torch.cuda`` that fail without a GPU."""


def gpu_lines(function: ast.AST, tree: ast.Module | None = None) -> list[int]:
    """Return the lines of a function that insist on a GPU: ``x.cuda()``, the device ``"cuda"``, ``torch.cuda.Stream``.

    None where it asks for one, and no text that is compared or chosen between; a default is the caller's choice.

    Args:
        tree: its file, to add the lines of the functions of the file that it calls.
    """
    lines: set[int] = set()

    def called(function: ast.AST) -> set[str]:
        nodes = [node for statement in getattr(function, "body", ()) for node in ast.walk(statement)]
        functions = [node.func for node in nodes if isinstance(node, ast.Call)]
        if not _asks(nodes):
            lines.update(_gpu_lines(nodes))
        by_name = [
            node for node in functions if isinstance(node, ast.Name) or root_name(node) in ("self", "cls")
        ]
        return {last_name(node) for node in by_name}

    with_callees(function, tree, called)
    return sorted(lines)


def lines_on_gpu(function: ast.AST) -> set[int]:
    """Return the lines that run only for a tensor on a GPU: those below ``if x.is_cuda``."""
    lines = set[int]()
    for node in each(function, ast.If):
        if isinstance(node.test, ast.Attribute) and node.test.attr == "is_cuda":
            lines.update(range(node.body[0].lineno, (node.body[-1].end_lineno or 0) + 1))
    return lines


def _asks(nodes: list[ast.AST]) -> bool:
    """Return True where a function asks for a GPU or a tensor's device; an ``assert`` does not ask but demands."""
    asking = set(nodes)
    for demand in nodes:
        if isinstance(demand, ast.Assert):
            asking.difference_update(ast.walk(demand))
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("is_available", "is_cuda") for node in asking
    )


def _gpu_lines(nodes: list[ast.AST]) -> Iterator[int]:
    chosen: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Compare):
            chosen.update((node.left, *node.comparators))
        elif isinstance(node, ast.IfExp):
            chosen.update((*ast.walk(node.body), *ast.walk(node.orelse)))
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            in_cuda = last_name(node.func.value) == "cuda"
            if node.func.attr == "cuda" or (in_cuda and _NEEDS_GPU.fullmatch(node.func.attr)):
                yield node.lineno
        elif isinstance(node, ast.Constant) and node not in chosen and _names_gpu(node.value):
            yield node.lineno


def _names_gpu(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"cuda(:\d*)?", value) is not None
