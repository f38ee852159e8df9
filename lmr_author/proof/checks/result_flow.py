"""Which parts of a unit test depend on what the target returns or changes.

A plain rule over names: what is assigned from, filled with, or decided by something that carries the target's result
carries it too. Neither the order of statements nor scopes count, so that a doubtful name carries it: an assertion is
blamed only if no chain of names connects it with the target. What a test really does is shown by `evaluate`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from lmr_author.core.code import FunctionNode, Module, bound_by, each, parameters, root_name, walk
from lmr_author.core.task import Implementation
from lmr_author.proof.checks.unit_test_code import UnitTest, last_name
from lmr_author.proof.lookup import pair
from lmr_author.proof.view import TaskView, once

CALLERS = 4
"""Callers of callers that stand for the target: a private function is reached through them."""
_SHOWS_NOTHING = frozenset(("callable", "hasattr", "isinstance", "issubclass", "type", "id"))
"""Functions that tell nothing of a result when they are given the target itself."""
_WATCHERS = frozenset(("capsys", "capfd", "caplog", "recwarn"))
"""Fixtures of pytest that see what a call prints, logs or warns."""
_NO_NAMES = frozenset(("", "self", "cls"))
_LEAVES = (ast.Return, ast.Continue, ast.Break, ast.Raise)


class ResultFlow:
    """The names of a test that carry the target's result.

    Args:
        target: names that stand for the target: itself, what calls it, and the classes of such methods.
        changes_arguments: the target may change what it is given.
    """

    def __init__(self, test: UnitTest, target: AbstractSet[str], changes_arguments: bool) -> None:
        self.target = target
        self.changes_arguments = changes_arguments
        self.functions = {function.name: function for function in test.functions}
        self.imported = {name for statement in test.imports for name in bound_by(statement)}
        self.edges: list[tuple[set[str], set[str]]] = []
        """Where one of the first names carries the result, the second ones do."""
        self.regions: list[tuple[set[str], Sequence[ast.AST]]] = []
        """Where one of the names carries the result, it decides whether the nodes run."""
        for node in test.nodes:
            self._read(node)
            self._read_early_ends(node)
        self.carriers = self._closure({*target, *_WATCHERS})
        """All names that may carry the result."""
        self.decided: set[int] = set()
        """Ids of the nodes that run only where the result was so."""
        for names, region in self.regions:
            if names & self.carriers:
                self.decided.update(id(node) for top in region for node in ast.walk(top))
        self.is_blind = any(map(self._has_unseen_effect, test.each(ast.Expr)))
        """The target is called for an effect that no name shows, as printing or writing."""

    def sees(self, node: ast.AST) -> bool:
        """Return True if a statement or call depends on the result, or runs only where the result was so."""
        return self.is_blind or id(node) in self.decided or bool(self.carriers & self._names(node))

    def calls_target(self, nodes: Iterable[ast.AST]) -> bool:
        """Return True if any call in some statements uses the target, as far as names tell."""
        return bool(self.carriers & self._names(*_calls_in(nodes)))

    def _closure(self, carriers: set[str]) -> set[str]:
        size = -1
        while size != len(carriers):
            size = len(carriers)
            for names, others in self.edges:
                if names & carriers:
                    carriers |= others
        return carriers

    def _names(self, *nodes: ast.AST | None) -> set[str]:
        """Return the names and attributes in some code, but not where the target is only looked at."""
        names: set[str] = set()
        waiting = [node for node in nodes if node is not None]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Call):
                called = last_name(node.func)
                if called in _SHOWS_NOTHING and node.args and last_name(node.args[0]) in self.target:
                    continue
                if called == "getattr":
                    names.update(str(argument.value) for argument in each(node, ast.Constant))
            names.add(last_name(node))
            waiting += ast.iter_child_nodes(node)
        return names - _NO_NAMES

    # reading a test

    def _read(self, node: ast.AST) -> None:
        """Add what one node passes on, without the statements in it."""
        match node:
            case ast.Assign():
                self._add_edge([node.value], _bound(*node.targets))
            case ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                self._add_edge([node.value], _bound(node.target))
            case ast.comprehension():
                self._add_edge([node.iter], _bound(node.target))
            case ast.For() | ast.AsyncFor():
                self._add_edge([node.iter], _bound(node.target))
                self._add_region(self._names(node.iter), [*node.body, *node.orelse])
            case ast.If() | ast.While():
                self._add_region(self._names(node.test), [*node.body, *node.orelse])
            case ast.Match():
                self._add_region(self._names(node.subject), node.cases)
            case ast.Try():
                # A flag that is set behind an assertion tells of it, too.
                self._add_region(self._names(*node.body), [*node.handlers, *node.orelse])
                self._add_edge(node.body, _flags(node.body))
            case ast.With() | ast.AsyncWith():
                self._read_context(node)
            case ast.ClassDef():
                self._add_edge(node.bases, {node.name})
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if each(node, ast.Return, ast.Yield, ast.YieldFrom):
                    self._add_edge(node.body, {node.name})
            case ast.Expr(value=ast.Call() as call):
                self._read_effects(call, is_dropped=True)
            case ast.Call():
                self._read_effects(node, is_dropped=False)
                self._read_arguments(node)

    def _add_edge(self, sources: Sequence[ast.AST | None], names: set[str]) -> None:
        self.edges.append((self._names(*sources), names))

    def _add_region(self, names: set[str], nodes: Sequence[ast.AST]) -> None:
        self.regions.append((names, nodes))
        bound: set[str] = set()
        for top in nodes:
            for node in ast.walk(top):
                if isinstance(getattr(node, "ctx", None), ast.Store):
                    bound |= _bound(node)
                elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    bound |= _bound(node.func.value)  # `wrong.append(1)`
        self.edges.append((names, bound - self.imported))

    def _read_context(self, node: ast.With | ast.AsyncWith) -> None:
        """Let a context around a call of the target see it: a mock, an expected error, redirected output."""
        called = self._names(*_calls_in(node.body))
        for manager in node.items:
            bound = _bound(manager.optional_vars)
            self._add_edge([manager.context_expr], bound)
            if isinstance(manager.context_expr, ast.Call) and last_name(manager.context_expr.func) != "open":
                self._add_region(called, [manager.context_expr])
                self.edges.append((called, bound | _bound(*manager.context_expr.args)))

    def _read_effects(self, call: ast.Call, *, is_dropped: bool) -> None:
        """Add what a call changes: its receiver by what it is given, its arguments by the target."""
        if last_name(call.func).startswith("assert"):
            return
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        if root_name(receiver) not in {*self.imported, "self", "cls"}:
            self._add_edge(arguments, _bound(receiver))  # `outcomes.append(outcome)`
        if is_dropped or self.changes_arguments:
            self._add_edge([call.func], _bound(receiver, *arguments))

    def _read_arguments(self, call: ast.Call) -> None:
        """Add what the parameters of a function of the test are given."""
        function = self.functions.get(last_name(call.func))
        if function is None:
            return
        names = [
            parameter.arg for parameter, _ in parameters(function.args) if parameter.arg not in _NO_NAMES
        ]
        if function.args.vararg:
            names.append(function.args.vararg.arg)
        for name, argument in zip(names, call.args, strict=False):
            self._add_edge([argument], {name})
        for argument in call.args:
            if isinstance(argument, ast.Starred):
                self._add_edge([argument], set(names))
        for keyword in call.keywords:
            self._add_edge([keyword.value], {keyword.arg} if keyword.arg else set(names))

    def _read_early_ends(self, node: ast.AST) -> None:
        """Let a condition decide about what comes after ``if wrong: continue``, too."""
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if not isinstance(block, list):
                continue
            for number, statement in enumerate(block, 1):
                if isinstance(statement, ast.If) and each(statement, *_LEAVES):
                    self._add_region(self._names(statement.test), block[number:])

    def _has_unseen_effect(self, statement: ast.Expr) -> bool:
        """Return True for ``target("--quick")`` as a statement: nothing is returned, and no name is given."""
        call = statement.value
        if not isinstance(call, ast.Call) or last_name(call.func) not in self.target:
            return False
        return self._names(call) == {last_name(call.func)}


def _bound(*nodes: ast.AST | None) -> set[str]:
    """Return the names that an assignment to some expressions changes: of ``self.a.b[0]`` it is ``b`` and ``a``."""
    names = {last_name(part) for node in nodes if node is not None for part in ast.walk(node)}
    return names - _NO_NAMES


def _calls_in(nodes: Iterable[ast.AST]) -> list[ast.Call]:
    return [call for node in nodes for call in each(node, ast.Call)]


def _flags(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names that are set to a constant in some statements."""
    names: set[str] = set()
    for statement in body:
        for assignment in each(statement, ast.Assign):
            if isinstance(assignment.value, ast.Constant):
                names |= _bound(*assignment.targets)
    return names


# the target by its names


@once
def result_flow(task: TaskView, target: Implementation, test: UnitTest) -> ResultFlow | None:
    """Return what of a test carries the target's result; None when nothing in it names the target."""
    files = pair(task, target)
    qualnames = [function.qualname for function in files.targets] or [target.goal_function]
    names: set[str] = set()
    for qualname in qualnames:
        names |= set(qualname.split(".")[-2:])
    if files.golden is not None:
        names = _with_callers(files.golden, names)
    mentioned = {last_name(node) for node in test.nodes}
    if not mentioned & names:  # reached through another file of the repository
        names |= _from_repository(task, test)
    if not mentioned & names:
        return None
    changes_arguments = any(_changes_arguments(golden) for golden, _, _ in files.complete)
    return ResultFlow(test, names, changes_arguments)


def _with_callers(golden: Module, names: set[str]) -> set[str]:
    """Add the functions, classes and names of a file that use the target."""
    for _ in range(CALLERS):
        for definition in golden.definitions:
            # A class uses it by its methods and its bases, which are among the definitions, and in its own header.
            is_function = isinstance(definition.node, FunctionNode)
            code = [definition.node] if is_function else getattr(definition.node, "bases", [])
            if names & _mentioned(code):
                names |= {definition.name, definition.class_name.rpartition(".")[2]} - {""}
        for statement in golden.tree.body:
            if isinstance(statement, ast.Assign) and names & _mentioned([statement.value]):
                names |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return names


def _mentioned(nodes: Iterable[ast.AST]) -> set[str]:
    return {last_name(part) for node in nodes for part in walk(node)}


def _from_repository(task: TaskView, test: UnitTest) -> set[str]:
    """Return the names that a test imports from the repository, its own folder left out."""
    modules = [path.removesuffix(".py").split("/") for path in task.repository_files if path.endswith(".py")]
    tops = {parts[0] for parts in modules} | {parts[1] for parts in modules if parts[0] == "src"}
    names: set[str] = set()
    for statement in test.imports:
        for alias in statement.names:
            module = (statement.module or "") if isinstance(statement, ast.ImportFrom) else alias.name
            if module.partition(".")[0] in tops - {"unit_test"}:
                names.add((alias.asname or alias.name).rpartition(".")[2])
    return names


def _changes_arguments(golden: FunctionNode) -> bool:
    """Return True if a function stores into a part of something, or calls something of its own for an effect."""
    own = {parameter.arg for parameter, _ in parameters(golden.args)}
    changed: list[ast.expr] = []
    for node in walk(golden):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changed.append(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            changed += [node.value.func, *node.value.args]
    return any(root_name(expression) in own for expression in changed)
