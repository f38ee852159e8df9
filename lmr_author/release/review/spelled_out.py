"""Whether an instruction gives the solution away in words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lmr_author.authoring.suggesting.paper import identifier_terms, stem, text_terms
from lmr_author.core.code import FunctionNode
from lmr_author.proof.targets import parts, statements

# Measured on the instructions of ten starter targets (at most 0.21 of the statements) and twenty targets of the recipes
# (0.43, but for 0.61 and 1.0), and on six that give a function away statement by statement: 0.52 to 0.85.
SPELLED_STATEMENT = 0.7
"""Share of a statement's names and operations from which a text spells it out."""
GIVEN_AWAY = 0.5
"""Share of spelled statements above which an instruction gives the solution away."""
FEWEST_STATEMENTS = 3
_OPERATIONS: dict[type[ast.AST], str] = {
    ast.Add: "add sum plus total accumulate",
    ast.Sub: "subtract minus difference less",
    ast.Mult: "multiply times product scale weight",
    ast.Div: "divide ratio mean average share normalise normalize fraction",
    ast.Pow: "power square exponent root",
    ast.MatMult: "multiply product matrix",
    ast.Lt: "less smaller below fewer under",
    ast.LtE: "most less smaller below",
    ast.Gt: "greater larger above exceeds more over",
    ast.GtE: "least greater larger above reaches",
    ast.Eq: "equal same is",
    ast.NotEq: "different other not",
    ast.In: "in among contains",
    ast.NotIn: "not without",
    ast.Not: "not without unless no",
    ast.Or: "or either",
    ast.And: "and both",
    ast.USub: "negative minus negate",
}
"""Operation → words for it."""


@dataclass(frozen=True)
class SpelledOut:
    """How many of a golden's statements a text spells out."""

    statements: int
    of: int

    @property
    def gives_away(self) -> bool:
        """True where more than half are spelled out; a function of two statements says nothing."""
        return self.of >= FEWEST_STATEMENTS and self.statements > GIVEN_AWAY * self.of


def spelled_out(golden: FunctionNode, text: str) -> SpelledOut:
    """Count the statements of a golden whose names and operations a text has, whatever its sentences."""
    words = {stem(word.lower()) for word in re.findall(r"[^\W\d_]+", text)} | set(text_terms(text))
    words.update(re.findall(r"\w+", text))
    spelled = of = 0
    for node in _steps(golden):
        terms = list(_terms(node))
        if len(terms) >= 2:
            of += 1
            spelled += sum(not words.isdisjoint(term) for term in terms) >= SPELLED_STATEMENT * len(terms)
    return SpelledOut(spelled, of)


def _steps(golden: FunctionNode) -> Iterator[ast.AST]:
    """Yield the statements of a function, of those that hold others the head."""
    for statement in parts(statements(golden)):
        match statement:
            case ast.For() | ast.AsyncFor():
                yield ast.Tuple([statement.target, statement.iter], ast.Load())
            case ast.If() | ast.While():
                yield statement.test
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Return() | ast.Expr():
                yield statement


def _terms(node: ast.AST) -> Iterator[set[str]]:
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield set(identifier_terms(name)) or {name}
            case _ if type(part) in _OPERATIONS:
                yield set(map(stem, _OPERATIONS[type(part)].split()))
