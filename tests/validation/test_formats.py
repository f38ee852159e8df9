"""Reports for the commands of GitHub Actions."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lmr_author.core.task import Finding, Severity, Task, accepted
from lmr_author.proof.validation.report import Report, TaskReport, github
from lmr_author.proof.validation.run import select_checks, validate
from tests import example as example_task
from tests.checks import cases

NASTY = "50% of\r\n::error::forged, a:b ]]> <x> & \x1b[31m \x00 \ud800 ‮ é"


@pytest.fixture
def tasks(tmp_path: Path) -> list[Task]:
    """Two tasks: one with findings of every severity, one of them accepted; one without any."""
    first = example_task.write(tmp_path / "tasks")
    for code in ("LMR704", "LMR310"):
        cases.first(code).apply(first)
    for name in ("LMR203/torch-2-5-unquoted", "LMR701/ds-store", "LMR003/the-legacy-spelling"):
        cases.named(name).apply(first)
    (finding,) = validate([first], select_checks(["LMR701"])).findings
    accepted.add(first, finding, f"wanted {NASTY}".replace("\ud800", ""))
    return [first, example_task.write(tmp_path / "tasks", 2)]


def _nasty(tmp_path: Path) -> Report:
    finding = Finding("LMR203", Severity.WARNING, NASTY, NASTY, NASTY, 1, f"a/{NASTY}", "L1")
    return Report((TaskReport(NASTY, tmp_path, (finding, replace(finding, code="LMR000"))),))


def test_github_names_file_and_line(tasks: list[Task], tmp_path: Path) -> None:
    report = validate(tasks)
    lines = list(github(report, tmp_path))

    assert len(lines) == len(report.findings)
    assert {line.split(" ")[0] for line in lines} == {"::error", "::warning", "::notice"}
    (quoted,) = [line for line in lines if "LMR203" in line]
    properties = dict(part.split("=", 1) for part in quoted.split("::")[1].split(" ", 1)[1].split(","))
    text = (tmp_path / properties["file"]).read_text().splitlines()[int(properties["line"]) - 1]
    assert "torch>=2.5" in text
    assert properties["title"] == f"LMR203 in {tasks[0].name}"
    assert "%0A" in quoted


def test_nothing_in_a_task_forges_a_line_or_breaks_a_document(tmp_path: Path) -> None:
    report = _nasty(tmp_path)

    (command, _) = github(report, tmp_path)
    assert re.fullmatch(r"::warning file=[^:,\n]+,title=[^:,\n]+::[^\r\n\x00-\x1f]+", command)
    assert "50%25 of" in command and "::error::forged" not in command.split("::", 3)[2]
