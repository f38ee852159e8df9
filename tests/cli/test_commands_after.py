"""Commands for a task that is made: review, status, export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests.cli.conftest import CATEGORY, GATES, HINGE
from tests.cli.program import lmr_forked, succeed, validate_with
from tests.support import make_task


@pytest.mark.bwrap
def test_a_sign_off_holds_until_the_task_changes(finished: Task, tmp_path: Path) -> None:
    template = succeed("review", "--template", cwd=tmp_path).json()
    filled = tmp_path / "answers.json"
    passed = {"answer": "pass", "comment": "I have read it"}
    filled.write_text(json.dumps({key: {**value, **passed} for key, value in template.items()}))
    command = ("review", finished.root, "--reviewer", "alice", "--answers", filled)
    done = succeed(*command, "--format", "json", cwd=tmp_path)
    assert done.err == "" and done.json()["signed_off"] is True
    validate_with("review", json.loads((finished.reviews_folder / "alice.json").read_bytes()))

    def status() -> dict[str, object]:
        document = succeed("status", finished.root, "--format", "json", cwd=tmp_path).json()
        return dict(document["tasks"][0])

    assert status()["reviewed_by"] == ["alice"]
    assert status()["signed_off_by"] == [], "reviews are blind until all are in"
    assert str(status()["note"]).startswith("1 of 3 reviews done")
    finished.dockerfile.write_text(finished.dockerfile.read_text() + "# a word more\n")
    fallen = status()
    assert fallen["reviewed_by"] == [] and fallen["state"] == "recorded"
    assert fallen["note"] == "changed since it was evaluated"

    proved = succeed(
        "evaluate", finished.root, "--repeats", "1", "--mutants", "30", "--format", "json", cwd=tmp_path
    )
    document, stored = proved.json(), json.loads(finished.evaluation_path.read_bytes())
    assert proved.err == "" and document["passed"] is True
    assert [gate["gate"] for gate in document["tasks"][0]["gates"]] == list(GATES)
    validate_with("evaluation", stored)
    assert {"task": finished.name, **stored} == document["tasks"][0]
    bob = ("review", finished.root, "--reviewer", "bob", "--answers", filled)
    succeed(*bob, cwd=tmp_path)  # the other reviewer's old sign-off does not keep this one from signing
    assert status()["reviewed_by"] == ["bob"]

    finished.dockerfile.write_text(finished.dockerfile.read_text() + "# and another\n")
    again = lmr_forked(*command, cwd=tmp_path)
    assert again.code == 1
    assert "evaluated before the task changed" in again.err and "not signed off" in again.err
    assert (finished.reviews_folder / "alice.json.1").is_file()


@pytest.mark.bwrap
def test_status_names_the_next_command_of_every_task(finished: Task, tmp_path: Path) -> None:
    tasks = finished.root.parent
    make_task(tasks, "2-New")
    masked = make_task(tasks, "3-Masked")
    succeed("mask", HINGE, "--category", CATEGORY, "--no-input", cwd=masked.root)
    (tasks / "4-Broken").mkdir()
    (tasks / "4-Broken" / "info.json").write_text("{")

    found = succeed("status", "--format", "json", cwd=tmp_path).json()["tasks"]
    assert [(item["task"][0], item["next"].split()[1]) for item in found] == [
        ("1", "review"),
        ("2", "mask"),
        ("3", "record"),
        ("4", "validate"),
    ]
    assert found[0]["done"] == ["created", "masked", "recorded", "evaluated"], "nobody validated it"
    text = succeed("status", tasks, cwd=tmp_path)
    assert [line.split()[0] for line in text.out.splitlines()] == [
        "task",
        *(item["task"] for item in found),
        "4",
        "by",
        "next:",
    ]
    assert text.err == ""
