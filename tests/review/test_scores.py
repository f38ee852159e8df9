"""Grades of candidates by people: stored for each person, blind until two have graded."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.input import PipeInput

from lmr_author.cli import ui
from lmr_author.cli.app import main
from lmr_author.cli.by_hand import ask_each, show_beside
from lmr_author.core import files
from lmr_author.core.errors import UsageError
from lmr_author.core.task import Task, ledger
from lmr_author.core.task.ledger import Ledger, LedgerEntry
from lmr_author.release.review import score
from tests import example as example_task
from tests.cli.program import validate_with
from tests.keyboard import ESCAPE, typed


def by_hand(task: Task, *words: object) -> int:
    return main(["judge", str(task.root), "--by-hand", *map(str, words)])


def graded(task: Task, candidate: Path, person: str, grade: str) -> int:
    return by_hand(
        task, "--candidate", candidate, "--reviewer", person, "--grade", grade, "--reason", "read it"
    )


def shown(capsys: pytest.CaptureFixture[str], task: Task, *words: object) -> Any:
    """What the program prints as JSON."""
    capsys.readouterr()
    assert by_hand(task, *words, "--format", "json") == 0
    return json.loads(capsys.readouterr().out)


def test_grades_are_hidden_until_two_people_gave_them(
    task: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = tmp_path / "model-a.py"
    one.write_text("def pairwise_loss(): ...\n")
    assert graded(task, one, "ada", "logically-correct") == 0
    assert shown(capsys, task, "--results")["hidden"] == 1
    assert shown(capsys, task, "--results")["disputes"] == []
    assert graded(task, one, "bo", "logically-incorrect") == 0
    found = shown(capsys, task, "--results")
    assert found["hidden"] == 0
    (dispute,) = found["disputes"]
    assert dispute["scores"] == {"ada": "logically-correct", "bo": "logically-incorrect"}
    for name in ("ada", "bo"):
        validate_with("scores", files.read_json(task.scores_folder / f"{name}.json"))


def test_agreement_over_candidates_and_a_changed_golden_ends_it(task: Task, tmp_path: Path) -> None:
    for number in range(4):
        one = tmp_path / f"m{number}.py"
        one.write_text(f"x = {number}\n")
        graded(task, one, "ada", "completely-correct" if number < 2 else "logically-incorrect")
        graded(task, one, "bo", "completely-correct" if number < 1 else "logically-incorrect")
    assert graded(task, one, "bo", "logically-incorrect") == 0, "in place of the same grade"
    found = score.scored([task]).agreement
    assert (found.judged, found.percent) == (4, 0.75)
    assert found.cohen == pytest.approx(0.5)
    golden = task.golden(task.load().implementations[0])
    golden.write_text(golden.read_text() + "# changed\n")
    assert score.scored([task]).agreement.judged == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--grade", "good", "--reason", "x"], "'good' is not one of"),
        (["--grade", "logically-correct"], "needs a justification"),
        ([], "no grade given"),
        (
            ["--grade", "logically-correct", "--reason", "x", "--implementation", "7"],
            "there is no implementation 7",
        ),
    ],
)
def test_wrong_grades(
    task: Task, tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = tmp_path / "a.py"
    one.write_text("x = 1\n")
    assert by_hand(task, "--candidate", one, "--reviewer", "ada", "--no-input", *arguments) == 2
    assert said in capsys.readouterr().err
    assert not task.scores_folder.exists()


RIGHT = (
    "Here it is:\n```python\ndef pairwise_loss(scores, labels, margin=1.0):\n    return sum(scores)\n```\n"
)


@pytest.fixture
def predictions(tmp_path: Path, task: Task) -> Path:
    """Four answers of three models; two of them are the same text."""
    answers = (("gpt", RIGHT), ("claude", RIGHT), ("llama", "I cannot."), ("llama", "x = 1"))
    lines = [json.dumps({"task": task.name, "model": model, "code": code}) for model, code in answers]
    path = tmp_path / "predictions.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def listed(
    capsys: pytest.CaptureFixture[str], task: Task, predictions: Path, person: str
) -> list[dict[str, str]]:
    """The answers that wait for a person's grade."""
    found = shown(capsys, task, "--predictions", predictions, "--reviewer", person, "--list")
    waiting: list[dict[str, str]] = found["waiting"]
    return waiting


def test_answers_of_models_are_graded_without_their_names(
    task: Task, predictions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = listed(capsys, task, predictions, "ada")
    assert len(first) == 2, "a refusal is no implementation, which needs no reader"
    assert not any(name in json.dumps(first) for name in ("gpt", "claude", "llama"))
    beside = next(one for one in first if one["text"].startswith("def pairwise_loss"))
    assert beside["golden"].startswith("def pairwise_loss"), "function beside function"
    assert "Here it is" not in beside["text"]

    for person, other in (("ada", "logically-incorrect"), ("bo", "logically-correct")):
        grades = {
            one["candidate"]: {
                "score": "completely-correct" if one is beside else other, "justification": "read it"
            }
            for one in first
        }  # fmt: skip
        file = tmp_path / f"{person}.json"
        file.write_text(json.dumps(grades))
        given = ("--predictions", predictions, "--reviewer", person, "--grades", file, "--no-input")
        assert by_hand(task, *given) == 0
        assert listed(capsys, task, predictions, person) == []
        stored = files.read_json(task.scores_folder / f"{person}.json")
        validate_with("scores", stored)
        assert not any(name in json.dumps(stored) for name in ("gpt", "claude", "llama"))

    found = shown(capsys, task, "--results", "--predictions", predictions)
    assert found["models"] == {
        "claude": {"completely-correct": 1},
        "gpt": {"completely-correct": 1},
        "llama": {"disputed": 1, "logically-incorrect": 1},
    }
    assert len(found["disputes"]) == 1


def test_answers_of_one_model_only(task: Task, predictions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ("--predictions", predictions, "--reviewer", "ada", "--list")
    assert by_hand(task, *call, "--model", "llama") == 0
    shown = capsys.readouterr().err
    assert "1 answer left for you" in shown
    assert "graded by rule: 1 answer without an implementation (logically-incorrect)" in shown
    assert by_hand(task, *call, "--model", "nobody") == 2
    assert "those of claude, gpt, llama" in capsys.readouterr().err


UNKNOWN = '{"answer-00000000": {"score": "logically-correct", "justification": "x"}}'


@pytest.mark.parametrize(
    ("grades", "said"),
    [(UNKNOWN, "is waiting for your grade"), ("[1]", "not an object"), (None, "no grades given")],
)
def test_wrong_files_of_grades_store_nothing(
    task: Task,
    predictions: Path,
    tmp_path: Path,
    grades: str | None,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    call: list[object] = ["--predictions", predictions, "--reviewer", "ada", "--no-input"]
    if grades is not None:
        (tmp_path / "g.json").write_text(grades)
        call += ["--grades", tmp_path / "g.json"]
    assert by_hand(task, *call) == 2
    assert said in capsys.readouterr().err
    assert not task.scores_folder.exists()


def test_a_wrong_grade_among_right_ones_stores_none(task: Task, predictions: Path) -> None:
    left = score.waiting([task], predictions, "ada", None)
    good = {"score": "logically-correct", "justification": "x"}
    for bad in ({"score": "fine", "justification": "x"}, {"score": "logically-correct"}, "fine"):
        with pytest.raises(UsageError):
            score.score_all(left, "ada", {left[0].name: good, left[1].name: bad})
    assert not task.scores_folder.exists()


def test_the_same_answer_to_two_tasks_is_graded_for_each(tmp_path: Path) -> None:
    tasks = [example_task.write(tmp_path, number) for number in (1, 2)]
    lines = [{"task": task.name, "index": 1, "model": "gpt", "code": ""} for task in tasks]
    file = tmp_path / "nothing.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    left = score.waiting(tasks, file, "ada", None)
    names = {one.name: one.task for one in left}
    assert len(names) == 2
    grade = {"score": "logically-incorrect", "justification": "empty"}
    score.score_all(left, "ada", dict.fromkeys(names, grade))
    for name, task in names.items():
        (entry,) = files.read_json(task.scores_folder / "ada.json")["scores"]
        assert entry["candidate"] == name


def test_at_a_terminal_each_grade_is_stored_before_the_next_is_asked(
    task: Task, predictions: Path, keys: PipeInput
) -> None:
    left = score.waiting([task], predictions, "ada", None)
    keys.send_text("lc\rclose\rs\r")
    assert ask_each([each for each in left if not each.rule], "ada") == 1
    (entry,) = files.read_json(task.scores_folder / "ada.json")["scores"]
    assert (entry["score"], entry["justification"]) == ("logically-correct", "close")
    assert len(score.waiting([task], predictions, "ada", None)) == 2


def test_there_is_a_way_back(task: Task, predictions: Path, keys: PipeInput) -> None:
    """From the reason to the grade, and from an answer to the one before, which is graded anew."""
    left = [each for each in score.waiting([task], predictions, "ada", None) if not each.rule]
    reasons = ("cc\r", "right after all\r", "lc\r", "nearly\r")
    with typed(keys, "li\r", ESCAPE, "lc\r", "close\r", "b\r", *reasons):
        assert ask_each(left, "ada") == 2
    stored = files.read_json(task.scores_folder / "ada.json")["scores"]
    assert {one["candidate"]: one["justification"] for one in stored} == {
        left[0].name: "right after all",
        left[1].name: "nearly",
    }


def test_nobody_is_asked_for_what_equals_the_golden_or_is_no_implementation(
    task: Task, tmp_path: Path
) -> None:
    golden = task.golden(task.load().implementations[0]).read_text()
    path = tmp_path / "p.jsonl"
    codes = (golden, golden.replace("\n    return", "\n    # the mean\n    return"), "x = 1", "", "I cannot.")
    path.write_text(
        "".join(json.dumps({"task": task.name, "model": "m", "code": code}) + "\n" for code in codes)
    )
    left = score.waiting([task], path, "ada", None)
    (asked,) = (each for each in left if not each.rule)
    assert "x = 1" in asked.text
    assert Counter(each.rule for each in left if each.rule) == {
        "completely-correct": 2,
        "logically-incorrect": 2,
    }
    assert score.grades_of_predictions([task], path) == {}, "another answer of the model is not graded yet"
    for person in ("ada", "bo"):
        score.score(asked, person, "logically-correct", "no loss")
    found = score.grades_of_predictions([task], path)
    assert [found[key].get(score.BY_RULE, "") for key in sorted(found, key=lambda key: key.sample)] == [
        "completely-correct", "completely-correct", "", "logically-incorrect", "logically-incorrect"
    ]  # fmt: skip


@pytest.mark.parametrize("width", [80, 140])
def test_an_answer_stands_beside_the_golden_where_there_is_room(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ui.console(), "width", width)
    show_beside(
        ("golden", "def f(x):\n    return x + 1\n"), ("answer", "def f(x):\n    y = x\n    return y\n")
    )
    lines = [line.rstrip() for line in capsys.readouterr().err.rstrip().splitlines()]
    if width == 140:
        assert [" ".join(line.split()) for line in lines] == [
            "golden answer", "def f(x): def f(x):", "return x + 1 | y = x", "> return y",
        ]  # fmt: skip
    else:
        assert lines == [
            "golden", "  def f(x):", "|     return x + 1", "",
            "answer", "  def f(x):", "|     y = x", ">     return y",
        ]  # fmt: skip


def test_the_papers_words_are_shown(task: Task, predictions: Path) -> None:
    (one, *_) = score.waiting([task], predictions, "ada", None)
    assert score.passages(one) == []
    entry = LedgerEntry(
        relation="implements", lines="3", quote="The loss of a pair", where="equation (1)", page=2
    )
    ledger.save(task, Ledger(entries=(entry, replace(entry, index=2))))
    assert score.passages(one) == [("equation (1), page 2", "“The loss of a pair”")]


@pytest.mark.parametrize("damaged", ["{", '{"reviewer": "a", "scores": [{"score": "?"}]}'])
def test_a_damaged_file_of_grades_is_not_written_over(
    task: Task, tmp_path: Path, damaged: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = tmp_path / "model-a.py"
    one.write_text("def pairwise_loss(): ...\n")
    task.scores_folder.mkdir(parents=True)
    (task.scores_folder / "ada.json").write_text(damaged)
    assert graded(task, one, "ada", "logically-correct") == 3
    shown = capsys.readouterr().err
    assert "ada.json" in shown and "hint: " in shown
    assert (task.scores_folder / "ada.json").read_text() == damaged
    assert graded(task, one, "bo", "logically-correct") == 0
