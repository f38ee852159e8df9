"""Which parts of a unit test depend on what the target returns or changes.

A plain rule over names: what is assigned from, filled with, or decided by something that carries the target's result
carries it too. Neither the order of statements nor scopes count, so that a doubtful name carries it: an assertion is
blamed only if no chain of names connects it with the target. What a test really does is shown by `evaluate`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from lmr_author.core.code import FunctionNode, Module, bound_by, parameters, root_name, walk
from lmr_author.core.task import Implementation
from lmr_author.proof.checks.unit_test_code import UnitTest, dotted, last_name
from lmr_author.proof.lookup import pair
from lmr_author.proof.view import TaskView, once

CALLERS = 4
"""Callers of callers that stand for the target: a private function is reached through them."""
_SHOWS_NOTHING = frozenset(("callable", "hasattr", "isinstance", "issubclass", "type", "id"))
"""Functions that tell nothing of a result when they are given the target itself."""
_WATCHERS = frozenset(("capsys", "capfd", "caplog", "recwarn"))
"""Fixtures of pytest that see what a call prints, logs or warns."""
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
        self.functions = {node.name: node for node in test.nodes if isinstance(node, FunctionNode)}
        imports = (node for node in test.nodes if isinstance(node, ast.Import | ast.ImportFrom))
        self.imported = {name for node in imports for name in bound_by(node)}
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
        self.is_blind = any(self._has_unseen_effect(node) for node in test.nodes)
        """The target is called for an effect that no name shows, as printing or writing."""

    def sees(self, node: ast.AST) -> bool:
        """Return True if a statement or call depends on the result, or runs only where the result was so."""
        return self.is_blind or id(node) in self.decided or bool(self.carriers & self._names(node))

    def calls_target(self, nodes: Iterable[ast.AST]) -> bool:
        """Return True if any call in some statements uses the target, as far as names tell."""
        calls = (node for top in nodes for node in ast.walk(top) if isinstance(node, ast.Call))
        return any(self.carriers & self._names(call) for call in calls)

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
            if isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.Attribute):
                names.add(node.attr)
            elif isinstance(node, ast.Call):
                called = last_name(node.func)
                if called in _SHOWS_NOTHING and node.args and last_name(node.args[0]) in self.target:
                    continue
                if called == "getattr":
                    names.update(
                        one.value
                        for one in node.args
                        if isinstance(one, ast.Constant) and isinstance(one.value, str)
                    )
            waiting += ast.iter_child_nodes(node)
        return names - {"self", "cls"}

    # reading a test

    def _read(self, node: ast.AST) -> None:
        """Add what one node passes on, without the statements in it."""
        match node:
            case ast.Assign(targets=targets, value=value):
                self.edges.append((self._names(value), _bound(*targets)))
            case ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                self.edges.append((self._names(node.value), _bound(node.target)))
            case ast.comprehension():
                self._read_loop(node.target, node.iter)
            case ast.For() | ast.AsyncFor():
                self._read_loop(node.target, node.iter)
                self._add_region(self._names(node.iter), [*node.body, *node.orelse])
            case ast.If() | ast.While():
                self._add_region(self._names(node.test), [*node.body, *node.orelse])
            case ast.Match():
                self._add_region(self._names(node.subject), node.cases)
            case ast.Try():
                # A flag that is set behind an assertion tells of it, too.
                self._add_region(self._names(*node.body), [*node.handlers, *node.orelse])
                self.edges.append((self._names(*node.body), _flags(node.body)))
            case ast.With() | ast.AsyncWith():
                self._read_context(node)
            case ast.ClassDef():
                self.edges.append((self._names(*node.bases), {node.name}))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if any(isinstance(part, ast.Return | ast.Yield | ast.YieldFrom) for part in walk(node)):
                    self.edges.append((self._names(*node.body), {node.name}))
            case ast.Expr(value=ast.Call() as call):
                self._read_effects(call, is_dropped=True)
            case ast.Call():
                self._read_effects(node, is_dropped=False)
                if last_name(node.func) in self.functions:
                    self._read_arguments(self.functions[last_name(node.func)], node)

    def _read_loop(self, target: ast.expr, values: ast.expr) -> None:
        """Add what a loop binds, each part of a ``zip`` by itself."""
        names = target.elts if isinstance(target, ast.Tuple) else []
        if isinstance(values, ast.Call) and dotted(values.func) == "zip" and len(names) == len(values.args):
            for name, value in zip(names, values.args, strict=True):
                self.edges.append((self._names(value), _bound(name)))
        else:
            self.edges.append((self._names(values), _bound(target)))

    def _read_context(self, node: ast.With | ast.AsyncWith) -> None:
        """Let a context around a call of the target see it: a mock, an expected error, redirected output."""
        for item in node.items:
            bound = _bound(item.optional_vars) if item.optional_vars else set()
            self.edges.append((self._names(item.context_expr), bound))
            if isinstance(item.context_expr, ast.Call) and last_name(item.context_expr.func) == "open":
                continue
            called = self._names(
                *(call for part in node.body for call in walk(part) if isinstance(call, ast.Call))
            )
            self._add_region(called, [item.context_expr])
            self.edges.append((called, bound | _bound(*getattr(item.context_expr, "args", ()))))

    def _read_effects(self, call: ast.Call, *, is_dropped: bool) -> None:
        """Add what a call changes: its receiver by what it is given, its arguments by the target."""
        if last_name(call.func).startswith("assert"):
            return
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        changed = _bound(receiver) if receiver is not None else set()
        if root_name(receiver) not in {*self.imported, "self", "cls"}:
            self.edges.append((self._names(*arguments), changed))  # `outcomes.append(outcome)`
        if is_dropped or self.changes_arguments:
            self.edges.append((self._names(call.func), changed | _bound(*arguments)))

    def _read_arguments(self, function: FunctionNode, call: ast.Call) -> None:
        """Add what the parameters of a function of the test are given."""
        names = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
        if names[:1] in (["self"], ["cls"]):
            del names[0]
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            self.edges.append((self._names(*call.args), set(names)))
        for name, argument in zip(names, call.args, strict=False):
            self.edges.append((self._names(argument), {name}))
        if function.args.vararg:
            self.edges.append((self._names(*call.args[len(names) :]), {function.args.vararg.arg}))
        for keyword in call.keywords:
            self.edges.append((self._names(keyword.value), {keyword.arg} if keyword.arg else set(names)))

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

    def _read_early_ends(self, node: ast.AST) -> None:
        """Let a condition decide about what comes after ``if wrong: continue``, too."""
        blocks = [getattr(node, name, []) for name in ("body", "orelse")]
        for block in (block for block in blocks if isinstance(block, list)):
            for place, statement in enumerate(block, 1):
                if isinstance(statement, ast.If) and any(
                    isinstance(part, _LEAVES) for part in walk(statement)
                ):
                    self._add_region(self._names(statement.test), block[place:])

    def _has_unseen_effect(self, node: ast.AST) -> bool:
        """Return True for ``target("--quick")`` as a statement: nothing is returned, and no name is given."""
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            return False
        call = node.value
        return last_name(call.func) in self.target and self._names(call) == self._names(call.func) <= {
            last_name(call.func)
        }


def _bound(*nodes: ast.AST) -> set[str]:
    """Return the names that an assignment to some expressions changes: of ``self.a.b[0]`` it is ``b`` and ``a``."""
    names: set[str] = set()
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                names.add(part.id)
            elif isinstance(part, ast.Attribute):
                names.add(part.attr)
    return names - {"self", "cls"}


def _flags(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names that are set to a constant in some statements."""
    names: set[str] = set()
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                names |= _bound(*node.targets)
    return names


# the target by its names


@once
def result_flow(task: TaskView, target: Implementation, test: UnitTest) -> ResultFlow | None:
    """Return what of a test carries the target's result; None when nothing in it names the target."""
    files = pair(task, target)
    qualnames = [one.qualname for one in files.targets] or [target.goal_function]
    names = {qualname.rpartition(".")[2] for qualname in qualnames}
    names |= {qualname.split(".")[-2] for qualname in qualnames if "." in qualname}
    if files.golden is not None:
        names = _with_callers(files.golden, names)
    mentioned = {last_name(node) for node in test.nodes if isinstance(node, ast.Name | ast.Attribute)}
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
            used = definition.node if isinstance(definition.node, FunctionNode) else definition.node.bases
            parts = used if isinstance(used, list) else [used]
            if names & {last_name(node) for part in parts for node in walk(part)}:
                names |= {definition.name, definition.class_name.rpartition(".")[2]} - {""}
        for node in golden.tree.body:
            if isinstance(node, ast.Assign) and names & {last_name(part) for part in walk(node.value)}:
                names |= {one.id for one in node.targets if isinstance(one, ast.Name)}
    return names


def _from_repository(task: TaskView, test: UnitTest) -> set[str]:
    """Return the names that a test imports from the repository, its own folder left out."""
    tops = {
        path.partition("/")[0].removesuffix(".py") for path in task.repository_files if path.endswith(".py")
    }
    tops |= {
        path.split("/")[1].removesuffix(".py") for path in task.repository_files if path.startswith("src/")
    }
    found: set[str] = set()
    for node in test.nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in tops - {"unit_test"}:
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            own = (alias for alias in node.names if alias.name.partition(".")[0] in tops)
            found |= {(alias.asname or alias.name).rpartition(".")[2] for alias in own}
    return found


def _changes_arguments(golden: FunctionNode) -> bool:
    """Return True if a function stores into a part of something, or calls something of its own for an effect."""
    own = {one.arg for one, _ in parameters(golden.args)}
    for node in walk(golden):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            parts = [node]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            parts = [node.value.func, *node.value.args]
        if any(root_name(part) in own for part in parts):
            return True
    return False
