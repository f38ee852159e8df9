"""A task as it is masked."""

from __future__ import annotations

from pathlib import Path

from lmr_author import files
from lmr_author.task import Task

HINGE = "pkg/losses.py::hinge"


def goal(task: Task) -> Path:
    return task.root / "small-repo" / "pkg" / "losses.py"


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files.walk(folder)}
