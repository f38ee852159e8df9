"""Mutants that are accepted as no mistakes: the file is added to, and a damaged one is left as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author import files
from lmr_author.cli import app
from lmr_author.code import Module, find
from lmr_author.errors import LmrError
from lmr_author.evaluation.evaluate import accept_mutants
from lmr_author.evaluation.mutants import mutants
from lmr_author.replay.staging import golden_overlay
from lmr_author.task import Task, equivalents
from tests import example as example_task


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return example_task.write(tmp_path)


def known(task: Task) -> list[str]:
    """The ids of all mutants of the first implementation."""
    info = task.load()
    one = info.implementations[0]
    golden = Module.parse(golden_overlay(task, info)[one.goal_file], one.goal_file)
    return [item.id for item in mutants(golden, find(golden, one.target))]


def accept_first(task: Task) -> str:
    """Accept the first mutant of the task; returns its id."""
    identifier = known(task)[0]
    accept_mutants(task, [identifier], "it is the same")
    return identifier


def test_several_are_accepted_at_once_or_none(task: Task, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = known(task)[:2]
    words = ["evaluate", str(task.root), "--reason", "they are the same"]

    assert app.main([*words, "--accept-mutant", first, "--accept-mutant", "0000aaaa"]) == 2
    assert equivalents.load(task).accepted == ()
    assert "no mutant '0000aaaa'" in capsys.readouterr().err

    assert app.main([*words, "--accept-mutant", first, "--accept-mutant", second]) == 0
    assert f"next: lmr-author evaluate {task.root}" in capsys.readouterr().err
    target = str(task.load().implementations[0].target)
    assert {one.id for one in equivalents.load(task).of(target)} == {first, second}


def test_an_acceptance_is_added_to_those_that_are_there(task: Task) -> None:
    earlier = {"target": "a.py::f", "id": "0" * 8, "diff": "-x", "reason": "y", "date": "2025-01-01"}
    files.write_json(task.equivalent_mutants_path, {"accepted": [earlier]})
    identifier = accept_first(task)
    accept_first(task)
    target = str(task.load().implementations[0].target)
    found = [(one.target, one.id, one.reason) for one in equivalents.load(task).accepted]
    assert found == [("a.py::f", "0" * 8, "y"), (target, identifier, "it is the same")]


@pytest.mark.parametrize("damaged", ["{", "[]", '{"a": 1}', '{"accepted": 3}', '{"accepted": [3]}'])
def test_a_damaged_file_is_not_written_over(task: Task, damaged: str) -> None:
    files.write_text(task.equivalent_mutants_path, damaged)
    with pytest.raises(LmrError, match=r"equivalent-mutants\.json"):
        equivalents.load(task)
    with pytest.raises(LmrError, match=r"equivalent-mutants\.json"):
        accept_first(task)
    assert task.equivalent_mutants_path.read_text() == damaged
