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
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter

from lmr_author.checks.listing import Entry
from lmr_author.validation.processes import in_copies

WORTH_COPIES = 100_000
"""Characters of records: for fewer (some 3,000 files) this process is done before another one is there."""

FEW_NAMES = 5
"""Names of a folder, its own included: no more are asked for by their path, where a link instead of it shows."""

_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CHANGED = attrgetter("st_ctime_ns")
_STATE = attrgetter("st_ctime_ns", "st_size", "st_ino")
_TOP = "."


@dataclass(frozen=True)
class State:
    """What the file system said of a folder and everything in it.

    Attributes:
        text: to be compared with, and for :func:`unchanged`.
        newest: the last change of anything in it, in nanoseconds since 1970.
    """

    text: str
    newest: int


def state(root: os.stat_result | None, entries: Iterable[Entry]) -> State | None:
    """The state of a folder that was listed; None where it was closed, or gone, in part.

    Args:
        root: what the file system said of the folder before it was listed.
        entries: everything in it.
    """
    groups = {_TOP: [(_TOP, root)]}
    for entry in entries:
        if entry.kind == "folder":
            groups[entry.relative] = [(entry.relative, entry.status)]
        else:
            groups[entry.folder or _TOP].append((entry.name, entry.status))
    for folder, group in list(groups.items()):
        if folder != _TOP and len(group) <= FEW_NAMES:
            groups[_TOP] += [group[0], *((f"{folder}/{name}", said) for name, said in group[1:])]
            del groups[folder]
    everything = [said for group in groups.values() for _, said in group]
    try:
        digest, newest = _digest(everything), max(map(_CHANGED, everything))
    except (AttributeError, OverflowError):  # nothing was said, or a time before 1970
        return None
    names = ("\0".join(name for name, _ in group) for group in groups.values())
    return State("\0\0".join([digest, *names]), newest)


def unchanged(known: Sequence[tuple[str, str]], jobs: int) -> AbstractContextManager[list[bool]]:
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
    ask = os.lstat
    said: list[os.stat_result] = []
    try:
        for folder in folders:
            path, *names = folder.split("\0")
            opened = os.open(f"{root}/{path}", _FLAGS)
            try:
                said.append(os.fstat(opened))
                said += [ask(name, dir_fd=opened) for name in names]
            finally:
                os.close(opened)
        return _digest(said) == digest
    except (OSError, ValueError, OverflowError):
        return False


def _digest(said: Iterable[os.stat_result | None]) -> str:
    """Hexadecimal SHA-256. Raises AttributeError for None and OverflowError for negative numbers."""
    return hashlib.sha256(array("Q", chain.from_iterable(map(_STATE, said)))).hexdigest()
