"""Make a foreign work tree safe to ship; recognise its licence, and code that no task can be made of."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author.core import files, foreign
from lmr_author.core.texts import counted, printable

_LEFT_OUT = files.CACHE_FOLDERS | {".ipynb_checkpoints", ".nox", "__MACOSX"}
_CACHE_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
_CACHE_SUFFIXES = (".pyc", ".pyo", ".egg-info")

MAX_LICENCE_BYTES = 256 * 1024
_LICENCE_FILE = re.compile(r"^(un)?(licen[cs]e|copying)([.-].*)?$", re.I)

LICENCES: tuple[dict[str, Any], ...] = tuple(
    tomllib.loads(Path(__file__).with_name("licences.toml").read_text("utf-8"))["licence"]
)
"""SPDX identifier and sentences of each licence; the first that fits holds."""


@dataclass(frozen=True)
class RemovedEntry:
    """Something that was taken out of the repository: path in it, and why."""

    path: str
    reason: str


def clean(root: Path) -> tuple[RemovedEntry, ...]:
    """Remove ``.git``, caches, links that lead outside and special files."""
    removed: list[RemovedEntry] = []
    stack = [root]
    while stack:
        for entry in sorted(os.scandir(stack.pop()), key=lambda entry: entry.name):
            path = Path(entry.path)
            is_folder = entry.is_dir(follow_symlinks=False)
            reason = _why_removed(entry, root)
            if reason:
                shutil.rmtree(path) if is_folder else path.unlink()
                removed.append(RemovedEntry(printable(path.relative_to(root).as_posix()), reason))
            elif is_folder:
                stack.append(path)
    return tuple(sorted(removed, key=lambda entry: entry.path))


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
    return "cache" if name in _CACHE_FILES or name.endswith(_CACHE_SUFFIXES) else ""


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


def recognise_licence(root: Path) -> tuple[str, str]:
    """Return SPDX identifier and file name of the licence at a repository's top, ("", file) when not recognised."""
    named = sorted(path for path in root.iterdir() if _LICENCE_FILE.match(path.name) and path.is_file())
    for path in named:
        spdx = recognise_licence_text(path.read_bytes()[:MAX_LICENCE_BYTES].decode("utf-8", "replace"))
        if spdx:
            return spdx, path.name
    return "", named[0].name if named else ""


def recognise_licence_text(text: str) -> str:
    """Return the SPDX identifier of a licence's text, or "".

    The GPL family's texts name one another, so only the beginning decides among them.
    """
    whole = re.sub(r"\s+", " ", text.lower().replace("“", '"').replace("”", '"'))
    for licence in LICENCES:
        part = whole[:600] if "GPL" in licence["spdx"] else whole
        if all(sentence in part for sentence in licence["sentences"]):
            return str(licence["spdx"])
    return ""


# code that no task can be made of as it is

_MAX_BYTES = 2 * 1024 * 1024
_PYTHON_2 = re.compile(
    r"^[ \t]*print[ \t]+[\"'\w]|^[ \t]*except[ \t]+[\w.]+[ \t]*,[ \t]*\w+[ \t]*:"
    r"|^(?:import|from)[ \t]+(?:ConfigParser|Queue|StringIO|cPickle|cStringIO|urllib2|urlparse|__builtin__)\b",
    re.M,
)
"""A print statement, an old ``except``, a module that Python 3 renamed; indented imports have another beside them."""


def unusable_code(repository: Path) -> list[str]:
    """Return a sentence each about notebooks and files for Python 2, with the way to convert them."""
    notebooks, old = list[str](), list[str]()
    for path in files.walk(repository):
        name = printable(path.relative_to(repository).as_posix(), 300)
        if path.suffix == ".ipynb" and ".ipynb_checkpoints" not in name:
            notebooks.append(name)
        elif path.suffix == ".py" and _is_python_2(path):
            old.append(name)
    ways = (
        (notebooks, "notebook", "not read", "jupyter nbconvert --to script"),
        (old, "file", "for Python 2", "python3.11 -m lib2to3 -w -n"),
    )
    return [
        f"{counted(len(names), noun)} {problem} ({names[0].rpartition('/')[2]}{' …' * (len(names) > 1)}): "
        f"`{command}`, then `new-task --patch`"
        for names, noun, problem, command in ways
        if names
    ]


def _is_python_2(path: Path) -> bool:
    data = foreign.read_regular(str(path), _MAX_BYTES) or b""
    return _PYTHON_2.search(data.decode("utf-8", "replace")) is not None
