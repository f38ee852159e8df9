"""A unit test as code: what it calls, names and reads, and which of its statements can make it fail."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lmr_author.core import files, resources
from lmr_author.core.code import FunctionNode, Module
from lmr_author.core.task import Implementation, Severity
from lmr_author.core.task.recording import SUPPORT
from lmr_author.proof.checks.base import ERROR, Check, Problem, target_check
from lmr_author.proof.checks.lookup import (
    unit_test_path,
)
from lmr_author.proof.checks.view import TaskView, once

EXITS = frozenset(("sys.exit", "exit", "quit", "os._exit", "os.abort", "SystemExit"))
_BROAD = re.compile(r"(?:.*\.)?(?:Exception|BaseException|AssertionError)")
_SUPPRESS = re.compile(r"(?:\w+\.)*suppress\(.*\b(?:Exception|BaseException|AssertionError)\b.*\)")
RUNNER = re.compile(r"(?:unittest|pytest|absltest)\.main|(?!subprocess).*[rR]unner(?:\(\))?\.run|\(\)\.run")
_DATA = re.compile(
    r"[^\s*{}%<>|]*[\w\])]\.(?:jsonl?|pth?|pkl|pickle|np[yz]|csv|tsv|txt|bin|ya?ml|h5|safetensors|mat)"
)
_WRITES = re.compile(
    r"(?:[^(]*\.)?(?:save\w*|dump|to_csv|to_json|write\w*|basicConfig|\w*FileHandler|remove|unlink|exists|isfile)\("
    r"|(?:[^(]*\.)?open\((?:.*, )?(?:mode=)?'[wax]b?\+?'",
    re.DOTALL,
)
"""The text of a call that writes a file, or asks for it."""
CALLS = 4
"""Calls of calls that are followed to see whether a function of a test can fail."""


@dataclass(frozen=True)
class UnitTest:
    """A unit test, with the modules of its own folder that it imports."""

    path: Path
    modules: tuple[Module, ...]

    @property
    def text(self) -> str:
        """Return the source of the test and its helpers."""
        return "\n".join(module.text for module in self.modules)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Return every node of the test and its helpers."""
        return tuple(node for module in self.modules for node in ast.walk(module.tree))

    @cached_property
    def calls(self) -> tuple[tuple[ast.Call, str], ...]:
        """Return (call, dotted name of what is called) of every call."""
        return tuple((node, dotted(node.func)) for node in self.nodes if isinstance(node, ast.Call))

    @cached_property
    def texts(self) -> tuple[tuple[str, int], ...]:
        """Return (text, line) of every string constant but docstrings; pieces of f-strings included."""
        docstrings = {id(node.value) for node in self.nodes if isinstance(node, ast.Expr)}
        strings = (
            node for node in self.nodes if isinstance(node, ast.Constant) and id(node) not in docstrings
        )
        return tuple((node.value, node.lineno) for node in strings if isinstance(node.value, str))

    @cached_property
    def names(self) -> frozenset[str]:
        """Return every identifier that the test uses, imports or spells in a string."""
        naming = (ast.Name, ast.Attribute, ast.Import, ast.ImportFrom)
        texts = [ast.unparse(node) for node in self.nodes if isinstance(node, naming)]
        return frozenset(re.findall(r"\w+", "\n".join([*texts, *(text for text, _ in self.texts)])))

    @cached_property
    def swallowed(self) -> dict[int, ast.AST]:
        """Return the broad handler, or ``with suppress``, around each node (by its id) that is in one."""
        found: dict[int, ast.AST] = {}
        for node in self.nodes:
            handler: ast.AST | None = None
            if isinstance(node, ast.Try):
                handler = next(filter(_swallows, node.handlers), None)
            elif isinstance(node, ast.With) and any(_SUPPRESS.match(ast.unparse(one)) for one in node.items):
                handler = node
            if handler is not None:
                inside = (item for part in getattr(node, "body", ()) for item in ast.walk(part))
                found |= {id(item): handler for item in inside}
        return found

    @cached_property
    def failures(self) -> tuple[ast.AST, ...]:
        """Return everything that can make the test fail, calls of its own functions that can fail included."""
        return self.failures_where(lambda _: True)

    def failures_where(self, counts: Callable[[ast.AST], bool]) -> tuple[ast.AST, ...]:
        """Return what can make the test fail and counts, and the calls of its own functions that hold such."""
        own = {id(node) for node in self.nodes if _can_fail(node) and counts(node)}
        functions = [node for node in self.nodes if isinstance(node, FunctionNode)]
        failing: set[str] = set()
        for _ in range(CALLS):
            for function in functions:
                heard = (item for item in ast.walk(function) if id(item) not in self.swallowed)
                if any(id(item) in own or _calls(item, failing) for item in heard):
                    failing.add(function.name)
        return tuple(node for node in self.nodes if id(node) in own or _calls(node, failing))

    @cached_property
    def defined(self) -> frozenset[int]:
        """Return the ids of all nodes in functions and classes: they do not run when the file is run."""
        bodies = (node for node in self.nodes if isinstance(node, FunctionNode | ast.ClassDef))
        return frozenset(id(item) for node in bodies for item in ast.walk(node))

    @cached_property
    def files(self) -> tuple[tuple[str, int, bool], ...]:
        """Return (path as spelt, line, is written) of every data file that a constant names."""
        saving: list[ast.AST] = [call for call, _ in self.calls if _WRITES.match(ast.unparse(call))]
        names = {node.id for call in saving for node in ast.walk(call) if isinstance(node, ast.Name)}
        assigned = [node for node in self.nodes if isinstance(node, ast.Assign)]
        saving += [node.value for node in assigned if getattr(node.targets[0], "id", "") in names]
        written = {getattr(node, "value", None) for one in saving for node in ast.walk(one)}
        found = [one for one in self.texts if _DATA.fullmatch(one[0]) and "://" not in one[0]]
        return tuple((text, line, text in written) for text, line in found)


@once
def read_test(task: TaskView, target: Implementation) -> UnitTest | None:
    """Return a target's unit test; None when it is missing or not Python 3."""
    path = unit_test_path(task, target)
    module = task.module(path)
    if path is None or module is None:
        return None
    imports = [node for node in ast.walk(module.tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {word for node in imports for word in re.findall(r"\w+", ast.unparse(node))}
    beside = [path.parent / f"{name}.py" for name in sorted(names) if path.parent != task.repository]
    helpers = [task.module(one) for one in beside if one != path and not _is_support(task, one)]
    return UnitTest(path, (module, *(helper for helper in helpers if helper)))


def _is_support(task: TaskView, path: Path) -> bool:
    """Tell whether a file is the support file as lmr-author writes it, which is no part of any one test."""
    data = task.read_bytes(path) if path.name == SUPPORT else None
    return data is not None and resources.is_known_support(files.sha256_bytes(data))


def dotted(node: ast.AST) -> str:
    """Return ``a.b.c`` of a name or attribute, ``().c`` where something else precedes it; "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    return f"{dotted(node.value) or '()'}.{node.attr}" if isinstance(node, ast.Attribute) else ""


def _calls(node: ast.AST, functions: Set[str]) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in functions


def _can_fail(node: ast.AST) -> bool:
    """Return True for a statement or call that makes a test fail: an assertion, a raise, a non-zero exit."""
    if isinstance(node, ast.Assert):  # `assert (x, "message")` always holds
        holds = node.test.elts if isinstance(node.test, ast.Tuple) else getattr(node.test, "value", False)
        return not holds or not isinstance(node.test, ast.Tuple | ast.Constant)
    if isinstance(node, ast.Raise):
        return not isinstance(node.exc, ast.Call) or dotted(node.exc.func) != "SystemExit" or _exits(node.exc)
    name = dotted(node.func) if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Call) and name in EXITS:
        return _exits(node)
    if isinstance(node, ast.Call) and name == "unittest.main":
        return all(one.arg != "exit" or getattr(one.value, "value", None) for one in node.keywords)
    last = name.rpartition(".")[2]
    return last.startswith(("assert", "_assert")) or last in ("fail", "raises")


def _exits(call: ast.Call) -> bool:
    """Return True when an exit's argument can be anything but success."""
    return bool(call.args) and getattr(call.args[0], "value", True) not in (0, None, False)


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Return True when a handler catches a failed assertion and neither fails itself nor keeps what happened."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    if handler.type is not None and not any(kind and _BROAD.fullmatch(dotted(kind)) for kind in kinds):
        return False
    for item in (item for statement in handler.body for item in ast.walk(statement)):
        keeps = isinstance(item, ast.Assign | ast.AugAssign) or (isinstance(item, ast.Return) and item.value)
        appends = isinstance(item, ast.Call) and dotted(item.func).endswith((".append", ".add"))
        if keeps or appends or _can_fail(item):
            return False
    return True


def catches_all(handler: ast.ExceptHandler) -> bool:
    """Return True for a bare ``except``, and for one of Exception."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or dotted(kind).endswith(("BaseException", "Exception")) for kind in kinds)


TestRule = Callable[[TaskView, Implementation, UnitTest], Iterable[Problem]]


def test_check(
    code: str, title: str, *, rationale: str, severity: Severity = ERROR, recorded: bool = True
) -> Callable[[TestRule], Check]:
    """Make a check of a rule that reads a unit test; a problem without a path is about it.

    Args:
        recorded: also read tests that `lmr-author record` made, which writes a manifest beside them.
    """

    def decorate(rule: TestRule) -> Check:
        def problems(task: TaskView, target: Implementation) -> Iterator[Problem]:
            test = read_test(task, target)
            manifest = f"recordings/{target.index}/recording.json"
            if test is not None and (recorded or not task.is_file(test.path.parent / manifest)):
                for problem in rule(task, target, test):
                    yield problem if problem.path else replace(problem, path=test.path)

        return target_check(code, title, rationale=rationale, severity=severity)(problems)

    return decorate
