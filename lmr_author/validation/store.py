"""Results of earlier validations, in the user's cache folder, found again by what they depend on.

A result is kept under the digest of the tool, the chosen checks and the task's content. Under the digest of the
task's *state* only the key of a result is kept, so that an unchanged task is not even read (see
:mod:`lmr_author.validation.digests`).
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lmr_author.checks.view import TaskView
from lmr_author.indexing import Cache
from lmr_author.indexing.states import SETTLED
from lmr_author.validation import digests
from lmr_author.validation.result import TaskResult


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

    def state_key(self, root: Path) -> str:
        """The key of a task's state; "" when a file changed too recently for its state to be trusted."""
        return self._state_key(root, digests.state(root.resolve()))

    def seen_key(self, view: TaskView) -> str | None:
        """The key of the state that a task was in while it was read; None when it was changed meanwhile."""
        seen = digests.state_of(view.entries)
        if view.disturbed or (view.read_unheld and digests.state(view.task.root.resolve()) != seen):
            return None
        return self._state_key(view.task.root, seen)

    def _state_key(self, root: Path, state: digests.State) -> str:
        settled = state.newest < time.time_ns() - self.settled * 1e9
        return self._key("state", os.path.realpath(root), state.digest) if settled else ""

    def content_key(self, view: TaskView) -> str:
        """The key of a task's content."""
        return self._key("content", digests.content(view))

    def unchanged(self, states: Iterable[str]) -> dict[str, TaskResult]:
        """The results of those states that are known."""
        keys = {state: key.decode("ascii", "replace") for state, key in self._load(states).items()}
        found = self.results(keys.values())
        return {state: found[key] for state, key in keys.items() if key in found}

    def results(self, keys: Iterable[str]) -> dict[str, TaskResult]:
        """The results of those contents that are known."""
        read = {key: TaskResult.from_bytes(data) for key, data in self._load(keys).items()}
        return {key: result for key, result in read.items() if result is not None}

    def keep(self, state: str, content: str, result: TaskResult) -> None:
        """Remember a result, to be written by :meth:`flush`."""
        if content:
            self._new[content] = result.to_bytes()
        if content and state:
            self._new[state] = content.encode("ascii")

    def flush(self, more_than: int = 0) -> None:
        """Write what is remembered, when it is more than some entries."""
        if len(self._new) > more_than:
            self.cache.store(self._new)
            self._new.clear()

    def _load(self, keys: Iterable[str]) -> Mapping[str, bytes]:
        return self.cache.load([key for key in keys if key])

    def _key(self, *parts: str) -> str:
        text = "\0".join([digests.tool(), ",".join(self.codes), *parts])
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
