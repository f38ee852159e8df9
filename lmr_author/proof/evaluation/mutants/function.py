"""The target as a libcst tree: where its nodes are, and its source with one of them replaced."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any

import libcst as cst
from libcst.metadata import (
    ExpressionContext,
    ExpressionContextProvider,
    MetadataWrapper,
    PositionProvider,
)

from lmr_author.core.code import Definition, Module, bound_by, parameters
from lmr_author.proof.evaluation.mutants.names import WORDS, called, changed_name, kinds

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
        self._contexts = wrapper.resolve(ExpressionContextProvider)
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

    @staticmethod
    def root(node: cst.CSTNode) -> str:
        """Return the name that attributes and subscripts are taken of: ``self`` of ``self.layers[0].norm``; or ""."""
        taken = isinstance(node, cst.Attribute | cst.Subscript)
        while isinstance(node, cst.Attribute | cst.Subscript):
            node = node.value
        return node.value if taken and isinstance(node, cst.Name) else ""

    def is_module(self, node: cst.CSTNode) -> bool:
        """Return whether a node is an imported module, or something of one: ``F``, ``torch.linalg``."""
        return (node.value if isinstance(node, cst.Name) else self.root(node)) in self.modules

    @staticmethod
    def last_name(node: cst.CSTNode) -> str:
        """Return the last name of what is called: ``attn_drop`` of ``self.attn_drop[i]``; or ""."""
        while isinstance(node, cst.Subscript | cst.Call):
            node = node.value if isinstance(node, cst.Subscript) else node.func
        name = node.attr if isinstance(node, cst.Attribute) else node
        return name.value if isinstance(name, cst.Name) else ""

    @cached_property
    def differentiable(self) -> frozenset[str]:
        """The parameters whose gradients are compared, and local names that are computed from them."""
        found = set(self.differentiated)
        for item in ast.walk(self.ast) if found else ():  # statement by statement, outer ones first
            if (
                isinstance(item, ast.Assign)
                and {name.id for name in ast.walk(item.value) if isinstance(name, ast.Name)} & found
            ):
                last = item.value.func if isinstance(item.value, ast.Call) else item.value
                if getattr(last, "attr", getattr(last, "id", "")) not in (
                    "shape",
                    "size",
                    "len",
                    "dim",
                    "item",
                ):
                    found |= {target.id for target in item.targets if isinstance(target, ast.Name)}
        return frozenset(found)

    @cached_property
    def attributes(self) -> dict[str, str]:
        """The constants that the method's class gives attributes: in its body, in ``__init__``, as its defaults."""
        owner = next(
            (
                item.node
                for item in self.golden.definitions
                if item.kind == "class" and isinstance(item.node, ast.ClassDef) and self.ast in item.node.body
            ),
            None,
        )
        first = [item.arg for item in self.ast.args.args[:1]]
        if not isinstance(owner, ast.ClassDef) or first != ["self"]:
            return {}
        found: dict[str, str] = {}
        for item in owner.body:
            if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                known = {one.arg: default for one, default in parameters(item.args)}
                for node in ast.walk(item):
                    if isinstance(node, ast.Assign):
                        value = known.get(node.value.id) if isinstance(node.value, ast.Name) else node.value
                        found |= {ast.unparse(target): _text(value) for target in node.targets}
            elif isinstance(item, ast.Assign | ast.AnnAssign):
                target = item.target if isinstance(item, ast.AnnAssign) else item.targets[0]
                found[f"self.{ast.unparse(target)}"] = _text(item.value)
        read = {ast.unparse(item) for item in ast.walk(self.ast) if isinstance(item, ast.Attribute)}
        return {
            name.removeprefix("self."): text
            for name, text in found.items()
            if text and name in read and name.count(".") == 1 and name.startswith("self.")
        }

    @cached_property
    def kinds(self) -> tuple[tuple[str, ...], ...]:
        """The variables, attributes and keys of one kind, each as it is written: who means one may write another."""
        return kinds(self.ast, self.attributes)

    @cached_property
    def objects(self) -> frozenset[str]:
        """The parameters of which attributes or items are taken: tensors, lists, and other things that may change."""
        owners = {
            item.value.id
            for item in ast.walk(self.ast)
            if isinstance(item, ast.Attribute | ast.Subscript) and isinstance(item.value, ast.Name)
        }
        names = {item.arg for item, _ in parameters(self.ast.args)}
        return frozenset((names & owners) - {"self", "cls"})

    @cached_property
    def changed(self) -> frozenset[str]:
        """The names of what the function changes in place."""
        return frozenset(name for item in ast.walk(self.ast) if (name := changed_name(item)))

    def is_read(self, node: cst.CSTNode) -> bool:
        """Return whether a name, an attribute or an item is read as a value: not bound, not called."""
        parent = self.parents[node]
        if isinstance(parent, cst.Call) and parent.func is node:
            return False
        return self._contexts.get(node) is ExpressionContext.LOAD and not isinstance(parent, cst.Param)

    @staticmethod
    def source(node: cst.CSTNode) -> str:
        """Return a node as Python."""
        return cst.Module([]).code_for_node(node)

    def depends_on_order(self, loop: cst.For) -> bool:
        """Return whether a loop may give something else when it runs backwards, as far as its source tells.

        A sum does not: it differs by rounding only.
        """
        line = self.line(loop)
        same = next(node for node in ast.walk(self.ast) if isinstance(node, ast.For) and node.lineno == line)
        fresh = {name.id for name in ast.walk(same.target) if isinstance(name, ast.Name)}
        for item in (inner for statement in same.body for inner in ast.walk(statement)):
            if isinstance(item, ast.Return | ast.Break | ast.Yield):
                return True
            if isinstance(item, ast.Call) and called(item) in WORDS["ordered"]:
                return True
            if isinstance(item, ast.Assign):
                names = {target.id for target in item.targets if isinstance(target, ast.Name)}
                read = {name.id for name in ast.walk(item.value) if isinstance(name, ast.Name)}
                if (names & read) - fresh:  # x = f(x, i): each step goes on with what the one before has left
                    return True
                fresh |= names
        return False

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


def _text(node: ast.expr | None) -> str:
    """Return a constant as Python; "" for anything else."""
    plain = node.operand if isinstance(node, ast.UnaryOp) else node
    return ast.unparse(node) if node is not None and isinstance(plain, ast.Constant) else ""
