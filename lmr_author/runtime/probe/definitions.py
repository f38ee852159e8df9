"""Finding one of the definitions of a function in a syntax tree."""

from __future__ import annotations

import ast
from typing import Any, Tuple, Union

from .functions import definitions

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]


class TargetNotFound(Exception):
    """The source has no such function, or no Python."""


def find(tree: ast.Module, qualname: str, line: int = 0, nth: int = 0) -> Tuple[ast.stmt, ...]:
    """Return the definitions that lead to a function, itself last. Raises TargetNotFound.

    Of several definitions of the name, ``line`` or ``nth`` (from 1) selects one; the last otherwise.
    """
    matches = definitions(tree, qualname)
    if not matches:
        raise TargetNotFound("there is no function %s" % qualname)
    if nth > len(matches):
        raise TargetNotFound("there are %d functions %s, not %d" % (len(matches), qualname, nth))
    if nth:
        return matches[nth - 1]
    at_line = [path for path in matches if def_line(path[-1]) == line]
    if line and not at_line and len(matches) > 1:
        raise TargetNotFound("there is no function %s at line %d" % (qualname, line))
    return (at_line or matches)[-1]


def def_line(node: Any) -> int:
    """Return the line of the ``def`` itself; before Python 3.8 a node's line is that of its first decorator."""
    last_decorator = max(map(last_line, node.decorator_list), default=0)
    return int(node.lineno if node.lineno > last_decorator else last_decorator + 1)


def last_line(node: Any) -> int:
    return max(getattr(part, "lineno", 0) for part in ast.walk(node))
