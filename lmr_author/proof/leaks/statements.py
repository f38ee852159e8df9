"""Turn code into normalized statements, and compare two lists of them.

A statement is a row of tokens, without annotations, docstrings, logging, imports, raises and ``self.``, which do not
change what code computes. Variables are *blanks* whose names are stored beside the row, so that a copy with renamed
variables has the same row. Rules do not depend on scope, because a snippet in a README has none.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from lmr_author.core.code import FunctionNode, children

BLANK = "_"
_LOGGERS = frozenset({"debug", "info", "warning", "warn", "error", "exception"})
_SELF = frozenset({"self", "cls"})
_HEADS: dict[type[ast.stmt], tuple[str, tuple[str, ...]]] = {
    ast.Return: ("return", ("value",)),
    ast.If: ("if", ("test",)),
    ast.While: ("while", ("test",)),
    ast.For: ("for", ("target", "iter")),
    ast.AsyncFor: ("for", ("target", "iter")),
    ast.With: ("with", ("items",)),
    ast.AsyncWith: ("with", ("items",)),
    ast.Assert: ("assert", ("test",)),
    ast.Delete: ("del", ("targets",)),
    ast.Match: ("match", ("subject",)),
    ast.FunctionDef: ("def", ()),
    ast.AsyncFunctionDef: ("def", ()),
}
"""The first token and the parts of a statement; other statements have their own rules, or compute nothing."""
_SILENT = (ast.Tuple, ast.arguments, ast.FormattedValue, ast.Starred, ast.withitem)
"""Nodes with parts, but no token of their own."""
_COMMON = frozenset(
    """
    size shape view reshape to len range append items keys values float int list dict str tuple set dim
    device dtype squeeze unsqueeze transpose permute contiguous zip enumerate get format join split
    isinstance getattr hasattr super __init__ forward print max min sum mean item detach cpu cuda numpy
    type bool copy update extend config args add_argument help default keepdim non_blocking backward
    step zero_grad train eval no_grad
    """.split()  # noqa: SIM905
)
"""Common names: half the weight of others."""

SOFT = 0.6
"""Dice similarity from which one statement counts as an edited version of the other."""
APART = 10
"""Maximum gap (lines) between two statements of one place."""


def token_weight(token: str) -> float:
    """Return a token's weight: a called or accessed name weighs most, brackets least."""
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
        shape: its tokens with blanked variables.
        names: the variables at the blanks, in order.
    """

    shape: tuple[str, ...]
    names: tuple[str, ...]
    line: int

    @cached_property
    def weight(self) -> float:
        return sum(map(token_weight, self.shape))

    @cached_property
    def bag(self) -> Counter[str]:
        return Counter(self.shape)

    @property
    def exact(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return self.shape, self.names


def of_function(node: FunctionNode) -> list[Statement]:
    return list(_statements(node.body))


def of_module(tree: ast.Module, *, definitions: bool) -> list[Statement]:
    return list(_statements(tree.body, definitions=definitions))


def _statements(nodes: Iterable[ast.stmt], *, definitions: bool = True) -> Iterator[Statement]:
    for node in nodes:
        if not definitions and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if row := list(_row(node)):
            names = tuple(name for token, name in row if token == BLANK)
            yield Statement(tuple(token for token, _ in row), names, node.lineno)
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            for part in getattr(node, name, ()):  # a handler or a case has a block of its own
                inside = [part] if isinstance(part, ast.stmt) else getattr(part, "body", [])
                yield from _statements(inside, definitions=definitions)


def _row(node: ast.stmt) -> Iterator[tuple[str, str]]:
    word, parts = "", list[ast.AST | None]()
    match node:
        case ast.Expr(value=value) if not isinstance(value, ast.Constant) and not _is_log(value):
            parts = [value]
        case ast.Assign(targets=targets, value=value) if not _stores(targets, value):
            word, parts = "=", [*targets, value]
        case ast.AnnAssign(target=target, value=ast.expr() as value) if not _stores([target], value):
            word, parts = "=", [target, value]
        case ast.AugAssign(target=target, op=op, value=value):
            word, parts = "=", [target, ast.BinOp(left=target, op=op, right=value)]
        case _ if type(node) in _HEADS:
            word, names = _HEADS[type(node)]
            for part in (getattr(node, name) for name in names):
                parts += part if isinstance(part, list) else [part]
    if word:
        yield word, ""
    for part in parts:
        if part is not None:
            yield from _tokens(part)


def _is_log(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="print")):
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _LOGGERS
    return False


def _stores(targets: list[ast.expr], value: ast.expr) -> bool:
    match targets:
        case [ast.Attribute(value=ast.Name(id=owner), attr=name)] if owner in _SELF:
            return isinstance(value, ast.Name) and value.id.strip("_") == name.strip("_")
    return False


def _tokens(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the tokens of an expression in source order, each blank with its variable."""
    parts: Iterable[ast.AST] = ()
    match node:
        case (
            ast.Name(id=name)
            | ast.arg(arg=name)
            | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name)
        ):
            yield BLANK, name
        case ast.Attribute(value=value, attr=name):
            yield from _tokens(value)
            yield f".{name}", ""
        case ast.Constant(value=str() | bytes() as text):
            yield "'" + str(text)[:40], ""
        case ast.Constant(value=value):
            yield f"#{value!r}"[:24], ""
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            yield f"#-{number!r}", ""
        case ast.BinOp(left=left, op=op, right=right):
            yield from _tokens(left)
            yield f"%{type(op).__name__}", ""
            parts = [right]
        case ast.Compare(left=left, ops=ops, comparators=others):
            yield from _tokens(left)
            for kind, other in zip(ops, others, strict=True):
                yield f"%{type(kind).__name__}", ""
                yield from _tokens(other)
        case ast.UnaryOp(op=op, operand=operand):
            yield f"%{type(op).__name__}", ""
            parts = [operand]
        case ast.BoolOp(op=op, values=values):
            yield f"%{type(op).__name__}", ""
            parts = values
        case ast.Call(func=function, args=arguments, keywords=keywords):
            match function:
                case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                    yield f"@{name}", ""
                case _:
                    yield from _tokens(function)
            yield "(", ""
            for argument in arguments:
                yield from _tokens(argument)
            for keyword in keywords:
                yield f"@{keyword.arg or '**'}", ""
                yield from _tokens(keyword.value)
        case _:
            if not isinstance(node, _SILENT):
                yield type(node).__name__, ""
            parts = children(node)
    for part in parts:
        yield from _tokens(part)


# comparison


@dataclass(frozen=True)
class StatementMatch:
    """The part of a solution found in a piece of code.

    Attributes:
        similarity: share of its statements' weight, 0 to 1.
        exact: the same, counting only statements with equal variable names.
        density: share of the place (first to last matching statement) that belongs to the solution.
        first, last: lines of the place, ignoring single statements far away from all others.
    """

    similarity: float
    exact: float
    density: float
    first: int
    last: int


NO_MATCH = StatementMatch(0.0, 0.0, 0.0, 0, 0)
_Pair = tuple[Statement, Statement]


def compare(wanted: Sequence[Statement], code: Sequence[Statement]) -> StatementMatch:
    total = sum(statement.weight for statement in wanted)
    window = _window(wanted, code)
    pairs = _pairs(wanted, window)
    if not total or not pairs:
        return NO_MATCH
    renamed = _renaming(pairs)
    common = sum(_common_weight(statement, other, renamed) for statement, other in pairs)
    exact = sum(statement.weight for statement, other in pairs if statement.exact == other.exact)
    lines = sorted(other.line for _, other in pairs)
    span = sum(statement.weight for statement in window if lines[0] <= statement.line <= lines[-1])
    density = sum(other.weight for _, other in pairs) / max(span, 0.001)
    return StatementMatch(common / total, exact / total, min(density, 1.0), *_densest_lines(pairs))


def _window(wanted: Sequence[Statement], code: Sequence[Statement]) -> Sequence[Statement]:
    length = len(wanted) * 3 // 2 + 6
    shapes = {statement.shape: statement.weight for statement in wanted}
    gains = [shapes.get(statement.shape, 0.0) for statement in code]
    current = best = sum(gains[:length])
    start = 0
    for number in range(1, len(code) - length + 1):
        current += gains[number + length - 1] - gains[number - 1]
        if current > best + 1e-9:
            best, start = current, number
    return code[start : start + length]


def _pairs(wanted: Sequence[Statement], code: Sequence[Statement]) -> list[_Pair]:
    """Pair each statement of the solution with an equal one, or one of the same shape, or an edited one."""
    pairs: list[_Pair] = []
    left, right = list(wanted), list(code)
    for key in ("exact", "shape"):
        partners: dict[object, list[Statement]] = defaultdict(list)
        for other in reversed(right):
            partners[getattr(other, key)].append(other)
        unpaired = []
        for statement in left:
            if same := partners.get(getattr(statement, key)):
                pairs.append((statement, same.pop()))
            else:
                unpaired.append(statement)
        taken = {id(other) for _, other in pairs}
        left, right = unpaired, [other for other in right if id(other) not in taken]
    for statement in left:
        scored = [(_dice(statement, other), -abs(number - len(pairs))) for number, other in enumerate(right)]
        if statement.weight >= 1.0 and scored and max(scored)[0] >= SOFT:
            pairs.append((statement, right.pop(scored.index(max(scored)))))
    return pairs


def _dice(first: Statement, second: Statement) -> float:
    size = len(first.shape) + len(second.shape)
    if 2 * min(len(first.shape), len(second.shape)) < SOFT * size:
        return 0.0
    return 2 * (first.bag & second.bag).total() / size


def _renaming(pairs: Sequence[_Pair]) -> dict[str, str]:
    """Map a name of the solution to the copy's if they are each other's most frequent partner."""
    partners: Counter[tuple[str, str]] = Counter()
    for statement, other in pairs:
        if statement.shape == other.shape:
            partners.update(zip(statement.names, other.names, strict=True))
    mine: dict[str, str] = {}
    theirs: dict[str, str] = {}
    for (name, partner), _ in partners.most_common():
        mine.setdefault(name, partner)
        theirs.setdefault(partner, name)
    return {name: partner for name, partner in mine.items() if theirs[partner] == name}


def _common_weight(statement: Statement, other: Statement, renamed: dict[str, str]) -> float:
    if statement.exact == other.exact:
        return statement.weight
    shared = statement.bag & other.bag
    del shared[BLANK]
    variables = Counter(renamed.get(name, name) for name in statement.names) & Counter(other.names)
    weight = sum(token_weight(token) * count for token, count in shared.items())
    return weight + token_weight(BLANK) * variables.total()


def _densest_lines(pairs: Sequence[_Pair]) -> tuple[int, int]:
    weights: dict[int, float] = defaultdict(float)
    for statement, other in pairs:
        weights[other.line] += statement.weight
    runs: list[list[int]] = []
    for line in sorted(weights):
        if runs and line - runs[-1][-1] <= APART:
            runs[-1].append(line)
        else:
            runs.append([line])
    most = max(runs, key=lambda run: sum(weights[line] for line in run))
    return most[0], most[-1]
