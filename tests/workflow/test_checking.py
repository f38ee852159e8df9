"""What status, review and report know of the findings: those of ``validate``, from its cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author import files
from lmr_author.checks import example_task
from lmr_author.cli.app import main
from lmr_author.taskdir import TaskDir
from lmr_author.validation import run, store
from lmr_author.workflow import status
from lmr_author.workflow.checking import STALE_RECORDS, checked


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TaskDir:
    """A task with a finding and a sign-off of an earlier state, and a cache of its own."""
    monkeypatch.setenv("LMR_AUTHOR_CACHE", str(tmp_path / "cache"))
    made = example_task.write(tmp_path / "tasks")
    made.dockerfile.unlink()
    review = {"format": "lmr-review/1", "reviewer": "ada", "signed_off": True, "content_digest": "0" * 64}
    files.write_json(made.reviews_folder / "ada.json", review)
    return made


def test_stale_records_are_asked_about_elsewhere(task: TaskDir) -> None:
    everything = {finding.code for finding in run.validate([task]).findings}
    assert STALE_RECORDS in everything
    assert {finding.code for finding in checked([task]).findings} == everything - {STALE_RECORDS}


def test_a_task_that_validate_has_seen_is_not_read_again(
    task: TaskDir, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = store.Store.of_user([check.code for check in run.ALL_CHECKS])
    kept.settled = 0.0
    before = run.validate([task], store=kept)

    def refuse(*arguments: object) -> None:
        raise AssertionError("it was examined again")

    monkeypatch.setattr(run, "look", refuse)
    monkeypatch.setattr(store.Store, "of_user", classmethod(lambda cls, codes: kept))
    found = checked([task])
    assert {one.code for one in found.findings} == {one.code for one in before.findings} - {STALE_RECORDS}
    assert main(["status", str(task.root)]) == 0
    assert task.name in capsys.readouterr().out


def test_tasks_that_collide_are_told_together(task: TaskDir) -> None:
    twin = example_task.write(task.root.parent / "again")
    alone = status.statuses([task])
    together = status.statuses([task, twin])
    assert [one.task for one in together] == [task.name, twin.name]
    assert together[0].note != alone[0].note
