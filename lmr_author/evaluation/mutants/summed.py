"""Statements that only give a value another shape before all of it is summed: no shape changes that sum."""

from __future__ import annotations

import ast

SHAPES = frozenset({"contiguous", "flatten", "ravel", "squeeze"})
"""Methods that keep all elements."""
WHOLE = frozenset({"mean", "sum"})
"""Methods that, without arguments, make one number of all elements."""
_UNSURE = (ast.For, ast.While, ast.AsyncFor, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
"""Where these are, the order of a file is not the order in which it runs."""


def only_shapes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[ast.stmt]:
    """Statements such as ``x = x.squeeze(-1)``, where what is done next with ``x`` is ``x = x.sum()``.

    The sum stands in the function's own block, so that it is always reached.
    """
    inside = [node for statement in function.body for node in ast.walk(statement)]
    statements = [node for node in inside if isinstance(node, ast.Assign)]
    shaping = [(node, name) for node in statements if (name := _of_itself(node, SHAPES, most=2))]
    if not shaping or any(isinstance(node, _UNSURE) for node in inside):
        return frozenset()
    summed = {node.lineno: name for node in function.body if (name := _of_itself(node, WHOLE, most=0))}
    loads = [node for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    found: list[ast.stmt] = []
    for node, name in shaping:
        later = [
            load.lineno
            for load in loads
            if load.id == name and load.lineno > (node.end_lineno or node.lineno)
        ]
        if later and summed.get(min(later)) == name:
            found.append(node)
    return frozenset(found)


def _of_itself(node: ast.stmt, methods: frozenset[str], most: int) -> str:
    """The name that a statement gives the result of one of its own methods; "" for any other.

    Args:
        most: arguments that the method may be given.
    """
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.value, ast.Call):
        return ""
    target, call = node.targets[0], node.value
    if not isinstance(target, ast.Name) or not isinstance(call.func, ast.Attribute):
        return ""
    own = isinstance(call.func.value, ast.Name) and call.func.value.id == target.id
    plain = len(call.args) + len(call.keywords) <= most and call.func.attr in methods
    return target.id if own and plain else ""
