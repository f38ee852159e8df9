"""A task that nobody has reviewed."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.taskdir import TaskDir


@pytest.fixture
def task(tmp_path: Path) -> TaskDir:
    """A task nobody has reviewed."""
    return example_task.write(tmp_path / "tasks")
