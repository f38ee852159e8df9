"""One task for all: recorded, challenged, and strengthened; tests that change it take a copy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from lmr_author.core.task.challenge import Challenge
from tests.challenge import made


@dataclass(frozen=True)
class Challenged:
    """The task's folder before anything, after a challenge, and after ``--strengthen``; the records of both."""

    fresh: Path
    first: Path
    strengthened: Path
    answers: Path
    before: Challenge
    after: Challenge

    def copy(self, folder: Path, of: str = "first") -> Task:
        """Return a copy of the task in one of the three states, its driver beside it."""
        source: Path = getattr(self, of)
        shutil.copytree(source, folder / source.name)
        shutil.copyfile(self.fresh.parent / "driver.py", folder / "driver.py")
        return Task(folder / source.name)


@pytest.fixture(scope="session")
def challenged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Challenged]:
    """The task and its answers."""
    parent = tmp_path_factory.mktemp("challenge")
    task = made.grid_task(parent)
    places = {name: parent / name / task.name for name in ("fresh", "first")}
    for name in places:
        (parent / name).mkdir()
    shutil.copyfile(parent / "driver.py", parent / "fresh" / "driver.py")
    shutil.copytree(task.root, places["fresh"])
    answers = made.answers(parent / "answers", made.MISREADINGS, made.REWRITES)
    (answers / "misreadings" / "other-function.py").write_text("def elsewhere(values):\n    return values\n")
    before = made.run(task, answers).record
    shutil.copytree(task.root, places["first"])
    after = made.run(task, strengthen=True).record
    yield Challenged(places["fresh"], places["first"], task.root, answers, before, after)
