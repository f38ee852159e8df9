"""A comparison by itself: its two sides, and whether a branch is taken where it fails."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from lmr_author.checks.syntax import dotted

EQUALITIES = frozenset(
    """
    allclose isclose array_equal equal assert_close assert_equal assert_allclose assert_array_equal assertEqual
    assertAlmostEqual assertListEqual assertDictEqual assertSetEqual assertTupleEqual assertSequenceEqual
    assertCountEqual assert_almost_equal assert_array_almost_equal assert_frame_equal assert_series_equal
    """.split()  # noqa: SIM905
)
_OF_A_VALUE = frozenset({"allclose", "equal", "isclose"})  # also as methods: a.allclose(b)


_SAYS_NO = re.compile(r"fail|error|wrong|mismatch|incorrect|differ", re.IGNORECASE)
_EXITS = re.compile(r"exit\([^)0]")


def fails(body: list[ast.stmt] | ast.expr) -> bool:
    """Whether a branch is that of a failure: it raises, exits with a code, logs "Failed", or lowers a flag."""
    steps = body if isinstance(body, list) else [ast.Expr(body)]
    text = "\n".join(ast.unparse(node) for node in steps)
    says = _SAYS_NO.search(text)
    ends = any(isinstance(node, ast.Raise) or _is_no(node) for node in steps) or _EXITS.search(text)
    return bool(says or ends) and "Passed" not in text


def _is_no(node: ast.stmt) -> bool:
    """``passed = False``, ``return False``, or the value False."""
    value = node.value if isinstance(node, ast.Assign | ast.Return | ast.Expr) else None
    return isinstance(value, ast.Constant) and value.value is False


class Sides(NamedTuple):
    """The two sides of a comparison.

    Attributes:
        differ: it holds where they differ.
    """

    left: ast.expr
    right: ast.expr
    differ: bool = False


def sides_of(node: ast.AST) -> Sides | None:
    """The sides of a comparison for equality or closeness, or of its opposite; None for anything else."""
    if isinstance(node, ast.Compare):
        return _of_operator(node)
    if not isinstance(node, ast.Call):
        return None
    last = dotted(node.func).rpartition(".")[2]
    if last in ("assertLess", "assertLessEqual") and node.args:
        return _close(_difference(node.args[0]))
    if last not in EQUALITIES:
        return None
    method = last in _OF_A_VALUE and len(node.args) == 1 and isinstance(node.func, ast.Attribute)
    own = [node.func.value] if method and isinstance(node.func, ast.Attribute) else []
    named = [
        item.value
        for item in node.keywords
        if item.arg in ("actual", "desired", "expected", "input", "other")
    ]
    operands = [*own, *node.args, *named][:2]
    return Sides(operands[0], operands[1]) if len(operands) == 2 else None


def _of_operator(node: ast.Compare) -> Sides | None:
    """Of ``a == b``, ``a != b``, ``abs(a - b) < 1e-6``, ``1e-6 < abs(a - b)`` and the like."""
    if len(node.ops) != 1:
        return None
    operator, right = node.ops[0], node.comparators[0]
    if isinstance(operator, ast.Eq | ast.NotEq):
        return Sides(node.left, right, differ=isinstance(operator, ast.NotEq))
    if not isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        return None
    less = isinstance(operator, ast.Lt | ast.LtE)
    return _close(_difference(node.left), differ=not less) or _close(_difference(right), differ=less)


def _close(difference: tuple[ast.expr, ast.expr] | None, *, differ: bool = False) -> Sides | None:
    return Sides(*difference, differ) if difference else None


def _difference(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The sides of ``abs(a - b)``, ``(a - b).abs().max()``, ``np.linalg.norm(a - b)``."""
    for _ in range(6):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            return node.left, node.right
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            node = node.left
        elif not isinstance(node, ast.Call):
            return None
        elif isinstance(node.func, ast.Attribute) and not node.args:
            node = node.func.value
        elif node.args:
            node = node.args[0]
    return None
