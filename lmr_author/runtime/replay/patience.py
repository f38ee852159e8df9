"""Notice that a replayer no longer reports: a candidate can stop the process that watches over its time."""

from __future__ import annotations

import time

from lmr_author.runtime.probe.replayer import LEAVING, LOAD_SECONDS, LOADING, RUNNING

GRACE_SECONDS = 10.0
"""Time for the replayer to report by itself that a version is late; the machine may be busy."""


class Patience:
    """Follows a replayer's output: the run is over when it does not report within the limit of what it does.

    The replayer reports as often as there are versions and cases. In a container a candidate can write there, too,
    and wins no more than cases that take all of their time would: the run has a limit.
    """

    def __init__(self, case_seconds: float) -> None:
        self._seconds = {LOADING: max(LOAD_SECONDS, case_seconds), RUNNING: case_seconds, LEAVING: 0.0}
        self._tail = b""
        self._deadline = float("inf")
        self.over = False
        self.loads = 0
        """How often the replayer said that it loads something: each version, and what the first ones share."""

    def add(self, data: bytes) -> None:
        """Take the next part of the output."""
        recent, now = self._tail + data, time.monotonic()
        self.loads += recent.count(LOADING)  # the tail holds no whole one
        last = max(self._seconds, key=recent.rfind)
        if last in recent:
            self._deadline = now + self._seconds[last] + GRACE_SECONDS
        elif self._deadline < now + GRACE_SECONDS:
            self._deadline = now + GRACE_SECONDS
        self._tail = recent[-len(RUNNING) + 1 :]

    def is_over(self) -> bool:
        """Return whether the replayer is overdue."""
        self.over = self.over or time.monotonic() > self._deadline
        return self.over
