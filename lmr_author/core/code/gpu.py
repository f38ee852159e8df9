"""Lines that need a GPU: those that insist on one, and those that no CPU runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.core.code.tree import blocks, first_line, last_name, root_name, with_callees

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


def _asks(nodes: list[ast.AST]) -> bool:
    """Return True where a function asks whether there is a GPU; an ``assert`` does not ask but demands."""
    demands = {part for node in nodes if isinstance(node, ast.Assert) for part in ast.walk(node)}
    for node in nodes:
        if isinstance(node, ast.Call) and last_name(node.func) == "is_available" and node not in demands:
            return True
    return False


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


def gpu_only(function: ast.AST) -> list[tuple[int, int]]:
    """Return first and last lines of what no CPU runs: below ``if x.is_cuda``, and after ``assert x.is_cuda``."""
    ranges = []
    for block in blocks(function):
        for number, statement in enumerate(block, 1):
            if guarded := _below_gpu_question(statement, block[number:]):
                ranges.append((first_line(guarded[0]), guarded[-1].end_lineno or 0))
    return ranges


def _below_gpu_question(statement: ast.stmt, rest: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements that run only where a statement found a GPU. ``rest``: those after it in its block."""
    if isinstance(statement, ast.Assert):
        return rest if _asks_for_gpu(statement.test) else []
    if not isinstance(statement, ast.If):
        return []
    test = statement.test
    if _asks_for_gpu(test):
        return statement.body
    if (
        not isinstance(test, ast.UnaryOp)
        or not isinstance(test.op, ast.Not)
        or not _asks_for_gpu(test.operand)
    ):
        return []
    ends = isinstance(statement.body[-1], ast.Raise | ast.Return)
    return statement.orelse or (rest if ends else [])


def _asks_for_gpu(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp):
        return isinstance(test.op, ast.And) and any(map(_asks_for_gpu, test.values))
    if isinstance(test, ast.Call):
        return ast.unparse(test.func).endswith("cuda.is_available")
    return isinstance(test, ast.Attribute) and test.attr == "is_cuda"
