"""The values that a report shows, gathered by ``report.py`` and laid out by the templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lmr_author.reporting.code import CodeBlock
from lmr_author.reporting.values import Values
from lmr_author.task import Finding, GateResult


@dataclass(frozen=True)
class Mark:
    """A highlighted paragraph: its sides as shares of the page, its number, the reason for it, its text."""

    left: float
    top: float
    right: float
    bottom: float
    number: int
    reason: str
    text: str


@dataclass(frozen=True)
class PaperPage:
    """A page of the paper with what is marked on it: a PNG in base64, or "" when it could not be drawn."""

    number: int
    width: int
    height: int
    png: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class CaseView:
    """A recorded call: its name, its entry in the manifest, its values."""

    name: str
    call: int
    bytes: int
    outcome: str
    inputs: Values
    expected: Values
    checkers: tuple[str, ...]


@dataclass(frozen=True)
class TargetView:
    """One masked function: golden and masked code; None where it cannot be found."""

    qualname: str
    golden: CodeBlock | None
    masked: CodeBlock | None


@dataclass(frozen=True)
class VerdictLine:
    """One line of a task's verdict: subject, result, and ``good``, ``bad`` or ``open``."""

    subject: str
    result: str
    kind: str


@dataclass(frozen=True)
class ImplementationView:
    """One implementation with its code, cases, gates and mutants.

    Attributes:
        gates: results of ``authoring/evaluation.json`` for it.
        mutants: the detail of its gate ``mutants-die``; empty when there is none.
        differences: (input, its description in each case) for inputs that differ between the cases.
        accepted_mutants: (id, diff, reason) of those accepted as equivalent.
        problems: reasons for missing parts.
    """

    index: int
    target: str
    category: str
    instruction: str
    retrieval_context: tuple[str, ...]
    pages: tuple[PaperPage, ...]
    targets: tuple[TargetView, ...]
    cases: tuple[CaseView, ...]
    differences: tuple[tuple[str, tuple[str, ...]], ...]
    recorded: Mapping[str, str]
    gates: tuple[GateResult, ...]
    mutants: Mapping[str, Any]
    accepted_mutants: tuple[tuple[str, str, str], ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReviewView:
    """One review as a report may show it; the verdict is "" while reviews are blind."""

    reviewer: str
    created: str
    verdict: str
    holds: bool


@dataclass(frozen=True)
class ReviewRow:
    """One item of the checklist: the question, and (answer, comment) of each reviewer."""

    question: str
    answers: tuple[tuple[str, str], ...]

    @property
    def disputed(self) -> bool:
        """True if the reviewers disagree."""
        return len({answer for answer, _ in self.answers}) > 1


@dataclass(frozen=True)
class HistoryEvent:
    """An event in the task's history, with its time (RFC 3339)."""

    when: str
    what: str


@dataclass(frozen=True)
class TaskPage:
    """Everything on the page of one task."""

    name: str
    title: str
    year: int
    paper_url: str
    repo_url: str
    commit: str
    licence: str
    steps: tuple[tuple[str, bool], ...]
    next: str
    note: str
    verdict: tuple[VerdictLine, ...]
    implementations: tuple[ImplementationView, ...]
    task_gates: tuple[GateResult, ...]
    environment: tuple[tuple[str, str], ...]
    dockerfile: str
    lock: str
    findings: tuple[Finding, ...]
    accepted: tuple[tuple[Finding, str], ...]
    vetting: tuple[tuple[str, str, str], ...]
    reviews: tuple[ReviewView, ...]
    review_rows: tuple[ReviewRow, ...]
    review_note: str
    agreement: tuple[tuple[str, str], ...]
    history: tuple[HistoryEvent, ...]


@dataclass(frozen=True)
class TaskRow:
    """One task in the report of a folder of tasks.

    Attributes:
        link: address of the task's page; "" without one.
        reached: the last step that holds, ``created`` … ``signed off``, or ``broken``.
        flags: ``stale`` when the task changed since it was evaluated, ``disputed`` when its reviewers disagree.
        strength: share of mutants that fail, over all implementations, 0 to 1; None when not measured.
        bytes: size of the task's content.
        reviewers: number of reviews of the task as it is.
        agreement: share of checklist items on which the reviewers agree, 0 to 1; None without two of them.
        lengths: lines of each golden target.
    """

    name: str
    title: str
    year: int
    categories: tuple[str, ...]
    targets: tuple[str, ...]
    reached: str
    note: str
    next: str
    errors: int
    warnings: int
    gates_passed: int
    gates: int
    strength: float | None
    bytes: int
    reviewers: int
    agreement: float | None
    instructions: tuple[str, ...] = ()
    link: str = ""
    flags: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()
    findings: tuple[str, ...] = ()
    open_gates: tuple[str, ...] = ()


@dataclass(frozen=True)
class DatasetPage:
    """Everything on the page of a folder of tasks; ``facts`` are (name, value) pairs shown at the top."""

    name: str
    rows: tuple[TaskRow, ...]
    categories: tuple[tuple[str, int], ...]
    steps: tuple[tuple[str, int], ...]
    lengths: tuple[tuple[str, int], ...]
    facts: tuple[tuple[str, str], ...] = field(default=())
