"""Take out of the agent's tree the files that give an answer away or were made by running, and put them back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lmr_author import files
from lmr_author.errors import LmrError
from lmr_author.leaks import Leak
from lmr_author.leaks.search import BACKUP_SUFFIXES

CHECKPOINTS = ".ipynb_checkpoints"
"""Old states of notebooks. Each is kept: nothing makes them again."""

HISTORY_FOLDERS = frozenset({".git", ".hg", ".svn"})
"""Version histories: the original is one command away. They never come back: a task's tree has no history."""

GENERATED_SUFFIXES = frozenset({".pyc", ".pyo"})
GENERATED_NAMES = frozenset({".DS_Store", "Thumbs.db"})

RECORD = "from-repository.json"
"""In the folder that keeps what was moved: path in the repository → path in that folder.

Format: ``schemas/from-repository.schema.json``.
"""


@dataclass(frozen=True)
class Cleaned:
    """The files taken out of a repository, as paths relative to it.

    Attributes:
        deleted: made again by a run, since the repository's own were moved.
        moved: to ``authoring/removed/``.
    """

    deleted: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()


@dataclass(frozen=True)
class PutBack:
    """The fate of the files that had been moved, as paths relative to the repository.

    Attributes:
        done: back in their places.
        left: where they are kept, because they are histories, or because something new is in their place.
    """

    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def clean(repository: Path, keep: Path, goal_files: tuple[str, ...]) -> Cleaned:
    """Move generated files, histories, build output and backups of goal files to ``keep``.

    A generated file whose first version is in ``keep`` already was made again by a run, and is deleted.

    Args:
        repository: the agent's tree.
        keep: folder outside of it.
        goal_files: masked files; backups of them (``trainers.py.bak``) are moved away.
    """
    backups = {Path(goal).name + suffix for goal in goal_files for suffix in BACKUP_SUFFIXES}
    backups |= {f".{Path(goal).name}.swp" for goal in goal_files}
    kept = taken_out(keep)
    again: list[Path] = []
    others: list[Path] = []
    for path in _unwanted(repository, backups):
        known = kept.get(_relative(path, repository))
        is_again = known is not None and is_generated(path.name) and os.path.lexists(keep / known)
        (again if is_again else others).append(path)
    for path in again:
        _delete(path)
    moved = _move(others, repository, keep)
    return Cleaned(tuple(sorted(_relative(path, repository) for path in again)), tuple(sorted(moved)))


def is_generated(name: str) -> bool:
    """Return True for the name of a file or folder that any run makes."""
    return (
        name in files.CACHE_FOLDERS
        or name in GENERATED_NAMES
        or PurePosixPath(name).suffix in GENERATED_SUFFIXES
    )


def _unwanted(repository: Path, backups: set[str]) -> Iterator[Path]:
    """Yield what does not belong into the agent's tree; nothing that lies in another of them."""
    for folder, names, file_names in os.walk(repository, topdown=True):
        here = Path(folder)
        for name in sorted(names):
            path = here / name
            if (name in files.CACHE_FOLDERS and not path.is_symlink()) or _is_kept_apart(path):
                names.remove(name)
                yield path
        for name in sorted(file_names):
            if name in backups or name == ".git" or (name not in files.CACHE_FOLDERS and is_generated(name)):
                yield here / name


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
    """Return True for a Python file in a package ``build`` or ``dist``, which no build has made."""
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
    return Cleaned(moved=_move([path for path in found if os.path.lexists(path)], repository, keep))


def put_back(repository: Path, keep: Path) -> PutBack:
    """Move what was moved to ``keep`` back into the repository, but for version histories.

    What a run has made again in its place makes way; what has another new file there stays in ``keep``.
    """
    kept = taken_out(keep)
    done: list[str] = []
    left: list[str] = []
    for relative, name in kept.items():
        place, source = files.inside(repository, relative), files.inside(keep, name)
        if not os.path.lexists(source):
            continue  # somebody took it from there
        if is_generated(place.name):
            _delete(place)
        if place.name in HISTORY_FOLDERS or os.path.lexists(place):
            left.append(relative)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(source, place)
        done.append(relative)
    if left:
        files.write_json(keep / RECORD, {relative: kept[relative] for relative in left})
    elif kept:
        (keep / RECORD).unlink()
    return PutBack(tuple(done), tuple(left))


def taken_out(keep: Path) -> dict[str, str]:
    """Return what was moved away: path in the repository → path in ``keep``.

    Raises LmrError when the record is damaged: it is going to be written again.
    """
    names = files.read_object_to_change(keep / RECORD)
    if not all(isinstance(name, str) for name in names.values()):
        raise LmrError(f"{keep / RECORD}: not names of files", "restore it from version control")
    return names


def _is_kept_apart(path: Path) -> bool:
    if path.name in HISTORY_FOLDERS or path.name == CHECKPOINTS or path.name.endswith(".egg-info"):
        return True
    if path.name in ("build", "dist") and (path / "__init__.py").is_file():
        return False
    if path.name == "build":
        return (path / "lib").is_dir() or any(path.glob("bdist.*")) or any(path.glob("lib.*"))
    return path.name == "dist" and (any(path.glob("*.whl")) or any(path.glob("*.tar.gz")))


def _move(paths: Iterable[Path], repository: Path, keep: Path) -> tuple[str, ...]:
    """Move files and folders to free places in ``keep``; returns their paths in the repository."""
    names: dict[str, str] = {}
    for path in paths:
        relative = _relative(path, repository)
        name, number = relative, 1
        while os.path.lexists(keep / name):
            number += 1
            name = f"{relative}.{number}"
        names[relative] = name
    if names:
        # Before the first move: an entry without its file does no harm. What is kept already stays what comes
        # back: it was the repository's own, and whatever is moved from its place later is not.
        known = {path: name for path, name in taken_out(keep).items() if os.path.lexists(keep / name)}
        files.write_json(keep / RECORD, names | known)
    for relative, name in names.items():
        (keep / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(repository / relative, keep / name)
    return tuple(names)


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _relative(path: Path, repository: Path) -> str:
    return path.relative_to(repository).as_posix()
