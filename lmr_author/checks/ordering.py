"""Whether an assertion only says how values lie to each other: which is larger, how a text begins, that one is 0."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from lmr_author.checks.comparing import core
from lmr_author.checks.reading import Reading
from lmr_author.checks.sides import Sides
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.checks.unread import calls_of, truths
from lmr_author.source import FunctionNode, Module, each, walk

_INEQUALITIES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_CLOSE = re.compile(
    r"diff|err|dist|delta|mse|mae|gap|tol|norm|eps|thr|limit|bound|margin|close|sim|cos|expect|gold|ref|want|target"
    r"|allow|worst|off|lower|upper|lo\b|hi\b",
    re.IGNORECASE,
)
"""What says that an inequality may be how close two values are, or that one of them is what is expected."""
_TEXT_ENDS = frozenset({"startswith", "endswith"})


class Known:
    """What a test has of the goal file; each is asked for only where an assertion may be about it.

    Args:
        targets: (function, qualified name) of each target in the golden.
    """

    def __init__(self, test: Reading, golden: Module | None, targets: list[tuple[FunctionNode, str]]) -> None:
        self._test = test
        self._definitions = golden.definitions if golden is not None else ()
        self._targets = targets

    @cached_property
    def calls(self) -> frozenset[ast.expr]:
        """Calls of the target."""
        return frozenset(call for one in self._targets for call in calls_of(self._test, *one))

    @cached_property
    def truths(self) -> frozenset[ast.expr]:
        """Results of the target, of which hardly one is false: to assert it asks for next to nothing."""
        return frozenset(node for one in self._targets for node in truths(self._test, *one))

    @cached_property
    def values(self) -> frozenset[ast.expr]:
        """Results of functions of the goal file that return no verdict, the target's among them."""
        called = {last_name(call.func) for _, call, _ in self._test.calls} | {"forward", "__call__"}
        names = [item.name for item in self._definitions if item.name in called]
        found = [
            truths(self._test, item.node, item.qualname)
            for item in self._definitions
            if item.name in called and isinstance(item.node, FunctionNode) and names.count(item.name) == 1
        ]
        return frozenset().union(*found)

    @cached_property
    def given(self) -> frozenset[float]:
        """Broken numbers that the target, or the constructor of its class, is given."""
        owners = {name.rpartition(".")[0].rpartition(".")[2] for _, name in self._targets} - {""}
        made = [call for _, call, _ in self._test.calls if last_name(call.func) in owners]
        names = self._test.environment
        values = [
            _broken(names.get(item.id, item) if isinstance(item, ast.Name) else item)
            for call in (*self.calls, *made)
            for item in (*getattr(call, "args", ()), *(one.value for one in getattr(call, "keywords", ())))
        ]
        return frozenset(value for value in values if value)


def is_order(node: ast.expr, test: Reading, known: Known) -> bool:
    """Whether an assertion asks which of some values is larger, how a text begins, or what it contains."""
    if isinstance(node, ast.Call):
        if last_name(node.func) in _TEXT_ENDS:
            return True
        if last_name(node.func) == "assertIn" and len(node.args) > 1:
            return isinstance(node.args[0], ast.Constant)
        parts = node.args[:2] if last_name(node.func) in ORDERS else []
        return len(parts) == 2 and _is_order([ast.Lt()], parts, node, test, known)
    if not isinstance(node, ast.Compare):
        return False
    if isinstance(node.ops[0], ast.In):
        return len(node.ops) == 1 and isinstance(node.left, ast.Constant)
    return _is_order(node.ops, [node.left, *node.comparators], node, test, known)


ORDERS = frozenset({"assertGreater", "assertGreaterEqual", "assertLess", "assertLessEqual"})


def says_little(sides: Sides, test: Reading, known: Known) -> bool:
    """Whether a comparison is one of the target's result with 0, or of anything with a number that it was given."""
    for one, other in ((sides.left, sides.right), (sides.right, sides.left)):
        number = _broken(other)
        if number and number in known.given:
            return True
        value = core(one)
        if isinstance(value, ast.Name):
            value = core(test.environment.get(value.id, value))
        if isinstance(other, ast.Constant) and other.value == 0 and value in known.calls:
            return True
    return False


def _is_order(
    operators: list[ast.cmpop], parts: list[ast.expr], node: ast.expr, test: Reading, known: Known
) -> bool:
    if not all(isinstance(one, _INEQUALITIES) for one in operators):
        return False
    grows = [part for part in parts if isinstance(part, ast.Call) and last_name(part.func) == "diff"]
    if grows and all(part in grows or _is_zero(part) for part in parts):
        return dotted(grows[0].func).partition(".")[0] in ("np", "numpy", "torch")
    if _CLOSE.search(ast.unparse(node)):
        return False
    if len(parts) == 3 and _is_zero(parts[0]):  # 0 <= rate <= 3e-4 + 1e-12
        limit = parts[2].left if isinstance(parts[2], ast.BinOp) else parts[2]
        return bool(_broken(limit)) and _broken(limit) in known.given
    parameters = {item.arg for item in each(test.module.tree, ast.arg)} - {"self"}
    inside = [item for part in parts for item in _followed(part, test)]
    return not any(
        isinstance(item, ast.BinOp)
        or (isinstance(item, ast.Name) and item.id in parameters)
        or (isinstance(item, ast.Call) and _CLOSE.search(last_name(item.func)))
        for item in inside
    ) and not any(_is_number(test.environment.get(last_name(part), part)) for part in parts)


def _followed(node: ast.expr, test: Reading) -> Iterator[ast.AST]:
    """The parts of an expression, and of all that its names are ever set to."""
    names = {item.id for item in walk(node) if isinstance(item, ast.Name)}
    yield from walk(node)
    for one in each(test.module.tree, ast.Assign, ast.AugAssign):
        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
        if any(isinstance(target, ast.Name) and target.id in names for target in targets):
            yield from walk(one.value)


def _is_number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _broken(node: ast.expr) -> float | None:
    """A number that is written down and not whole: whole ones are too often the same by chance."""
    plain = isinstance(node, ast.Constant) and isinstance(node.value, float) and not node.value.is_integer()
    return node.value if plain and isinstance(node, ast.Constant) else None  # type: ignore[return-value]
