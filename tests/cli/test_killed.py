"""kill -9 of a few commands: the same command completes them, and nothing is left. The rest: benchmarks/kills.py."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.killing import VERBS, Range
from lmr_author.core import owner
from lmr_author.core.files import write_text
from lmr_author.core.locks import held
from tests.cli.program import processes_with, start, wait_for
from tests.support import make_task

FEW = ("mask", "env local")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Range]:
    yield Range(tmp_path_factory.mktemp("kills"))


@pytest.mark.bwrap
@pytest.mark.parametrize("name", FEW)
def test_a_killed_command_is_completed_by_the_same_and_leaves_nothing(name: str, place: Range) -> None:
    verb = next(verb for verb in VERBS if verb.name == name)
    kill = place.kill(verb, random.Random(name))
    assert kill.completed, kill.detail
    assert kill.left == {}


def test_names_of_a_killed_process_are_removed_where_somebody_writes(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    gone, mine = _gone(), owner.me()
    package = task.root / "small-repo" / "pkg"
    for whose in (gone, mine, gone.replace(".", ".1", 1), f"{gone}1"):
        (package / f".losses.py.{whose}.abcdefgh.tmp").write_text("half")
    (task.root / f".golden_files.{gone}.abcdefgh.partial" / "deep").mkdir(parents=True)
    (tmp_path / f".page.html.{gone}.abcdefgh.tmp").touch()
    with held(task.root):
        pass
    # Gone: one that is dead, and one whose number another process has now. Not: ours, and another machine's.
    assert sorted(path.name for path in package.iterdir() if path.name.startswith(".")) == sorted(
        [f".losses.py.{mine}.abcdefgh.tmp", f".losses.py.{gone}1.abcdefgh.tmp"]
    )
    assert not [path for path in task.root.iterdir() if path.name.endswith(".partial")]
    write_text(tmp_path / "page.html", "whole")
    assert [path.name for path in tmp_path.iterdir() if "page.html" in path.name] == ["page.html"]


def test_programs_and_what_they_started_end_with_a_killed_command(tmp_path: Path) -> None:
    script = (
        "from pathlib import Path; from lmr_author.core.processes import run\n"
        f"run(['sleep', '{os.getpid()}.25'], cwd=Path({str(tmp_path)!r}), seconds=999)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script])
    wait_for(lambda: processes_with(f"{os.getpid()}.25"))
    process.kill()
    process.wait()
    wait_for(lambda: not processes_with(f"{os.getpid()}.25"), 20)


def test_workers_of_a_killed_validate_end(tmp_path: Path) -> None:
    for number in range(1, 13):
        make_task(tmp_path, f"{number}-Small")
    process = start("validate", "--jobs", "2", str(tmp_path), cwd=tmp_path)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers: list[int] = []
    # Two workers and multiprocessing's own tracker.
    wait_for(lambda: workers.extend(map(int, children.read_text().split())) or len(set(workers)) == 3)  # type: ignore[func-returns-value]
    process.kill()
    process.communicate()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), 20)


def _gone() -> str:
    """The owner that a process was which has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return f"{process.pid}.{owner.me().partition('.')[2]}"
