"""What differs outside of the targets: the two files of a task as definitions, without these."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path

from lmr_author import also_masked
from lmr_author.checks import bodies
from lmr_author.checks.lookup import function_names
from lmr_author.checks.pairing import Pair, pairs
from lmr_author.checks.view import TaskView
from lmr_author.model import Implementation
from lmr_author.source import Definition, FunctionNode, Module, first_line, form, walk


def groups(view: TaskView) -> Iterator[tuple[Pair, list[Definition], list[Definition]]]:
    """(pair, targets in the golden, targets in the goal) for each pair of files, once.

    All functions that any implementation masks in that goal file count as targets: several
    implementations share one masked file.
    """
    everything = pairs(view)
    seen: set[tuple[Path, Path]] = set()
    for one in everything:
        if one.goal_path is None or one.golden_path is None or (one.goal_path, one.golden_path) in seen:
            continue
        if one.goal is None or one.golden is None:
            continue
        seen.add((one.goal_path, one.golden_path))
        names = {
            (target.qualname, other.implementation.nth)
            for other in everything
            if other.goal_path == one.goal_path
            for target in other.targets
        }
        if not names:
            continue  # the target is not known (LMR301, LMR302): everything would count as outside
        along = _masked_along(view, one)
        yield one, _named(one.golden, names, along), _named(one.goal, names, along)


def _named(
    module: Module, names: set[tuple[str, int | None]], along: set[tuple[str, int]]
) -> list[Definition]:
    """The functions of some names; a name without a number stands for all definitions of it."""
    return [
        item
        for item in module.definitions
        if item.kind == "function"
        and ((item.qualname, None) in names or (item.qualname, item.nth) in names | along)
    ]


def _masked_along(view: TaskView, one: Pair) -> set[tuple[str, int]]:
    """(qualified name, number) of the look-alikes of a goal file that are recorded as masked, and are."""
    try:
        data = json.loads(view.text(view.task.also_masked_path) or "null")
    except (ValueError, RecursionError):
        return set()
    recorded = {
        (item.qualname, item.nth)
        for item in also_masked.read(data)
        if view.repository is not None and view.repository / item.path == one.goal_path
    }
    assert one.goal is not None
    return {
        (item.qualname, item.nth)
        for item in one.goal.definitions
        if (item.qualname, item.nth) in recorded
        and not isinstance(item.node, ast.ClassDef)
        and bodies.raises_not_implemented(item.node)
        and len(bodies.statements(item.node)) <= 2  # a raise, and a yield that keeps a generator one
    }


def units_that_differ(
    view: TaskView, one: Pair, ours: list[Definition], theirs: list[Definition]
) -> list[tuple[str, int]]:
    assert one.golden is not None and one.goal is not None
    golden, goal = one.golden, one.goal
    key = ("differences", one.goal_path, one.golden_path)
    return view.memo(key, lambda: differences(golden, goal, ours, theirs))


def differences(
    golden: Module, goal: Module, ours: list[Definition], theirs: list[Definition]
) -> list[tuple[str, int]]:
    """(what differs, line in the goal file or 0) by structure, with the targets left out."""
    before = _units(golden, {id(item.node) for item in ours})
    after = _units(goal, {id(item.node) for item in theirs})
    found = []
    for name, unit in before.items():
        if name not in after:
            found.append((f"{name} was removed", 0))
        elif not unit.is_same(after[name]):
            found.append((f"{name} changed", unit.first_change(after[name])))
    found += [(f"{name} was added", unit.node.lineno) for name, unit in after.items() if name not in before]
    return found


@dataclass(frozen=True)
class _Unit:
    """A comparable part of a module: a function, a class's own head, a statement.

    Attributes:
        node: where it stands.
        lines: its source; None where a target, which does not count, is in it. The same source is the same code.
        targets: of the module, by their identity.
    """

    node: ast.stmt
    lines: tuple[str, ...] | None
    targets: frozenset[int]

    @cached_property
    def form(self) -> str:
        """Equal for equal code."""
        if isinstance(self.node, ast.ClassDef):
            return ";".join(
                form(item) for item in (*self.node.bases, *self.node.keywords, *self.node.decorator_list)
            )
        return _dump_without(self.node, self.targets)

    def is_same(self, other: _Unit) -> bool:
        """Whether it is the same code, wherever it stands."""
        return (self.lines is not None and self.lines == other.lines) or self.form == other.form

    def first_change(self, other: _Unit) -> int:
        """The line at which the other one begins to differ: in a function's body if its header is the same."""
        head = other.node.lineno
        if not isinstance(self.node, FunctionNode) or not isinstance(other.node, FunctionNode):
            return head
        if _header(self.node) != _header(other.node):
            return head
        both = zip_longest(self.pieces(), other.pieces(), fillvalue=("", None))
        last = head
        for (before, _), (after, node) in both:
            last = getattr(node, "lineno", last)
            if before != after:
                return last
        return head

    def pieces(self) -> list[tuple[str, ast.AST | None]]:
        """The statements of a function, those of targets in it left out, each with its comparable form."""
        inner = [item for item in walk(self.node) if id(item) in self.targets]
        left_out = {id(node) for item in inner for node in walk(item)}
        body = bodies.statements(self.node) if isinstance(self.node, FunctionNode) else []
        return [(text, node) for text, node in bodies.pieces(body) if id(node) not in left_out]


def _header(node: FunctionNode) -> str:
    """What a function is but for its body, in a form that compares equal."""
    returns = [node.returns] if node.returns else []
    return ";".join([type(node).__name__, *map(form, (node.args, *node.decorator_list, *returns))])


def _units(module: Module, targets: set[int]) -> dict[str, _Unit]:
    """Comparable parts of a module: each function, each class's own head and statements, the top level."""
    units: dict[str, _Unit] = {}
    _collect(module, module.tree.body, "", frozenset(targets), units)
    return units


def _collect(
    module: Module, body: list[ast.stmt], prefix: str, targets: frozenset[int], units: dict[str, _Unit]
) -> None:
    for node in body:
        if id(node) in targets:
            continue
        if isinstance(node, ast.ClassDef):
            _add(units, f"the head of class {prefix}{node.name}", _Unit(node, None, targets))
            _collect(module, node.body, f"{prefix}{node.name}.", targets, units)
            continue
        has_target = any(id(item) in targets for item in walk(node))
        unit = _Unit(node, None if has_target else _lines(module, node), targets)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _add(units, f"{prefix}{node.name}", unit)
        else:
            _add(units, f"`{_first_line(node)}`" + (f" in {prefix[:-1]}" if prefix else ""), unit)


def _lines(module: Module, node: ast.stmt) -> tuple[str, ...]:
    """The lines on which a statement stands, with its decorators."""
    numbers = range(first_line(node), (node.end_lineno or node.lineno) + 1)
    return tuple(module.line_text(number) for number in numbers)


def _add(units: dict[str, _Unit], name: str, unit: _Unit) -> None:
    number = 1
    key = name
    while key in units:
        number += 1
        key = f"{name} #{number}"
    units[key] = unit


def _dump_without(node: ast.stmt, targets: Set[int]) -> str:
    inner = [item for item in walk(node) if id(item) in targets]
    if not inner:
        return form(node)
    saved = [
        (item, item.body, item.args, item.decorator_list)
        for item in inner
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    try:
        for item, *_ in saved:
            item.body, item.args, item.decorator_list = [], empty, []
        return form(node)
    finally:
        for item, body, args, decorators in saved:
            item.body, item.args, item.decorator_list = body, args, decorators


def _first_line(node: ast.stmt) -> str:
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ):
        return "docstring"
    text = ast.unparse(node).partition("\n")[0]
    return text if len(text) <= 60 else text[:57] + "…"


def owner(view: TaskView, one: Pair) -> Implementation | None:
    """The implementation that a pair of files belongs to; None when several share it."""
    sharing = [other for other in pairs(view) if other.goal_path == one.goal_path]
    return one.implementation if len(sharing) == 1 else None


def has_nameless_target(view: TaskView, one: Pair) -> bool:
    """Whether a target of this file is not named (LMR007): it may be what differs."""
    return any(
        not function_names(other.implementation) for other in pairs(view) if other.goal_path == one.goal_path
    )
