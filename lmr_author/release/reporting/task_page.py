"""Gather the report of one task. A missing or damaged part becomes a line on the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from lmr_author.authoring.masking.instruction import words_of
from lmr_author.authoring.suggesting.paper import FunctionWords
from lmr_author.authoring.suggesting.sections import passages
from lmr_author.core import files, paper
from lmr_author.core.code import Definition, Module, first_line
from lmr_author.core.errors import LmrError
from lmr_author.core.paper import PageImage, Paragraph
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
    equivalents,
)
from lmr_author.core.task import evaluation as evaluations
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.accepted import Accepted
from lmr_author.core.task.challenge import Challenger, Standing
from lmr_author.core.task.equivalents import EquivalentMutant
from lmr_author.core.task.evaluation import MUTANTS_DIE, GateDetail, GateStatus
from lmr_author.core.task.recording import Case, Recording
from lmr_author.core.task.vetting import VettingRecord
from lmr_author.core.texts import counted
from lmr_author.proof.lookup import Pair, canonical_category, pair
from lmr_author.proof.validation.run import checked
from lmr_author.proof.view import TaskView
from lmr_author.release.reporting import records, values
from lmr_author.release.reporting.code import CodeBlock
from lmr_author.release.reporting.records import History, ReviewView
from lmr_author.release.reporting.status import STEPS, Status, status_with
from lmr_author.release.reporting.values import Values
from lmr_author.release.review.checklist import CATEGORY_MEANINGS
from lmr_author.release.review.cited import cite, labels_in, labels_named, places_of
from lmr_author.release.review.evidence import evidence_of
from lmr_author.release.review.exhibits import QuestionEvidence
from lmr_author.release.review.standing import ACCEPTED, DISPUTED, REJECTED, WAITING
from lmr_author.release.review.subject import line_marks
from lmr_author.release.review.tested import differences

MOST_DIFFERENCES = 30
"""Inputs listed in the table of differences between cases."""

MOST_SECTION_PAGES = 6
"""Pages that are drawn only because a named section is on them."""

VerdictLine = tuple[str, str, str]
"""Subject, result, and ``good``, ``bad`` or ``open``."""


@dataclass(frozen=True)
class Mark:
    """A highlighted paragraph of the paper: its number, the reason for it, where it is and its text."""

    number: int
    reason: str
    block: Paragraph


@dataclass(frozen=True)
class NamedSection:
    """The part on one page of a section that the instruction names."""

    title: str
    blocks: tuple[Paragraph, ...]


@dataclass(frozen=True)
class PaperPage:
    """A page of the paper with its marks; without an image when it could not be drawn."""

    number: int
    image: PageImage | None
    marks: tuple[Mark, ...]
    sections: tuple[NamedSection, ...] = ()


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
        gates: results of ``authoring/evaluation.json`` for it.
        mutants: the detail of its gate ``mutants-die``; None when there is none.
        problems: reasons for missing parts.
        challengers: misreadings and rewrites that were tried.
    """

    item: Implementation
    meaning: str
    pages: tuple[PaperPage, ...]
    targets: tuple[TargetView, ...]
    recording: Recording | None
    cases: tuple[CaseView, ...]
    differences: tuple[tuple[str, ...], ...]
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
    findings: tuple[Finding, ...]
    accepted: tuple[tuple[Finding, Accepted], ...]
    vetting: VettingRecord | None
    reviews: ReviewView
    history: History
    evidence: Mapping[str, QuestionEvidence]


def task_page(task: Task, say: Progress) -> TaskPage:
    """Return the page of a task. Raises LmrError only when ``info.json`` cannot be read."""
    info = task.load()
    view = TaskView(task)
    say(f"{task.name}: checking")
    found = checked([task]).tasks[0]
    where = status_with(task, found.findings)
    evaluation = evaluations.load(task)
    gates = evaluation.gates if evaluation else ()
    say(f"{task.name}: looking for passages in the paper")
    blocks, problem = _blocks(view)
    parts = [_implementation(task, view, one, gates, blocks, problem) for one in info.implementations]
    return TaskPage(
        name=task.name,
        info=info,
        steps=tuple((step, step in where.done) for step in STEPS),
        state=where.state,
        next=where.next.replace(str(task.root), task.name),
        note=where.note,
        verdict=_verdict(task, evaluation, found.findings, where),
        implementations=tuple(parts),
        task_gates=tuple(gate for gate in gates if gate.implementation is None),
        environment=records.environment(task, evaluation),
        dockerfile=view.text(task.dockerfile) or "",
        lock=view.text(task.lock) or "",
        findings=found.findings,
        accepted=found.accepted,
        vetting=VettingRecord.read_if_valid(task.vetting_path),
        reviews=records.reviews(task),
        history=records.history(task, info, evaluation),
        evidence=evidence_of(task, found.findings),
    )


def _verdict(
    task: Task, evaluation: Evaluation | None, findings: Sequence[Finding], where: Status
) -> tuple[VerdictLine, ...]:
    """Return the verdict: gates, mutants, findings, reviews."""
    lines = []
    if evaluation is None:
        lines.append(("Gates", "never evaluated", "open"))
    else:
        held = sum(gate.status == "passed" for gate in evaluation.gates)
        text = f"{held} of {len(evaluation.gates)} hold" if evaluation.passed else evaluation.open_gates
        if not evaluation.is_of(State.of(task)):
            lines.append(("Gates", f"stale: the task changed since ({text})", "bad"))
        else:
            lines.append(("Gates", text, "good" if evaluation.passed else "bad"))
        killed, tried = evaluations.mutants_killed(evaluation.gates)
        if tried:
            lines.append(("Wrong versions", f"{killed} of {tried} fail", _of_mutants(evaluation.gates)))
    serious = [item for item in findings if item.severity is not Severity.NOTE]
    titles = ", ".join(sorted({item.code for item in serious}))
    result = f"{counted(len(serious), 'finding')}: {titles}" if serious else "no problems found"
    found, record = challenge.standing(task, task.load())
    if record is not None:
        kind = {Standing.HELD: "good", Standing.OPEN: "bad", Standing.STALE: "open"}[found]
        lines.append(("Challenge", challenge.in_words(task, task.load()), kind))
    lines.append(("Checks", result, "bad" if serious else "good"))
    kind = {ACCEPTED: "good", DISPUTED: "bad", REJECTED: "bad"}.get(where.review, "open")
    state = where.review if where.review != WAITING else "" if where.people else "not reviewed"
    lines.append(("Reviews", ", ".join(filter(None, (state, where.people))), kind))
    return tuple(lines)


def _of_mutants(gates: Sequence[GateResult]) -> str:
    """Return the kind of the line about mutants: good where every implementation passes the gate's threshold."""
    statuses = {gate.status for gate in gates if gate.gate == MUTANTS_DIE}
    return "bad" if GateStatus.FAILED in statuses else "good" if statuses == {GateStatus.PASSED} else "open"


def _blocks(view: TaskView) -> tuple[tuple[Paragraph, ...], str]:
    """Return the paper's paragraphs, or none and the reason."""
    pdf = view.repository / "paper.pdf" if view.repository else None
    if pdf is None or not pdf.is_file() or pdf.is_symlink():
        return (), "no paper.pdf"
    try:
        return paper.blocks(pdf), ""
    except LmrError as error:
        return (), error.message


def _implementation(
    task: Task,
    view: TaskView,
    item: Implementation,
    gates: Sequence[GateResult],
    blocks: Sequence[Paragraph],
    problem: str,
) -> ImplementationView:
    own = tuple(gate for gate in gates if gate.implementation == item.index)
    one = pair(view, next(each for each in view.implementations if each.index == item.index))
    problems, recording = [problem], None
    accepted: tuple[EquivalentMutant, ...] = ()
    try:
        folder = task.recording(view.info, item.index)
        recording = recorded.load(folder)
    except LmrError as error:
        problems.append(error.message)
    try:
        accepted = equivalents.load(task).of(item.target)
    except LmrError as error:
        problems.append(error.message.replace(f"{task.root}/", ""))
    marks = line_marks(one.golden, recording.coverage) if one.golden and recording else {}
    cases = tuple(_case(folder, case) for case in recording.cases) if recording else ()
    mutants = next((gate.detail for gate in own if gate.gate == MUTANTS_DIE), None)
    return ImplementationView(
        item=item,
        meaning=CATEGORY_MEANINGS.get(canonical_category(item.category) or "", ""),
        pages=_pages(
            view,
            blocks,
            _marked(_words(item, one), item.instruction, blocks),
            _named_sections(item.instruction, blocks),
        ),
        targets=tuple(
            TargetView(
                each.qualname,
                _code(one.golden, each.golden, item.golden_file, marks),
                _code(one.goal, each.goal, item.goal_file),
            )
            for each in one.targets
        ),
        recording=recording,
        cases=cases,
        differences=tuple(differences([each.case for each in cases])[:MOST_DIFFERENCES]),
        gates=own,
        mutants=mutants if mutants and mutants.killed is not None else None,
        accepted_mutants=accepted,
        problems=tuple(filter(None, problems)),
        challengers=known.of(item.index) if (known := challenge.load(task)) else (),
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
    docstring = (0, 0)
    if definition.docstring is not None:
        head = definition.node.body[0]
        docstring = (head.lineno - first + 1, (head.end_lineno or head.lineno) - first + 1)
    return CodeBlock(name, first, "\n".join(lines), docstring, marks)


def _words(item: Implementation, one: Pair) -> FunctionWords:
    """Return the words of the golden, or of the masked function without a golden, and of the instruction."""
    found = [words_of(known) for each in one.targets if (known := each.golden or each.goal)]
    return FunctionWords(
        item.goal_function,
        item.class_name,
        [name for words in found for name in words.parameters],
        [name for words in found for name in words.identifiers],
        [item.instruction, *(text for words in found for text in words.texts)],
    )


def _marked(words: FunctionWords, instruction: str, blocks: Sequence[Paragraph]) -> dict[int, str]:
    """Return the blocks to highlight and why: named equations and algorithms first, then passages."""
    named = labels_named(instruction)
    marked: dict[int, str] = {}
    for place, block in enumerate(blocks):
        labels = [label for label in labels_in(block.text) if label in named]
        if labels:
            marked[place] = ", ".join(labels)
    for passage in passages([block.text for block in blocks], words):
        marked.setdefault(passage.place, f"shares {', '.join(passage.terms)}")
    return marked


def _named_sections(instruction: str, blocks: Sequence[Paragraph]) -> dict[int, list[NamedSection]]:
    """Return the sections that an instruction names, by page."""
    texts = [block.text for block in blocks]
    found: dict[int, list[NamedSection]] = defaultdict(list)
    for section in cite(instruction, dict(enumerate(texts))).sections:
        pages: dict[int, list[Paragraph]] = defaultdict(list)
        for place in places_of(section, texts):
            if not texts[place].strip().isdecimal():  # the number of the page
                pages[blocks[place].page].append(blocks[place])
        for number, own in pages.items():
            found[number].append(NamedSection(section.named, tuple(own)))
    return found


def _pages(
    view: TaskView,
    blocks: Sequence[Paragraph],
    marked: Mapping[int, str],
    named: Mapping[int, Sequence[NamedSection]],
) -> tuple[PaperPage, ...]:
    """Return the pages with named sections or marked passages, those of the sections first."""
    marks: dict[int, list[Mark]] = defaultdict(list)
    for number, (place, reason) in enumerate(marked.items(), 1):
        marks[blocks[place].page].append(Mark(number, reason, blocks[place]))
    # Marks are numbered in their order of importance, so that the most important page comes first.
    numbers = list(dict.fromkeys([*list(named)[:MOST_SECTION_PAGES], *marks]))
    if not numbers or view.repository is None:
        return ()
    try:
        drawn = paper.images(view.repository / "paper.pdf", numbers)
    except LmrError:
        drawn = {}
    return tuple(
        PaperPage(number, drawn.get(number), tuple(marks.get(number, ())), tuple(named.get(number, ())))
        for number in numbers
    )


def _case(folder: Path, case: Case) -> CaseView:
    try:
        place = files.inside(folder, case.name)
        return CaseView(case, values.read(place, "inputs"), values.read(place, "expected"))
    except LmrError as error:
        return CaseView(case, Values((), error.message), Values((), error.message))
