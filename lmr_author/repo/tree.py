"""Make a foreign work tree safe to ship: nothing that leads outside, nothing that was made by running."""

from __future__ import annotations

import os
import shutil
import stat
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from lmr_author import files
from lmr_author.texts import printable

_LEFT_OUT = files.CACHE_FOLDERS | {".ipynb_checkpoints", ".nox", "__MACOSX"}
CACHE_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
CACHE_SUFFIXES = (".pyc", ".pyo", ".egg-info")


@dataclass(frozen=True)
class Removed:
    """Something that was taken out of the repository: path in it, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Cleaned:
    """What :func:`clean` did."""

    removed: tuple[Removed, ...]
    notes: tuple[str, ...]


def clean(root: Path) -> Cleaned:
    """Remove ``.git``, caches, links that lead outside and special files; note names that collide."""
    removed: list[Removed] = []
    notes: list[str] = []
    stack = [root]
    while stack:
        folder = stack.pop()
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        for entry in entries:
            reason = _why_removed(entry, root)
            if reason:
                _remove(Path(entry.path))
                removed.append(Removed(_name(entry.path, root), reason))
            elif entry.is_dir(follow_symlinks=False):
                stack.append(Path(entry.path))
        notes.extend(_collisions(folder, root))
    return Cleaned(tuple(sorted(removed, key=lambda item: item.path)), tuple(notes))


def _why_removed(entry: os.DirEntry[str], root: Path) -> str:
    name = entry.name
    if name.lower() == ".git":
        return "git history"
    if entry.is_symlink():
        return _why_link_removed(Path(entry.path), root)
    mode = entry.stat(follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode):
        return "cache" if name in _LEFT_OUT or name.endswith(".egg-info") else ""
    if not stat.S_ISREG(mode):
        return "not a regular file"
    return "cache" if name in CACHE_FILES or name.endswith(CACHE_SUFFIXES) else ""


def _why_link_removed(link: Path, root: Path) -> str:
    # The whole chain counts: a link to a link that leads outside leads outside.
    target = Path(os.path.realpath(link))
    base = Path(os.path.realpath(root))
    if not target.is_relative_to(base):
        return "symbolic link that leads outside the repository"
    parts = target.relative_to(base).parts
    if any(part.lower() == ".git" for part in parts):
        return "symbolic link into the git history"
    return "absolute symbolic link" if link.readlink().is_absolute() else ""


def _collisions(folder: Path, root: Path) -> list[str]:
    names = defaultdict(list)
    for entry in os.scandir(folder):
        names[entry.name.casefold()].append(entry.name)
    where = "" if folder == root else f"{_name(str(folder), root)}/"
    return [
        f"names that differ only in case, which some file systems cannot hold: "
        f"{', '.join(printable(where + name) for name in sorted(group))}"
        for group in names.values()
        if len(group) > 1
    ]


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _name(path: str, root: Path) -> str:
    return printable(Path(path).relative_to(root).as_posix())
