"""The functions that an implementation masks: what info.json names, and what differs between golden and goal."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from lmr_author.checks import bodies
from lmr_author.checks.lookup import candidates, function_names, golden_path, meant_goal_path
from lmr_author.checks.view import TaskView
from lmr_author.code import Definition, FunctionNode, Module, is_same
from lmr_author.task import Implementation


@dataclass(frozen=True)
class TargetPair:
    """A masked function: its definition in the golden and in the goal file; either may be missing."""

    qualname: str
    golden: Definition | None
    goal: Definition | None

    @property
    def differs(self) -> bool:
        """Return whether the code differs, docstrings left out."""
        if self.golden is None or self.goal is None:
            return True
        one, other = self.golden.node, self.goal.node
        same_head = all(
            is_same(getattr(one, name, None), getattr(other, name, None))
            for name in ("args", "decorator_list")
        )
        return not (same_head and bodies.are_same(bodies.statements(one), bodies.statements(other)))


@dataclass(frozen=True)
class Pair:
    """An implementation with its two files parsed, as far as they can be.

    Attributes:
        goal, golden: None when absent or not Python 3.
        targets: the masked functions. A class stands for those of its methods that differ, or for all.
    """

    implementation: Implementation
    goal_path: Path | None
    golden_path: Path | None
    goal: Module | None
    golden: Module | None
    targets: tuple[TargetPair, ...]

    @property
    def complete(self) -> tuple[tuple[FunctionNode, FunctionNode, TargetPair], ...]:
        """Return (golden node, goal node, pair) of each target that both files define as a function."""
        return tuple(
            (one.golden.node, one.goal.node, one)
            for one in self.targets
            if one.golden and one.goal
            if not isinstance(one.golden.node, ast.ClassDef) and not isinstance(one.goal.node, ast.ClassDef)
        )


def pair(task: TaskView, implementation: Implementation) -> Pair:
    """Return an implementation's files and targets, read once."""
    return task.memo(("pair", id(implementation)), lambda: _pair(task, implementation))


def pairs(task: TaskView) -> list[Pair]:
    """Return all implementations' pairs."""
    return [pair(task, implementation) for implementation in task.implementations]


def _pair(task: TaskView, implementation: Implementation) -> Pair:
    goal_file, golden_file = meant_goal_path(task, implementation), golden_path(task, implementation)
    goal, golden = task.module(goal_file), task.module(golden_file)
    targets: dict[str, TargetPair] = {}
    for name in function_names(implementation):
        qualnames = _qualnames(goal, golden, name, implementation.class_name)
        found = [one for qualname in qualnames for one in _expand(goal, golden, qualname, implementation.nth)]
        if len(found) > 1:
            # Of several functions those that differ are meant, and no other implementation names.
            taken = _claimed(task, implementation, goal, golden)
            found = [one for one in found if one.differs] or found
            found = [one for one in found if one.qualname not in taken] or found
        targets |= {one.qualname: one for one in found}
    return Pair(implementation, goal_file, golden_file, goal, golden, tuple(targets.values()))


def _claimed(
    task: TaskView, implementation: Implementation, goal: Module | None, golden: Module | None
) -> set[str]:
    """Return what other implementations name unambiguously in the same goal file."""
    found = [
        _qualnames(goal, golden, name, other.class_name)
        for other in task.implementations
        if other is not implementation and other.goal_file == implementation.goal_file
        for name in function_names(other)
    ]
    return {names[0] for names in found if len(names) == 1}


def _qualnames(goal: Module | None, golden: Module | None, name: str, class_name: str) -> list[str]:
    for module in (golden, goal):
        found = candidates(module, name, class_name.strip()) if module else []
        if found:
            return list(dict.fromkeys(item.qualname for item in found))
    return []


def _expand(goal: Module | None, golden: Module | None, qualname: str, nth: int | None) -> list[TargetPair]:
    """Return the function of a name; for a class its methods."""
    one = _definitions(goal, golden, qualname, nth)
    if all(item is None or item.kind == "function" for item in (one.golden, one.goal)):
        return [one]
    methods = dict.fromkeys(
        item.qualname
        for module in (golden, goal)
        for item in (module.definitions if module else ())
        if item.kind == "function" and item.qualname.rpartition(".")[0] == qualname
    )
    return [_definitions(goal, golden, name) for name in methods]


def _definitions(
    goal: Module | None, golden: Module | None, qualname: str, nth: int | None = None
) -> TargetPair:
    """Return what a name means in both files: of several definitions the ``nth``, else the last that differs."""
    ours, theirs = (
        [
            item
            for item in (module.definitions if module else ())
            if item.qualname == qualname and not item.is_overload
        ]
        for module in (golden, goal)
    )
    options = [TargetPair(qualname, one, other) for one, other in zip(ours, theirs, strict=False)]
    options = [one for one in options if one.golden and one.golden.nth == nth] or options
    if options:
        return ([one for one in options if one.differs] or options)[-1]
    return TargetPair(qualname, ours[-1] if ours else None, theirs[-1] if theirs else None)
