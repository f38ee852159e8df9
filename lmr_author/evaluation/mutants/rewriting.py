"""Rewrites such as ``x + y`` → ``y``: patterns in Python in which x, y and z stand for any expression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import libcst as cst

ATOMS = (
    cst.Name, cst.BaseNumber, cst.BaseString, cst.Call, cst.Attribute, cst.Subscript, cst.List, cst.Dict, cst.Set,
)  # fmt: skip
WILD = ("x", "y", "z")
LAYOUT = frozenset({"lpar", "rpar", "comma", "semicolon"})


@dataclass(frozen=True)
class Rewrite:
    """A pattern and what replaces it."""

    before: cst.CSTNode
    after: cst.CSTNode

    def of(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the rewritten node; nothing when it is not like the pattern."""
        bound: dict[str, Any] = {}
        if _matches(self.before, node, bound):
            if isinstance(self.after, cst.Name) and self.after.value in bound:
                yield bound[self.after.value]
            else:
                yield self.after.deep_clone().visit(_Filling(bound))  # type: ignore[misc]


def parsed(text: str) -> cst.CSTNode:
    """Return an expression or a simple statement as a node."""
    line = cst.ensure_type(cst.parse_statement(text), cst.SimpleStatementLine)
    return line.body[0].value if isinstance(line.body[0], cst.Expr) else line.body[0]


def operand(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression as an operand: in parentheses unless it needs none."""
    if node.lpar or isinstance(node, ATOMS):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _matches(pattern: Any, node: Any, bound: dict[str, Any]) -> bool:
    if isinstance(pattern, cst.Name) and pattern.value in WILD:
        bound[pattern.value] = node
        return isinstance(node, cst.BaseExpression)
    if isinstance(pattern, list | tuple):
        if (
            len(pattern) == 1
            and isinstance(pattern[0], cst.Arg)
            and isinstance(pattern[0].value, cst.Ellipsis)
        ):
            bound["..."] = node
            return True
        same = len(pattern) == len(node)
        return same and all(_matches(one, other, bound) for one, other in zip(pattern, node, strict=True))
    if not isinstance(pattern, cst.CSTNode):
        return bool(pattern == node)
    return type(pattern) is type(node) and all(
        _matches(getattr(pattern, item.name), getattr(node, item.name), bound)
        for item in fields(pattern)
        if item.name not in LAYOUT and not item.name.startswith("whitespace")
    )


class _Filling(cst.CSTTransformer):
    def __init__(self, bound: dict[str, Any]) -> None:
        self.bound = bound

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return operand(self.bound[updated_node.value]) if updated_node.value in self.bound else updated_node

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        first = original_node.args[0].value if original_node.args else None
        return (
            updated_node.with_changes(args=self.bound["..."])
            if isinstance(first, cst.Ellipsis)
            else updated_node
        )
