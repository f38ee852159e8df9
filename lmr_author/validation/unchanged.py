"""Which task folders are as they were when they were read: the file system is asked, and nothing is read.

As in git's index, a file is known again by its size, its inode and the time of its last change (``ctime``, which no
program can set). A folder's own time tells whether a name came or went, so that folders are not listed again: known
names are asked for relative to the open folder, which takes half the time.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from lmr_author.checks.listing import Entry
from lmr_author.validation.processes import in_copies

WORTH_COPIES = 100_000
"""Characters of records: for fewer (some 3,000 files) this process is done before another one is there."""

_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OF_FOLDER = attrgetter("st_ctime_ns", "st_ino")
_OF_FILE = attrgetter("st_ctime_ns", "st_size", "st_ino")


@dataclass(frozen=True)
class State:
    """What the file system said of a folder and everything in it.

    Attributes:
        text: to be compared with, and for :func:`unchanged`.
        newest: the last change of anything in it, in nanoseconds since 1970.
    """

    text: str
    newest: int


@dataclass
class _Folder:
    """A folder's time and inode, the names in it that are no folders, and what was said of each of them."""

    stamp: tuple[int, int]
    names: list[str]
    states: list[int]


def state(root: os.stat_result | None, entries: Iterable[Entry]) -> State | None:
    """The state of a folder that was listed; None where it was closed, or gone, in part.

    Args:
        root: what the file system said of the folder before it was listed.
        entries: everything in it.
    """
    try:
        folders = {"": _Folder(_OF_FOLDER(root), [], [])}
        for entry in entries:
            if entry.kind == "folder":
                folders[entry.relative] = _Folder(_OF_FOLDER(entry.status), [], [])
            else:
                folders[entry.folder].names.append(entry.name)
                folders[entry.folder].states += _OF_FILE(entry.status)
        digest = _digest(value for folder in folders.values() for value in folder.states)
    except (AttributeError, OverflowError):  # a state that is None, and times before 1970
        return None
    lines = [
        "\0".join([f"{folder.stamp[0]} {folder.stamp[1]} {path}", *folder.names])
        for path, folder in folders.items()
    ]
    newest = max(max([folder.stamp[0], *folder.states[::3]]) for folder in folders.values())
    return State("\0\0".join([digest, *lines]), newest)


def unchanged(known: Sequence[tuple[str, str]], jobs: int) -> list[bool]:
    """Whether each folder is in the state that it was in, asked in several processes where that is worth it.

    Args:
        known: root and ``State.text`` of each.
        jobs: processes at most.
    """
    if sum(len(text) for _, text in known) < WORTH_COPIES:
        jobs = 1
    return in_copies(_are_unchanged, known, jobs)


def _are_unchanged(known: Sequence[tuple[str, str]]) -> list[bool]:
    return [_is_unchanged(root, text) for root, text in known]


def _is_unchanged(root: str, text: str) -> bool:
    digest, *folders = text.split("\0\0")
    states: list[int] = []
    try:
        for folder in folders:
            head, *names = folder.split("\0")
            changed, inode, path = head.split(" ", 2)
            opened = os.open(f"{root}/{path}", _FLAGS)
            try:
                if _OF_FOLDER(os.fstat(opened)) != (int(changed), int(inode)):
                    return False
                for name in names:
                    states += _OF_FILE(os.stat(name, dir_fd=opened, follow_symlinks=False))
            finally:
                os.close(opened)
        return _digest(states) == digest
    except (OSError, ValueError, OverflowError):
        return False


def _digest(states: Iterable[int]) -> str:
    """Hexadecimal SHA-256. Raises OverflowError for negative numbers."""
    return hashlib.sha256(array("Q", states)).hexdigest()
