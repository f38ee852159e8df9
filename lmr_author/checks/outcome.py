"""Does a test's exit code depend on the result? Read from its source.

A *failing site* is a place where a wrong result ends the program with another code: an assertion, a
raise, an exit with a code. A site inside a `try` that swallows it does not count, nor does one in a
function that nothing runs when the file is run as a script.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from lmr_author.checks.reading import Reading, dotted
from lmr_author.checks.sites import (
    EXITS,
    asks_machine,
    depends,
    is_assert_name,
    is_broad,
    is_exit,
    is_interesting,
    is_none,
    is_site_call,
    is_stub,
    is_zero,
    library_names,
    mentions,
    never_main,
)
from lmr_author.checks.view import TaskView
from lmr_author.source import nodes

_RUNNERS = ("unittest.main", "TextTestRunner", "pytest.main", "HTMLTestRunner", "TestProgram")


@dataclass(frozen=True)
class Outcome:
    """What was found.

    Attributes:
        asserts: there are failing sites at all.
        reached: one of them is reached, not swallowed, when the file is run as a script.
        swallowed: (line, what) of each `try` that swallows failures.
        unrun: there are sites in tests, but nothing runs these tests when the file is run as a script.
        uncalled: there are sites, none of them swallowed, in functions that are never called.
        ignored: a runner runs the tests, but its result does not reach the exit code.
    """

    asserts: bool
    reached: bool
    swallowed: tuple[int, ...]
    unrun: bool
    uncalled: bool
    ignored: bool


@dataclass(frozen=True)
class _Place:
    """What surrounds a statement.

    Attributes:
        swallowed: it is in a `try`, or a `with suppress`, that hides its failure.
        handler: it is in an `except`: it tells of a crash, not of a wrong result.
        environment: it hangs on a question about the machine ("is there a GPU?"), not on a result.
    """

    swallowed: bool = False
    handler: bool = False
    environment: bool = False

    @property
    def tells(self) -> bool:
        """Whether a failure here can come from a wrong result."""
        return not (self.handler or self.environment)


_TOP = _Place()


@dataclass
class _Unit:
    """A function, or the top level of a module."""

    name: str
    is_test: bool
    sites: int = 0
    sites_swallowed: int = 0
    calls: set[str] = field(default_factory=set)
    calls_swallowed: set[str] = field(default_factory=set)


def outcome(view: TaskView, test: Reading) -> Outcome:
    """Follow the failing sites of a test and of its helpers, once."""
    return view.memo(("outcome", test.relative), partial(_outcome, test))


def _outcome(test: Reading) -> Outcome:
    flow = _Flow(test)
    units = flow.units
    effective = {unit.name for unit in units if unit.sites}
    hidden = {unit.name for unit in units if unit.sites_swallowed}
    changed = True
    while changed:
        changed = False
        for unit in units:
            if unit.name not in effective and unit.calls & effective:
                effective.add(unit.name)
                changed = True
            if unit.name not in hidden and (
                unit.calls_swallowed & (effective | hidden) or unit.calls & hidden
            ):
                hidden.add(unit.name)
                changed = True
    tests = [unit for unit in units if unit.is_test]
    tested = any(unit.name in effective for unit in tests)
    direct = any(unit.name == "" and (unit.sites or unit.calls & effective) for unit in units)
    reached = direct or (tested and flow.runner_counts)
    called = "" in hidden  # they run, and what they find is swallowed
    return Outcome(
        asserts=bool(effective or hidden),
        reached=reached,
        swallowed=tuple(sorted(set(flow.swallowing))),
        unrun=tested and not (reached or called or flow.has_runner),
        uncalled=bool(effective) and not hidden and not reached,
        ignored=tested and not reached and flow.has_runner,
    )


class _Flow:
    """One walk over the test and its helpers."""

    def __init__(self, test: Reading) -> None:
        self.test = test
        self.swallowing: list[int] = []
        self.defined = {
            node.name: node
            for module in reversed(test.modules)
            for node in nodes(module.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        self.libraries = library_names(test.module.tree)
        self.runner_names = self._runner_names()
        self.has_runner = any(any(runner in name for runner in _RUNNERS) for _, _, name in test.calls)
        self.exit_texts = self._exit_texts()
        self.runner_counts = self._runner_counts()
        self.units = [unit for helper in test.helpers for unit in self._units(helper.tree, False)]
        self.swallowing.clear()  # a helper's handlers are its own business; what they hide counts
        self.units += self._units(test.module.tree, True)

    def _runner_names(self) -> set[str]:
        """Names that hold a runner's result."""
        found: set[str] = set()
        for _ in range(3):
            for node in nodes(self.test.module.tree):
                if isinstance(node, ast.Assign) and self._is_runner(node.value, found):
                    found |= {
                        item.id
                        for target in node.targets
                        for item in ast.walk(target)
                        if isinstance(item, ast.Name)
                    }
        return found

    @staticmethod
    def _is_runner(node: ast.AST, names: set[str]) -> bool:
        for item in ast.walk(node):
            if isinstance(item, ast.Call) and any(runner in dotted(item.func) for runner in _RUNNERS):
                return True
            if isinstance(item, ast.Name) and item.id in names:
                return True
        return False

    def _exit_texts(self) -> str:
        """Source of every condition and argument that an exit, raise or assertion hangs on."""
        parts = []
        for module in self.test.modules:
            for node in nodes(module.tree):
                if isinstance(node, ast.If | ast.While) and any(is_exit(item) for item in ast.walk(node)):
                    parts.append(ast.unparse(node.test))
                if isinstance(node, ast.Assert):
                    parts.append(ast.unparse(node.test))
                if isinstance(node, ast.Call) and (
                    dotted(node.func) in EXITS or is_assert_name(dotted(node.func))
                ):
                    parts += [ast.unparse(item) for item in node.args]
        return "\n".join(self._followed(parts))

    def _followed(self, parts: list[str]) -> list[str]:
        """These, with what the variables and functions in them come from: ``ok`` of ``ok = main()``, too."""
        values: dict[str, list[str]] = {}
        for node in nodes(self.test.module.tree):
            for target, value in _given(node):
                name = dotted(target).rpartition(".")[2]
                if name:
                    values.setdefault(name, []).append(ast.unparse(value))
        for name, function in self.defined.items():
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    values.setdefault(name, []).append(ast.unparse(node.value))
        found, waiting = list(parts), list(parts)
        while waiting:
            text = waiting.pop()
            for name in [name for name in values if mentions(text, name)]:
                more = values.pop(name)
                found += more
                waiting += more
        return found

    def _runner_counts(self) -> bool:
        """Whether a runner's result reaches the exit code."""
        for node in nodes(self.test.module.tree):
            if isinstance(node, ast.Call) and dotted(node.func) in (
                "unittest.main",
                "main",
                "absltest.main",
                "googletest.main",
            ):
                if dotted(node.func) == "main" and "main" in self.defined:
                    continue
                keeps = any(
                    item.arg == "exit" and isinstance(item.value, ast.Constant) and not item.value.value
                    for item in node.keywords
                )
                if not keeps and not is_exit(node):
                    return True
            if (
                is_exit(node)
                and isinstance(node, ast.Call | ast.Raise)
                and self._is_runner(node, self.runner_names)
            ):
                return True
            decides = isinstance(node, ast.If | ast.IfExp) and self._is_runner(node.test, self.runner_names)
            if decides and any(is_exit(item) for item in ast.walk(node)):
                return True
            if isinstance(node, ast.Assert) and self._is_runner(node.test, self.runner_names):
                return True
        # The runner inside a function whose value is exited with: sys.exit(main())
        for node in nodes(self.test.module.tree):
            if not isinstance(node, ast.FunctionDef) or node.name not in self.exit_texts:
                continue
            returns = any(isinstance(item, ast.Return) and item.value for item in ast.walk(node))
            if returns and self._is_runner(node, self.runner_names):
                return True
        return False

    def _units(self, tree: ast.Module, own: bool) -> Iterator[_Unit]:
        top = _Unit("" if own else "<helper>", False)
        self._fill(top, tree.body, _TOP)
        yield top
        for node in nodes(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                named_test = node.name.startswith("test") or node.name in (
                    "runTest",
                    "setUp",
                    "tearDown",
                    "setUpClass",
                )
                unit = _Unit(node.name, own and named_test)
                self._fill(unit, node.body, _TOP)
                yield unit

    def _fill(self, unit: _Unit, body: list[ast.stmt], place: _Place) -> None:
        for node, following in itertools.zip_longest(body, body[1:]):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._expressions(unit, [*node.decorator_list], place)
            elif isinstance(node, ast.ClassDef):
                methods = (ast.FunctionDef, ast.AsyncFunctionDef)
                self._fill(unit, [item for item in node.body if not isinstance(item, methods)], place)
            elif isinstance(node, ast.Try):
                self._try(unit, node, following, place)
            else:
                self._statement(unit, node, place)
            if isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break):
                return  # what follows is never run

    def _statement(self, unit: _Unit, node: ast.stmt, place: _Place) -> None:
        if (isinstance(node, ast.Assert) and depends(node.test)) or (
            isinstance(node, ast.Raise)
            and node.exc is not None
            and place.tells
            and not is_stub(node)
            and not self._of_runner(node)
        ):
            self._site(unit, place.swallowed)
        blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        cases = [case.body for case in getattr(node, "cases", [])]
        inner = {id(item) for block in [*blocks, *cases] for item in block}
        for child in ast.iter_child_nodes(node):
            if id(child) not in inner and not isinstance(child, ast.match_case):
                self._expressions(unit, [child], place)
        if isinstance(node, ast.If) and (never_main(node.test) or self._of_runner(node.test)):
            blocks = blocks[1:] if never_main(node.test) else []  # a runner's exits are no sites of their own
        within = replace(
            place,
            swallowed=place.swallowed or self._suppresses(node),
            environment=place.environment or (isinstance(node, ast.If) and asks_machine(node.test)),
        )
        for block in [*blocks, *cases]:
            self._fill(unit, [item for item in block if isinstance(item, ast.stmt)], within)

    @staticmethod
    def _suppresses(node: ast.stmt) -> bool:
        return isinstance(node, ast.With) and any(
            "suppress" in ast.unparse(item.context_expr) for item in node.items
        )

    def _of_runner(self, node: ast.AST) -> bool:
        return self._is_runner(node, self.runner_names)

    def _try(self, unit: _Unit, node: ast.Try, following: ast.stmt | None, place: _Place) -> None:
        quiet = any(
            is_broad(handler)
            and not self._lets_through(handler, unit.name)
            and not (self._expects(node, handler) or _is_wanted(node, handler, following))
            for handler in node.handlers
        ) or any(isinstance(item, ast.Return) for item in node.finalbody)
        if quiet and self._tests_something(node):
            self.swallowing.append(node.lineno)
        self._fill(unit, node.body, replace(place, swallowed=place.swallowed or quiet))
        for handler in node.handlers:
            self._fill(unit, handler.body, replace(place, handler=True))
        self._fill(unit, node.orelse, place)
        self._fill(unit, node.finalbody, place)

    def _expects(self, node: ast.Try, handler: ast.ExceptHandler) -> bool:
        """Whether the exception is what is wanted: what is tried ends in writing down that there was none."""
        last = node.body[-1]
        if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call):
            return False
        called = dotted(last.value.func)
        written = called.endswith(".append") and mentions(self.exit_texts, called.split(".")[-2])
        return written and handler.type is not None and dotted(handler.type) == "AssertionError"

    def _lets_through(self, handler: ast.ExceptHandler, function: str) -> bool:
        """Whether a handler makes the program fail all the same, or hands the failure on as a value."""
        for node in ast.walk(handler):
            if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and is_site_call(node)):
                return True
            if (
                isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Store)
                and mentions(self.exit_texts, node.id)
            ):
                return True
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and mentions(self.exit_texts, node.attr)
            ):
                return True
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("append", "add")
                and mentions(self.exit_texts, dotted(node.func.value).rpartition(".")[2])
            ):
                return True
            if (
                isinstance(node, ast.Return)
                and node.value is not None
                and not is_none(node.value)
                and mentions(self.exit_texts, function)
            ):
                return True
        return False

    def _tests_something(self, node: ast.Try) -> bool:
        """Whether what is tried is more than an import, the opening of a file or a call of a library."""
        for statement in node.body:
            if isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass):
                continue
            for item in ast.walk(statement):
                if isinstance(item, ast.Assert):
                    return True
                name = dotted(item.func) if isinstance(item, ast.Call) else ""
                own = name.partition(".")[0] not in self.libraries or is_assert_name(name)
                if own and is_interesting(name):
                    return True
        return False

    def _expressions(self, unit: _Unit, nodes: list[ast.AST], place: _Place) -> None:
        for start in nodes:
            for node in ast.walk(start):
                if (
                    isinstance(node, ast.Call)
                    and is_site_call(node)
                    and (place.tells or not is_exit(node))
                    and not (dotted(node.func) in EXITS and self._of_runner(node))
                    and self._tells(node)
                ):
                    self._site(unit, place.swallowed)
                name = (
                    node.id
                    if isinstance(node, ast.Name)
                    else node.attr
                    if isinstance(node, ast.Attribute)
                    else ""
                )
                if name in self.defined:
                    (unit.calls_swallowed if place.swallowed else unit.calls).add(name)

    def _tells(self, node: ast.Call) -> bool:
        """``sys.exit(main())`` says something when main returns something, ``sys.exit(code)`` if not ``code = 0``."""
        if dotted(node.func) not in EXITS or not node.args:
            return True
        argument = node.args[0]
        if isinstance(argument, ast.Call) and dotted(argument.func) in ("int", "bool") and argument.args:
            argument = argument.args[0]
        if isinstance(argument, ast.Name):
            return not is_zero(self.test.environment.get(argument.id, argument))
        if isinstance(argument, ast.Call) and dotted(argument.func) in self.defined:
            function = self.defined[dotted(argument.func)]
            values = [
                item.value
                for item in ast.walk(function)
                if isinstance(item, ast.Return) and item.value is not None
            ]
            return any(not is_zero(value) for value in values)
        return True

    @staticmethod
    def _site(unit: _Unit, swallowed: bool) -> None:
        if swallowed:
            unit.sites_swallowed += 1
        else:
            unit.sites += 1


def _given(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """(name, value) of an assignment, of a loop, and of ``results.append(value)``."""
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
        return [(item, node.iter) for item in targets]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        adds = node.func.attr in ("append", "add", "extend", "update")
        return [(node.func.value, item) for item in node.args] if adds else []
    return []


def _is_wanted(node: ast.Try, handler: ast.ExceptHandler, following: ast.stmt | None) -> bool:
    """Whether a failure is what is wanted: it ends the function well, and without it the test fails."""
    ends = bool(handler.body) and isinstance(handler.body[-1], ast.Return | ast.Continue)
    after = [*node.orelse, *([following] if following is not None else [])]
    return ends and any(
        isinstance(item, ast.Raise)
        or (isinstance(item, ast.Assert) and is_zero(item.test))
        or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Call) and _fails(item.value))
        for item in after
    )


def _fails(call: ast.Call) -> bool:
    """Whether a call fails the test whatever its arguments are."""
    return dotted(call.func).rpartition(".")[2] in ("fail", "exit", "_exit")
