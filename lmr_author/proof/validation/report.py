"""The result of a validation and its JSON, with the four properties of LMR-Bench's Table 1.

A benchmark task comes from a publication, requires code inside a whole repository, is judged by unit tests, and has a
Docker image: its Dockerfile has no known defect that stops the build, omits the masked repository, or copies the
solution. A property holds if none of its checks finds an error; a check that did not run proves nothing.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lmr_author import __version__
from lmr_author.core.errors import UsageError
from lmr_author.core.task import INFO, Finding, Severity, Task, accepted
from lmr_author.core.task.accepted import AcceptedFinding
from lmr_author.proof.checks.base import INTERNAL
from lmr_author.proof.contents import TaskContents, readable

FORMAT = "lmr-validation/1"
LEVELS = (Severity.ERROR, Severity.WARNING, Severity.NOTE)
"""From most to least severe."""


@dataclass(frozen=True)
class Property:
    """A property of a task.

    Attributes:
        holds: None if some of its checks did not run.
        evidence: the checks that disprove it, or "".
    """

    name: str
    holds: bool | None
    evidence: str


@dataclass(frozen=True)
class TaskReport:
    """The findings of one task, ordered by path, line and code.

    Attributes:
        accepted: findings accepted by the annotator, each with a reason.
    """

    task: str
    path: Path
    findings: tuple[Finding, ...]
    accepted: tuple[tuple[Finding, AcceptedFinding], ...] = ()
    properties: tuple[Property, ...] = ()

    @property
    def directory(self) -> Task:
        return Task(self.path)

    @property
    def clean(self) -> bool:
        return all(finding.severity is Severity.NOTE for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        accepted = []
        for finding, entry in self.accepted:
            why = {"reason": entry.reason, "by": entry.by, "date": entry.date}
            accepted.append({"finding": finding.to_json(), **why})
        return {
            "task": self.task,
            "path": readable(str(self.path)),
            "findings": [finding.to_json() for finding in self.findings],
            "accepted": accepted,
            "properties": [asdict(held) for held in self.properties],
        }


@dataclass(frozen=True)
class Report:
    tasks: tuple[TaskReport, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for task in self.tasks for finding in task.findings)

    @property
    def clean(self) -> bool:
        return all(task.clean for task in self.tasks)

    def at_least(self, severity: Severity) -> Report:
        levels = LEVELS[: LEVELS.index(severity) + 1]
        tasks = []
        for task in self.tasks:
            findings = tuple(finding for finding in task.findings if finding.severity in levels)
            tasks.append(replace(task, findings=findings))
        return Report(tuple(tasks))

    def count(self, severity: Severity) -> int:
        return sum(finding.severity is severity for finding in self.findings)

    @property
    def by_code(self) -> dict[str, int]:
        counts = Counter(finding.code for finding in self.findings)
        return dict(sorted(counts.items()))

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "tool": __version__,
            "tasks": [task.to_json() for task in self.tasks],
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


# accepting


def accept_findings(
    tasks: Sequence[Task], report: Report, wanted: Iterable[str], reason: str
) -> tuple[accepted.AcceptedFinding, ...]:
    """Store the acceptance of each named finding.

    Args:
        wanted: ``CODE``, if found in only one file, or ``CODE:PATH``, relative to the task or to its repository.

    Raises:
        UsageError: several tasks, no reason, no name, or a finding that does not exist or is in several files.
    """
    names = list(wanted)
    if len(tasks) != 1:
        raise UsageError(f"--accept works on one task, not on {len(tasks)}", "name the task's folder")
    if not names or not reason.strip():
        raise UsageError(
            "--accept requires --reason, and vice versa",
            "lmr-author validate --accept LMR403:PATH --reason 'a different loss that only shares the masking'",
        )
    findings = report.tasks[0].findings
    chosen = [finding for name in names for finding in _named(findings, name)]  # before one is stored
    return tuple(accepted.add(tasks[0], finding, reason) for finding in dict.fromkeys(chosen))


def _named(findings: Sequence[Finding], name: str) -> list[Finding]:
    code, _, path = name.partition(":")
    code, path = code.strip().upper(), path.strip().removeprefix("./")
    same = [finding for finding in findings if finding.code == code]
    paths = list(dict.fromkeys(finding.path for finding in same))
    if not paths:
        codes = ", ".join(dict.fromkeys(finding.code for finding in findings)) or "nothing"
        raise UsageError(f"{code} was not found", f"found: {codes}")
    if not path and len(paths) == 1:
        return same
    chosen = [finding for finding in same if path in (finding.path, finding.path.partition("/")[2])]
    if not chosen:
        where = f"in {path!r}" if path else "in one file"
        hint = f"name the file: --accept {' or '.join(f'{code}:{path}' for path in paths[:3])}"
        raise UsageError(f"{code} was not found {where}", hint)
    return chosen


# the four properties

_TESTS = ("LMR501", "LMR502", "LMR503", "LMR505", "LMR506", "LMR508", "LMR512")
_DOCKER = ("LMR201", "LMR202", "LMR203", "LMR204", "LMR205", "LMR206", "LMR406")
PROPERTIES: dict[str, tuple[str, ...]] = {
    "from a publication": ("LMR001", "LMR101", "LMR102"),
    "repository-level": ("LMR001", "LMR103", "LMR301"),
    "unit tests": ("LMR001", *_TESTS),
    "Docker": _DOCKER,
}
"""The properties of the table, and the checks that prove each."""
DOUBTED_BY = frozenset({"LMR206"})
"""Checks whose warnings already disprove a property."""


def judge(findings: Sequence[Finding], ran: Collection[str]) -> tuple[Property, ...]:
    against = {finding.code for finding in findings if _denies(finding)}
    properties = []
    for name, codes in PROPERTIES.items():
        denied = sorted(against.intersection({*codes, INTERNAL}))
        holds = not denied and (True if set(codes) <= set(ran) else None)
        properties.append(Property(name, holds, f"see {', '.join(denied)}" if denied else ""))
    return tuple(properties)


def _denies(finding: Finding) -> bool:
    is_doubt = finding.severity is Severity.WARNING and finding.code in DOUBTED_BY
    return is_doubt or finding.severity is Severity.ERROR


# where findings are

_LINES = re.compile(r"^L(\d+)(?:-L(\d+))?$")


@dataclass(frozen=True)
class Position:
    first: int
    last: int
    lines: tuple[str, ...]


class Places:
    """Positions of a task's findings. Each file is read once, and none outside of the task."""

    def __init__(self, task: Task) -> None:
        self._contents = TaskContents(task)

    @property
    def several(self) -> bool:
        return len(self._contents.implementations) > 1

    def of(self, finding: Finding) -> Position | None:
        """Return the lines of a finding; None if it concerns a whole file, or the file cannot be shown."""
        text = self._contents.text(self._contents.inside(self._contents.task.root, finding.path))
        if text is None or not finding.pointer:
            return None
        if match := _LINES.match(finding.pointer):
            first = int(match[1])
            last = max(first, int(match[2] or 0))
        else:
            first = last = _line_of(text, finding.pointer)
        lines = tuple(re.split(r"\r\n|\r|\n", text)[first - 1 : last]) if first else ()
        return Position(first, last, lines) if lines else None


def _line_of(text: str, pointer: str) -> int:
    """Return the line of a JSON pointer's key (RFC 6901); 0 for a missing key.

    The implementations have the same keys: the third one's is the third occurrence, if all have it.
    """
    names = [name for name in pointer.split("/") if name and not name.isdigit()]
    numbers = [int(name) for name in pointer.split("/") if name.isdigit()]
    # The pointer has the correct key; the file may have a misspelt one.
    key = "retrieval_conte[nx]t" if names[-1:] == ["retrieval_context"] else re.escape("".join(names[-1:]))
    starts = [match.start() for match in re.finditer(rf'"{key}"\s*:', text)]
    position = numbers[0] if numbers else 0
    is_repeated = len(names) > 1
    if is_repeated and len(starts) != len(re.findall(r'"instruction"\s*:', text)):
        return 0
    is_whole_entry = numbers and not is_repeated
    if is_whole_entry or position >= len(starts):
        return 0
    return len(re.split(r"\r\n|\r|\n", text[: starts[position]]))


# workflow commands of GitHub Actions

_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def file_of(task: TaskReport, finding: Finding, base: Path) -> str:
    """Return the file of a finding with ``/``, relative to ``base`` if below it, else absolute.

    A finding about the whole task gets its ``info.json``: code hosts only annotate files.
    """
    root = os.path.normpath(base.absolute() / task.path)
    below = os.path.relpath(root, base.absolute())
    return Path(readable(root if below.startswith("..") else below), finding.path or INFO).as_posix()


def clean(text: str) -> str:
    """Escape control characters and characters that logs cannot contain, in Python's notation."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text
    )


def _text(finding: Finding) -> str:
    which = f" [implementation {finding.implementation}]" if finding.implementation else ""
    return f"{clean(finding.message)}{which}" + (f"\n{clean(finding.hint)}" if finding.hint else "")


def github(report: Report, base: Path) -> Iterator[str]:
    """Yield a GitHub workflow command for each finding, which annotates its line in a pull request.

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
