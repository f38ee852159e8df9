"""Run a process to its end with bounded output, a time limit, and nothing left behind."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lmr_author.sandbox.base import STOP_SECONDS

_READ_BYTES = 1 << 16
_GRACE_SECONDS = 2.0
"""How long output is still read once everything we know of is dead: only an escaped process writes on."""


class Bounded:
    """Collects bytes up to a limit; what exceeds it is dropped and noted."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()
        self.truncated = False

    def add(self, data: bytes) -> None:
        """Keep as much of ``data`` as there is room for."""
        room = self._limit - len(self._data)
        self._data += data[:room] if len(data) > room else data
        self.truncated = self.truncated or len(data) > room

    def value(self) -> bytes:
        """What was kept."""
        return bytes(self._data)


@dataclass(frozen=True)
class Outcome:
    """How a process ended. ``exit_code`` is negative for a signal, as in :mod:`subprocess`."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool
    truncated: bool
    stopped: bool = False


def run_process(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    seconds: float,
    output_bytes: int,
    pass_fds: Sequence[int] = (),
    sweep: Callable[[], None],
    stop: Callable[[], bool] | None = None,
) -> Outcome:
    """Run ``argv`` in a session of its own, and end with none of its processes alive.

    Args:
        seconds: wall-clock limit.
        output_bytes: of stdout and of stderr each; more is read and dropped.
        sweep: kills what left the process group. Called after the end and after any exception.
        stop: asked twice a second; True kills it.

    Raises OSError when the program cannot be started. An exception, Ctrl-C included, kills everything
    before it propagates.
    """
    started = time.monotonic()
    process: subprocess.Popen[bytes] | None = None
    stdout, stderr = Bounded(output_bytes), Bounded(output_bytes)
    try:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=env, cwd=cwd, start_new_session=True, pass_fds=pass_fds,
        )  # fmt: skip
        reader = _Reader(process, stdout, stderr)
        with reader.opened():
            ended = reader.until_exit(Patience(started + seconds, stop))
            elapsed = time.monotonic() - started
            _kill_group(process)
            sweep()
            reader.rest()
        return _outcome(process, stdout, stderr, elapsed, ended)
    finally:
        if process is None or process.returncode is None:
            _end(process, sweep)


def _outcome(
    process: subprocess.Popen[bytes], stdout: Bounded, stderr: Bounded, seconds: float, ended: str
) -> Outcome:
    """How a process that has exited ended; ``ended`` is what :meth:`Patience.over` said."""
    return Outcome(
        process.wait(),
        stdout.value(),
        stderr.value(),
        seconds,
        timed_out=ended == "late",
        truncated=stdout.truncated or stderr.truncated,
        stopped=ended == "stopped",
    )


class Patience:
    """How long a program is waited for: until a deadline, and while a question is answered by no.

    Args:
        deadline: on the monotonic clock.
        stop: asked twice a second; True ends it. None when there is no question.
    """

    def __init__(self, deadline: float, stop: Callable[[], bool] | None = None) -> None:
        self._deadline = deadline
        self._stop = stop
        self._asked = time.monotonic()

    def over(self) -> str:
        """ "late" after the deadline, "stopped" when ``stop`` said so; "" as long as it goes on."""
        now = time.monotonic()
        if self._deadline <= now:
            return "late"
        if self._stop is not None and now - self._asked >= STOP_SECONDS:
            if self._stop():
                return "stopped"
            self._asked = time.monotonic()
        return ""

    def seconds(self) -> float:
        """So long one may wait for something to read before :meth:`over` is asked again."""
        left = max(0.0, self._deadline - time.monotonic())
        return left if self._stop is None else min(left, STOP_SECONDS)


class _Reader:
    """Reads a process's pipes and notices its exit, in one thread, with one deadline."""

    def __init__(self, process: subprocess.Popen[bytes], stdout: Bounded, stderr: Bounded) -> None:
        self._process = process
        self._sinks = ((process.stdout, stdout), (process.stderr, stderr))
        self._selector = selectors.DefaultSelector()
        self._exited = False

    @contextmanager
    def opened(self) -> Iterator[None]:
        """While the pipes are watched."""
        gone, tell = os.pipe()
        waiter = threading.Thread(target=_tell_exit, args=(self._process, tell), daemon=True)
        waiter.start()
        try:
            self._selector.register(gone, selectors.EVENT_READ, None)
            for pipe, sink in self._sinks:
                assert pipe is not None
                self._selector.register(pipe, selectors.EVENT_READ, sink)
            yield
        finally:
            self._selector.close()
            _kill_group(self._process)
            waiter.join()
            os.close(gone)
            for pipe, _ in self._sinks:
                if pipe is not None:
                    pipe.close()

    def until_exit(self, patience: Patience) -> str:
        """Read until the process exits: "exited"; or what :class:`Patience` says first.

        What is there to be read is read before it is called late: this process may be what stood still.
        """
        while not self._exited:
            over = patience.over()
            self._step(0 if over else patience.seconds())
            if over and not self._exited:
                return over
        return "exited"

    def rest(self) -> None:
        """Read what is still in the pipes."""
        deadline = time.monotonic() + _GRACE_SECONDS
        while len(self._selector.get_map()) > (0 if self._exited else 1):
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self._step(left)

    def _step(self, timeout: float) -> None:
        for key, _ in self._selector.select(timeout):
            data = os.read(key.fd, _READ_BYTES)
            if key.data is None:
                self._exited = True
            elif data:
                key.data.add(data)
                continue
            self._selector.unregister(key.fileobj)


def _tell_exit(process: subprocess.Popen[bytes], tell: int) -> None:
    """Close ``tell`` when the process has exited."""
    try:
        if hasattr(os, "waitid"):
            # It stays a zombie, so that its id is not another's when its group is killed.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        else:
            process.wait()
    except ChildProcessError:
        pass
    finally:
        os.close(tell)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its group, unless it was reaped already and its id may be another's."""
    if process.returncode is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def _end(process: subprocess.Popen[bytes] | None, sweep: Callable[[], None]) -> None:
    """Kill after an exception. A second Ctrl-C does not stop it half-way."""
    for _ in range(3):
        try:
            if process is not None:
                _kill_group(process)
                process.wait()
            sweep()
            return
        except KeyboardInterrupt:
            continue
