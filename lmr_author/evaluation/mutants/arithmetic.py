"""Operators on arithmetic, comparisons, conditions and constants: mutmut's, and those of formulas."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from lmr_author.evaluation.mutants.equivalent import adds_epsilon, is_even, is_guard, never_equal
from lmr_author.evaluation.mutants.operator import Code, Edit, Operator

SYMBOLS: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
EXCHANGED = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "%": "*", "**": "*", "&": "|", "|": "&"}
EXCHANGED |= {"^": "&", "<<": ">>", ">>": "<<"}
COMPARISONS: Mapping[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}


class Arithmetic(Operator):
    """Another arithmetic operator."""

    name = "arithmetic"
    examples = (("return x + y", "return x - y"), ("return x * y", "return x / y"), ("x += y", "x -= y"))

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Exchange the operator of a binary operation or an augmented assignment."""
        if isinstance(node, ast.BinOp) and not _is_text(node) and not adds_epsilon(node):
            new = EXCHANGED.get(SYMBOLS[type(node.op)])
            if new:
                yield Edit(node, f"{code.inner(node.left)} {new} {code.inner(node.right)}")
        elif isinstance(node, ast.AugAssign):
            new = EXCHANGED.get(SYMBOLS[type(node.op)])
            if new:
                yield Edit(node, f"{code.text(node.target)} {new}= {code.text(node.value)}")


class DroppedTerm(Operator):
    """One operand of a sum or product is missing."""

    name = "dropped term"
    examples = (("return x + 3 * y", "return x"), ("return x * y", "return y"), ("return -x", "return x"))

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Keep one side only; a minus sign goes."""
        if isinstance(node, ast.BinOp) and not _is_text(node):
            if not adds_epsilon(node):
                yield Edit(node, code.inner(node.left))
            if isinstance(node.op, ast.Add | ast.Mult | ast.MatMult | ast.Sub):
                sign = "-" if isinstance(node.op, ast.Sub) else ""
                yield Edit(node, f"{sign}{code.inner(node.right)}")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Invert):
            constant = isinstance(node.operand, ast.Constant)
            yield from () if constant else (Edit(node, code.inner(node.operand)),)


class SwappedOperands(Operator):
    """The operands of what does not commute, the wrong way round."""

    name = "swapped operands"
    examples = (("return x - y", "return y - x"), ("return x @ y", "return y @ x"))

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Swap the two sides."""
        swappable = ast.Sub | ast.Div | ast.MatMult | ast.Pow | ast.FloorDiv | ast.Mod
        if isinstance(node, ast.BinOp) and isinstance(node.op, swappable) and not _is_text(node):
            if is_even(node, code):
                return
            symbol = SYMBOLS[type(node.op)]
            yield Edit(node, f"{code.inner(node.right)} {symbol} {code.inner(node.left)}")


class Transposed(Operator):
    """A factor of a matrix product is transposed, or is not."""

    name = "transposed"
    examples = (
        ("return x @ y", "return x @ y.T"),
        ("return x.T @ y", "return x @ y"),
        ("return x @ y.transpose(-2, -1)", "return x @ y"),
        ("return torch.matmul(x, y)", "return torch.matmul(x, y.T)"),
    )

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Transpose the right factor; take a transposition away from either."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            factors = [node.left, node.right]
        elif isinstance(node, ast.Call) and _is_product(node):
            factors = node.args
        else:
            return
        for factor in factors:
            plain = _untransposed(factor)
            if plain is not None:
                yield Edit(factor, code.inner(plain))
            elif factor is factors[-1]:
                yield Edit(factor, f"{code.inner(factor)}.T")


def _is_product(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in ("matmul", "mm", "bmm", "dot") and len(node.args) == 2 and not node.keywords


def _untransposed(node: ast.expr) -> ast.expr | None:
    """``x`` of ``x.T``, ``x.t()`` and ``x.transpose(-2, -1)``; None for everything else."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "H"):
        return node.value
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr in ("t", "transpose", "permute"):
        return function.value
    return None


class Comparison(Operator):
    """A neighbouring or opposite comparison."""

    name = "comparison"
    examples = (("return x < y", "return x <= y"), ("return x is None", "return x is not None"))

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Exchange the operator; of a chain, the first."""
        if isinstance(node, ast.Compare) and not never_equal(node):
            _, new = COMPARISONS[type(node.ops[0])]
            rest = "".join(
                f" {COMPARISONS[type(op)][0]} {code.inner(side)}"
                for op, side in zip(node.ops[1:], node.comparators[1:], strict=True)
            )
            yield Edit(node, f"{code.inner(node.left)} {new} {code.inner(node.comparators[0])}{rest}")


class Condition(Operator):
    """A condition that is turned round, or joined the other way."""

    name = "condition"
    examples = (
        ("if x:\n    return y\nreturn x", "if not (x):\n    return y\nreturn x"),
        ("return x and y", "return x or y"),
        ("return not x", "return x"),
        ("return x if y else 0", "return 0 if y else x"),
        ("return [i for i in x if i]", "return [i for i in x if True]"),
    )

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Negate tests, exchange ``and`` and ``or``, drop ``not``, swap the branches of an expression."""
        if isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Compare):
            yield Edit(node.test, f"not ({code.text(node.test)})")
        elif isinstance(node, ast.BoolOp):
            word = " or " if isinstance(node.op, ast.And) else " and "
            yield Edit(node, word.join(map(code.inner, node.values)))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield Edit(node, code.inner(node.operand))
        elif isinstance(node, ast.IfExp):
            test, body, other = map(code.inner, (node.test, node.body, node.orelse))
            yield Edit(node, f"{other} if {test} else {body}")
        elif isinstance(node, ast.comprehension):
            for test_node in node.ifs:
                yield Edit(test_node, "True")


class Constant(Operator):
    """A constant that is a little off, far off, or another."""

    name = "constant"
    examples = (
        ("return x + 2", "return x + 3"),
        ("return x * 0.5", "return x * 0.505"),
        ("return x * 0.5", "return x * 5.0"),
        ("return x or True", "return x or False"),
        ("return 'none'", "return 'XXnoneXX'"),
    )

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Integers by one, floats by one per cent and tenfold, booleans turned, texts marked."""
        if not isinstance(node, ast.Constant) or _is_index_or_text_part(node, code):
            return
        if is_guard(node, code):
            return
        value = node.value
        if isinstance(value, bool):
            yield Edit(node, str(not value))
        elif isinstance(value, int):
            yield Edit(node, str(value + 1))
        elif isinstance(value, float):
            yield Edit(node, repr(round(value * 1.01, 15)) if value else "1.0")
            if value:
                yield Edit(node, repr(round(value * 10, 12)))
        elif isinstance(value, str) and isinstance(code.parents.get(node), _VALUE_PLACES):
            yield Edit(node, repr(f"XX{value}XX"))


_VALUE_PLACES = (ast.Return, ast.Compare, ast.List, ast.Tuple, ast.Set, ast.BinOp, ast.IfExp, ast.Assign)
"""Where a text is a value. A wrong option, key or format raises at once, which proves nothing."""


def _is_text(node: ast.BinOp) -> bool:
    """Whether an operation is made of texts: other operators on those only raise."""
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def _is_index_or_text_part(node: ast.Constant, code: Code) -> bool:
    """Whether a constant belongs to a slice (OffByOne has those) or to an f-string."""
    parent = code.parents.get(node)
    outer = code.parents.get(parent) if parent is not None else None
    if isinstance(parent, ast.UnaryOp):
        parent, outer = outer, code.parents.get(outer) if outer is not None else None
    if isinstance(parent, ast.JoinedStr | ast.Slice):
        return True
    return isinstance(parent, ast.Subscript) and parent.slice is node and isinstance(node.value, int)


OPERATORS: tuple[type[Operator], ...] = (
    Arithmetic,
    DroppedTerm,
    SwappedOperands,
    Transposed,
    Comparison,
    Condition,
    Constant,
)
