"""Tasks to export."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests.cli.program import succeed
from tests.support import make_task

EXAMPLE = Path(__file__).parents[2] / "tasks" / "1-rating-margin"


@pytest.fixture
def example(tmp_path: Path) -> Task:
    """A copy of the example task; its evaluation holds."""
    root = tmp_path / "tasks" / EXAMPLE.name
    shutil.copytree(EXAMPLE, root)
    return Task(root)


@pytest.fixture
def masked(tmp_path: Path) -> Task:
    """A task with one function masked, and nothing recorded."""
    task = make_task(tmp_path / "tasks", "2-Masked")
    succeed("mask", "pkg/losses.py::hinge", "--category", "Evaluation Metrics", "--no-input", cwd=task.root)
    return task
