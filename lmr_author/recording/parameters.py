"""What a function's source says about its parameters: plain defaults, and texts that they stand for."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lmr_author import source


@dataclass(frozen=True)
class Parameters:
    """What the source says about parameters.

    Attributes:
        defaults: parameter → its default, where that is a plain value.
        choices: parameter → the texts that it is compared with, or may be by its annotation.
    """

    defaults: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Parameters:
    """Read a function's defaults, and the texts that its parameters stand for."""
    pairs = source.parameters(function.args)
    defaults = {item.arg: value.value for item, value in pairs if isinstance(value, ast.Constant)}
    names = {item.arg for item, _ in pairs}
    choices: dict[str, dict[str, None]] = {}
    for item, _ in pairs:
        if item.annotation is not None and "Literal" in ast.unparse(item.annotation):
            choices.setdefault(item.arg, {}).update(_texts(item.annotation))
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id in names:
            for other in node.comparators:
                choices.setdefault(node.left.id, {}).update(_texts(other))
    return Parameters(defaults, {name: tuple(texts) for name, texts in choices.items() if texts})


def _texts(node: ast.AST) -> dict[str, None]:
    return {
        item.value: None
        for item in ast.walk(node)
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    }
