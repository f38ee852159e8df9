"""A small task with two functions masked."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.core.task import Task
from tests.pipeline import ADD, HINGE
from tests.support import make_task


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task with a function and a method masked."""
    made = make_task(tmp_path)
    mask(made, MaskOptions((HINGE, ADD), category="Evaluation Metrics"), made.root)
    return made
