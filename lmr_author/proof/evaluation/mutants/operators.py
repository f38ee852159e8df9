"""The mutation operators: rewrites of ``operators.toml``, and functions for what no rewrite can express.

A rewrite such as ``x + y`` → ``y`` is a pattern in Python, in which x, y and z match any expression. A function takes a
node of the target's tree and yields replacements; an :class:`Edit` replaces another node, or puts a statement beside
one. Titles and examples of all of them are in ``operators.toml``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import libcst as cst

from lmr_author.core.code import each, parameters
from lmr_author.proof.evaluation.mutants.function import TABLES, WORDS, Function

DIMENSIONS: dict[str, frozenset[str]] = {
    name: frozenset(text.split()) for name, text in TABLES["dimensions"].items()
}
"""Functions by the dimension that they work along when none is named."""
OPPOSITES: dict[str, str] = dict(pair.split(":") for pair in WORDS["opposites"])

ATOMS = (
    cst.Name, cst.BaseNumber, cst.BaseString, cst.Call, cst.Attribute, cst.Subscript, cst.List, cst.Dict, cst.Set,
)  # fmt: skip
WILD = ("x", "y", "z")
ENDLESS = ("count", "cycle", "repeat")
HUGE = 1e6
"""A constant from here on stands for infinity."""
LAYOUT = frozenset({"lpar", "rpar", "comma", "semicolon"})


@dataclass(frozen=True)
class Rewrite:
    """A pattern and what replaces it."""

    before: cst.CSTNode
    after: cst.CSTNode

    def of(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the rewritten node; nothing when it is not like the pattern."""
        bound: dict[str, Any] = {}
        if _matches(self.before, node, bound):
            if isinstance(self.after, cst.Name) and self.after.value in bound:
                yield bound[self.after.value]
            else:
                yield self.after.deep_clone().visit(_Filling(bound))  # type: ignore[misc]


def parsed(text: str) -> cst.CSTNode:
    """Return an expression or a simple statement as a node."""
    line = cst.ensure_type(cst.parse_statement(text), cst.SimpleStatementLine)
    return line.body[0].value if isinstance(line.body[0], cst.Expr) else line.body[0]


def operand(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression as an operand: in parentheses unless it needs none."""
    if node.lpar or isinstance(node, ATOMS):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _matches(pattern: Any, node: Any, bound: dict[str, Any]) -> bool:
    """Return whether a node is like a pattern; what its x, y and z stand for is added to ``bound``."""
    if isinstance(pattern, cst.Name) and pattern.value in WILD:
        bound[pattern.value] = node
        return isinstance(node, cst.BaseExpression)
    if isinstance(pattern, list | tuple):
        if len(pattern) != len(node):
            return False
        return all(_matches(part, child, bound) for part, child in zip(pattern, node, strict=True))
    if not isinstance(pattern, cst.CSTNode):
        return bool(pattern == node)
    if type(pattern) is not type(node):
        return False
    for field in fields(pattern):
        if field.name in LAYOUT or field.name.startswith("whitespace"):
            continue
        if not _matches(getattr(pattern, field.name), getattr(node, field.name), bound):
            return False
    return True


class _Filling(cst.CSTTransformer):
    def __init__(self, bound: dict[str, Any]) -> None:
        self.bound = bound

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return operand(self.bound[updated_node.value]) if updated_node.value in self.bound else updated_node


@dataclass(frozen=True)
class Edit:
    """A node and what replaces it, of a statement also several; ``parameter``: the one that the mutant ignores."""

    old: cst.CSTNode
    new: cst.CSTNode | list[Any]
    parameter: str = ""


Edits = Iterator[cst.CSTNode | Edit]


@dataclass(frozen=True)
class Operator:
    """One way of going wrong. ``examples``: bodies before and after."""

    name: str
    title: str
    examples: tuple[tuple[str, str], ...]
    rewrites: tuple[Rewrite, ...]
    function: Callable[[Any, Function], Edits] | None

    def edits(self, node: cst.CSTNode, code: Function) -> Iterator[Edit]:
        """Yield the wrong versions of one node."""
        for rewrite in self.rewrites:
            if type(rewrite.before) is type(node) and not _is_literal(node):
                for new in rewrite.of(node):
                    yield Edit(node, new)
        if self.function is not None:
            for edit in self.function(node, code):
                yield edit if isinstance(edit, Edit) else Edit(node, edit)


def _is_literal(node: Any) -> bool:
    """Return whether a node is a negative number, or has a text as an operand, on which other operators only raise."""
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.expression, cst.BaseNumber)
    sides = (node.left, node.right) if isinstance(node, cst.BinaryOperation) else ()
    return any(isinstance(side, cst.BaseString) for side in sides)


def _is_plain(argument: cst.Arg) -> bool:
    return not argument.star and argument.keyword is None


def condition(node: Any, code: Function) -> Edits:
    """Negate the test of an ``if``; take the condition of a comprehension away."""
    if isinstance(node, cst.If | cst.While) and not isinstance(node.test, cst.Comparison):
        yield Edit(node.test, cst.UnaryOperation(cst.Not(), operand(node.test)))
    elif isinstance(node, cst.CompIf):
        yield Edit(node.test, cst.Name("True"))


def one_branch(node: Any, code: Function) -> Edits:
    """Fix the test of an ``if``."""
    if isinstance(node, cst.If):
        for value in ("True", "False"):
            yield Edit(node.test, cst.Name(value))


def constant(node: Any, code: Function) -> Edits:
    """Change integers by one, floats by one per cent and tenfold, turn booleans, mark texts."""
    if not isinstance(node, cst.Name | cst.Integer | cst.Float | cst.SimpleString):
        return
    parent = code.parents[node]
    is_signed = isinstance(parent, cst.UnaryOperation)
    outer = code.parents[parent] if is_signed else parent
    if isinstance(outer, cst.FormattedStringExpression | cst.Slice | cst.Index):
        return  # "off by one" has slices and indices
    call = code.called(code.parents[outer])
    if call == "flatten" or (is_signed and call in WORDS["layouts"]):
        return  # the same numbers in another shape, or an error: any negative size is the one that is left over
    match node:
        case cst.Name(value="True" | "False"):
            yield cst.Name(str(node.value != "True"))
        case cst.Integer():
            yield parsed(str(node.evaluated_value + 1))
        case cst.Float() if node.evaluated_value < HUGE:
            yield parsed(repr(round(node.evaluated_value * 1.01, 15) or 1.0))
            yield parsed(repr(round(node.evaluated_value * 10, 12) or 1.0))
        case cst.SimpleString(evaluated_value=str(text)) if isinstance(parent, _HOLDS_VALUES):
            # A wrong option, key or format raises at once, which proves nothing: only texts that are values.
            yield parsed(repr(f"XX{text}XX"))


_HOLDS_VALUES = (
    cst.Return, cst.Comparison, cst.ComparisonTarget, cst.Element, cst.BinaryOperation, cst.IfExp, cst.Assign,
)  # fmt: skip


def other_function(node: Any, code: Function) -> Edits:
    """Exchange the last name of what is called."""
    new = OPPOSITES.get(code.called(node))
    if new and isinstance(node.func, cst.Attribute):
        yield Edit(node.func.attr, cst.Name(new))
    elif new in ("min", "max", "any", "all"):
        yield Edit(node.func, cst.Name(new))


def dropped_call(node: Any, code: Function) -> Edits:
    """Leave the object, or the first argument, without the call around it; of a minimum of two, either one."""
    if not isinstance(node, cst.Call) or isinstance(code.parents[node], cst.Expr):
        return
    values = [argument.value for argument in node.args if _is_plain(argument)]
    first = values[:1]
    owner: Any = node.func.value if isinstance(node.func, cst.Attribute) else None
    name = code.called(node)
    is_function = owner is None or code.is_module(owner)
    if name in WORDS["bounds"] and is_function and len(values) == len(node.args) == 2:
        if _integer(values[0]) is None and _integer(values[1]) is None:
            yield from map(operand, values)
    elif name.endswith(("dropout", "_drop")) or _is_self(owner):
        yield from map(operand, first)
    elif name in WORDS["passed_through"]:
        yield from map(operand, first if is_function else [owner])
    elif code.root(node.func) == "self" and name not in _COMPUTING_METHODS:
        yield from (operand(value) for value in first if _integer(value) is None)


_COMPUTING_METHODS = WORDS["pure"] | WORDS["reductions"]


def _is_self(owner: Any) -> bool:
    return isinstance(owner, cst.Name) and owner.value == "self"


def detached(node: Any, code: Function) -> Edits:
    """Cut a parameter, or what is computed from it, off the graph where it is an operand or an argument."""
    if isinstance(node, cst.Name) and node.value in code.differentiable:
        parent = code.parents[node]
        around = map(code.called, code.ancestors(node))
        if not _CUTS_GRAPH.isdisjoint(around):
            return  # it is detached further out, or no gradient flows anyway
        if isinstance(parent, cst.BinaryOperation) or (isinstance(parent, cst.Arg) and parent.value is node):
            yield parsed(f"{node.value}.detach()")


_CUTS_GRAPH = frozenset(("detach", "size", "len", "isinstance"))


def dimension(node: Any, code: Function) -> Edits:
    """Put dimension 0 for any other, 1 for 0."""
    if not isinstance(node, cst.Call):
        return
    positional: list[cst.BaseExpression] = []
    dimensions: list[cst.BaseExpression] = []
    for argument in node.args:
        if argument.keyword is None:
            positional.append(argument.value)
        elif argument.keyword.value in WORDS["dimension_keywords"]:
            dimensions.append(argument.value)
    if isinstance(node.func, cst.Attribute) and code.called(node) in WORDS["reductions"]:
        dimensions += positional[-1:]
    for dimension in dimensions:
        value = _integer(dimension)
        if value is not None:
            yield Edit(dimension, parsed("1" if value == 0 else "0"))


def swapped_arguments(node: Any, code: Function) -> Edits:
    """Swap neighbours."""
    if isinstance(node, cst.Call):
        yield from _swapped_in_call(node)
    elif isinstance(node, cst.Tuple) and len(node.elements) > 1:
        starred = any(isinstance(element, cst.StarredElement) for element in node.elements[:2])
        if isinstance(code.parents[node], cst.Return | cst.Assign) and not starred:
            yield _swapped(node, "elements", 0)


def _swapped_in_call(call: cst.Call) -> Edits:
    if any(argument.star for argument in call.args):
        return
    positional = [argument for argument in call.args if argument.keyword is None]
    for position in range(len(positional) - 1):
        first, second = call.args[position : position + 2]
        if _integer(first.value) is None and _integer(second.value) is None:
            yield _swapped(call, "args", position)


def _swapped(node: Any, field: str, position: int) -> cst.CSTNode:
    parts = list(getattr(node, field))
    first, second = parts[position : position + 2]
    parts[position] = first.with_changes(value=second.value)
    parts[position + 1] = second.with_changes(value=first.value)
    return node.with_changes(**{field: parts})  # type: ignore[no-any-return]


def dropped_keyword(node: Any, code: Function) -> Edits:
    """Leave one keyword argument out."""
    if not isinstance(node, cst.Call):
        return
    for position, argument in enumerate(node.args):
        if argument.keyword is not None:
            others = [*node.args[:position], *node.args[position + 1 :]]
            if others and argument is node.args[-1]:
                others[-1] = others[-1].with_changes(comma=argument.comma)
            yield node.with_changes(args=others)


def ignored_parameter(node: Any, code: Function) -> Edits:
    """Set a parameter to its default, a constant, at the start of the body."""
    if node is not code.node or not code.statements:
        return
    read = {name.id for name in each(code.ast, ast.Name)}
    for parameter, default in parameters(code.ast.args):
        if isinstance(default, ast.Constant | ast.UnaryOp) and parameter.arg in read:
            new = parsed(f"{parameter.arg} = {ast.unparse(default)}")
            yield Edit(code.statements[0], code.before(code.statements[0], new), parameter.arg)


def frozen_attribute(node: Any, code: Function) -> Edits:
    """Put the value that the class gives an attribute of self in its place, everywhere."""
    if node is not code.node:
        return
    for name, value in code.attributes.items():
        constant: Any = parsed(value)
        changed: Any = node.body.visit(_Frozen(name, operand(constant)))
        if changed is not node.body:
            yield Edit(node.body, changed, f"self.{name}")


class _Frozen(cst.CSTTransformer):
    """Replaces an attribute of self where it is read."""

    def __init__(self, name: str, value: Any) -> None:
        self._name, self._value = name, value

    def visit_AssignTarget(self, node: cst.AssignTarget) -> bool:
        return False

    def visit_AugAssign(self, node: cst.AugAssign) -> bool:
        return False

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> Any:
        owner, attribute = original_node.value, original_node.attr.value
        if isinstance(owner, cst.Name) and (owner.value, attribute) == ("self", self._name):
            return self._value.deep_clone()
        return updated_node


def off_by_one(node: Any, code: Function) -> Edits:
    """Move one bound of a slice, or an index."""
    if isinstance(node, cst.Slice):
        for field in ("lower", "upper"):
            if (value := _integer(getattr(node, field))) is not None:
                yield node.with_changes(**{field: parsed(str(value + 1)) if value + 1 else None})
    elif isinstance(node, cst.Index) and (value := _integer(node.value)) is not None:
        yield Edit(node.value, parsed(str(value + 1)))


def other_variable(node: Any, code: Function) -> Edits:
    """Put the next variable of the same kind in the place of one that is read."""
    if isinstance(node, cst.Name | cst.Attribute | cst.Subscript) and code.is_read(node):
        name = code.source(node)
        for group in code.kinds:
            if name in group:
                yield operand(parsed(group[(group.index(name) + 1) % len(group)]))  # type: ignore[arg-type]
                return


def _part_of(node: cst.CSTNode, text: str) -> Iterator[Edit]:
    """Yield the edit that puts a part of ``x`` in the place of a node, which is that x."""
    for new in Rewrite(cst.Name("x"), parsed(text)).of(node):
        yield Edit(node, new)


def fewer_elements(node: Any, code: Function) -> Edits:
    """Go through the last element alone, or all but it; of a comprehension the first."""
    if isinstance(node, cst.For | cst.CompFor):
        if node.asynchronous or code.called(node.iter) in ENDLESS:
            return
        # A range with one step fewer is "off by one".
        fewer = (":1",) if isinstance(node, cst.CompFor) else (":-1",) * (code.called(node.iter) != "range")
        for bounds in ("-1:", *fewer):
            yield from _part_of(node.iter, f"list(x)[{bounds}]")


def dropped_statement(node: Any, code: Function) -> Edits:
    """Put ``pass`` in the place of what is rebound, called for its effect, or returned early."""
    if isinstance(node, cst.Assign):
        if any(code.is_bound(target.target, node) for target in node.targets):
            yield cst.Pass()
    elif isinstance(node, cst.Expr):
        if isinstance(node.value, cst.Call | cst.Await):
            yield cst.Pass()
    elif isinstance(node, cst.Return) and code.parents[node] not in code.statements:
        yield cst.Pass()


def _integer(node: cst.CSTNode | None) -> int | None:
    """Return the value of an integer as it is written, sign included; None for anything else."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        value = _integer(node.expression)
        return None if value is None else -value
    return node.evaluated_value if isinstance(node, cst.Integer) else None


def _read(name: str, table: dict[str, Any]) -> Operator:
    rewrites, examples = [], []
    for before, after in table.get("rewrites", ()):
        rewrites.append(Rewrite(parsed(before), parsed(after)))
        examples.append((_shown(before), _shown(after)))
    examples += map(tuple, table.get("examples", ()))
    function = globals().get(name.replace(" ", "_"))
    return Operator(name, table["title"], tuple(examples), tuple(rewrites), function)


def _shown(text: str) -> str:
    return text if isinstance(parsed(text), cst.BaseSmallStatement) else f"return {text}"


OPERATORS = tuple(_read(name, table) for name, table in TABLES["operators"].items())
"""All operators, in the order in which their mutants are made."""
