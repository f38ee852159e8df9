"""Limits of time and memory for what is done in this process, as those of other processes are."""

from __future__ import annotations

import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

SECONDS = 300.0
"""How long one task may take: two hundred times what a large one does."""

MAX_MEMORY = 4 * 1024**3
"""Bytes of address space that one task may need beyond what is in use."""


class TooLateError(BaseException):
    """Time is over. No Exception, so that no check takes it for a failure of its own."""


@contextmanager
def time(seconds: float) -> Iterator[None]:
    """Raise :class:`TooLateError` in this thread after some seconds, also out of a regular expression.

    Only the main thread can be interrupted so; in others nothing is limited.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def too_late(number: int, frame: FrameType | None) -> None:
        raise TooLateError

    before = signal.signal(signal.SIGALRM, too_late)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # and again, should something swallow the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def memory(size: int) -> Iterator[None]:
    """Let this process have only so many bytes more; what asks for more gets a MemoryError."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = in_use() + size
    known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *known]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def in_use() -> int:
    """Bytes of address space of this process; 0 where that cannot be told."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * resource.getpagesize()
