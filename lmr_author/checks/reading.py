"""Read a unit test written by anybody: its helper modules, the files it reads and writes, its logs."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from lmr_author.checks.file_uses import FileUse, file_uses
from lmr_author.checks.lookup import unit_test_path
from lmr_author.checks.opened import Openers
from lmr_author.checks.path_texts import HOME, PathTexts
from lmr_author.checks.syntax import dotted, imported_modules, single_assignments, texts
from lmr_author.checks.view import TaskView
from lmr_author.model import Implementation
from lmr_author.source import Module, each


class Reading:
    """A unit test and the modules beside it that it imports.

    Attributes:
        path: where it is.
        relative: its path in the repository; its name when it lies outside, and its path in the task where nothing
            is in the repository.
    """

    def __init__(self, path: Path, module: Module, relative: str, helpers: tuple[Module, ...]) -> None:
        self.path = path
        self.module = module
        self.relative = relative
        self.helpers = helpers

    @property
    def modules(self) -> tuple[Module, ...]:
        """The test and its helpers."""
        return (self.module, *self.helpers)

    @cached_property
    def constants(self) -> frozenset[str]:
        """Every text constant of the test and its helpers, pieces of f-strings included, docstrings not."""
        return frozenset(text for module in self.modules for text in texts(module.tree))

    @cached_property
    def calls(self) -> tuple[tuple[Module, ast.Call, str], ...]:
        """(module, call, dotted name of what is called) of every call."""
        return tuple(
            (module, node, dotted(node.func))
            for module in self.modules
            for node in each(module.tree, ast.Call)
        )

    @cached_property
    def environment(self) -> dict[str, ast.expr]:
        """Names that are assigned exactly once, with what they are set to."""
        return single_assignments(self.module.tree)

    @cached_property
    def uses(self) -> tuple[FileUse, ...]:
        """The files that the test itself reads and writes, where that can be told."""
        own = [(node, name) for module, node, name in self.calls if module is self.module]
        openers = Openers.of(self.module.tree, [item.tree for item in self.helpers])
        others = [(node, name) for node, name in own if not openers.defines(name)]
        paths = PathTexts(self.relative, self.environment)
        return (*file_uses(others, paths.of), *openers.uses(own, paths))

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """Folders of the repository that it may run in: its own, then those that it changes into."""
        found = [
            self.path_of(node.args[0]) for _, node, name in self.calls if name == "os.chdir" and node.args
        ]
        inside = [path.removeprefix(f"{HOME}/") for path in found if path and path.startswith(f"{HOME}/")]
        return ("", *dict.fromkeys(path for path in inside if ".." not in path and "*" not in path))

    @cached_property
    def makes_folders(self) -> bool:
        """Whether folders are made while it runs."""
        return any(
            name.rpartition(".")[2] in ("makedirs", "mkdir", "TemporaryDirectory", "mkdtemp")
            for _, _, name in self.calls
        )

    @cached_property
    def log_files(self) -> frozenset[str]:
        """The log files it writes, as paths from ``@`` or ``?``."""
        return frozenset(use.path for use in self.uses if use.log)

    @cached_property
    def log_folders(self) -> tuple[str, ...]:
        """The folders of logs where they are certain: in the repository, or absolute in an image."""
        paths = {use.path for use in self.uses if use.log or (use.writes and "/logs/" in use.path)}
        found = {path.rpartition("/")[0].removeprefix(f"{HOME}/") for path in paths if path.startswith(HOME)}
        found |= {path.rpartition("/")[0] for path in paths if path.startswith(("/workspace/", "/app/"))}
        return tuple(sorted(folder for folder in found - {HOME, "unit_test"} if "*" not in folder))

    def path_of(self, node: ast.expr | None) -> str | None:
        """What a path expression says, in the form of ``FileUse.path``; None when nothing of it is known."""
        return PathTexts(self.relative, self.environment).of(node)


def reading_of(view: TaskView, implementation: Implementation) -> Reading | None:
    """An implementation's unit test read; None when it is absent or not Python 3."""
    return reading(view, unit_test_path(view, implementation))


def reading(view: TaskView, path: Path | None) -> Reading | None:
    """A unit test read; None when it is absent or not Python 3."""
    if path is None:
        return None
    return view.memo(("reading", path), lambda: _read(view, path))


def _read(view: TaskView, path: Path) -> Reading | None:
    module = view.module(path)
    root = view.task.root if view.is_empty else view.repository
    if module is None or root is None:
        return None
    try:
        relative = path.relative_to(root).as_posix()
    except ValueError:
        relative = path.name
    return Reading(path, module, relative, tuple(_helpers(view, path, module)))


def _helpers(view: TaskView, path: Path, module: Module) -> Iterator[Module]:
    """Modules below the test's own folder that it imports, directly or through each other."""
    own, seen = f"{path.parent}/", {os.fspath(path)}
    waiting = [(module, path)]
    while waiting and len(seen) < 40:
        current, place = waiting.pop()
        for name, level in imported_modules(current.tree):
            for base in dict.fromkeys((place.parent, path.parent, path.parent.parent)):
                start = base if level <= 1 else base.parents[min(level - 2, len(base.parents) - 1)]
                stem = "/".join([os.fspath(start), *[part for part in name.split(".") if part]])
                for option in (f"{stem}.py", f"{stem}/__init__.py"):
                    if option in seen or not option.startswith(own) or not view.is_file(option):
                        continue
                    seen.add(option)
                    found = view.module(Path(option))
                    if found is not None:
                        yield found
                        waiting.append((found, Path(option)))
