"""A task with code whose objects cannot be stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.task import Task
from tests.recording.helped import RUN, WORDS
from tests.support import make_task


@pytest.fixture
def task(tmp_path: Path) -> Task:
    made = make_task(tmp_path)
    root = made.root / "small-repo"
    (root / "pkg/words.py").write_text(WORDS)
    (root / "words_run.py").write_text(RUN)
    return made
