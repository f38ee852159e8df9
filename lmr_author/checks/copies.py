"""A value that is compared with a copy of itself, made a moment ago."""

from __future__ import annotations

import ast
import re

from lmr_author.checks.comparing import Comparison, core
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.source import is_same, walk

_COPIES = frozenset({"deepcopy", "copy", "clone"})
_QUIET = frozenset(
    """
    print len type str repr debug info warning zip enumerate range all any abs sum max min float bool sorted
    subTest assertTrue assertFalse
    """.split()  # noqa: SIM905
)
"""Calls that change nothing that is compared."""


def copied(one: Comparison, tree: ast.Module) -> str:
    """What is wrong with a comparison of something with its own copy; "" when nothing is.

    ``before = x.clone(); step(); assert equal(x, before)`` asks whether a call changes something, and means it.
    Where both went through the same calls, it asks nothing.
    """
    for side, other in ((one.left, one.right), (one.right, one.left)) if one.wanted else ():
        copy = one.source(side)
        original = _original(copy)
        if (
            isinstance(original, ast.Name)
            and is_same(one.renamed(original), one.renamed(core(other)))
            and one.scope.get(original.id) is not None
        ):
            calls = _between(tree, copy, one.node)
            if not calls and not _set(tree, copy, one.node, original.id):
                return f"compares `{original.id}` with a copy of itself"
            if isinstance(side, ast.Name) and _alike(calls, original.id, side.id):
                return f"compares `{original.id}` with a copy of itself, after the same calls on both"
    return ""


def handed_on(one: Comparison, tree: ast.Module) -> bool:
    """Whether a side was given to a call before it is compared: then it is asked whether that changed it."""
    for side in (core(one.left), core(one.right)):
        known = one.scope.get(side.id) if isinstance(side, ast.Name) else None
        for call in _between(tree, known[0], one.node) if known else ():
            given = [*call.args, *(item.value for item in call.keywords)]
            if any(isinstance(item, ast.Name) and item.id == dotted(side) for item in given):
                return True
    return False


def _original(node: ast.expr) -> ast.expr | None:
    """``x`` of ``copy.deepcopy(x)``, ``x.copy()``, ``x.clone()``."""
    if not isinstance(node, ast.Call) or dotted(node.func).rpartition(".")[2] not in _COPIES:
        return None
    if node.args:
        return core(node.args[0])
    return core(node.func.value) if isinstance(node.func, ast.Attribute) else None


def _between(tree: ast.Module, value: ast.expr, comparison: ast.expr) -> list[ast.Call]:
    """The calls between a value and the comparison with it that may change something."""
    own = {id(item) for item in (*walk(value), *walk(comparison))}
    calls = [item for item in _lines_between(tree, value, comparison) if isinstance(item, ast.Call)]
    return [
        call
        for call in calls
        if id(call) not in own
        and last_name(call.func) not in _QUIET
        and not any(inner is comparison or inner is value for inner in walk(call))
    ]


def _lines_between(tree: ast.Module, value: ast.expr, comparison: ast.expr) -> list[ast.AST]:
    # What stands for a value that is taken from another has no place of its own; what is in it has.
    first, last = max(getattr(item, "end_lineno", 0) or 0 for item in walk(value)), comparison.lineno
    if last < first:  # a loop, or a function further up: whatever it is, it may run in between
        return list(walk(tree))
    return [item for item in walk(tree) if first <= getattr(item, "lineno", 0) <= last]


def _set(tree: ast.Module, value: ast.expr, comparison: ast.expr, name: str) -> bool:
    """Whether a part of what has a name is set between a value and the comparison with it."""
    for node in _lines_between(tree, value, comparison):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            if any(isinstance(item, ast.Name) and item.id == name for item in walk(node)):
                return True
        elif isinstance(node, ast.AugAssign) and last_name(node.target) == name:
            return True
    return False


def _alike(calls: list[ast.Call], one: str, other: str) -> bool:
    """Whether there are calls, and for each one on one name there is the same on the other."""
    texts = [ast.unparse(call) for call in calls]
    return [] != _without(texts, one) == _without(texts, other)


def _without(texts: list[str], name: str) -> list[str]:
    """The texts in which a name stands, without it."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    return sorted(word.sub("_", text) for text in texts if word.search(text))
