"""A unit test read as code: its modules, what in it can fail, and the files that it names."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lmr_author.checks.lookup import unit_test_path
from lmr_author.checks.view import TaskView
from lmr_author.code import Module
from lmr_author.task import Implementation

_PREPARES = frozenset(("setUp", "setUpClass", "setUpModule", "setup_method", "tearDown", "tearDownClass"))
EXITS = frozenset(("sys.exit", "exit", "quit", "os._exit", "os.abort", "SystemExit"))
_BROAD = re.compile(r"(?:.*\.)?(?:Exception|BaseException|AssertionError)")
_DATA = re.compile(
    r"[^\s*{}%<>|]*[\w\])]\.(?:jsonl?|pth?|pkl|pickle|np[yz]|csv|tsv|txt|bin|ya?ml|h5|safetensors|mat)"
)
_NOT_READ = re.compile(
    r"(?:.*\.)?(?:save\w*|dump|to_csv|to_json|write\w*|basicConfig|\w*FileHandler|remove|unlink|exists|isfile)"
)


@dataclass(frozen=True)
class Failure:
    """A statement or call that can make the test fail.

    Attributes:
        handler: the ``except`` or ``with suppress`` that swallows it; None when it takes effect.
        top: whether it runs when the file is run, and is not inside a function.
    """

    node: ast.AST
    handler: ast.AST | None
    top: bool


@dataclass(frozen=True)
class UnitTest:
    """A unit test, with the modules of its own folder that it imports."""

    path: Path
    module: Module
    helpers: tuple[Module, ...]

    @property
    def trees(self) -> tuple[ast.Module, ...]:
        """Return the syntax trees of the test and its helpers."""
        return (self.module.tree, *(helper.tree for helper in self.helpers))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Return every node of the test and its helpers."""
        return tuple(node for tree in self.trees for node in ast.walk(tree))

    @cached_property
    def calls(self) -> tuple[tuple[ast.Call, str], ...]:
        """Return (call, dotted name of what is called) of every call."""
        return tuple((node, dotted(node.func)) for node in self.nodes if isinstance(node, ast.Call))

    @cached_property
    def texts(self) -> tuple[tuple[str, int], ...]:
        """Return (text, line) of every string constant but docstrings; pieces of f-strings included."""
        docstrings = {
            id(node.value)
            for node in self.nodes
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        constants = (
            node for node in self.nodes if isinstance(node, ast.Constant) and id(node) not in docstrings
        )
        return tuple((node.value, node.lineno) for node in constants if isinstance(node.value, str))

    @cached_property
    def names(self) -> frozenset[str]:
        """Return every identifier that the test uses, imports or spells in a string."""
        found = {name for text, _ in self.texts for name in re.findall(r"\w+", text)}
        for node in self.nodes:
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                found |= {part for alias in node.names for part in alias.name.split(".")}
                found |= set((getattr(node, "module", None) or "").split("."))
        return frozenset(found)

    @cached_property
    def set_once(self) -> dict[str, str]:
        """Return what each name is assigned, in comparable form, for names that are assigned once."""
        stored = Counter(
            node.id for node in self.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        found: dict[str, str] = {}
        for node in self.nodes:
            if not isinstance(node, ast.Assign) or isinstance(node.value, ast.Constant):
                continue
            for target in node.targets:
                several = target.elts if isinstance(target, ast.Tuple) else []
                named = [(target, ""), *((item, f"[{place}]") for place, item in enumerate(several))]
                for item, place in named:
                    if isinstance(item, ast.Name) and stored[item.id] == 1:
                        found[item.id] = ast.dump(node.value) + place
        return found

    @cached_property
    def failures(self) -> tuple[Failure, ...]:
        """Return whatever can make the test fail; a call of a function of the test that can fail is among it."""
        functions = [node for node in self.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        failing: set[str] = set()
        while True:
            found = {
                node.name
                for node in functions
                if node.name not in _PREPARES
                and any(
                    item.handler is None for item in _failures(node.body, None, failing, top=True) if item.top
                )
            }
            if found <= failing:
                break
            failing |= found
        return tuple(item for tree in self.trees for item in _failures(tree.body, None, failing, top=True))

    @cached_property
    def files(self) -> tuple[tuple[str, int, bool], ...]:
        """Return (path as spelt, line, whether it need not exist) of every data file that a constant names."""
        assigned: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                assigned |= dict.fromkeys([node.targets[0].id], next(iter(_data_files(node.value)), ""))
        written = {
            text
            for call, name in self.calls
            if _NOT_READ.fullmatch(name) or (name.endswith("open") and _opens_to_write(call))
            for text in (*_data_files(call), *(assigned.get(item, "") for item in _names(call)))
        }
        return tuple(
            (text, line, text in written)
            for text, line in self.texts
            if _DATA.fullmatch(text) and "://" not in text
        )


def read_test(task: TaskView, target: Implementation) -> UnitTest | None:
    """Return a target's unit test; None when it is missing or not Python 3."""
    path = unit_test_path(task, target)
    module = task.module(path)
    if path is None or module is None:
        return None
    return task.memo(("unit test", path), lambda: UnitTest(path, module, tuple(_helpers(task, path, module))))


def _helpers(task: TaskView, path: Path, module: Module) -> Iterator[Module]:
    """Yield the modules of the test's own folder that it imports, one level deep and relative to that folder."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and path.parent != task.repository:
            named = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [item.name for item in node.names]
            )
            named += [item.name for item in node.names if isinstance(node, ast.ImportFrom) and node.level]
            for name in filter(None, named):
                last = name.removeprefix(f"{path.parent.name}.").replace(".", "/")
                helper = task.module(task.inside(path.parent, f"{last}.py"))
                if helper is not None and helper is not module:
                    yield helper


def dotted(node: ast.AST) -> str:
    """Return ``a.b.c`` of a name or attribute, ``().c`` where something else precedes it; "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value) or '()'}.{node.attr}"
    return ""


def _names(node: ast.AST) -> set[str]:
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}


def _data_files(node: ast.AST) -> list[str]:
    values = (item.value for item in ast.walk(node) if isinstance(item, ast.Constant))
    return [value for value in values if isinstance(value, str) and _DATA.fullmatch(value)]


def _opens_to_write(call: ast.Call) -> bool:
    modes = [*call.args[:2], *(item.value for item in call.keywords if item.arg == "mode")]
    return any(isinstance(one, ast.Constant) and re.fullmatch(r"[wax]b?\+?", str(one.value)) for one in modes)


def can_fail(node: ast.AST, failing: Set[str] = frozenset()) -> bool:
    """Return whether a statement or call makes a test fail: an assertion, a raise, a non-zero exit.

    Args:
        failing: names of functions that can fail.
    """
    if isinstance(node, ast.Assert):
        always = isinstance(node.test, ast.Tuple) and bool(node.test.elts)  # assert (x, "message")
        return not always and not (isinstance(node.test, ast.Constant) and bool(node.test.value))
    if isinstance(node, ast.Raise):
        return not isinstance(node.exc, ast.Call) or dotted(node.exc.func) != "SystemExit" or _exits(node.exc)
    if not isinstance(node, ast.Call):
        return False
    name = dotted(node.func)
    last = name.rpartition(".")[2]
    if name in EXITS:
        return _exits(node)
    if name == "unittest.main":
        return not any(
            item.arg == "exit" and getattr(item.value, "value", None) is False for item in node.keywords
        )
    return last.startswith(("assert", "_assert")) or last == "fail" or last in failing


def _exits(call: ast.Call) -> bool:
    """Return whether an exit's argument can be anything but success."""
    return bool(call.args) and not (
        isinstance(call.args[0], ast.Constant) and call.args[0].value in (0, None, False)
    )


def _failures(
    nodes: list[ast.stmt], handler: ast.AST | None, failing: Set[str], *, top: bool
) -> Iterator[Failure]:
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name not in _PREPARES:
                yield from _failures(node.body, None, failing, top=False)
        elif isinstance(node, ast.ClassDef):
            yield from _failures(node.body, None, failing, top=False)
        elif isinstance(node, ast.Try):
            broad = next((item for item in node.handlers if _swallows(item)), None)
            yield from _failures(node.body, broad or handler, failing, top=top)
            for block in (node.orelse, node.finalbody, *(item.body for item in node.handlers)):
                yield from _failures(block, handler, failing, top=top)
        elif not is_dead(node):
            suppresses = isinstance(node, ast.With) and any(
                _suppresses(item.context_expr) for item in node.items
            )
            inner = node if suppresses else handler
            heads = [node, *_expressions(node)]
            yield from (Failure(item, inner, top) for item in heads if can_fail(item, failing))
            blocks = [getattr(node, name, []) for name in ("body", "orelse")]
            for block in [*blocks, *(case.body for case in getattr(node, "cases", []))]:
                yield from _failures(block, inner, failing, top=top)


def _expressions(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield the expressions of a statement, those of its blocks left out."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.match_case):
            yield from ast.walk(child)


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler catches a failed assertion and neither fails itself nor keeps what happened."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    if handler.type is not None and not any(
        kind is not None and _BROAD.fullmatch(dotted(kind)) for kind in kinds
    ):
        return False
    keeps = (ast.Assign, ast.AugAssign, ast.Return)
    inner = [item for statement in handler.body for item in ast.walk(statement)]
    kept = any(isinstance(item, keeps) and not _is_nothing(item) for item in inner)
    appended = any(
        isinstance(item, ast.Call) and dotted(item.func).endswith((".append", ".add")) for item in inner
    )
    return not kept and not appended and not any(map(can_fail, inner))


def _is_nothing(node: ast.AST) -> bool:
    return isinstance(node, ast.Return) and node.value is None


def _suppresses(node: ast.expr) -> bool:
    is_call = isinstance(node, ast.Call) and dotted(node.func).endswith("suppress")
    return is_call and any(_BROAD.fullmatch(dotted(item)) for item in node.args)  # type: ignore[attr-defined]


def is_dead(node: ast.stmt) -> bool:
    """Return whether a statement is an ``if`` that never holds: ``if False``, ``if __name__ == "main"``."""
    if not isinstance(node, ast.If):
        return False
    if isinstance(node.test, ast.Compare) and dotted(node.test.left) == "__name__":
        right = node.test.comparators[0]
        return isinstance(right, ast.Constant) and right.value != "__main__"
    return isinstance(node.test, ast.Constant) and not node.test.value
