"""Gather the report of a folder of tasks: one row for each task, and totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from urllib.parse import quote

from lmr_author.core.errors import LmrError
from lmr_author.core.task import (
    CATEGORIES,
    Finding,
    GateResult,
    Progress,
    Severity,
    State,
    Task,
    TaskInfo,
    recording,
)
from lmr_author.core.task import evaluation as evaluations
from lmr_author.core.task.difficulty import Extreme, TargetDifficulty
from lmr_author.core.task.mutation import MutationScore
from lmr_author.core.texts import size_text
from lmr_author.proof.validation.report import TaskReport
from lmr_author.proof.validation.run import checked
from lmr_author.release.reporting.page import percent
from lmr_author.release.reporting.status import BROKEN, STATES, Status, status_with
from lmr_author.release.review.review import ReviewResult, result_of
from lmr_author.release.review.review_status import ACCEPTED, DISPUTED, REJECTED, proof_of

LONGEST = 12
"""Tasks in the chart of the time that an evaluation takes."""


@dataclass(frozen=True)
class TaskRow:
    """One task in the report of a folder of tasks.

    Attributes:
        info: empty for a broken task.
        state: one of :data:`~lmr_author.release.reporting.status.STATES`.
        people: the reviews in numbers; "" for none.
        errors, warnings: findings that count.
        mutants: what became of the mutants of all implementations.
        lines: lines of the masked functions that can run, as their recordings count them.
        seconds: time that the gates took.
        bytes: size of the task's content.
        agreement: share of checklist items on which the reviewers agree, 0 to 1; None without two of them.
        link: address of the task's page; "" without one.
        stale: the task changed since it was evaluated.
        difficulty: what models' answers came to on each target.
    """

    name: str
    info: TaskInfo
    categories: tuple[str, ...]
    state: str
    people: str
    note: str
    next: str
    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    gates: tuple[GateResult, ...]
    mutants: MutationScore
    lines: int
    seconds: float
    bytes: int
    agreement: float | None
    link: str
    stale: bool
    difficulty: tuple[TargetDifficulty, ...]

    @property
    def tried(self) -> int:
        """Models' answers that were judged."""
        return sum(target.tried for target in self.difficulty)

    @property
    def solved(self) -> int:
        return sum(target.solved for target in self.difficulty)


@dataclass(frozen=True)
class DatasetPage:
    """Everything on the page of a folder of tasks.

    Attributes:
        facts: (name, value) pairs shown at the top.
        slowest: the tasks whose evaluation takes longest, with its minutes and their share of the longest.
        points: the tasks whose mutants were tried, with their place from left (few lines) and top, in percent.
        solved: how many tasks models solve how often; empty before any answer was judged.
        operators: mutation operators with the mutants killed and made, those first that leave most alive.
        extremes: what every model solves, and what none solves: with the targets' tasks.
    """

    name: str
    rows: tuple[TaskRow, ...]
    categories: tuple[tuple[str, int], ...]
    states: tuple[tuple[str, int], ...]
    slowest: tuple[tuple[str, str, float], ...]
    points: tuple[tuple[TaskRow, float, float], ...]
    solved: tuple[tuple[str, int], ...]
    operators: tuple[tuple[str, int, int], ...]
    facts: tuple[tuple[str, str], ...]
    extremes: tuple[tuple[Extreme, tuple[tuple[TaskRow, TargetDifficulty], ...]], ...]


def dataset_page(name: str, tasks: Sequence[Task], say: Progress, *, linked: bool = False) -> DatasetPage:
    """Return the page of several tasks. A broken task has a row, too.

    Args:
        linked: each task has a page of its own beside this one, ``<task>.html``.
    """
    say(f"checking {len(tasks)} tasks")
    done = iter(range(1, len(tasks) + 1))
    report = checked(tasks, lambda name: say(f"checked {next(done)} of {len(tasks)}: {name}"))
    rows = []
    for number, (task, checks) in enumerate(zip(tasks, report.tasks, strict=True), 1):
        say(f"{number} of {len(tasks)}: {task.name}")
        rows.append(_row(task, checks, f"{quote(task.name)}.html" if linked else ""))
    categories = Counter(category for row in rows for category in row.categories)
    order = [*CATEGORIES, *sorted(set(categories) - set(CATEGORIES))]
    states = Counter(row.state for row in rows)
    return DatasetPage(
        name,
        tuple(rows),
        tuple((category, categories[category]) for category in order),
        tuple((state, states[state]) for state in STATES if state != BROKEN or states[BROKEN]),
        _slowest(rows),
        _points(rows),
        _solved(rows),
        _operators(rows),
        _facts(rows),
        tuple((extreme, _with(extreme, rows)) for extreme in Extreme),
    )


def _slowest(rows: Sequence[TaskRow]) -> tuple[tuple[str, str, float], ...]:
    longest = sorted(filter(lambda row: row.seconds, rows), key=lambda row: -row.seconds)[:LONGEST]
    return tuple(
        (row.name, f"{row.seconds / 60:.1f} min", row.seconds / longest[0].seconds) for row in longest
    )


def _points(rows: Sequence[TaskRow]) -> tuple[tuple[TaskRow, float, float], ...]:
    """Place each task by the lines of its functions and by the share of mutants that its tests kill.

    The lower edge is half of the mutants: below it a test is weak, however weak.
    """
    most = max((row.lines for row in rows), default=0)
    return tuple(
        (row, 100 * row.lines / most, 100 - max(0, 200 * (row.mutants.share - 0.5)))
        for row in rows
        if row.lines and row.mutants.share is not None
    )


def _solved(rows: Sequence[TaskRow]) -> tuple[tuple[str, int], ...]:
    shares = [row.solved / row.tried for row in rows if row.tried]
    if not shares:
        return ()
    return (
        ("never", sum(share == 0 for share in shares)),
        ("up to a third", sum(0 < share <= 1 / 3 for share in shares)),
        ("up to two thirds", sum(1 / 3 < share <= 2 / 3 for share in shares)),
        ("more often", sum(2 / 3 < share < 1 for share in shares)),
        ("always", sum(share == 1 for share in shares)),
    )


def _operators(rows: Sequence[TaskRow]) -> tuple[tuple[str, int, int], ...]:
    made, killed = Counter[str](), Counter[str]()
    for row in rows:
        for gate in row.gates:
            for tally in gate.detail.tallies:
                made[tally.operator] += tally.made
                killed[tally.operator] += tally.killed
    order = sorted(made, key=lambda name: (killed[name] - made[name], name))
    return tuple((name, killed[name], made[name]) for name in order)


def _with(extreme: Extreme, rows: Sequence[TaskRow]) -> tuple[tuple[TaskRow, TargetDifficulty], ...]:
    return tuple((row, target) for row in rows for target in row.difficulty if target.extreme is extreme)


def _row(task: Task, checks: TaskReport, link: str) -> TaskRow:
    try:
        info = task.load()
    except LmrError as error:
        info = TaskInfo.from_json({})
        where = Status(task.name, (), f"lmr-author validate {task.root}", error.message)
    else:
        where = status_with(task, checks.findings)
    evaluation = proof_of(task)
    gates = evaluation.gates if evaluation else ()
    reviewed = _reviewed(task)
    return TaskRow(
        name=task.name,
        info=info,
        categories=tuple(each.category or "none" for each in info.implementations),
        state=where.state,
        people=where.people,
        note=where.note,
        next=where.next.replace(str(task.root), task.name),
        errors=tuple(finding for finding in checks.findings if finding.severity is Severity.ERROR),
        warnings=tuple(finding for finding in checks.findings if finding.severity is Severity.WARNING),
        gates=gates,
        mutants=evaluations.mutation_score(gates),
        lines=sum(_lines(task, info)),
        seconds=sum(gate.seconds for gate in gates),
        bytes=sum(path.stat().st_size for path in task.content_files()),
        agreement=reviewed.agreement.percent if reviewed and reviewed.agreement else None,
        link=link,
        stale=evaluation is not None and not evaluation.is_of(State.of(task)),
        difficulty=where.difficulty,
    )


def _lines(task: Task, info: TaskInfo) -> Iterator[int]:
    for implementation in info.implementations:
        try:
            recorded = recording.load(task.recording(info, implementation.index))
        except (LmrError, OSError):
            continue
        if recorded:
            yield len(recorded.coverage.lines) + len(recorded.coverage.missed)


def _reviewed(task: Task) -> ReviewResult | None:
    try:
        return result_of(task)
    except (LmrError, OSError):
        return None


def _facts(rows: Sequence[TaskRow]) -> tuple[tuple[str, str], ...]:
    strengths = [row.mutants.share for row in rows if row.mutants.share is not None]
    agreements = [row.agreement for row in rows if row.agreement is not None]
    judged = Counter(row.state for row in rows)
    return (
        *((state, str(judged[state])) for state in (ACCEPTED, DISPUTED, REJECTED)),
        ("masked functions", str(sum(len(row.info.implementations) for row in rows))),
        ("tasks with open findings", str(sum(bool(row.errors or row.warnings) for row in rows))),
        ("mutants killed, median", percent(median(strengths) if strengths else None)),
        ("agreement, median", percent(median(agreements) if agreements else None)),
        ("in all", size_text(sum(row.bytes for row in rows))),
    )
