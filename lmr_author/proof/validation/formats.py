"""A report as the workflow commands of GitHub Actions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lmr_author.core.task import INFO, Finding, Severity
from lmr_author.proof.contents import readable
from lmr_author.proof.validation.report import Places, Report, TaskReport

_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def file_of(task: TaskReport, finding: Finding, base: Path) -> str:
    """Return the file of a finding, from ``base`` where it lies below, else absolute; with ``/``.

    For a finding about the whole task it is its ``info.json``: code hosts know only files.
    """
    root = os.path.normpath(base.absolute() / task.path)
    below = os.path.relpath(root, base.absolute())
    return Path(readable(root if below.startswith("..") else below), finding.path or INFO).as_posix()


def clean(text: str) -> str:
    """Escape characters that move a cursor or that logs cannot hold, as Python writes them."""
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
