"""Which assertions of a unit test depend on what the target returns or changes.

A plain rule over names: where code mentions a name that carries the target's result, what it assigns or decides
carries it too. Neither the order of statements nor scopes count, so that a doubtful name carries it: an assertion is
blamed only if no chain of names connects it with the target. What a test really does is shown by `evaluate`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from lmr_author.core.code import bound_by, each, parameters, root_name, walk
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
        self.decided: set[ast.AST] = set()
        size = 0
        while size != len(self.carriers):
            size = len(self.carriers)
            for node in test.nodes:
                self._follow(node)

    def sees(self, node: ast.AST) -> bool:
        """Return True if a statement or call depends on the result, or runs only where the result was so."""
        return node in self.decided or self.mentions([node])

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
        match node:
            case ast.Call():
                self._follow_call(node)
            case ast.ClassDef(name=name, bases=bases) if self.mentions(bases):
                self.carriers.add(name)
            case ast.FunctionDef(name=name, body=body) | ast.AsyncFunctionDef(name=name, body=body):
                if each(node, ast.Return, ast.Yield, ast.YieldFrom) and self.mentions(body):
                    self.carriers.add(name)
            case ast.Expr(value=ast.Call(func=function) as call) if self.mentions([function]):
                self.carriers |= _names(call)  # `target(values)` may change the values
            case _ if type(node) in _FLOWS:
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
        match call.func:
            case ast.Attribute(value=owner) if root_name(owner) not in {*self.imported, "self", "cls"}:
                self._bind(owner)  # `outcomes.append(outcome)`

    def _follow_early_ends(self, block: list[ast.AST]) -> None:
        """Let a condition decide about what comes after ``if wrong: continue``, too."""
        for number, statement in enumerate(block, 1):
            match statement:
                case ast.If(test=condition) if each(statement, *_LEAVES) and self.mentions([condition]):
                    self._decide(block[number:])

    def _decide(self, nodes: list[ast.AST]) -> None:
        """Mark code that the result decides about; what it binds or adds to tells of the result."""
        for node in walk_all(nodes):
            self.decided.add(node)
            match node:
                case ast.Call(func=ast.Attribute(value=changed)):  # `wrong.append(1)`
                    self._bind(changed)
                case (
                    ast.Name(ctx=ast.Store())
                    | ast.Attribute(ctx=ast.Store())
                    | ast.Subscript(ctx=ast.Store())
                ):
                    self._bind(node)

    def _bind(self, node: ast.AST) -> None:
        """Let the names in an expression carry the result: of ``self.a.b[0]`` it is ``b`` and ``a``."""
        self.carriers |= _names(node) - self.imported


def _names(node: ast.AST) -> set[str]:
    return set(map(last_name, ast.walk(node))) - _NO_NAMES


def _part(node: ast.AST, name: str) -> list[ast.AST]:
    match getattr(node, name, None):
        case None:
            return []
        case list(parts):
            return parts
        case part:
            return [part]


# the target by its names


@once
def result_flow(task: TaskView, target: Implementation, test: UnitTest) -> ResultFlow | None:
    """Return what of a test carries the target's result; None when nothing in it names the target, or shows it."""
    files = pair(task, target)
    names = ways_to(files) or set(target.goal_function.split(".")[-2:])
    if names.isdisjoint(map(last_name, test.nodes)):
        return None  # it is reached through another file of the repository
    if any(_has_unseen_effect(statement, names) for statement in test.each(ast.Expr)):
        return None
    return ResultFlow(test, names)


def ways_to(files: Pair) -> set[str]:
    """Return the names of the targets, and of what uses them in their file: a private function has callers."""
    names: set[str] = set()
    for target in files.targets:
        names.update(target.qualname.split(".")[-2:])
    golden = files.golden
    if golden is None:
        return names
    for _ in range(CALLERS):
        for definition in golden.definitions:
            if not names.isdisjoint(map(last_name, walk(definition.node))):
                names.update(definition.qualname.split(".")[-2:])
        for assignment in each(golden.tree, ast.Assign):
            if not names.isdisjoint(map(last_name, walk(assignment.value))):
                names |= {name.id for name in assignment.targets if isinstance(name, ast.Name)}
    return names


def _has_unseen_effect(statement: ast.Expr, target: set[str]) -> bool:
    """Return True for ``target("--quick")`` as a statement: nothing is returned, and no name is given."""
    match statement.value:
        case ast.Call(func=function, args=arguments) if last_name(function) in target:
            return not any(map(last_name, walk_all(arguments)))
    return False
