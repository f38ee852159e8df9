"""Reading the body of a masked function: what is left in it, what it returns, what is undefined."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterator

from lmr_author.source import FunctionNode, form, is_same, walk

_QUIET_CALLS = frozenset({"print", "list", "dict", "set", "tuple", "object", "float", "int", "str"})
_FILLED = frozenset(
    """
    zeros ones empty rand randn zeros_like ones_like empty_like rand_like randn_like new_zeros new_ones new_empty
    """.split()  # noqa: SIM905
)
"""Functions whose values say nothing, whatever shape they are given."""
_LOGGERS = frozenset({"debug", "info", "warning", "warn", "error"})


def statements(node: FunctionNode | ast.ClassDef) -> list[ast.stmt]:
    """The body of a function or a class without its docstring."""
    body = list(node.body)
    if body and is_text(body[0]):
        body = body[1:]
    return body


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a bare string: a docstring, or a comment written as one."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def dump(nodes: list[ast.stmt]) -> str:
    """Statements in a form that compares equal when the code is the same, wherever it stands."""
    return ";".join(form(node) for node in nodes if not is_text(node))


def are_same(some: list[ast.stmt], others: list[ast.stmt]) -> bool:
    """Whether two lists of statements are the same code."""
    both = [[node for node in nodes if not is_text(node)] for nodes in (some, others)]
    return is_same(both[0], both[1])


def parts(nodes: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Each simple statement and each compound one, what is in it after it, in order; no bare text."""
    for node in nodes:
        if is_text(node):
            continue
        blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        blocks += [handler.body for handler in getattr(node, "handlers", [])]
        if _head(node) is not None or not any(blocks):
            yield node
        for block in blocks:
            yield from parts([item for item in block if isinstance(item, ast.stmt)])


def pieces(nodes: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """(comparable form, node) of each of the :func:`parts`."""
    return ((_comparable(node), node) for node in parts(nodes))


def _head(node: ast.AST) -> list[ast.AST] | None:
    """What stands in the head of a compound statement; None for any other, and where nothing does, as in ``try``."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.args]
    if isinstance(node, ast.ClassDef):
        return []
    if isinstance(node, ast.If | ast.While):
        return [node.test]
    if isinstance(node, ast.For | ast.AsyncFor):
        return [node.target, node.iter]
    return [*node.items] if isinstance(node, ast.With | ast.AsyncWith) else None


def _comparable(node: ast.stmt) -> str:
    """A simple statement, or the head of a compound one, in a form that compares equal."""
    head = _head(node)
    if head is None:
        return form(node)
    kind = type(node).__name__.removeprefix("Async")
    return ",".join([f"{kind} {getattr(node, 'name', '')}", *map(form, head)])


def is_trivial(node: ast.AST) -> bool:
    """Whether a statement computes nothing: pass, a constant, an import, a log line, ``x = None``, ``y = x``.

    The head of a loop, condition or ``with`` computes nothing either: what stands in it is judged by itself.
    """
    if isinstance(node, ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith):
        return True
    if isinstance(
        node, ast.Pass | ast.Global | ast.Nonlocal | ast.Import | ast.ImportFrom | ast.Break | ast.Continue
    ):
        return True
    if isinstance(node, ast.Expr):
        return (
            isinstance(node.value, ast.Constant | ast.Yield) or _is_log(node.value) or _is_error(node.value)
        )
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return node.value is None or isinstance(node.value, ast.Name) or is_constant(node.value)
    return False


def is_constant(node: ast.expr) -> bool:
    """Whether an expression takes nothing from the arguments: a literal, ``[]``, ``torch.tensor(0.)``."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.UnaryOp):
        return is_constant(node.operand)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return all(is_constant(item) for item in node.elts)
    if isinstance(node, ast.Dict):
        return all(is_constant(item) for item in [*(key for key in node.keys if key), *node.values])
    if isinstance(node, ast.Call):
        plain = isinstance(node.func, ast.Name) and node.func.id in _QUIET_CALLS
        if isinstance(node.func, ast.Attribute) and node.func.attr in _FILLED:
            return True
        tensor = isinstance(node.func, ast.Attribute) and node.func.attr in ("tensor", "array", "full")
        return (plain or tensor) and all(is_constant(item) for item in node.args)
    return False


def _is_log(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id == "print"
    return isinstance(node.func, ast.Attribute) and node.func.attr in _LOGGERS


def _is_error(node: ast.expr) -> bool:
    """Whether an expression makes an exception, and forgets to raise it."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Error")


def kept_pieces(golden: FunctionNode, goal: FunctionNode) -> tuple[list[ast.AST], int]:
    """The statements of the golden's body that still stand in the masked one, and how many it has in all.

    Statements that give nothing away are not counted (returns, raises, constants, logging,
    ``super().__init__()``), unless both begin with the same ones.
    """
    original, left = (
        [node for node in parts(statements(function)) if is_telling(node)] for function in (golden, goal)
    )
    available = Counter(map(_comparable, original)) if left else Counter[str]()
    kept: list[ast.AST] = []
    for node in left:
        text = _comparable(node)
        if available[text] > 0:
            available[text] -= 1
            kept.append(node)
    return kept or _same_start(golden, goal), len(original)


def _same_start(golden: FunctionNode, goal: FunctionNode) -> list[ast.AST]:
    """The first statements of both, when at least two are the same: ``losses = []``, ``count = 0``.

    What is computed in a last ``return`` counts as one of them.
    """
    one, other = statements(golden), statements(goal)
    same = itertools.takewhile(lambda two: is_same(*two), zip(one, other, strict=False))
    found: list[ast.AST] = [two for _, two in same if isinstance(two, ast.Assign | ast.AnnAssign)]
    last = other[-1] if found else None
    computes = isinstance(last, ast.Return) and any(
        isinstance(item, ast.Call | ast.BinOp) for item in walk(last)
    )
    if last is not None and computes and is_same(last, one[-1]):
        found.append(last)
    return found if len(found) >= 2 else []


def is_telling(node: ast.AST) -> bool:
    heads = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)
    if isinstance(node, ast.Return | ast.Raise) or (not isinstance(node, heads) and is_trivial(node)):
        return False
    return not (isinstance(node, ast.Expr) and ast.unparse(node.value).startswith("super("))


def raises(node: FunctionNode) -> list[ast.Raise]:
    """Every ``raise`` of a body."""
    return [item for statement in statements(node) for item in walk(statement) if isinstance(item, ast.Raise)]


def always_raises(body: list[ast.stmt]) -> bool:
    """Whether every way through a block ends in a ``raise``; loops are taken to run at least once."""
    for node in body:
        if isinstance(node, ast.Raise):
            return True
        if isinstance(node, ast.Return):
            return False
        if isinstance(node, ast.If) and always_raises(node.body) and always_raises(node.orelse):
            return True
        through = (ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.While)
        if isinstance(node, through) and always_raises(node.body):
            return True
        if isinstance(node, ast.Try) and not node.handlers and always_raises(node.body):
            return True
    return False


def raises_not_implemented(node: FunctionNode) -> bool:
    """Whether the body raises NotImplementedError."""
    for item in raises(node):
        raised = item.exc.func if isinstance(item.exc, ast.Call) else item.exc
        if isinstance(raised, ast.Name | ast.Attribute) and ast.unparse(raised).endswith(
            "NotImplementedError"
        ):
            return True
    return False
