"""Results of earlier validations, in the user's cache folder, found again by what they depend on.

A result is kept under the digest of the tool, the chosen checks and the task's content; and with the *state* that the
task was in under the place of the task, so that an unchanged task is not even read (see
:mod:`lmr_author.validation.unchanged`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from lmr_author.checks.listing import listing, status
from lmr_author.checks.view import TaskView
from lmr_author.indexing import Cache
from lmr_author.indexing.states import SETTLED
from lmr_author.validation import digests
from lmr_author.validation.result import TaskResult
from lmr_author.validation.unchanged import state, unchanged

_ESCAPED = "surrogateescape"

K = TypeVar("K")


@dataclass
class Store:
    """Results by what they depend on.

    Args:
        cache: where they are kept.
        codes: of the chosen checks.
        settled: seconds after the last change from which on a state stands for a content.
    """

    cache: Cache
    codes: Sequence[str]
    settled: float = SETTLED
    _new: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def of_user(cls, codes: Sequence[str]) -> Store:
        """The one in the user's cache folder."""
        return cls(Cache.of_user("validation"), codes)

    def is_empty(self) -> bool:
        """Whether nothing is known, so that there is nothing to look for."""
        return self.cache.is_empty()

    def state(self, view: TaskView) -> str | None:
        """The state that a task was in while it was read; None when it was changed meanwhile.

        It is "" when it cannot stand for the content: something changed too short a time before.
        """
        entries = view.entries
        seen = state(view.root_status, entries)
        if view.disturbed or (view.read_unheld and state(status(view.root), listing(view.root)) != seen):
            return None
        settled = seen is not None and seen.newest < view.listed_at - self.settled * 1e9
        return seen.text if seen and settled else ""

    def content_key(self, view: TaskView) -> str:
        """The key of a task's content."""
        return self._key("content", digests.content(view))

    def unchanged(self, roots: Sequence[Path], jobs: int) -> dict[Path, TaskResult]:
        """The results of those tasks that are in the state in which they were read.

        Args:
            jobs: processes at most.
        """
        places = {root: self._place(root) for root in roots}
        kept = self._load(places.values())
        known = [(root, *_split(kept[key])) for root, key in places.items() if key in kept]
        with unchanged([(os.fspath(root), state) for root, _, state in known], jobs) as same:
            unread = {root: result for (root, result, _), is_same in zip(known, same, strict=True) if is_same}
            return _read(unread)

    def results(self, keys: Iterable[str]) -> dict[str, TaskResult]:
        """The results of those contents that are known."""
        return _read(self._load(keys))

    def keep(self, root: Path, state: str, content: str, result: TaskResult) -> None:
        """Remember a result, to be written by :meth:`flush`.

        Args:
            root: the task folder.
            state: as :meth:`state` gave it.
            content: as :meth:`content_key` gave it; "" for a result that is not to be kept.
        """
        if content:
            self._new[content] = data = result.to_bytes()
            if state:
                self._new[self._place(root)] = data + b"\n" + state.encode("utf-8", _ESCAPED)

    def flush(self, more_than: int = 0) -> None:
        """Write what is remembered, when it is more than some entries."""
        if len(self._new) > more_than:
            self.cache.store(self._new)
            self._new.clear()

    def _load(self, keys: Iterable[str]) -> Mapping[str, bytes]:
        return self.cache.load([key for key in keys if key])

    def _place(self, root: Path) -> str:
        """The key of what is known of a folder."""
        return self._key("place", str(root.absolute()))

    def _key(self, *parts: str) -> str:
        text = "\0".join([digests.tool(), ",".join(self.codes), *parts])
        return hashlib.sha256(text.encode("utf-8", _ESCAPED)).hexdigest()


def _read(kept: Mapping[K, bytes]) -> dict[K, TaskResult]:
    """Those results that are not damaged."""
    read = {key: TaskResult.from_bytes(data) for key, data in kept.items()}
    return {key: result for key, result in read.items() if result is not None}


def _split(record: bytes) -> tuple[bytes, str]:
    """(result, state) of what is kept for a place."""
    result, _, state = record.partition(b"\n")
    return result, state.decode("utf-8", _ESCAPED)
