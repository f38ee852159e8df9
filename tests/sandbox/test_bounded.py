"""Bounded output, and the engine's framed stream."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.sandbox import bounded
from lmr_author.sandbox.bounded import Bounded, run_process
from lmr_author.sandbox.docker_stream import Demultiplexer


@given(st.lists(st.binary(max_size=20)), st.integers(0, 50))
def test_keeps_the_beginning_and_notes_the_rest(pieces: list[bytes], limit: int) -> None:
    kept = Bounded(limit)
    for piece in pieces:
        kept.add(piece)
    whole = b"".join(pieces)
    assert kept.value() == whole[:limit]
    assert kept.truncated == (len(whole) > limit)


@given(st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=30))), st.lists(st.integers(1, 40)))
def test_frames_are_put_together_however_they_are_cut(
    frames: list[tuple[int, bytes]], cuts: list[int]
) -> None:
    stream = b"".join(bytes([kind, 0, 0, 0]) + len(data).to_bytes(4, "big") + data for kind, data in frames)
    stdout, stderr = Bounded(10_000), Bounded(10_000)
    split = Demultiplexer(stdout, stderr)
    for size in [*cuts, len(stream)]:
        split.feed(stream[:size])
        stream = stream[size:]
    assert stdout.value() == b"".join(data for kind, data in frames if kind == 1)
    assert stderr.value() == b"".join(data for kind, data in frames if kind == 2)


def open_files() -> set[tuple[str, str]]:
    """This process's open files, by number and what they are; not the folder that is being read for it."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            found.add((number, os.readlink(f"/proc/self/fd/{number}")))
    return found


def test_unstartable_program_is_an_os_error_and_leaves_no_open_files(tmp_path: Path) -> None:
    before = open_files()
    swept: list[bool] = []
    with pytest.raises(FileNotFoundError):
        run_process(
            [str(tmp_path / "absent")], env={}, seconds=5, output_bytes=10, sweep=lambda: swept.append(True)
        )
    assert swept == [True]
    assert open_files() <= before


def test_what_ended_while_we_stood_still_is_not_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped machine, or a busy one: the time is over when this process looks again."""
    step, stalls = bounded._Reader._step, [0.7]

    def slow(self: bounded._Reader, timeout: float) -> None:
        if stalls:
            time.sleep(stalls.pop())
        else:
            step(self, timeout)

    monkeypatch.setattr(bounded._Reader, "_step", slow)
    for argv, late in ((["true"], False), (["sleep", "600"], True)):
        stalls[:] = [0.7]
        outcome = run_process(argv, env={}, seconds=0.5, output_bytes=10, sweep=lambda: None)
        assert outcome.timed_out is late


def test_output_of_an_escaped_process_does_not_keep_us() -> None:
    # It holds the pipe, has left the group, and nothing sweeps it up.
    code = (
        "import os, time\n"
        "reading, writing = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.setsid(); print(os.getpid(), flush=True); os.write(writing, b'.'); time.sleep(600)\n"
        "os.read(reading, 1)"
    )
    argv = [sys.executable, "-c", code]
    outcome = run_process(argv, env={}, seconds=60, output_bytes=10, sweep=lambda: None)
    assert (outcome.exit_code, outcome.timed_out) == (0, False)
    os.kill(int(outcome.stdout), signal.SIGKILL)
