"""Gather the report of one task. A missing or damaged part becomes a line on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from lmr_author.authoring.recording.checkers import how_each
from lmr_author.core import files
from lmr_author.core.code import Definition, Module, first_line
from lmr_author.core.errors import LmrError
from lmr_author.core.paper import PageImage, images
from lmr_author.core.task import (
    Evaluation,
    Finding,
    GateResult,
    Implementation,
    Progress,
    Task,
    TaskInfo,
    challenge,
)
from lmr_author.core.task import evaluation as evaluations
from lmr_author.core.task.accepted import AcceptedFinding
from lmr_author.core.task.challenge import ChallengeStatus
from lmr_author.core.task.difficulty import TargetDifficulty
from lmr_author.core.task.evaluation import MUTANTS_DIE, GateStatus
from lmr_author.core.task.recording import Case
from lmr_author.core.task.reviews import VettingRecord
from lmr_author.proof.validation.run import checked
from lmr_author.release.reporting import records, values
from lmr_author.release.reporting.code import CodeBlock
from lmr_author.release.reporting.passages import PassageView, by_line, golden_anchor, passages
from lmr_author.release.reporting.records import History, ReviewView
from lmr_author.release.reporting.status import STEPS, Status, status_with
from lmr_author.release.reporting.values import Values
from lmr_author.release.review.checklist import HUMAN, ChecklistQuestion, automatic_items
from lmr_author.release.review.evidence import QuestionEvidence
from lmr_author.release.review.evidence_of_ledger import entries_of
from lmr_author.release.review.evidence_of_questions import evidence_for
from lmr_author.release.review.review_status import ACCEPTED, DISPUTED, REJECTED, WAITING
from lmr_author.release.review.under_test import ReviewedTask, TargetUnderTest, line_marks, read_task
from lmr_author.release.review.weaknesses import Weakness, weaknesses

MOST_PAGES = 6
"""Pages of the paper that are drawn."""

VerdictLine = tuple[str, str, str]
"""What is judged, result, and ``good``, ``bad`` or ``open``."""


@dataclass(frozen=True)
class TargetView:
    """One masked function: golden and masked code; None where it cannot be found."""

    qualname: str
    golden: CodeBlock | None
    masked: CodeBlock | None


@dataclass(frozen=True)
class CaseView:
    """A recorded call with its values; ``tolerances``: how its parts are compared, each kind once."""

    case: Case
    tolerances: tuple[str, ...]
    inputs: Values
    expected: Values


@dataclass(frozen=True)
class ImplementationView:
    """What the page shows of an implementation beside the evidence.

    Attributes:
        pages: number and picture of the paper's pages that ledger and instruction speak of.
        gates: results of ``authoring/evaluation.json`` for it.
        problem: why the paper cannot be shown; "" for nothing.
    """

    implementation: Implementation
    pages: tuple[tuple[int, PageImage], ...]
    targets: tuple[TargetView, ...]
    cases: tuple[CaseView, ...]
    gates: tuple[GateResult, ...]
    problem: str


@dataclass(frozen=True)
class TaskPage:
    """Everything on the page of one task.

    Attributes:
        next: the next command, without the path of the task.
        stale: the task changed after its evaluation.
        index, following: addresses of the page of all tasks, and of the next task's; "" for none.
    """

    name: str
    info: TaskInfo
    steps: tuple[tuple[str, bool], ...]
    state: str
    next: str
    note: str
    verdict: tuple[VerdictLine, ...]
    implementations: tuple[ImplementationView, ...]
    task_gates: tuple[GateResult, ...]
    environment: tuple[tuple[str, str], ...]
    dockerfile: str
    lock: str
    findings: tuple[Finding, ...]
    accepted: tuple[tuple[Finding, AcceptedFinding], ...]
    vetting: VettingRecord | None
    reviews: ReviewView
    history: History
    questions: tuple[ChecklistQuestion, ...]
    evidence: Mapping[str, QuestionEvidence]
    passages: tuple[PassageView, ...]
    weaknesses: tuple[Weakness, ...]
    difficulty: tuple[TargetDifficulty, ...]
    stale: bool = False
    index: str = ""
    following: str = ""


def task_page(task: Task, say: Progress) -> TaskPage:
    """Return the page of a task. Raises LmrError only when ``info.json`` cannot be read."""
    info = task.load()
    say(f"{task.name}: checking")
    report = checked([task]).tasks[0]
    status = status_with(task, report.findings)
    reviewed = read_task(task)
    contents, evaluation = reviewed.contents, reviewed.proof
    gates = evaluation.gates if evaluation else ()
    say(f"{task.name}: drawing pages of the paper")
    implementations = tuple(_implementation(reviewed, under_test) for under_test in reviewed.targets)
    evidence = evidence_for(reviewed, report.findings)
    drawn = {one.implementation.index: dict(one.pages).keys() for one in implementations}
    return TaskPage(
        name=task.name,
        info=info,
        steps=tuple((step, step in status.done) for step in STEPS),
        state=status.state,
        next=status.next.replace(str(task.root), task.name),
        note=status.note,
        verdict=_verdict(task, info, evaluation, report.findings, status),
        implementations=implementations,
        task_gates=tuple(gate for gate in gates if gate.implementation is None),
        environment=records.environment(task, evaluation),
        dockerfile=contents.text(task.dockerfile) or "",
        lock=contents.text(task.lock) or "",
        findings=report.findings,
        accepted=report.accepted,
        vetting=VettingRecord.read_if_valid(task.vetting_path),
        reviews=records.reviews(task),
        history=records.history(task, info, evaluation),
        questions=HUMAN,
        evidence=evidence,
        passages=tuple(passages(contents, drawn)),
        weaknesses=weaknesses(reviewed, evidence),
        difficulty=status.difficulty,
        stale=reviewed.evaluation == "stale",
    )


def _verdict(
    task: Task,
    info: TaskInfo,
    evaluation: Evaluation | None,
    findings: Sequence[Finding],
    status: Status,
) -> tuple[VerdictLine, ...]:
    """Return what the review says of checks and gates, then mutants, challenge and reviewers."""
    kinds = {"pass": "good", "fail": "bad", "unsure": "open"}
    checks, gates = automatic_items(task, findings, evaluation)
    lines = [("Gates", gates.evidence, kinds[gates.answer] if evaluation else "open")]
    score = evaluations.mutation_score(evaluation.gates if evaluation else ())
    if evaluation and score.made:
        passed = all(
            gate.status is GateStatus.PASSED for gate in evaluation.gates if gate.gate == MUTANTS_DIE
        )
        lines.append(("Mutants", score.text, "good" if passed else "bad"))
    challenge_status, record = challenge.status_of(task, info)
    if record is not None:
        kind = {ChallengeStatus.HELD: "good", ChallengeStatus.OPEN: "bad", ChallengeStatus.STALE: "open"}[
            challenge_status
        ]
        lines.append(("Challenge", challenge.in_words(challenge_status, record), kind))
    lines.append(("Checks", checks.evidence, kinds[checks.answer]))
    kind = {ACCEPTED: "good", DISPUTED: "bad", REJECTED: "bad"}.get(status.review, "open")
    people = status.people if status.review == WAITING else f"{status.review}, {status.people}"
    return (*lines, ("Reviews", people or "not reviewed", kind))


def _implementation(reviewed: ReviewedTask, under_test: TargetUnderTest) -> ImplementationView:
    implementation, pair, recording = under_test.implementation, under_test.files, under_test.recording
    marks = line_marks(pair.golden, recording.coverage) if pair.golden and recording else {}
    cases: tuple[CaseView, ...] = ()
    if recording:
        folder = reviewed.task.recording(reviewed.contents.info, implementation.index)
        cases = tuple(_case(folder, case) for case in recording.cases)
    targets = []
    for target in pair.targets:
        golden = _code(pair.golden, target.golden, implementation.golden_file, marks)
        if golden:
            index = implementation.index
            golden = replace(
                golden,
                anchor=golden_anchor(index),
                passages=by_line(reviewed.contents, index),
                mutants=_mutants_by_line(under_test),
            )
        masked = _code(pair.goal, target.goal, implementation.goal_file)
        targets.append(TargetView(target.qualname, golden, masked))
    pages, problem = _pages(reviewed, under_test)
    return ImplementationView(implementation, pages, tuple(targets), cases, under_test.gates, problem)


def _mutants_by_line(under_test: TargetUnderTest) -> dict[int, tuple[int, int]]:
    """Return how many mutants of each line were killed, and how many were made."""
    figures: dict[int, tuple[int, int]] = {}
    for tally in under_test.mutants.tallies if under_test.mutants else ():
        killed, made = figures.get(tally.line, (0, 0))
        figures[tally.line] = killed + tally.killed, made + tally.made
    return figures


def _pages(
    reviewed: ReviewedTask, under_test: TargetUnderTest
) -> tuple[tuple[tuple[int, PageImage], ...], str]:
    """Return pictures of the pages with what ledger and instruction name, or why there are none."""
    pdf = reviewed.task.paper_pdf(reviewed.contents.info)
    if not pdf.is_file() or pdf.is_symlink():
        return (), "no paper.pdf"
    entries = entries_of(reviewed.contents, under_test.implementation.index)
    quoted = [judged.entry.page for judged in entries]
    wanted = dict.fromkeys([*filter(None, quoted), *under_test.cited.pages])
    try:
        drawn = images(pdf, list(wanted)[:MOST_PAGES])
    except LmrError as error:
        return (), error.message
    return tuple(sorted(drawn.items())), ""


def _code(
    module: Module | None,
    definition: Definition | None,
    name: str,
    marks: Mapping[int, str] = MappingProxyType({}),
) -> CodeBlock | None:
    if module is None or definition is None:
        return None
    first = first_line(definition.node)
    lines = [module.line_text(number) for number in range(first, definition.end_line + 1)]
    return CodeBlock(name, first, "\n".join(lines), definition.docstring_lines, marks)


def _case(folder: Path, case: Case) -> CaseView:
    ways = how_each(case.checkers)
    try:
        path = files.inside(folder, case.name)
        return CaseView(case, ways, values.read(path, "inputs"), values.read(path, "expected"))
    except LmrError as error:
        return CaseView(case, ways, Values((), error.message), Values((), error.message))
