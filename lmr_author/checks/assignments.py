"""What names stand for: the values that a scope gives them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from lmr_author.checks.syntax import dotted
from lmr_author.source import children, form

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)

Scope = dict[str, tuple[ast.expr, int] | None]


def assigned(node: ast.AST, outer: Scope) -> Scope:
    """Names with exactly one assignment in a scope (functions inside left out), with those of the outer one."""
    values: dict[str, list[tuple[ast.expr, int] | None]] = {}
    own = own_nodes(node)
    simple: set[int] = set()
    for item in own:
        if not isinstance(item, ast.Assign) or len(item.targets) != 1:
            continue
        target = item.targets[0]
        parts = list(enumerate(target.elts)) if isinstance(target, ast.Tuple | ast.List) else [(-1, target)]
        for place, name in parts:
            if isinstance(name, ast.Name):
                simple.add(id(name))
                values.setdefault(name.id, []).append(_part(item.value, place))
    opened = {
        id(item.optional_vars): item.context_expr
        for statement in own
        if isinstance(statement, ast.With)
        for item in statement.items
        if item.optional_vars is not None
    }
    paired = {key: value for item in own if isinstance(item, _LOOPS) for key, value in _looped(item)}
    for item in own:
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store) and id(item) not in simple:
            context = opened.get(id(item), paired.get(id(item)))
            values.setdefault(item.id, []).append((context, -1) if context is not None else None)
        elif isinstance(item, ast.arg):
            values.setdefault(item.arg, []).append(None)
    return outer | {name: _same(seen) for name, seen in values.items()}


def _looped(loop: ast.For | ast.AsyncFor | ast.comprehension) -> Iterator[tuple[int, ast.expr]]:
    """For each name of ``for a, b in zip(x, y)`` what stands for its value: ``x[0]``, ``y[0]``.

    For the name of ``for a in x`` it is ``x`` at this place: another loop over ``x`` may be at another of its values.
    """
    call, target = loop.iter, loop.target
    if isinstance(target, ast.Name):
        place = ast.Constant(f"{call.lineno}:{call.col_offset}")
        yield id(target), ast.Subscript(call, place, ast.Load())
    if isinstance(call, ast.Call) and dotted(call.func) == "zip" and isinstance(target, ast.Tuple):
        for name, values in zip(target.elts, call.args, strict=False):
            yield id(name), ast.Subscript(values, ast.Constant(0), ast.Load())


def _same(seen: list[tuple[ast.expr, int] | None]) -> tuple[ast.expr, int] | None:
    """The one value that a name is given, however often."""
    forms = {(form(one[0]), one[1]) if one else None for one in seen}
    return seen[0] if len(forms) == 1 else None


def _part(value: ast.expr, place: int) -> tuple[ast.expr, int]:
    if place >= 0 and isinstance(value, ast.Tuple | ast.List) and place < len(value.elts):
        return value.elts[place], -1
    return value, place


@lru_cache(maxsize=256)
def own_nodes(node: ast.AST) -> tuple[ast.AST, ...]:
    """Everything of a scope but what is in functions and classes inside of it, kept: it is asked for again."""
    found: list[ast.AST] = []
    stack = children(node)
    while stack:
        item = stack.pop()
        found.append(item)
        if not isinstance(item, _SCOPES):
            stack += children(item)
    return tuple(found)
