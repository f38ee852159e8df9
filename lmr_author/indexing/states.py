"""What a repository's files were when they were read: as git's index, it spares reading what did not change.

A file is known again by its size, inode and times. ``ctime`` is one of them: a program cannot set it, so that a
file that was changed and put back into its old time is noticed.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Collection, Mapping

from lmr_author.indexing.cache import Cache

SETTLED = 2.0
"""Seconds: a file changed so recently may be changed again within one tick of the file system's clock."""


class States:
    """The states of a repository's files, and the digests of what they held when they were last read.

    Args:
        cache: where the digests are kept, one record for each repository.
        root: the repository.
        paths: of its files.
        without: folders that are left out: another choice of files has another record.
    """

    def __init__(self, cache: Cache, root: str, paths: Collection[str], without: Collection[str]) -> None:
        self._cache = cache
        place = json.dumps([os.path.realpath(root), sorted(without)])
        self._key = hashlib.sha256(f"states {place}".encode()).hexdigest()
        self._kept = _kept(cache.load([self._key]).get(self._key, b"{}"))
        # Looked at before any file is read: what changes meanwhile has another state the next time.
        self._taken = time.time_ns()
        found = {path: _status(f"{root}/{path}") for path in paths}
        self.sizes = {path: status.st_size if status else 0 for path, status in found.items()}
        self._states = {path: _state(status) for path, status in found.items() if status}

    def digests(self) -> dict[str, str]:
        """Path → digest of the files that did not change since they were read."""
        known = {}
        for path, state in self._states.items():
            kept = self._kept.get(path)
            if kept is not None and kept[:-1] == state:
                known[path] = str(kept[-1])
        return known

    def keep(self, digests: Mapping[str, str]) -> None:
        """Remember what files hold, but for those that changed just now; nothing is written when it is known."""
        settled = self._taken - int(SETTLED * 1e9)
        rows = {
            path: [*state, digests[path]]
            for path, state in self._states.items()
            if digests.get(path) and max(state[-2:]) < settled
        }
        if rows != self._kept:
            self._cache.store({self._key: json.dumps(rows, separators=(",", ":")).encode()})


def _status(path: str) -> os.stat_result | None:
    """What the file system says of a regular file; None of all else, which is never known again."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _state(status: os.stat_result) -> list[int]:
    """Size, device, inode and times of a file."""
    return [status.st_size, status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]


def _kept(record: bytes) -> dict[str, list[int | str]]:
    """The rows of a record; those of a damaged one are none."""
    try:
        rows = json.loads(record)
        return {path: row for path, row in rows.items() if len(row) == 6 and isinstance(row[-1], str)}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {}
