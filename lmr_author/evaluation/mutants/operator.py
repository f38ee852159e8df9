"""What a mutation operator is, and the code it works on."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from lmr_author.source import Module

_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Dict, ast.Set)


@dataclass(frozen=True)
class Edit:
    """A piece of source to put in the place of a node; of a statement, its whole text.

    Attributes:
        node: what is replaced.
        text: the new source of it.
        parameter: the parameter that the mutant ignores, which no call may ever have set; "" otherwise.
    """

    node: ast.expr | ast.stmt
    text: str
    parameter: str = ""


@dataclass(frozen=True)
class Code:
    """A function's source, and what surrounds a node in it.

    Attributes:
        module: the golden's file.
        function: the target.
        parents: node → the node it is a child of, within the function.
    """

    module: Module
    function: ast.FunctionDef | ast.AsyncFunctionDef
    parents: dict[ast.AST, ast.AST] = field(repr=False, default_factory=dict)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node is in the file's text (characters)."""
        assert isinstance(node, ast.expr | ast.stmt)
        end = self.module.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return self.module.offset(node.lineno, node.col_offset), end

    def text(self, node: ast.AST) -> str:
        """A node's source."""
        start, end = self.span(node)
        return self.module.text[start:end]

    def inner(self, node: ast.AST) -> str:
        """A node's source as an operand: in parentheses unless it needs none."""
        text = self.text(node)
        return text if isinstance(node, _ATOMS) else f"({text})"

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """From the node's parent outwards, the function last."""
        while node in self.parents:
            node = self.parents[node]
            yield node


class Operator(ABC):
    """One way of going wrong.

    Class attributes:
        name: as reports have it.
        examples: (body before, body after) of a function ``f(x, y=2)``: tests, and the documentation.
    """

    name: ClassVar[str]
    examples: ClassVar[tuple[tuple[str, str], ...]]

    @abstractmethod
    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """The wrong versions of one node; none when the operator does not apply to it."""
