"""A small task with a file of look-alikes."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.task import Task
from tests.masking.also.look_alikes import LEGACY, repository
from tests.support import make_task


@pytest.fixture
def task(tmp_path: Path) -> Task:
    task = make_task(tmp_path)
    (repository(task) / "legacy.py").write_bytes(LEGACY)
    return task
