"""The mutation operators: the rewrites of ``operators.toml``, and functions for what a rewrite cannot express.

A rewrite such as ``x + y`` → ``y`` is a Python pattern in which x, y and z match any expression. A function takes a
node of the target's tree and yields replacements; an :class:`MutantEdit` replaces another node or inserts a statement.
``operators.toml`` has titles and examples of all operators.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from itertools import pairwise
from typing import Any

import libcst as cst

from lmr_author.core.code import each, parameters
from lmr_author.proof.evaluation.mutants.function import TABLES, WITHOUT_GRAPH, WORDS, Function

DIMENSIONS: dict[str, frozenset[str]] = {
    name: frozenset(text.split()) for name, text in TABLES["dimensions"].items()
}
"""Functions by their default dimension."""
OPPOSITES: dict[str, str] = dict(pair.split(":") for pair in WORDS["opposites"])

ATOMS = (
    cst.Name, cst.BaseNumber, cst.BaseString, cst.Call, cst.Attribute, cst.Subscript, cst.List, cst.Dict, cst.Set,
)  # fmt: skip
WILD = ("x", "y", "z")
ENDLESS = ("count", "cycle", "repeat")
HUGE = 1e6
"""Constants from this size on represent infinity."""
VERY_NEGATIVE = 9999
"""So do negative constants from this size on: masks are filled with -9999 and -1e4."""
LAYOUT = frozenset({"lpar", "rpar", "comma", "semicolon"})


@dataclass(frozen=True)
class Rewrite:
    before: cst.CSTNode
    after: cst.CSTNode

    def of(self, node: cst.CSTNode) -> Iterator[MutantEdit]:
        bound: dict[str, Any] = {}
        if _matches(self.before, node, bound):
            if isinstance(self.after, cst.Name) and self.after.value in bound:
                yield MutantEdit(node, bound[self.after.value])
            else:
                yield MutantEdit(node, self.after.deep_clone().visit(_Filling(bound)))  # type: ignore[arg-type]


def parsed(text: str) -> cst.CSTNode:
    line = cst.ensure_type(cst.parse_statement(text), cst.SimpleStatementLine)
    return line.body[0].value if isinstance(line.body[0], cst.Expr) else line.body[0]


def operand(node: cst.BaseExpression) -> cst.BaseExpression:
    if node.lpar or isinstance(node, ATOMS):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _matches(pattern: Any, node: Any, bound: dict[str, Any]) -> bool:
    """Return whether a node matches a pattern; add the bindings of x, y and z to ``bound``."""
    match pattern:
        case cst.Name(value=name) if name in WILD:
            bound[name] = node
            return isinstance(node, cst.BaseExpression)
        case list() | tuple():
            same_length = len(pattern) == len(node)
            return same_length and all(_matches(*pair, bound) for pair in zip(pattern, node, strict=True))
        case cst.CSTNode():
            same_kind = type(pattern) is type(node)
            names = _telling_fields(type(pattern)) if same_kind else ()
            return same_kind and all(
                _matches(getattr(pattern, name), getattr(node, name), bound) for name in names
            )
    return bool(pattern == node)


@cache
def _telling_fields(kind: type[cst.CSTNode]) -> list[str]:
    names = [field.name for field in fields(kind) if field.name not in LAYOUT]
    return [name for name in names if not name.startswith("whitespace")]


class _Filling(cst.CSTTransformer):
    def __init__(self, bound: dict[str, Any]) -> None:
        self.bound = bound

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return operand(self.bound[updated_node.value]) if updated_node.value in self.bound else updated_node


@dataclass(frozen=True)
class MutantEdit:
    """A node and its replacement, for a statement also several; ``parameter``: the one that the mutant ignores."""

    old: cst.CSTNode
    new: cst.CSTNode | list[Any]
    parameter: str = ""


Edits = Iterator[MutantEdit]


@dataclass(frozen=True)
class Operator:
    """A kind of mistake. ``examples``: bodies before and after."""

    name: str
    title: str
    examples: tuple[tuple[str, str], ...]
    rewrites: tuple[Rewrite, ...]
    function: Callable[[Any, Function], Edits]

    def edits(self, node: cst.CSTNode, code: Function) -> Edits:
        for rewrite in self.rewrites:
            if type(rewrite.before) is type(node) and not _is_literal(node):
                yield from rewrite.of(node)
        yield from self.function(node, code)


def _is_literal(node: Any) -> bool:
    match node:
        case cst.UnaryOperation(expression=cst.BaseNumber()):
            return True
        case cst.BinaryOperation(left=cst.BaseString()) | cst.BinaryOperation(right=cst.BaseString()):
            return True
    return False


def condition(node: Any, code: Function) -> Edits:
    match node:
        case cst.If(test=test) | cst.While(test=test) if not isinstance(test, cst.Comparison):
            yield MutantEdit(test, cst.UnaryOperation(cst.Not(), operand(test)))
        case cst.CompIf(test=test):
            yield MutantEdit(test, cst.Name("True"))


def one_branch(node: Any, code: Function) -> Edits:
    if isinstance(node, cst.If):
        yield MutantEdit(node.test, cst.Name("True"))
        yield MutantEdit(node.test, cst.Name("False"))


def constant(node: Any, code: Function) -> Edits:
    """Change integers by one and floats by one per cent and tenfold, negate booleans, mark strings."""
    if not isinstance(node, cst.Name | cst.Integer | cst.Float | cst.SimpleString):
        return
    parent = outer = code.parents[node]
    is_signed = isinstance(parent, cst.UnaryOperation)
    if is_signed:
        outer = code.parents[parent]
    if _is_infinite(node) or _is_infinite(parent):
        return  # one more, or tenfold, gives an equivalent mutant
    if isinstance(outer, cst.FormattedStringExpression | cst.Slice | cst.Index):
        return  # "off by one" covers slices and indices
    call = code.called(code.parents[outer])
    if call == "flatten" or (is_signed and call in WORDS["layouts"]):
        return  # the same numbers in another shape, or an error; any negative size means "infer"
    match node:
        case cst.Name(value="True" | "False"):
            yield MutantEdit(node, cst.Name(str(node.value != "True")))
        case cst.Integer():
            yield MutantEdit(node, parsed(str(node.evaluated_value + 1)))
        case cst.Float():
            yield MutantEdit(node, parsed(repr(round(node.evaluated_value * 1.01, 15) or 1.0)))
            yield MutantEdit(node, parsed(repr(round(node.evaluated_value * 10, 12) or 1.0)))
        case cst.SimpleString(evaluated_value=str(text)) if isinstance(parent, _HOLDS_VALUES):
            # A wrong option, key or format raises at once, which proves nothing: change only strings used as values.
            yield MutantEdit(node, parsed(repr(f"XX{text}XX")))


def infinity(node: Any, code: Function) -> Edits:
    if _is_infinite(node) and not isinstance(code.parents[node], cst.UnaryOperation):
        yield MutantEdit(node, parsed("0"))


def _is_infinite(node: Any) -> bool:
    match node:
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer() | cst.Float() as positive):
            return positive.evaluated_value >= VERY_NEGATIVE
        case cst.UnaryOperation(operator=cst.Minus(), expression=positive):
            return _is_infinite(positive)
        case cst.Integer() | cst.Float():
            return node.evaluated_value >= HUGE
        case cst.Call(
            func=cst.Name(value="float"), args=[cst.Arg(value=cst.SimpleString(evaluated_value=str(text)))]
        ):
            return text.lower() in ("inf", "-inf", "infinity", "-infinity")
        case cst.Attribute(attr=cst.Name(value="inf" | "infty")):
            return True
        case cst.Attribute(attr=cst.Name(value="min" | "max"), value=limits):
            return Function.called(limits) in ("finfo", "iinfo")
    return False


_HOLDS_VALUES = (
    cst.Return, cst.Comparison, cst.ComparisonTarget, cst.Element, cst.BinaryOperation, cst.IfExp, cst.Assign,
)  # fmt: skip


def other_function(node: Any, code: Function) -> Edits:
    new = OPPOSITES.get(code.called(node))
    if new and isinstance(node.func, cst.Attribute):
        yield MutantEdit(node.func.attr, cst.Name(new))
    elif new in ("min", "max", "any", "all"):
        yield MutantEdit(node.func, cst.Name(new))


def dropped_call(node: Any, code: Function) -> Edits:
    """Replace a call with its object or first argument; a minimum of two with either one."""
    if not isinstance(node, cst.Call) or isinstance(code.parents[node], cst.Expr):
        return
    name = code.called(node)
    whole: cst.CSTNode = node
    if name in ("sort", "topk") and _takes_values(code.parents[node]):
        whole = code.parents[node]
    elif name == "topk":
        return  # values and indices: no single tensor can replace them
    for value in _without_call(node, code):
        yield MutantEdit(whole, operand(value))


def _without_call(call: cst.Call, code: Function) -> list[cst.BaseExpression]:
    name, values = code.called(call), _positional(call)
    is_method = isinstance(call.func, cst.Attribute) and not code.is_module(call.func.value)
    if name in WORDS["bounds"] and len(call.args) == 2 and not is_method:
        return values if len(values) == 2 and not any(map(_is_integer, values)) else []
    if name in WORDS["passed_through"] and is_method:
        return [cst.ensure_type(call.func, cst.Attribute).value]
    if name in WORDS["passed_through"] or name.endswith(("dropout", "_drop")):
        return values[:1]
    if code.root(call.func) != "self" or name in _COMPUTING_METHODS:
        return []
    return [value for value in values[:1] if not _is_integer(value)]


def _positional(call: cst.Call) -> list[cst.BaseExpression]:
    return [argument.value for argument in call.args if not argument.star and argument.keyword is None]


def _takes_values(node: Any) -> bool:
    """Return whether a node selects the values from (values, indices): ``….values`` or ``…[0]``."""
    match node:
        case cst.Attribute(attr=cst.Name(value="values")):
            return True
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))]):
            return True
    return False


_COMPUTING_METHODS = WORDS["pure"] | WORDS["reductions"]


def detached(node: Any, code: Function) -> Edits:
    """Detach a parameter, or a value computed from it, where it is an operand or an argument."""
    if not isinstance(node, cst.Name) or node.value not in code.differentiable:
        return
    if not WITHOUT_GRAPH.isdisjoint(map(code.called, code.ancestors(node))):
        return  # an outer node is detached, or no gradient flows anyway
    match code.parents[node]:
        case cst.BinaryOperation():
            yield MutantEdit(node, parsed(f"{node.value}.detach()"))
        case cst.Arg(value=value) if value is node:
            yield MutantEdit(node, parsed(f"{node.value}.detach()"))


def dimension(node: Any, code: Function) -> Edits:
    if not isinstance(node, cst.Call):
        return
    values = [argument.value for argument in node.args if _keyword(argument) in WORDS["dimension_keywords"]]
    if isinstance(node.func, cst.Attribute) and code.called(node) in WORDS["reductions"]:
        values += [argument.value for argument in node.args if argument.keyword is None][-1:]
    for value in filter(_is_integer, values):
        yield MutantEdit(value, parsed("1" if _integer(value) == 0 else "0"))


def _keyword(argument: cst.Arg) -> str:
    return argument.keyword.value if argument.keyword else ""


def swapped_arguments(node: Any, code: Function) -> Edits:
    match node:
        case cst.Call(args=arguments) if not any(argument.star for argument in arguments):
            for position, neighbours in enumerate(pairwise(_positional(node))):
                if not any(map(_is_integer, neighbours)):
                    yield _swapped(node, "args", position)
        case cst.Tuple(elements=[cst.Element(), cst.Element(), *_]):
            if isinstance(code.parents[node], cst.Return | cst.Assign):
                yield _swapped(node, "elements", 0)


def _swapped(node: Any, field: str, position: int) -> MutantEdit:
    parts = list(getattr(node, field))
    first, second = parts[position : position + 2]
    parts[position] = first.with_changes(value=second.value)
    parts[position + 1] = second.with_changes(value=first.value)
    return MutantEdit(node, node.with_changes(**{field: parts}))


def dropped_keyword(node: Any, code: Function) -> Edits:
    arguments = list(node.args) if isinstance(node, cst.Call) else []
    for position, argument in enumerate(arguments):
        if argument.keyword is not None:
            others = arguments[:position] + arguments[position + 1 :]
            if others:
                others[-1] = others[-1].with_changes(comma=arguments[-1].comma)
            yield MutantEdit(node, node.with_changes(args=others))


def ignored_parameter(node: Any, code: Function) -> Edits:
    """Set a parameter to its constant default at the start of the body."""
    if node is not code.node or not code.statements:
        return
    read = {name.id for name in each(code.ast, ast.Name)}
    for parameter, default in parameters(code.ast.args):
        if isinstance(default, ast.Constant | ast.UnaryOp) and parameter.arg in read:
            new = parsed(f"{parameter.arg} = {ast.unparse(default)}")
            yield MutantEdit(code.statements[0], code.before(code.statements[0], new), parameter.arg)


def off_by_one(node: Any, code: Function) -> Edits:
    match node:
        case cst.Slice():
            bounds = {"lower": _integer(node.lower), "upper": _integer(node.upper)}
            for field, value in bounds.items():
                if value is not None:
                    moved = {field: parsed(str(value + 1)) if value + 1 else None}
                    yield MutantEdit(node, node.with_changes(**moved))
        case cst.Index(value=index) if _is_integer(index):
            yield MutantEdit(index, parsed(str((_integer(index) or 0) + 1)))


def other_variable(node: Any, code: Function) -> Edits:
    """Replace a variable with the next one of the same kind."""
    if isinstance(node, cst.Name | cst.Attribute | cst.Subscript) and code.is_read(node):
        other = code.alike.get(code.source(node))
        if other:
            yield MutantEdit(node, operand(parsed(other)))  # type: ignore[arg-type]


def fewer_elements(node: Any, code: Function) -> Edits:
    """Loop over only the last element, or all but the last; in a comprehension over the first."""
    if not isinstance(node, cst.For | cst.CompFor) or node.asynchronous or code.called(node.iter) in ENDLESS:
        return
    texts = ["list(x)[-1:]"]
    if isinstance(node, cst.CompFor):
        texts.append("list(x)[:1]")
    elif code.called(node.iter) != "range":  # "off by one" covers ranges
        texts.append("list(x)[:-1]")
    for text in texts:
        yield from Rewrite(cst.Name("x"), parsed(text)).of(node.iter)


def dropped_statement(node: Any, code: Function) -> Edits:
    """Replace a rebinding, a call for its side effect, or an early return with ``pass``."""
    match node:
        case cst.Assign(targets=targets) if any(code.is_bound(target.target, node) for target in targets):
            yield MutantEdit(node, cst.Pass())
        case cst.Expr(value=cst.Call() | cst.Await()):
            yield MutantEdit(node, cst.Pass())
        case cst.Return() if code.parents[node] not in code.statements:
            yield MutantEdit(node, cst.Pass())


def _integer(node: Any) -> int | None:
    match node:
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer() as positive):
            return -positive.evaluated_value
        case cst.Integer():
            return node.evaluated_value
    return None


def _is_integer(node: Any) -> bool:
    return _integer(node) is not None


def _read(name: str, table: dict[str, Any]) -> Operator:
    rewrites = table.get("rewrites", ())
    examples = [(_shown(before), _shown(after)) for before, after in rewrites]
    examples += map(tuple, table.get("examples", ()))
    patterns = tuple(Rewrite(parsed(before), parsed(after)) for before, after in rewrites)
    function = globals().get(name.replace(" ", "_"), _nothing)
    return Operator(name, table["title"], tuple(examples), patterns, function)


def _nothing(node: Any, code: Function) -> Edits:
    return iter(())


def _shown(text: str) -> str:
    return text if isinstance(parsed(text), cst.BaseSmallStatement) else f"return {text}"


OPERATORS = tuple(_read(name, table) for name, table in TABLES["operators"].items())
"""All operators, in the order in which their mutants are made."""
