"""LMR313: masks and kept originals that no record names. A killed command, or two at once, leave them.

``unmask`` restores them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core.code import Definition, Module, matching
from lmr_author.core.task import AUTHORING, golden_name
from lmr_author.core.task.also_masked import AlsoMasked, AlsoMaskedList
from lmr_author.proof.checks.base import WARNING, Problem, check
from lmr_author.proof.checks.masks import is_emptied
from lmr_author.proof.lookup import golden_files, pairs
from lmr_author.proof.view import TaskView, once


@dataclass(frozen=True)
class Stray:
    """The kept original of a file, and functions that are masked in that file and that no record names.

    Attributes:
        path: the file, relative to the repository; "" when there is none that it can be the original of.
        original: relative to the task.
        functions: as they are in the file.
        is_named: an implementation or a masked look-alike needs the original, too.
        is_whole: the file is as the original.
    """

    path: str
    original: str
    functions: tuple[Definition, ...]
    is_named: bool
    is_whole: bool

    def node_id(self, function: Definition) -> str:
        """Return the name by which ``unmask`` knows one of the functions."""
        return f"{self.path}::{function.qualname}" + (f"#{function.nth}" if function.nth > 1 else "")


@once
def strays(task: TaskView) -> tuple[Stray, ...]:
    """Return the strays of a task; none where an implementation names no function or golden that is there."""
    if task.raw is None or task.repository is None:
        return ()
    if any(not files.targets or files.golden_path is None for files in pairs(task)):
        return ()
    named = {files.golden_path for files in pairs(task)}
    named |= {task.task.root / function.original for function in _along(task)}
    strays: list[Stray] = []
    covered: set[str] = set()
    for path, original in _kept(task):
        stray = _stray(task, path, original, original in named)
        # A file with a target and a look-alike has two originals; one is enough to restore it.
        if path not in covered and (stray.functions or not stray.is_named):
            strays.append(stray)
            covered |= {stray.path} if stray.functions else set()
    return tuple(strays)


def _along(task: TaskView) -> list[AlsoMasked]:
    """Return the look-alikes of what is masked: one whose target was never entered is a stray itself."""
    listed = AlsoMaskedList.read_if_valid(task.task.also_masked_path)
    targets = {str(implementation.target) for implementation in task.implementations}
    return [function for function in (listed.also if listed else ()) if function.target in targets]


def _kept(task: TaskView) -> Iterator[tuple[str, Path]]:
    """Yield every original that is kept, with the path of its file in the repository."""
    goals = {files.golden_path: task.in_repository_path(files.goal_path) for files in pairs(task)}
    for golden in golden_files(task):
        yield goals.get(golden) or _goal_of(task, golden), golden
    folder = task.task.originals.relative_to(task.task.root).as_posix()
    for entry in task.below(folder):
        if entry.kind == "file":
            yield entry.relative.removeprefix(f"{folder}/"), task.path(entry)


def _goal_of(task: TaskView, golden: Path) -> str:
    """Return the file that `mask` gives a golden of this name, the one with masks first; "" for none."""
    name, goals = task.relative_raw(golden), list[str]()
    for path in task.repository_files:
        first = golden_name(path, {})
        second = golden_name(path, {first: ""})
        if path.endswith(".py") and name in (first, second, golden_name(path, {first: "", second: ""})):
            goals.append(path)
    original = task.module(golden)
    return min(goals, key=lambda path: not _masked(task, path, original), default="")


def _masked(task: TaskView, path: str, original: Module | None) -> list[Definition]:
    """Return the functions of a file that are masked, and not in its original."""
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


def _stray(task: TaskView, path: str, original: Path, is_named: bool) -> Stray:
    named = {(function.qualname, function.nth) for function in _along(task) if function.path == path}
    for files in pairs(task):
        if task.in_repository_path(files.goal_path) == path:
            goals = (target.goal for target in files.targets)
            named |= {(goal.qualname, goal.nth) for goal in goals if goal is not None}
    masked = _masked(task, path, task.module(original))
    functions = tuple(function for function in masked if (function.qualname, function.nth) not in named)
    data, kept = task.read_bytes(task.inside(task.repository, path)), task.read_bytes(original)
    exists = data is not None
    return Stray(
        path if exists else "", task.relative_raw(original), functions, is_named, exists and data == kept
    )


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
