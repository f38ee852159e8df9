"""A lab's own checklist, in place of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.cli.app import main
from lmr_author.core import files
from lmr_author.core.errors import UsageError
from lmr_author.core.task import Task
from lmr_author.release.review.checklist import HUMAN
from lmr_author.release.review.review_status import read_checklist, review_status
from tests.cli.program import validate_with
from tests.review.reviewing import run

LAB = """
name: our-lab
reviewers: 2
items:
  - id: readable
    question: Is the code readable?
    look_at: the goal file
  - id: fun
    question: Is it fun?
"""


def test_a_lab_has_its_own_list_and_number_of_reviewers(task: Task, tmp_path: Path) -> None:
    (task.root.parent / "checklist.yaml").write_text(LAB)
    given = tmp_path / "answers.json"
    given.write_text(json.dumps({"readable": "pass", "fun": {"answer": "pass"}}))
    for name in ("ada", "bo"):
        main(["review", str(task.root), "--reviewer", name, "--answers", str(given)])
    stored = files.read_json(task.reviews_folder / "ada.json")
    validate_with("review", stored)
    assert stored["checklist"] == "our-lab"
    assert [item["id"] for item in stored["items"] if item["kind"] == "human"] == ["readable", "fun"]
    assert review_status(task).state == "accepted"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("items: []", "'name' is a required property"),
        ("name: x\nitems: [{id: A b, question: q}]", "items/0/id"),
        ("name: x\nitems: [{id: a, question: q}, {id: a, question: r}]", "two items have the id 'a'"),
    ],
)
def test_lists_that_are_none(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(UsageError) as raised:
        read_checklist(tmp_path / "c.yaml")
    assert complaint in raised.value.message


def test_the_template_is_of_the_list_that_is_named_or_beside_the_task(
    task: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.yaml").write_text(LAB)
    code, shown = run(capsys, "review", "--template", "--checklist", tmp_path / "c.yaml")
    assert code == 0 and json.loads(shown)["fun"]["question"].endswith(" (pass, fail, unsure)")
    code, shown = run(capsys, "review", task.root, "--template")
    assert code == 0 and list(json.loads(shown)) == [item.id for item in HUMAN]
    (task.root.parent / "checklist.yaml").write_text(LAB)
    code, shown = run(capsys, "review", task.root, "--template")
    assert code == 0 and list(json.loads(shown)) == ["readable", "fun"]
    code, shown = run(capsys, "review", task.root.parent / "nowhere", "--template")
    assert code == 3
