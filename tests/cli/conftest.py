"""One task, authored once by the commands that the demo prints, and copied by the tests that change it."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests.cli.program import Ended, lmr_forked, succeed
from tests.support import make_task

HINGE = "pkg/losses.py::hinge"
CATEGORY = "Evaluation Metrics"
GATES = (
    "build", "untampered", "golden-passes", "masked-fails", "target-entered", "trivial-fails", "mutants-die",
    "isolated",
)  # fmt: skip


@dataclass(frozen=True)
class Demo:
    """A finished run of ``lmr-author demo``: its folder, what it said, and the commands it printed."""

    folder: Path
    ended: Ended

    @property
    def commands(self) -> list[list[str]]:
        """The commands, as a shell would split them."""
        return [shlex.split(line[2:]) for line in self.ended.err.splitlines() if line.startswith("$ ")]

    @property
    def task(self) -> Task:
        """The task it made."""
        return Task(self.folder / "tasks" / "1-margin-focal-contrast")


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """``lmr-author demo``, run once: by the first process of the test runner that needs it, for the others too."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder, kept = shared / "demo" / "work", shared / "demo.json"
    with (shared / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            folder.parent.mkdir()
            kept.write_text(json.dumps(asdict(lmr_forked("demo", "--dir", folder, cwd=folder.parent))))
    return Demo(folder, Ended(**json.loads(kept.read_text())))


@pytest.fixture
def finished(demo: Demo, tmp_path: Path) -> Task:
    """A copy of the finished task, to be changed; the copy has its content, so its evaluation holds."""
    root = tmp_path / "tasks" / demo.task.name
    shutil.copytree(demo.task.root, root, symlinks=True)
    return Task(root)


@pytest.fixture
def fresh(tmp_path: Path) -> Task:
    """A small task with nothing masked."""
    return make_task(tmp_path)


@pytest.fixture
def masked(fresh: Task) -> Task:
    """A small task with one function masked by the command."""
    succeed("mask", HINGE, "--category", CATEGORY, "--no-input", cwd=fresh.root)
    return fresh
