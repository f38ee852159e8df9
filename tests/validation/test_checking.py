"""The findings that status, review and report know."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author import files
from lmr_author.reporting import status
from lmr_author.task import Task
from lmr_author.validation import run
from lmr_author.validation.run import checked
from tests import example as example_task


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task with a finding and a sign-off of an earlier state."""
    made = example_task.write(tmp_path / "tasks")
    made.dockerfile.unlink()
    review = {"format": "lmr-review/1", "reviewer": "ada", "signed_off": True, "content_digest": "0" * 64}
    files.write_json(made.reviews_folder / "ada.json", review)
    return made


def test_stale_records_are_asked_about_elsewhere(task: Task) -> None:
    everything = {finding.code for finding in run.validate([task]).findings}
    assert "LMR803" in everything
    assert {finding.code for finding in checked([task]).findings} == everything - {"LMR803"}


def test_tasks_that_collide_are_told_together(task: Task) -> None:
    twin = example_task.write(task.root.parent / "again")
    alone = status.statuses([task])
    together = status.statuses([task, twin])
    assert [one.task for one in together] == [task.name, twin.name]
    assert together[0].note != alone[0].note
