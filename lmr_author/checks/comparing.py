"""What a test compares with what: the two sides of each comparison, and where their values come from."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from lmr_author.checks.assignments import Latest, Scope, assigned, attributes
from lmr_author.checks.sides import Sides, fails, sides_of
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.source import children, form, is_same, walk

_CONVERSIONS = frozenset(
    """
    array asarray tensor as_tensor from_numpy float int str list tuple set dict round numpy detach cpu item
    tolist flatten view reshape squeeze float32 float64 double to contiguous approx
    """.split()  # noqa: SIM905
)
"""Calls that change the form of a value, not what is compared. Copies are none of them: ``before = x.clone()``."""
_READERS = frozenset({"load", "loads", "open", "read_csv", "load_file", "read_json", "loadtxt", "read_text"})


@dataclass(frozen=True)
class Helper:
    """A function that only returns an expression: the names of its parameters, and the expression."""

    names: tuple[str, ...]
    returned: ast.expr


@dataclass(frozen=True)
class _Compared:
    """A function that compares two of its arguments: their places, and whether it is true where they differ."""

    left: int
    right: int
    differ: bool


@dataclass(frozen=True)
class Comparison:
    """A comparison for equality or closeness.

    Attributes:
        node: the whole expression, for its line.
        left, right: its sides, without conversions around them.
        scope: names that the surrounding function, or else the module, assigns exactly once → (value, place
            in a tuple or -1); ``None`` for names that it assigns more often. Attributes of the test's object, too.
        wanted: equality is wanted: it does not stand in a ``not`` or ``assertFalse``.
        helpers: functions of the module that only return an expression, by name.
    """

    node: ast.expr
    left: ast.expr
    right: ast.expr
    scope: Scope
    wanted: bool
    helpers: Mapping[str, Helper] = field(default_factory=dict)

    def origin(self, side: ast.expr) -> str:
        """Where a side's value comes from, in a form that compares equal; "" when that cannot be told."""
        node, steps = side, ""
        for _ in range(12):
            node = core(_inlined(core(node), self.helpers))
            if isinstance(node, ast.Subscript):
                item = _item(self._known(node.value), node.slice)
                steps = steps if item is not None else form(node.slice) + steps
                node = item if item is not None else node.value
                continue
            known = self._entry(node)
            if known is None:
                break
            value, place = known
            if place >= 0:
                steps = form(ast.Constant(place)) + steps
            node = value
        own = _bound([inner for inner in walk(node) if isinstance(inner, ast.comprehension)])
        held = {
            id(item.value) for item in walk(node) if isinstance(item, ast.Attribute) and self._entry(item)
        }
        unclear = any(
            isinstance(item, ast.Name) and item.id not in own and self.scope.get(item.id, item) is None
            for item in walk(node)
            if id(item) not in held
        )
        return "" if unclear else form(_without_forward(_plain(node))) + steps

    def _entry(self, node: ast.expr) -> tuple[ast.expr, int] | None:
        """What the scope has of a name, or of an attribute of the test's object."""
        return self.scope.get(dotted(node)) if isinstance(node, ast.Name | ast.Attribute) else None

    def _known(self, node: ast.expr) -> ast.expr:
        """What a name stands for, when it is assigned once and not as part of a tuple; else the node itself."""
        known = self._entry(node)
        return known[0] if known is not None and known[1] < 0 else node

    def renamed(self, side: ast.expr) -> ast.expr:
        """A side with the first name of each value: ``got["loss"]`` for ``want["loss"]`` after ``want = got``."""
        names = [item for item in walk(side) if isinstance(item, ast.Name)]
        first = {item.id: other for item in names if (other := self._first(item)) is not item}
        return cast(ast.expr, _Given(first).visit(copy.deepcopy(side))) if first else side

    def _first(self, name: ast.Name) -> ast.Name:
        """The name that a value was given first, where all its names are assigned once."""
        for _ in range(8):
            value = self._known(name)
            if isinstance(value, ast.Subscript):
                value = _item(self._known(value.value), value.slice) or value
            if not isinstance(value, ast.Name) or self.scope.get(value.id) is None:
                break
            name = value
        return name

    def source(self, side: ast.expr) -> ast.expr:
        """The expression that a side's value comes from, when it is a name; else the side itself."""
        node = core(side)
        for _ in range(8):
            value = node.value if isinstance(node, ast.Subscript) else node
            item = _item(self._known(value), node.slice) if isinstance(node, ast.Subscript) else None
            known = self._entry(value)
            if item is None and known is None:
                break
            node = core(item if item is not None else known[0] if known else node)
        return node


def _item(node: ast.expr, key: ast.expr) -> ast.expr | None:
    """What a key takes from a list or dict that is written out, or from a list of one expression, over and over."""
    if isinstance(node, ast.List | ast.Tuple):
        place = key.value if isinstance(key, ast.Constant) else None
        starred = any(isinstance(one, ast.Starred) for one in node.elts)
        known = isinstance(place, int) and -len(node.elts) <= place < len(node.elts) and not starred
        return node.elts[place] if known and isinstance(place, int) else None
    if isinstance(node, ast.Dict):
        same = [
            value for name, value in zip(node.keys, node.values, strict=True) if name and is_same(name, key)
        ]
        return same[0] if len(same) == 1 else None
    if isinstance(node, ast.ListComp) and not isinstance(key, ast.Slice):
        used = {item.id for item in walk(node.elt) if isinstance(item, ast.Name)}
        return None if used & _bound(node.generators) else node.elt
    return None


def _helpers(tree: ast.Module) -> dict[str, Helper]:
    """Functions that return an expression of their arguments, which are all given by place, and do nothing else."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            arguments = node.args
            special = (arguments.vararg, arguments.kwarg, *arguments.kwonlyargs, *arguments.defaults)
            body = node.body[-1]
            if len(node.body) == 1 and isinstance(body, ast.Return) and body.value and not any(special):
                names = tuple(item.arg for item in (*arguments.posonlyargs, *arguments.args))
                found[node.name] = Helper(names, body.value)
    return found


def _inlined(node: ast.expr, helpers: Mapping[str, Helper]) -> ast.expr:
    """What a call of such a function returns; every other expression as it is."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords:
        return node
    helper = helpers.get(node.func.id)
    if helper is None or len(helper.names) != len(node.args):
        return node
    given = _Given(dict(zip(helper.names, node.args, strict=True)))
    return cast(ast.expr, given.visit(copy.deepcopy(helper.returned)))


class _Given(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)


def _plain(node: ast.expr) -> ast.expr:
    """A call without conversions around its arguments; that of an object's copy is one of the object."""
    if not isinstance(node, ast.Call):
        return node
    called = node.func
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Call):
        copy = called.value
        if last_name(copy.func) in ("deepcopy", "copy") and len(copy.args) == 1:
            called = ast.Attribute(copy.args[0], called.attr)
    return ast.Call(called, [core(item) for item in node.args], node.keywords)


def _without_forward(node: ast.expr) -> ast.expr:
    """``model(x)`` for ``model.forward(x)``: a module's call is its ``forward``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "forward":
        return ast.Call(node.func.value, node.args, node.keywords)
    return node


def _bound(generators: list[ast.comprehension]) -> set[str]:
    """Names that comprehensions bind."""
    return {item.id for one in generators for item in walk(one.target) if isinstance(item, ast.Name)}


def comparisons(tree: ast.Module) -> list[Comparison]:
    """Every comparison of a module, in order."""
    helpers = _helpers(tree)
    scope = assigned(tree, {})
    compared = {name: sides for item in tree.body for name, sides in _compared(item, scope)}
    return [replace(one, helpers=helpers) for one in _within(tree, scope, compared)]


def _compared(node: ast.stmt, scope: Scope) -> Iterator[tuple[str, _Compared]]:
    """A function of the test that says whether two of its parameters are equal, and which."""
    if isinstance(node, ast.FunctionDef) and any(isinstance(item, ast.Return) for item in walk(node)):
        names = [item.arg for item in (*node.args.posonlyargs, *node.args.args)]
        found = list(_within(node, assigned(node, scope), {}))
        sides = [dotted(side) for one in found for side in (one.left, one.right)]
        if len(sides) == 2 == len(set(sides) & set(names)):
            yield node.name, _Compared(names.index(sides[0]), names.index(sides[1]), not found[0].wanted)


def reads_file(node: ast.expr) -> bool:
    """Whether an expression reads a file."""
    return any(
        isinstance(item, ast.Call) and dotted(item.func).rpartition(".")[2] in _READERS for item in walk(node)
    )


def core(node: ast.expr) -> ast.expr:
    """An expression without the conversions around it: ``x`` of ``np.array(x.detach().cpu())``, ``f"{x:.4f}"``."""
    if isinstance(node, ast.JoinedStr) and len(node.values) == 1:
        only = node.values[0]
        return core(only.value) if isinstance(only, ast.FormattedValue) else node
    while isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _CONVERSIONS:
        if isinstance(node.func, ast.Attribute) and not _is_library(node.func.value):
            node = node.func.value
        elif node.args and not isinstance(node.args[0], ast.Starred):
            node = node.args[0]
        else:
            break
    return node


def _is_library(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("np", "numpy", "torch", "jnp", "tf", "pytest")


_LEAVES = frozenset({ast.Name, ast.Constant, *ast.operator.__subclasses__(), *ast.cmpop.__subclasses__()})
"""Most of a tree: what has no parts."""


def _within(scope_node: ast.AST, scope: Scope, compared: Mapping[str, _Compared]) -> Iterator[Comparison]:
    stack: list[tuple[ast.AST, bool]] = [(child, True) for child in children(scope_node)][::-1]
    latest = Latest(scope_node, scope)
    while stack:
        node, wanted = stack.pop()
        if node.__class__ in _LEAVES:
            latest.passes(node)
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _within(node, assigned(node, scope), compared)
            continue
        if isinstance(node, ast.ClassDef):
            yield from _within(node, scope | attributes(node), compared)
            continue
        latest.passes(node)
        if isinstance(node, ast.If | ast.IfExp) and fails(node.body):
            rest = [child for child in children(node) if child is not node.test]
            stack += [(child, True) for child in rest][::-1]
            stack.append((node.test, False))
            continue
        sides = sides_of(node) or _by_helper(node, compared)
        if sides is not None:
            assert isinstance(node, ast.expr)
            equal = wanted != sides.differ
            yield Comparison(node, core(sides.left), core(sides.right), scope | latest.now, equal)
        negates = (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)) or (
            isinstance(node, ast.Call) and dotted(node.func).endswith("assertFalse")
        )
        stack += [(child, wanted != negates) for child in children(node)][::-1]


def _by_helper(node: ast.AST, compared: Mapping[str, _Compared]) -> Sides | None:
    """The sides of a call of a function of the test that compares two of its arguments."""
    known = compared.get(dotted(node.func)) if isinstance(node, ast.Call) else None
    if known is None or not isinstance(node, ast.Call):
        return None
    plain = [item for item in node.args if not isinstance(item, ast.Starred)]
    there = len(plain) == len(node.args) > max(known.left, known.right)
    return Sides(plain[known.left], plain[known.right], known.differ) if there else None
