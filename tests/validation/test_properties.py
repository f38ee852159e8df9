"""The four properties of LMR-Bench's Table 1: each is shown by its checks, and by nothing less."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.cli.findings import findings_text
from lmr_author.task import Task
from lmr_author.validation.report import PROPERTIES
from lmr_author.validation.run import select_checks, validate
from tests import example as example_task
from tests import example as example_texts
from tests.checks import cases

NAMES = ["from a publication", "repository-level", "unit tests", "Docker"]


def _held(task: Task, *select: str) -> dict[str, bool | None]:
    (report,) = validate([task], select_checks(select)).tasks
    return {one.name: one.holds for one in report.properties}


def test_a_good_task_has_all_four_with_evidence(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    (report,) = validate([task]).tasks

    assert [one.name for one in report.properties] == NAMES
    assert all(one.holds is True and one.evidence for one in report.properties)
    assert "  Docker             yes (FROM pytorch/pytorch:" in "\n".join(findings_text(validate([task])))


@pytest.mark.parametrize("name", NAMES)
def test_each_check_of_a_property_is_needed(name: str, tmp_path: Path) -> None:
    (one,) = [one for one in PROPERTIES if one.name == name]
    for number, code in enumerate(one.codes):
        task = example_task.write(tmp_path / str(number))
        cases.first(code).apply(task)
        assert _held(task)[name] is False, code
        (report,) = validate([task]).tasks
        assert code in next(held.evidence for held in report.properties if held.name == name)


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        ("commented-out", False),
        ("the-published-repository-is-cloned-in-its-place", False),
        ("no-copy-at-all", True),  # where the scripts mount the folder
    ],
)
def test_an_image_that_should_hold_the_repository_and_does_not(
    change: str, holds: bool, tmp_path: Path
) -> None:
    task = example_task.write(tmp_path)
    cases.named(f"LMR206/{change}").apply(task)
    assert _held(task)["Docker"] is holds


def test_a_check_that_did_not_run_proves_nothing(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)

    assert set(_held(task, "LMR4").values()) == {None}
    assert _held(task, "LMR2", "LMR406")["Docker"] is True
    assert _held(task, "LMR2")["Docker"] is None
    assert _held(task, "LMR201")["Docker"] is None


def test_nothing_there_is_no_property(tmp_path: Path) -> None:
    task = Task(tmp_path / "1-Empty")
    task.root.mkdir()

    assert set(_held(task).values()) == {False}


def test_a_file_with_its_tests_is_no_repository(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    repository = task.root / example_texts.REPOSITORY
    for path in repository.rglob("*.py"):
        if path.name != "losses.py" and path.parent.name != "unit_test":
            path.unlink()
    (repository / "unit_test" / "helper.py").write_text("VALUE = 1\n")

    assert _held(task)["repository-level"] is False
