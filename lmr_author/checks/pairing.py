"""Which function of the golden belongs to which of the goal file, however info.json spells it."""

from __future__ import annotations

import ast
import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from lmr_author.checks.bodies import statements
from lmr_author.checks.lookup import candidates, function_names, golden_path, meant_goal_path
from lmr_author.checks.view import TaskView
from lmr_author.model import Implementation
from lmr_author.source import Definition, FunctionNode, Module, form, is_same


@dataclass(frozen=True)
class TargetPair:
    """A masked function: its definition in the golden and in the goal file, either may be missing."""

    qualname: str
    golden: Definition | None
    goal: Definition | None


@dataclass(frozen=True)
class Pair:
    """An implementation with its two files read, as far as they can be.

    Attributes:
        goal, golden: parsed files, None when absent or not Python 3.
        targets: the functions that are masked. For a class, those of its methods that differ, or all.
    """

    implementation: Implementation
    goal_path: Path | None
    golden_path: Path | None
    goal: Module | None
    golden: Module | None
    targets: tuple[TargetPair, ...]

    @property
    def complete(self) -> tuple[tuple[FunctionNode, FunctionNode, TargetPair], ...]:
        """(golden node, goal node, pair) of each target that both files define as a function."""
        return tuple(
            (one.golden.node, one.goal.node, one)
            for one in self.targets
            if one.golden
            and one.goal
            and not isinstance(one.golden.node, ast.ClassDef)
            and not isinstance(one.goal.node, ast.ClassDef)
        )


def pair(view: TaskView, implementation: Implementation) -> Pair:
    """The implementation's files and targets, read once."""
    return view.memo(("pair", id(implementation)), lambda: _pair(view, implementation))


def pairs(view: TaskView) -> list[Pair]:
    """All implementations' pairs."""
    return [pair(view, implementation) for implementation in view.implementations]


def _pair(view: TaskView, implementation: Implementation) -> Pair:
    goal_file, golden_file = meant_goal_path(view, implementation), golden_path(view, implementation)
    goal, golden = view.module(goal_file), view.module(golden_file)
    targets: dict[str, TargetPair] = {}
    classes: list[str] = []
    for name in function_names(implementation):
        qualnames = _qualnames(goal, golden, name, implementation.class_name)
        if not qualnames:
            qualnames = _misnamed(view, implementation, goal, golden, name)
        real = _expand(goal, golden, qualnames, classes, implementation.nth)
        if len(qualnames) > 1:
            real = _probable(view, implementation, real)
        elif set(qualnames) & set(classes):  # a class, whose other methods are somebody else's
            taken = _claimed(view, implementation)
            real = [one for one in real if one.qualname not in taken] or real
        targets.update({one.qualname: one for one in real})
    return Pair(implementation, goal_file, golden_file, goal, golden, tuple(targets.values()))


def _probable(view: TaskView, implementation: Implementation, found: list[TargetPair]) -> list[TargetPair]:
    """Of several functions of a name those that are meant, as far as that can be told.

    They differ from the golden, more than by what was added (a ``print``), no other implementation names them with
    their class, and the instruction names theirs.
    """
    taken = _claimed(view, implementation)
    for likely in (
        _differs,
        _lacks,
        lambda one: not taken & {one.qualname, one.qualname.rpartition(".")[0]},
        lambda one: _tells_of(implementation.instruction, one.qualname),
    ):
        found = [one for one in found if likely(one)] or found
    return found


def _lacks(one: TargetPair) -> bool:
    """Whether a statement of the golden is no longer there."""
    if one.golden is None or one.goal is None:
        return True
    before, after = ({form(item) for item in statements(there.node)} for there in (one.golden, one.goal))
    return not before <= after


def _tells_of(instruction: str, qualname: str) -> bool:
    """Whether an instruction names the class of a method."""
    owner = qualname.rpartition(".")[0].rpartition(".")[2]
    return bool(owner) and re.search(rf"(?<!\w){re.escape(owner)}(?!\w)", instruction) is not None


def _claimed(view: TaskView, implementation: Implementation) -> frozenset[str]:
    """What other implementations name without doubt in the same goal file."""
    path = meant_goal_path(view, implementation)
    goal, golden = view.module(path), view.module(golden_path(view, implementation))
    found = [
        _qualnames(goal, golden, name, other.class_name)
        for other in view.implementations
        if other is not implementation and meant_goal_path(view, other) == path
        for name in function_names(other)
    ]
    return frozenset(names[0] for names in found if len(names) == 1)


def _misnamed(
    view: TaskView, implementation: Implementation, goal: Module | None, golden: Module | None, name: str
) -> list[str]:
    """The function that is meant by a name that nothing has: much like it, masked, and nobody else's target."""
    if goal is None or golden is None:
        return []
    known = {item.qualname for item in goal.definitions if item.kind == "function"}
    names = {item.qualname for item in golden.definitions if item.kind == "function"} & known
    names -= _claimed(view, implementation)
    differing = [one for one in sorted(names) if _differs(_definitions(goal, golden, one))]
    close = difflib.get_close_matches(
        name.rpartition(".")[2], [one.rpartition(".")[2] for one in differing], 1
    )
    return [one for one in differing if close and one.rpartition(".")[2] == close[0]][:1]


def _qualnames(goal: Module | None, golden: Module | None, name: str, class_name: str) -> list[str]:
    for module in (golden, goal):
        if module is not None:
            found = candidates(module, name, class_name.strip())
            if found:
                return list(dict.fromkeys(item.qualname for item in found))
    return []


def _expand(
    goal: Module | None, golden: Module | None, names: list[str], classes: list[str], nth: int | None
) -> list[TargetPair]:
    """Pairs of functions; a class stands for those of its methods that differ, or for all of them."""
    result: list[TargetPair] = []
    for qualname in names:
        one = _definitions(goal, golden, qualname, nth)
        if not any(item is not None and item.kind == "class" for item in (one.golden, one.goal)):
            result.append(one)
            continue
        classes.append(qualname)
        modules = [module for module in (golden, goal) if module is not None]
        methods = dict.fromkeys(
            item.qualname
            for module in modules
            for item in module.definitions
            if item.kind == "function" and item.qualname.rpartition(".")[0] == qualname
        )
        inner = [_definitions(goal, golden, name) for name in methods]
        result += [item for item in inner if _differs(item)] or inner
    return result


def _definitions(
    goal: Module | None, golden: Module | None, qualname: str, nth: int | None = None
) -> TargetPair:
    """What a name means in both files: of several definitions the ``nth``, else the last that differs."""
    ours = _all(golden, qualname)
    theirs = _all(goal, qualname)
    options = [TargetPair(qualname, one, other) for one, other in zip(ours, theirs, strict=False)]
    options = [one for one in options if one.golden and one.golden.nth == nth] or options
    differing = [option for option in options if _differs(option)]
    if differing or options:
        return (differing or options)[-1]
    return TargetPair(qualname, ours[-1] if ours else None, theirs[-1] if theirs else None)


def _all(module: Module | None, qualname: str) -> list[Definition]:
    if module is None:
        return []
    return [item for item in module.definitions if item.qualname == qualname and not item.is_overload]


def _differs(one: TargetPair) -> bool:
    if one.golden is None or one.goal is None:
        return True
    return not is_same(_code(one.golden.node), _code(one.goal.node))


def _code(node: FunctionNode | ast.ClassDef) -> FunctionNode | ast.ClassDef:
    """A function without its docstring."""
    return type(node)(**{**dict(ast.iter_fields(node)), "body": statements(node)})
