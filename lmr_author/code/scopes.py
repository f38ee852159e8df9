"""Names that a function, a module and enclosing functions define."""

from __future__ import annotations

import ast

from lmr_author.code.module import FunctionNode, Module
from lmr_author.code.tree import bound_by, children, is_main_guard, walk


def module_names(module: Module) -> set[str]:
    """Return the names bound at a module's top level, in whatever block but the one that only a script runs."""
    names: set[str] = set()
    stack: list[ast.AST] = list(module.tree.body)
    while stack:
        node = stack.pop()
        if is_main_guard(node):
            stack += node.orelse
            continue
        names |= _bound_by(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            stack.extend(children(node))
        else:
            names |= {name for item in walk(node) if isinstance(item, ast.Global) for name in item.names}
    return names


def bound_names(node: FunctionNode) -> set[str]:
    """Return the parameters and the names bound anywhere in a function's body."""
    arguments = node.args
    names = {item.arg for item in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    names |= {item.arg for item in (arguments.vararg, arguments.kwarg) if item}
    for statement in node.body:
        for item in walk(statement):
            names |= _bound_by(item)
            if isinstance(item, ast.arg):
                names.add(item.arg)
    return names


def _bound_by(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Store | ast.Del) else set()
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return set(bound_by(node))
    if isinstance(node, ast.ExceptHandler):
        return {node.name} if node.name else set()
    if isinstance(node, ast.MatchAs | ast.MatchStar):
        return {node.name} if node.name else set()
    return set()


def enclosing_names(module: Module, qualname: str) -> set[str]:
    """Return the names that the functions around a nested function bind."""
    names: set[str] = set()
    parts = qualname.split(".")
    around = {".".join(parts[:count]) for count in range(1, len(parts))}
    for item in module.definitions:
        if item.qualname in around and not isinstance(item.node, ast.ClassDef):
            names |= bound_names(item.node)
    return names
