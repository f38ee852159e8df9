"""Requirements of a repository that install its own published package."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks.dockerfile import own_requirements
from lmr_author.checks.view import TaskView
from lmr_author.masking import MaskOptions, mask
from lmr_author.task import Task
from tests.support import make_task

SETUP = "from setuptools import setup\n\nsetup(name='small_losses', packages=['pkg'])\n"


@pytest.fixture
def task(tmp_path: Path) -> Task:
    task = make_task(tmp_path)
    (task.root / "small-repo" / "setup.py").write_text(SETUP)
    return task


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("requirements.txt", "numpy\nsmall-losses==1.0  # ours\n", [(2, "small-losses==1.0")]),
        ("requirements/dev.txt", "Small.Losses[extra] >= 1\n", [(1, "Small.Losses[extra] >= 1")]),
        ("dev-requirements.in", "small_losses\n", [(1, "small_losses")]),
        (
            "environment.yml",
            "name: small-losses\ndependencies:\n  - pip:\n    - 'small-losses>=1'\n",
            [(4, "small-losses>=1")],
        ),
        ("requirements.txt", "# small-losses\n-e .\n.\nsmall-losses-data\nnumpy\n", []),
        ("notes.txt", "small-losses\n", []),
    ],
)
def test_each_form_of_file(task: Task, path: str, text: str, found: list[tuple[int, str]]) -> None:
    place = task.root / "small-repo" / path
    place.parent.mkdir(exist_ok=True)
    place.write_text(text)
    result = mask(task, MaskOptions(("pkg/losses.py::hinge",)), task.root)
    items = list(own_requirements(TaskView(task)))
    assert [(item.line, item.requirement) for item in items] == found
    assert all(item.path == path and item.sure for item in items)
    told = [remark for remark in result.remarks if "this repository's own package" in remark]
    assert [remark.split()[0] for remark in told] == [f"{path}:{line}" for line, _ in found]
