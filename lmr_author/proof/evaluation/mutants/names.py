"""Names of a function that are taken for one another, and what it changes."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lmr_author.core.code import FunctionNode, each, parameters

TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("operators.toml").read_text("utf-8"))
WORDS: dict[str, frozenset[str]] = {name: frozenset(text.split()) for name, text in TABLES["words"].items()}
"""Names of functions, methods and keywords, by what they have in common."""


def called(node: ast.AST) -> str:
    """Return the last name of what a node calls; "" when it is no call."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def changed_name(node: ast.AST) -> str:
    """Return the name of what a statement changes in place: ``x`` of ``x += 1``, ``x[0] = 1``, ``x.add_(1)``; or ""."""
    target: ast.AST | None = None
    if isinstance(node, ast.AugAssign):
        target = node.target
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript | ast.Attribute):
        target = node.targets[0].value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        method = node.func.attr
        if method in WORDS["changing"] or (method.endswith("_") and not method.endswith("__")):
            target = node.func.value
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def kinds(function: FunctionNode, attributes: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """Return groups of what is of one kind, each as it is written, in the order of the source.

    Of one kind are names that are unpacked together, that are taken from the same mapping, that differ in one word or
    a digit, parameters with defaults of one type, the texts by which one mapping is read, and numbers of the class.

    Args:
        attributes: attribute of self → the constant that its class gives it.
    """
    groups: dict[object, dict[str, None]] = defaultdict(dict)
    for name, default in parameters(function.args):
        if isinstance(default, ast.Constant) and isinstance(default.value, int | float | str):
            groups["default", type(default.value).__name__][name.arg] = None
    for node in ast.walk(function):
        for group, text in _memberships(node):
            groups[group][text] = None
    for attribute, value in attributes.items():
        if re.fullmatch(r"-?[\d.e+-]+", value):
            groups["number"][f"self.{attribute}"] = None
    for text in dict.fromkeys([*_names(function), *_own_values(function)]):
        for pattern in _patterns(text):
            groups["alike", pattern][text] = None
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _memberships(node: ast.AST) -> Iterator[tuple[object, str]]:
    """Yield the groups that a node puts a variable or a key into."""
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
        for element in node.elts:
            if isinstance(element, ast.Name) and element.id != "_":
                yield ("unpacked", node.lineno, node.col_offset), element.id
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        if mapping := _mapping(node.value):
            yield ("taken", mapping), node.targets[0].id
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and (mapping := _mapping(node)):
        yield ("key", mapping), ast.unparse(node)


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


def _mapping(node: ast.expr) -> str:
    """Return the mapping that is read by a text: ``group`` of ``group['lr']``; "" for anything else."""
    match node:
        case ast.Subscript(value=mapping, slice=ast.Constant(value=str())):
            return ast.unparse(mapping)
    return ""


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
