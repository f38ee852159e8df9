"""Which of the values that the target returns a test looks at."""

from __future__ import annotations

import ast
import re

from lmr_author.checks.base import Wrong
from lmr_author.checks.reading import Reading
from lmr_author.checks.syntax import last_name
from lmr_author.model import Severity
from lmr_author.source import FunctionNode, children, each, walk

_ASKS = re.compile(
    r"(?:is|has|can|should)_?|all|any|bool|\w*(?:equal|close|match|contains|startswith|endswith)"
)
"""Functions that answer yes or no."""


def dropped(test: Reading, golden: FunctionNode, qualname: str) -> Wrong | None:
    """What to say of a test that never looks at one of the values that the target returns."""
    count, calls = _returned(golden), calls_of(test, golden, qualname)
    if count < 2 or not calls:
        return None
    used = _used(test, frozenset(calls), count)
    if not used or len(used) == count:
        return None
    missing = ", ".join(str(place + 1) for place in range(count) if place not in used)
    message = f"compares {len(used)} of the {count} values that {qualname} returns: nobody looks at number {missing}"
    return Wrong(message, "compare all of them", calls[0].lineno, Severity.NOTE)


def calls_of(test: Reading, golden: FunctionNode, qualname: str) -> list[ast.Call]:
    """The calls of the target in a test, by its name, or by that of an object of its class."""
    names = {golden.name}
    if golden.name in ("forward", "__call__"):
        names |= _instances(test, qualname.split(".")[-2:][0])
    return [call for _, call, _ in test.calls if last_name(call.func) in names]


def truths(test: Reading, golden: FunctionNode, qualname: str) -> frozenset[ast.expr]:
    """The calls of the target, and the names set to nothing else, whose truth says little: it returns no verdict."""
    if _may_be_verdict(golden):
        return frozenset()
    calls = set(calls_of(test, golden, qualname))
    stores = [
        (item.id, node.value in calls)
        for module in test.modules
        for node in each(module.tree, ast.Assign)
        for target in node.targets
        for item in walk(target)
        if isinstance(item, ast.Name)
    ]
    other = {name for name, given in stores if not given}
    other |= {item.arg for module in test.modules for item in each(module.tree, ast.arg)}
    names = {name for name, given in stores if given} - other
    read = (item for module in test.modules for item in each(module.tree, ast.Name))
    return frozenset([*calls, *(item for item in read if item.id in names)])


def _may_be_verdict(function: FunctionNode) -> bool:
    """Whether a function may return True or False."""
    if function.returns is not None and "bool" in ast.unparse(function.returns):
        return True
    returned = [node.value for node in each(function, ast.Return) if node.value is not None]
    names = {node.id for node in returned if isinstance(node, ast.Name)}
    given = [
        node.value
        for node in each(function, ast.Assign)
        if any(isinstance(item, ast.Name) and item.id in names for item in node.targets)
    ]
    return any(
        isinstance(node, ast.Compare | ast.BoolOp)
        or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
        or (isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool)))
        or (isinstance(node, ast.Call) and _ASKS.match(last_name(node.func)) is not None)
        for node in (*returned, *given)
    )


def _instances(test: Reading, class_name: str) -> set[str]:
    """Names that a test gives to objects of a class."""
    return {
        last_name(target)
        for module in test.modules
        for node in each(module.tree, ast.Assign)
        if isinstance(node.value, ast.Call) and last_name(node.value.func) == class_name
        for target in node.targets
    } - {""}


def _returned(function: FunctionNode) -> int:
    """How many values a function returns, always the same number; 0 where that cannot be told."""
    lengths: set[int] = set()
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.Return):
            plain = isinstance(node.value, ast.Tuple) and not any(
                isinstance(item, ast.Starred) for item in node.value.elts
            )
            lengths.add(len(node.value.elts) if plain and isinstance(node.value, ast.Tuple) else 0)
        waiting += children(node)
    return lengths.pop() if len(lengths) == 1 else 0


def _used(test: Reading, calls: frozenset[ast.expr], count: int) -> set[int]:
    """Which of the returned values a test looks at after some calls; all where that cannot be told."""
    used: set[int] = set()
    seen = 0
    for module in test.modules:
        for node in each(module.tree, ast.Subscript, ast.Assign):
            if node.value not in calls:
                continue
            if isinstance(node, ast.Subscript):
                place = node.slice.value if isinstance(node.slice, ast.Constant) else None
                used |= {place} if isinstance(place, int) and 0 <= place < count else set(range(count))
                seen += 1
            elif len(node.targets) == 1:
                used |= _read_later(node.targets[0], module.tree, count)
                seen += 1
    return used if seen == len(calls) else set(range(count))


def _read_later(target: ast.expr, tree: ast.Module, count: int) -> set[int]:
    """Which parts of what is assigned are read anywhere."""
    if isinstance(target, ast.Name):
        return _places(target.id, tree, count)
    parts = _spread(target, count)
    read = {item.id for item in each(tree, ast.Name) if isinstance(item.ctx, ast.Load)}
    if len(parts) != count:
        return set(range(count))
    return {place for place, item in enumerate(parts) if not isinstance(item, ast.Name) or item.id in read}


def _spread(target: ast.expr, count: int) -> list[ast.expr]:
    """What each of the values is assigned to; of ``loss, *_`` the name with the star is that of all the rest."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    found: list[ast.expr] = []
    for item in parts:
        rest = count - len(parts) + 1
        found += [item.value] * rest if isinstance(item, ast.Starred) else [item]
    return found


def _places(name: str, tree: ast.Module, count: int) -> set[int]:
    """Which places of all the values a test reads that keeps them under one name: ``outputs[0]``."""
    loads = [item for item in each(tree, ast.Name) if item.id == name and isinstance(item.ctx, ast.Load)]
    places = [
        node.slice.value
        for node in each(tree, ast.Subscript)
        if isinstance(node.value, ast.Name)
        and node.value.id == name
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, int)
    ]
    return set(places) if places and len(places) == len(loads) else set(range(count))
