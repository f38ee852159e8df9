"""The runner of a test (unittest, pytest): which names hold its result, and whether that reaches the exit code."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from lmr_author.checks.assignments import own_nodes
from lmr_author.checks.handlers import catches_exit
from lmr_author.checks.reading import Reading
from lmr_author.checks.sites import EXITS, is_assert_name, is_exit, mentions
from lmr_author.checks.syntax import dotted
from lmr_author.source import FunctionNode, each, walk

RUNNERS = ("unittest.main", "TextTestRunner", "pytest.main", "HTMLTestRunner", "TestProgram")


def runner_names(scope: ast.AST) -> set[str]:
    """Names that hold a runner's result in a function, or at the top level of a module."""
    assignments = [node for node in own_nodes(scope) if isinstance(node, ast.Assign)]
    found: set[str] = set()
    while True:
        more = {
            item.id
            for node in assignments
            if is_runner(node.value, found)
            for target in node.targets
            for item in walk(target)
            if isinstance(item, ast.Name)
        }
        if more <= found:
            return found
        found |= more


def is_runner(node: ast.AST, names: set[str]) -> bool:
    """Whether an expression calls a runner, or has one of the names that hold its result."""
    for item in walk(node):
        if isinstance(item, ast.Name) and item.id in names:
            return True
        name = dotted(item.func) if isinstance(item, ast.Call) else ""
        if name and any(runner in name for runner in RUNNERS):
            return True
    return False


def exit_texts(test: Reading, defined: Mapping[str, FunctionNode]) -> str:
    """Source of every condition and argument that an exit, raise or assertion hangs on."""
    parts = []
    for module in test.modules:
        for node in each(module.tree, ast.If, ast.While, ast.Assert, ast.Call):
            if isinstance(node, ast.If | ast.While) and any(is_exit(item) for item in walk(node)):
                parts.append(ast.unparse(node.test))
            if isinstance(node, ast.Assert):
                parts.append(ast.unparse(node.test))
            if isinstance(node, ast.Call) and (
                dotted(node.func) in EXITS or is_assert_name(dotted(node.func))
            ):
                parts += [ast.unparse(item) for item in node.args]
    return "\n".join(_followed(test, defined, parts))


def _followed(test: Reading, defined: Mapping[str, FunctionNode], parts: list[str]) -> list[str]:
    """These, with what the variables and functions in them come from: ``ok`` of ``ok = main()``, too."""
    values: dict[str, list[ast.expr]] = {}
    for node in each(test.module.tree, *_GIVING):
        for target, value in _given(node):
            name = dotted(target).rpartition(".")[2]
            if name:
                values.setdefault(name, []).append(value)
    for name, function in defined.items():
        for node in walk(function):
            if isinstance(node, ast.Return) and node.value is not None:
                values.setdefault(name, []).append(node.value)
    found, waiting = list(parts), list(parts)
    while waiting:
        text = waiting.pop()
        for name in [name for name in values if mentions(text, name)]:
            more = [ast.unparse(value) for value in values.pop(name)]
            found += more
            waiting += more
    return found


def result_counts(test: Reading, defined: Mapping[str, FunctionNode], texts: str) -> bool:
    """Whether a runner's result reaches the exit code."""
    tree = test.module.tree
    caught = _caught(tree)
    for scope in (tree, *_functions(test)):
        names = runner_names(scope)
        own = [node for node in own_nodes(scope) if id(node) not in caught]
        if any(_exits_as_main(node, defined) or _decides(node, names) for node in own):
            return True
        # The runner inside a function whose value is exited with: sys.exit(main())
        returns = any(isinstance(item, ast.Return) and item.value for item in own)
        if isinstance(scope, FunctionNode) and scope.name in texts and returns and is_runner(scope, names):
            return True
    return False


def counts_failures_only(test: Reading) -> int:
    """The line where a runner's ``failures`` decide, and its ``errors`` do not; 0 when that is nowhere.

    What raises is an error for unittest, and no failure: with the mask in place the exit code is 0.
    """
    seen = each(test.module.tree, ast.Attribute)
    names = {node.attr for node in seen}
    if "failures" not in names or names & {"errors", "wasSuccessful"}:
        return 0
    own = set().union(*(runner_names(scope) for scope in (test.module.tree, *_functions(test))))
    return next((one.lineno for one in seen if one.attr == "failures" and is_runner(one.value, own)), 0)


def _functions(test: Reading) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return each(test.module.tree, ast.FunctionDef, ast.AsyncFunctionDef)


def _exits_as_main(node: ast.AST, defined: Mapping[str, FunctionNode]) -> bool:
    """Whether it is ``unittest.main()``, which exits with the verdict."""
    name = dotted(node.func) if isinstance(node, ast.Call) else ""
    if name not in ("unittest.main", "main", "absltest.main", "googletest.main") or name in defined:
        return False
    assert isinstance(node, ast.Call)
    keeps = any(
        item.arg == "exit" and isinstance(item.value, ast.Constant) and not item.value.value
        for item in node.keywords
    )
    return not keeps and not is_exit(node)


def _decides(node: ast.AST, names: set[str]) -> bool:
    """Whether an exit or an assertion hangs on the verdict."""
    if isinstance(node, ast.Assert):
        return is_runner(node.test, names)
    if isinstance(node, ast.If | ast.IfExp):
        return is_runner(node.test, names) and any(is_exit(item) for item in walk(node))
    return isinstance(node, ast.Call | ast.Raise) and is_exit(node) and is_runner(node, names)


def _caught(tree: ast.Module) -> set[int]:
    """What is tried where an exit is caught, and the program goes on: its exit code is lost."""
    return {
        id(item)
        for node in each(tree, ast.Try)
        if any(catches_exit(handler) for handler in node.handlers)
        for statement in node.body
        for item in walk(statement)
    }


def _changed(line: ast.stmt) -> list[ast.expr]:
    """The names that a statement, or one inside of it, sets, adds to or appends to."""
    found: list[ast.expr] = []
    for item in walk(line):
        if isinstance(item, ast.AugAssign):
            found.append(item.target)
        elif isinstance(item, ast.Assign):
            found += item.targets
        elif isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute):
            found += [item.func.value] if item.func.attr in ("append", "add") else []
    return found


def _skips(loop: ast.For) -> list[ast.expr]:
    """The conditions on which a loop leaves out what follows."""
    return [
        item.test
        for line in loop.body
        if isinstance(line, ast.If)
        for item in walk(line)
        if isinstance(item, ast.If) and isinstance(item.body[-1], ast.Continue | ast.Break)
    ]


_GIVING = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.Call, ast.If)


def _given(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """(name, value) of an assignment, of a loop, of ``results.append(value)``, and of what hangs on a condition."""
    if isinstance(node, ast.If):
        return [(name, node.test) for line in (*node.body, *node.orelse) for name in _changed(line)]
    if isinstance(node, ast.Assign):
        targets = [
            part for item in node.targets for part in (item.elts if isinstance(item, ast.Tuple) else [item])
        ]
        return [(item.value if isinstance(item, ast.Subscript) else item, node.value) for item in targets]
    if isinstance(node, ast.AugAssign):
        return [(node.target, node.value)]
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return [(node.target, node.value)]
    if isinstance(node, ast.For):
        targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        skips = _skips(node)
        changed = [name for line in node.body for name in _changed(line)] if skips else []
        return [(item, node.iter) for item in targets] + [(name, test) for name in changed for test in skips]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        adds = node.func.attr in ("append", "add", "extend", "update")
        return [(node.func.value, item) for item in node.args] if adds else []
    return []
