"""The mutation operators: rewrites of ``operators.toml``, and functions for what no rewrite can express.

A rewrite such as ``x + y`` → ``y`` is a pattern in Python, in which x, y and z match any expression. A function takes a
node of the target's tree and yields replacements; an :class:`Edit` replaces another node, or puts a statement beside
one. Titles and examples of all of them are in ``operators.toml``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import libcst as cst

from lmr_author.core.code import parameters
from lmr_author.proof.evaluation.mutants.function import Function
from lmr_author.proof.evaluation.mutants.names import TABLES, WORDS

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
    if isinstance(pattern, cst.Name) and pattern.value in WILD:
        bound[pattern.value] = node
        return isinstance(node, cst.BaseExpression)
    if isinstance(pattern, list | tuple):
        if (
            len(pattern) == 1
            and isinstance(pattern[0], cst.Arg)
            and isinstance(pattern[0].value, cst.Ellipsis)
        ):
            bound["..."] = node
            return True
        same = len(pattern) == len(node)
        return same and all(_matches(one, other, bound) for one, other in zip(pattern, node, strict=True))
    if not isinstance(pattern, cst.CSTNode):
        return bool(pattern == node)
    return type(pattern) is type(node) and all(
        _matches(getattr(pattern, item.name), getattr(node, item.name), bound)
        for item in fields(pattern)
        if item.name not in LAYOUT and not item.name.startswith("whitespace")
    )


class _Filling(cst.CSTTransformer):
    def __init__(self, bound: dict[str, Any]) -> None:
        self.bound = bound

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return operand(self.bound[updated_node.value]) if updated_node.value in self.bound else updated_node

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        first = original_node.args[0].value if original_node.args else None
        return (
            updated_node.with_changes(args=self.bound["..."])
            if isinstance(first, cst.Ellipsis)
            else updated_node
        )


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
                yield from (Edit(node, new) for new in rewrite.of(node))
        for found in self.function(node, code) if self.function else ():
            yield found if isinstance(found, Edit) else Edit(node, found)


def _is_literal(node: Any) -> bool:
    """Return whether a node is a negative number, or has a text as an operand, on which other operators only raise."""
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.expression, cst.BaseNumber)
    sides = (node.left, node.right) if isinstance(node, cst.BinaryOperation) else ()
    return any(isinstance(side, cst.BaseString) for side in sides)


def dropped_term(node: Any, code: Function) -> Edits:
    """Leave one of three operands of a minimum out, or one item of a list that a call is given."""
    if isinstance(node, cst.Call) and code.called(node) in WORDS["bounds"] and len(node.args) > 2:
        if not any(item.star or item.keyword for item in node.args):
            yield from (node.with_changes(args=_without(node.args, place)) for place in range(len(node.args)))
    elif (
        isinstance(node, cst.List) and isinstance(code.parents[node], cst.Arg) and 1 < len(node.elements) < 5
    ):
        for place in range(len(node.elements)):
            yield node.with_changes(elements=_without(node.elements, place))


def _without(items: Sequence[Any], place: int) -> list[Any]:
    """Return items with commas between them, without one; the last has the comma that the last had."""
    kept = [item for number, item in enumerate(items) if number != place]
    kept[-1] = kept[-1].with_changes(comma=items[-1].comma)
    return kept


def condition(node: Any, code: Function) -> Edits:
    """Negate the test of an ``if``; take the condition of a comprehension away."""
    if isinstance(node, cst.If | cst.While) and not isinstance(node.test, cst.Comparison):
        yield Edit(node.test, cst.UnaryOperation(cst.Not(), operand(node.test)))
    elif isinstance(node, cst.CompIf):
        yield Edit(node.test, cst.Name("True"))


def one_branch(node: Any, code: Function) -> Edits:
    """Fix the test of an ``if``."""
    if isinstance(node, cst.If):
        yield from (Edit(node.test, cst.Name(value)) for value in ("True", "False"))


def constant(node: Any, code: Function) -> Edits:
    """Change integers by one, floats by one per cent and tenfold, turn booleans, mark texts."""
    if not isinstance(node, cst.Name | cst.Integer | cst.Float | cst.SimpleString):
        return
    parent = code.parents[node]
    outer = code.parents[parent] if isinstance(parent, cst.UnaryOperation) else parent
    if isinstance(outer, cst.FormattedStringExpression | cst.Slice | cst.Index):
        return  # "off by one" has slices and indices
    call = code.called(code.parents[outer])
    if call == "flatten" or (outer is not parent and call in WORDS["layouts"]):
        return  # the same numbers in another shape, or an error: any negative size is the one that is left over
    if isinstance(node, cst.Name):
        if node.value in ("True", "False"):
            yield cst.Name(str(node.value != "True"))
    elif isinstance(node, cst.Integer):
        yield parsed(str(node.evaluated_value + 1))
    elif isinstance(node, cst.Float):
        value = node.evaluated_value
        yield from (
            parsed(repr(new)) for new in (round(value * 1.01, 15) or 1.0, round(value * 10, 12) or 1.0)
        )
    elif isinstance(
        parent,
        cst.Return
        | cst.Comparison
        | cst.ComparisonTarget
        | cst.Element
        | cst.BinaryOperation
        | cst.IfExp
        | cst.Assign,
    ) and isinstance(node.evaluated_value, str):
        # A wrong option, key or format raises at once, which proves nothing: only texts that are values.
        yield parsed(repr(f"XX{node.evaluated_value}XX"))


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
    values = [item.value for item in node.args if item.keyword is None and not item.star]
    owner: Any = node.func.value if isinstance(node.func, cst.Attribute) else None
    name = code.called(node)
    bounded = owner is None or code.is_module(owner)
    if name in WORDS["bounds"] and bounded and len(values) == len(node.args) == 2:
        if all(_integer(item) is None for item in values):
            yield from map(operand, values)
    elif _is_dropout(node) or (isinstance(owner, cst.Name) and owner.value == "self"):
        yield from map(operand, values[:1])
    elif name in WORDS["passed_through"]:
        yield from map(operand, values[:1]) if bounded else [operand(owner)]
    elif code.root(node.func) == "self" and name not in WORDS["pure"] | WORDS["reductions"]:
        yield from (operand(item) for item in values[:1] if _integer(item) is None)


def _is_dropout(node: Any) -> bool:
    """Return whether a node is a call of a dropout, whatever it is called: ``self.attn_drop[i](x)``."""
    if not isinstance(node, cst.Call) or not node.args:
        return False
    name = Function.last_name(node.func)
    if name == "drop":  # that of a DataFrame is another
        return isinstance(node.func, cst.Name) or Function.root(node.func) == "self"
    made = isinstance(node.func, cst.Call)  # nn.Dropout(0.1)(x)
    return name.endswith("_drop") or ("dropout" in name.lower() and name[0].isupper() == made)


def detached(node: Any, code: Function) -> Edits:
    """Cut a parameter, or what is computed from it, off the graph where it is an operand or an argument."""
    if isinstance(node, cst.Name) and node.value in code.differentiable:
        parent = code.parents[node]
        if any(code.called(item) in ("detach", "size", "len", "isinstance") for item in code.ancestors(node)):
            return  # it is detached further out, or no gradient flows anyway
        if isinstance(parent, cst.BinaryOperation) or (isinstance(parent, cst.Arg) and parent.value is node):
            yield parsed(f"{node.value}.detach()")


def dimension(node: Any, code: Function) -> Edits:
    """Put dimension 0 for any other, 1 for 0."""
    if not isinstance(node, cst.Call):
        return
    places = [
        item.value for item in node.args if item.keyword and item.keyword.value in WORDS["dimension_keywords"]
    ]
    if isinstance(node.func, cst.Attribute) and code.called(node) in WORDS["reductions"]:
        places += [item.value for item in node.args if item.keyword is None][-1:]
    for place in places:
        if (value := _integer(place)) is not None:
            yield Edit(place, parsed("1" if value == 0 else "0"))


def swapped_arguments(node: Any, code: Function) -> Edits:
    """Swap neighbours."""
    if isinstance(node, cst.Call) and not any(item.star for item in node.args):
        for place in range(sum(item.keyword is None for item in node.args) - 1):
            if all(_integer(item.value) is None for item in node.args[place : place + 2]):
                yield _swapped(node, "args", place)
    elif isinstance(node, cst.Tuple) and len(node.elements) > 1:
        parent: Any = code.parents[node]
        # Of `a, b = x, y` either side may be swapped: one of them is enough.
        twice = isinstance(parent, cst.AssignTarget) and isinstance(code.parents[parent].value, cst.Tuple)  # type: ignore[attr-defined]
        starred = any(isinstance(item, cst.StarredElement) for item in node.elements[:2])
        if isinstance(parent, cst.Return | cst.Assign | cst.AssignTarget) and not twice and not starred:
            yield _swapped(node, "elements", 0)


def _swapped(node: Any, field: str, place: int) -> cst.CSTNode:
    items = list(getattr(node, field))
    one, other = items[place : place + 2]
    items[place : place + 2] = one.with_changes(value=other.value), other.with_changes(value=one.value)
    return node.with_changes(**{field: items})  # type: ignore[no-any-return]


def dropped_keyword(node: Any, code: Function) -> Edits:
    """Leave one keyword argument out."""
    for word in node.args if isinstance(node, cst.Call) else ():
        if word.keyword is not None:
            kept = [item for item in node.args if item is not word]
            if kept and word is node.args[-1]:
                kept[-1] = kept[-1].with_changes(comma=word.comma)
            yield node.with_changes(args=kept)


def ignored_parameter(node: Any, code: Function) -> Edits:
    """Set a parameter to its default at the start of the body: a constant, or one of the module's by name."""
    if node is not code.node or not code.statements:
        return
    read = {item.id for item in ast.walk(code.ast) if isinstance(item, ast.Name)}
    targets = [one for item in code.golden.tree.body if isinstance(item, ast.Assign) for one in item.targets]
    constants = {one.id for one in targets if isinstance(one, ast.Name)}
    for item, default in parameters(code.ast.args):
        known = isinstance(default, ast.Constant | ast.UnaryOp)
        if (
            default
            and item.arg in read
            and (known or (isinstance(default, ast.Name) and default.id in constants))
        ):
            new = parsed(f"{item.arg} = {ast.unparse(default)}")
            yield Edit(code.statements[0], code.beside(code.statements[0], new), item.arg)


def frozen_attribute(node: Any, code: Function) -> Edits:
    """Put the value that the class gives an attribute of self in its place, everywhere."""
    for name, value in code.attributes.items() if node is code.node else ():
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


def changed_argument(node: Any, code: Function) -> Edits:
    """Change a parameter itself: by an operator, by the method that does so, or by leaving out the copy of it."""
    if isinstance(node, cst.Assign) and len(node.targets) == 1:
        target, value = node.targets[0].target, node.value
        name = target.value if isinstance(target, cst.Name) else ""
        if name in code.objects and isinstance(value, cst.BinaryOperation) and _is_name(value.left, name):
            operator = _AUGMENTED.get(type(value.operator))
            if operator is not None:
                yield cst.AugAssign(target, operator(), value.right, semicolon=node.semicolon)
        given = code.called(value) in WORDS["copies"] and _copied(value)
        if given and code.source(given) in code.objects and name in code.changed:
            yield Edit(value, given)
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        owner, method = node.func.value, node.func.attr
        if isinstance(owner, cst.Name) and owner.value in code.objects and method.value in WORDS["in_place"]:
            yield Edit(method, cst.Name(f"{method.value}_"))


_AUGMENTED: dict[type[cst.BaseBinaryOp], type[cst.BaseAugOp]] = {
    cst.Add: cst.AddAssign, cst.Subtract: cst.SubtractAssign, cst.Multiply: cst.MultiplyAssign,
    cst.Divide: cst.DivideAssign,
}  # fmt: skip


def _is_name(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _copied(call: Any) -> Any:
    """Return what is copied by ``x.clone()``, ``list(x)`` or ``copy.deepcopy(x)``; None for other calls."""
    if not call.args:
        return call.func.value if isinstance(call.func, cst.Attribute) else None
    return call.args[0].value if len(call.args) == 1 else None


def reversed_order(node: Any, code: Function) -> Edits:
    """Run a loop backwards whose body depends on the order."""
    if not isinstance(node, cst.For) or node.asynchronous or code.called(node.iter) in ENDLESS:
        return
    if code.depends_on_order(node):
        rewrite = Rewrite(cst.Name("x"), parsed("list(x)[::-1]"))
        yield from (Edit(node.iter, new) for new in rewrite.of(node.iter))


def fewer_elements(node: Any, code: Function) -> Edits:
    """Go through the last element alone, or all but it; of a comprehension the first. Reduce without the first."""
    if isinstance(node, cst.For | cst.CompFor):
        if node.asynchronous or code.called(node.iter) in ENDLESS:
            return
        # A range with one step fewer is "off by one".
        fewer = (":1",) if isinstance(node, cst.CompFor) else (":-1",) * (code.called(node.iter) != "range")
        for bounds in ("-1:", *fewer):
            rewrite = Rewrite(cst.Name("x"), parsed(f"list(x)[{bounds}]"))
            yield from (Edit(node.iter, new) for new in rewrite.of(node.iter))
    elif code.called(node) in WORDS["over_elements"] and isinstance(node.func, cst.Attribute):
        of_module = code.is_module(node.func.value)
        if of_module and (not node.args or node.args[0].keyword or node.args[0].star):
            return
        reduced = node.args[0].value if of_module else node.func.value
        given = [
            item
            for item in node.args[of_module:]
            if item.keyword is None or item.keyword.value in ("dim", "axis")
        ]
        dimension = _integer(given[0].value) if given else None
        bounds = {-1: "..., 1:", 1: ":, 1:"}.get(0 if dimension is None else dimension, "1:")
        yield from (Edit(reduced, new) for new in Rewrite(cst.Name("x"), parsed(f"x[{bounds}]")).of(reduced))


def dropped_statement(node: Any, code: Function) -> Edits:
    """Put ``pass`` in the place of what is rebound, called for its effect, or returned early; end a loop early."""
    if isinstance(node, cst.Assign):
        if any(code.is_bound(item.target, node) for item in node.targets):
            yield cst.Pass()
    elif (isinstance(node, cst.Expr) and isinstance(node.value, cst.Call | cst.Await)) or (
        isinstance(node, cst.Return) and code.parents[node] not in code.statements
    ):
        yield cst.Pass()
    elif isinstance(node, cst.For):
        last: Any = node.body.body[-1]
        small = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
        if not isinstance(small, cst.Return | cst.Break | cst.Continue | cst.Raise):
            yield Edit(last, code.beside(last, cst.Break(), after=True))


def _integer(node: cst.CSTNode | None) -> int | None:
    """Return the value of an integer as it is written, sign included; None for anything else."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        value = _integer(node.expression)
        return None if value is None else -value
    return node.evaluated_value if isinstance(node, cst.Integer) else None


def _read(name: str, table: dict[str, Any]) -> Operator:
    pairs = tuple((before, after) for before, after in table.get("rewrites", ()))
    shown = ((_shown(before), _shown(after)) for before, after in pairs)
    examples = (*shown, *((before, after) for before, after in table.get("examples", ())))
    rewrites = tuple(Rewrite(parsed(before), parsed(after)) for before, after in pairs)
    return Operator(name, table["title"], examples, rewrites, globals().get(name.replace(" ", "_")))


def _shown(text: str) -> str:
    return text if isinstance(parsed(text), cst.BaseSmallStatement) else f"return {text}"


OPERATORS = tuple(_read(name, table) for name, table in TABLES["operators"].items())
"""All operators, in the order in which their mutants are made."""
