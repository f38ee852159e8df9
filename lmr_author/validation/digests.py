"""Digests of what the result of a validation depends on: the tool, and what a task holds (names, kinds and bytes)."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from functools import cache
from pathlib import Path

from lmr_author import __version__, resources
from lmr_author.checks.listing import Entry, listing, same_state
from lmr_author.checks.view import TaskView

MAX_READ = 16 * 1024 * 1024
"""Larger files (bytes) are told by their state alone: a data set is not read to find out that it is the same."""


@cache
def tool() -> str:
    """The tool as it is installed: its version, and the state of its modules and schemas (a checkout changes)."""
    digest = hashlib.sha256(f"{__version__} {sys.version}".encode())
    package = Path(resources.__file__).parent
    parts = [package / name for name in ("checks", "leaks", "source", "validation")]
    for folder in (*parts, resources.folder("schemas")):
        for entry in listing(os.fspath(folder)):
            if entry.suffix in (".py", ".json"):
                digest.update(_line(entry.relative, entry.status))
    for path in sorted(package.glob("*.py")):
        digest.update(_line(path.name, path.stat()))
    return digest.hexdigest()


def _line(name: str, status: os.stat_result | None) -> bytes:
    """A file by its state; of bytecode, which Python writes beside it, nothing counts."""
    return os.fsencode(f"{name} {status.st_size} {status.st_ctime_ns}\n" if status else f"{name}\n")


def content(view: TaskView) -> str:
    """Hexadecimal SHA-256 of everything in a task, wherever it is: names, kinds and bytes.

    What is read for it is held by the view: the checks that follow read nothing twice, and see what was digested.
    """
    view.hold_all()
    root = Path(view.root)
    digest, heads = hashlib.sha256(), [root.name]
    for entry in view.entries:
        data = view.read_entry(entry) if entry.kind == "file" and entry.size <= MAX_READ else None
        if data is None:
            heads += (entry.relative, _unread(view, root, entry))
        else:
            heads += (entry.relative, f"file {len(data)}")
            digest.update(data)
    digest.update(hashlib.sha256(os.fsencode("\0".join(heads))).digest())
    return digest.hexdigest()


def _unread(view: TaskView, root: Path, entry: Entry) -> str:
    """What an entry is whose content does not count. Special files are not opened, and links are not followed."""
    if entry.kind in ("folder", "closed"):
        return entry.kind
    path = root / entry.relative
    try:
        if entry.kind == "link":
            # Whether it leads anywhere is all that is asked of what lies outside.
            return f"link {path.readlink()} {root} {path.exists()}"
        found = path.lstat()
    except OSError as error:
        view.disturbed = True
        return f"error {error.errno}"
    view.disturbed |= not same_state(entry.status, found)
    if entry.kind == "file":
        return f"large or closed {found.st_size} {found.st_ino} {found.st_ctime_ns}"
    return f"kind {stat.S_IFMT(found.st_mode)}"
