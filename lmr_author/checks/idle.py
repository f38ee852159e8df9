"""What of a test finds nothing: assertions that hold in any case, tests that are skipped, loops over no cases."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lmr_author.checks.hidden import asserts, hidden
from lmr_author.checks.reading import Reading
from lmr_author.checks.sites import compares_nothing, is_assert_name, why_it_holds
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.checks.verdict_lists import holds_verdicts
from lmr_author.source import FunctionNode, each, walk

_SKIPPED = frozenset({"pytest.mark.skip", "mark.skip", "unittest.skip", "skip"})
_FAILING = frozenset({"pytest.mark.xfail", "mark.xfail", "unittest.expectedFailure", "expectedFailure"})
_KINDS = (ast.Assert, ast.Call, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For)
_PASSED_ON = frozenset(
    {"zip", "enumerate", "tqdm", "list", "sorted", "reversed", "len", "print", "parametrize"}
)
"""Calls that put nothing into a list they are given."""


@dataclass(frozen=True)
class Idle:
    """A part of a test that finds nothing.

    Attributes:
        node: all of it.
    """

    message: str
    hint: str
    line: int
    node: ast.AST


def idle(test: Reading) -> list[Idle]:
    """Every such part of a test, in order."""
    found = [one for node in each(test.module.tree, *_KINDS) for one in _idle(node, test)]
    return [*found, *_hidden(test)]


def asserts_more(test: Reading, found: Sequence[Idle]) -> bool:
    """Whether there are assertions elsewhere."""
    dead = {id(item) for one in found for item in walk(one.node)}
    return any(
        isinstance(node, ast.Assert) or is_assert_name(dotted(node.func))
        for module in test.modules
        for node in each(module.tree, ast.Assert, ast.Call)
        if id(node) not in dead
    )


def _idle(node: ast.AST, test: Reading) -> Iterator[Idle]:
    if isinstance(node, ast.Assert) and any(why_it_holds(node.test)):
        why, hint = why_it_holds(node.test)
        yield Idle(f"`{ast.unparse(node.test)[:60]}` always holds: {why}", hint, node.lineno, node)
    elif isinstance(node, ast.Assert) and _is_function(node.test, test):
        message = f"`{ast.unparse(node.test)[:60]}` always holds: it is a function"
        yield Idle(message, "write () behind it", node.lineno, node)
    elif isinstance(node, ast.Call | ast.Assert) and (found := _collected(node, test)):
        yield found
    elif isinstance(node, ast.Call | ast.Assert) and (meant := compares_nothing(node)):
        message = f"`{ast.unparse(node)[:80]}` compares nothing: what comes second is the message"
        yield Idle(message, f"write {meant} in its place", node.lineno, node)
    elif isinstance(node, FunctionNode | ast.ClassDef) and node.name.startswith(("test", "Test")):
        yield from _by_decorator(node, test)
    elif isinstance(node, ast.For) and _is_empty(node.iter, test):
        message = f"`{ast.unparse(node.iter)[:60]}` has nothing in it: the loop never runs"
        yield Idle(message, "fill in the cases", node.lineno, node)


def _hidden(test: Reading) -> Iterator[Idle]:
    """Tests, and functions with assertions, that another one of the same name replaces."""
    for first, second in hidden(test.module.tree):
        if asserts(first):
            message = f"{first.name} is defined again in line {second.lineno}: this one never runs"
            yield Idle(message, "give one of them another name", first.lineno, first)


def _by_decorator(node: FunctionNode | ast.ClassDef, test: Reading) -> Iterator[Idle]:
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        name = dotted(call.func if call else decorator)
        said = "; what is skipped counts as passed" if name in _SKIPPED else ""
        if name in _FAILING and not any(
            item.arg in ("strict", "raises") for item in (call.keywords if call else ())
        ):
            said = "; a wrong result is what it expects"
        if said:
            yield Idle(
                f"{node.name} is marked with {name}{said}", "take the mark off", decorator.lineno, node
            )
        elif (
            call
            and last_name(call.func) == "parametrize"
            and len(call.args) > 1
            and _is_empty(call.args[1], test)
        ):
            message = f"`{ast.unparse(call.args[1])[:60]}` has nothing in it: {node.name} never runs"
            yield Idle(message, "fill in the cases", decorator.lineno, node)


_EACH = {
    "dict": "write all(….values()) around it",
    "list": "write all(…) around it",
    "tuple": "assert the verdict that is in it",
}


def _collected(node: ast.Call | ast.Assert, test: Reading) -> Idle | None:
    """An assertion of verdicts that are collected, as a whole."""
    if isinstance(node, ast.Assert):
        asserted = node.test
    elif last_name(node.func) == "assertTrue" and node.args:
        asserted = node.args[0]
    else:
        return None
    kind = holds_verdicts(asserted, test)
    message = f"`{ast.unparse(asserted)[:60]}` always holds: a {kind} with something in it is true"
    return Idle(message, _EACH[kind], node.lineno, node) if kind else None


def _is_function(node: ast.expr, test: Reading) -> bool:
    """Whether a name is that of a function of the test: true, as long as nobody calls it."""
    if not isinstance(node, ast.Name):
        return False
    tree = test.module.tree
    if any(item.arg == node.id for item in each(tree, ast.arg)):
        return False
    stored = any(one.id == node.id and isinstance(one.ctx, ast.Store) for one in each(tree, ast.Name))
    defined = any(item.name == node.id for item in each(tree, ast.FunctionDef, ast.AsyncFunctionDef))
    return isinstance(test.environment.get(node.id), ast.Lambda) or (defined and not stored)


def _is_empty(node: ast.expr, test: Reading) -> bool:
    """Whether there is nothing to go through: a list that is written as empty, and never filled."""
    if isinstance(node, ast.Call) and last_name(node.func) in _PASSED_ON:
        return any(_is_empty(item, test) for item in node.args)
    if isinstance(node, ast.Call) and last_name(node.func) in ("items", "values", "keys"):
        return isinstance(node.func, ast.Attribute) and _is_empty(node.func.value, test)
    if isinstance(node, ast.Name):
        value = test.environment.get(node.id)
        return value is not None and _is_blank(value) and not _is_filled(node.id, test)
    return _is_blank(node)


def _is_blank(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return dotted(node.func) in ("list", "dict", "tuple") and not node.args and not node.keywords
    return (isinstance(node, ast.List | ast.Tuple) and not node.elts) or (
        isinstance(node, ast.Dict) and not node.keys
    )


def _is_filled(name: str, test: Reading) -> bool:
    """Whether something may be put into a list: by a method, an index, or a call that is given it."""
    tree = test.module.tree
    for part in each(tree, ast.Attribute, ast.Subscript, ast.Starred):
        read = isinstance(part, ast.Attribute) and part.attr in ("items", "values", "keys")
        if dotted(part.value) == name and not read:
            return True
    given = [
        item
        for call in each(tree, ast.Call)
        if last_name(call.func) not in _PASSED_ON
        for item in (*call.args, *(keyword.value for keyword in call.keywords))
    ]
    if any(last_name(call.func) in ("exec", "globals", "locals", "vars") for call in each(tree, ast.Call)):
        return True
    stored = [part for node in each(tree, ast.Assign, ast.Return) if node.value for part in walk(node.value)]
    return bool(each(tree, ast.Global, ast.Nonlocal)) or any(
        dotted(item) == name for item in (*given, *stored)
    )
