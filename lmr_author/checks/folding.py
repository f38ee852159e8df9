"""What an expression comes to where some of its names are known, and nothing is run."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from lmr_author.checks.syntax import last_name

UNKNOWN: Any = object()
RAISES: Any = object()
"""Of a name that has no value: to read it is an error."""

_EMPTY = {ast.List: list, ast.Tuple: tuple, ast.Set: set}
_COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip
_SAME = ast.Eq | ast.NotEq | ast.Is | ast.IsNot
_CALLED: dict[str, Callable[[Any], Any]] = {
    one.__name__: one for one in (bool, int, len, all, any, sum, list)
}


def folded(node: ast.expr | None, known: Mapping[str, Any]) -> Any:
    """The value of an expression; UNKNOWN or RAISES where it has none that can be told.

    Args:
        known: name, ``.attribute`` or ``function()`` → value. What is compared with something unknown is taken to
            differ from it, and to be less.
    """
    match node:
        case None:
            return None
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return known.get(name, UNKNOWN)
        case ast.Attribute(attr=name):
            return known.get(f".{name}", UNKNOWN)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            value = folded(inner, known)
            return value if value is RAISES or value is UNKNOWN else not value
        case ast.BoolOp(op=kind, values=values):
            return _joined(isinstance(kind, ast.Or), [folded(item, known) for item in values])
        case ast.IfExp(test=test, body=body, orelse=orelse):
            chosen = folded(test, known)
            return (
                chosen if chosen is RAISES or chosen is UNKNOWN else folded(body if chosen else orelse, known)
            )
        case ast.Compare(left=left, ops=[kind], comparators=[right]):
            return _compared(kind, folded(left, known), folded(right, known))
        case ast.List() | ast.Tuple() | ast.Set():
            return UNKNOWN if node.elts else _EMPTY[type(node)]()
        case ast.Dict():
            return UNKNOWN if node.keys else {}
        case ast.Call():
            return _called(node, known)
    return UNKNOWN


def _joined(is_or: bool, values: list[Any]) -> Any:
    for value in values:
        if value is RAISES or value is UNKNOWN:
            return value if value is RAISES else _decided(is_or, values)
        if bool(value) is is_or:
            return value
    return values[-1]


def _decided(is_or: bool, values: list[Any]) -> Any:
    """True of ``x or True``, whatever x is; False of ``x and False``."""
    known = [value for value in values if value is not RAISES and value is not UNKNOWN]
    return is_or if any(bool(value) is is_or for value in known) else UNKNOWN


def _compared(kind: ast.cmpop, left: Any, right: Any) -> Any:
    if RAISES in (left, right):
        return RAISES
    if left is UNKNOWN and right is UNKNOWN:
        return UNKNOWN
    if UNKNOWN in (left, right):
        if isinstance(kind, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            return isinstance(kind, ast.Lt | ast.LtE) is (right is UNKNOWN)
        return isinstance(kind, ast.NotEq | ast.IsNot) if isinstance(kind, _SAME) else UNKNOWN
    compare = _COMPARE.get(type(kind))
    try:
        return bool(compare(left, right)) if compare else UNKNOWN
    except TypeError:
        return RAISES


def _called(node: ast.Call, known: Mapping[str, Any]) -> Any:
    name = last_name(node.func)
    if f"{name}()" in known:
        return known[f"{name}()"]
    values = [folded(item, known) for item in node.args]
    if RAISES in values:
        return RAISES
    if name == "values" and isinstance(node.func, ast.Attribute):
        value = folded(node.func.value, known)
        return list(value.values()) if isinstance(value, dict) else UNKNOWN
    if len(values) != 1 or values[0] is UNKNOWN or name not in _CALLED:
        return UNKNOWN
    try:
        return _CALLED[name](values[0])
    except (TypeError, ValueError):
        return RAISES
