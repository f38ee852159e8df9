"""Run a program of our own choosing (git, uv, the PDF reader) to its end, its time limit or Ctrl-C.

Not for code that is a task's: that runs in a sandbox.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lmr_author.errors import LmrError
from lmr_author.interrupts import HeldInterrupts
from lmr_author.texts import printable

KEPT_OUTPUT = 64 * 1024 * 1024
"""Bytes kept of each of stdout and stderr; what exceeds it is dropped."""


@dataclass(frozen=True)
class Finished:
    """How a program ended. ``timed_out``: it was killed at its time limit, with all its children."""

    exit_code: int
    stdout: bytes
    stderr: str
    timed_out: bool = False


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    seconds: float,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    on_line: Callable[[str], None] | None = None,
) -> Finished:
    """Run a program without a shell and without a terminal; whatever happens, no process of it is left.

    Args:
        on_line: called with each line of its stderr (also those that end in a carriage return, as
            progress does), from another thread, with control characters removed.

    Raises LmrError when the program is not there.
    """
    process = _started(argv, cwd, env)
    try:
        return _wait(process, seconds, stdin, on_line)
    finally:
        if process.returncode is None:
            _kill(process)


def _started(argv: Sequence[str], cwd: Path, env: Mapping[str, str] | None) -> subprocess.Popen[bytes]:
    """The program's process. A Ctrl-C meanwhile waits until there is a process to kill. Raises LmrError."""
    held = HeldInterrupts()
    try:
        process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(env) if env is not None else None,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        held.release()
        raise LmrError(f"the program {argv[0]} is not installed", f"install {Path(argv[0]).name}") from error
    except BaseException:
        held.release()
        raise
    try:
        held.release()
    except KeyboardInterrupt:
        _kill(process)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        raise
    return process


def _wait(
    process: subprocess.Popen[bytes], seconds: float, stdin: bytes, on_line: Callable[[str], None] | None
) -> Finished:
    assert process.stdout and process.stderr and process.stdin
    out, err = bytearray(), bytearray()
    readers = [
        threading.Thread(target=_read, args=(process.stdout, out, None), daemon=True),
        threading.Thread(target=_read, args=(process.stderr, err, on_line), daemon=True),
    ]
    for reader in readers:
        reader.start()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(stdin)
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    timed_out = False
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        timed_out = True
    _kill(process)
    for reader in readers:
        reader.join(10)
    return Finished(process.wait(), bytes(out), err.decode("utf-8", "replace"), timed_out)


def _read(stream: IO[bytes], kept: bytearray, on_line: Callable[[str], None] | None) -> None:
    pending = b""
    with stream:
        while chunk := os.read(stream.fileno(), 65536):
            if len(kept) < KEPT_OUTPUT:
                kept += chunk
            if on_line is None:
                continue
            *lines, pending = re.split(rb"[\r\n]+", pending + chunk)
            for line in lines:
                text = printable(line.decode("utf-8", "replace"))
                if text:
                    on_line(text)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the program and its children; those that it left behind too (they share its session)."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
