"""Reports for other programs: SARIF, JUnit, and the commands of GitHub Actions."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from lmr_author.core.task import Finding, Severity, Task, accepted
from lmr_author.proof.checks.registry import ALL_CHECKS, by_code
from lmr_author.proof.validation.formats import github, junit, sarif
from lmr_author.proof.validation.report import Report, TaskReport
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


def _results(document: dict[str, Any]) -> list[dict[str, Any]]:
    (run,) = document["runs"]
    results: list[dict[str, Any]] = run["results"]
    return results


def _check_sarif(document: dict[str, Any]) -> None:
    """What sections 3.13 to 3.49 of the standard require, and code hosts rely on."""
    assert document["version"] == "2.1.0" and document["$schema"].endswith("sarif-2.1.0.json")
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "lmr-author" and re.match(r"\d+\.\d+\.\d+", driver["semanticVersion"])
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids)
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        artifact = physical["artifactLocation"]
        if "uriBaseId" in artifact:
            assert artifact["uriBaseId"] in run["originalUriBaseIds"]
            assert not re.match(r"[a-z]+:|/", artifact["uri"])
        else:
            assert artifact["uri"].startswith("file:///")
        assert re.fullmatch(r"[\w\-.~%/:]+", artifact["uri"])
        region = physical.get("region", {"startLine": 1, "endLine": 1})
        assert 1 <= region["startLine"] <= region["endLine"]
        for one in result.get("suppressions", ()):
            assert one["kind"] in ("inSource", "external") and one["justification"]
    base = run["originalUriBaseIds"]["%SRCROOT%"]["uri"]
    assert base.startswith("file:///") and base.endswith("/")


def test_sarif_has_every_finding_at_its_place(tasks: list[Task], tmp_path: Path) -> None:
    report = validate(tasks)
    document = sarif(report, tmp_path)
    _check_sarif(document)
    results = _results(document)

    assert [one["ruleId"] for one in results if "suppressions" not in one] == [
        finding.code for finding in report.findings
    ]
    assert [one["ruleId"] for one in results if "suppressions" in one] == ["LMR701"]
    by_rule = {one["ruleId"]: one["locations"][0]["physicalLocation"] for one in results}
    quoted = by_rule["LMR203"]
    assert quoted["artifactLocation"]["uri"] == f"tasks/{tasks[0].name}/Dockerfile"
    lines = (tmp_path / unquote(quoted["artifactLocation"]["uri"])).read_text().splitlines()
    region = quoted["region"]
    assert "torch>=2.5" in lines[region["startLine"] - 1]
    assert by_rule["LMR003"]["region"]["startLine"] > 1
    assert json.loads(json.dumps(document)) == document


def test_sarif_names_files_outside_by_their_address(tasks: list[Task], tmp_path: Path) -> None:
    document = sarif(validate(tasks), tmp_path / "elsewhere")

    _check_sarif(document)
    uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in _results(document)}
    assert f"file://{tasks[0].root}/Dockerfile" in uris


def test_fingerprints_stay_when_lines_move(tasks: list[Task], tmp_path: Path) -> None:
    def prints() -> list[str]:
        results = _results(sarif(validate(tasks, select_checks(["LMR203"])), tmp_path))
        return [one["partialFingerprints"]["lmrFinding/v2"] for one in results]

    before = prints()
    tasks[0].dockerfile.write_text("# a comment\n" + tasks[0].dockerfile.read_text())
    assert prints() == before and len(before) == 1


def test_junit_has_a_case_for_each_check(tasks: list[Task]) -> None:
    report = validate(tasks)
    root = ElementTree.fromstring(junit(report, ALL_CHECKS))

    assert root.tag == "testsuites"
    suites = root.findall("testsuite")
    assert [suite.get("name") for suite in suites] == [task.name for task in tasks]
    for suite in suites:
        cases = suite.findall("testcase")
        assert [case.get("name", "")[:6] for case in cases] == [check.code for check in ALL_CHECKS]
        assert {case.get("classname") for case in cases} == {suite.get("name")}
        for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(kind, "")) == len(suite.findall(f"testcase/{tag}"))
        assert int(suite.get("tests", "")) == len(cases)
    assert root.get("tests") == str(2 * len(ALL_CHECKS))
    failed = [
        case.get("name", "")[:6] for case in suites[0].iter("testcase") if case.find("failure") is not None
    ]
    assert failed == sorted({one.code for one in report.findings if one.severity is not Severity.NOTE})
    notes = [note.text or "" for note in suites[0].iter("system-out")]
    assert any("NotImplementedError" in note for note in notes)
    (skipped,) = suites[0].iter("skipped")
    assert "wanted 50% of" in skipped.get("message", "")
    failure = next(suites[0].iter("failure"))
    assert failure.get("message") and failure.get("type") in ("error", "warning") and failure.text


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

    xml = junit(report, [by_code()["LMR203"]])
    root = ElementTree.fromstring(xml.encode())
    (failure,) = root.iter("failure")
    assert "<x> &" in failure.get("message", "") and "\\x1b[31m" in failure.get("message", "")
    (error,) = root.iter("error")
    assert error.get("type") == "warning"

    document = sarif(report, tmp_path)
    _check_sarif(document)
    json.dumps(document, ensure_ascii=False).encode()
    assert "\x1b" not in json.dumps(document, ensure_ascii=False)
