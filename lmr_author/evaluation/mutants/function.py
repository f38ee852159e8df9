"""The target as a libcst tree: where its nodes are, and its source with one of them replaced."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from lmr_author.code import Definition, Module, bound_by, parameters

HEADER = "if 1:\n"
"""Stands above an indented function while it is parsed."""


class Function:
    """A function's tree, apart from the file it is defined in.

    Attributes:
        node: the function as a libcst node; ``ast``: the same function of the file's syntax tree.
        start, end: where its source is in the file (characters).
        parents: node → the node around it.
        differentiated: parameters whose gradients are compared.
    """

    def __init__(self, golden: Module, target: Definition, differentiated: Collection[str] = ()) -> None:
        """Parse the function's source. Raises libcst.ParserSyntaxError."""
        assert not isinstance(target.node, ast.ClassDef)
        self.ast = target.node
        self.golden = golden
        self.differentiated = differentiated
        self.start = golden.line_start(self.ast.lineno)
        self.end = golden.offset(self.ast.end_lineno or 0, self.ast.end_col_offset or 0)
        text = golden.text[self.start : self.end]
        self.header = "" if text[0] in "da" else HEADER
        wrapper = MetadataWrapper(cst.parse_module(self.header + text), unsafe_skip_copy=True)
        self._positions = wrapper.resolve(PositionProvider)
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self._add_children(wrapper.module)
        self.node = next(node for node in self.parents if isinstance(node, cst.FunctionDef))
        self.text = self.replaced(self.node, self.node)

    def _add_children(self, node: cst.CSTNode) -> None:
        for child in node.children:
            self.parents[child] = node
            self._add_children(child)

    @cached_property
    def modules(self) -> frozenset[str]:
        """Names that the file imports."""
        imports = (
            item for item in ast.walk(self.golden.tree) if isinstance(item, ast.Import | ast.ImportFrom)
        )
        return frozenset(name for item in imports for name in bound_by(item))

    @cached_property
    def statements(self) -> list[Any]:
        """The function's own statements without the docstring; those that share a line one by one."""
        found: list[Any] = []
        for item in self.node.body.body:
            found += item.body if isinstance(item, cst.SimpleStatementLine) and len(item.body) > 1 else [item]
        return found[ast.get_docstring(self.ast, clean=False) is not None :]

    def line(self, node: cst.CSTNode) -> int:
        """Return the node's first line, counted in the file."""
        return int(self._positions[node].start.line) - bool(self.header) + self.ast.lineno - 1

    @staticmethod
    def called(node: cst.CSTNode) -> str:
        """Return the last name of what a node calls; "" when it is no call."""
        function = node.func if isinstance(node, cst.Call) else None
        function = function.attr if isinstance(function, cst.Attribute) else function
        return function.value if isinstance(function, cst.Name) else ""

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the nodes around a node, from the innermost."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def is_bound(self, target: cst.BaseExpression, statement: cst.CSTNode) -> bool:
        """Return whether a target has a value without this statement; taken for granted of all but names."""
        if not isinstance(target, cst.Name):
            return True
        line = self.line(statement)
        return target.value in {item.arg for item, _ in parameters(self.ast.args)} or any(
            isinstance(item, ast.Name) and item.id == target.value and item.lineno < line
            for item in ast.walk(self.ast)
            if isinstance(getattr(item, "ctx", None), ast.Store)
        )

    @staticmethod
    def beside(place: Any, new: Any, *, after: bool = False) -> list[Any]:
        """Return a statement with another before or behind it: on a line of its own, if it has one."""
        new = new.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
        if isinstance(place, cst.BaseSmallStatement):
            return [place.with_changes(semicolon=cst.MaybeSentinel.DEFAULT), new] if after else [new, place]
        line = cst.SimpleStatementLine([new])
        if after:
            return [place, line]
        return [line.with_changes(leading_lines=place.leading_lines), place.with_changes(leading_lines=())]

    def replaced(self, old: cst.CSTNode, new: Any) -> str:
        """Return the function's source with one node, or one statement by several, replaced.

        Only the nodes on the way from the old one to the root are built anew: ``deep_replace`` visits them all, which
        takes ten times as long. Raises libcst.CSTValidationError when the result is no Python.
        """
        if isinstance(old, cst.BaseExpression) and old.lpar and not new.lpar:
            new = new.with_changes(lpar=old.lpar, rpar=old.rpar)
        while old in self.parents:
            parent = self.parents[old]
            for name, value in ((item.name, getattr(parent, item.name)) for item in fields(parent)):
                if value is old:
                    parent_new = parent.with_changes(**{name: new})
                elif isinstance(value, Sequence) and any(item is old for item in value):
                    parts = [
                        (new if isinstance(new, list) else [new]) if item is old else [item] for item in value
                    ]
                    parent_new = parent.with_changes(**{name: [item for part in parts for item in part]})
                else:
                    continue
                break
            old, new = parent, parent_new
        return cst.ensure_type(new, cst.Module).code.removeprefix(self.header)
