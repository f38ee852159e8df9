"""Small questions about code: how something is called, what a name is set to, which modules are imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lmr_author.source import each


def imported_modules(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """(dotted name, level) of every module that may be imported; for ``from a import b`` also ``a.b``."""
    for node in each(tree, ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, 0
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level
            for alias in node.names:
                yield (f"{node.module}.{alias.name}" if node.module else alias.name), node.level


def dotted(node: ast.AST) -> str:
    """``a.b.c`` of a name or attribute; a call or subscript inside becomes ``()``; "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else f"().{node.attr}"
    return ""


def last_name(node: ast.AST) -> str:
    """``c`` of ``a.b.c`` and ``f().c``, ``a`` of ``a``; "" for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def single_assignments(tree: ast.AST) -> dict[str, ast.expr]:
    """Names that a module assigns exactly once, with their values."""
    values: dict[str, list[ast.expr | None]] = {}
    for node in each(tree, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Name, ast.arg):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            values.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            values.setdefault(node.id, [])
        elif isinstance(node, ast.arg):
            values.setdefault(node.arg, []).append(None)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            values.setdefault(node.target.id, []).append(None)
    counts: dict[str, int] = {}
    for node in each(tree, ast.Name):
        if isinstance(node.ctx, ast.Store):
            counts[node.id] = counts.get(node.id, 0) + 1
    return {
        name: found[0]
        for name, found in values.items()
        if len(found) == 1 and found[0] is not None and counts.get(name, 1) == 1
    }


def argument(node: ast.Call, place: int, keyword: str) -> ast.expr | None:
    """An argument of a call, by its place or by its keyword; None when it is not given."""
    for item in node.keywords:
        if item.arg == keyword:
            return item.value
    return node.args[place] if place < len(node.args) else None


def texts(tree: ast.AST) -> Iterator[str]:
    """Every text constant, pieces of f-strings included, docstrings not."""
    documentation = {
        id(node.body[0].value)
        for node in each(tree, ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in each(tree, ast.Constant):
        if isinstance(node.value, str) and id(node) not in documentation:
            yield node.value
