"""The functions of a test: which of them a loop calls, and what hangs on the value that they return."""

from __future__ import annotations

import ast
from collections.abc import Collection

from lmr_author.checks.reading import Reading
from lmr_author.checks.sites import EXITS, is_exit, is_zero
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.source import FunctionNode, each, walk

_TESTS = ("test", "check", "verify", "case")
"""How functions begin that a search of a module's names is for."""


def looped(test: Reading, defined: Collection[str]) -> dict[str, frozenset[str]]:
    """The functions that a loop's variable stands for: ``for test in (test_a, test_b)``, or all in ``globals()``."""
    found: dict[str, frozenset[str]] = {}
    for module in test.modules:
        for loop in each(module.tree, ast.For, ast.comprehension):
            names = [item.id for item in walk(loop.target) if isinstance(item, ast.Name)]
            found |= dict.fromkeys(names, functions_in(loop.iter, defined))
    return found


def functions_in(node: ast.expr, defined: Collection[str]) -> frozenset[str]:
    """The functions in a list that is written out, or those that a search of the module's names finds: its tests."""
    called = {last_name(item.func) for item in walk(node) if isinstance(item, ast.Call)}
    if called & {"globals", "locals", "vars", "getmembers"}:
        return frozenset(name for name in defined if name.startswith(_TESTS))
    parts = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return frozenset(last_name(item) for part in parts for item in walk(part)) & frozenset(defined)


def has_to_be_true(test: Reading) -> frozenset[str]:
    """The functions whose value makes the program fail when it is false: of ``assert run()``, ``exit(not run())``."""
    found: list[ast.expr] = []
    for node in each(test.module.tree, ast.Assert, ast.If, ast.Call):
        if isinstance(node, ast.Assert):
            found.append(node.test)
        elif isinstance(node, ast.If) and any(is_exit(item) for line in node.body for item in walk(line)):
            found += _negated(node.test)
        elif isinstance(node, ast.Call) and dotted(node.func) in EXITS and node.args:
            code = node.args[0]
            zero = isinstance(code, ast.IfExp) and is_zero(code.body) and not is_zero(code.orelse)
            found += [code.test] if zero and isinstance(code, ast.IfExp) else _negated(code)
    return frozenset(last_name(item.func) for item in found if isinstance(item, ast.Call))


def tells_of_exceptions_only(
    node: ast.expr, test: Reading, defined: Collection[str], trying: Collection[str]
) -> bool:
    """Whether a value is the verdict of functions that try a test, and say only whether it raised something.

    ``run(test_loss)`` of ``def run(test): try: test(); return True; except AssertionError: return False`` is False
    where the test has an assertion; then that is what counts.
    """
    values, seen, called = [node], set(), 0
    while values:
        for item in walk(values.pop()):
            name = last_name(item.func) if isinstance(item, ast.Call) else ""
            if name in defined and name not in trying:
                return False
            called += name in trying
            if isinstance(item, ast.Name) and item.id in test.environment and item.id not in seen:
                seen.add(item.id)
                values.append(test.environment[item.id])
    return called > 0


def tries_only(function: FunctionNode) -> bool:
    """Whether all that a function does is to try something, and to return constants."""
    inside = [item for statement in function.body for item in walk(statement)]
    branches = (ast.If, ast.IfExp, ast.While, ast.Assert, ast.Raise, ast.BoolOp, ast.Compare)
    handled = [item for item in inside if isinstance(item, ast.ExceptHandler)]
    returned = [item.value for item in inside if isinstance(item, ast.Return)]
    return (
        bool(handled and returned)
        and all(isinstance(value, ast.Constant) for value in returned)
        and not any(isinstance(item, branches) for item in inside)
    )


def _negated(node: ast.expr) -> list[ast.expr]:
    return [node.operand] if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) else []
