"""The result of a validation, and its JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmr_author import __version__
from lmr_author.checks.view import readable
from lmr_author.task import Finding, Severity, Task
from lmr_author.task.accepted import Accepted
from lmr_author.validation.properties import Held

FORMAT = "lmr-validation/1"
LEVELS = (Severity.ERROR, Severity.WARNING, Severity.NOTE)
"""From bad to harmless."""


@dataclass(frozen=True)
class TaskReport:
    """The findings of one task, in the order of path, line and code.

    Attributes:
        findings: those that count.
        accepted: those that the annotator accepted, each with the reason.
        properties: the four properties of LMR-Bench's Table 1.
    """

    task: str
    path: Path
    findings: tuple[Finding, ...]
    accepted: tuple[tuple[Finding, Accepted], ...] = ()
    properties: tuple[Held, ...] = ()

    @property
    def directory(self) -> Task:
        """The task."""
        return Task(self.path)

    @property
    def clean(self) -> bool:
        """True if there is neither an error nor a warning."""
        return all(finding.severity is Severity.NOTE for finding in self.findings)


@dataclass(frozen=True)
class Report:
    """The findings of several tasks."""

    tasks: tuple[TaskReport, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings of all tasks."""
        return tuple(finding for task in self.tasks for finding in task.findings)

    @property
    def clean(self) -> bool:
        """True if no task has an error or a warning."""
        return all(task.clean for task in self.tasks)

    def at_least(self, severity: Severity) -> Report:
        """The report without what is less bad than a severity."""
        kept = LEVELS[: LEVELS.index(severity) + 1]
        return Report(
            tuple(
                replace(task, findings=tuple(one for one in task.findings if one.severity in kept))
                for task in self.tasks
            )
        )

    def count(self, severity: Severity) -> int:
        """Number of findings of a severity."""
        return sum(finding.severity is severity for finding in self.findings)

    @property
    def by_code(self) -> dict[str, int]:
        """Number of findings of each code, in the order of codes."""
        counts = Counter(finding.code for finding in self.findings)
        return dict(sorted(counts.items()))

    def to_json(self) -> dict[str, Any]:
        """The report as ``validate --format json`` prints it (``schemas/validation.schema.json``)."""
        return {
            "format": FORMAT,
            "tool": __version__,
            "tasks": [
                {
                    "task": task.task,
                    "path": readable(str(task.path)),
                    "findings": [finding.to_json() for finding in task.findings],
                    "accepted": [_accepted(finding, entry) for finding, entry in task.accepted],
                    "properties": [one.to_json() for one in task.properties],
                }
                for task in self.tasks
            ],
            "summary": {
                "tasks": len(self.tasks),
                "clean": sum(task.clean for task in self.tasks),
                "errors": self.count(Severity.ERROR),
                "warnings": self.count(Severity.WARNING),
                "notes": self.count(Severity.NOTE),
                "accepted": sum(len(task.accepted) for task in self.tasks),
                "by_code": self.by_code,
            },
        }


def _accepted(finding: Finding, entry: Accepted) -> dict[str, Any]:
    return {"finding": finding.to_json(), "reason": entry.reason, "by": entry.by, "date": entry.date}
