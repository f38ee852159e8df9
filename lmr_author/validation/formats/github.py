"""Workflow commands of GitHub Actions: each finding becomes a remark at its line of a pull request.

https://docs.github.com/actions/using-workflows/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lmr_author.model import Finding, Severity
from lmr_author.validation.formats.paths import clean, file_of
from lmr_author.validation.places import Places
from lmr_author.validation.report import Report, TaskReport

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def github(report: Report, base: Path) -> Iterator[str]:
    """One line for each finding.

    Args:
        base: the folder that paths are relative to: the checkout.
    """
    for task in report.tasks:
        places = Places(task.directory)
        for finding in task.findings:
            yield _command(task, finding, base, places)


def _command(task: TaskReport, finding: Finding, base: Path, places: Places) -> str:
    values = {"file": file_of(task, finding, base)}
    place = places.of(finding)
    if place is not None:
        values |= {"line": str(place.first), "endLine": str(place.last)}
        if place.end > place.start:
            values |= {"col": str(place.start + 1), "endColumn": str(place.end)}
    values["title"] = f"{finding.code} in {task.task}"
    which = f" [implementation {finding.implementation}]" if finding.implementation else ""
    hint = f"\n{clean(finding.hint)}" if finding.hint else ""
    properties = ",".join(f"{key}={_property(clean(value))}" for key, value in values.items())
    return f"::{_COMMANDS[finding.severity]} {properties}::{_data(clean(finding.message) + which + hint)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
