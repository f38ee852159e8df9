"""A task that nobody has reviewed."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests import example as example_task


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task nobody has reviewed."""
    return example_task.write(tmp_path / "tasks")
