"""A value that is compared with a copy of itself, made a moment ago."""

from __future__ import annotations

import ast

from lmr_author.checks.comparing import Comparison, core
from lmr_author.checks.syntax import dotted
from lmr_author.source import form, nodes, walk

_COPIES = frozenset({"deepcopy", "copy", "clone"})
_QUIET = frozenset({"print", "len", "type", "str", "repr", "debug", "info", "warning"})
"""Calls that change nothing that is compared."""


def copied_name(one: Comparison, tree: ast.Module) -> str:
    """The name of what is compared with its own copy, when nothing ran in between; "" when nothing is.

    ``before = x.clone(); step(); assert equal(x, before)`` asks whether a call changes something, and means it.
    """
    if not one.wanted:
        return ""
    for side, other in ((one.left, one.right), (one.right, one.left)):
        copy = one.source(side)
        original = _original(copy)
        if (
            isinstance(original, ast.Name)
            and form(one.renamed(original)) == form(one.renamed(core(other)))
            and one.scope.get(original.id) is not None
            and not _runs(tree, copy, one.node, original.id)
        ):
            return original.id
    return ""


def _original(node: ast.expr) -> ast.expr | None:
    """``x`` of ``copy.deepcopy(x)``, ``x.copy()``, ``x.clone()``."""
    if not isinstance(node, ast.Call) or dotted(node.func).rpartition(".")[2] not in _COPIES:
        return None
    if node.args:
        return core(node.args[0])
    return core(node.func.value) if isinstance(node.func, ast.Attribute) else None


def _runs(tree: ast.Module, copy: ast.expr, comparison: ast.expr, name: str) -> bool:
    """Whether something is called, or a part of the value is set, between a copy and the comparison with it."""
    first, last = copy.end_lineno or copy.lineno, comparison.lineno
    if last < first:
        return True
    own = {id(item) for item in (*walk(copy), *walk(comparison))}
    for node in nodes(tree):
        if not first <= getattr(node, "lineno", 0) <= last or id(node) in own:
            continue
        if isinstance(node, ast.Call):
            around = any(inner is comparison or inner is copy for inner in walk(node))
            if not around and dotted(node.func).rpartition(".")[2] not in _QUIET:
                return True
        elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            if any(isinstance(item, ast.Name) and item.id == name for item in walk(node)):
                return True
        elif isinstance(node, ast.AugAssign):
            return True
    return False
