"""The target as a libcst tree: positions of nodes, and source with one node replaced."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any

import libcst as cst
from libcst.metadata import ExpressionContext, ExpressionContextProvider, MetadataWrapper, PositionProvider

from lmr_author.core.code import Definition, FunctionNode, Module, bound_by, each, parameters
from lmr_author.core.code.tree import last_name

HEADER = "if 1:\n"
"""Prepended to parse an indented function."""


class Function:
    """A function's tree, detached from its file.

    Attributes:
        node: the function as a libcst node; ``ast``: the same function of the file's syntax tree.
        start, end: span of its source in the file (characters).
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
        imports = each(self.golden.tree, ast.Import, ast.ImportFrom)
        return frozenset(name for statement in imports for name in bound_by(statement))

    @staticmethod
    def root(node: cst.CSTNode) -> str:
        match node:
            case cst.Attribute(value=cst.Name(value=name)) | cst.Subscript(value=cst.Name(value=name)):
                return name
            case cst.Attribute(value=owner) | cst.Subscript(value=owner):
                return Function.root(owner)
        return ""

    def is_module(self, node: cst.CSTNode) -> bool:
        return (node.value if isinstance(node, cst.Name) else self.root(node)) in self.modules

    @cached_property
    def differentiable(self) -> frozenset[str]:
        """The parameters whose gradients are compared, and local names computed from them."""
        names = set(self.differentiated)
        for assignment in each(self.ast, ast.Assign):  # statement by statement, outer ones first
            if names & _names_with_graph(assignment.value):
                names |= {target.id for target in assignment.targets if isinstance(target, ast.Name)}
        return frozenset(names)

    @cached_property
    def alike(self) -> dict[str, str]:
        others: dict[str, str] = {}
        for group in kinds(self.ast):
            for text, other in zip(group, (*group[1:], group[0]), strict=True):
                others.setdefault(text, other)
        return others

    def is_read(self, node: cst.CSTNode) -> bool:
        """Return whether a name, attribute or item is read as a value, not bound or called."""
        match self.parents[node]:
            case cst.Call(func=function) if function is node:
                return False
            case cst.Param():
                return False
        return self._contexts.get(node) is ExpressionContext.LOAD

    @staticmethod
    def source(node: cst.CSTNode) -> str:
        return cst.Module([]).code_for_node(node)

    @cached_property
    def statements(self) -> list[Any]:
        statements: list[Any] = []
        for line in self.node.body.body:
            if isinstance(line, cst.SimpleStatementLine) and len(line.body) > 1:
                statements += line.body
            else:
                statements.append(line)
        return statements[ast.get_docstring(self.ast, clean=False) is not None :]

    def line(self, node: cst.CSTNode) -> int:
        return int(self._positions[node].start.line) - bool(self.header) + self.ast.lineno - 1

    @staticmethod
    def called(node: cst.CSTNode) -> str:
        match node:
            case cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))):
                return name
        return ""

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    def is_bound(self, target: cst.BaseExpression, statement: cst.CSTNode) -> bool:
        """Return whether a target has a value without this statement; assumed for all but names."""
        return not isinstance(target, cst.Name) or self._bound_on[target.value] < self.line(statement)

    @cached_property
    def _bound_on(self) -> dict[str, int]:
        lines = {parameter.arg: 0 for parameter, _ in parameters(self.ast.args)}
        for name in each(self.ast, ast.Name):
            if isinstance(name.ctx, ast.Store):
                lines[name.id] = min(name.lineno, lines.get(name.id, name.lineno))
        return lines

    @staticmethod
    def before(statement: Any, new: Any) -> list[Any]:
        if isinstance(statement, cst.BaseSmallStatement):
            return [new, statement.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]
        line = cst.SimpleStatementLine([new], leading_lines=statement.leading_lines)
        return [line, statement.with_changes(leading_lines=())]

    def replaced(self, old: cst.CSTNode, new: Any) -> str:
        """Return the function's source with one node, or one statement by several, replaced.

        Rebuilds only the path from the old node to the root: ``deep_replace`` visits all nodes and takes ten times as
        long. Raises libcst.CSTValidationError if the result is not Python.
        """
        if isinstance(old, cst.BaseExpression) and old.lpar and not new.lpar:
            new = new.with_changes(lpar=old.lpar, rpar=old.rpar)
        while old in self.parents:
            parent = self.parents[old]
            old, new = parent, _with_child(parent, old, new)
        return cst.ensure_type(new, cst.Module).code.removeprefix(self.header)


def _with_child(parent: cst.CSTNode, old: cst.CSTNode, new: Any) -> cst.CSTNode:
    for field in fields(parent):
        value = getattr(parent, field.name)
        if value is old:
            return parent.with_changes(**{field.name: new})
        if isinstance(value, Sequence) and any(child is old for child in value):
            children: list[Any] = []
            for child in value:
                if child is not old:
                    children.append(child)
                else:
                    children += new if isinstance(new, list) else [new]
            return parent.with_changes(**{field.name: children})
    raise AssertionError("a node is not a child of its parent")


def _names_with_graph(node: ast.AST) -> set[str]:
    """Return the names in an expression, except those of which only a shape, a device or a plain number is used."""
    if isinstance(node, ast.Name):
        return {node.id}
    if (called(node) or last_name(node)) in WITHOUT_GRAPH:
        return set()
    return {name for child in ast.iter_child_nodes(node) for name in _names_with_graph(child)}


TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("operators.toml").read_text("utf-8"))
WORDS: dict[str, frozenset[str]] = {name: frozenset(text.split()) for name, text in TABLES["words"].items()}
"""Groups of functions, methods and keywords."""
WITHOUT_GRAPH = WORDS["without_graph"] | WORDS["new"]
"""Operations through which no gradient flows."""


def called(node: ast.AST) -> str:
    return last_name(node.func) if isinstance(node, ast.Call) else ""


def kinds(function: FunctionNode) -> list[tuple[str, ...]]:
    """Return groups of interchangeable expressions, as in the source and in its order.

    Names that are unpacked together or differ in one word or digit, parameters with defaults of one type, and string
    keys of one mapping.
    """
    groups: dict[object, dict[str, None]] = defaultdict(dict)
    for parameter, default in parameters(function.args):
        if isinstance(default, ast.Constant) and isinstance(default.value, int | float | str):
            groups["default", type(default.value)][parameter.arg] = None
    for node in ast.walk(function):
        match node:
            case ast.Tuple(ctx=ast.Store(), elts=elements):
                names = (element.id for element in elements if isinstance(element, ast.Name))
                groups["unpacked", node] = {name: None for name in names if name != "_"}
            case ast.Subscript(value=mapping, slice=ast.Constant(value=str()), ctx=ast.Load()):
                groups["key", ast.unparse(mapping)][ast.unparse(node)] = None
    for text in (*_names(function), *_own_values(function)):
        for pattern in _patterns(text):
            groups["alike", pattern][text] = None
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _own_values(function: FunctionNode) -> Iterator[str]:
    callees = [call.func for call in each(function, ast.Call)]
    for node in each(function, ast.Attribute):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), ctx=ast.Load()) if node not in callees:
                yield ast.unparse(node)


def _names(function: FunctionNode) -> Iterator[str]:
    yield from (parameter.arg for parameter, _ in parameters(function.args))
    yield from (name.id for name in each(function, ast.Name) if isinstance(name.ctx, ast.Store))


def _patterns(name: str) -> Iterator[str]:
    """Yield the patterns that similar names share: one word or the final digits replaced, or one word added."""
    yield name
    if match := re.fullmatch(r"(.*?[^\d_])_?\d+", name):
        yield f"{match[1]}#"
    words = name.split("_")
    for number in range(len(words) if len(words) > 1 else 0):
        yield "_".join([*words[:number], "*", *words[number + 1 :]])
        yield "_".join([*words[:number], *words[number + 1 :]])
