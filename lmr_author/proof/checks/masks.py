"""LMR303, LMR305 to LMR310 and LMR313: the body that masking left, and masks that no record names."""

from __future__ import annotations

import ast
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from pyflakes.checker import Checker
from pyflakes.messages import ImportStarUsage, UndefinedName

from lmr_author.core.code import Definition, FunctionNode, Module, each, form, is_same, matching, root_name
from lmr_author.core.task import AUTHORING, Implementation, Severity, golden_name
from lmr_author.core.task.info import AlsoMasked, AlsoMaskedList
from lmr_author.core.texts import shortened
from lmr_author.proof.checks.base import NOTE, WARNING, Problem, check, target_check
from lmr_author.proof.lookup import Pair, body_form, golden_files, pair, pairs, parts, statements
from lmr_author.proof.view import TaskView, once

_QUIET = re.compile(
    r"(?:\w+\.)*(?:debug|info|warning|warn|error|tensor|array|full|(?:new_)?(?:zeros|ones|empty|randn?)(?:_like)?)"
    r"|print|list|dict|set|tuple|object|float|int|str|super|super\(\)\.__init__|\w*Error"
)
"""Calls that log, or whose values say nothing about the arguments."""
_COMPUTING = (ast.BinOp, ast.Compare, ast.Subscript, ast.Assert, ast.Delete, ast.AugAssign, ast.comprehension)


def _head(node: ast.stmt) -> list[ast.AST]:
    """Return a simple statement, or what stands in the first line of a compound one."""
    if not hasattr(node, "body"):
        return [node]
    return [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt | ast.excepthandler)]


def head_form(node: ast.stmt) -> str:
    """Return a statement, of a compound one its head, in a form that is equal for equal code."""
    return f"{type(node).__name__} {getattr(node, 'name', '')} {form(_head(node))}"


def _computes(node: ast.stmt) -> bool:
    for top in _head(node):
        calls = each(top, ast.Call)
        if each(top, *_COMPUTING) or not all(_QUIET.fullmatch(ast.unparse(call.func)) for call in calls):
            return True
    return False


def raises_error(node: FunctionNode) -> bool:
    for statement in each(node, ast.Raise):
        if statement.exc and ast.unparse(statement.exc).partition("(")[0].endswith("NotImplementedError"):
            return True
    return False


def is_emptied(node: ast.AST) -> bool:
    """Return True for a function with nothing but its docstring and a raise, and a yield that keeps a generator one."""
    return isinstance(node, FunctionNode) and raises_error(node) and len(statements(node)) <= 2


def _undefined(module: Module, function: FunctionNode) -> dict[str, int]:
    """Return the names that a function reads and nothing defines, each with its first line.

    A called name may come from a star import.
    """
    called = {root_name(call.func) for call in each(function, ast.Call) if isinstance(call.func, ast.Name)}
    lines = range(function.lineno, (function.end_lineno or function.lineno) + 1)
    undefined: dict[str, int] = {}
    for message in Checker(module.tree, filename="").messages:
        match message:
            case UndefinedName(message_args=(name, *_), lineno=line) if line in lines:
                undefined.setdefault(name, line)
            case ImportStarUsage(message_args=(name, *_), lineno=line) if (
                line in lines and name not in called
            ):
                undefined.setdefault(name, line)
    return undefined


@dataclass(frozen=True)
class _Masked:
    """A masked function, as far as it is known.

    Attributes:
        same: the body is the golden's.
        remaining: computing statements of the golden that are left, returns not counted; ``total`` counts all.
        undefined: names that nothing defines, with the line of the first.
        silent: the body computes nothing and raises nothing.
    """

    qualname: str
    node: FunctionNode
    path: Path | str
    same: bool
    remaining: list[ast.stmt]
    total: int
    undefined: dict[str, int]
    silent: bool

    def problem(self, message: str, hint: str, severity: Severity | None = None) -> Problem:
        pointer = f"L{self.node.lineno}-L{self.node.end_lineno}"
        return Problem(message, hint, self.path, pointer=pointer, severity=severity)


@once
def _masked(task: TaskView, target: Implementation) -> list[_Masked]:
    """Return the functions of an implementation that both files define."""
    files = pair(task, target)
    return [_body(files, golden, goal, function.qualname) for golden, goal, function in files.complete]


def _changed(task: TaskView, target: Implementation) -> list[_Masked]:
    """Return those whose body is not the golden's, which LMR303 reports."""
    return [masked for masked in _masked(task, target) if not masked.same]


def _body(files: Pair, golden: FunctionNode, goal: FunctionNode, qualname: str) -> _Masked:
    assert files.goal is not None and files.golden is not None
    undefined = _undefined(files.goal, goal)
    if undefined:  # names that the golden takes from a star import, or misses itself, are not the mask's
        for name in _undefined(files.golden, golden):
            undefined.pop(name, None)
    available: Counter[str] = Counter()
    for node in parts(statements(golden)):
        if _computes(node) and not isinstance(node, ast.Return):
            available[head_form(node)] += 1
    total = available.total()
    remaining, is_silent = [], not undefined
    for node in parts(statements(goal)):
        head = head_form(node)
        available[head] -= 1
        if available[head] >= 0:
            remaining.append(node)
        if not hasattr(node, "body") and (isinstance(node, ast.Raise) or _computes(node)):
            is_silent = False
    unmasked = body_form(golden) == body_form(goal)
    return _Masked(qualname, goal, files.goal_path or "", unmasked, remaining, total, undefined, is_silent)


@target_check(
    "LMR303",
    "the target is not masked",
    rationale="An unmasked target hands the solution over with the task; every agent and every null agent solves it.",
)
def really_masked(task: TaskView, target: Implementation) -> Iterator[Problem]:
    functions = _masked(task, target)
    for masked in functions:
        if masked.same:
            hint = f"mask it: `lmr-author mask {target.goal_file}::{masked.qualname}`"
            yield masked.problem(f"{masked.qualname} is not masked: its body is the golden's", hint)
    files = pair(task, target)
    if not functions and files.goal is None:  # not Python 3
        data, golden = task.read_bytes(files.goal_path), task.read_bytes(files.golden_path)
        if data and golden and data.strip() == golden.strip():
            message = "not masked: the goal file is the golden"
            yield Problem(message, "mask the target", files.goal_path or "")


@target_check(
    "LMR305",
    "the target's docstring was lost or changed",
    rationale="The docstring is the interface that the agent has to meet: shapes, units and order of what is returned."
    " Where a part of it is left out that may be on purpose, as some docstrings tell the steps: that is a"
    " note. Text that was added is no finding.",
    severity=WARNING,
)
def docstring_kept(task: TaskView, target: Implementation) -> Iterator[Problem]:
    files = pair(task, target)
    for golden, goal, function in files.complete:
        message, severity = _docstring_change(golden, goal, function.qualname)
        if message:
            hint = "put the golden's docstring back below the header"
            yield Problem(message, hint, files.goal_path or "", goal.lineno, severity=severity)


def _docstring_change(golden: FunctionNode, goal: FunctionNode, name: str) -> tuple[str, Severity]:
    """Return (what was lost or changed, how bad); "" when nothing was."""
    words, left = ((ast.get_docstring(node) or "").split() for node in (golden, goal))
    if words and not left:
        return f"the docstring of {name} was lost", WARNING
    if len(left) < len(words) / 2:
        return f"most of the docstring of {name} was lost", NOTE
    changes = SequenceMatcher(None, words, left, autojunk=False).get_opcodes()
    for kind, first, last, start, end in changes:
        if kind == "replace":
            was, now = (shortened(" ".join(part), 60) for part in (words[first:last], left[start:end]))
            return f"the docstring of {name} was changed: `{was}` became `{now}`", WARNING
    is_shorter = any(kind == "delete" for kind, *_ in changes)
    return (f"a part of the docstring of {name} was left out" if is_shorter else ""), NOTE


@target_check(
    "LMR306",
    "the target's signature or decorators changed",
    rationale="The rest of the repository and the unit test call the function as it was; another signature makes a"
    " right solution fail.",
)
def signature_kept(task: TaskView, target: Implementation) -> Iterator[Problem]:
    files = pair(task, target)
    for golden, goal, function in files.complete:
        changes = [] if type(golden) is type(goal) else ["async was added or removed"]
        if not is_same(golden.args, goal.args):
            changes.append(f"({ast.unparse(golden.args)}) became ({ast.unparse(goal.args)})")
        if not is_same(golden.returns, goal.returns):
            changes.append("the return annotation changed")
        if not is_same(golden.decorator_list, goal.decorator_list):
            changes.append("the decorators changed")
        if changes:
            message = f"the signature of {function.qualname} differs from the golden's: {'; '.join(changes)}"
            yield Problem(message, "restore the golden's header", files.goal_path or "", goal.lineno)


@target_check(
    "LMR307",
    "the masked body uses undefined names",
    rationale="A bare `return losses, rewards` gives the names of the solution's variables away, and fails with a"
    " NameError that looks like a broken repository rather than like something to implement.",
    severity=WARNING,
)
def no_undefined_names(task: TaskView, target: Implementation) -> Iterator[Problem]:
    for masked in _changed(task, target):
        if masked.undefined:
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
    for masked in _changed(task, target):
        if masked.silent:
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
    for masked in _changed(task, target):
        if masked.remaining:
            first = ast.unparse(masked.remaining[0]).partition("\n")[0]
            count = f"{len(masked.remaining)} of {masked.total} statements of {masked.qualname}"
            message = f"{count} (returns not counted) are left, the first is `{first[:80]}`"
            yield Problem(message, "mask the whole body", masked.path, masked.remaining[0].lineno)


@target_check(
    "LMR310",
    "the masked body does not raise NotImplementedError",
    rationale="It is the one failure that says what it is: the gates tell a missing implementation from a broken"
    " environment by it.",
    severity=NOTE,
)
def raises_not_implemented(task: TaskView, target: Implementation) -> Iterator[Problem]:
    for masked in _changed(task, target):
        reported = masked.undefined or masked.remaining or masked.silent
        if not reported and not raises_error(masked.node):
            message = f"the masked body of {masked.qualname} does not raise NotImplementedError"
            yield masked.problem(message, "end it with `raise NotImplementedError`")


# masks that no record names

_ORIGINALS = f"{AUTHORING}/originals"


@dataclass(frozen=True)
class Stray:
    """The kept original of a file, and functions that are masked in that file and that no record names.

    Attributes:
        path: the file, relative to the repository; "" when there is none that it can be the original of.
        original: relative to the task.
        functions: as they are in the file.
        is_whole: the file is as the original.
    """

    path: str
    original: str
    functions: tuple[Definition, ...]
    is_whole: bool

    def node_id(self, function: Definition) -> str:
        return f"{self.path}::{function.qualname}" + (f"#{function.nth}" if function.nth > 1 else "")


@once
def strays(task: TaskView) -> tuple[Stray, ...]:
    """Return the strays of a task; none where an implementation names no function or golden that is there."""
    if task.raw is None or task.repository is None:
        return ()
    if any(not files.targets or files.golden_path is None for files in pairs(task)):
        return ()
    goals = {files.golden_path: task.in_repository_path(files.goal_path) for files in pairs(task)}
    along = _look_alikes(task)
    needed = {*goals, *(task.task.root / function.original for function in along)}
    strays: list[Stray] = []
    covered: set[str] = set()
    kept = task.files_below(_ORIGINALS)
    for original in [*golden_files(task), *map(task.path, kept)]:
        path = goals.get(original) or _file_of(task, original)
        stray = _stray(task, path, original)
        # A file with a target and a look-alike has two originals; one is enough to restore it.
        if path not in covered and (stray.functions or original not in needed):
            strays.append(stray)
            covered |= {path} if stray.functions else set()
    return tuple(strays)


def _stray(task: TaskView, path: str, original: Path) -> Stray:
    recorded = {(function.qualname, function.nth) for function in _look_alikes(task) if function.path == path}
    for files in pairs(task):
        if task.in_repository_path(files.goal_path) == path:
            goals = (target.goal for target in files.targets)
            recorded |= {(goal.qualname, goal.nth) for goal in goals if goal is not None}
    masked = _newly_masked(task, path, task.module(original))
    functions = tuple(function for function in masked if (function.qualname, function.nth) not in recorded)
    data = task.read_bytes(task.inside(task.repository, path))
    is_whole = data is not None and data == task.read_bytes(original)
    return Stray(path if data is not None else "", task.relative_raw(original), functions, is_whole)


def _look_alikes(task: TaskView) -> list[AlsoMasked]:
    """Return the look-alikes of what is masked: one whose target was never entered is a stray itself."""
    targets = {str(implementation.target) for implementation in task.implementations}
    return [function for function in also_masked(task) if function.target in targets]


@once
def also_masked(task: TaskView) -> tuple[AlsoMasked, ...]:
    record = task.inside(task.task.root, f"{AUTHORING}/also-masked.json")
    listed = AlsoMaskedList.read_if_valid(record) if record else None
    return listed.also if listed else ()


def _file_of(task: TaskView, original: Path) -> str:
    """Return the file that an original without an implementation is of, the one with masks first; "" for none."""
    if task.relative_raw(original).startswith(f"{_ORIGINALS}/"):
        return task.relative_raw(original).removeprefix(f"{_ORIGINALS}/")
    name, module = task.relative_raw(original), task.module(original)
    paths = []
    for path in task.repository_files:
        first = golden_name(path, {})
        if path.endswith(".py") and name in (first, golden_name(path, {first: ""})):
            paths.append(path)
    return min(paths, key=lambda path: not _newly_masked(task, path, module), default="")


def _newly_masked(task: TaskView, path: str, original: Module | None) -> list[Definition]:
    goal = task.module(task.inside(task.repository, path))
    if goal is None or original is None:
        return []
    masked = []
    for function in goal.definitions:
        if is_emptied(function.node):
            both = matching(original, goal, function.qualname, function.nth)
            if both is not None and not is_emptied(both[0].node):
                masked.append(both[1])
    return masked


@check(
    "LMR313",
    "a mask or golden that no implementation names",
    rationale="A command that was killed, or two at once, can leave a function masked without an entry in info.json: no"
    " instruction asks for it, no test needs it, and the agent's repository is broken there.",
)
def no_strays(task: TaskView) -> Iterator[Problem]:
    for stray in strays(task):
        for function in stray.functions:
            node = shlex.quote(stray.node_id(function))
            pointer = f"L{function.line}-L{function.end_line}"
            yield Problem(
                f"{function.qualname} is masked, and no implementation names it",
                f"`lmr-author unmask {node}` restores it from {stray.original}",
                task.inside(task.repository, stray.path) or stray.path,
                pointer=pointer,
            )
        if not stray.functions:
            command = f"`lmr-author unmask {shlex.quote(stray.original)}`"
            hint = f"name it as golden_file, or {command} moves it to {AUTHORING}/removed/"
            if stray.is_whole:
                hint = f"{command} removes it: its file is as it was"
            original = task.task.root / stray.original
            yield Problem("no implementation names this original", hint, original, severity=WARNING)
