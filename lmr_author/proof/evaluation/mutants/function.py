"""The target as a libcst tree: where its nodes are, and its source with one of them replaced."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any

import libcst as cst
from libcst.metadata import (
    ExpressionContext,
    ExpressionContextProvider,
    MetadataWrapper,
    PositionProvider,
)

from lmr_author.core.code import Definition, FunctionNode, Module, bound_by, each, parameters

_WITHOUT_GRAPH = frozenset(("shape", "size", "len", "dim", "item"))
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
        imports = each(self.golden.tree, ast.Import, ast.ImportFrom)
        return frozenset(name for statement in imports for name in bound_by(statement))

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

    @cached_property
    def differentiable(self) -> frozenset[str]:
        """The parameters whose gradients are compared, and local names that are computed from them."""
        names = set(self.differentiated)
        if not names:
            return frozenset()
        for assignment in each(self.ast, ast.Assign):  # statement by statement, outer ones first
            value = assignment.value
            last = value.func if isinstance(value, ast.Call) else value
            is_plain = getattr(last, "attr", getattr(last, "id", "")) in _WITHOUT_GRAPH
            if not is_plain and names & {name.id for name in each(value, ast.Name)}:
                names |= _bound_names(assignment)
        return frozenset(names)

    @cached_property
    def attributes(self) -> dict[str, str]:
        """The constants that the method's class gives attributes: in its body, in ``__init__``, as its defaults."""
        owner = self._class()
        if owner is None or [parameter.arg for parameter in self.ast.args.args[:1]] != ["self"]:
            return {}
        values: dict[str, str] = {}
        for statement in owner.body:
            match statement:
                case ast.FunctionDef(name="__init__"):
                    values |= _set_by(statement)
                case ast.Assign(targets=[target, *_]) | ast.AnnAssign(target=target):
                    values[f"self.{ast.unparse(target)}"] = _text(statement.value)
        read = {ast.unparse(node) for node in each(self.ast, ast.Attribute)}
        constants = {}
        for name, text in values.items():
            if text and name in read and re.fullmatch(r"self\.[^.]*", name):
                constants[name.removeprefix("self.")] = text
        return constants

    def _class(self) -> ast.ClassDef | None:
        for definition in self.golden.definitions:
            if isinstance(definition.node, ast.ClassDef) and self.ast in definition.node.body:
                return definition.node
        return None

    @cached_property
    def kinds(self) -> tuple[tuple[str, ...], ...]:
        """The variables, attributes and keys of one kind, each as it is written: who means one may write another."""
        return kinds(self.ast, self.attributes)

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

    @cached_property
    def statements(self) -> list[Any]:
        """The function's own statements without the docstring; those that share a line one by one."""
        statements: list[Any] = []
        for line in self.node.body.body:
            if isinstance(line, cst.SimpleStatementLine) and len(line.body) > 1:
                statements += line.body
            else:
                statements.append(line)
        return statements[ast.get_docstring(self.ast, clean=False) is not None :]

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
        if target.value in {parameter.arg for parameter, _ in parameters(self.ast.args)}:
            return True
        line = self.line(statement)
        for name in each(self.ast, ast.Name):
            if name.id == target.value and name.lineno < line and isinstance(name.ctx, ast.Store):
                return True
        return False

    @staticmethod
    def before(statement: Any, new: Any) -> list[Any]:
        """Return a statement with another before it: on a line of its own, if it has one."""
        if isinstance(statement, cst.BaseSmallStatement):
            return [new, statement.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]
        line = cst.SimpleStatementLine([new], leading_lines=statement.leading_lines)
        return [line, statement.with_changes(leading_lines=())]

    def replaced(self, old: cst.CSTNode, new: Any) -> str:
        """Return the function's source with one node, or one statement by several, replaced.

        Only the nodes on the way from the old one to the root are built anew: ``deep_replace`` visits them all, which
        takes ten times as long. Raises libcst.CSTValidationError when the result is no Python.
        """
        if isinstance(old, cst.BaseExpression) and old.lpar and not new.lpar:
            new = new.with_changes(lpar=old.lpar, rpar=old.rpar)
        while old in self.parents:
            parent = self.parents[old]
            old, new = parent, _with_child(parent, old, new)
        return cst.ensure_type(new, cst.Module).code.removeprefix(self.header)


def _with_child(parent: cst.CSTNode, old: cst.CSTNode, new: Any) -> cst.CSTNode:
    """Return a node with one of its children, or one of the statements in it, replaced."""
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
    raise AssertionError("a node is no child of its parent")


def _bound_names(assignment: ast.Assign) -> set[str]:
    return {target.id for target in assignment.targets if isinstance(target, ast.Name)}


def _set_by(init: ast.FunctionDef) -> dict[str, str]:
    """Return what ``__init__`` assigns, as Python: constants, and parameters' defaults; "" for anything else."""
    defaults = {parameter.arg: default for parameter, default in parameters(init.args)}
    values: dict[str, str] = {}
    for assignment in each(init, ast.Assign):
        value: ast.expr | None = assignment.value
        if isinstance(value, ast.Name):
            value = defaults.get(value.id)
        values.update((ast.unparse(target), _text(value)) for target in assignment.targets)
    return values


def _text(node: ast.expr | None) -> str:
    """Return a constant as Python; "" for anything else."""
    plain = node.operand if isinstance(node, ast.UnaryOp) else node
    return ast.unparse(node) if node is not None and isinstance(plain, ast.Constant) else ""


TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("operators.toml").read_text("utf-8"))
WORDS: dict[str, frozenset[str]] = {name: frozenset(text.split()) for name, text in TABLES["words"].items()}
"""Names of functions, methods and keywords, by what they have in common."""


def called(node: ast.AST) -> str:
    """Return the last name of what a node calls; "" when it is no call."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def kinds(function: FunctionNode, attributes: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """Return groups of what is of one kind, each as it is written, in the order of the source.

    Of one kind are names that are unpacked together, or differ in one word or a digit, parameters with defaults of one
    type, the texts by which one mapping is read, and numbers of the class.

    Args:
        attributes: attribute of self → the constant that its class gives it.
    """
    groups: dict[object, dict[str, None]] = defaultdict(dict)
    for parameter, default in parameters(function.args):
        if isinstance(default, ast.Constant) and isinstance(default.value, int | float | str):
            groups["default", type(default.value).__name__][parameter.arg] = None
    for node in ast.walk(function):
        match node:
            case ast.Tuple(ctx=ast.Store()):
                for element in node.elts:
                    if isinstance(element, ast.Name) and element.id != "_":
                        groups["unpacked", node.lineno, node.col_offset][element.id] = None
            case ast.Subscript(value=mapping, slice=ast.Constant(value=str()), ctx=ast.Load()):
                groups["key", ast.unparse(mapping)][ast.unparse(node)] = None
    for attribute, value in attributes.items():
        if re.fullmatch(r"-?[\d.e+-]+", value):
            groups["number"][f"self.{attribute}"] = None
    for text in dict.fromkeys([*_names(function), *_own_values(function)]):
        for pattern in _patterns(text):
            groups["alike", pattern][text] = None
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _own_values(function: FunctionNode) -> Iterator[str]:
    """Yield the attributes of self that are read and not called."""
    called = {ast.unparse(call.func) for call in each(function, ast.Call)}
    for node in each(function, ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id == "self" and isinstance(node.ctx, ast.Load):
            text = ast.unparse(node)
            if text not in called:
                yield text


def _names(function: FunctionNode) -> Iterator[str]:
    """Yield the parameters and local names."""
    for parameter, _ in parameters(function.args):
        yield parameter.arg
    for name in each(function, ast.Name):
        if isinstance(name.ctx, ast.Store):
            yield name.id


def _patterns(name: str) -> Iterator[str]:
    """Yield what names that are alike have in common: all but one word or the digits at their end, or one word more."""
    yield name
    if match := re.fullmatch(r"(.*?[^\d_])_?\d+", name):
        yield f"{match[1]}#"
    words = name.split("_")
    if len(words) < 2:
        return
    for number in range(len(words)):
        yield "_".join([*words[:number], "*", *words[number + 1 :]])
        yield "_".join([*words[:number], *words[number + 1 :]])
