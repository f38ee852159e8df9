"""Reading the body of a masked function: what is left in it, what it computes, whether it raises."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from lmr_author.code import FunctionNode, form, is_same, walk

_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)
_QUIET_CALLS = frozenset(
    """
    print list dict set tuple object float int str
    """.split()  # noqa: SIM905
)
_FILLED = frozenset(
    """
    zeros ones empty rand randn zeros_like ones_like empty_like rand_like randn_like new_zeros new_ones
    new_empty
    """.split()  # noqa: SIM905
)
"""Functions whose values say nothing, whatever shape they are given."""
_LOGGERS = frozenset(["debug", "info", "warning", "warn", "error"])


def statements(node: FunctionNode | ast.ClassDef) -> list[ast.stmt]:
    """Return the body of a function or a class without its docstring."""
    return list(node.body[1:] if node.body and is_text(node.body[0]) else node.body)


def is_text(node: ast.stmt) -> bool:
    """Return whether a statement is a bare string: a docstring, or a comment written as one."""
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)


def dump(nodes: Sequence[ast.stmt]) -> str:
    """Return statements in a form that is equal for equal code, wherever it stands."""
    return ";".join(form(node) for node in nodes if not is_text(node))


def are_same(some: Sequence[ast.stmt], others: Sequence[ast.stmt]) -> bool:
    """Return whether two lists of statements are the same code."""
    return is_same(
        [node for node in some if not is_text(node)], [node for node in others if not is_text(node)]
    )


def parts(nodes: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield each simple statement, and each compound one before what is in it; no bare text, and no bare ``try``."""
    for node in nodes:
        if is_text(node):
            continue
        blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        blocks += [handler.body for handler in getattr(node, "handlers", [])]
        if not isinstance(node, ast.Try):
            yield node
        for block in blocks:
            yield from parts([item for item in block if isinstance(item, ast.stmt)])


def _comparable(node: ast.stmt) -> str:
    """Return a simple statement, or the head of a compound one, in a form that is equal for equal code."""
    heads = [
        getattr(node, name) for name in ("args", "test", "target", "iter", "items") if hasattr(node, name)
    ]
    if not isinstance(node, (*_BLOCKS, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return form(node)
    flat = [item for head in heads for item in (head if isinstance(head, list) else [head])]
    return ",".join([type(node).__name__.removeprefix("Async"), getattr(node, "name", ""), *map(form, flat)])


def is_trivial(node: ast.AST) -> bool:
    """Return whether a statement computes nothing: pass, a constant, an import, a log line, ``x = None``, ``y = x``.

    The head of a loop, condition or ``with`` computes nothing either: what stands in it is judged by itself.
    """
    plain = (ast.Pass, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Break, ast.Continue)
    if isinstance(node, (*_BLOCKS, *plain)):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant | ast.Yield) or _is_log(node.value)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return node.value is None or isinstance(node.value, ast.Name) or is_constant(node.value)
    return False


def is_constant(node: ast.expr) -> bool:
    """Return whether an expression takes nothing from the arguments: a literal, ``[]``, ``torch.tensor(0.)``."""
    if isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr in _FILLED:
            return True
        quiet = isinstance(called, ast.Name) and called.id in _QUIET_CALLS
        tensor = isinstance(called, ast.Attribute) and called.attr in ("tensor", "array", "full")
        return (quiet or tensor) and all(map(is_constant, node.args))
    if isinstance(node, ast.UnaryOp):
        return is_constant(node.operand)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return all(map(is_constant, node.elts))
    if isinstance(node, ast.Dict):
        return all(map(is_constant, [*filter(None, node.keys), *node.values]))
    return isinstance(node, ast.Constant)


def _is_log(node: ast.expr) -> bool:
    """Return whether an expression prints or logs, or makes an exception and forgets to raise it."""
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Name):
        return called.id == "print" or called.id.endswith("Error")
    return isinstance(called, ast.Attribute) and called.attr in _LOGGERS


def kept_pieces(golden: FunctionNode, goal: FunctionNode) -> tuple[list[ast.stmt], int]:
    """Return the statements of the golden's body that the masked one still has, and how many there were.

    Statements that give nothing away are not counted (returns, raises, constants, logging, ``super().__init__()``),
    unless both bodies begin with at least two of the same: ``losses = []``, ``count = 0``.
    """
    original, left = (
        [node for node in parts(statements(function)) if is_telling(node)] for function in (golden, goal)
    )
    available = Counter(map(_comparable, original)) if left else Counter[str]()
    kept = []
    for node in left:
        available[_comparable(node)] -= 1
        if available[_comparable(node)] >= 0:
            kept.append(node)
    if not kept:
        for one, other in zip(statements(golden), statements(goal), strict=False):
            if not is_same(one, other) or not isinstance(other, ast.Assign | ast.AnnAssign):
                break
            kept.append(other)
        kept = kept if len(kept) >= 2 else []
    return kept, len(original)


def is_telling(node: ast.AST) -> bool:
    """Return whether a statement is a part of a solution that tells something."""
    if isinstance(node, ast.Return | ast.Raise) or (not isinstance(node, _BLOCKS) and is_trivial(node)):
        return False
    return not (isinstance(node, ast.Expr) and ast.unparse(node.value).startswith("super("))


def always_raises(body: Sequence[ast.stmt]) -> bool:
    """Return whether every way through a block ends in a ``raise``; loops are taken to run at least once."""
    for node in body:
        if isinstance(node, ast.Raise | ast.Return):
            return isinstance(node, ast.Raise)
        if isinstance(node, ast.If) and always_raises(node.body) and always_raises(node.orelse):
            return True
        if isinstance(node, _BLOCKS) and not isinstance(node, ast.If) and always_raises(node.body):
            return True
        if isinstance(node, ast.Try) and not node.handlers and always_raises(node.body):
            return True
    return False


def raises_not_implemented(node: FunctionNode) -> bool:
    """Return whether the body raises NotImplementedError."""
    raised = (
        item.exc for statement in statements(node) for item in walk(statement) if isinstance(item, ast.Raise)
    )
    names = (ast.unparse(one.func if isinstance(one, ast.Call) else one) for one in raised if one is not None)
    return any(name.endswith("NotImplementedError") for name in names)
