"""Noticing that what runs fills the disk."""

from __future__ import annotations

import os
import time
from pathlib import Path

_TREE_BYTES = 512 * 2**20
_TREE_FILES = 50_000


class DiskWatch:
    """Notices that a run fills the disk through the tree that it may write; looks seldom where looking is slow."""

    def __init__(self, most_bytes: int = _TREE_BYTES, most_files: int = _TREE_FILES) -> None:
        self._most = most_bytes, most_files
        self._first: tuple[int, int] | None = None
        self._next = 0.0

    def is_full(self, tree: Path) -> bool:
        """Whether the tree has grown beyond what a test may write."""
        now = time.monotonic()
        if now < self._next:
            return False
        size = _size(tree)
        self._next = time.monotonic() + 10 * (time.monotonic() - now)
        if self._first is None:
            self._first = size
        return any(now - first > most for now, first, most in zip(size, self._first, self._most, strict=True))


def _size(tree: Path) -> tuple[int, int]:
    """Bytes on the disk, and number of files and folders."""
    total = count = 0
    waiting = [str(tree)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return total, count
