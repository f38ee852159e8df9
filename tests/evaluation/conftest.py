"""Small tasks: two functions masked, or one of them recorded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.core.task import Task
from tests.pipeline import ADD, HINGE, only_hinge, recorded
from tests.support import make_task


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task with a function and a method masked."""
    made = make_task(tmp_path)
    mask(made, MaskOptions((HINGE, ADD), category="Evaluation Metrics"), made.root)
    return made


@pytest.fixture(scope="session")
def recorded_hinge(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """A recorded task, without any library; tests that change it take a copy."""
    made = only_hinge(tmp_path_factory.mktemp("recorded"))
    recorded(made)
    return made


@pytest.fixture
def hinge(recorded_hinge: Task, tmp_path: Path) -> Task:
    """A copy of the recorded task."""
    return Task(shutil.copytree(recorded_hinge.root, tmp_path / recorded_hinge.name))
