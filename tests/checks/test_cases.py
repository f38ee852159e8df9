"""Every case folder: the expected codes are found, and no others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.proof.checks.registry import ALL_CHECKS
from lmr_author.proof.validation.run import validate
from tests import example
from tests.checks.cases import CASES, Case


def test_good_tasks_have_no_findings(tmp_path: Path) -> None:
    report = validate([example.write(tmp_path), example.write(tmp_path, 2)])

    assert report.findings == ()
    assert report.clean


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case, tmp_path: Path) -> None:
    findings = validate(case.write(tmp_path)).findings

    found = sorted({finding.code for finding in findings})
    assert found == case.data["expect"], [
        f"{one.code} {one.path} {one.pointer} {one.message}" for one in findings
    ]
    for finding in findings:
        assert finding.message and finding.hint and not finding.message.endswith(".")
        assert "\n" not in finding.message
        json.dumps(finding.to_json()).encode("utf-8")


def test_every_check_has_a_case_that_it_finds() -> None:
    assert {check.code for check in ALL_CHECKS} == {
        case.code for case in CASES if case.code in case.data["expect"]
    }


def test_codes_are_unique_and_ordered() -> None:
    codes = [check.code for check in ALL_CHECKS]

    assert codes == sorted(set(codes))
    for check in ALL_CHECKS:
        assert check.title and check.rationale.endswith(".")
