"""A task that a model drafted is confirmed by people: they see it, the model cannot review it, `status` counts it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from lmr_author.core.task.provenance import DraftOrigin
from lmr_author.release.review.evidence_of_questions import evidence_of
from tests.review.reviewing import run, said

MODEL = "openai/gpt-9"


@pytest.fixture
def drafted(task: Task) -> Task:
    DraftOrigin(model=MODEL, date="2026-11-29T10:00:00+00:00").write(task.drafted_path)
    return task


def test_reviewers_see_who_drafted_what(drafted: Task) -> None:
    evidence = evidence_of(drafted, ())["core"]
    assert "a model drafted it, and nobody has confirmed it yet" in evidence.doubts
    assert f"{MODEL} wrote on 2026-11-29: target, instruction" in str(evidence.pieces)


@pytest.mark.parametrize("name", ["gpt-9", "GPT-9"])
def test_the_model_does_not_review_its_own_task(
    name: str, drafted: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = tmp_path / "answers.json"
    answers.write_text("{}")
    code, out = run(capsys, "review", drafted.root, "--reviewer", name, "--answers", answers)
    assert code == 2 and "drafted this task and cannot review it" in out
    assert not list(drafted.reviews_folder.glob("*.json"))


@pytest.mark.parametrize(
    ("answers", "state", "words"),
    [
        (None, "drafted", "not confirmed by anybody yet"),
        ({}, "confirmed", f"drafted by {MODEL}: confirmed"),
        ({"core": "fail"}, "rejected", f"drafted by {MODEL}: rejected"),
    ],
)
def test_status_says_what_people_made_of_it(
    answers: dict[str, str] | None, state: str, words: str, drafted: Task, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ada", "ben", "cleo") if answers is not None else ():
        said(drafted, name, **(answers or {}))
    _, out = run(capsys, "status", drafted.root)
    assert words in out
    _, out = run(capsys, "status", drafted.root, "--format", "json")
    assert json.loads(out)["drafts"] == {state: 1}
