"""LMR303 and LMR305 to LMR310: the body that masking left."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from pyflakes.checker import Checker
from pyflakes.messages import ImportStarUsage, UndefinedName

from lmr_author.core.code import FunctionNode, Module, form, is_same, walk
from lmr_author.core.task import Implementation, Severity
from lmr_author.core.texts import shortened
from lmr_author.proof.checks.base import NOTE, WARNING, Problem, target_check
from lmr_author.proof.checks.lookup import Pair, body_form, pair, parts, statements
from lmr_author.proof.checks.view import TaskView, once

_QUIET = re.compile(
    r"(?:\w+\.)*(?:debug|info|warning|warn|error|tensor|array|full|(?:new_)?(?:zeros|ones|empty|randn?)(?:_like)?)"
    r"|print|list|dict|set|tuple|object|float|int|str|super|super\(\)\.__init__|\w*Error"
)
"""Calls that log, or whose values say nothing about the arguments."""
_COMPUTING = (ast.BinOp, ast.Compare, ast.Subscript, ast.Assert, ast.Delete, ast.AugAssign, ast.comprehension)


def _head(node: ast.stmt) -> list[ast.AST]:
    """Return a simple statement, or what stands in the first line of a compound one."""
    inner = [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.stmt | ast.excepthandler)]
    return inner if hasattr(node, "body") else [node]


def head_form(node: ast.stmt) -> str:
    """Return a statement, of a compound one its head, in a form that is equal for equal code."""
    return f"{type(node).__name__} {getattr(node, 'name', '')} {form(_head(node))}"


def _computes(node: ast.stmt) -> bool:
    """Return True for a statement, or the head of a compound one, that computes something."""
    found = [item for one in _head(node) for item in walk(one)]
    loud = any(isinstance(one, ast.Call) and not _QUIET.fullmatch(ast.unparse(one.func)) for one in found)
    return loud or any(isinstance(one, _COMPUTING) for one in found)


def raises_error(node: FunctionNode) -> bool:
    """Return True for a function that raises NotImplementedError."""
    raised = [ast.unparse(item.exc) for item in walk(node) if isinstance(item, ast.Raise) and item.exc]
    return any(text.partition("(")[0].endswith("NotImplementedError") for text in raised)


def is_emptied(node: ast.AST) -> bool:
    """Return True for a function with nothing but its docstring and a raise, and a yield that keeps a generator one."""
    return isinstance(node, FunctionNode) and raises_error(node) and len(statements(node)) <= 2


def _undefined(module: Module, function: FunctionNode) -> dict[str, int]:
    """Return the names that a function reads and nothing defines, each with its first line.

    A called name may come from a star import.
    """
    calls = [node.func for node in walk(function) if isinstance(node, ast.Call)]
    called = {one.id for one in calls if isinstance(one, ast.Name)}
    lines = range(function.lineno, (function.end_lineno or function.lineno) + 1)
    found: dict[str, int] = {}
    for one in Checker(module.tree, filename="").messages:
        name = str(one.message_args[0]) if one.message_args else ""
        starred = isinstance(one, ImportStarUsage) and name not in called
        if one.lineno in lines and (isinstance(one, UndefinedName) or starred):
            found.setdefault(name, one.lineno)
    return found


@dataclass(frozen=True)
class _Masked:
    """A masked function, as far as it is known.

    Attributes:
        same: the body is the golden's.
        kept: computing statements of the golden that are left, returns not counted; ``total`` counts all.
        undefined: names that nothing defines, with the line of the first.
        silent: the body computes nothing and raises nothing.
    """

    qualname: str
    node: FunctionNode
    path: Path | str
    same: bool
    kept: list[ast.stmt]
    total: int
    undefined: dict[str, int]
    silent: bool

    def problem(self, message: str, hint: str, severity: Severity | None = None) -> Problem:
        """Return a problem about the lines of the function."""
        pointer = f"L{self.node.lineno}-L{self.node.end_lineno}"
        return Problem(message, hint, self.path, pointer=pointer, severity=severity)


@once
def _masked(task: TaskView, target: Implementation) -> list[_Masked]:
    """Return the functions of an implementation that both files define."""
    one = pair(task, target)
    return [_body(one, golden, goal, item.qualname) for golden, goal, item in one.complete]


def _body(one: Pair, golden: FunctionNode, goal: FunctionNode, qualname: str) -> _Masked:
    assert one.goal is not None and one.golden is not None
    undefined = _undefined(one.goal, goal)
    if undefined:  # names that the golden takes from a star import, or misses itself, are not the mask's
        known = _undefined(one.golden, golden)
        undefined = {name: line for name, line in undefined.items() if name not in known}
    original, left = (list(parts(statements(node))) for node in (golden, goal))
    telling = [head_form(one) for one in original if _computes(one) and not isinstance(one, ast.Return)]
    kept, available = [], Counter(telling)
    for node in left:
        available[head_form(node)] -= 1
        kept += [node] if available[head_form(node)] >= 0 else []
    acts = [node for node in left if isinstance(node, ast.Raise) or _computes(node)]
    silent = not undefined and all(hasattr(node, "body") for node in acts)
    same = body_form(golden) == body_form(goal)
    return _Masked(qualname, goal, one.goal_path or "", same, kept, len(telling), undefined, silent)


@target_check(
    "LMR303",
    "the target is not masked",
    rationale="An unmasked target hands the solution over with the task; every agent and every null agent solves it.",
)
def really_masked(task: TaskView, target: Implementation) -> Iterator[Problem]:
    one, found = pair(task, target), _masked(task, target)
    for masked in found:
        if masked.same:
            hint = f"mask it: `lmr-author mask {target.goal_file}::{masked.qualname}`"
            yield masked.problem(f"{masked.qualname} is not masked: its body is the golden's", hint)
    if not found and one.goal is None:
        data, golden = task.read_bytes(one.goal_path), task.read_bytes(one.golden_path)
        if data and golden and data.strip() == golden.strip():
            yield Problem("not masked: the goal file is the golden", "mask the target", one.goal_path or "")


@target_check(
    "LMR305",
    "the target's docstring was lost or changed",
    rationale="The docstring is the interface that the agent has to meet: shapes, units and order of what is returned."
    " Where a part of it is left out that may be on purpose, as some docstrings tell the steps: that is a"
    " note. Text that was added is no finding.",
    severity=WARNING,
)
def docstring_kept(task: TaskView, target: Implementation) -> Iterator[Problem]:
    one = pair(task, target)
    for golden, goal, item in one.complete:
        words, left = ((ast.get_docstring(node) or "").split() for node in (golden, goal))
        changes = SequenceMatcher(None, words, left, autojunk=False).get_opcodes()
        removed = sum(last - first for kind, first, last, _, _ in changes if kind != "equal")
        replaced = [change for change in changes if change[0] == "replace"]
        severity = NOTE
        if removed > len(words) / 2:
            message = f"{'most of ' if left else ''}the docstring of {item.qualname} was lost"
            severity = NOTE if left else WARNING
        elif replaced:
            _, first, last, start, end = replaced[0]
            was, now = (shortened(" ".join(part), 60) for part in (words[first:last], left[start:end]))
            message = f"the docstring of {item.qualname} was changed: `{was}` became `{now}`"
            severity = WARNING
        elif removed:
            message = f"a part of the docstring of {item.qualname} was left out"
        else:
            continue
        hint = "put the golden's docstring back below the header"
        yield Problem(message, hint, one.goal_path or "", goal.lineno, severity=severity)


@target_check(
    "LMR306",
    "the target's signature or decorators changed",
    rationale="The rest of the repository and the unit test call the function as it was; another signature makes a"
    " right solution fail.",
)
def signature_kept(task: TaskView, target: Implementation) -> Iterator[Problem]:
    one = pair(task, target)
    for golden, goal, item in one.complete:
        changes = [] if type(golden) is type(goal) else ["async was added or removed"]
        if not is_same(golden.args, goal.args):
            changes.append(f"({ast.unparse(golden.args)}) became ({ast.unparse(goal.args)})")
        if not is_same(golden.returns, goal.returns):
            changes.append("the return annotation changed")
        if not is_same(golden.decorator_list, goal.decorator_list):
            changes.append("the decorators changed")
        if changes:
            message = f"the signature of {item.qualname} differs from the golden's: {'; '.join(changes)}"
            yield Problem(message, "restore the golden's header", one.goal_path or "", goal.lineno)


@target_check(
    "LMR307",
    "the masked body uses undefined names",
    rationale="A bare `return losses, rewards` gives the names of the solution's variables away, and fails with a"
    " NameError that looks like a broken repository rather than like something to implement.",
    severity=WARNING,
)
def no_undefined_names(task: TaskView, target: Implementation) -> Iterator[Problem]:
    for masked in _masked(task, target):
        if masked.undefined and not masked.same:
            names = ", ".join(list(masked.undefined)[:8])
            message = f"the masked body of {masked.qualname} uses names that nothing defines: {names}"
            hint = "end the masked body with `raise NotImplementedError` and drop the return"
            yield Problem(message, hint, masked.path, min(masked.undefined.values()))


@target_check(
    "LMR308",
    "the masked body runs through silently",
    rationale="`pass` or `loss = None; return loss` runs without an error, and a weak test passes it: nothing was"
    " implemented, and nothing fails.",
)
def not_silent(task: TaskView, target: Implementation) -> Iterator[Problem]:
    for masked in _masked(task, target):
        if masked.silent and not masked.same:
            message = f"the masked body of {masked.qualname} does nothing, silently"
            yield masked.problem(message, "end it with `raise NotImplementedError`")


@target_check(
    "LMR309",
    "part of the original body is left",
    rationale="What is left of the body is part of the solution; how much the agent had to find out differs from task"
    " to task. Statements that compute nothing (`losses = []`) and returns are not counted.",
    severity=WARNING,
)
def nothing_kept(task: TaskView, target: Implementation) -> Iterator[Problem]:
    for masked in _masked(task, target):
        if masked.kept and not masked.same:
            first = ast.unparse(masked.kept[0]).partition("\n")[0]
            message = (
                f"{len(masked.kept)} of {masked.total} statements of {masked.qualname} (returns not counted) are left,"
                f" the first is `{first[:80]}`"
            )
            yield Problem(message, "mask the whole body", masked.path, masked.kept[0].lineno)


@target_check(
    "LMR310",
    "the masked body does not raise NotImplementedError",
    rationale="It is the one failure that says what it is: the gates tell a missing implementation from a broken"
    " environment by it.",
    severity=NOTE,
)
def raises_not_implemented(task: TaskView, target: Implementation) -> Iterator[Problem]:
    for masked in _masked(task, target):
        reported = masked.same or masked.undefined or masked.kept or masked.silent
        if not reported and not raises_error(masked.node):
            message = f"the masked body of {masked.qualname} does not raise NotImplementedError"
            yield masked.problem(message, "end it with `raise NotImplementedError`")
