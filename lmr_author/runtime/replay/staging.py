"""Trees to run: private copies of a task's repository, with chosen versions of its goal files in place."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lmr_author.core import code, files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import UNIT_TEST, Implementation, Task, TaskInfo
from lmr_author.core.task.info import AlsoMasked
from lmr_author.core.task.recording import FIXTURE_FILES, FIXTURES
from lmr_author.runtime.sandbox.base import Mount

PROBE_ROOT = "/lmr"
"""Folder of the probe's package ``lmr_probe`` inside a sandbox; it is on PYTHONPATH."""


def copy_tree(repository: Path, destination: Path, overlay: Mapping[str, bytes], *, with_tests: bool) -> None:
    """Copy a repository, replacing some files.

    Args:
        repository: the task's repository folder.
        destination: a folder that does not exist yet.
        overlay: path in the repository → content that replaces it.
        with_tests: copy ``unit_test/`` too; without it neither inputs nor expected outputs are in the tree.
    """

    def left_out(folder: str, names: list[str]) -> set[str]:
        out = {name for name in names if name in {"__pycache__", ".git"}}
        if not with_tests and Path(folder) == repository:
            out.add(UNIT_TEST)
        return out

    shutil.copytree(repository, destination, symlinks=True, ignore=left_out)
    for path, data in overlay.items():
        target = files.inside(destination, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.write_bytes(data)


def copy_fixtures(fixtures: Path, folder: Path) -> None:
    """Copy ``unit_test/fixtures.py``, and the folder beside it with what the fixtures read."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(fixtures, folder / FIXTURES)
    data = fixtures.with_name(FIXTURE_FILES)
    for path in files.walk(data) if not data.is_symlink() else ():
        target = folder / path.relative_to(fixtures.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


class Place(NamedTuple):
    """A function of the repository: its file, its name, and its number among those of that name."""

    path: str
    qualname: str
    nth: int | None


def golden_overlay(task: Task, info: TaskInfo, masked: Iterable[Place] = ()) -> dict[str, bytes]:
    """Return every goal file as the golden has it, with the look-alikes that were masked too still masked.

    A candidate does not have those, so the golden is run without them too.

    Args:
        masked: further functions that stay as the task has them.
    """
    overlay = _golden_files(task, info)
    functions: list[AlsoMasked | Place] = [*task.also_masked(), *masked]
    for function in functions:
        path = function.path
        if path in overlay:
            data = files.inside(task.repository(info), path).read_bytes()
            spliced = _with_one_of(overlay[path], data, path, function.qualname, function.nth)
            overlay[path] = spliced or overlay[path]
    return overlay


def _golden_files(task: Task, info: TaskInfo) -> dict[str, bytes]:
    return {other.goal_file: read_golden(task, other) for other in info.implementations}


def _with_one_of(golden: bytes, goal: bytes, path: str, qualname: str, nth: int | None) -> bytes | None:
    """Return a golden with one function as the goal file has it; None where one of them lacks it."""
    original, masked = code.Module.parse(golden, path), code.Module.parse(goal, path)
    pair = code.matching(original, masked, qualname, nth)
    return code.splice_regions(original, {pair[0]: code.region_bytes(masked, pair[1])}) if pair else None


def original_overlay(task: Task, info: TaskInfo) -> dict[str, bytes]:
    """Return the original content of every file in which something is masked."""
    overlay = _golden_files(task, info)
    for lookalike in task.also_masked():
        if lookalike.path not in overlay and lookalike.original:
            overlay[lookalike.path] = files.inside(task.root, lookalike.original).read_bytes()
    return overlay


def only_masked(
    task: Task,
    info: TaskInfo,
    implementation: Implementation,
    qualnames: Sequence[str] = (),
    twins: Iterable[Place] = (),
) -> dict[str, bytes]:
    """Return every goal file as the golden has it, with only this implementation as the task has it.

    So each implementation is tested by itself: another masked function cannot be the reason for a failure.

    Args:
        qualnames: the masked functions, if they are not the one that the implementation names.
        twins: functions of other implementations that stay masked, because they contain the solution of this one.
    """
    overlay = golden_overlay(task, info, twins)
    in_this_file = [other for other in info.implementations if other.goal_file == implementation.goal_file]
    goal_path = task.goal(info, implementation)
    if not goal_path.is_file():
        raise LmrError(f"{implementation.goal_file} is missing in {task.name}", "restore the goal file")
    data = goal_path.read_bytes()
    if len(in_this_file) <= 1:
        overlay[implementation.goal_file] = data
        return overlay
    path = implementation.goal_file
    for qualname in qualnames or (implementation.qualname,):
        nth = implementation.nth if qualname == implementation.qualname else None
        spliced = _with_one_of(overlay[path], data, path, qualname, nth)
        if spliced is None:
            raise LmrError(
                f"{path}::{qualname} is not in both the goal file and its golden", "run `lmr-author validate`"
            )
        overlay[path] = spliced
    return overlay


def read_golden(task: Task, implementation: Implementation) -> bytes:
    path = task.golden(implementation)
    if not path.is_file():
        raise LmrError(
            f"{implementation.golden_file or 'golden file'} is missing in {task.name}",
            "put the original file back there: the repository's commit has it",
        )
    return path.read_bytes()


def tree_path(info: TaskInfo) -> str:
    """Return the repository's place inside a sandbox, the one that LMR-Bench's own scripts use."""
    return f"/workspace/{info.repo_folder_name}"


def probe_mount(probe: Path) -> Mount:
    """Return the mount of the probe, importable as the package ``lmr_probe`` with ``PROBE_ROOT`` on the path."""
    return Mount(probe, f"{PROBE_ROOT}/lmr_probe")


def source_folder(repository: Path) -> str:
    """Return ``src`` if it contains packages (``src/peft/__init__.py``) and is no package itself; else ""."""
    folder = repository / "src"
    if not folder.is_dir() or folder.is_symlink() or (folder / "__init__.py").exists():
        return ""
    return "src" if any(folder.glob("*/__init__.py")) or any(folder.glob("*.py")) else ""
