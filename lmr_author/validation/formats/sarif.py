"""SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), as code hosts and editors read it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from lmr_author import __version__
from lmr_author.accepted import Accepted
from lmr_author.checks.describe import GROUPS
from lmr_author.checks.registry import ALL_CHECKS
from lmr_author.model import Finding
from lmr_author.validation.examine import INTERNAL
from lmr_author.validation.formats.paths import clean, file_of, uri
from lmr_author.validation.places import Place, Places
from lmr_author.validation.report import Report, TaskReport

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_OWN = {
    "id": INTERNAL,
    "name": "ValidatorFailed",
    "shortDescription": {"text": "every check does its work"},
    "defaultConfiguration": {"level": "error"},
}


def sarif(report: Report, base: Path) -> dict[str, Any]:
    """The report as one SARIF run.

    Args:
        base: the folder that paths are relative to, for files below it.
    """
    rules = [_OWN, *(_rule(check) for check in ALL_CHECKS)]
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    results = [result for task in report.tasks for result in _results(task, base, numbers)]
    driver = {"name": "lmr-author", "semanticVersion": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"uri": uri(base.absolute().as_posix() + "/")}},
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(check: Any) -> dict[str, Any]:
    return {
        "id": check.code,
        "name": type(check).__name__,
        "shortDescription": {"text": check.title},
        "fullDescription": {"text": check.rationale},
        "defaultConfiguration": {"level": check.severity.value},
        "properties": {"tags": [GROUPS[check.code[3]]]},
    }


def _results(task: TaskReport, base: Path, numbers: dict[str, int]) -> list[dict[str, Any]]:
    places = Places(task.directory)
    open_ones = [_result(task, finding, base, numbers, places) for finding in task.findings]
    known = [
        _result(task, finding, base, numbers, places) | {"suppressions": [_suppression(entry)]}
        for finding, entry in task.accepted
    ]
    return open_ones + known


def _result(
    task: TaskReport, finding: Finding, base: Path, numbers: dict[str, int], places: Places
) -> dict[str, Any]:
    file = file_of(task, finding, base)
    artifact: dict[str, Any] = {"uri": uri(file)}
    if not file.startswith("/"):
        artifact["uriBaseId"] = "%SRCROOT%"
    physical: dict[str, Any] = {"artifactLocation": artifact}
    place = places.of(finding)
    if place is not None:
        physical["region"] = _region(place)
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.pointer.startswith("/"):
        location["logicalLocations"] = [{"fullyQualifiedName": clean(finding.pointer), "kind": "property"}]
    which = f" [implementation {finding.implementation}]" if finding.implementation else ""
    hint = f"\n{clean(finding.hint)}" if finding.hint else ""
    return {
        "ruleId": finding.code,
        "ruleIndex": numbers[finding.code],
        "level": finding.severity.value,
        "message": {"text": f"{clean(finding.message)}{which}{hint}"},
        "locations": [location],
        "partialFingerprints": {"lmrFinding/v1": _fingerprint(finding)},
    }


def _region(place: Place) -> dict[str, int]:
    region = {"startLine": place.first, "endLine": place.last}
    if place.end > place.start:
        region |= {"startColumn": place.start + 1, "endColumn": place.end + 1}
    return region


def _fingerprint(finding: Finding) -> str:
    """What stays the same when lines above are added: everything but the line."""
    parts = (finding.code, finding.task, str(finding.implementation), finding.path, finding.message)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()


def _suppression(entry: Accepted) -> dict[str, str]:
    return {"kind": "external", "status": "accepted", "justification": clean(entry.reason)}
