"""Which assertions of a unit test depend on what the target returns or changes.

A plain rule over names: where code mentions a name that carries the target's result, what it assigns or decides
carries it too. Neither the order of statements nor scopes count, so that a doubtful name carries it: an assertion is
blamed only if no chain of names connects it with the target. What a test really does is shown by `evaluate`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from lmr_author.core.code import FunctionNode, bound_by, each, parameters, root_name, walk
from lmr_author.core.code.tree import last_name
from lmr_author.core.task import Implementation
from lmr_author.proof.checks.unit_test_code import UnitTest, walk_all
from lmr_author.proof.lookup import Pair, pair
from lmr_author.proof.view import TaskView, once

CALLERS = 4
"""Callers of callers that stand for the target: a private function is reached through them."""
_SHOWS_NOTHING = frozenset(("callable", "hasattr", "isinstance", "issubclass", "type", "id"))
"""Functions that tell nothing of a result when they are given the target itself."""
_WATCHERS = frozenset(("capsys", "capfd", "caplog", "recwarn"))
"""Fixtures of pytest that see what a call prints, logs or warns."""
_LEAVES = (ast.Return, ast.Continue, ast.Break, ast.Raise)
_NO_NAMES = frozenset(("", "self", "cls"))
_FLOWS: dict[type[ast.AST], tuple[str, tuple[str, ...]]] = {
    ast.Assign: ("value", ("targets",)),
    ast.AnnAssign: ("value", ("target",)),
    ast.AugAssign: ("value", ("target",)),
    ast.NamedExpr: ("value", ("target",)),
    ast.comprehension: ("iter", ("target",)),
    ast.For: ("iter", ("target", "body", "orelse")),
    ast.If: ("test", ("body", "orelse")),
    ast.While: ("test", ("body", "orelse")),
    ast.Match: ("subject", ("cases",)),
    ast.Try: ("body", ("body", "handlers", "orelse")),
    ast.With: ("body", ("items",)),  # a mock, an expected error, redirected output
    ast.withitem: ("context_expr", ("optional_vars",)),
}
"""Where the first part of a node mentions a carrier, it decides about the others."""


class ResultFlow:
    """The names of a test that carry the target's result, and the code that runs only where the result was so.

    Args:
        target: names that stand for the target: itself, what calls it, and the classes of such methods.
    """

    def __init__(self, test: UnitTest, target: set[str]) -> None:
        self.target = target
        self.functions = {function.name: function for function in test.functions}
        self.imported = {name for statement in test.imports for name in bound_by(statement)}
        self.carriers = {*target, *_WATCHERS}
        self.decided: set[int] = set()
        size = 0
        while size != len(self.carriers):
            size = len(self.carriers)
            for node in test.nodes:
                self._follow(node)

    def sees(self, node: ast.AST) -> bool:
        """Return True if a statement or call depends on the result, or runs only where the result was so."""
        return id(node) in self.decided or self.mentions([node])

    def calls_target(self, nodes: Iterable[ast.AST]) -> bool:
        """Return True if any call in some statements uses the target, as far as names tell."""
        return self.mentions(node for node in walk_all(nodes) if isinstance(node, ast.Call))

    def mentions(self, nodes: Iterable[ast.AST]) -> bool:
        """Return True if some code names a carrier, and does more than look at the target itself."""
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if last_name(node) in self.carriers:
                return True
            if isinstance(node, ast.Call):
                function = last_name(node.func)
                if function in _SHOWS_NOTHING and node.args and last_name(node.args[0]) in self.target:
                    continue
            waiting += ast.iter_child_nodes(node)
        return False

    def _follow(self, node: ast.AST) -> None:
        """Let what a node binds, calls or decides carry the result if the node mentions a carrier."""
        if isinstance(node, ast.Call):
            self._follow_call(node)
        elif isinstance(node, ast.ClassDef) and self.mentions(node.bases):
            self.carriers.add(node.name)
        elif isinstance(node, FunctionNode) and each(node, ast.Return, ast.Yield, ast.YieldFrom):
            self.carriers |= {node.name} if self.mentions(node.body) else set()
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            if self.mentions([node.value.func]):  # `target(values)` may change the values
                self.carriers |= _names(node.value)
        elif type(node) in _FLOWS:
            source, others = _FLOWS[type(node)]
            if self.mentions(_part(node, source)):
                for name in others:
                    self._decide(_part(node, name))
        self._follow_early_ends(_part(node, "body"))

    def _follow_call(self, call: ast.Call) -> None:
        """Let a receiver carry what it is given, and so the parameters of a function of the test."""
        name = last_name(call.func)
        if name.startswith("assert") or not self.mentions([*call.args, *call.keywords]):
            return
        if name in self.functions:
            names = {parameter.arg for parameter, _ in parameters(self.functions[name].args)}
            self.carriers |= names - _NO_NAMES
        if isinstance(call.func, ast.Attribute) and root_name(call.func) not in {
            *self.imported,
            "self",
            "cls",
        }:
            self._bind([call.func.value])  # `outcomes.append(outcome)`

    def _follow_early_ends(self, block: list[ast.AST]) -> None:
        """Let a condition decide about what comes after ``if wrong: continue``, too."""
        for number, statement in enumerate(block, 1):
            leaves = isinstance(statement, ast.If) and each(statement, *_LEAVES)
            if leaves and self.mentions(_part(statement, "test")):
                self._decide(block[number:])

    def _decide(self, nodes: list[ast.AST]) -> None:
        """Mark code that the result decides about; what it binds or adds to tells of the result."""
        for node in walk_all(nodes):
            self.decided.add(id(node))
            if isinstance(getattr(node, "ctx", None), ast.Store):
                self._bind([node])
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                self._bind([node.func.value])  # `wrong.append(1)`

    def _bind(self, nodes: list[ast.AST]) -> None:
        """Let the names in some expressions carry the result: of ``self.a.b[0]`` it is ``b`` and ``a``."""
        self.carriers |= _names(*nodes) - self.imported


def _names(*nodes: ast.AST) -> set[str]:
    return {last_name(part) for part in walk_all(nodes)} - _NO_NAMES


def _part(node: ast.AST, name: str) -> list[ast.AST]:
    part = getattr(node, name, None)
    if part is None:
        return []
    return part if isinstance(part, list) else [part]


# the target by its names


@once
def result_flow(task: TaskView, target: Implementation, test: UnitTest) -> ResultFlow | None:
    """Return what of a test carries the target's result; None when nothing in it names the target, or shows it."""
    files = pair(task, target)
    names = ways_to(files) or set(target.goal_function.split(".")[-2:])
    mentioned = {last_name(node) for node in test.nodes}
    if not mentioned & names or any(_has_unseen_effect(node, names) for node in test.each(ast.Expr)):
        return None  # it is reached through another file of the repository, or what it does is not seen
    return ResultFlow(test, names)


def ways_to(files: Pair) -> set[str]:
    """Return the names of the targets, and of what uses them in their file: a private function has callers."""
    names = {part for target in files.targets for part in target.qualname.split(".")[-2:]}
    golden = files.golden
    if golden is None:
        return names
    for _ in range(CALLERS):
        for definition in golden.definitions:
            if names & {last_name(node) for node in walk(definition.node)}:
                names |= set(definition.qualname.split(".")[-2:])
        for assignment in each(golden.tree, ast.Assign):
            if names & {last_name(node) for node in walk(assignment.value)}:
                names |= {last_name(name) for name in assignment.targets if isinstance(name, ast.Name)}
    return names


def _has_unseen_effect(statement: ast.Expr, target: set[str]) -> bool:
    """Return True for ``target("--quick")`` as a statement: nothing is returned, and no name is given."""
    call = statement.value
    if not isinstance(call, ast.Call) or last_name(call.func) not in target:
        return False
    return not any(last_name(node) for argument in call.args for node in ast.walk(argument))
