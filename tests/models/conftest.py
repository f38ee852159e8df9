"""Tasks for models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests.evaluation.foreign import MEAN, STYLES, foreign_task

PAPER = {str(number): f"Text of page {number}. " + "formula " * 100 for number in range(1, 6)}


def with_paper(task: Task) -> Task:
    """Add the paper that hand-made tasks lack."""
    repository = task.repository(task.load())
    (repository / "paper.json").write_text(json.dumps(PAPER))
    (repository / "paper.pdf").write_bytes(b"%PDF-1.7")
    (repository / "use.py").write_text("from scores.smooth import softplus\n")
    return task


@pytest.fixture
def softplus(tmp_path: Path) -> Task:
    """A function of plain Python, with a hand-made test."""
    return with_paper(
        foreign_task(tmp_path / "tasks", STYLES["asserts"], retrieval_content=["use.py", "absent.py"])
    )


@pytest.fixture
def mean(tmp_path: Path) -> Task:
    """A method, beside ``softplus``."""
    masked = "class Mean:\n    def add(self, value):\n        raise NotImplementedError\n"
    task = foreign_task(
        tmp_path / "tasks", MEAN, masked=masked, name="8-Mean", goal_function="add", class_name="Mean"
    )
    golden = task.golden(task.load().implementations[0]).read_text()
    body = "        self.total += value\n        self.count += 1\n        return self.total / self.count\n"
    goal = task.goal(task.load(), task.load().implementations[0])
    goal.write_text(golden.replace(body, "        raise NotImplementedError\n"))
    return with_paper(task)
