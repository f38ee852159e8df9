"""Running programs: output, time limits, and no process left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lmr_author.errors import LmrError
from lmr_author.processes import run

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


def test_large_output_on_both_streams_does_not_block(tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write('e' * 3000000); sys.stdout.write('o' * 3000000)"
    done = run([PYTHON, "-c", code], cwd=tmp_path, seconds=60)
    assert (len(done.stdout), len(done.stderr)) == (3000000, 3000000)


def test_at_the_time_limit_children_go_too(tmp_path: Path) -> None:
    code = "import subprocess as s; s.Popen(['sleep', '987']); s.Popen(['sleep', '987']).wait()"
    done = run([PYTHON, "-c", code], cwd=tmp_path, seconds=1.5)
    assert done.timed_out
    assert done.exit_code < 0
    assert not _running("sleep\x00987\x00")


def test_children_left_behind_go_too(tmp_path: Path) -> None:
    done = run(
        [PYTHON, "-c", "import subprocess; subprocess.Popen(['sleep', '986'])"], cwd=tmp_path, seconds=30
    )
    assert (done.exit_code, done.timed_out) == (0, False)
    assert not _running("sleep\x00986\x00")


def test_a_missing_program_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LmrError, match="no-such-program is not installed"):
        run(["no-such-program"], cwd=tmp_path, seconds=1)


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
