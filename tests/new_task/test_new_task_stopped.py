"""A command that is stopped, or meets a full disk, leaves no half task; the command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gitrepos import commit

ROOT = Path(__file__).resolve().parents[3]


def start(
    tmp_path: Path, pdf: Path, source: Path, tasks: Path, wrap: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    code = (
        "import sys; from pathlib import Path; from lmr_author.cli.boundary import guarded;"
        "from lmr_author.authoring.new_task.new_task import *;"
        "say = lambda message: print(message, file=sys.stderr, flush=True);"
        "options = NewTaskOptions(sys.argv[1], sys.argv[2], tasks_dir=Path(sys.argv[3]));"
        "run = lambda: bool(new_task(options, say)) * 0;"
        "sys.exit(guarded(run))"
    )
    return subprocess.Popen(
        [*wrap, sys.executable, "-c", code, str(pdf), str(source), str(tasks)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("reading the paper", signal.SIGINT),
        ("cloning", signal.SIGKILL),
        ("reading the repository", signal.SIGINT),
        ("pinning", signal.SIGINT),
        ("writing the task", signal.SIGKILL),
    ],
)
def test_stopped_at_any_moment_there_is_no_task(
    tmp_path: Path, pdf: Path, source: Path, moment: str, number: signal.Signals
) -> None:
    commit(source, {f"data/{name}.txt": "x" * 1000 for name in range(300)})
    with start(tmp_path, pdf, source, tmp_path / "tasks") as process:
        assert process.stderr is not None
        assert any(line.startswith(moment) for line in process.stderr)
        process.send_signal(number)
        process.stderr.read()
        code = process.wait(30)
    left = (
        sorted(path.name for path in (tmp_path / "tasks").glob("*")) if (tmp_path / "tasks").exists() else []
    )
    if code == 0:  # it was done before the signal arrived
        assert left == ["1-PWT"]
        return
    assert code == (130 if number is signal.SIGINT else -9)
    # What a kill leaves is hidden and no task; an interruption leaves nothing at all.
    assert [name for name in left if not name.startswith(".")] == []
    if number is signal.SIGINT:
        assert left == []
    assert not any((tmp_path / "tasks").glob("*/info.json"))


@pytest.mark.bwrap
@pytest.mark.parametrize("size", [4_000, 60_000, 250_000])
def test_a_full_disk_leaves_nothing(tmp_path: Path, pdf: Path, source: Path, size: int) -> None:
    commit(source, {f"data/{name}.bin": os.urandom(20_000) for name in range(10)})
    disk = tmp_path / "disk"
    disk.mkdir()
    tasks = disk / "tasks"
    after = tmp_path / "after.txt"
    after.touch()
    bind = ("bwrap", "--bind", "/", "/", "--dev", "/dev", "--size", str(size), "--tmpfs", str(disk))
    listed = ("sh", "-c", f'"$@"; code=$?; ls -A {tasks} > {after} 2>&1; exit $code', "sh")
    with start(tmp_path, pdf, source, tasks, (*bind, *listed)) as process:
        _, said = process.communicate(timeout=120)
    assert process.returncode == 3, said
    assert "No space left" in said
    assert "hint: free" in said
    assert after.read_text().strip() == "" or "No such file" in after.read_text()
