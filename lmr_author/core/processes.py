"""Run a program to its end, its time limit or Ctrl-C, with bounded output and none of its processes left.

Programs of our own choosing (git, uv, the PDF reader) run as they are. Code that is a task's runs through a
sandbox, which passes its wrapper program to :func:`run`.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from lmr_author.core import owner
from lmr_author.core.errors import LmrError
from lmr_author.core.files import HeldInterrupts
from lmr_author.core.texts import printable

KEPT_OUTPUT = 64 * 1024 * 1024
"""Bytes kept of each of stdout and stderr unless the caller sets another limit."""
STOP_SECONDS = 0.5
"""Interval at which a ``stop`` question is asked."""
_GRACE_SECONDS = 2.0
"""Time to read on once every known process is dead: only an escaped one still holds the pipe."""
_STALL_SECONDS = 0.1


@dataclass(frozen=True)
class ProgramEnd:
    """The end of a program.

    Attributes:
        exit_code: negative for a signal, as in :mod:`subprocess`.
        stdout, stderr_bytes: the first ``output_bytes`` of each; ``truncated`` if more came.
        seconds: wall-clock time until it exited or was killed.
        timed_out, stopped: killed at its time limit, or because ``stop`` answered True.
    """

    exit_code: int
    stdout: bytes
    stderr_bytes: bytes
    seconds: float = 0.0
    timed_out: bool = False
    stopped: bool = False
    truncated: bool = False

    @property
    def stderr(self) -> str:
        return self.stderr_bytes.decode("utf-8", "replace")


class BoundedOutput:
    """Collects bytes up to a limit; ``truncated`` says whether more came."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()
        self.truncated = False

    def add(self, data: bytes) -> None:
        room = self._limit - len(self._data)
        self._data += data[:room]
        self.truncated = self.truncated or len(data) > room

    def value(self) -> bytes:
        return bytes(self._data)


def require(program: str) -> None:
    """Raise LmrError when a program is not installed; without git, even the import of GitPython fails."""
    if shutil.which(program) is None:
        raise _not_installed(program)


def _not_installed(program: str) -> LmrError:
    return LmrError(f"the program {program} is not installed", f"install {Path(program).name}")


def run(
    argv: Sequence[str],
    *,
    cwd: Path | None,
    seconds: float,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    on_line: Callable[[str], None] | None = None,
    on_output: Callable[[bytes], None] | None = None,
    output_bytes: int = KEPT_OUTPUT,
    stop: Callable[[], bool] | None = None,
    pass_fds: Sequence[int] = (),
    sweep: Callable[[], None] = lambda: None,
) -> ProgramEnd:
    """Run a program without a shell and without a terminal; whatever happens, no process of it is left.

    Args:
        seconds: wall-clock limit; at its end the whole process group is killed.
        env: None passes this process's environment on.
        on_line: called with each line of its stderr, those that end in a carriage return too, from another thread.
        on_output: called with each part of its stdout as it comes, from another thread.
        output_bytes: limit for stdout and stderr each; the rest is read and dropped.
        stop: asked twice a second; True kills the program.
        sweep: kills processes that left the group. Called after the end and after any exception.

    Raises LmrError when the program is not installed, OSError when it cannot be started otherwise.
    """
    started = time.monotonic()
    process, clean = None, False
    out, err = BoundedOutput(output_bytes), BoundedOutput(output_bytes)
    try:
        process = _start(argv, cwd, env, stdin, pass_fds)
        exited = threading.Event()
        threads = [
            threading.Thread(target=_await_exit, args=(process, exited), daemon=True),
            threading.Thread(target=_read, args=(process.stdout, out, None, on_output), daemon=True),
            threading.Thread(target=_read, args=(process.stderr, err, on_line), daemon=True),
        ]
        for thread in threads:
            thread.start()
        given_up = wait(exited, started + seconds, stop)
        elapsed = time.monotonic() - started
        _kill(process)
        sweep()
        clean = True
        deadline = time.monotonic() + _GRACE_SECONDS
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
    finally:
        if not clean:
            with HeldInterrupts():  # a second Ctrl-C does not stop this half-way
                if process is not None and process.returncode is None:
                    _kill(process)
                sweep()
    return ProgramEnd(
        process.returncode,
        out.value(),
        err.value(),
        elapsed,
        timed_out=given_up == "late",
        stopped=given_up == "stopped",
        truncated=out.truncated or err.truncated,
    )


def wait(ended: threading.Event, deadline: float, stop: Callable[[], bool] | None = None) -> str:
    """Wait for an event. Return "", or why the wait was given up: "late" or "stopped"."""
    while True:
        left = max(0.0, deadline - time.monotonic())
        if ended.wait(left if stop is None else min(left, STOP_SECONDS)):
            return ""
        if time.monotonic() >= deadline:
            # This process may be what stood still (a suspended machine): let the other thread look first.
            return "" if ended.wait(_STALL_SECONDS) else "late"
        if stop is not None and stop():
            return "stopped"


def _start(
    argv: Sequence[str],
    cwd: Path | None,
    env: Mapping[str, str] | None,
    stdin: bytes,
    pass_fds: Sequence[int],
) -> subprocess.Popen[bytes]:
    """Start the program. A Ctrl-C in between waits until there is a process to kill."""
    process = None
    _end_orphans()
    variables = {owner.MARKER: f"{owner.me()}.program", **(os.environ if env is None else env)}
    # A file, not a pipe: a program that never reads its input cannot block us.
    with tempfile.TemporaryFile() if stdin else open(os.devnull, "rb") as source:
        if stdin:
            source.write(stdin)
            source.seek(0)
        try:
            with HeldInterrupts():
                process = subprocess.Popen(
                    [*_dying_with_us(argv[0], variables), *argv], cwd=cwd, env=variables, pass_fds=pass_fds,
                    stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                )  # fmt: skip
        except FileNotFoundError as error:
            if error.filename == argv[0]:
                raise _not_installed(argv[0]) from error
            raise  # the working folder is missing
        except KeyboardInterrupt:
            if process is not None:
                _kill(process)
                process.__exit__(None, None, None)
            raise
    return process


@cache
def _end_orphans() -> None:
    """Kill what killed owners left running: where the kernel did not, and what such programs had started."""
    owner.kill(owner.orphans())


def _dying_with_us(program: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words before a command that make the kernel kill it when we are killed; () where nothing can.

    The kernel's own way is PR_SET_PDEATHSIG, set in the child. Python sets it only in a ``preexec_fn``, which can
    deadlock where there are threads; setpriv sets it and becomes the program. It acts when the thread that started the
    program ends: :func:`run` stays in that thread to the program's end. Between fork and setpriv, about a millisecond,
    a kill leaves the program: its environment has our marker, and the next command ends it. macOS and busybox have no
    such setpriv.
    """
    # A program that cannot be found is left to Popen, whose error says so.
    known = shutil.which(program, path=env.get("PATH", os.defpath))
    setpriv = _setpriv()
    return (setpriv, "--pdeathsig", "KILL", "--") if known and setpriv else ()


@cache
def _setpriv() -> str:
    """Return the path of a setpriv that knows --pdeathsig (util-linux 2.33 and newer); "" for none."""
    path = shutil.which("setpriv")
    if path is None:
        return ""
    done = subprocess.run([path, "--help"], check=False, capture_output=True, stdin=subprocess.DEVNULL)
    return path if b"--pdeathsig" in done.stdout else ""


def _await_exit(process: subprocess.Popen[bytes], exited: threading.Event) -> None:
    with contextlib.suppress(ChildProcessError):  # reaped already
        if hasattr(os, "waitid"):
            # It stays a zombie, so that its id is not another's when its group is killed.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        else:  # macOS before Python 3.13
            process.wait()
    exited.set()


def _read(
    stream: IO[bytes],
    kept: BoundedOutput,
    on_line: Callable[[str], None] | None,
    on_output: Callable[[bytes], None] | None = None,
) -> None:
    pending = b""
    with stream:
        while chunk := os.read(stream.fileno(), 65536):
            kept.add(chunk)
            if on_output is not None:
                on_output(chunk)
            if on_line is None:
                continue
            *lines, pending = re.split(rb"[\r\n]+", pending + chunk)
            for line in lines:
                if text := printable(line.decode("utf-8", "replace")):
                    on_line(text)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill and reap the program and its group, which it may have left behind."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def safe_path() -> Iterator[None]:
    """Keep Pythons that are started in the block from importing out of the current folder: it may be foreign."""
    before = os.environ.get("PYTHONSAFEPATH", "")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        os.environ["PYTHONSAFEPATH"] = before  # "" is off


def begin_worker() -> None:
    """In a process of :mod:`multiprocessing`: leave Ctrl-C to the parent, and end with it.

    The end of a pipe does not tell that the parent has ended: other workers hold it open.
    """
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
