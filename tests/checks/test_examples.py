"""Every check's examples: a failing one gives that code and nothing else, a passing one nothing at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.base import Check, Example
from lmr_author.checks.registry import ALL_CHECKS, by_code
from lmr_author.model import Severity
from lmr_author.validation.run import validate
from tests.checks import findings

PASSING = [(check, example) for check in ALL_CHECKS for example in check.passing]
KEPT = findings.kept()


def test_the_good_task_has_no_findings(tmp_path: Path) -> None:
    report = validate([example_task.write(tmp_path), example_task.write(tmp_path, 2)])

    assert report.findings == ()
    assert report.clean


@pytest.mark.parametrize("pair", findings.FAILING, ids=findings.name)
def test_a_failing_example_gives_its_code_and_no_other(pair: tuple[Check, Example], tmp_path: Path) -> None:
    check, example = pair
    report = findings.report_of(tmp_path, check, example)

    found = {finding.code for finding in report.findings}
    assert found == {check.code, *example.also}, [
        f"{one.code} {one.path} {one.message}" for one in report.findings
    ]
    for finding in report.findings:
        assert finding.message and not finding.message.endswith(".")
        assert finding.hint, finding
        assert finding.task in {task.task for task in report.tasks}
        assert "\n" not in finding.message
        json.dumps(finding.to_json()).encode("utf-8")
    assert findings.lines(report.findings) == KEPT[findings.name(pair)]


def test_every_failing_example_is_kept_and_no_other() -> None:
    assert list(KEPT) == [findings.name(pair) for pair in findings.FAILING]


@pytest.mark.parametrize("pair", PASSING, ids=findings.name)
def test_a_passing_example_gives_no_finding_of_its_check_and_no_error(
    pair: tuple[Check, Example], tmp_path: Path
) -> None:
    check, example = pair
    report = findings.report_of(tmp_path, check, example)

    assert [finding for finding in report.findings if finding.code == check.code] == []
    assert [
        one for one in report.findings if one.severity is Severity.ERROR and one.code not in example.also
    ] == []


def test_codes_are_unique_in_order_and_documented() -> None:
    codes = [check.code for check in ALL_CHECKS]

    assert codes == sorted(set(codes))
    assert list(by_code()) == codes
    for check in ALL_CHECKS:
        assert check.title and check.rationale.endswith(".") and check.failing
