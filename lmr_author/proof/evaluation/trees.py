"""The trees of one implementation, made once: golden and masked, with and without the tests."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from lmr_author.core import code, files, processes
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Implementation, Progress, Task, TaskInfo
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.recording import Recording
from lmr_author.proof import leaks
from lmr_author.proof.leaks.statements import of_function
from lmr_author.runtime.replay import staging
from lmr_author.runtime.sandbox.base import Sandbox

MUTANTS = 100
"""The most mutants tried of each implementation."""


@dataclass(eq=False)
class TargetTrees:
    """Everything the judges need of one implementation. Use as a context manager; it owns temporary trees.

    Attributes:
        mutants: the most mutants to try; 0 for none.
        qualnames: the masked functions; several when a class is masked.
    """

    task: Task
    info: TaskInfo
    implementation: Implementation
    sandbox: Sandbox
    seconds: float
    mutants: int = MUTANTS
    progress: Progress = lambda _: None
    qualnames: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        own = (self.implementation.qualname,)
        self.qualnames = self.qualnames or own
        self.nth = self.implementation.nth if self.qualnames == own else None
        self._lock = threading.RLock()
        self._ending = ExitStack()

    def __enter__(self) -> TargetTrees:
        self._folder = self._ending.enter_context(files.temporary_folder("lmr-author-trees-"))
        self._folder.chmod(0o755)
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.close()

    @cached_property
    def recording(self) -> Recording | None:
        return recorded.load(self.recording_folder)

    @property
    def recording_folder(self) -> Path:
        return self.task.recording(self.info, self.implementation.index)

    @property
    def inside(self) -> str:
        return staging.tree_path(self.info)

    @cached_property
    def golden_overlay(self) -> dict[str, bytes]:
        return staging.golden_overlay(self.task, self.info)

    @cached_property
    def masked_overlay(self) -> dict[str, bytes]:
        """All goal files, this implementation and copies of it masked, the others golden."""
        twins = duplicate_targets(self.task, self.info, self.implementation, self.qualnames)
        return staging.only_masked(self.task, self.info, self.implementation, self.qualnames, twins)

    @cached_property
    def golden_module(self) -> code.Module:
        name = self.implementation.goal_file
        return code.Module.parse(self.golden_overlay[name], name)

    @cached_property
    def masked_module(self) -> code.Module:
        name = self.implementation.goal_file
        return code.Module.parse(self.masked_overlay[name], name)

    @cached_property
    def pairs(self) -> tuple[tuple[code.Definition, code.Definition], ...]:
        """The masked functions that both files contain: (in the golden, in the masked goal file)."""
        pairs = [
            code.matching(self.golden_module, self.masked_module, name, self.nth) for name in self.qualnames
        ]
        return tuple(pair for pair in pairs if pair is not None)

    @property
    def definitions(self) -> tuple[code.Definition, code.Definition] | None:
        """The (first) target in the golden and in the masked goal file; None if either lacks it."""
        return self.pairs[0] if self.pairs else None

    def tree(self, name: str, overlay: dict[str, bytes]) -> Path:
        path = self._folder / re.sub(r"\W", "_", name)
        with self._lock:
            if not path.exists():
                staging.copy_tree(self.task.repository(self.info), path, overlay, with_tests=False)
        return path

    def folder(self, name: str) -> Path:
        path = self._folder / name
        path.mkdir()
        path.chmod(0o755)
        return path

    def fresh_tree(self, name: str, overlay: dict[str, bytes]) -> Path:
        path = self._folder / re.sub(r"\W", "_", name)
        self.remove_tree(name)
        staging.copy_tree(self.task.repository(self.info), path, overlay, with_tests=True)
        return path

    def remove_tree(self, name: str) -> None:
        """Remove a copy, even with folders nested too deeply for :func:`shutil.rmtree`."""
        path = self._folder / re.sub(r"\W", "_", name)
        if path.exists():
            processes.run(["chmod", "-R", "u+rwX", "--", str(path)], cwd=self._folder, seconds=60)
            files.remove(path)


class _Golden(NamedTuple):
    place: staging.FunctionPlace
    module: code.Module
    node: code.FunctionNode


def duplicate_targets(
    task: Task, info: TaskInfo, implementation: Implementation, qualnames: Sequence[str] = ()
) -> list[staging.FunctionPlace]:
    """Return the functions of other targets that contain the solution of this one.

    A candidate is judged with the other targets solved, as its own may call them. Copies of its own stay masked, or it
    could call one.

    Args:
        qualnames: the masked functions, if they are not the one that the implementation names.
    """
    others = [other for other in info.implementations if other.index != implementation.index]
    solutions: list[leaks.Solution] = []
    bodies: list[list[Any]] = []  # the search skips bodies too small to be recognized
    for own in _goldens(task, implementation, qualnames or (implementation.qualname,)) if others else ():
        solution = leaks.solution_of(implementation, own.place.qualname, own.module, own.node, None, None)
        if solution is not None:
            solutions.append(solution)
        if body := _exact(own.node):
            bodies.append(body)
    twins = []
    for other in others:
        for golden in _goldens(task, other, (other.qualname,)):
            copies = leaks.in_file(golden.place.path, golden.module.data, solutions)
            copied = {leak.where for leak in copies if leak.sure and leak.kind == "code"}
            if _exact(golden.node) in bodies or golden.place.qualname in copied:
                twins.append(golden.place)
    return twins


def _exact(node: code.FunctionNode) -> list[Any]:
    return [statement.exact for statement in of_function(node)]


def _goldens(task: Task, implementation: Implementation, qualnames: Sequence[str]) -> Iterator[_Golden]:
    try:
        data = staging.read_golden(task, implementation)
        module = code.Module.parse(data, implementation.golden_file)
    except LmrError:  # its own gates report it
        return
    owners = tuple(f"{name}." for name in qualnames)
    for definition in module.definitions:
        nth = implementation.nth if definition.qualname == implementation.qualname else None
        is_other = nth is not None and definition.nth != nth  # a getter is not its setter
        if not isinstance(definition.node, code.FunctionNode) or is_other:
            continue
        if f"{definition.qualname}.".startswith(owners):
            place = staging.FunctionPlace(implementation.goal_file, definition.qualname, nth)
            yield _Golden(place, module, definition.node)
