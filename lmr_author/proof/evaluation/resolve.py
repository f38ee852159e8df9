"""Resolve a loosely written ``info.json``, so that hand-made tasks run as they were intended.

``validate`` reports each of these faults. To run the task, the obvious reading is taken (the only golden of that
name, the only class with that method), and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author.core.code import Module
from lmr_author.core.task import Implementation, Task, TaskInfo
from lmr_author.proof.checks import lookup
from lmr_author.proof.checks.metadata import canonical_category
from lmr_author.proof.checks.view import TaskView


@dataclass(frozen=True)
class Resolved:
    """An implementation as it was intended.

    Attributes:
        implementation: with paths that exist and a target that its files define.
        qualnames: the functions that are masked; several when a class stands for its methods.
        notes: the corrections, one sentence each.
    """

    implementation: Implementation
    qualnames: tuple[str, ...]
    notes: tuple[str, ...]


def resolve(task: Task) -> tuple[TaskInfo, tuple[Resolved, ...]]:
    """Return the task's ``info.json`` and its implementations as they were intended; unclear parts stay.

    Raises LmrError when there is no ``info.json``.
    """
    info = task.load()
    view = TaskView(task)
    found = tuple(
        _resolve(view, mine, item)
        for mine, item in zip(view.implementations, info.implementations, strict=True)
    )
    return replace(info, implementations=tuple(item.implementation for item in found)), found


def _resolve(view: TaskView, mine: Implementation, given: Implementation) -> Resolved:
    pair = lookup.pair(view, mine)
    goal_path, test_path = pair.goal_path, lookup.unit_test_path(view, mine)
    names = tuple(item.qualname for item in pair.targets if item.golden and item.goal)
    if not names and pair.golden is not None:
        goal_path, names = _elsewhere(view, mine, pair)
    taken = replace(given, category=canonical_category(given.category) or given.category)
    if goal_path is not None and view.repository is not None:
        taken = replace(taken, goal_file=goal_path.relative_to(view.repository).as_posix())
    if pair.golden_path is not None:
        taken = replace(taken, golden_file=pair.golden_path.relative_to(view.task.root).as_posix())
    if inside := view.in_repository_path(test_path):
        taken = replace(taken, unit_test_file=inside)
    if len(names) == 1:
        owner, _, name = names[0].rpartition(".")
        taken = replace(taken, goal_function=name, class_name=owner)
    return Resolved(taken, names or (given.qualname,), tuple(_notes(given, taken, names)))


def _elsewhere(
    view: TaskView, mine: Implementation, pair: lookup.Pair
) -> tuple[Path | None, tuple[str, ...]]:
    """Find the goal file by the golden's name, where the file that is named does not define the target."""
    assert pair.golden is not None and pair.golden_path is not None
    wanted = [
        item.qualname
        for name in lookup.function_names(mine)
        for item in lookup.candidates(pair.golden, name, mine.class_name.strip())
    ]
    stem = pair.golden_path.stem.removesuffix("_golden").removeprefix("golden_")
    found = []
    for path in map(view.path, view.repository_files.values()):
        if path.stem == stem and path.suffix == ".py":
            names = _defined(view.module(path), wanted)
            if names:
                found.append((path, names))
    return found[0] if len(found) == 1 else (pair.goal_path, ())


def _defined(module: Module | None, wanted: list[str]) -> tuple[str, ...]:
    known = {item.qualname for item in module.definitions if item.kind == "function"} if module else set()
    return tuple(dict.fromkeys(name for name in wanted if name in known))


def _notes(given: Implementation, taken: Implementation, names: tuple[str, ...]) -> Iterator[str]:
    for field in ("goal_file", "golden_file", "unit_test_file"):
        before, after = getattr(given, field), getattr(taken, field)
        if before != after:
            yield f"{field} {before or 'is missing'}: took {after}"
    if given.qualname != taken.qualname:
        yield f"the target {given.qualname}: took {taken.qualname}"
    if len(names) > 1:
        yield f"the target {given.qualname}: took {', '.join(names)}"
