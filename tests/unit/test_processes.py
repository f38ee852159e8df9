"""Running programs: output, time limits, and no process left."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.core.errors import LmrError
from lmr_author.core.processes import BoundedOutput, run

PYTHON = sys.executable


def test_output_input_and_exit_code(tmp_path: Path) -> None:
    code = "import sys; print(sys.stdin.read().upper()); print('oops', file=sys.stderr); sys.exit(3)"
    done = run([PYTHON, "-c", code], cwd=tmp_path, seconds=30, stdin=b"text")
    assert (done.exit_code, done.stdout, done.stderr, done.timed_out) == (3, b"TEXT\n", "oops\n", False)


def test_lines_of_progress_are_passed_on_clean(tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write('one 10%\\rone 100%\\n\\x1b[31mtwo\\n\\n')"
    lines: list[str] = []
    run([PYTHON, "-c", code], cwd=tmp_path, seconds=30, on_line=lines.append)
    assert lines == ["one 10%", "one 100%", "[31mtwo"]


@given(st.lists(st.binary(max_size=20)), st.integers(0, 50))
def test_the_beginning_of_output_is_kept_and_the_rest_noted(pieces: list[bytes], limit: int) -> None:
    kept = BoundedOutput(limit)
    for piece in pieces:
        kept.add(piece)
    whole = b"".join(pieces)
    assert (kept.value(), kept.truncated) == (whole[:limit], len(whole) > limit)


def test_large_output_and_input_that_is_never_read_do_not_block(tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write('e' * 3000000); sys.stdout.write('o' * 3000000)"
    done = run([PYTHON, "-c", code], cwd=tmp_path, seconds=60, stdin=b"x" * 3_000_000)
    assert (done.exit_code, len(done.stdout), len(done.stderr)) == (0, 3000000, 3000000)


@pytest.mark.parametrize(
    ("code", "seconds", "late"),
    [
        ("import subprocess as s; s.Popen(['sleep', '987']); s.Popen(['sleep', '987']).wait()", 1.5, True),
        ("import subprocess as s; s.Popen(['sleep', '987'])", 30, False),
    ],
)
def test_children_end_with_the_program(tmp_path: Path, code: str, seconds: float, late: bool) -> None:
    done = run([PYTHON, "-c", code], cwd=tmp_path, seconds=seconds)
    assert (done.timed_out, done.exit_code < 0) == (late, late)
    assert not _running("sleep\x00987\x00")


def test_a_missing_program_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LmrError, match="no-such-program is not installed"):
        run(["no-such-program"], cwd=tmp_path, seconds=1)


def test_a_missing_working_folder_is_an_os_error_and_leaves_no_open_files(tmp_path: Path) -> None:
    before, swept = _open_files(), []
    with pytest.raises(FileNotFoundError):
        run(["true"], cwd=tmp_path / "absent", seconds=5, sweep=lambda: swept.append(True))
    assert swept == [True]
    assert _open_files() <= before


def test_output_of_an_escaped_process_does_not_keep_us(tmp_path: Path) -> None:
    # It holds the pipe, has left the group, and nothing sweeps it up.
    code = (
        "import os, time\n"
        "reading, writing = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.setsid(); print(os.getpid(), flush=True); os.write(writing, b'.'); time.sleep(600)\n"
        "os.read(reading, 1)"
    )
    done = run([PYTHON, "-c", code], cwd=tmp_path, seconds=60)
    assert (done.exit_code, done.timed_out) == (0, False)
    os.kill(int(done.stdout), signal.SIGKILL)


def _open_files() -> set[tuple[str, str]]:
    """This process's open files, by number and what they are; not the folder that is being read for it."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            found.add((number, os.readlink(f"/proc/self/fd/{number}")))
    return found


def _running(wanted: str) -> bool:
    for name in os.listdir("/proc"):
        try:
            if name.isdecimal() and Path(f"/proc/{name}/cmdline").read_text() == wanted:
                return True
        except OSError:
            continue
    return False


def test_an_interrupt_while_a_program_is_started_leaves_none_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signal arrives inside Popen, when the program runs and nobody holds it yet."""
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def interrupted(*args: Any, **options: Any) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] = real(*args, **options)
        started.append(process)
        os.kill(os.getpid(), signal.SIGINT)
        return process

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run(["sleep", "60"], cwd=tmp_path, seconds=70)
    assert started[0].returncode == -signal.SIGKILL
    assert signal.getsignal(signal.SIGINT) is before
