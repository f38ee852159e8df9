"""Digests of what the result of a validation depends on: the tool, and the task folder.

A task has two. Its *content* is what it holds: names, kinds and bytes. Its *state* is what the file system
says of it (size, inode, time of the last change), which costs a fraction of reading it, as git's index does.
A state that was seen with a content stands for it; ``ctime`` cannot be set by a program, so that a file that
was changed and put back into its old time is noticed.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lmr_author import __version__, resources
from lmr_author.checks.listing import Entry, same_state
from lmr_author.checks.view import TaskView

MAX_READ = 16 * 1024 * 1024
"""Larger files (bytes) are told by their state alone: a data set is not read to find out that it is the same."""


@dataclass(frozen=True)
class State:
    """What the file system says about a folder.

    Attributes:
        digest: hexadecimal SHA-256.
        newest: the last change of anything in it, in nanoseconds since 1970.
    """

    digest: str
    newest: int


@cache
def tool() -> str:
    """The tool as it is installed: its version, and the state of its modules and schemas (a checkout changes)."""
    digest = hashlib.sha256(f"{__version__} {sys.version}".encode())
    package = Path(resources.__file__).parent
    for folder in ("checks", "leaks", "source", "validation"):
        digest.update(state(package / folder, sources=True).digest.encode())
    for path in sorted([*package.glob("*.py"), *resources.folder("schemas").glob("*.json")]):
        found = path.stat()
        digest.update(f"{path.name} {found.st_size} {found.st_mtime_ns}".encode())
    return digest.hexdigest()


def state(root: Path, *, sources: bool = False) -> State:
    """The state of everything below a folder, links not followed.

    Args:
        sources: only Python files, so that bytecode that Python writes beside them does not count.
    """
    lines: list[str] = []
    newest = 0
    top = os.fspath(root)
    stack = [""]
    while stack:
        folder = stack.pop()
        try:
            with os.scandir(f"{top}/{folder}") as found:
                for item in found:
                    path = f"{folder}/{item.name}" if folder else item.name
                    if item.is_dir(follow_symlinks=False):
                        stack.append(path)
                        lines.append(f"{path}/")
                    elif not sources or path.endswith(".py"):
                        one = item.stat(follow_symlinks=False)
                        changed = one.st_ctime_ns
                        newest = changed if changed > newest else newest
                        lines.append(f"{path}\0{changed} {one.st_size} {one.st_ino} {one.st_mode}")
        except OSError:
            lines.append(f"{folder}\0closed")
    return _state(lines, newest)


def state_of(entries: Iterable[Entry]) -> State:
    """As :func:`state`, of a folder that was listed already."""
    lines: list[str] = []
    newest = 0
    for entry in entries:
        one = entry.status
        if one is not None:
            changed = one.st_ctime_ns
            newest = changed if changed > newest else newest
            lines.append(f"{entry.relative}\0{changed} {one.st_size} {one.st_ino} {one.st_mode}")
        else:
            lines.append(f"{entry.relative}/" if entry.kind == "folder" else f"{entry.relative}\0closed")
    return _state(lines, newest)


def _state(lines: list[str], newest: int) -> State:
    lines.sort()
    return State(_sha256("\n".join(lines)), newest)


def content(view: TaskView) -> str:
    """Hexadecimal SHA-256 of everything in a task, wherever it is: names, kinds and bytes.

    What is read for it is held by the view: the checks that follow read nothing twice, and see what was digested.
    """
    root = view.task.root.resolve()
    digest = hashlib.sha256(os.fsencode(root.name))
    for entry in view.entries:
        digest.update(b"\n" + os.fsencode(entry.relative) + b"\0")
        data = view.hold(entry) if entry.kind == "file" and entry.size <= MAX_READ else None
        if data is None:
            digest.update(_unread(view, root, entry))
        else:
            digest.update(b"file %d " % len(data))
            digest.update(data)
    return digest.hexdigest()


def _unread(view: TaskView, root: Path, entry: Entry) -> bytes:
    """What an entry is whose content does not count. Special files are not opened, and links are not followed."""
    if entry.kind in ("folder", "closed"):
        return entry.kind.encode()
    path = root / entry.relative
    try:
        if entry.kind == "link":
            # Whether it leads anywhere is all that is asked of what lies outside.
            return os.fsencode(f"link {path.readlink()} {root} {path.exists()}")
        found = path.lstat()
    except OSError as error:
        view.disturbed = True
        return f"error {error.errno}".encode()
    view.disturbed |= not same_state(entry.status, found)
    if entry.kind == "file":
        return f"large or closed {found.st_size} {found.st_ino} {found.st_ctime_ns}".encode()
    return f"kind {stat.S_IFMT(found.st_mode)}".encode()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
