"""Does a test's exit code depend on the result? Read from its source.

A *failing site* is a place where a wrong result ends the program with another code: an assertion, a
raise, an exit with a code. A site inside a `try` that swallows it does not count, nor does one in a
function that nothing runs when the file is run as a script.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from lmr_author.checks.reading import Reading, dotted
from lmr_author.checks.view import TaskView

_EXITS = frozenset({"sys.exit", "exit", "quit", "os._exit", "SystemExit"})
_ENVIRONMENT = (
    "path.exists",
    "path.isfile",
    "path.isdir",
    ".exists",
    ".is_file",
    ".is_dir",
    ".is_available",
    "callable",
    "hasattr",
)
_RUNNERS = ("unittest.main", "TextTestRunner", "pytest.main", "HTMLTestRunner", "TestProgram")


@dataclass(frozen=True)
class Outcome:
    """What was found.

    Attributes:
        asserts: there are failing sites at all.
        reached: one of them is reached, not swallowed, when the file is run as a script.
        swallowed: (line, what) of each `try` that swallows failures.
        unrun: there are sites in tests, but nothing runs these tests when the file is run as a script.
        ignored: a runner runs the tests, but its result does not reach the exit code.
    """

    asserts: bool
    reached: bool
    swallowed: tuple[int, ...]
    unrun: bool
    ignored: bool


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
    return Outcome(
        asserts=bool(effective or hidden),
        reached=reached,
        swallowed=tuple(sorted(set(flow.swallowing))),
        unrun=tested and not reached and not flow.has_runner,
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
            for node in ast.walk(module.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
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
            for node in ast.walk(self.test.module.tree):
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
            for node in ast.walk(module.tree):
                if isinstance(node, ast.If | ast.While) and any(_is_exit(item) for item in ast.walk(node)):
                    parts.append(ast.unparse(node.test))
                if isinstance(node, ast.Assert):
                    parts.append(ast.unparse(node.test))
                if isinstance(node, ast.Call) and (
                    dotted(node.func) in _EXITS or _is_assert_name(dotted(node.func))
                ):
                    parts += [ast.unparse(item) for item in node.args]
        return "\n".join(parts)

    def _runner_counts(self) -> bool:
        """Whether a runner's result reaches the exit code."""
        for node in ast.walk(self.test.module.tree):
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
                if not keeps and not _is_exit(node):
                    return True
            if (
                _is_exit(node)
                and isinstance(node, ast.Call | ast.Raise)
                and self._is_runner(node, self.runner_names)
            ):
                return True
            decides = isinstance(node, ast.If | ast.IfExp) and self._is_runner(node.test, self.runner_names)
            if decides and any(_is_exit(item) for item in ast.walk(node)):
                return True
            if isinstance(node, ast.Assert) and self._is_runner(node.test, self.runner_names):
                return True
        # The runner inside a function whose value is exited with: sys.exit(main())
        for node in ast.walk(self.test.module.tree):
            if not isinstance(node, ast.FunctionDef) or node.name not in self.exit_texts:
                continue
            returns = any(isinstance(item, ast.Return) and item.value for item in ast.walk(node))
            if returns and self._is_runner(node, self.runner_names):
                return True
        return False

    def _units(self, tree: ast.Module, own: bool) -> Iterator[_Unit]:
        top = _Unit("" if own else "<helper>", False)
        self._fill(top, tree.body, False, False)
        yield top
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                named_test = node.name.startswith("test") or node.name in (
                    "runTest",
                    "setUp",
                    "tearDown",
                    "setUpClass",
                )
                unit = _Unit(node.name, own and named_test)
                self._fill(unit, node.body, False, False)
                yield unit

    def _fill(self, unit: _Unit, body: list[ast.stmt], swallowed: bool, in_handler: bool) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._expressions(unit, [*node.decorator_list], swallowed)
            elif isinstance(node, ast.ClassDef):
                self._fill(
                    unit,
                    [
                        item
                        for item in node.body
                        if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
                    ],
                    swallowed,
                    in_handler,
                )
            elif isinstance(node, ast.Try):
                self._try(unit, node, swallowed, in_handler)
            else:
                self._statement(unit, node, swallowed, in_handler)

    def _statement(self, unit: _Unit, node: ast.stmt, swallowed: bool, in_handler: bool) -> None:
        if (isinstance(node, ast.Assert) and _depends(node.test)) or (
            isinstance(node, ast.Raise)
            and node.exc is not None
            and not in_handler
            and not _is_stub(node)
            and not self._of_runner(node)
        ):
            self._site(unit, swallowed)
        blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        cases = [case.body for case in getattr(node, "cases", [])]
        quiet = swallowed or self._suppresses(node)
        inner = {id(item) for block in [*blocks, *cases] for item in block}
        for child in ast.iter_child_nodes(node):
            if id(child) not in inner and not isinstance(child, ast.match_case):
                self._expressions(unit, [child], swallowed)
        runner = isinstance(node, ast.If) and self._is_runner(node.test, self.runner_names)
        for block in [*blocks, *cases]:
            if not runner:  # exits that only pass a runner's result on are no sites of their own
                self._fill(unit, [item for item in block if isinstance(item, ast.stmt)], quiet, in_handler)

    @staticmethod
    def _suppresses(node: ast.stmt) -> bool:
        return isinstance(node, ast.With) and any(
            "suppress" in ast.unparse(item.context_expr) for item in node.items
        )

    def _of_runner(self, node: ast.AST) -> bool:
        return self._is_runner(node, self.runner_names)

    def _try(self, unit: _Unit, node: ast.Try, swallowed: bool, in_handler: bool) -> None:
        quiet = any(_is_broad(handler) and not self._lets_through(handler) for handler in node.handlers)
        if quiet and self._tests_something(node):
            self.swallowing.append(node.lineno)
        self._fill(unit, node.body, swallowed or quiet, in_handler)
        for handler in node.handlers:
            self._fill(unit, handler.body, swallowed, True)
        self._fill(unit, node.orelse, swallowed, in_handler)
        self._fill(unit, node.finalbody, swallowed, in_handler)

    def _lets_through(self, handler: ast.ExceptHandler) -> bool:
        """Whether a handler makes the program fail all the same, or hands the failure on as a value."""
        for node in ast.walk(handler):
            if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _is_site_call(node)):
                return True
            if (
                isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Store)
                and _mentions(self.exit_texts, node.id)
            ):
                return True
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and _mentions(self.exit_texts, node.attr)
            ):
                return True
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("append", "add")
                and _mentions(self.exit_texts, dotted(node.func.value).rpartition(".")[2])
            ):
                return True
            if (
                isinstance(node, ast.Return)
                and node.value is not None
                and not _is_none(node.value)
                and self.exit_texts
            ):
                return True
        return False

    def _tests_something(self, node: ast.Try) -> bool:
        """Whether what is tried is more than an import or the opening of a file."""
        for statement in node.body:
            if isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass):
                continue
            for item in ast.walk(statement):
                if isinstance(item, ast.Assert) or (
                    isinstance(item, ast.Call) and _is_interesting(dotted(item.func), self.test)
                ):
                    return True
        return False

    def _expressions(self, unit: _Unit, nodes: list[ast.AST], swallowed: bool) -> None:
        for start in nodes:
            for node in ast.walk(start):
                if (
                    isinstance(node, ast.Call)
                    and _is_site_call(node)
                    and not (dotted(node.func) in _EXITS and self._of_runner(node))
                    and self._tells(node)
                ):
                    self._site(unit, swallowed)
                name = (
                    node.id
                    if isinstance(node, ast.Name)
                    else node.attr
                    if isinstance(node, ast.Attribute)
                    else ""
                )
                if name in self.defined:
                    (unit.calls_swallowed if swallowed else unit.calls).add(name)

    def _tells(self, node: ast.Call) -> bool:
        """``sys.exit(main())`` says something only when main returns something."""
        if dotted(node.func) not in _EXITS or not node.args:
            return True
        argument = node.args[0]
        if isinstance(argument, ast.Call) and dotted(argument.func) in self.defined:
            function = self.defined[dotted(argument.func)]
            values = [
                item.value
                for item in ast.walk(function)
                if isinstance(item, ast.Return) and item.value is not None
            ]
            return any(not _is_zero(value) for value in values)
        return True

    @staticmethod
    def _site(unit: _Unit, swallowed: bool) -> None:
        if swallowed:
            unit.sites_swallowed += 1
        else:
            unit.sites += 1


def _is_interesting(name: str, test: Reading) -> bool:
    """Whether a call inside a `try` may be the test itself: not reading, logging or cleaning up."""
    last = name.rpartition(".")[2]
    return bool(last) and last not in (
        "print",
        "open",
        "load",
        "close",
        "remove",
        "unlink",
        "makedirs",
        "mkdir",
        "rmtree",
        "info",
        "error",
        "join",
        "exists",
        "read",
        "import_module",
        "insert",
        "append",
        "getLogger",
        "basicConfig",
        "set_start_method",
        "is_available",
        "format",
        "str",
        "write",
    )


def _is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        dotted(name).rpartition(".")[2] in ("Exception", "BaseException", "AssertionError", "SystemExit")
        for name in names
    )


def _is_exit(node: ast.AST) -> bool:
    """An exit with a code that is not always 0, or a raise."""
    if isinstance(node, ast.Raise):
        return node.exc is not None
    return (
        isinstance(node, ast.Call)
        and dotted(node.func) in _EXITS
        and bool(node.args)
        and not _is_zero(node.args[0])
    )


def _is_assert_name(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last.lower().startswith("assert") or last == "fail" or name.endswith("testing.assert_close")


def _is_site_call(node: ast.Call) -> bool:
    name = dotted(node.func)
    if _is_assert_name(name):
        return name.endswith("fail") or not node.args or any(_depends(item) for item in node.args)
    if name.rpartition(".")[2] in ("check_call", "check_output", "check_returncode"):
        return True
    if any(
        item.arg == "check" and isinstance(item.value, ast.Constant) and item.value.value is True
        for item in node.keywords
    ):
        return name.startswith("subprocess")
    return _is_exit(node)


def _depends(node: ast.expr) -> bool:
    """Whether a condition can be false: no constant, no tuple with a message, no question about files."""
    if isinstance(node, ast.Constant | ast.Lambda):
        return False
    if isinstance(node, ast.Tuple | ast.List) and node.elts:
        return isinstance(node, ast.List) or all(_depends(item) for item in node.elts)
    if isinstance(node, ast.Call):
        name = "." + dotted(node.func)
        return not name.endswith(_ENVIRONMENT)
    if isinstance(node, ast.UnaryOp):
        return _depends(node.operand)
    return True


def _is_stub(node: ast.Raise) -> bool:
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(raised, ast.Name) and raised.id in (
        "NotImplementedError",
        "ImportError",
        "ModuleNotFoundError",
        "FileNotFoundError",
    )


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (0, None, False)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _mentions(text: str, name: str) -> bool:
    return (
        bool(name)
        and name
        in text.replace(".", " ")
        .replace("(", " ")
        .replace(")", " ")
        .replace(",", " ")
        .replace("[", " ")
        .split()
    )
