"""What a test says with "Passed" in it whatever the result is: ``f"Passed: {ok}"``, ``f"{n}/{m} tests Passed"``."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from lmr_author.checks.assignments import own_nodes
from lmr_author.checks.needs_gpu import unconditional
from lmr_author.checks.reading import Reading
from lmr_author.checks.sites import is_exit, is_site_call
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.source import each, walk

_LOGS = frozenset({"debug", "info", "warning", "error", "critical", "exception"})
_HOLE = r"%[-+ 0#]*\d*(?:\.\d+)?[sdifger]"
_VERDICT = {
    "Passed": re.compile(r"pass|ok|success|result|equal|close|match|correct", re.IGNORECASE),
    "Failed": re.compile(r"not |fail|error|wrong|bad|pass|total", re.IGNORECASE),
}
_COUNT = re.compile(r"pass|ok\b|success|correct|match|good|right|sum\(|count", re.IGNORECASE)
_COUNTS = re.compile(
    r"\0\s*(?:/|(?:out )?of)\s*(?:\0|\d+)[\w\s]*\bPassed\b|\bPassed\b\W{0,3}\0\s*(?:/|(?:out )?of)\s*(?:\0|\d+)"
)
"""How many of how many passed; a zero byte stands for what is not written down."""


def said_anyway(test: Reading) -> tuple[str, int]:
    """What a test says whatever its result is, and the line; ("", 0) where nothing of the kind is found."""
    if not any("Passed" in text for text in test.constants):
        return "", 0
    found = [(node, parts) for node, parts in _messages(test.module.tree) if "Passed" in _shown(parts)]
    printed = {id(item) for _, node, name in test.calls if name == "print" for item in walk(node)}
    logs = bool(test.log_files) or any(name.rpartition(".")[2] in _LOGS for _, _, name in test.calls)
    messages = [(node, parts) for node, parts in found if not (logs and id(node) in printed)]
    for node, parts in messages:
        if "Failed" not in _shown(parts) and _tells("Passed", parts):
            says = "prints" if id(node) in printed else "logs"
            return f'{says} "Passed: <result>": the marker is there whatever the result is', node.lineno
    alone = not any("Failed" in text for text in test.constants)
    sure = _in_any_case(test.module.tree) if messages else frozenset()
    for node, parts in messages:
        if alone and id(node) in sure and _counts(parts):
            says = "prints" if id(node) in printed else "logs"
            return f'{says} "<n>/<m> Passed": the marker is there whatever n is', node.lineno
        if id(node) in sure and _is_log(node) and _tells("Passed", parts) and _tells("Failed", parts):
            return 'logs "Passed" and "Failed" in one message: no log with "Failed" is a pass', node.lineno
    return "", 0


def _tells(marker: str, parts: list[str | ast.expr]) -> bool:
    """Whether a verdict follows a marker in a message."""
    return any(
        isinstance(part, str)
        and re.search(rf"{marker}\s*[:=?]?\s*$", part) is not None
        and isinstance(following, ast.expr)
        and not isinstance(following, ast.Constant)
        and _VERDICT[marker].search(ast.unparse(following)) is not None
        for part, following in itertools.pairwise(parts)
    )


def _counts(parts: list[str | ast.expr]) -> bool:
    """Whether a message says how many of how many passed."""
    shown = _shown(parts)
    found = _COUNTS.search(shown)
    values = [part for part in parts if not isinstance(part, str)]
    return (
        found is not None
        and _COUNT.search(ast.unparse(values[shown.count("\0", 0, found.start())])) is not None
    )


def _shown(parts: list[str | ast.expr]) -> str:
    return "".join(part if isinstance(part, str) else "\0" for part in parts)


def _is_log(node: ast.expr) -> bool:
    """Whether it is a call that logs, not one that prints."""
    return isinstance(node, ast.Call) and last_name(node.func) in _LOGS


def _messages(tree: ast.Module) -> Iterator[tuple[ast.expr, list[str | ast.expr]]]:
    """(where, its texts and what stands between them) of everything that is put together from both."""
    for node in each(tree, ast.JoinedStr, ast.BinOp, ast.Call):
        parts = _of_call(node) if isinstance(node, ast.Call) else _parts(node)
        if len(parts) > 1:
            yield node, parts


def _of_call(node: ast.Call) -> list[str | ast.expr]:
    """What ``print("Passed:", ok)`` and ``info("Passed: %s", ok)`` say, what ``"…".format(…)`` gives."""
    if node.args and dotted(node.func) == "print":
        spaced = [[*_parts(item), " "] for item in node.args]
        return _merged(part for parts in spaced for part in parts)
    if node.args and _is_log(node):
        return _filled(node.args[0], node.args[1:]) if len(node.args) > 1 else _parts(node.args[0])
    return _parts(node)


def _parts(node: ast.expr) -> list[str | ast.expr]:
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr():
            values = (item.value if isinstance(item, ast.FormattedValue) else item for item in node.values)
            return _merged(str(item.value) if isinstance(item, ast.Constant) else item for item in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _merged([*_parts(left), *_parts(right)])
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            return _filled(left, right.elts if isinstance(right, ast.Tuple) else [right])
        case ast.Call(func=ast.Attribute(value=left, attr="format")) if not node.keywords:
            return _filled(left, node.args, r"\{[^{}]*\}")
    return [node]


def _filled(template: ast.expr, values: list[ast.expr], hole: str = _HOLE) -> list[str | ast.expr]:
    """The pieces of a text with holes, and what fills them; the expression itself where that cannot be told."""
    text = template.value if isinstance(template, ast.Constant) else None
    pieces = re.split(hole, text) if isinstance(text, str) else []
    if len(pieces) != len(values) + 1:
        return [template]
    pairs = itertools.zip_longest(pieces, values)
    return _merged(part for pair in pairs for part in pair if part is not None)


def _merged(parts: Iterable[str | ast.expr]) -> list[str | ast.expr]:
    """Texts that follow each other made one."""
    found: list[str | ast.expr] = []
    for part in parts:
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        else:
            found.append(part)
    return found


def _in_any_case(tree: ast.Module) -> frozenset[int]:
    """What runs whatever the result is: below no ``if`` and no ``except``, and behind nothing that may fail."""
    handled = {id(item) for node in each(tree, ast.ExceptHandler) for item in walk(node)}
    found = {id(node) for node in unconditional(tree)} - handled
    for scope in (tree, *each(tree, ast.FunctionDef, ast.AsyncFunctionDef)):
        own = own_nodes(scope)
        first = min((node.lineno for node in own if _may_end(node)), default=0)
        found -= {id(node) for node in own if first and getattr(node, "lineno", 0) > first}
    return frozenset(found)


def _may_end(node: ast.AST) -> TypeGuard[ast.stmt | ast.expr]:
    """Whether a wrong result may end the program there."""
    return isinstance(node, ast.Assert | ast.Raise) or (
        isinstance(node, ast.Call) and (is_exit(node) or is_site_call(node))
    )
