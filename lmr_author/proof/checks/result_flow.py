"""Which expressions of a unit test depend on what the target returns or changes.

A plain rule, not a simulation: names that derive from a mention of the target carry its result, through assignments,
conditions, and functions of the test's own files. The order of statements does not count, so a doubtful name
carries it, and an assertion is blamed only if nothing connects it with the target.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from lmr_author.core.code import Definition, FunctionNode, Module, bound_by, parameters, root_name, walk
from lmr_author.core.task import Implementation
from lmr_author.proof.checks.lookup import pair
from lmr_author.proof.checks.unit_test_code import UnitTest, dotted
from lmr_author.proof.checks.view import TaskView, once

CALLERS = 4
"""Callers of callers that stand for the target: a private function is reached through them."""
NOTHING, OBJECT, RESULT = 0, 1, 2
"""Levels of a value: OBJECT is the target's class or an instance, which shows nothing until something is called."""
_SHOWS_NOTHING = frozenset(("callable", "hasattr", "isinstance", "issubclass", "type", "id"))
_SAME_OBJECT = frozenset(("eval", "train", "to", "cuda", "cpu", "float", "double", "half", "requires_grad_"))
_WATCHERS = frozenset(("capsys", "capfd", "caplog", "recwarn"))
"""Fixtures of pytest that see what a call prints, logs or warns."""
_LEAVES = (ast.Return, ast.Continue, ast.Break, ast.Raise)
_CONSTRUCTORS = frozenset(("__init__", "__new__", "__post_init__"))


class ResultFlow:
    """The names of a test that carry the target's result.

    Args:
        names: functions that stand for the target: itself, and what calls it.
        classes: classes whose objects have such methods.
        changes_arguments: the target may change what it is given.
    """

    def __init__(
        self, test: UnitTest, names: frozenset[str], classes: frozenset[str], changes_arguments: bool
    ):
        self.names, self.classes, self.changes_arguments = names, set(classes), changes_arguments
        self.blind = False
        """A call drops its value and is given no name: what it prints or writes cannot be followed."""
        self.makes_result = bool(names & _CONSTRUCTORS)
        self.levels: dict[tuple[int, str], int] = defaultdict(int)
        self.returned: dict[str, int] = defaultdict(int)
        imports = (node for node in test.nodes if isinstance(node, ast.Import | ast.ImportFrom))
        self.imported = {name for node in imports for name in bound_by(node)}
        self.functions = {node.name: node for node in test.nodes if isinstance(node, FunctionNode)}
        self.scopes: dict[int, list[int]] = {}
        self.bound: dict[int, set[str]] = {}
        self.conditional: set[int] = set()
        for module in test.modules:
            self._read_scopes(module.tree, [])
        size = -1
        while size != (
            size := sum(self.levels.values()) + sum(self.returned.values()) + len(self.conditional)
        ):
            for module in test.modules:
                self._block(module.tree.body, conditional=False)

    def sees(self, node: ast.AST) -> bool:
        """Return True if a statement or call depends on the result, or runs only where the result was so."""
        if self.blind or id(node) in self.conditional:
            return True
        if isinstance(node, ast.Call):
            return self.level(node) == RESULT or any(
                self.level(part) == RESULT for part in [*node.args, *(one.value for one in node.keywords)]
            )
        return any(self.level(part) == RESULT for part in ast.iter_child_nodes(node))

    def calls_target(self, nodes: Iterable[ast.AST]) -> bool:
        """Return True if anything in some statements uses the target, as far as names tell."""
        return any(
            self.level(item) == RESULT
            for node in nodes
            for item in ast.walk(node)
            if isinstance(item, ast.Call)
        )

    def level(self, node: ast.AST | None) -> int:
        """Return how much an expression shows of the result."""
        if node is None or isinstance(node, ast.Constant):
            return NOTHING
        if isinstance(node, ast.Name):
            return max(self._own(node.id), self.levels[self._key(node, node.id)])
        if isinstance(node, ast.Attribute):
            kept = self.levels[self._key(node, dotted(node))]
            return max(self._own(node.attr), kept, self.level(node.value))
        if isinstance(node, ast.Call):
            return self._call(node)
        return max((self.level(child) for child in ast.iter_child_nodes(node)), default=NOTHING)

    def _own(self, name: str) -> int:
        if name in self.names or name in _WATCHERS:
            return RESULT
        return OBJECT if name in self.classes else NOTHING

    def _call(self, node: ast.Call) -> int:
        name = dotted(node.func).rpartition(".")[2]
        texts = {getattr(one, "value", None) for one in node.args if isinstance(one, ast.Constant)}
        arguments = max((self.level(one) for one in (*node.args, *node.keywords)), default=NOTHING)
        if name in _SHOWS_NOTHING:
            return arguments if arguments == RESULT and not self._mentions_only(node) else NOTHING
        if name == "getattr" and texts & self.names:
            return RESULT
        called = max(self.level(node.func), self.returned[name] if name in self.functions else NOTHING)
        if name in self.classes:
            called = RESULT if self.makes_result else NOTHING
            return max(called, OBJECT, arguments)
        if called == OBJECT:  # something of the target's object is called
            called = OBJECT if name in _SAME_OBJECT else RESULT
        own = name in self.functions or name.startswith("assert")
        if arguments == OBJECT and not own:  # a stranger is given the target's object, and may call it
            return max(called, RESULT)
        return max(called, arguments)

    def _mentions_only(self, node: ast.Call) -> bool:
        """Return True where the target itself is looked at, not its result: ``callable(target)``."""
        return bool(node.args) and dotted(node.args[0]).rpartition(".")[2] in self.names

    # scopes

    def _read_scopes(self, node: ast.AST, around: list[int]) -> None:
        """Remember, for each name, the functions around it, and what each function binds."""
        for child in ast.iter_child_nodes(node):
            inside = around
            if isinstance(child, FunctionNode | ast.Lambda):
                inside = [id(child), *around]
                self.bound[id(child)] = {one.arg for one in ast.walk(child.args) if isinstance(one, ast.arg)}
            elif isinstance(child, ast.Name | ast.Attribute):
                self.scopes[id(child)] = around
                if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store) and around:
                    self.bound[around[0]].add(child.id)
            elif isinstance(child, ast.Global | ast.Nonlocal) and around:
                self.bound[around[0]] -= set(child.names)
            self._read_scopes(child, inside)

    def _key(self, node: ast.AST, name: str) -> tuple[int, str]:
        scopes = self.scopes.get(id(node), [])
        first = name.partition(".")[0]
        if first in ("self", "cls"):
            return 0, name.partition(".")[2] or first
        return next((scope for scope in scopes if first in self.bound[scope]), 0), name

    def _raise(self, node: ast.AST, level: int) -> None:
        """Let a name, or all names of a target of an assignment, carry at least a level."""
        if isinstance(node, ast.Subscript | ast.Starred):
            self._raise(node.value, level)
        elif isinstance(node, ast.Tuple | ast.List):
            for item in node.elts:
                self._raise(item, level)
        elif isinstance(node, ast.Name | ast.Attribute):
            key = self._key(node, dotted(node))
            self.levels[key] = max(self.levels[key], level)
            if isinstance(node, ast.Attribute) and dotted(node.value) not in ("self", "cls", ""):
                self._raise(node.value, level)

    # statements

    def _block(
        self, nodes: Iterable[ast.stmt], *, conditional: bool, owner: FunctionNode | None = None
    ) -> None:
        """Follow some statements.

        Args:
            conditional: whether they run depends on the result.
            owner: the function around them.
        """
        for node in nodes:
            self._statement(node, conditional, owner)
            # What comes after `if wrong: continue` runs only where the result was right.
            leaves = (
                any(isinstance(one, _LEAVES) for one in walk(node)) if isinstance(node, ast.If) else False
            )
            conditional = conditional or (leaves and self.level(node.test) == RESULT)  # type: ignore[attr-defined]

    def _statement(self, node: ast.stmt, conditional: bool, owner: FunctionNode | None) -> None:
        if conditional:
            self.conditional |= {id(item) for item in _head(node)}
        if isinstance(node, FunctionNode):
            self._function(node)
            return
        if isinstance(node, ast.ClassDef):
            if any(self.level(base) for base in node.bases):
                self.classes.add(node.name)
            self._block(node.body, conditional=False)
            return
        least = RESULT if conditional else NOTHING
        for target, value in _assignments(node):
            self._raise(target, max(least, self.level(value)))
        for item in _head(node):
            if isinstance(item, ast.Return | ast.Yield | ast.YieldFrom) and owner is not None:
                self.returned[owner.name] = max(self.returned[owner.name], least, self.level(item.value))
            elif isinstance(item, ast.Call):
                self._effects(item, least, dropped=isinstance(node, ast.Expr) and item is node.value)
        self._blocks_of(node, conditional, owner)

    def _blocks_of(self, node: ast.stmt, conditional: bool, owner: FunctionNode | None) -> None:
        body = getattr(node, "body", [])
        if isinstance(node, ast.Try):
            self._block(body, conditional=conditional, owner=owner)
            decides = (
                conditional
                or self.calls_target(body)
                or any(self.sees(item) for one in body for item in walk(one))
            )
            if decides:  # `ok = True` behind an assertion
                flags = [item for one in body for item in walk(one) if isinstance(item, ast.Assign)]
                for flag in flags:
                    if isinstance(flag.value, ast.Constant):
                        self._statement(flag, conditional=True, owner=owner)
            for handler in node.handlers:
                self._block(handler.body, conditional=decides, owner=owner)
            self._block(node.orelse, conditional=decides, owner=owner)
            self._block(node.finalbody, conditional=conditional, owner=owner)
            return
        if isinstance(node, ast.With | ast.AsyncWith) and self.calls_target(body):
            self._watch(node)
        test = getattr(node, "test", getattr(node, "iter", getattr(node, "subject", None)))
        decides = conditional or (not isinstance(node, ast.Assert) and self.level(test) == RESULT)
        for block in (body, getattr(node, "orelse", []), *(case.body for case in getattr(node, "cases", []))):
            self._block(block, conditional=decides, owner=owner)

    def _watch(self, node: ast.With | ast.AsyncWith) -> None:
        """Let a context around a call of the target see it: a mock, an expected error, redirected output."""
        for item in node.items:
            if isinstance(item.context_expr, ast.Call) and dotted(item.context_expr.func).endswith("open"):
                continue
            self.conditional.add(id(item.context_expr))
            if item.optional_vars is not None:
                self._raise(item.optional_vars, RESULT)
            for part in getattr(item.context_expr, "args", ()):
                self._raise(part, RESULT)

    def _function(self, node: FunctionNode) -> None:
        for argument in (one for one in ast.walk(node.args) if isinstance(one, ast.arg)):
            if self.returned.get(argument.arg, 0):  # a fixture of pytest
                key = id(node), argument.arg
                self.levels[key] = max(self.levels[key], self.returned[argument.arg])
        self._block(node.body, conditional=False, owner=node)

    def _effects(self, call: ast.Call, least: int, *, dropped: bool) -> None:
        """Carry the result into what a call changes: receiver, arguments, parameters of the test's functions."""
        name = dotted(call.func).rpartition(".")[2]
        values = [*call.args, *(one.value for one in call.keywords)]
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        asserts = name.startswith("assert")
        if receiver is not None and not asserts and root_name(receiver) not in self.imported:
            level = max((self.level(one) for one in values), default=NOTHING)
            if dotted(receiver) not in ("self", "cls"):  # `outcomes.append(outcome)`
                self._raise(receiver, max(level, least))
        changes = (dropped or self.changes_arguments) and not asserts and self.level(call) == RESULT
        if changes and (name in self.names or self.level(call.func) > NOTHING):
            for part in (*values, *([receiver] if receiver is not None else [])):
                self._raise(part, RESULT)
            named = any(isinstance(item, ast.Name) for part in values for item in ast.walk(part))
            self.blind = self.blind or (dropped and name in self.names and not named and receiver is None)
        if name in self.functions:
            self._bind(self.functions[name], call)

    def _bind(self, function: FunctionNode, call: ast.Call) -> None:
        parameters = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        if parameters[:1] in (["self"], ["cls"]):
            del parameters[0]
        rest = function.args.vararg.arg if function.args.vararg else ""
        pairs = list(zip_longest(parameters[: len(call.args)], call.args, fillvalue=rest))
        pairs += [(one.arg or "", one.value) for one in call.keywords]
        for parameter, value in pairs:
            key = id(function), str(parameter)
            self.levels[key] = max(self.levels[key], self.level(value))  # type: ignore[arg-type]


def _head(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield a statement and its expressions, without the statements in it."""
    waiting: list[ast.AST] = [node]
    while waiting:
        item = waiting.pop()
        yield item
        children = ast.iter_child_nodes(item)
        waiting += [
            one for one in children if not isinstance(one, ast.stmt | ast.excepthandler | ast.match_case)
        ]


def _assignments(node: ast.stmt) -> Iterator[tuple[ast.AST, ast.AST | None]]:
    """Yield (target, value) of everything that a statement, without the statements in it, binds."""
    for item in _head(node):
        if isinstance(item, ast.Assign):
            for target in item.targets:
                parts = item.value.elts if isinstance(item.value, ast.Tuple | ast.List) else []
                names = target.elts if isinstance(target, ast.Tuple | ast.List) else []
                plain = len(parts) == len(names) > 0
                yield from zip(names, parts, strict=True) if plain else [(target, item.value)]
        elif isinstance(item, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            yield item.target, item.value
        elif isinstance(item, ast.For | ast.AsyncFor | ast.comprehension):
            yield from _iterated(item.target, item.iter)
        elif isinstance(item, ast.withitem) and item.optional_vars is not None:
            yield item.optional_vars, item.context_expr


def _iterated(target: ast.expr, values: ast.expr) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield (target, value) of a loop, each part of a ``zip`` by itself."""
    names = target.elts if isinstance(target, ast.Tuple) else []
    if isinstance(values, ast.Call) and dotted(values.func) == "zip" and len(names) == len(values.args) > 0:
        yield from zip(names, values.args, strict=True)
    else:
        yield target, values


@once
def result_flow(task: TaskView, target: Implementation, test: UnitTest) -> ResultFlow | None:
    """Return what of a test carries the target's result; None when nothing in it names the target."""
    one = pair(task, target)
    mentioned = {_last(node) for node in test.nodes if isinstance(node, ast.Name | ast.Attribute)}
    targets = [item.qualname for item in one.targets] or [target.goal_function]
    names = {qualname.rpartition(".")[2] for qualname in targets}
    classes = {qualname.split(".")[-2] for qualname in targets if "." in qualname}
    changes = any(_changes_arguments(golden) for golden, _, _ in one.complete)
    if one.golden is not None:
        names, classes = _callers(one.golden, names, classes)
    if not mentioned & (names | classes):  # reached through another file of the repository
        names |= _from_repository(task, test)
    return (
        ResultFlow(test, frozenset(names), frozenset(classes), changes)
        if mentioned & (names | classes)
        else None
    )


def _callers(golden: Module, names: set[str], classes: set[str]) -> tuple[set[str], set[str]]:
    """Add the functions and names of a file that use the target, and the classes of such methods."""
    for _ in range(CALLERS):
        for item in golden.definitions:
            bases = item.node.bases if isinstance(item.node, ast.ClassDef) else []
            if isinstance(item.node, FunctionNode) and _mentions(item, names | classes):
                names |= {item.name}
                classes |= {item.class_name.rpartition(".")[2]} - {""}
            elif any(_last(base) in classes for base in bases):
                classes |= {item.name}
        for node in golden.tree.body:
            if isinstance(node, ast.Assign) and {_last(part) for part in walk(node.value)} & (
                names | classes
            ):
                names |= {one.id for one in node.targets if isinstance(one, ast.Name)}
    return names, classes


def _mentions(item: Definition, names: set[str]) -> bool:
    return any(_last(node) in names for node in walk(item.node) if isinstance(node, ast.Name | ast.Attribute))


def _last(node: ast.AST) -> str:
    return dotted(node).rpartition(".")[2]


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
