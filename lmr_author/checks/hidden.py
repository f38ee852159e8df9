"""Functions that are defined again under the same name: the first of them never runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.checks.sites import is_assert_name
from lmr_author.checks.syntax import dotted
from lmr_author.source import FunctionNode, each, walk

_MARKS = re.compile(
    r"(?:pytest\.)?mark\.|unittest\.|(?:unittest\.)?(?:mock\.)?patch|staticmethod$|classmethod$"
)
"""Decorators that keep a function nowhere else than under its name: no property, no fixture, no registry."""


def hidden(tree: ast.Module) -> Iterator[tuple[FunctionNode, FunctionNode]]:
    """Each such function of a module's top level, or of a class there, and the one that takes its name."""
    for body in (tree.body, *(item.body for item in each(tree, ast.ClassDef))):
        for place, node in enumerate(body):
            if not isinstance(node, FunctionNode) or not all(map(_is_mark, node.decorator_list)):
                continue
            for later in body[place + 1 :]:
                if isinstance(later, FunctionNode) and later.name == node.name:
                    if not any(
                        _names(item, node.name) for item in (*later.decorator_list, *later.args.defaults)
                    ):
                        yield node, later
                    break
                if _names(later, node.name):
                    break


def asserts(function: FunctionNode) -> bool:
    """Whether there is an assertion in a function."""
    return any(
        isinstance(item, ast.Assert) or (isinstance(item, ast.Call) and is_assert_name(dotted(item.func)))
        for item in walk(function)
    )


def _is_mark(node: ast.expr) -> bool:
    return _MARKS.match(dotted(node.func if isinstance(node, ast.Call) else node)) is not None


def _names(node: ast.AST, name: str) -> bool:
    """Whether a name is used or set, or all names are looked up."""
    for item in walk(node):
        if isinstance(item, ast.Name) and item.id in (name, "globals", "locals", "vars"):
            return True
        if isinstance(item, ast.Attribute) and item.attr == name:
            return True
    return False
