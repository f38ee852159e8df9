"""Remove from the agent's tree the files that give an answer away or were made by running."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lmr_author import files
from lmr_author.leaks import Leak
from lmr_author.leaks.generated import BACKUP_SUFFIXES

GENERATED_FOLDERS = frozenset(
    {
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".tox",
        ".eggs",
    }
)
"""Folders that any run makes again; deleted."""

CHECKPOINTS = ".ipynb_checkpoints"
"""Old states of notebooks. Moved: nothing makes them again."""

HISTORY_FOLDERS = frozenset({".git", ".hg", ".svn"})
"""Version histories: the original is one command away. Moved out of the agent's tree, not deleted."""

GENERATED_SUFFIXES = frozenset({".pyc", ".pyo"})
GENERATED_NAMES = frozenset({".DS_Store", "Thumbs.db"})

RECORD = "from-repository.json"
"""In the folder that keeps what was moved: path in the repository → path in that folder."""


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


def removable(leaks: Iterable[Leak], repository: Path) -> tuple[str, ...]:
    """Paths of what can be taken out of the tree without asking: generated files, archives, histories.

    Only where the solution surely stands in it; a file that somebody wrote is the annotator's to decide, and
    so is one of a package that happens to be called ``dist``.

    Args:
        leaks: what was found.
        repository: the agent's tree.
    """
    found = {leak.path for leak in leaks if leak.sure and (leak.generated or leak.member)}
    return tuple(sorted(path for path in found if not _in_package(repository, path)))


def _in_package(repository: Path, path: str) -> bool:
    """Whether a Python file lies in a package ``build`` or ``dist``, which no build has made."""
    pure = PurePosixPath(path)
    folders = [item for item in pure.parents if item.name in ("build", "dist")]
    return pure.suffix == ".py" and any((repository / item / "__init__.py").is_file() for item in folders)


def take_out(repository: Path, keep: Path, paths: Iterable[str]) -> Cleaned:
    """Move files and folders of a repository to ``keep``, as far as they are there.

    Args:
        repository: the agent's tree.
        keep: folder outside of it.
        paths: relative to the repository, as :func:`removable` gives them.
    """
    found = [repository / path for path in paths]
    return Cleaned(moved=tuple(_move(path, repository, keep) for path in found if os.path.lexists(path)))


def put_back(repository: Path, keep: Path) -> tuple[str, ...]:
    """Move what was moved to ``keep`` back into the repository, but for version histories.

    What has a new file in its place stays where it is kept.

    Returns:
        Their paths, relative to the repository.
    """
    kept, done = _moved(keep), []
    for relative, name in kept.items():
        place, source = files.inside(repository, relative), files.inside(keep, name)
        if os.path.lexists(source) and not os.path.lexists(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(source, place)
            done.append(relative)
    if kept:
        (keep / RECORD).unlink()
    return tuple(done)


def _moved(keep: Path) -> dict[str, str]:
    """Path in the repository → path in ``keep``."""
    record = keep / RECORD
    data = files.read_json(record) if record.is_file() else {}
    pairs = data.items() if isinstance(data, dict) else ()
    return {path: name for path, name in pairs if isinstance(name, str)}


def _is_kept_apart(path: Path) -> bool:
    if path.name in HISTORY_FOLDERS or path.name == CHECKPOINTS or path.name.endswith(".egg-info"):
        return True
    if path.name in ("build", "dist") and (path / "__init__.py").is_file():
        return False
    if path.name == "build":
        return (path / "lib").is_dir() or any(path.glob("bdist.*")) or any(path.glob("lib.*"))
    return path.name == "dist" and any(path.glob("*.whl")) | any(path.glob("*.tar.gz"))


def _move(path: Path, repository: Path, keep: Path) -> str:
    relative = _relative(path, repository)
    name, number = relative, 1
    while os.path.lexists(keep / name):
        number += 1
        name = f"{relative}.{number}"
    if not HISTORY_FOLDERS & {path.name}:
        # Before the move: an entry without its file does no harm.
        files.write_json(keep / RECORD, _moved(keep) | {relative: name})
    (keep / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.move(path, keep / name)
    return relative


def _relative(path: Path, repository: Path) -> str:
    return path.relative_to(repository).as_posix()
