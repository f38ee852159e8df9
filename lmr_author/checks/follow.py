"""Follow the imports of a unit test to the goal file, by reading alone."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path

from lmr_author.checks.listing import Entry
from lmr_author.checks.lookup import golden_files
from lmr_author.checks.pairing import pair
from lmr_author.checks.path_texts import HOME
from lmr_author.checks.reading import Reading, reading_of
from lmr_author.checks.syntax import imported_modules
from lmr_author.checks.view import TaskView
from lmr_author.model import Implementation
from lmr_author.source import Module, each, walk

MAX_FILES = 250

_DYNAMIC = frozenset(
    [
        "import_module",
        "__import__",
        "spec_from_file_location",
        "exec",
        "execfile",
        "run_path",
        "run_module",
        "SourceFileLoader",
        "system",
        "Popen",
        "testmod",  # of doctest: the calls are texts
        "run_docstring_examples",
    ]
)
_LOADS = frozenset({"spec_from_file_location", "run_path", "SourceFileLoader", "import_module", "__import__"})
"""Calls that load a module by the path or name they are given."""


@dataclass(frozen=True)
class Imports:
    """How a test reaches the goal file.

    Attributes:
        golden: (line, module) of an import of the golden; (0, "") when there is none.
        reaches: the goal file is imported, directly or through other files.
        only_by_name: it was found only by looking for the module's name anywhere in the repository.
        dynamic: modules are loaded, or programs run, by means that cannot be followed.
        files: the repository's files that are imported, the goal file included.
        foreign: (line, module) that the target's own name is imported from and that the repository lacks.
    """

    golden: tuple[int, str]
    reaches: bool
    only_by_name: bool
    dynamic: bool
    files: tuple[Path, ...]
    foreign: tuple[int, str]


def imports(view: TaskView, implementation: Implementation) -> Imports | None:
    """Follow the imports of an implementation's test. None without a readable test or goal file."""
    return view.memo(("imports", id(implementation)), partial(_imports, view, implementation))


def _imports(view: TaskView, implementation: Implementation) -> Imports | None:
    test, goal = reading_of(view, implementation), pair(view, implementation).goal_path
    if test is None or goal is None or view.repository is None:
        return None
    bases = _bases(test, view.repository)
    reached, by_name, files = _follow(view, test, goal, bases)
    dynamic = any(
        name.rpartition(".")[2] in _DYNAMIC or name.startswith("subprocess") for _, _, name in test.calls
    )
    return Imports(
        _golden(view, test),
        reached,
        by_name,
        dynamic,
        files,
        _foreign(view, test, bases, implementation),
    )


def _bases(test: Reading, repository: Path) -> list[Path]:
    """Folders that Python searches: the test's own, the repository, and those the test adds."""
    found = [test.path.parent, repository]
    for _, node, name in test.calls:
        if (
            name in ("sys.path.insert", "sys.path.append", "path.insert", "path.append", "site.addsitedir")
            and node.args
        ):
            text = test.path_of(node.args[-1])
            if text is not None and (text == HOME or text.startswith(f"{HOME}/")) and ".." not in text:
                found.append(repository / text.removeprefix(HOME).strip("/"))
    return list(dict.fromkeys(found))


def locate(view: TaskView, name: str, level: int, place: Path, bases: list[Path]) -> list[Path]:
    """The files that an import loads: packages on the way, then the module."""
    parts = [part for part in name.split(".") if part]
    above = [place.parents[level - 1]] if 0 < level <= len(place.parents) else []
    starts = above if level else bases
    for start in starts:
        first = f"{start}/{parts[0]}" if parts else ""
        if first and view.seen(first) == view.seen(f"{first}.py") == "":
            continue  # as with most: it is an installed package
        found = [start.joinpath(*parts[:count], "__init__.py") for count in range(1, len(parts) + 1)]
        packages = [item for item in found if view.is_file(item)]
        module = start.joinpath(*parts).with_suffix(".py") if parts else start / "__init__.py"
        if parts and view.is_file(module):
            return [*packages, module]
        if len(packages) == len(parts) and packages:
            return packages
        if not parts and view.is_file(module):
            return [module]
    return []


def every_file(view: TaskView, implementation: Implementation) -> tuple[Path, ...]:
    """All files that the imports of a test lead to, not only those on the way to the goal file.

    There is none where they are too many, or cannot be followed: then nothing can be said of what a test calls.
    """
    return view.memo(("every file", id(implementation)), partial(_every_file, view, implementation))


def _every_file(view: TaskView, implementation: Implementation) -> tuple[Path, ...]:
    test, known = reading_of(view, implementation), imports(view, implementation)
    if test is None or known is None or view.repository is None:
        return ()
    bases = _bases(test, view.repository)
    if any(
        _is_elsewhere(view, name.partition(".")[0], bases)
        for name, level in imported_modules(test.module.tree)
        if not level
    ):
        return ()
    found = [item for item, _ in islice(_walked(view, test, bases), MAX_FILES)]
    return tuple(dict.fromkeys((*known.files, *found))) if len(found) < MAX_FILES else ()


def _is_elsewhere(view: TaskView, name: str, bases: list[Path]) -> bool:
    """Whether a module is in the repository, but in no folder that Python is known to search."""
    if name in sys.stdlib_module_names or not name:
        return False
    there = any(view.seen(f"{base}/{name}{end}") for base in bases for end in ("", ".py"))
    return not there and _in_repository(view, name)


def _follow(
    view: TaskView, test: Reading, goal: Path, bases: list[Path]
) -> tuple[bool, bool, tuple[Path, ...]]:
    assert view.repository is not None
    seen = [test.path]
    for item, by_name in _walked(view, test, bases, goal):
        if item == goal:
            return True, by_name, (*seen, goal)
        seen.append(item)
        if len(seen) >= MAX_FILES:
            return True, False, tuple(seen)  # too many to follow: nothing is claimed
    stem = goal.stem
    if any(
        name.rpartition(".")[2] == stem and not level for name, level in imported_modules(test.module.tree)
    ):
        exact = [item for item in view.repository_entries if item.kind == "file" and item.name == goal.name]
        if len(exact) == 1:
            return True, True, (*seen, goal)
    return False, False, tuple(seen)


def _walked(
    view: TaskView, test: Reading, bases: list[Path], goal: Path | None = None
) -> Iterator[tuple[Path, bool]]:
    """The files that imports lead to, one after the other, and whether one was found by its module's name only.

    Args:
        goal: what is told also where it is the test itself, or outside of the repository.
    """
    assert view.repository is not None
    seen = {test.path}
    waiting: list[tuple[Module, Path]] = [(test.module, test.path)]
    while waiting:
        module, place = waiting.pop(0)
        for name, level in imported_modules(module.tree):
            found = locate(view, name, level, place, bases)
            entry = None
            if not found and not level and place == test.path and "." in name:
                entry = suffixes(view).get(name)
                found = [view.path(entry)] if entry is not None else []
            for item in found:
                if item == goal or (item not in seen and view.repository in item.parents):
                    seen.add(item)
                    yield item, entry is not None
                    inner = view.module(item)
                    if inner is not None:
                        waiting.append((inner, item))


def suffixes(view: TaskView) -> dict[str, Entry]:
    """Dotted module names, with all their endings, of the repository's files."""
    return view.memo("suffixes", lambda: _suffixes(view))


def _suffixes(view: TaskView) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for entry in view.repository_entries:
        if entry.kind == "file" and entry.suffix == ".py":
            parts = view.in_repository(entry).removesuffix(".py").removesuffix("/__init__").split("/")
            for start in range(len(parts)):
                found.setdefault(".".join(parts[start:]), entry)
    return found


def _in_repository(view: TaskView, name: str) -> bool:
    """Whether a folder or a Python file of the repository has a name."""
    return any(
        entry.name in (name, f"{name}.py") and entry.kind in ("file", "folder")
        for entry in view.repository_entries
    )


def _golden(view: TaskView, test: Reading) -> tuple[int, str]:
    """An import of the golden, by statement or by the path of its file: its line, and what is imported."""
    return next(chain(_golden_modules(view, test), _golden_files(test), _golden_loads(test)), (0, ""))


def _golden_modules(view: TaskView, test: Reading) -> Iterator[tuple[int, str]]:
    stems = {path.stem for path in golden_files(view) if "golden" in path.stem}
    for module in test.modules:
        for node in each(module.tree, ast.Import, ast.ImportFrom):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in names:
                parts = name.split(".")
                if "golden_files" in parts or any(
                    part.endswith("_golden") or part in stems for part in parts
                ):
                    yield node.lineno, name


def _golden_files(test: Reading) -> Iterator[tuple[int, str]]:
    for use in test.uses:
        in_folder = "golden_files" in use.path.split("/")
        if use.name.endswith(".py") and (in_folder or use.name.endswith("_golden.py")):
            yield use.line, use.name


def _golden_loads(test: Reading) -> Iterator[tuple[int, str]]:
    for _, node, name in test.calls:
        if name.rpartition(".")[2] not in _LOADS and not name.startswith("sys.path"):
            continue
        for item in (item for argument in node.args for item in walk(argument)):
            text = item.value if isinstance(item, ast.Constant) else None
            if isinstance(text, str) and ("golden_files" in text or re.search(r"_golden(\.py)?$", text)):
                yield node.lineno, text


def _foreign(
    view: TaskView, test: Reading, bases: list[Path], implementation: Implementation
) -> tuple[int, str]:
    """A module that is not in the repository and from which the target's own name comes."""
    wanted = {implementation.goal_function.strip(), implementation.class_name.strip().partition(".")[0]} - {
        ""
    }
    for node in each(test.module.tree, ast.ImportFrom):
        if node.level or not node.module:
            continue
        if not wanted & {alias.name for alias in node.names}:
            continue
        local = locate(view, node.module, 0, test.path, bases) or node.module in suffixes(view)
        if not local and not _in_repository(view, node.module.partition(".")[0]):
            return node.lineno, node.module
    return 0, ""
