"""Words are for people: with every message and every hint replaced by "x", nothing is decided differently."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.core.task import Finding, Task, accepted
from lmr_author.proof.checks.base import Problem
from lmr_author.proof.leaks import FileLeak
from lmr_author.proof.validation.report import PROPERTIES, Report
from lmr_author.proof.validation.run import validate
from tests.checks.cases import Case, first, named
from tests.support import make_task

DECIDING = sorted({code for codes in PROPERTIES.values() for code in codes})
"""Checks by whose findings something is decided."""
FIRST = [first(code) for code in DECIDING] + [named("LMR104/many")]


def without_words(patched: pytest.MonkeyPatch) -> None:
    """Replace the words of everything that becomes a finding, where it is made."""
    for made in (Problem, Finding, FileLeak):
        plain = made.__init__

        def wordless(self: Any, *args: Any, plain: Any = plain, **kwargs: Any) -> None:
            plain(self, *args, **kwargs)
            object.__setattr__(self, "message", "x")
            object.__setattr__(self, "hint", "x")

        patched.setattr(made, "__init__", wordless)


def facts(findings: Iterable[Finding]) -> set[tuple[object, ...]]:
    return {
        (one.code, one.severity, one.implementation, one.path, one.pointer, one.files) for one in findings
    }


def outcome(report: Report) -> tuple[object, ...]:
    """What a program sees of a report: findings and properties."""
    held = [(one.name, one.holds) for task in report.tasks for one in task.properties]
    return facts(report.findings), report.clean, held


@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.name)
def test_findings_are_decided_by_facts(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = case.write(tmp_path)
    spoken = outcome(validate(tasks))

    without_words(monkeypatch)
    report = validate(tasks)

    assert {one.message for one in report.findings} <= {"x"}
    assert outcome(report) == spoken


def test_an_acceptance_holds_for_the_finding_whatever_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (task,) = first("LMR403").write(tmp_path)
    for finding in validate([task]).findings:
        accepted.add(task, finding, "another function on purpose")
    before = facts(finding for finding, _ in validate([task]).tasks[0].accepted)

    without_words(monkeypatch)
    report = validate([task])

    assert report.findings == () and before
    assert facts(finding for finding, _ in report.tasks[0].accepted) == before


def test_mask_finds_the_same_leaks_and_takes_out_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def masked(task: Task) -> tuple[object, ...]:
        source = (task.load_raw()["repo_folder_name"], "pkg", "losses.py")
        text = task.root.joinpath(*source).read_bytes()
        task.root.joinpath(source[0], "old.py").write_bytes(text)
        result = mask(task, MaskOptions(("pkg/losses.py::Meter.add",)), task.root)
        found = [(leak.also, len(leak.places)) for leak in result.leaks]
        return facts(leak.finding for leak in result.leaks), found, result.moved

    spoken = masked(make_task(tmp_path / "spoken"))
    without_words(monkeypatch)

    assert spoken[0]
    assert masked(make_task(tmp_path / "wordless")) == spoken
