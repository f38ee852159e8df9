"""LMR303, LMR305 to LMR310 and LMR313: masked bodies, and originals that no record names."""

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

from lmr_author.core.code import FunctionNode, Module, each, form, is_same, root_name
from lmr_author.core.task import AUTHORING, Implementation, Severity
from lmr_author.core.task.info import AlsoMasked, AlsoMaskedList
from lmr_author.core.texts import shortened
from lmr_author.proof.checks.base import NOTE, WARNING, Problem, check, target_check
from lmr_author.proof.contents import TaskContents, once
from lmr_author.proof.targets import Pair, body_form, golden_files, pair, pairs, parts, statements

_QUIET = re.compile(
    r"(?:\w+\.)*(?:debug|info|warning|warn|error|tensor|array|full|(?:new_)?(?:zeros|ones|empty|randn?)(?:_like)?)"
    r"|print|list|dict|set|tuple|object|float|int|str|super|super\(\)\.__init__|\w*Error"
)
"""Calls that log, or whose values reveal nothing about the arguments."""
_COMPUTING = (ast.BinOp, ast.Compare, ast.Subscript, ast.Assert, ast.Delete, ast.AugAssign, ast.comprehension)


def _head(node: ast.stmt) -> list[ast.AST]:
    if not hasattr(node, "body"):
        return [node]
    return [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt | ast.excepthandler)]


def head_form(node: ast.stmt) -> str:
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
    """Return whether a function has only a docstring, a raise, and perhaps a yield that keeps it a generator."""
    return isinstance(node, FunctionNode) and raises_error(node) and len(statements(node)) <= 2


def _undefined(module: Module, function: FunctionNode) -> dict[str, int]:
    """Return the undefined names that a function reads, each with its first line.

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
class _MaskedBody:
    """The body of a masked function, compared with the golden's.

    Attributes:
        same: the body is the golden's.
        remaining: the golden's computing statements that are left, except returns; ``total`` counts all.
        undefined: undefined names with their first lines.
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
def _masked(task: TaskContents, target: Implementation) -> list[_MaskedBody]:
    files = pair(task, target)
    return [_body(files, golden, goal, function.qualname) for golden, goal, function in files.complete]


def _changed(task: TaskContents, target: Implementation) -> list[_MaskedBody]:
    return [masked for masked in _masked(task, target) if not masked.same]


def _body(files: Pair, golden: FunctionNode, goal: FunctionNode, qualname: str) -> _MaskedBody:
    assert files.goal is not None and files.golden is not None
    undefined = _undefined(files.goal, goal)
    if undefined:  # names undefined in the golden too (a star import, a bug) are not the mask's fault
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
    return _MaskedBody(
        qualname, goal, files.goal_path or "", unmasked, remaining, total, undefined, is_silent
    )


@target_check(
    "LMR303",
    "the target is not masked",
    rationale="An unmasked target ships the solution with the task; even a null agent solves it.",
)
def really_masked(task: TaskContents, target: Implementation) -> Iterator[Problem]:
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
    rationale="The docstring specifies the interface: shapes, units and order of the return values. Dropping a part"
    " can be intended, as some docstrings give the steps away: that is a note. Added text is not reported.",
    severity=WARNING,
)
def docstring_kept(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    files = pair(task, target)
    for golden, goal, function in files.complete:
        message, severity = _docstring_change(golden, goal, function.qualname)
        if message:
            hint = "restore the golden's docstring below the header"
            yield Problem(message, hint, files.goal_path or "", goal.lineno, severity=severity)


def _docstring_change(golden: FunctionNode, goal: FunctionNode, name: str) -> tuple[str, Severity]:
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
    rationale="The repository and the unit test call the function with its original signature; with another one, a"
    " correct solution fails.",
)
def signature_kept(task: TaskContents, target: Implementation) -> Iterator[Problem]:
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
    rationale="A bare `return losses, rewards` reveals the solution's variable names, and its NameError looks like a"
    " broken repository rather than a missing implementation.",
    severity=WARNING,
)
def no_undefined_names(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    for masked in _changed(task, target):
        if masked.undefined:
            names = ", ".join(list(masked.undefined)[:8])
            message = f"the masked body of {masked.qualname} uses undefined names: {names}"
            hint = "end the masked body with `raise NotImplementedError` and remove the return"
            yield Problem(message, hint, masked.path, min(masked.undefined.values()))


@target_check(
    "LMR308",
    "the masked body runs through silently",
    rationale="`pass` or `loss = None; return loss` runs without an error, and a weak test passes although nothing was"
    " implemented.",
)
def not_silent(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    for masked in _changed(task, target):
        if masked.silent:
            message = f"the masked body of {masked.qualname} does nothing and raises nothing"
            yield masked.problem(message, "end it with `raise NotImplementedError`")


@target_check(
    "LMR309",
    "part of the original body is left",
    rationale="The statements left are part of the solution, so tasks differ in how much the agent has to implement."
    " Statements that compute nothing (`losses = []`) and returns do not count.",
    severity=WARNING,
)
def nothing_kept(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    for masked in _changed(task, target):
        if masked.remaining:
            first = ast.unparse(masked.remaining[0]).partition("\n")[0]
            count = f"{len(masked.remaining)} of {masked.total} statements of {masked.qualname}"
            message = f"{count} (not counting returns) are left; the first is `{first[:80]}`"
            yield Problem(message, "mask the whole body", masked.path, masked.remaining[0].lineno)


@target_check(
    "LMR310",
    "the masked body does not raise NotImplementedError",
    rationale="This exception is unambiguous: the gates use it to distinguish a missing implementation from a broken"
    " environment.",
    severity=NOTE,
)
def raises_not_implemented(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    for masked in _changed(task, target):
        reported = masked.undefined or masked.remaining or masked.silent
        if not reported and not raises_error(masked.node):
            message = f"the masked body of {masked.qualname} does not raise NotImplementedError"
            yield masked.problem(message, "end it with `raise NotImplementedError`")


# originals that no record names


@once
def unlisted_originals(task: TaskContents) -> dict[str, bool]:
    """Return the stored originals that no record names → whether the repository's file equals it.

    Empty if an implementation's golden is missing: one of the originals may be it.
    """
    if task.raw is None or task.repository is None or any(files.golden_path is None for files in pairs(task)):
        return {}
    targets = {str(implementation.target) for implementation in task.implementations}
    needed = {files.golden_path for files in pairs(task)}
    # A look-alike without its target in the list: the command was killed.
    needed |= {task.task.root / along.original for along in also_masked(task) if along.target in targets}
    kept = map(task.path, task.files_below(f"{AUTHORING}/originals"))
    unlisted = [original for original in (*golden_files(task), *kept) if original not in needed]
    return {task.relative_raw(original): _is_in_repository(task, original) for original in unlisted}


def _is_in_repository(task: TaskContents, original: Path) -> bool:
    data = task.read_bytes(original)
    paths = (task.inside(task.repository, path) for path in task.repository_files if path.endswith(".py"))
    return any(task.read_bytes(path) == data for path in paths)


@once
def also_masked(task: TaskContents) -> tuple[AlsoMasked, ...]:
    record = task.inside(task.task.root, f"{AUTHORING}/also-masked.json")
    listed = AlsoMaskedList.read_if_valid(record) if record else None
    return listed.also if listed else ()


@check(
    "LMR313",
    "a golden that no implementation names",
    rationale="If an entry of info.json was deleted by hand, its function is still masked: the agent's repository is"
    " broken there, and no instruction or test covers it. A killed command can leave a golden whose file is unchanged:"
    " that is a warning.",
)
def no_unlisted_original(task: TaskContents) -> Iterator[Problem]:
    for original, is_whole in unlisted_originals(task).items():
        command = f"`lmr-author unmask {shlex.quote(original)}`"
        hint = (
            f"name it as golden_file, or restore the file from it; {command} moves it to {AUTHORING}/removed/"
        )
        if is_whole:
            hint = f"remove it with {command}; its file is unchanged"
        severity = WARNING if is_whole else None
        message = "no implementation names this original"
        yield Problem(message, hint, task.task.root / original, severity=severity)
