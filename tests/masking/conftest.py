"""A small task in which nothing is masked."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests.support import make_task


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return make_task(tmp_path)
