"""A report in the formats of other programs: GitHub Actions, SARIF 2.1.0 and JUnit XML."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from lmr_author import __version__
from lmr_author.core.task import INFO, Finding, Severity
from lmr_author.core.task.accepted import Accepted
from lmr_author.proof.checks.base import INTERNAL, Check
from lmr_author.proof.checks.registry import ALL_CHECKS, GROUPS
from lmr_author.proof.validation.report import Places, Position, Report, TaskReport
from lmr_author.proof.view import readable

_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_CRASHED = "a check crashed"


def file_of(task: TaskReport, finding: Finding, base: Path) -> str:
    """Return the file of a finding, from ``base`` where it lies below, else absolute; with ``/``.

    For a finding about the whole task it is its ``info.json``: these programs know only files.
    """
    root = os.path.normpath(base.absolute() / task.path)
    below = os.path.relpath(root, base.absolute())
    return Path(readable(root if below.startswith("..") else below), finding.path or INFO).as_posix()


def clean(text: str) -> str:
    """Escape characters that move a cursor or that XML and logs cannot hold, as Python writes them."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text
    )


def _text(finding: Finding) -> str:
    which = f" [implementation {finding.implementation}]" if finding.implementation else ""
    return f"{clean(finding.message)}{which}" + (f"\n{clean(finding.hint)}" if finding.hint else "")


def github(report: Report, base: Path) -> Iterator[str]:
    """Yield a workflow command for each finding, which becomes a remark at its line of a pull request.

    https://docs.github.com/actions/using-workflows/workflow-commands-for-github-actions

    Args:
        base: the folder that paths are relative to: the checkout.
    """
    for task in report.tasks:
        places = Places(task.directory)
        for finding in task.findings:
            values = {"file": file_of(task, finding, base)}
            if position := places.of(finding):
                values |= {"line": str(position.first), "endLine": str(position.last)}
            values["title"] = f"{finding.code} in {task.task}"
            escaped = {key: _escaped(clean(value)) for key, value in values.items()}
            shown = ",".join(
                f"{key}={value.replace(':', '%3A').replace(',', '%2C')}" for key, value in escaped.items()
            )
            yield f"::{_GITHUB[finding.severity]} {shown}::{_escaped(_text(finding))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def sarif(report: Report, base: Path) -> dict[str, Any]:
    """Return the report as one SARIF run (https://docs.oasis-open.org/sarif/sarif/v2.1.0/).

    Args:
        base: the folder that paths are relative to, for files below it.
    """
    crashed = {
        "id": INTERNAL,
        "shortDescription": {"text": _CRASHED},
        "defaultConfiguration": {"level": "error"},
    }
    rules = [
        {
            "id": check.code,
            "shortDescription": {"text": check.title},
            "fullDescription": {"text": check.rationale},
            "defaultConfiguration": {"level": check.severity.value},
            "properties": {"tags": [GROUPS[check.code[3]]]},
        }
        for check in ALL_CHECKS
    ]
    numbers = {str(rule["id"]): number for number, rule in enumerate([crashed, *rules])}
    results = []
    counts: Counter[str] = Counter()
    for task in report.tasks:
        places = Places(task.directory)
        entries: list[tuple[Finding, Accepted | None]] = [(finding, None) for finding in task.findings]
        for finding, entry in [*entries, *task.accepted]:
            position = places.of(finding)
            result = _result(task, finding, base, position) | {"ruleIndex": numbers[finding.code]}
            digest = _fingerprint(finding, position)
            counts[digest] += 1
            result["partialFingerprints"] = {"lmrFinding/v2": f"{digest}:{counts[digest]}"}
            if entry is not None:
                reason = clean(entry.reason)
                result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
            results.append(result)
    driver = {"name": "lmr-author", "semanticVersion": __version__, "rules": [crashed, *rules]}
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {"%SRCROOT%": {"uri": _uri(base.absolute().as_posix() + "/")}},
        "results": results,
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return {"$schema": schema, "version": "2.1.0", "runs": [run]}


def _result(task: TaskReport, finding: Finding, base: Path, position: Position | None) -> dict[str, Any]:
    file = file_of(task, finding, base)
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(file)}}
    if not file.startswith("/"):
        physical["artifactLocation"]["uriBaseId"] = "%SRCROOT%"
    if position:
        physical["region"] = {"startLine": position.first, "endLine": position.last}
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.pointer.startswith("/"):
        location["logicalLocations"] = [{"fullyQualifiedName": clean(finding.pointer), "kind": "property"}]
    return {
        "ruleId": finding.code,
        "level": finding.severity.value,
        "message": {"text": _text(finding)},
        "locations": [location],
    }


def _fingerprint(finding: Finding, position: Position | None) -> str:
    """Return what stays the same when lines above are added, or when a message is worded otherwise."""
    where = finding.pointer if finding.pointer.startswith("/") else ""
    if position and not where:
        where = position.lines[0].strip()
    parts = (finding.code, finding.task, str(finding.implementation), finding.path, where)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()


def _uri(path: str) -> str:
    quoted = quote(path.encode("utf-8", "backslashreplace"))
    return f"file://{quoted}" if path.startswith("/") else quoted


def junit(report: Report, checks: Sequence[Check]) -> str:
    """Return the report as JUnit XML: a suite for each task, a case for each check.

    Notes do not fail a case; what was accepted is skipped, with the reason.

    Args:
        checks: those that ran.
    """
    root = ElementTree.Element("testsuites", {"name": "lmr-author validate"})
    for task in report.tasks:
        root.append(_suite(task, checks))
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(task: TaskReport, checks: Sequence[Check]) -> ElementTree.Element:
    name = clean(task.task)
    titles = {check.code: check.title for check in checks}
    if any(finding.code == INTERNAL for finding in task.findings):
        titles = {INTERNAL: _CRASHED, **titles}
    suite = ElementTree.Element("testsuite", {"name": name, "tests": str(len(titles))})
    for code, title in titles.items():
        case = ElementTree.SubElement(suite, "testcase", {"classname": name, "name": f"{code} {title}"})
        findings = [finding for finding in task.findings if finding.code == code]
        notes = [finding for finding in findings if finding.severity is Severity.NOTE]
        failing = [finding for finding in findings if finding.severity is not Severity.NOTE]
        reasons = [clean(entry.reason) for finding, entry in task.accepted if finding.code == code]
        if failing:
            more = f" (and {len(failing) - 1} more)" if len(failing) > 1 else ""
            attributes = {"message": _line(failing[0]) + more, "type": failing[0].severity.value}
            element = ElementTree.SubElement(case, "error" if code == INTERNAL else "failure", attributes)
            element.text = _lines(failing)
        elif reasons:
            ElementTree.SubElement(case, "skipped", {"message": f"accepted: {'; '.join(reasons)}"})
        if notes:
            ElementTree.SubElement(case, "system-out").text = _lines(notes)
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(len(suite.findall(f"testcase/{tag}"))))
    return suite


def _lines(findings: list[Finding]) -> str:
    lines = []
    for finding in findings:
        lines += [_line(finding)] + ([f"  {clean(finding.hint)}"] if finding.hint else [])
    return "\n".join(lines)


def _line(finding: Finding) -> str:
    where = ", ".join(filter(None, (clean(finding.path), clean(finding.pointer))))
    return f"{where}: {clean(finding.message)}" if where else clean(finding.message)
