"""Context managers of a test's own: those that swallow a failure, and what of a class runs without being named."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from lmr_author.checks.handlers import is_broad, lets_through
from lmr_author.checks.reading import Reading
from lmr_author.checks.sites import is_none, is_zero
from lmr_author.checks.syntax import last_name
from lmr_author.source import each, walk

_BY_ITSELF = frozenset({"__init__", "__enter__", "__exit__", "__call__", "__post_init__", "__del__"})


def run_with_class(test: Reading) -> Mapping[str, frozenset[str]]:
    """Class of a test → those of its methods that run without being named: by ``with``, or by a call of an object."""
    return {
        node.name: frozenset(
            item.name for item in node.body if isinstance(item, ast.FunctionDef) and item.name in _BY_ITSELF
        )
        for module in test.modules
        for node in each(module.tree, ast.ClassDef)
    }


def swallowing(test: Reading, exit_texts: str) -> frozenset[str]:
    """The context managers of a test that hide what is raised in them, and hand nothing on.

    Args:
        exit_texts: what exits, raises and assertions hang on.
    """
    found: set[str] = set()
    for module in test.modules:
        for node in each(module.tree, ast.ClassDef):
            ends = [
                item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__exit__"
            ]
            if any(_hides(item) and not lets_through(item, item.name, exit_texts) for item in ends):
                found.add(node.name)
        for function in each(module.tree, ast.FunctionDef):
            if "contextmanager" in map(last_name, function.decorator_list) and any(
                _catches(item, exit_texts) for item in each(function, ast.Try)
            ):
                found.add(function.name)
    return frozenset(found)


def is_managed(node: ast.stmt, managers: frozenset[str]) -> bool:
    """Whether a statement is ``with`` one of some context managers."""
    return isinstance(node, ast.With) and any(
        isinstance(item.context_expr, ast.Call) and last_name(item.context_expr.func) in managers
        for item in node.items
    )


def _hides(end: ast.FunctionDef) -> bool:
    """Whether an ``__exit__`` may return something true: then what was raised is forgotten."""
    values = [item.value for item in each(end, ast.Return) if item.value is not None]
    return any(
        isinstance(value, ast.Constant) and not is_none(value) and not is_zero(value) for value in values
    )


def _catches(tried: ast.Try, exit_texts: str) -> bool:
    """Whether a ``yield`` is tried, and what is raised there comes to nothing."""
    yields = any(isinstance(item, ast.Yield) for line in tried.body for item in walk(line))
    return yields and any(
        is_broad(handler) and not lets_through(handler, "", exit_texts) for handler in tried.handlers
    )
