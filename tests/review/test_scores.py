"""Grades of candidates by people: stored for each person, blind until two have graded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author import files
from lmr_author.checks import example_task
from lmr_author.cli.app import main
from lmr_author.taskdir import TaskDir
from lmr_author.workflow import score
from tests.cli.program import validate_with


@pytest.fixture
def task(tmp_path: Path) -> TaskDir:
    """A task with one implementation."""
    return example_task.write(tmp_path / "tasks")


def graded(task: TaskDir, candidate: Path, person: str, grade: str) -> int:
    """Grade a candidate by flags."""
    return main(["score", str(task.root), "--candidate", str(candidate), "--reviewer", person,
                 "--score", grade, "--because", "read it"])  # fmt: skip


def results(capsys: pytest.CaptureFixture[str], task: TaskDir) -> dict[str, object]:
    """What is shown of the grades."""
    capsys.readouterr()
    assert main(["score", str(task.root), "--results", "--format", "json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_grades_are_hidden_until_two_people_gave_them(
    task: TaskDir, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = tmp_path / "model-a.py"
    one.write_text("def pairwise_loss(): ...\n")
    assert graded(task, one, "ada", "logically-correct") == 0
    assert results(capsys, task)["hidden"] == 1
    assert results(capsys, task)["disputes"] == []

    assert graded(task, one, "bo", "logically-incorrect") == 0
    found = results(capsys, task)
    assert found["hidden"] == 0
    (dispute,) = found["disputes"]  # type: ignore[misc]
    assert dispute["scores"] == {"ada": "logically-correct", "bo": "logically-incorrect"}
    for name in ("ada", "bo"):
        validate_with("scores", files.read_json(task.scores_folder / f"{name}.json"))


def test_a_second_grade_of_the_same_text_replaces_the_first(task: TaskDir, tmp_path: Path) -> None:
    one = tmp_path / "a.py"
    one.write_text("x = 1\n")
    graded(task, one, "ada", "logically-correct")
    graded(task, one, "ada", "completely-correct")
    one.write_text("x = 2\n")
    graded(task, one, "ada", "logically-incorrect")
    stored = files.read_json(task.scores_folder / "ada.json")["scores"]
    assert [entry["score"] for entry in stored] == ["completely-correct", "logically-incorrect"]


def test_agreement_over_candidates_and_a_changed_golden_ends_it(task: TaskDir, tmp_path: Path) -> None:
    for number in range(4):
        one = tmp_path / f"m{number}.py"
        one.write_text(f"x = {number}\n")
        graded(task, one, "ada", "completely-correct" if number < 2 else "logically-incorrect")
        graded(task, one, "bo", "completely-correct" if number < 1 else "logically-incorrect")
    found = score.scored([task]).agreement
    assert (found.judged, found.percent) == (4, 0.75)
    assert found.cohen == pytest.approx(0.5)
    golden = task.golden(task.load().implementations[0])
    golden.write_text(golden.read_text() + "# changed\n")
    assert score.scored([task]).agreement.judged == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--score", "good", "--because", "x"], "the score 'good' is none"),
        (["--score", "logically-correct"], "needs a justification"),
        ([], "no score given"),
        (["--score", "logically-correct", "--because", "x", "--implementation", "7"], "which implementation"),
    ],
)
def test_wrong_grades(
    task: TaskDir, tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = tmp_path / "a.py"
    one.write_text("x = 1\n")
    call = ["score", str(task.root), "--candidate", str(one), "--reviewer", "ada", "--no-input"]
    assert main([*call, *arguments]) == 2
    assert said in capsys.readouterr().err
    assert not task.scores_folder.exists()
