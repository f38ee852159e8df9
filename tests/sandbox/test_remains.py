"""One suite for every backend: nothing is left behind by what was interrupted or killed."""

from __future__ import annotations

import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lmr_author.core import owner
from lmr_author.runtime.sandbox.base import Sandbox
from tests.sandbox.beats import GRANDCHILD, stopped


def start_owner(owner_script: list[str], shared: Path, seconds: float) -> subprocess.Popen[bytes]:
    """Start a process that runs a beating command in a sandbox, and wait until it beats."""
    shared.mkdir()
    argv = [*owner_script, str(shared), str(seconds), GRANDCHILD + "beat()"]
    with (shared / "errors").open("wb") as errors:
        process = subprocess.Popen(argv, stderr=errors)
    deadline = time.monotonic() + 60
    while not (shared / "beat").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def left_by(pid: int) -> list[str]:
    """Containers, processes and folders whose owner is (or was) this process."""
    listed = subprocess.run(
        ["docker", "ps", "-a", "--filter", "label=org.lmr-author.owner", "--format", "{{.Labels}}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    containers = [line for line in listed.stdout.splitlines() if f"owner={pid}." in line]
    folders = [str(path) for path in Path(tempfile.gettempdir()).glob(f"lmr-author-run-{pid}.*")]
    return [*containers, *folders, *map(str, owner.marked(f"{pid}."))]


@pytest.mark.parametrize("presses", [1, 2])
def test_interrupt_leaves_nothing(owner_script: list[str], tmp_path: Path, presses: int) -> None:
    process = start_owner(owner_script, tmp_path / "shared", 60)
    assert left_by(process.pid)
    for _ in range(presses):
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    assert process.wait(30) != 0
    assert left_by(process.pid) == []
    assert stopped(tmp_path / "shared" / "beat")
    assert "Exception in thread" not in (tmp_path / "shared" / "errors").read_text()


def test_killed_owners_remains_are_removed_by_the_next(
    owner_script: list[str], tmp_path: Path, make: Callable[[str], Sandbox], backend: str
) -> None:
    process = start_owner(owner_script, tmp_path / "shared", 60)
    process.kill()
    process.wait()
    with make(backend) as following:
        following.prepare()
    assert left_by(process.pid) == []
    assert stopped(tmp_path / "shared" / "beat")


def test_running_owners_are_left_alone(
    owner_script: list[str], tmp_path: Path, make: Callable[[str], Sandbox], backend: str
) -> None:
    process = start_owner(owner_script, tmp_path / "shared", 60)
    with make(backend) as following:
        following.prepare()
    assert not stopped(tmp_path / "shared" / "beat")
    process.send_signal(signal.SIGINT)
    process.wait(30)
