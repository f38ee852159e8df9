"""Run many pieces of work side by side, so that Ctrl-C ends them all and a broken sandbox is tried again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from lmr_author.errors import SandboxError

TRIES = 3
BACKOFF_SECONDS = 1.0
"""Before the second try; four times as long before each further one."""

Work = TypeVar("Work")
Done = TypeVar("Done")


class Interruption:
    """Says to everything under way that it has to end."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def __call__(self) -> bool:
        """Whether it has to end."""
        return self._event.is_set()

    def set(self) -> None:
        """Have everything end that is under way, and that begins later."""
        self._event.set()

    def sleep(self, seconds: float) -> None:
        """Wait, unless it has to end; then raises KeyboardInterrupt."""
        if self._event.wait(seconds):
            raise KeyboardInterrupt


def each(
    items: Iterable[Work], work: Callable[[Work], Done], jobs: int, interruption: Interruption
) -> Iterator[Done]:
    """Results of some work as they come, ``jobs`` at a time; no more is begun than is under way.

    An exception, Ctrl-C included, ends what is under way before it goes on.
    """
    waiting = iter(items)
    under_way: set[Future[Done]] = set()
    with ThreadPoolExecutor(jobs, thread_name_prefix="candidate") as executor:
        try:
            for item in waiting:
                under_way.add(executor.submit(work, item))
                if len(under_way) >= jobs:
                    done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                    yield from (one.result() for one in done)
            while under_way:
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                yield from (one.result() for one in done)
        except BaseException:
            interruption.set()
            raise


def retried(
    work: Callable[[], Done],
    interruption: Interruption,
    tries: int = TRIES,
    backoff: float = BACKOFF_SECONDS,
) -> tuple[Done | SandboxError, int]:
    """Do some work, again when the sandbox or this machine fails; returns its result or last error, and the tries."""
    for number in range(1, tries + 1):
        try:
            return work(), number
        except SandboxError as error:
            failure = error
        except OSError as error:
            failure = SandboxError(f"this machine failed: {error}", "see whether the disk is full")
        if number < tries:
            interruption.sleep(backoff * 4 ** (number - 1))
    return failure, tries


class Pace:
    """How fast it goes, and how long it will take.

    Attributes:
        total: candidates in all.
        done: those that are judged, in an earlier run or in this one.
        skipped: those of them that an earlier run had judged.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = self.skipped = 0
        self._stepped = 0
        self._started = time.monotonic()

    def step(self) -> None:
        """One more was judged."""
        self.done += 1
        self._stepped += 1

    def skip(self) -> None:
        """One more was judged before."""
        self.done += 1
        self.skipped += 1

    @property
    def seconds_left(self) -> float | None:
        """Estimate from what was judged in this run; None before anything was."""
        if not self._stepped:
            return None
        return (time.monotonic() - self._started) / self._stepped * (self.total - self.done)
