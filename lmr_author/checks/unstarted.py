"""What of a test is written and never starts: below a misspelt ``__main__``, and in coroutines that nothing awaits."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from lmr_author.checks.base import Wrong
from lmr_author.checks.outcome import judge
from lmr_author.checks.reading import Reading
from lmr_author.checks.sites import never_main
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.model import Severity
from lmr_author.source import FunctionNode, Module, each, imported_as, walk

_RUN_OTHERWISE = frozenset({"__init__", "run", "debug", "_callTestMethod", "__getattribute__"})
"""Methods by which a class runs its tests in a way of its own."""


def unstarted(test: Reading, *, by_pytest: bool) -> Wrong | None:
    """What to say of the first part that never starts; a warning where what is left can fail all the same.

    Args:
        by_pytest: the image runs pytest, which needs no ``__main__``.
    """
    found = [*(() if by_pytest else _guards(test)), *_tests(test), *_calls(test)]
    if not found:
        return None
    left = judge(_without(test, [node for node, _ in found]))
    message, hint, line, _ = found[0][1]
    return Wrong(message, hint, line, Severity.WARNING if left.reached else Severity.ERROR)


def _guards(test: Reading) -> Iterator[tuple[ast.stmt, Wrong]]:
    for node in test.module.tree.body:
        if isinstance(node, ast.If) and never_main(node.test):
            message = f"`if {ast.unparse(node.test)[:60]}:` is never true: what stands below it does not run"
            yield node, Wrong(message, 'write if __name__ == "__main__":', node.lineno)


def _tests(test: Reading) -> Iterator[tuple[ast.stmt, Wrong]]:
    """Coroutines as tests of a plain TestCase, which calls them, and does not await what that gives."""
    if not each(test.module.tree, ast.AsyncFunctionDef):
        return
    known = imported_as(test.module.tree)
    named = {item.attr for item in each(test.module.tree, ast.Attribute)} | test.constants
    for case in each(test.module.tree, ast.ClassDef):
        if not case.bases or case.decorator_list or case.keywords:
            continue
        methods = [item for item in case.body if isinstance(item, FunctionNode)]
        if {item.name for item in methods} & _RUN_OTHERWISE or not all(
            _is_plain(base, known) for base in case.bases
        ):
            continue
        for item in methods:
            own = isinstance(item, ast.AsyncFunctionDef) and item.name.startswith("test")
            if own and not item.decorator_list and item.name not in named:
                message = f"{item.name} never runs: a plain TestCase does not await what `async def` gives, and passes"
                yield item, Wrong(message, "derive from unittest.IsolatedAsyncioTestCase", item.lineno)


def _is_plain(base: ast.expr, known: dict[str, str]) -> bool:
    """Whether a class is ``unittest.TestCase``, by whichever name."""
    first, dot, rest = dotted(base).partition(".")
    return known.get(first, first) + dot + rest == "unittest.TestCase"


def _calls(test: Reading) -> Iterator[tuple[ast.stmt, Wrong]]:
    """Calls of the test's own coroutines that nothing awaits: a statement by itself, or what is asserted."""
    own = [item for item in each(test.module.tree, ast.AsyncFunctionDef) if not item.decorator_list]
    functions = each(test.module.tree, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = [item.name for item in functions]
    bound = {item.id for item in each(test.module.tree, ast.Name) if isinstance(item.ctx, ast.Store)}
    bound |= {item.arg for item in each(test.module.tree, ast.arg)}
    awaited = {item.name for item in own if names.count(item.name) == 1 and item.name not in bound}
    awaited -= {item.name for item in own if _yields(item)}
    for node in each(test.module.tree, ast.Expr, ast.Assert) if awaited else ():
        call = node.test if isinstance(node, ast.Assert) else node.value
        called = call.func if isinstance(call, ast.Call) else None
        known = isinstance(called, ast.Name) or dotted(called or ast.Pass()).startswith("self.")
        if called is not None and known and last_name(called) in awaited:
            message = (
                f"`{ast.unparse(call)[:60]}` makes a coroutine, which nothing awaits: its body never runs"
            )
            yield node, Wrong(message, f"write asyncio.run({ast.unparse(call)[:60]})", node.lineno)


def _yields(function: ast.AsyncFunctionDef) -> bool:
    return any(isinstance(item, ast.Yield) for item in walk(function))


def _without(test: Reading, nodes: list[ast.stmt]) -> Reading:
    """A test without some of its statements."""
    places = {(node.lineno, node.col_offset, type(node)) for node in nodes}
    tree = copy.deepcopy(test.module.tree)
    _Left(places).generic_visit(tree)
    module = Module(test.module.data, test.module.name, test.module.text, "utf-8", tree)
    return Reading(test.path, module, test.relative, test.helpers)


class _Left(ast.NodeTransformer):
    """Takes statements out: what stands in the ``else`` of an ``if`` stays."""

    def __init__(self, places: set[tuple[int, int, type]]) -> None:
        self._places = places

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        """Nothing for what is to go."""
        if isinstance(node, ast.stmt) and (node.lineno, node.col_offset, type(node)) in self._places:
            empty = ast.copy_location(ast.Pass(), node)
            return [empty, *node.orelse] if isinstance(node, ast.If) else empty
        return self.generic_visit(node)
