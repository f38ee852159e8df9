"""A canonical form that is equal for versions which no test can tell apart.

A mutant with the golden's form is not made: it says nothing about a test, and costs the annotator a look. Only what
the source shows is used, and in doubt the mutant is made.
"""

from __future__ import annotations

import ast

from lmr_author.code import parse
from lmr_author.evaluation.mutants.operators import DIMENSIONS, TABLES, WORDS

EPSILON = 1e-5
"""A constant of this size that is added, or is a lower bound, only guards against a division by zero: versions
with another one give the same outputs to the last bit that is compared."""
HUGE = 1e6
"""A constant from here on that fills or replaces stands for infinity."""


def canonical_form(text: str) -> str | None:
    """Return the form of a function's source; None when it is no Python."""
    try:
        return ast.dump(_Canonical().visit(parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return None


class _Canonical(ast.NodeTransformer):
    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        itself = len(node.targets) == 1 and ast.unparse(node.targets[0]) == ast.unparse(node.value)
        return ast.Pass() if itself else node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)  # model.to(device) is left as its owner
        return ast.Pass() if isinstance(node.value, ast.Name | ast.Attribute | ast.Subscript) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = called(node)
        if owner := _moved(node):
            return owner
        if not node.keywords and len(node.args) == 2 and name in WORDS["commutative"]:
            node.args.sort(key=ast.dump)
        node.keywords = [word for word in node.keywords if not _is_default(name, word)]
        if name in WORDS["bounding"]:
            node.args = [_marked(item, "eps") if is_epsilon(item) else item for item in node.args]
        for word in node.keywords:
            if word.arg in WORDS["guards"] and is_epsilon(word.value):
                word.value = _marked(word.value, "eps")
        if name in WORDS["filling"]:
            node.args = [_marked(item, "inf") if _is_huge(item) else item for item in node.args]
        if name in WORDS["even"]:
            node.args = [_unsigned(item) for item in node.args]
            node.func = _unsigned_owner(node.func)
        if name in ("pow", "pow_") and len(node.args) == 1 and _is_even(node.args[0]):
            node.func = _unsigned_owner(node.func)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add | ast.Sub) and is_epsilon(node.right):
            return node.left
        if isinstance(node.op, ast.Add) and is_epsilon(node.left):
            return node.right
        if isinstance(node.op, ast.Pow) and _is_even(node.right):
            node.left = _unsigned(node.left)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        inner = node.value.func if isinstance(node.value, ast.Call) else node.value
        if node.attr == "T" and isinstance(inner, ast.Attribute) and inner.attr in WORDS["transpositions"]:
            return inner.value  # transposed twice
        return node


def called(node: ast.AST) -> str:
    """Return the last name of what a node calls; "" when it is no call."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def is_epsilon(node: ast.expr) -> bool:
    """Return whether a node is a tiny constant."""
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, float) and 0 < value <= EPSILON


def _is_huge(node: ast.expr) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value >= HUGE


def _is_even(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value % 2 == 0


def _marked(node: ast.expr, kind: str) -> ast.expr:
    return ast.Name(f"<{kind}>", ast.Load())


def _unsigned(node: ast.expr) -> ast.expr:
    """Return a difference with its sides in one order."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        node.left, node.right = sorted((node.left, node.right), key=ast.dump)
    return node


def _unsigned_owner(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Attribute):
        node.value = _unsigned(node.value)
    return node


def _is_default(name: str, word: ast.keyword) -> bool:
    """Return whether a keyword says what holds without it, on the machine that judges."""
    text = ast.unparse(word.value)
    if word.arg in ("dim", "axis"):
        return name in DIMENSIONS.get(text, ())
    if word.arg == "dtype":
        return name in WORDS["factories"] and text in ("torch.float", "torch.float32")
    return word.arg in WORDS["without_effect"] or TABLES["defaults"].get(word.arg) == text


def _moved(node: ast.Call) -> ast.expr | None:
    """Return what a call only moves to a device, as in ``x.cuda()`` and ``x.to(device)``; None for other calls."""
    given = [*node.args, *(word.value for word in node.keywords if word.arg != "non_blocking")]
    if not isinstance(node.func, ast.Attribute) or len(given) > 1:
        return None
    text = ast.unparse(given[0]) if given else ""
    place = text.strip("'").partition(":")[0] in ("cpu", "cuda", "mps") or text.lower().endswith(
        ("device", "device)")
    )
    moves = node.func.attr in ("cpu", "cuda") or (node.func.attr == "to" and (place or not given))
    return node.func.value if moves else None
