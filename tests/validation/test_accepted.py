"""Findings accepted with a reason: what is stored, what it silences, and when it holds no longer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from lmr_author.cli.app import main
from lmr_author.cli.validate import findings_text
from lmr_author.core import resources
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Severity, Task, accepted
from lmr_author.proof.validation.report import accept_findings
from lmr_author.proof.validation.run import validate
from tests import example as example_task
from tests.example import GOLDEN, REPOSITORY

COPY = f"{REPOSITORY}/legacy/old.py"
REASON = "the paper's baseline, which the agent is meant to read"


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task with a copy in two files."""
    made = example_task.write(tmp_path)
    for name in (COPY, f"{REPOSITORY}/legacy/older.py"):
        (made.root / name).parent.mkdir(exist_ok=True)
        (made.root / name).write_text(GOLDEN)
    return made


def _accept(task: Task, *names: str, reason: str = REASON) -> None:
    accept_findings([task], validate([task]), names, reason)


def _codes(task: Task) -> list[tuple[str, str]]:
    return [(one.code, one.path) for one in validate([task]).findings]


def test_an_accepted_finding_counts_no_more_and_is_listed(task: Task) -> None:
    _accept(task, "LMR403:legacy/old.py")

    report = validate([task])

    assert [one.path for one in report.findings] == [f"{REPOSITORY}/legacy/older.py"]
    ((finding, entry),) = report.tasks[0].accepted
    assert (finding.path, finding.severity, entry.reason) == (COPY, Severity.ERROR, REASON)
    assert report.to_json()["summary"]["accepted"] == 1
    text = "\n".join(findings_text(report))
    assert "accepted LMR403: " in text and f"reason: {REASON}" in text
    assert "(1 accepted with a reason)" in text


def test_what_is_stored_is_as_the_schema_says(task: Task) -> None:
    _accept(task, "LMR403:legacy/old.py")

    data = json.loads(task.accepted_path.read_text())

    assert list(Draft202012Validator(resources.schema("accepted")).iter_errors(data)) == []
    (entry,) = accepted.load(task)
    assert (entry.code, entry.implementation, entry.path, entry.where) == ("LMR403", 1, COPY, "L11")
    assert len(entry.sha256) == 64
    assert _codes(task) == [("LMR403", f"{REPOSITORY}/legacy/older.py")]


@pytest.mark.parametrize("change", ["# more\n" + GOLDEN, GOLDEN + "\n# more\n"])
def test_when_the_file_changes_the_finding_is_back(change: str, task: Task) -> None:
    _accept(task, "LMR403:legacy/old.py")
    (task.root / COPY).write_text(change)

    report = validate([task])

    assert [one.code for one in report.findings] == ["LMR403", "LMR403"]
    assert "it was accepted, but the file has changed since" in report.findings[0].message
    assert REASON in report.findings[0].hint
    assert report.tasks[0].accepted == ()

    _accept(task, "LMR403:legacy/old.py", reason="still the baseline")
    assert validate([task]).tasks[0].accepted[0][1].reason == "still the baseline"


def test_a_finding_about_a_folder_stays_accepted(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    (task.root / REPOSITORY / ".git").mkdir()
    (task.root / REPOSITORY / ".git" / "HEAD").write_text("x")
    _accept(task, "LMR402")
    (task.root / REPOSITORY / ".git" / "HEAD").write_text("y")

    assert validate([task]).findings == ()


WRONG = {
    "no reason": (("LMR403:legacy/old.py",), " "),
    "no code": ((), REASON),
    "not found": (("LMR201",), REASON),
    "no code at all": (("copy",), REASON),
    "in another file": (("LMR403:legacy/new.py",), REASON),
    "in several files": (("LMR403",), REASON),
    "one of two is wrong": (("LMR403:legacy/old.py", "LMR999"), REASON),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_meant_clearly_is_refused_and_nothing_is_stored(name: str, task: Task) -> None:
    names, reason = WRONG[name]

    with pytest.raises(UsageError) as caught:
        _accept(task, *names, reason=reason)

    assert caught.value.hint
    assert not task.accepted_path.exists()


DAMAGED = [
    b"no json",
    b'{"accepted": 3}',
    b'{"accepted": [null, 3, {"code": 5}, {"code": "LMR403", "path": 3, "reason": "x"}]}',
]


@pytest.mark.parametrize("data", DAMAGED)
def test_a_damaged_file_accepts_nothing_is_reported_and_not_overwritten(data: bytes, task: Task) -> None:
    task.accepted_path.write_bytes(data)

    codes = [one.code for one in validate([task]).findings]

    assert codes.count("LMR403") == 2
    assert "LMR802" in codes
    with pytest.raises(LmrError):
        _accept(task, "LMR403:legacy/old.py")
    assert task.accepted_path.read_bytes() == data


def test_a_path_that_leads_outside_is_never_read(task: Task, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    _accept(task, "LMR403:legacy/old.py")
    task.accepted_path.write_text(task.accepted_path.read_text().replace(COPY, "../secret"))

    assert [one.code for one in validate([task]).findings].count("LMR403") == 2


def test_the_command_stores_and_shows_it(task: Task, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(task.root)

    assert main(["validate", folder, "--accept", "LMR403:legacy/old.py", "--reason", REASON]) == 1
    assert f"reason: {REASON}" in capsys.readouterr().out
    older = ["--accept", "LMR403:legacy/older.py", "--reason", "also a baseline"]
    assert main(["validate", folder, *older, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [item["reason"] for item in data["tasks"][0]["accepted"]] == [REASON, "also a baseline"]

    assert main(["validate", folder, "--reason", "alone"]) == 2
    assert main(["validate", folder, "--accept", "LMR403"]) == 2
    assert "error: " in capsys.readouterr().err
