"""Gather the page of a folder of tasks: one row for each task, and totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any
from urllib.parse import quote

from lmr_author.core.errors import LmrError
from lmr_author.core.task import (
    CATEGORIES,
    Finding,
    GateResult,
    Progress,
    Severity,
    Task,
    TaskInfo,
    TaskState,
    recording,
)
from lmr_author.core.task import evaluation as evaluations
from lmr_author.core.task.difficulty import Extreme
from lmr_author.core.task.mutation import MutationScore
from lmr_author.core.texts import size_text
from lmr_author.proof.validation.report import TaskReport
from lmr_author.proof.validation.run import checked
from lmr_author.release.reporting.page import percent
from lmr_author.release.reporting.status import BROKEN, STATES, Status, status_with
from lmr_author.release.review.review import result_of
from lmr_author.release.review.review_status import ACCEPTED, DISPUTED, REJECTED, proof_of

LONGEST = 12
"""Tasks in the chart of the time that an evaluation takes."""


@dataclass(frozen=True)
class TaskRow:
    """One task in the table.

    Attributes:
        next: the next command, without the task's path.
        lines: lines of the masked functions that can run, as their recordings count them.
        seconds: time that the gates took.
        agreement: the reviewers' share of equal answers, 0 to 1; None without two of them.
    """

    name: str
    info: TaskInfo
    status: Status
    next: str
    findings: tuple[Finding, ...]
    gates: tuple[GateResult, ...]
    mutants: MutationScore
    lines: int
    seconds: float
    bytes: int
    agreement: float | None
    link: str
    stale: bool

    @property
    def categories(self) -> list[str]:
        return [each.category or "none" for each in self.info.implementations]

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity is Severity.ERROR]

    @property
    def warnings(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity is Severity.WARNING]


def dataset_page(name: str, tasks: Sequence[Task], say: Progress, *, linked: bool = False) -> dict[str, Any]:
    """Return the page of several tasks; ``linked`` if each has its own page ``<task>.html`` beside it."""
    say(f"checking {len(tasks)} tasks")
    done = iter(range(1, len(tasks) + 1))
    report = checked(tasks, lambda name: say(f"checked {next(done)} of {len(tasks)}: {name}"))
    rows = []
    for number, (task, checks) in enumerate(zip(tasks, report.tasks, strict=True), 1):
        say(f"{number} of {len(tasks)}: {task.name}")
        rows.append(_row(task, checks, f"{quote(task.name)}.html" if linked else ""))
    categories = Counter(category for row in rows for category in row.categories)
    order = [*CATEGORIES, *sorted(set(categories) - set(CATEGORIES))]
    states = Counter(row.status.state for row in rows)
    return {
        "name": name,
        "rows": rows,
        "categories": [(category, categories[category]) for category in order],
        "states": [(state, states[state]) for state in STATES if state != BROKEN or states[BROKEN]],
        "slowest": _slowest(rows),
        "points": _points(rows),
        "solved": _solved(rows),
        "operators": _operators(rows),
        "facts": _facts(rows, states),
        "extremes": [
            (
                extreme,
                [(row, each) for row in rows for each in row.status.difficulty if each.extreme is extreme],
            )
            for extreme in Extreme
        ],
    }


def _slowest(rows: Sequence[TaskRow]) -> list[tuple[str, str, float]]:
    """Return the tasks whose evaluation takes longest, with its minutes and their share of the longest."""
    longest = sorted((row for row in rows if row.seconds), key=lambda row: -row.seconds)[:LONGEST]
    return [(row.name, f"{row.seconds / 60:.1f} min", row.seconds / longest[0].seconds) for row in longest]


def _points(rows: Sequence[TaskRow]) -> list[tuple[TaskRow, float, float]]:
    """Return each task with its distance from the left, by lines, and from the top, by mutants killed, in percent.

    Half of the mutants are the lower edge: below it a test is weak, however weak.
    """
    most = max((row.lines for row in rows), default=0)
    return [
        (row, 100 * row.lines / most, 100 - max(0, 200 * (row.mutants.share - 0.5)))
        for row in rows
        if row.lines and row.mutants.share is not None
    ]


def _solved(rows: Sequence[TaskRow]) -> list[tuple[str, int]]:
    """Return how many tasks models solve how often; nothing before any answer was judged."""
    judged = [row.status.difficulty for row in rows if row.status.difficulty]
    tried = [
        (sum(each.solved for each in targets), sum(each.tried for each in targets)) for targets in judged
    ]
    shares = [solved / number for solved, number in tried if number]
    if not shares:
        return []
    return [
        ("never", sum(share == 0 for share in shares)),
        ("up to a third", sum(0 < share <= 1 / 3 for share in shares)),
        ("up to two thirds", sum(1 / 3 < share <= 2 / 3 for share in shares)),
        ("more often", sum(2 / 3 < share < 1 for share in shares)),
        ("always", sum(share == 1 for share in shares)),
    ]


def _operators(rows: Sequence[TaskRow]) -> list[tuple[str, int, int]]:
    """Return mutation operators with mutants killed and made, the one with most survivors first."""
    made, killed = Counter[str](), Counter[str]()
    for row in rows:
        for gate in row.gates:
            for tally in gate.detail.tallies:
                made[tally.operator] += tally.made
                killed[tally.operator] += tally.killed
    order = sorted(made, key=lambda name: (killed[name] - made[name], name))
    return [(name, killed[name], made[name]) for name in order]


def _row(task: Task, checks: TaskReport, link: str) -> TaskRow:
    try:
        info = task.load()
    except LmrError as error:
        info = TaskInfo.from_json({})
        status = Status(task.name, (), f"lmr-author validate {task.root}", error.message)
    else:
        status = status_with(task, checks.findings)
    try:
        agreement = result_of(task).agreement
    except (LmrError, OSError):
        agreement = None
    evaluation = proof_of(task)
    gates = evaluation.gates if evaluation else ()
    return TaskRow(
        name=task.name,
        info=info,
        status=status,
        next=status.next.replace(str(task.root), task.name),
        findings=tuple(checks.findings),
        gates=gates,
        mutants=evaluations.mutation_score(gates),
        lines=sum(_lines(task, info)),
        seconds=sum(gate.seconds for gate in gates),
        bytes=sum(path.stat().st_size for path in task.content_files()),
        agreement=agreement.percent if agreement else None,
        link=link,
        stale=evaluation is not None and not evaluation.is_of(TaskState.of(task)),
    )


def _lines(task: Task, info: TaskInfo) -> Iterator[int]:
    for implementation in info.implementations:
        try:
            recorded = recording.load(task.recording(info, implementation.index))
        except (LmrError, OSError):
            continue
        if recorded:
            yield len(recorded.coverage.lines) + len(recorded.coverage.missed)


def _facts(rows: Sequence[TaskRow], states: Counter[str]) -> list[tuple[str, str]]:
    strengths = [row.mutants.share for row in rows if row.mutants.share is not None]
    agreements = [row.agreement for row in rows if row.agreement is not None]
    return [
        *((state, str(states[state])) for state in (ACCEPTED, DISPUTED, REJECTED)),
        ("masked functions", str(sum(len(row.info.implementations) for row in rows))),
        ("tasks with open findings", str(sum(bool(row.errors or row.warnings) for row in rows))),
        ("mutants killed, median", percent(median(strengths) if strengths else None)),
        ("agreement, median", percent(median(agreements) if agreements else None)),
        ("total size", size_text(sum(row.bytes for row in rows))),
    ]
