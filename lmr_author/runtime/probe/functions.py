"""Functions in a syntax tree: their definitions, and building one that is nested in another."""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any, Iterator, List, Sequence, Tuple, cast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def definitions(tree: ast.Module, qualname: str) -> List[Tuple[ast.stmt, ...]]:
    """List the functions of a name, each below its enclosing definitions."""
    paths: List[Tuple[ast.AST, ...]] = [(tree,)]
    for name in qualname.split("."):
        paths = [(*path, node) for path in paths for node in _defined_in(path[-1]) if node.name == name]
    return [cast(Tuple[ast.stmt, ...], path[1:]) for path in paths if isinstance(path[-1], FUNCTIONS)]


def _defined_in(parent: ast.AST) -> Iterator[Any]:
    """Yield the functions and classes in a body, its branches and its loops."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node
        elif isinstance(node, (ast.stmt, ast.ExceptHandler)) or type(node).__name__ == "match_case":
            yield from _defined_in(node)


def closure_factory(tree: ast.Module, target: Any, filename: str, free: Sequence[str]) -> CodeType:
    """Return code that defines ``__lmr_outer__``, a function of the free variables that returns the target.

    ``tree``: the module, for its ``__future__`` imports.
    """
    names = [name for name in free if name != target.name]
    text = "def __lmr_outer__(%s):\n    def %s(): pass\n    return %s\n"
    outer: Any = ast.parse(text % (", ".join(names), target.name, target.name), filename)
    outer.body[0].body[0] = target
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    outer.body[:0] = [node for node in imports if node.module == "__future__"]
    return compile(outer, filename, "exec", dont_inherit=True)
