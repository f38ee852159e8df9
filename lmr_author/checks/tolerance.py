"""How far from what is expected a value may be, in the comparisons of a test."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from lmr_author.checks.base import Wrong
from lmr_author.checks.comparing import core
from lmr_author.checks.reading import Reading
from lmr_author.checks.sides import EQUALITIES, Sides, sides_of
from lmr_author.checks.syntax import argument, last_name
from lmr_author.model import Severity
from lmr_author.source import each, walk

_ABSOLUTE = frozenset({"delta", "atol", "abs_tol", "abs"})
_RELATIVE = frozenset({"rtol", "rel_tol", "rel"})
_PLACES = {
    "assertAlmostEqual": ("places", 7.0, 0.5),
    "assert_almost_equal": ("decimal", 7.0, 1.5),
    "assert_array_almost_equal": ("decimal", 6.0, 1.5),
}
"""By function: the keyword for the places (the third argument), how many there are without it, and how many units of
the last one two values may differ."""
LARGE = 0.1
"""From here on a tolerance beside a value that is not written down is told."""

_KEEPING = frozenset({"max", "mean", "sum", "item", "float", "amax"})
"""What can be done with a difference without losing its sign."""
_EXPECTED = re.compile(
    r"expect|golden|reference|truth|wanted|correct|answer|(?:^|_)(?:ref|gold|target|true)(?:$|_)"
)


def wide(test: Reading) -> Wrong | None:
    """What to say of a comparison that zero passes though something else is expected, or that is very loose."""
    found = [*_wide(test), *_one_sided(test)]
    return min(found, key=lambda wrong: wrong.severity is Severity.NOTE, default=None)


def _wide(test: Reading) -> Iterator[Wrong]:
    for node in each(test.module.tree, ast.Call, ast.Compare):
        sides = sides_of(node)
        if sides is None or not isinstance(node, ast.expr):
            continue
        values = [_size(side, test.environment) for side in (sides.left, sides.right)]
        known = [value for value in values if value is not None]
        shown = f"`{ast.unparse(node)[:80]}`" if len(known) < 2 else ""
        tolerance = _tolerance(node, known[0] if len(known) == 1 else 0.0)
        if tolerance is None or not shown:
            continue
        if known and known[0] and tolerance >= known[0]:
            message = f"{shown}: zero is close enough, too"
            yield Wrong(message, "choose a tolerance that is small beside the value", node.lineno)
        elif not known and tolerance >= LARGE and not (_keeps_sign(node) or _counts(sides)):
            message = f"{shown}: a value that is wrong by {tolerance:g} passes"
            yield Wrong(
                message, "choose a smaller tolerance, unless the values are large", node.lineno, Severity.NOTE
            )


def _counts(sides: Sides) -> bool:
    """Whether lengths are compared: one more or less is close."""
    return any(
        isinstance(side, ast.Call) and last_name(side.func) == "len" for side in (sides.left, sides.right)
    )


def _keeps_sign(node: ast.expr) -> bool:
    """Whether it is a difference that may be negative: of two times, say, or of the loss before and after."""
    parts = [node.left, *node.comparators] if isinstance(node, ast.Compare) else getattr(node, "args", [])[:1]
    return any(_difference(part) for part in parts)


def _tolerance(node: ast.AST, expected: float) -> float | None:
    """How far from the size of the expected number a value may be; None where that is not written down."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        for side in (node.left, node.comparators[0]):
            if isinstance(side, ast.Call) and last_name(side.func) == "approx":
                return _limit(side, expected)
        digits = [_rounded(side) for side in (node.left, node.comparators[0])]
        return max((0.1**count for count in digits if count is not None), default=None)
    if isinstance(node, ast.Compare):
        limits = [_number(side) for side in (node.left, node.comparators[0])]
        written = [limit for limit in limits if limit is not None]
        return written[0] if written else None
    name = last_name(node.func) if isinstance(node, ast.Call) else ""
    if not isinstance(node, ast.Call) or name not in EQUALITIES:
        return None
    known = _limit(node, expected)
    if known is None and name in _PLACES:
        keyword, usual, units = _PLACES[name]
        given = argument(node, 2, keyword)
        places = usual if given is None else _number(given)
        return None if places is None else units * 10**-places
    return known


def _limit(node: ast.Call, expected: float) -> float | None:
    """The larger of the tolerances that a call is given by name."""
    given = {item.arg: _number(item.value) for item in node.keywords}
    limits = [given[name] for name in _ABSOLUTE & given.keys()]
    limits += [found * expected for name in _RELATIVE & given.keys() if (found := given[name]) is not None]
    return max((limit for limit in limits if limit is not None), default=None)


def _one_sided(test: Reading) -> Iterator[Wrong]:
    """``value - expected < 1e-6`` and ``abs(value - expected < 1e-6)``, which every small value passes."""
    for node in each(test.module.tree, ast.Call, ast.Compare):
        said, line = "", getattr(node, "lineno", 0)
        if isinstance(node, ast.Call) and last_name(node.func) in ("abs", "fabs") and node.args:
            inner = node.args[0]
            if isinstance(inner, ast.Compare) and _difference(inner.left) is not None:
                said = f"`{ast.unparse(node)[:80]}` takes the absolute value of the answer, not of the difference"
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE):
            said = _of_one_side(node, node.left, node.comparators[0])
        elif isinstance(node, ast.Call) and last_name(node.func) in ("assertLess", "assertLessEqual"):
            said = _of_one_side(node, *node.args[:2]) if len(node.args) > 1 else ""
        if said:
            yield Wrong(said, "compare the absolute value of the difference: abs(… - …) < …", line)


def _of_one_side(node: ast.expr, left: ast.expr, right: ast.expr) -> str:
    difference, limit = _difference(left), _number(right)
    if difference is None or limit is None or not 0 < limit <= LARGE:
        return ""
    named = [last_name(item) for side in (difference.left, difference.right) for item in walk(side)]
    literal = any(_number(side) for side in (difference.left, difference.right))
    if not literal and not any(_EXPECTED.search(name) for name in named):
        return ""  # ``new - old < 1e-6``: that something does not grow
    return f"`{ast.unparse(node)[:80]}` holds for every value that is far off on the other side"


def _difference(node: ast.expr) -> ast.BinOp | None:
    """The subtraction in ``a - b``, ``(a - b).max().item()``, ``np.max(a - b)``; None where its sign is taken off."""
    for _ in range(6):
        if isinstance(node, ast.BinOp):
            return node if isinstance(node.op, ast.Sub) else None
        if not isinstance(node, ast.Call) or last_name(node.func) not in _KEEPING:
            return None
        own = node.func.value if isinstance(node.func, ast.Attribute) else None
        node = node.args[0] if node.args and not isinstance(own, ast.BinOp) else own or node
    return None


def _rounded(node: ast.expr) -> float | None:
    """To how many places a value is rounded that is compared."""
    digits = argument(node, 1, "ndigits") if isinstance(node, ast.Call) else None
    return _number(digits) if isinstance(node, ast.Call) and last_name(node.func) == "round" else None


def _size(node: ast.expr, environment: Mapping[str, ast.expr]) -> float | None:
    """The largest absolute value of a number, or of a list or array of numbers, that is written down."""
    inner = core(node)
    if isinstance(inner, ast.Name):
        inner = core(environment.get(inner.id, inner))
    number = _number(inner)
    if number is not None:
        return abs(number)
    if not isinstance(inner, ast.List | ast.Tuple):
        return None
    sizes = [_size(item, {}) for item in inner.elts]
    known = [size for size in sizes if size is not None]
    return max(known) if known and len(known) == len(sizes) else None


def _number(node: object) -> float | None:
    """The value of a number that is written down."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    plain = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return float(node.value) if plain and isinstance(node, ast.Constant) else None  # type: ignore[arg-type]
