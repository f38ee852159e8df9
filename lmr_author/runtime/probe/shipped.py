"""Replays recorded calls in a shipped unit test; with its imports this is ``unit_test/lmr_support.py``.

It runs in the process of the code that it tests, so its verdict is for people. An evaluation uses the same comparison
outside the sandbox.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import os
import sys
import traceback
import types
from typing import Any, Dict, Mapping, Optional

from .calling import EXHAUSTED, VALUE
from .comparison import MOST, Comparison
from .document import Document, read
from .effects import Outcome
from .functions import closure_factory, definitions
from .objects import MAIN_STAND_IN, load_file
from .repeating import repeat
from .sides import Live, Stored


class Target:
    """The function under test, in the test's own repository.

    Args:
        root: the repository.
        goal_file, qualname: the function; ``nth`` of that name, from 1, where there are several.
        module: the name to import the file by; None for a script.
        sys_path: folders of the repository to import from.
    """

    def __init__(
        self,
        root: Any,
        goal_file: str,
        qualname: str,
        module: Optional[str],
        sys_path: Any = ("",),
        nth: int = 0,
    ) -> None:
        self.path = os.path.join(str(root), *goal_file.split("/"))
        self.qualname, self.nth = qualname, nth
        folders = [os.path.join(str(root), folder) if folder else str(root) for folder in sys_path]
        sys.path[:0] = folders + ([] if module else [os.path.dirname(self.path)])
        self.module: Any = importlib.import_module(module) if module else load_file(MAIN_STAND_IN, self.path)
        if os.path.realpath(str(self.module.__file__)) != os.path.realpath(self.path):
            raise ImportError("%s was imported from %s" % (module, self.module.__file__))

    def function(self, free: Dict[str, Any]) -> Any:
        """Return the function without its decorators; a nested one is built with the given free variables."""
        names = self.qualname.split(".")
        value: Any = self.module
        for name in names:
            value = vars(value).get(name) if isinstance(value, (type, types.ModuleType)) else None
        for name in ("__func__", "fget", "func"):
            value = getattr(value, name, None) or value
        if callable(value) and not self.nth and not free:
            value = inspect.unwrap(value, stop=lambda wrapped: hasattr(wrapped, "__lmr_watched__"))
            code = getattr(inspect.unwrap(value), "__code__", None)
            if code and code.co_name == names[-1] and os.path.samefile(code.co_filename, self.path):
                return value
        return self._from_source(free)

    def _from_source(self, free: Dict[str, Any]) -> Any:
        with open(self.path, "rb") as file:
            tree = ast.parse(file.read(), self.path)
        matches = definitions(tree, self.qualname)
        if len(matches) < max(1, self.nth):
            raise LookupError("there is no function %s in %s" % (self.qualname, self.path))
        above, target = matches[self.nth - 1][:-1], matches[self.nth - 1][-1]
        target.decorator_list = []  # type: ignore[attr-defined]
        if above and isinstance(above[-1], ast.ClassDef):
            free = dict(free, __class__=vars(self.module).get(self.qualname.split(".")[0]))
        free = {name: value for name, value in free.items() if name != target.name}  # type: ignore[attr-defined]
        space = self.module.__dict__
        exec(closure_factory(tree, target, self.path, list(free)), space)
        made = space.pop("__lmr_outer__")(**free)
        # A recorder of the test registers its decorator here.
        return getattr(builtins, "__lmr_target__", lambda function: function)(made)


class Compared(Outcome):
    """Compares the outcome of a call, as live values, with the expected document."""

    def __init__(self, expected: Document, checkers: Mapping[str, Any], *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.expected, self.yielded = expected.tree, 0
        self.comparison = Comparison(Stored(expected), Live(self.fixture_of), checkers)

    def item(self, value: Any) -> None:
        items = self.expected.get(VALUE)
        if isinstance(items, list) and self.yielded < len(items):
            self.comparison.pair(items[self.yielded], value, "%s[%d]" % (VALUE, self.yielded))
        self.yielded += 1

    def ended(self, function: Any, result: Dict[str, Any]) -> None:
        wanted, got = dict(self.expected), self.whole(function, result)
        if EXHAUSTED in wanted and EXHAUSTED in got:  # the items were compared one by one
            count = len(wanted.pop(VALUE))
            if len(got.pop(VALUE)) != count:
                self.comparison.differ(VALUE, "expected %d items, got %d" % (count, self.yielded))
        self.comparison.pair(wanted, got, "")


def check(target: Target, case: Any, checkers: Mapping[str, Any], fixtures: Any = None) -> None:
    """Make a recorded call and compare its outcome. Raises AssertionError with every difference.

    Args:
        case: its folder.
        checkers: path → checker, see :class:`Comparison`.
        fixtures: ``unit_test/fixtures.py``, where the inputs need it.
    """
    expected, compared = read(str(case), "expected"), []

    def take(*args: Any, **more: Any) -> Compared:
        compared.append(Compared(expected, checkers, *args, **more))
        return compared[0]

    made = repeat(target.function, read(str(case), "inputs"), take, fixtures and str(fixtures))
    raised = made.error
    shown = "".join(traceback.format_exception(type(raised), raised, raised.__traceback__)) if raised else ""
    problems = ["%s: %s" % (made.status, raised)]
    if compared and made.status in ("returned", "raised"):
        problems = [str(difference) for difference in compared[0].comparison.differences[:MOST]]
    if problems:
        text = "\n  ".join(problems)
        raise AssertionError("%s:\n  %s\n%s" % (os.path.basename(str(case)), text, shown))
