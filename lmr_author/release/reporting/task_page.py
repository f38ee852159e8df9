"""Gather the page of one task. A missing or damaged part becomes a line on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

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
from lmr_author.core.task.challenge import ChallengeStatus
from lmr_author.core.task.evaluation import MUTANTS_DIE, GateStatus
from lmr_author.core.task.recording import Case
from lmr_author.core.task.reviews import VettingRecord
from lmr_author.proof.validation.run import checked
from lmr_author.release.reporting import records, values
from lmr_author.release.reporting.page import CodeBlock
from lmr_author.release.reporting.status import STEPS, Status, status_with
from lmr_author.release.reporting.values import Values
from lmr_author.release.review.checklist import HUMAN, automatic_items
from lmr_author.release.review.evidence_of_questions import evidence_for, weaknesses
from lmr_author.release.review.evidence_of_task import ledger_entries
from lmr_author.release.review.evidence_of_tests import shown_cases
from lmr_author.release.review.review_status import ACCEPTED, DISPUTED, REJECTED, WAITING
from lmr_author.release.review.under_test import ReviewedTask, TargetUnderTest, line_marks, read_task

MOST_PAGES = 6
"""Pages of the paper that are drawn."""


@dataclass(frozen=True)
class TargetView:
    qualname: str
    golden: CodeBlock | None
    masked: CodeBlock | None


@dataclass(frozen=True)
class CaseView:
    case: Case
    tolerances: tuple[str, ...]
    inputs: Values
    expected: Values


@dataclass(frozen=True)
class ImplementationView:
    implementation: Implementation
    pages: tuple[tuple[int, PageImage], ...]
    targets: tuple[TargetView, ...]
    cases: tuple[CaseView, ...]
    gates: tuple[GateResult, ...]
    problem: str


def task_page(task: Task, say: Progress) -> dict[str, Any]:
    """Return the page of a task. Raises LmrError only when ``info.json`` cannot be read."""
    info = task.load()
    say(f"{task.name}: checking")
    report = checked([task]).tasks[0]
    status = status_with(task, report.findings)
    reviewed = read_task(task)
    contents, evaluation = reviewed.contents, reviewed.proof
    gates = evaluation.gates if evaluation else ()
    say(f"{task.name}: drawing pages of the paper")
    implementations = [_implementation(reviewed, target) for target in reviewed.targets]
    evidence = evidence_for(reviewed, report.findings)
    drawn = {view.implementation.index: dict(view.pages).keys() for view in implementations}
    return {
        "name": task.name,
        "info": info,
        "steps": [(step, step in status.done) for step in STEPS],
        "status": status,
        "next": status.next.replace(str(task.root), task.name),
        "verdict": _verdict(task, info, evaluation, report.findings, status),
        "implementations": implementations,
        "task_gates": [gate for gate in gates if gate.implementation is None],
        "environment": records.environment(task, evaluation),
        "dockerfile": contents.text(task.dockerfile) or "",
        "lock": contents.text(task.lock) or "",
        "findings": report.findings,
        "accepted": report.accepted,
        "vetting": VettingRecord.read_if_valid(task.vetting_path),
        "reviews": records.reviews(task),
        "history": records.history(task, info, evaluation),
        "questions": HUMAN,
        "evidence": evidence,
        "passages": list(records.passages(contents, drawn)),
        "weaknesses": weaknesses(reviewed, evidence),
        "stale": reviewed.evaluation == "stale",
        "index": "",  # addresses of the page of all tasks, and of the next task's
        "following": "",
    }


def _verdict(
    task: Task, info: TaskInfo, evaluation: Evaluation | None, findings: Sequence[Finding], status: Status
) -> list[tuple[str, str, str]]:
    """Return subject, result, and ``good``, ``bad`` or ``open``."""
    kinds = {"pass": "good", "fail": "bad", "unsure": "open"}
    checks, gates = automatic_items(task, findings, evaluation)
    lines = [("Gates", gates.evidence, kinds[gates.answer] if evaluation else "open")]
    score = evaluations.mutation_score(evaluation.gates if evaluation else ())
    if evaluation and score.made:
        mutants = [gate for gate in evaluation.gates if gate.gate == MUTANTS_DIE]
        passed = all(gate.status is GateStatus.PASSED for gate in mutants)
        lines.append(("Mutants", score.text, "good" if passed else "bad"))
    challenge_status, record = challenge.status_of(task, info)
    if record is not None:
        kind = {ChallengeStatus.HELD: "good", ChallengeStatus.OPEN: "bad"}.get(challenge_status, "open")
        lines.append(("Challenge", challenge.in_words(challenge_status, record), kind))
    lines.append(("Checks", checks.evidence, kinds[checks.answer]))
    kind = {ACCEPTED: "good", DISPUTED: "bad", REJECTED: "bad"}.get(status.review, "open")
    people = status.people if status.review == WAITING else f"{status.review}, {status.people}"
    return [*lines, ("Reviews", people or "not reviewed", kind)]


def _implementation(reviewed: ReviewedTask, target: TargetUnderTest) -> ImplementationView:
    implementation, pair, recording = target.implementation, target.files, target.recording
    marks = line_marks(pair.golden, recording.coverage) if pair.golden and recording else {}
    cases: list[CaseView] = []
    if recording:
        folder = reviewed.task.recording(reviewed.contents.info, implementation.index)
        cases = [_case(folder, case) for case in shown_cases(folder, recording.cases)]
    views = []
    for each in pair.targets:
        golden = _code(pair.golden, each.golden, implementation.golden_file, marks)
        if golden:
            golden = replace(
                golden,
                anchor=records.golden_anchor(implementation.index),
                passages=records.by_line(reviewed.contents, implementation.index),
                mutants=_mutants_by_line(target),
            )
        masked = _code(pair.goal, each.goal, implementation.goal_file)
        views.append(TargetView(each.qualname, golden, masked))
    pages, problem = _pages(reviewed, target)
    return ImplementationView(implementation, pages, tuple(views), tuple(cases), target.gates, problem)


def _mutants_by_line(target: TargetUnderTest) -> dict[int, tuple[int, int]]:
    """Return mutants killed and made, by line."""
    figures: dict[int, tuple[int, int]] = {}
    for tally in target.mutants.tallies if target.mutants else ():
        killed, made = figures.get(tally.line, (0, 0))
        figures[tally.line] = killed + tally.killed, made + tally.made
    return figures


def _pages(reviewed: ReviewedTask, target: TargetUnderTest) -> tuple[tuple[tuple[int, PageImage], ...], str]:
    """Return pictures of the pages that ledger and instruction name, or why there are none."""
    pdf = reviewed.task.paper_pdf(reviewed.contents.info)
    if not pdf.is_file() or pdf.is_symlink():
        return (), "no paper.pdf"
    entries = ledger_entries(reviewed.contents, target.implementation.index)
    quoted = filter(None, (judged.entry.page for judged in entries))
    wanted = dict.fromkeys([*quoted, *target.cited.pages])
    try:
        return tuple(sorted(images(pdf, list(wanted)[:MOST_PAGES]).items())), ""
    except LmrError as error:
        return (), error.message


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
    try:
        path = files.inside(folder, case.name)
        inputs, expected = values.read(path, "inputs"), values.read(path, "expected")
    except LmrError as error:
        inputs = expected = Values((), error.message)
    return CaseView(case, how_each(case.checkers), inputs, expected)
