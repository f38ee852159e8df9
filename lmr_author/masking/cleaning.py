"""Remove from the agent's tree the files that give an answer away or were made by running."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lmr_author.leaks import Leak
from lmr_author.leaks.generated import BACKUP_SUFFIXES

GENERATED_FOLDERS = frozenset(
    {
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".ipynb_checkpoints",
        ".hypothesis",
        ".tox",
        ".eggs",
    }
)
"""Folders that any run or editor makes again; deleted."""

HISTORY_FOLDERS = frozenset({".git", ".hg", ".svn"})
"""Version histories: the original is one command away. Moved out of the agent's tree, not deleted."""

GENERATED_SUFFIXES = frozenset({".pyc", ".pyo"})
GENERATED_NAMES = frozenset({".DS_Store", "Thumbs.db"})


@dataclass(frozen=True)
class Cleaned:
    """What was taken out of a repository, as paths relative to it: deleted, and moved to ``authoring/``."""

    deleted: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()


def clean(repository: Path, keep: Path, goal_files: tuple[str, ...]) -> Cleaned:
    """Delete generated files; move histories, build output and backups of goal files to ``keep``.

    Args:
        repository: the agent's tree.
        keep: folder outside of it that receives what is not simply generated again.
        goal_files: masked files; backups of them (``trainers.py.bak``) are moved away.
    """
    deleted: list[str] = []
    moved: list[str] = []
    backups = {Path(goal).name + suffix for goal in goal_files for suffix in BACKUP_SUFFIXES}
    backups |= {f".{Path(goal).name}.swp" for goal in goal_files}
    for folder, names, file_names in os.walk(repository, topdown=True):
        here = Path(folder)
        for name in list(names):
            path = here / name
            if name in GENERATED_FOLDERS and not path.is_symlink():
                shutil.rmtree(path)
                deleted.append(_relative(path, repository))
                names.remove(name)
            elif _is_kept_apart(path):
                moved.append(_move(path, repository, keep))
                names.remove(name)
        for name in file_names:
            path = here / name
            if name in GENERATED_NAMES or path.suffix in GENERATED_SUFFIXES:
                path.unlink()
                deleted.append(_relative(path, repository))
            elif name in backups or name == ".git":
                moved.append(_move(path, repository, keep))
    return Cleaned(tuple(sorted(deleted)), tuple(sorted(moved)))


def removable(leaks: Iterable[Leak]) -> tuple[str, ...]:
    """Paths of what can be taken out of the tree without asking: generated files, archives, histories.

    Only where the solution surely stands in it; a file that somebody wrote is the annotator's to decide.
    """
    return tuple(sorted({leak.path for leak in leaks if leak.sure and (leak.generated or leak.member)}))


def take_out(repository: Path, keep: Path, paths: Iterable[str]) -> Cleaned:
    """Move files and folders of a repository to ``keep``, as far as they are there.

    Args:
        repository: the agent's tree.
        keep: folder outside of it.
        paths: relative to the repository, as :func:`removable` gives them.
    """
    found = [repository / path for path in paths]
    return Cleaned(moved=tuple(_move(path, repository, keep) for path in found if os.path.lexists(path)))


def _is_kept_apart(path: Path) -> bool:
    if path.name in HISTORY_FOLDERS or path.name.endswith(".egg-info"):
        return True
    if path.name == "build":
        return (path / "lib").is_dir() or any(path.glob("bdist.*")) or any(path.glob("lib.*"))
    return path.name == "dist" and any(path.glob("*.whl")) | any(path.glob("*.tar.gz"))


def _move(path: Path, repository: Path, keep: Path) -> str:
    relative = _relative(path, repository)
    target = keep / relative
    number = 1
    while target.exists():
        number += 1
        target = keep / f"{relative}.{number}"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(path, target)
    return relative


def _relative(path: Path, repository: Path) -> str:
    return path.relative_to(repository).as_posix()
