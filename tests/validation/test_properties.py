"""The four properties of LMR-Bench's Table 1: each is shown by its checks, and by nothing less."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.cli.validate import findings_text
from lmr_author.core.task import Task
from lmr_author.proof.validation.report import PROPERTIES
from lmr_author.proof.validation.run import select_checks, validate
from tests import example as example_task
from tests.checks import cases

NAMES = ["from a publication", "repository-level", "unit tests", "Docker"]


def _held(task: Task, *select: str) -> dict[str, bool | None]:
    (report,) = validate([task], select_checks(select)).tasks
    return {one.name: one.holds for one in report.properties}


def test_a_good_task_has_all_four(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    (report,) = validate([task]).tasks

    assert [one.name for one in report.properties] == NAMES
    assert all(one.holds is True for one in report.properties)
    assert "  Docker             yes" in "\n".join(findings_text(validate([task])))


@pytest.mark.parametrize("name", NAMES)
def test_each_check_of_a_property_is_needed(name: str, tmp_path: Path) -> None:
    for number, code in enumerate(PROPERTIES[name]):
        task = example_task.write(tmp_path / str(number))
        cases.first(code).apply(task)
        assert _held(task)[name] is False, code
        (report,) = validate([task]).tasks
        assert code in next(held.evidence for held in report.properties if held.name == name)


def test_an_image_need_not_hold_the_repository_where_the_folder_is_mounted(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    cases.named("LMR206/no-copy-at-all").apply(task)
    assert _held(task)["Docker"] is True


def test_a_check_that_did_not_run_proves_nothing(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)

    assert set(_held(task, "LMR4").values()) == {None}
    assert _held(task, "LMR2", "LMR406")["Docker"] is True
    assert _held(task, "LMR2")["Docker"] is None


def test_nothing_there_is_no_property(tmp_path: Path) -> None:
    task = Task(tmp_path / "1-Empty")
    task.root.mkdir()

    assert set(_held(task).values()) == {False}
