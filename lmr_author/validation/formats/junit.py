"""JUnit XML, in the shape that CI servers read: a suite for each task, a case for each check."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from xml.etree import ElementTree

from lmr_author.accepted import Accepted
from lmr_author.checks.base import Check
from lmr_author.model import Finding, Severity
from lmr_author.validation.examine import INTERNAL
from lmr_author.validation.formats.paths import clean
from lmr_author.validation.report import Report, TaskReport


def junit(report: Report, checks: Sequence[Check]) -> str:
    """The report as an XML document. Notes do not fail a case; what was accepted is skipped, with the reason.

    Args:
        checks: those that ran.
    """
    suites = [_suite(task, checks) for task in report.tasks]
    root = ElementTree.Element("testsuites", {"name": "lmr-author validate", **_sums(suites)})
    root.extend(suites)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False).join(
        ['<?xml version="1.0" encoding="UTF-8"?>\n', "\n"]
    )


def _suite(task: TaskReport, checks: Sequence[Check]) -> ElementTree.Element:
    by_code: dict[str, list[Finding]] = defaultdict(list)
    for finding in task.findings:
        by_code[finding.code].append(finding)
    accepted: dict[str, list[tuple[Finding, Accepted]]] = defaultdict(list)
    for finding, entry in task.accepted:
        accepted[finding.code].append((finding, entry))
    titles = {check.code: check.title for check in checks}
    own = {INTERNAL: "every check does its work"} if INTERNAL in by_code else {}
    name = clean(task.task)
    cases = [
        _case(name, f"{code} {title}", by_code[code], accepted[code])
        for code, title in {**own, **titles}.items()
    ]
    count = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "skipped": str(sum(case.find("skipped") is not None for case in cases)),
    }
    suite = ElementTree.Element("testsuite", {"name": name, **count})
    suite.extend(cases)
    return suite


def _case(
    task: str, name: str, findings: list[Finding], accepted: list[tuple[Finding, Accepted]]
) -> ElementTree.Element:
    case = ElementTree.Element("testcase", {"classname": task, "name": name})
    failing = [finding for finding in findings if finding.severity is not Severity.NOTE]
    if failing:
        kind = "error" if failing[0].code == INTERNAL else "failure"
        more = f" (and {len(failing) - 1} more)" if len(failing) > 1 else ""
        attributes = {"message": _line(failing[0]) + more, "type": failing[0].severity.value}
        element = ElementTree.SubElement(case, kind, attributes)
        element.text = "\n".join(_lines(failing))
    elif accepted:
        reason = "; ".join(clean(entry.reason) for _, entry in accepted)
        ElementTree.SubElement(case, "skipped", {"message": f"accepted: {reason}"})
    notes = [finding for finding in findings if finding.severity is Severity.NOTE]
    if notes:
        ElementTree.SubElement(case, "system-out").text = "\n".join(_lines(notes))
    return case


def _lines(findings: list[Finding]) -> list[str]:
    return [_line(finding) + (f"\n  {clean(finding.hint)}" if finding.hint else "") for finding in findings]


def _line(finding: Finding) -> str:
    place = ", ".join(filter(None, (clean(finding.path), clean(finding.pointer))))
    return f"{place}: {clean(finding.message)}" if place else clean(finding.message)


def _sums(suites: list[ElementTree.Element]) -> dict[str, str]:
    keys = ("tests", "failures", "errors", "skipped")
    return {key: str(sum(int(suite.get(key, "0")) for suite in suites)) for key in keys}
