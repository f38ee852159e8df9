"""A process that validates tasks, made in the quickest way that is safe."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol, TypeVar

from lmr_author import files

_ROOT = str(Path(__file__).resolve().parent.parent.parent)
_PROGRAM = f"import sys; sys.path.append({_ROOT!r}); from lmr_author.validation.worker import main; main()"
# Never with the current folder on the path: a task is untrusted.
_COMMAND = (sys.executable, "-P", "-c", _PROGRAM)
_MOST_FILES = 1 << 16
_PARTS = 256  # a byte each

T = TypeVar("T")


class Process(Protocol):
    """A process that reads requests and writes answers (:mod:`lmr_author.validation.worker`)."""

    @property
    def stdin(self) -> IO[bytes] | None:
        """Where requests are written."""

    @property
    def stdout(self) -> IO[bytes] | None:
        """Where answers are read."""

    def kill(self) -> None:
        """End it, should it still run."""

    def wait(self) -> int:
        """Wait until it has ended."""


def _can_copy() -> bool:
    """Whether this process may be copied: a copy of one in which something else runs may wait for what that held."""
    return sys.platform == "linux" and threading.active_count() == 1


@contextmanager
def in_copies(
    work: Callable[[Sequence[T]], list[bool]], items: Sequence[T], jobs: int
) -> Iterator[list[bool]]:
    """Some work on each item, shared with copies of this process; False where one of them died.

    A process takes the next part when it is done with one: a copy begins later, and is not always as fast.
    It takes a copy some time to end: that is waited for when the answers were used.

    Args:
        work: gives an answer for each of some items. It writes nothing, and starts nothing.
        jobs: processes at most, this one included.
    """
    parts = [items[number::_PARTS] for number in range(min(len(items), _PARTS))]
    waiting, write = os.pipe()
    os.write(write, bytes(range(len(parts))))
    os.close(write)
    copies = [_share(work, parts, waiting) for _ in range(1, min(jobs, len(parts)) if _can_copy() else 1)]
    answers = [False] * len(items)
    try:
        _keep(answers, parts, bytes(_worked(work, parts, waiting)))
        for _, answer in copies:
            _keep(answers, parts, answer.read())
        yield answers
    finally:
        os.close(waiting)
        for copied, answer in copies:
            answer.close()
            os.kill(copied, signal.SIGKILL)
            os.waitpid(copied, 0)


def _share(
    work: Callable[[Sequence[T]], list[bool]], parts: Sequence[Sequence[T]], waiting: int
) -> tuple[int, IO[bytes]]:
    """A copy of this process that works on parts, and where its answers are read."""
    read, write = os.pipe()
    copied = os.fork()
    if copied == 0:
        try:
            with os.fdopen(write, "wb") as answers:
                answers.write(bytes(_worked(work, parts, waiting)))
        finally:
            os._exit(0)
    os.close(write)
    return copied, os.fdopen(read, "rb")


def _worked(
    work: Callable[[Sequence[T]], list[bool]], parts: Sequence[Sequence[T]], waiting: int
) -> Iterator[int]:
    """Parts that nobody has taken before: the number of each, and an answer for each of its items."""
    while taken := os.read(waiting, 1):
        yield taken[0]
        yield from work(parts[taken[0]])


def _keep(answers: list[bool], parts: Sequence[Sequence[T]], found: bytes) -> None:
    """Put answers where they belong; what a process that was killed did not write to its end stays False."""
    place = 0
    while place < len(found):
        number, size = found[place], len(parts[found[place]])
        told = found[place + 1 : place + 1 + size]
        if len(told) == size:
            answers[number::_PARTS] = [byte == 1 for byte in told]
        place += 1 + size


def start(codes: Sequence[str]) -> Process:
    """A process for some checks. A copy of this one has everything loaded, and is ready at once."""
    if _can_copy():
        return _Copy(codes)
    return subprocess.Popen(
        [*_COMMAND, *codes],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=os.sep,
        env=_environment(),
    )


class _Copy:
    """A copy of this process that does nothing but answer, and holds none of its files."""

    def __init__(self, codes: Sequence[str]) -> None:
        from lmr_author.validation import worker

        requests, write_requests = os.pipe()
        read_answers, answers = os.pipe()
        self._ended = False
        self._lock = threading.Lock()
        self._id = os.fork()
        if self._id == 0:
            try:
                _become(requests, answers)
                worker.serve(codes)
            finally:
                os._exit(0)
        os.close(requests)
        os.close(answers)
        self.stdin: IO[bytes] | None = os.fdopen(write_requests, "wb")
        self.stdout: IO[bytes] | None = os.fdopen(read_answers, "rb")

    def kill(self) -> None:
        with self._lock:
            if not self._ended:
                os.kill(self._id, signal.SIGKILL)

    def wait(self) -> int:
        with self._lock:
            if not self._ended:
                os.waitpid(self._id, 0)
                self._ended = True
        return 0


def _become(requests: int, answers: int) -> None:
    """Take on what a process of its own would have: three open files, its folder, its environment and signals."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ.update(_environment())
    os.chdir(os.sep)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number, file in enumerate((requests, answers, nothing)):
        os.dup2(file, number)
    os.closerange(3, _MOST_FILES)


def _environment() -> dict[str, str]:
    """This process's own, with the cache's folder as it is seen from here."""
    return {**os.environ, "LMR_AUTHOR_CACHE": str(files.user_cache())}
