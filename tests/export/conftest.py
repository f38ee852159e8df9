"""Tasks to export."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests.cli.program import succeed
from tests.support import STARTERS, make_task, starter

EXAMPLE = STARTERS / "1-rating-margin"
PLAIN = STARTERS / "4-demo-packing"
"""It needs nothing but Python: what runs in a container begins at once."""


@pytest.fixture
def example(tmp_path: Path) -> Task:
    return starter(EXAMPLE.name, tmp_path / "tasks")


@pytest.fixture
def masked(tmp_path: Path) -> Task:
    """A task with one function masked, and nothing recorded."""
    task = make_task(tmp_path / "tasks", "2-Masked")
    succeed("mask", "pkg/losses.py::hinge", "--category", "Evaluation Metrics", "--no-input", cwd=task.root)
    return task
