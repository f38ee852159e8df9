"""Verdicts that a test collects in a list, tuple or dict, and then asserts as a whole: true, whatever they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lmr_author.checks.assignments import own_nodes
from lmr_author.checks.reading import Reading
from lmr_author.checks.sides import sides_of
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.source import bound_by, each, walk

_KINDS = {ast.Dict: "dict", ast.List: "list", ast.Tuple: "tuple"}
_READING = frozenset(
    {"print", "len", "str", "repr", "all", "any", "info", "debug", "warning", "dumps", "sum"}
)
"""Calls that take nothing out of what they are given."""
_ADDING = frozenset({"append", "extend", "insert", "items", "values", "keys", "get", "setdefault"})


def holds_verdicts(node: ast.expr, test: Reading) -> str:
    """What something is that is asserted, when it holds verdicts, and is true whatever they are; "" for all else.

    That is a list, tuple or dict with something in it, under a name or as the value of a function of the test:
    ``return {"shape": a.shape == b.shape, "values": torch.equal(a, b)}`` is never empty.
    """
    values = list(_values(node, test))
    kinds = {_KINDS.get(type(value), "") for value in values}
    if len(kinds) != 1 or not all(_is_full(value) for value in values):
        return ""
    named = isinstance(node, ast.Name | ast.Call)  # what is written out is `why_it_holds`'s business
    verdicts = any(_is_verdict(part, test) for value in values for part in _parts(value))
    return kinds.pop() if named and verdicts else ""


def _values(node: ast.expr, test: Reading, depth: int = 0) -> Iterator[ast.expr]:
    """What an expression may be: the value of a name, or each that a function returns; itself where that is unclear."""
    if isinstance(node, ast.Name):
        known = test.environment.get(node.id)
        if known is not None and not _may_lose(node.id, test) and depth < 4:
            yield from _values(known, test, depth + 1)
            return
    elif isinstance(node, ast.Call):
        function = _function(node.func, test)
        if function is not None and depth < 4:
            returned = [item.value for item in own_nodes(function) if isinstance(item, ast.Return)]
            for value in returned:
                yield from _values(value if value is not None else node, test, depth + 1)
            return
    yield node


def _function(called: ast.expr, test: Reading) -> ast.FunctionDef | None:
    """The function of the test that is called, when it always ends by ``return``."""
    own = isinstance(called, ast.Name) or dotted(called) == f"self.{last_name(called)}"
    name = last_name(called)
    tree = test.module.tree
    found = [item for item in each(tree, ast.FunctionDef, ast.AsyncFunctionDef) if item.name == name]
    others = any(name in bound_by(item) for item in each(tree, ast.Import, ast.ImportFrom))
    others |= any(item.id == name and isinstance(item.ctx, ast.Store) for item in each(tree, ast.Name))
    others |= any(item.arg == name for item in each(tree, ast.arg))
    if not own or others or len(found) != 1 or found[0].decorator_list:
        return None
    (one,) = found
    special = any(isinstance(item, ast.Yield | ast.YieldFrom) for item in own_nodes(one))
    plain = isinstance(one, ast.FunctionDef) and not special and _returns(one.body)
    return one if plain and isinstance(one, ast.FunctionDef) else None


def _returns(body: list[ast.stmt]) -> bool:
    """Whether a block never goes on behind its end."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return _returns(last.body) and _returns(last.orelse)
    return isinstance(last, ast.Return | ast.Raise)


def _is_full(node: ast.expr) -> bool:
    """Whether there is something in a list, tuple or dict for certain."""
    if isinstance(node, ast.Dict):
        return any(key is not None for key in node.keys)
    parts = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return any(not isinstance(part, ast.Starred) for part in parts)


def _parts(node: ast.expr) -> list[ast.expr]:
    return node.values if isinstance(node, ast.Dict) else getattr(node, "elts", [])


def _is_verdict(node: ast.expr, test: Reading) -> bool:
    """Whether something says yes or no: a comparison, or what has its value."""
    if isinstance(node, ast.Name):
        known = test.environment.get(node.id)
        return known is not None and not isinstance(known, ast.Name) and _is_verdict(known, test)
    if isinstance(node, ast.Call) and last_name(node.func) in ("bool", "all", "any"):
        return True
    yes_or_no = isinstance(node, ast.Constant) and isinstance(node.value, bool)
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return yes_or_no or negated or isinstance(node, ast.Compare) or sides_of(node) is not None


def _may_lose(name: str, test: Reading) -> bool:
    """Whether something may be taken out of what has a name."""
    tree = test.module.tree
    for part in each(tree, ast.Attribute, ast.Subscript):
        if dotted(part.value) == name:
            if isinstance(part, ast.Attribute) and part.attr not in _ADDING:
                return True
            if isinstance(part, ast.Subscript) and (
                isinstance(part.ctx, ast.Del) or isinstance(part.slice, ast.Slice)
            ):
                return True
    return any(
        isinstance(item, ast.Name) and item.id == name
        for call in each(tree, ast.Call)
        if last_name(call.func) not in _READING
        for given in (*call.args, *(keyword.value for keyword in call.keywords))
        for item in walk(given)
    )
