"""Gather the report of one task. A missing or damaged part becomes a line on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from lmr_author.core import files
from lmr_author.core.code import Definition, Module, first_line
from lmr_author.core.errors import LmrError
from lmr_author.core.paper import Paragraph
from lmr_author.core.task import (
    Evaluation,
    Finding,
    GateResult,
    Implementation,
    Progress,
    Severity,
    State,
    Task,
    TaskInfo,
    challenge,
    provenance,
)
from lmr_author.core.task import evaluation as evaluations
from lmr_author.core.task.accepted import Accepted
from lmr_author.core.task.challenge import Challenger, Standing
from lmr_author.core.task.equivalents import EquivalentMutant
from lmr_author.core.task.evaluation import MUTANTS_DIE, GateDetail, GateStatus
from lmr_author.core.task.recording import Case, Recording
from lmr_author.core.task.vetting import VettingRecord
from lmr_author.core.texts import counted
from lmr_author.proof.lookup import canonical_category
from lmr_author.proof.validation.run import checked
from lmr_author.release.reporting import records, values
from lmr_author.release.reporting.code import CodeBlock
from lmr_author.release.reporting.paper_pages import PaperPage, pages_of, read_blocks
from lmr_author.release.reporting.records import History, ReviewView
from lmr_author.release.reporting.status import STEPS, Status, status_with
from lmr_author.release.reporting.values import Values
from lmr_author.release.review.checklist import CATEGORY_MEANINGS
from lmr_author.release.review.docstring import docstring_contradictions
from lmr_author.release.review.evidence import evidence_for
from lmr_author.release.review.exhibits import QuestionEvidence
from lmr_author.release.review.standing import ACCEPTED, DISPUTED, REJECTED, WAITING, proof_of
from lmr_author.release.review.subject import ReviewedTask, Subject, line_marks, read_task
from lmr_author.release.review.tested import differences, tolerances

MOST_DIFFERENCES = 30
"""Inputs listed in the table of differences between cases."""

VerdictLine = tuple[str, str, str]
"""Subject, result, and ``good``, ``bad`` or ``open``."""


@dataclass(frozen=True)
class TargetView:
    """One masked function: golden and masked code; None where it cannot be found."""

    qualname: str
    golden: CodeBlock | None
    masked: CodeBlock | None


@dataclass(frozen=True)
class CaseView:
    """A recorded call with its values."""

    case: Case
    inputs: Values
    expected: Values


@dataclass(frozen=True)
class ImplementationView:
    """One implementation with its code, cases, gates and mutants.

    Attributes:
        meaning: of its category; "" for none of the nine.
        differences: of inputs that differ between the cases, the name and what each case has.
        docstring: what the golden's docstring says that is not so.
        tolerances: how results are compared, as a table with a head.
        gates: results of ``authoring/evaluation.json`` for it.
        mutants: the detail of its gate ``mutants-die``; None when there is none.
        problems: reasons for missing parts.
        challengers: misreadings and rewrites that were tried.
    """

    implementation: Implementation
    meaning: str
    pages: tuple[PaperPage, ...]
    targets: tuple[TargetView, ...]
    recording: Recording | None
    cases: tuple[CaseView, ...]
    differences: tuple[tuple[str, ...], ...]
    docstring: tuple[str, ...]
    tolerances: tuple[tuple[str, ...], ...]
    gates: tuple[GateResult, ...]
    mutants: GateDetail | None
    accepted_mutants: tuple[EquivalentMutant, ...]
    problems: tuple[str, ...]
    challengers: tuple[Challenger, ...] = ()


@dataclass(frozen=True)
class TaskPage:
    """Everything on the page of one task; ``next`` is the next command, without the path of the task."""

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
    patch: str
    patch_reason: str
    findings: tuple[Finding, ...]
    accepted: tuple[tuple[Finding, Accepted], ...]
    vetting: VettingRecord | None
    reviews: ReviewView
    history: History
    evidence: Mapping[str, QuestionEvidence]


def task_page(task: Task, say: Progress) -> TaskPage:
    """Return the page of a task. Raises LmrError only when ``info.json`` cannot be read."""
    info = task.load()
    say(f"{task.name}: checking")
    report = checked([task]).tasks[0]
    status = status_with(task, report.findings)
    evaluation = proof_of(task)
    gates = evaluation.gates if evaluation else ()
    reviewed = read_task(task)
    view, origin = reviewed.view, provenance.load(task).repository
    say(f"{task.name}: looking for passages in the paper")
    blocks, problem = read_blocks(view)
    parts = [_implementation(reviewed, subject, blocks, problem) for subject in reviewed.subjects]
    return TaskPage(
        name=task.name,
        info=info,
        steps=tuple((step, step in status.done) for step in STEPS),
        state=status.state,
        next=status.next.replace(str(task.root), task.name),
        note=status.note,
        verdict=_verdict(task, info, evaluation, report.findings, status),
        implementations=tuple(parts),
        task_gates=tuple(gate for gate in gates if gate.implementation is None),
        environment=records.environment(task, evaluation),
        dockerfile=view.text(task.dockerfile) or "",
        lock=view.text(task.lock) or "",
        patch=view.text(task.patch_path) or "",
        patch_reason=origin.patch.reason if origin.patch else "",
        findings=report.findings,
        accepted=report.accepted,
        vetting=VettingRecord.read_if_valid(task.vetting_path),
        reviews=records.reviews(task),
        history=records.history(task, info, evaluation),
        evidence=evidence_for(reviewed, report.findings),
    )


def _verdict(
    task: Task,
    info: TaskInfo,
    evaluation: Evaluation | None,
    findings: Sequence[Finding],
    status: Status,
) -> tuple[VerdictLine, ...]:
    lines = _gates_verdict(task, evaluation)
    standing, record = challenge.standing(task, info)
    if record is not None:
        kind = {Standing.HELD: "good", Standing.OPEN: "bad", Standing.STALE: "open"}[standing]
        lines.append(("Challenge", challenge.in_words(standing, record), kind))
    serious = [finding for finding in findings if finding.severity is not Severity.NOTE]
    if serious:
        codes = sorted({finding.code for finding in serious})
        lines.append(("Checks", f"{counted(len(serious), 'finding')}: {', '.join(codes)}", "bad"))
    else:
        lines.append(("Checks", "no problems found", "good"))
    kind = {ACCEPTED: "good", DISPUTED: "bad", REJECTED: "bad"}.get(status.review, "open")
    people = status.people if status.review == WAITING else f"{status.review}, {status.people}"
    lines.append(("Reviews", people or "not reviewed", kind))
    return tuple(lines)


def _gates_verdict(task: Task, evaluation: Evaluation | None) -> list[VerdictLine]:
    if evaluation is None:
        return [("Gates", "never evaluated", "open")]
    passed = sum(gate.status is GateStatus.PASSED for gate in evaluation.gates)
    text = f"{passed} of {len(evaluation.gates)} hold" if evaluation.passed else evaluation.open_gates
    if not evaluation.is_of(State.of(task)):
        lines = [("Gates", f"stale: the task changed since ({text})", "bad")]
    else:
        lines = [("Gates", text, "good" if evaluation.passed else "bad")]
    score = evaluations.mutation_score(evaluation.gates)
    if score.made:
        lines.append(("Mutants", score.text, _of_mutants(evaluation.gates)))
    return lines


def _of_mutants(gates: Sequence[GateResult]) -> str:
    """Good where every implementation passes the gate's threshold."""
    statuses = {gate.status for gate in gates if gate.gate == MUTANTS_DIE}
    if GateStatus.FAILED in statuses:
        return "bad"
    return "good" if statuses == {GateStatus.PASSED} else "open"


def _implementation(
    reviewed: ReviewedTask, subject: Subject, blocks: Sequence[Paragraph], problem: str
) -> ImplementationView:
    view, challenged = reviewed.view, reviewed.challenge
    implementation, pair, recording = subject.implementation, subject.files, subject.recording
    marks = line_marks(pair.golden, recording.coverage) if pair.golden and recording else {}
    cases: tuple[CaseView, ...] = ()
    if recording:
        folder = reviewed.task.recording(view.info, implementation.index)
        cases = tuple(_case(folder, case) for case in recording.cases)
    targets = []
    for target in pair.targets:
        golden = _code(pair.golden, target.golden, implementation.golden_file, marks)
        targets.append(
            TargetView(target.qualname, golden, _code(pair.goal, target.goal, implementation.goal_file))
        )
    mutants = subject.mutants
    return ImplementationView(
        implementation=implementation,
        meaning=CATEGORY_MEANINGS.get(canonical_category(implementation.category) or "", ""),
        pages=pages_of(view, implementation, pair, blocks),
        targets=tuple(targets),
        recording=recording,
        cases=cases,
        differences=tuple(differences([view.case for view in cases])[:MOST_DIFFERENCES]),
        docstring=tuple(docstring_contradictions(subject.goldens)),
        tolerances=tolerances(subject),
        gates=subject.gates,
        mutants=mutants if mutants and mutants.made is not None else None,
        accepted_mutants=subject.accepted,
        problems=tuple(filter(None, (problem, *subject.problems))),
        challengers=challenged.of(implementation.index) if challenged else (),
    )


def _code(
    module: Module | None,
    definition: Definition | None,
    name: str,
    marks: Mapping[int, str] = MappingProxyType({}),
) -> CodeBlock | None:
    """Return a definition with its decorators, as in its file."""
    if module is None or definition is None:
        return None
    first = first_line(definition.node)
    lines = [module.line_text(number) for number in range(first, definition.end_line + 1)]
    return CodeBlock(name, first, "\n".join(lines), definition.docstring_lines, marks)


def _case(folder: Path, case: Case) -> CaseView:
    try:
        path = files.inside(folder, case.name)
        return CaseView(case, values.read(path, "inputs"), values.read(path, "expected"))
    except LmrError as error:
        return CaseView(case, Values((), error.message), Values((), error.message))
