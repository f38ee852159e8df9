"""Turn code into statements that compare equal however they are written.

A statement is a row of tokens. Annotations, docstrings, log lines, imports, raises and ``self.`` are left out: they do
not change what code does. Variables are *blanks* whose names are kept beside the row, so that
a copy with other names has the same row. Rules do not depend on scope, because a piece of a README has none.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from lmr_author.code import FunctionNode, children

BLANK = "_"
_LOGGERS = frozenset({"debug", "info", "warning", "warn", "error", "exception", "log", "print", "warn_once"})
_LOG_OWNERS = frozenset({"logger", "logging", "log", "warnings", "_logger", "LOG", "LOGGER", "accelerator"})
_SELF = frozenset({"self", "cls"})

_COMMON = frozenset(
    """
    size shape view reshape to len range append items keys values float int list dict str tuple set dim
    device dtype squeeze unsqueeze transpose permute contiguous zip enumerate get format join split
    isinstance getattr hasattr super __init__ forward print max min sum mean item detach cpu cuda numpy
    type bool copy update extend config args add_argument help default keepdim non_blocking backward
    step zero_grad train eval no_grad
    """.split()  # noqa: SIM905
)
"""Names that every second function uses: half the weight of others."""


def token_weight(token: str) -> float:
    """Return how much a token tells: a called or accessed name most, brackets least."""
    if token == BLANK:
        return 0.3
    kind, text = token[0], token[1:]
    if kind in ".@":
        return 0.5 if text in _COMMON else 1.0
    if kind == "'":
        return 0.7
    if kind == "#":
        return 0.2 if text in ("0", "1", "-1", "2", "None", "True", "False") else 0.6
    return 0.4 if kind == "%" else 0.2


@dataclass(frozen=True)
class Statement:
    """A simple statement, or the head of a compound one.

    Attributes:
        shape: its tokens, variables blanked.
        names: the variables at the blanks, in order.
        line: where it begins, from 1.
    """

    shape: tuple[str, ...]
    names: tuple[str, ...]
    line: int

    @cached_property
    def weight(self) -> float:
        """The sum of its tokens' weights."""
        return sum(map(token_weight, self.shape))

    @cached_property
    def bag(self) -> Counter[str]:
        """Its tokens, each with how often it occurs."""
        return Counter(self.shape)

    @property
    def exact(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Equal for statements that are the same, names included."""
        return self.shape, self.names


def of_function(node: FunctionNode) -> list[Statement]:
    """Return the statements of a function's body, inner functions included."""
    return list(_statements(node.body))


def of_module(tree: ast.Module) -> list[Statement]:
    """Return the statements of a module outside of functions and classes."""
    return list(_statements(tree.body, definitions=False))


def of_all(tree: ast.Module) -> list[Statement]:
    """Return every statement of a piece of code, those in functions included."""
    return list(_statements(tree.body))


def _apart(node: ast.stmt) -> list[ast.stmt]:
    """``a, b = f(x), g(y)`` as two assignments; every other statement as it is."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            starred = any(isinstance(item, ast.Starred) for item in (*targets, *values))
            if len(targets) == len(values) and not starred:
                pairs = zip(targets, values, strict=True)
                return [ast.copy_location(ast.Assign([one], other), node) for one, other in pairs]
    return [node]


def _statements(nodes: Iterable[ast.stmt], *, definitions: bool = True) -> Iterator[Statement]:
    for node in (part for one in nodes for part in _apart(one)):
        if not definitions and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        row = _Row()
        row.head(node)
        if row.tokens:
            yield Statement(tuple(row.tokens), tuple(row.names), node.lineno)
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            for item in getattr(node, name, ()):
                if isinstance(item, ast.stmt):
                    yield from _statements([item], definitions=definitions)
                elif isinstance(item, ast.ExceptHandler | ast.match_case):
                    yield from _statements(item.body, definitions=definitions)


def _is_log(node: ast.expr) -> bool:
    """Recognize ``print(…)``, ``logger.info(…)``, ``warnings.warn(…)``."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id == "print"
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in _LOGGERS:
        return False
    owner = node.func.value
    name = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    return name in _LOG_OWNERS or node.func.attr in ("debug", "info", "warning")


def _stores(targets: list[ast.expr], value: ast.expr) -> bool:
    """Recognize an assignment that only keeps an argument: ``self.size = size``."""
    match targets:
        case [ast.Attribute(value=ast.Name(id=owner), attr=name)] if owner in _SELF:
            return isinstance(value, ast.Name) and value.id.strip("_") == name.strip("_")
    return False


class _Row:
    """Builds the tokens of one statement."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.names: list[str] = []

    def head(self, node: ast.stmt) -> None:
        """The tokens of a statement without its blocks; none for what computes nothing."""
        match node:
            case ast.Expr(value=value):
                if not isinstance(value, ast.Constant) and not _is_log(value):
                    self.expression(value)
            case ast.Assign(targets=targets, value=value):
                if not _stores(targets, value):
                    self.assign(targets, value)
            case ast.AnnAssign(target=target, value=value):
                if value is not None and not _stores([target], value):
                    self.assign([target], value)
            case ast.AugAssign(target=target, op=op, value=value):
                self.assign([target], ast.BinOp(left=target, op=op, right=value))
            case ast.Return(value=value):
                self.all("return", value)
            case ast.If(test=test):
                self.all("if", test)
            case ast.While(test=test):
                self.all("while", test)
            case ast.For(target=target, iter=source) | ast.AsyncFor(target=target, iter=source):
                self.all("for", target, source)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                self.all(
                    "with", *(part for item in items for part in (item.context_expr, item.optional_vars))
                )
            case ast.Assert(test=test):
                self.all("assert", test)
            case ast.Delete(targets=targets):
                self.all("del", *targets)
            case ast.Match(subject=subject):
                self.all("match", subject)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.tokens.append("def")

    def all(self, word: str, *nodes: ast.expr | None) -> None:
        self.tokens.append(word)
        for node in nodes:
            if node is not None:
                self.expression(node)

    def assign(self, targets: list[ast.expr], value: ast.expr) -> None:
        self.all("=", *targets, value)

    def blank(self, name: str) -> None:
        self.tokens.append(BLANK)
        self.names.append(name)

    def expression(self, node: ast.AST) -> None:
        """The tokens of an expression, in the order of the source."""
        match node:
            case ast.Name(id=name):
                self.blank(name)
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in _SELF:
                self.blank(name)
            case ast.Attribute(value=value, attr=name):
                self.expression(value)
                self.tokens.append("." + name)
            case ast.Call():
                self.call(node)
            case ast.Constant(value=value):
                self.constant(value)
            case ast.BinOp(left=left, op=op, right=right):
                self.expression(left)
                self.tokens.append("%" + type(op).__name__)
                self.expression(right)
            case ast.Compare(left=left, ops=ops, comparators=right):
                self.expression(left)
                for one, other in zip(ops, right, strict=True):
                    self.tokens.append("%" + type(one).__name__)
                    self.expression(other)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                self.tokens.append(f"#-{number!r}")
            case ast.UnaryOp(op=op, operand=value) | ast.BoolOp(op=op, values=value):
                self.tokens.append("%" + type(op).__name__)
                for item in value if isinstance(value, list) else [value]:
                    self.expression(item)
            case _:
                self.other(node)

    def call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Name(id=name):
                self.tokens.append("@" + name)
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in _SELF:
                self.tokens.append("@" + name)
            case function:
                self.expression(function)
        self.tokens.append("(")
        for item in node.args:
            self.expression(item)
        for keyword in node.keywords:
            self.tokens.append(f"@{keyword.arg or '**'}")
            self.expression(keyword.value)

    def constant(self, value: object) -> None:
        if isinstance(value, str | bytes):
            self.tokens.append("'" + str(value)[:40])
        else:
            self.tokens.append(f"#{value!r}"[:24])

    def other(self, node: ast.AST) -> None:
        """Everything that only has parts: its kind, then these."""
        if isinstance(node, ast.arg):
            self.blank(node.arg)
            return
        if not isinstance(
            node, ast.Tuple | ast.expr_context | ast.arguments | ast.FormattedValue | ast.Starred
        ):
            self.tokens.append(type(node).__name__)
        for child in children(node):
            if not isinstance(child, ast.expr_context):
                self.expression(child)
