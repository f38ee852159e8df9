"""Whether a test looks only at shapes, types and ranges: then any values of the right shape pass."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.checks.base import Wrong
from lmr_author.checks.ordering import ORDERS, Known, is_order, says_little
from lmr_author.checks.reading import Reading
from lmr_author.checks.runners import RUNNERS
from lmr_author.checks.sides import sides_of
from lmr_author.checks.sites import is_assert_name, is_none
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.model import Severity
from lmr_author.source import each, walk

_PROPERTIES = frozenset({"shape", "dtype", "ndim", "device", "requires_grad", "is_cuda", "grad_fn"})
_MEASURES = frozenset({"size", "dim", "numel", "nelement", "len", "type", "ndimension", "Size", "keys"})
_QUESTIONS = frozenset(
    {
        "isinstance",
        "hasattr",
        "callable",
        "issubclass",
        "is_tensor",
        "isnan",
        "isfinite",
        "isinf",
        "is_floating_point",
    }
)
_FORMS = frozenset({"tuple", "list", "set", "sorted", "str", "repr", "Size"})
"""What changes the form of a shape or a type."""
_BOUNDS = frozenset({-1, 0, 1, 100})
"""Numbers between which scores, shares and losses lie in any case."""
_ERROR = re.compile(r"diff|err|dist|delta|mse|mae|gap|tol|norm", re.IGNORECASE)
"""What says of a name that it is how far two values are apart."""
_CHECKER = re.compile(r"_?(?:check|verify|compare|validate|expect|raises)", re.IGNORECASE)
"""A function that may compare, wherever it is from."""


def only_shapes(test: Reading, known: Known) -> Wrong | None:
    """What to say of a test that compares nothing but shapes, types, ranges and orders; None where it may do more."""
    lines: dict[str, int] = {}
    for module in test.modules:
        for node in each(module.tree, ast.Assert, ast.Call, ast.Compare):
            kind = _truth(node, known) or _kind(node, test, known)
            if kind == "value":
                return None
            if kind:
                at = getattr(node, "lineno", 0) if module is test.module else 0
                lines[kind] = lines.get(kind) or at
    if not lines:
        return None
    said = "only the shape or the type is looked at: any values pass that have it"
    if "truth" in lines:
        said = "it is only asked whether something comes back: nearly any values pass"
    elif "range" in lines:
        said = "only shapes, types and ranges are looked at: any values within them pass"
    if "order" in lines:
        said = (
            "only asks which value is larger, how a text begins, whether something is 0, or the like: nothing is"
            " compared with an expected value"
        )
        return Wrong(said, _HINT, lines["order"], Severity.NOTE)
    return Wrong(said, _HINT, next(filter(None, lines.values()), 0))


_HINT = "compare the values with stored ones of the golden"


def _truth(node: ast.AST, known: Known) -> str:
    """ "truth" for ``assert f(x)``, "order" for ``assert not f(x)``, and what asks for the same; else ""."""
    if isinstance(node, ast.Assert):
        asserted, wanted = node.test, True
    elif isinstance(node, ast.Call) and last_name(node.func) in ("assertTrue", "assertFalse") and node.args:
        asserted, wanted = node.args[0], last_name(node.func) == "assertTrue"
    else:
        return ""
    while isinstance(asserted, ast.UnaryOp) and isinstance(asserted.op, ast.Not):
        asserted, wanted = asserted.operand, not wanted
    if not isinstance(asserted, ast.Name | ast.Call):
        return ""
    if asserted in known.truths:
        return "truth" if wanted else "order"
    return "order" if asserted in known.values else ""


def _kind(node: ast.AST, test: Reading, known: Known) -> str:
    """What a statement or expression asks for: "shape", "type", "range", "order" or "value"; "" for nothing."""
    if isinstance(node, ast.Assert):
        return _asked(node.test, test, known)
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        if is_assert_name(dotted(node.func)) or sides_of(node):
            return _asked(node, test, known)
        return "value" if _CHECKER.match(name) else ""
    if isinstance(node, ast.Compare) and sides_of(node) and not _of_the_runner(node, test):
        return _asked(node, test, known)
    return ""


def _asked(node: ast.expr, test: Reading, known: Known) -> str:
    if isinstance(node, ast.UnaryOp):
        return _asked(node.operand, test, known)
    if isinstance(node, ast.BoolOp):
        return _most({_asked(item, test, known) for item in node.values})
    sides = sides_of(node)
    if sides is not None:
        if _is_structure(sides.left) or _is_structure(sides.right):
            return "shape"
        return "order" if says_little(sides, test, known) else "value"
    if isinstance(node, ast.Compare):
        if isinstance(node.ops[0], ast.Is | ast.IsNot):
            return "type" if is_none(node.comparators[0]) else "value"
        if _is_range(node.ops, [node.left, *node.comparators], test):
            return "range"
        return "order" if is_order(node, test, known) else "value"
    if isinstance(node, ast.Attribute):
        return "type" if node.attr in _PROPERTIES else "value"
    return _asked_by_call(node, test, known) if isinstance(node, ast.Call) else "value"


def _asked_by_call(node: ast.Call, test: Reading, known: Known) -> str:
    name = last_name(node.func)
    if name in ("assertTrue", "assertFalse") and node.args:
        return _asked(node.args[0], test, known)
    if name in ("assertIsInstance", "assertIsNotNone", "assertIsNone") or name in _QUESTIONS:
        return "type"
    if name in ("all", "any"):
        inner = (
            node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else node
        )
        inner = inner.elt if isinstance(inner, ast.GeneratorExp | ast.ListComp) else inner
        return _asked(inner, test, known) if inner is not node else "value"
    if name in ORDERS and len(node.args) > 1 and _is_range([ast.Gt()], node.args[:2], test):
        return "range"
    return "order" if is_order(node, test, known) else "value"


def _most(kinds: set[str]) -> str:
    return next((kind for kind in ("value", "order", "range", "shape") if kind in kinds), "type")


def _is_structure(node: ast.expr) -> bool:
    """Whether an expression tells of a shape or a type only."""
    if isinstance(node, ast.Subscript):
        return _is_structure(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr in _PROPERTIES or (node.attr == "__name__" and _is_structure(node.value))
    if isinstance(node, ast.BinOp):
        return _is_structure(node.left) or _is_structure(node.right)
    if isinstance(node, ast.Call) and last_name(node.func) in _FORMS and node.args:
        return _is_structure(node.args[0])
    return isinstance(node, ast.Call) and last_name(node.func) in _MEASURES


def _is_range(operators: list[ast.cmpop], parts: list[ast.expr], test: Reading) -> bool:
    """Whether a value has only to lie on one side of 0 or 1, or between: ``0 <= score <= 1``, not ``error < 1``."""
    if not all(isinstance(one, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for one in operators):
        return False
    values = [part for part in parts if not isinstance(part, ast.Constant | ast.UnaryOp)]
    bounds = [part.operand if isinstance(part, ast.UnaryOp) else part for part in parts if part not in values]
    if len(values) != 1 or not all(isinstance(one, ast.Constant) and one.value in _BOUNDS for one in bounds):
        return False
    return _is_structure(values[0]) or not any(map(_tells_apart, _followed(values[0], test)))


def _followed(node: ast.expr, test: Reading) -> Iterator[ast.AST]:
    """The parts of an expression, and of what its names are set to."""
    for item in walk(node):
        yield item
        if isinstance(item, ast.Name) and item.id in test.environment:
            yield from walk(test.environment[item.id])


def _tells_apart(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return True
    name = dotted(node).rpartition(".")[2] if isinstance(node, ast.Name | ast.Attribute) else ""
    return _ERROR.search(name) is not None


def _of_the_runner(node: ast.Compare, test: Reading) -> bool:
    """Whether a comparison is about how the program is run: ``__name__ == "__main__"``, ``pytest.main(…) == 0``."""
    for item in _followed(node.left, test):
        name = dotted(item.func) if isinstance(item, ast.Call) else dotted(item)
        if name in ("__name__", "sys.argv", "sys.platform") or any(one in name for one in RUNNERS):
            return True
    return False
