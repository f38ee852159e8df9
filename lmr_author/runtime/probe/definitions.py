"""Finding the definitions of a function in a syntax tree, and building one that is nested in another."""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any, Iterator, List, Sequence, Tuple, Union, cast

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


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


def definitions(tree: ast.Module, qualname: str) -> List[Tuple[ast.stmt, ...]]:
    """List the functions of a name, each with the definitions around it, outermost first."""
    paths: List[Tuple[ast.AST, ...]] = [(tree,)]
    for name in qualname.split("."):
        paths = [(*path, node) for path in paths for node in _defined_in(path[-1]) if node.name == name]
    return [cast(Tuple[ast.stmt, ...], path[1:]) for path in paths if isinstance(path[-1], FUNCTIONS)]


def _defined_in(parent: ast.AST) -> Iterator[Any]:
    """Yield the functions and classes in a body, those in its branches and loops too."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node
        elif isinstance(node, (ast.stmt, ast.ExceptHandler)) or type(node).__name__ == "match_case":
            yield from _defined_in(node)


def def_line(node: Any) -> int:
    """Return the line of the ``def`` itself; before Python 3.8 a node's line is that of its first decorator."""
    last_decorator = max(map(last_line, node.decorator_list), default=0)
    return int(node.lineno if node.lineno > last_decorator else last_decorator + 1)


def last_line(node: Any) -> int:
    return max(getattr(part, "lineno", 0) for part in ast.walk(node))


def closure_factory(tree: ast.Module, target: Any, filename: str, free: Sequence[str]) -> CodeType:
    """Return code that defines ``__lmr_outer__``: given the free variables, it returns the target.

    Args:
        tree: the module, for its ``__future__`` imports.
        target: the nested function; its decorators are left as they are.
    """
    names = [name for name in free if name != target.name]
    text = "def __lmr_outer__(%s):\n    def %s(): pass\n    return %s\n"
    outer: Any = ast.parse(text % (", ".join(names), target.name, target.name), filename)
    outer.body[0].body[0] = target
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    outer.body[:0] = [node for node in imports if node.module == "__future__"]
    return compile(outer, filename, "exec", dont_inherit=True)
