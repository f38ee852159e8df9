"""Trees to run: private copies of a task's repository with chosen versions of its goal files."""

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
"""Folder of the package ``lmr_probe`` inside a sandbox, on PYTHONPATH."""


def copy_tree(repository: Path, destination: Path, overlay: Mapping[str, bytes], *, with_tests: bool) -> None:
    """Copy a repository, replacing some files.

    Args:
        repository: the task's repository folder.
        destination: a folder that does not exist yet.
        overlay: path in the repository → new content.
        with_tests: copy ``unit_test/`` too, with inputs and expected outputs.
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
    """Copy ``unit_test/fixtures.py``, and the folder beside it with the fixtures' data."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(fixtures, folder / FIXTURES)
    data = fixtures.with_name(FIXTURE_FILES)
    for path in files.walk(data) if not data.is_symlink() else ():
        target = folder / path.relative_to(fixtures.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


class FunctionPlace(NamedTuple):
    """A function of the repository: its file, its name, and its number among definitions of that name."""

    path: str
    qualname: str
    nth: int | None


def golden_overlay(task: Task, info: TaskInfo, masked: Iterable[FunctionPlace] = ()) -> dict[str, bytes]:
    """Return the goldens of all goal files, with masked look-alikes still masked.

    A candidate does not have those, so the golden runs without them too.

    Args:
        masked: more functions that stay masked.
    """
    overlay = _golden_files(task, info)
    functions: list[AlsoMasked | FunctionPlace] = [*task.also_masked(), *masked]
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
    """Return a golden with one function from the goal file; None if either lacks it."""
    original, masked = code.Module.parse(golden, path), code.Module.parse(goal, path)
    pair = code.matching(original, masked, qualname, nth)
    return code.splice_regions(original, {pair[0]: code.region_bytes(masked, pair[1])}) if pair else None


def original_overlay(task: Task, info: TaskInfo) -> dict[str, bytes]:
    """Return the original content of every masked file."""
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
    twins: Iterable[FunctionPlace] = (),
) -> dict[str, bytes]:
    """Return the goldens of all goal files, with only this implementation masked.

    So each implementation is tested separately: another masked function cannot cause a failure.

    Args:
        qualnames: the masked functions, if they are not the one that the implementation names.
        twins: functions of other implementations that stay masked, because they contain the solution of this one.
    """
    overlay = golden_overlay(task, info, twins)
    in_this_file = [other for other in info.implementations if other.goal_file == implementation.goal_file]
    goal_path = task.goal(info, implementation)
    if not goal_path.is_file():
        raise LmrError(f"{task.name}: {implementation.goal_file} is missing", "restore the goal file")
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
                f"{path}::{qualname} is missing in the goal file or its golden", "run `lmr-author validate`"
            )
        overlay[path] = spliced
    return overlay


def read_golden(task: Task, implementation: Implementation) -> bytes:
    path = task.golden(implementation)
    if not path.is_file():
        raise LmrError(
            f"{task.name}: {implementation.golden_file or 'golden file'} is missing",
            "restore the original file from the repository's commit",
        )
    return path.read_bytes()


def tree_path(info: TaskInfo) -> str:
    """Return the repository's path inside a sandbox, the same as in LMR-Bench's own scripts."""
    return f"/workspace/{info.repo_folder_name}"


def probe_mount(probe: Path) -> Mount:
    """Return the mount of the probe, importable as ``lmr_probe`` with ``PROBE_ROOT`` on the path."""
    return Mount(probe, f"{PROBE_ROOT}/lmr_probe")


def source_folder(repository: Path) -> str:
    """Return ``src`` if it contains packages (``src/peft/__init__.py``) and is not a package itself; else ""."""
    folder = repository / "src"
    if not folder.is_dir() or folder.is_symlink() or (folder / "__init__.py").exists():
        return ""
    return "src" if any(folder.glob("*/__init__.py")) or any(folder.glob("*.py")) else ""
