"""Verdicts that are bad from the start: where what is tried raises, they stay so, and a later exit tells it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from lmr_author.checks.assignments import own_nodes
from lmr_author.checks.folding import RAISES, UNKNOWN, folded
from lmr_author.checks.reading import Reading
from lmr_author.checks.sites import EXITS, is_exit, is_quiet_exit
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.source import FunctionNode, each, walk


def is_told_later(test: Reading, scope: ast.AST, tried: ast.Try | ast.With) -> bool:
    """Whether a failure that a ``try`` or ``with suppress`` swallows makes the test fail all the same, further down.

    Args:
        scope: the function, or the module, that it stands in.
    """
    handled = [item for one in getattr(tried, "handlers", []) for item in walk(one)]
    if any(isinstance(item, ast.Continue | ast.Break) or is_quiet_exit(item) for item in handled):
        return False  # what comes later is not come to
    returns = any(isinstance(item, ast.Return) for item in handled)
    not_run = [*tried.body, *getattr(tried, "orelse", [])]
    inside = {id(item) for statement in not_run for item in walk(statement)}
    own = [item for item in own_nodes(scope) if id(item) not in inside]
    known = _left(test, own, tried)
    if not returns and any(_fails(node, known) for node in own if getattr(node, "lineno", 0) > tried.lineno):
        return True
    everywhere = [item for item in each(test.module.tree, *_SITES) if id(item) not in inside]
    attributes = {name: value for name, value in known.items() if name.startswith(".")}
    if attributes and any(_fails(node, attributes) for node in everywhere):
        return True
    if not isinstance(scope, FunctionNode):
        return False
    returned = _returned(own, tried, known)
    return returned is not UNKNOWN and _tells(test, scope.name, returned, everywhere)


_SITES = (ast.Assert, ast.If, ast.Call, ast.Raise)


def _left(test: Reading, own: list[ast.AST], tried: ast.Try | ast.With) -> dict[str, Any]:
    """What the names that are set in what is tried are where that raises."""
    known: dict[str, Any] = {}
    handled = {id(item) for one in getattr(tried, "handlers", []) for item in walk(one)}
    for name in {_key(item) for line in tried.body for item in walk(line) if _is_store(item)} - {""}:
        where = each(test.module.tree, ast.Assign) if name.startswith(".") else own
        assigned = [
            item
            for item in where
            if isinstance(item, ast.Assign) and id(item) not in handled and name in map(_key, item.targets)
        ]
        inside = {id(item) for line in tried.body for item in walk(line)}
        values = [folded(item.value, {}) for item in assigned if id(item) not in inside]
        if not values and not name.startswith(".") and not _is_set_otherwise(own, name):
            known[name] = RAISES
        elif len(values) == 1 and values[0] is not UNKNOWN:
            known[name] = values[0]
    return known


def _is_store(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store)


def _key(node: ast.AST) -> str:
    """A name as :func:`folded` knows it; "" for what has none."""
    if isinstance(node, ast.Name):
        return node.id
    return f".{node.attr}" if isinstance(node, ast.Attribute) else ""


def _is_set_otherwise(own: Iterable[ast.AST], name: str) -> bool:
    """Whether a name is set by more than plain assignments: a loop, an argument, ``global``."""
    return any(
        (isinstance(item, ast.Name) and item.id == name and isinstance(item.ctx, ast.Store))
        or (isinstance(item, ast.arg) and item.arg == name)
        or (isinstance(item, ast.Global | ast.Nonlocal) and name in item.names)
        for item in own
    )


def _fails(node: ast.AST, known: Mapping[str, Any]) -> bool:
    """Whether a statement or call fails the test because of these values."""
    if isinstance(node, ast.Assert):
        return _is_bad(_worth(node.test, known))
    if isinstance(node, ast.If):
        value = _worth(node.test, known)
        branch = [] if value is UNKNOWN else node.body if value is RAISES or value else node.orelse
        return any(is_exit(item) or _always_fails(item) for line in branch for item in walk(line))
    if not isinstance(node, ast.Call) or not node.args:
        return False
    name = last_name(node.func)
    if dotted(node.func) in EXITS:
        value = _worth(node.args[0], known)
        return value is RAISES or (value is not UNKNOWN and value not in (0, None))
    if name == "assertEqual" and len(node.args) > 1:
        return _is_bad(_worth(ast.Compare(node.args[0], [ast.Eq()], [node.args[1]]), known))
    return name == "assertTrue" and _is_bad(_worth(node.args[0], known))


def _worth(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """What an expression comes to, where something known is in it."""
    names = {_key(item) for item in walk(node)} | {
        f"{last_name(item.func)}()" for item in walk(node) if isinstance(item, ast.Call)
    }
    return folded(node, known) if names & known.keys() else UNKNOWN


def _is_bad(value: Any) -> bool:
    return value is RAISES or (value is not UNKNOWN and not value)


def _always_fails(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "fail"


def _returned(own: list[ast.AST], tried: ast.Try | ast.With, known: Mapping[str, Any]) -> Any:
    """What a function returns where what it tries raises: in the handler, or further down."""
    handled = [
        item for one in getattr(tried, "handlers", []) for item in walk(one) if isinstance(item, ast.Return)
    ]
    later = [item for item in own if isinstance(item, ast.Return) and item.lineno > (tried.end_lineno or 0)]
    found = handled or sorted(later, key=lambda item: item.lineno)[:1]
    values = [folded(item.value, known) for item in found] or [None]
    return values[0] if all(value is values[0] or value == values[0] for value in values) else UNKNOWN


def _tells(test: Reading, name: str, returned: Any, everywhere: Iterable[ast.AST]) -> bool:
    """Whether a function's value makes the program fail, by itself or kept under a name or in a list."""
    known: dict[str, Any] = {f"{name}()": returned}
    for node in each(test.module.tree, ast.Assign):
        if _gives(node.value, name):
            kept = returned if isinstance(node.value, ast.Call) else [returned]
            known.update((_key(target), kept) for target in node.targets if _key(target))
    for call in each(test.module.tree, ast.Call):
        to = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "append" else None
        if to is not None and _key(to) and any(_gives(item, name) for item in call.args):
            known[_key(to)] = [returned]
    return any(_fails(node, known) for node in everywhere)


def _gives(node: ast.expr, name: str) -> bool:
    """Whether it is ``f()``, or ``[f(x) for x in …]``."""
    if isinstance(node, ast.ListComp):
        return _gives(node.elt, name)
    return isinstance(node, ast.Call) and last_name(node.func) == name
