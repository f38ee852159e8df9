"""Walk over a test and its helpers: where it can fail, what swallows a failure, which function calls which."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from lmr_author.checks.failsafe import is_told_later
from lmr_author.checks.handlers import (
    ends_badly,
    ends_quietly,
    gives_nothing,
    is_broad,
    is_wanted,
    lets_through,
    suppresses,
)
from lmr_author.checks.managers import is_managed, run_with_class, swallowing
from lmr_author.checks.reading import Reading
from lmr_author.checks.runners import RUNNERS, exit_texts, is_runner, result_counts, runner_names
from lmr_author.checks.sites import (
    EXITS,
    asks_machine,
    compares_nothing,
    depends,
    is_assert_name,
    is_exit,
    is_exit_name,
    is_idle,
    is_interesting,
    is_quiet_exit,
    is_site_call,
    is_stub,
    is_zero,
    library_names,
    mentions,
    never_main,
)
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.checks.verdicts import (
    functions_in,
    has_to_be_true,
    looped,
    tells_of_exceptions_only,
    tries_only,
)
from lmr_author.source import children, each, walk

_NAMES = (ast.Name, ast.Attribute)
_RUN_BY_UNITTEST = ("runTest", "setUp", "tearDown", "setUpClass")


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
    runner: set[str]
    sites: int = 0
    sites_swallowed: int = 0
    calls: set[str] = field(default_factory=set)
    calls_swallowed: set[str] = field(default_factory=set)


class Flow:
    """One walk over the test and its helpers."""

    def __init__(self, test: Reading) -> None:
        self.test = test
        self.swallowing: list[int] = []
        self.defined = {
            node.name: node
            for module in reversed(test.modules)
            for node in each(module.tree, ast.FunctionDef, ast.AsyncFunctionDef)
        }
        self.looped = looped(test, self.defined)
        self.libraries = library_names(test.module.tree)
        self.has_runner = any(any(runner in name for runner in RUNNERS) for _, _, name in test.calls)
        self.exit_texts = exit_texts(test, self.defined)
        self.runner_counts = result_counts(test, self.defined, self.exit_texts)
        self.managers = swallowing(test, self.exit_texts)
        self.run_with = run_with_class(test)
        self.has_to_be_true = has_to_be_true(test)
        self.endless = {name for name, item in self.defined.items() if ends_quietly(item.body)}
        self.trying = {name for name, item in self.defined.items() if tries_only(item)}
        self.units = [unit for helper in test.helpers for unit in self._units(helper.tree, False)]
        self.swallowing.clear()  # a helper's handlers are its own business; what they hide counts
        self.units += self._units(test.module.tree, True)

    def _units(self, tree: ast.Module, own: bool) -> Iterator[_Unit]:
        top = _Unit("" if own else "<helper>", False, runner_names(tree))
        self._fill(top, tree.body, _TOP)
        yield top
        for node in each(tree, ast.FunctionDef, ast.AsyncFunctionDef):
            named_test = node.name.startswith("test") or node.name in _RUN_BY_UNITTEST
            unit = _Unit(node.name, own and named_test, runner_names(node))
            self._fill(unit, node.body, _TOP)
            yield unit

    def _fill(self, unit: _Unit, body: list[ast.stmt], place: _Place) -> None:
        for node, following in itertools.zip_longest(body, body[1:]):
            last = self._last_call(node)
            if last is not None:
                self._expressions(unit, [last], place)
                return
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._expressions(unit, [*node.decorator_list], place)
            elif isinstance(node, ast.ClassDef):
                methods = (ast.FunctionDef, ast.AsyncFunctionDef)
                self._fill(unit, [item for item in node.body if not isinstance(item, methods)], place)
            elif isinstance(node, ast.Try):
                self._try(unit, node, following, place)
            elif not is_idle(node):
                self._statement(unit, node, following, place)
            if isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break):
                return  # what follows is never run

    def _last_call(self, node: ast.stmt) -> ast.Call | None:
        """A call of a function that ends the program with 0 in any case: nothing hangs on what it returns."""
        head = node.test if isinstance(node, ast.If | ast.Assert) else getattr(node, "value", None)
        for item in walk(head) if isinstance(head, ast.expr) and self.endless else ():
            if isinstance(item, ast.Call) and last_name(item.func) in self.endless:
                return item
        return None

    def _statement(self, unit: _Unit, node: ast.stmt, following: ast.stmt | None, place: _Place) -> None:
        if (isinstance(node, ast.Assert) and self._decides(node)) or (
            isinstance(node, ast.Raise)
            and node.exc is not None
            and not is_exit_name(node.exc)  # a call of it is looked at as any other exit
            and place.tells
            and not is_stub(node)
            and not is_runner(node, unit.runner)
        ):
            self._site(unit, place.swallowed)
        blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        cases = [case.body for case in getattr(node, "cases", [])]
        inner = {id(item) for block in [*blocks, *cases] for item in block}
        if isinstance(node, ast.For) and functions_in(node.iter, self.defined):
            inner |= {id(node.target), id(node.iter)}  # they are called inside
        for child in children(node):
            if id(child) not in inner and not isinstance(child, ast.match_case):
                self._expressions(unit, [child], place)
        if isinstance(node, ast.If) and (never_main(node.test) or is_runner(node.test, unit.runner)):
            blocks = blocks[1:] if never_main(node.test) else []  # a runner's exits are no sites of their own
        nothing_returned = following is None and unit.name in self.has_to_be_true
        quiet = suppresses(node) or is_managed(node, self.managers)
        quiet = quiet and not nothing_returned and not self._told_later(unit, node, following)
        if quiet and self._tests_something(blocks[0]):
            self.swallowing.append(node.lineno)
        within = replace(
            place,
            swallowed=place.swallowed or quiet,
            environment=place.environment
            or (isinstance(node, ast.If) and (asks_machine(node.test) or self._only_tried(node.test))),
        )
        for block in [*blocks, *cases]:
            self._fill(unit, [item for item in block if isinstance(item, ast.stmt)], within)

    def _try(self, unit: _Unit, node: ast.Try, following: ast.stmt | None, place: _Place) -> None:
        quiet = [
            handler
            for handler in node.handlers
            if is_broad(handler)
            and not lets_through(handler, unit.name, self.exit_texts)
            and not (following is None and unit.name in self.has_to_be_true and gives_nothing(handler))
            and not (self._expects(node, handler) or is_wanted(node, handler, following))
        ] + [
            item
            for item in node.finalbody
            if isinstance(item, ast.Return) or is_quiet_exit(getattr(item, "value", None))
        ]
        if quiet and self._told_later(unit, node, following):
            quiet = []
        if quiet and self._tests_something(node.body):
            self.swallowing.append(quiet[0].lineno)
        self._fill(unit, node.body, replace(place, swallowed=place.swallowed or bool(quiet)))
        for handler in node.handlers:
            self._fill(unit, handler.body, replace(place, handler=True))
        self._fill(unit, node.orelse, place)
        self._fill(unit, node.finalbody, place)

    def _told_later(self, unit: _Unit, node: ast.stmt, following: ast.stmt | None) -> bool:
        """Whether a verdict that stays bad where a failure is swallowed tells of it."""
        scope = self.defined.get(unit.name, self.test.module.tree)
        return isinstance(node, ast.Try | ast.With) and (
            is_told_later(self.test, scope, node) or ends_badly(node, following)
        )

    def _expects(self, node: ast.Try, handler: ast.ExceptHandler) -> bool:
        """Whether the exception is what is wanted: what is tried ends in writing down that there was none."""
        last = node.body[-1]
        if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call):
            return False
        called = dotted(last.value.func)
        written = called.endswith(".append") and mentions(self.exit_texts, called.split(".")[-2])
        return written and handler.type is not None and dotted(handler.type) == "AssertionError"

    def _tests_something(self, tried: list[ast.stmt]) -> bool:
        """Whether what is tried is more than an import, the opening of a file or a call of a library."""
        for statement in tried:
            if isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass):
                continue
            for item in walk(statement):
                if isinstance(item, ast.Assert):
                    return True
                name = dotted(item.func) if isinstance(item, ast.Call) else ""
                own = name.partition(".")[0] not in self.libraries or is_assert_name(name)
                if own and is_interesting(name):
                    return True
        return False

    def _expressions(self, unit: _Unit, nodes: list[ast.AST], place: _Place) -> None:
        calls = unit.calls_swallowed if place.swallowed else unit.calls
        for start in nodes:
            for node in walk(start):
                if (
                    isinstance(node, ast.Call)
                    and is_site_call(node)
                    and (place.tells or not is_exit(node))
                    and not (dotted(node.func) in EXITS and is_runner(node, unit.runner))
                    and self._tells(node)
                ):
                    self._site(unit, place.swallowed)
                if isinstance(node, _NAMES):
                    calls.update(self._meant(last_name(node)))

    def _meant(self, name: str) -> Iterator[str]:
        """The functions that a name stands for."""
        if name in self.defined:
            yield name
        yield from self.looped.get(name, ())
        yield from self.run_with.get(name, ())

    def _decides(self, node: ast.Assert) -> bool:
        return depends(node.test) and not compares_nothing(node) and not self._only_tried(node.test)

    def _only_tried(self, node: ast.expr) -> bool:
        return bool(self.trying) and tells_of_exceptions_only(node, self.test, self.defined, self.trying)

    def _tells(self, node: ast.Call) -> bool:
        """``sys.exit(main())`` says something when main returns something, ``sys.exit(code)`` if not ``code = 0``."""
        if dotted(node.func) not in EXITS or not node.args:
            return True
        argument = node.args[0]
        if self._only_tried(argument):
            return False
        if isinstance(argument, ast.Call) and dotted(argument.func) in ("int", "bool") and argument.args:
            argument = argument.args[0]
        if isinstance(argument, ast.Name):
            return not is_zero(self.test.environment.get(argument.id, argument))
        function = self.defined.get(last_name(argument.func)) if isinstance(argument, ast.Call) else None
        if function is not None:
            values = [
                item.value
                for item in walk(function)
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
