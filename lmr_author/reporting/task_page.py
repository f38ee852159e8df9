"""Gather the report of one task. A missing or damaged part becomes a line on the page."""

from __future__ import annotations

import ast
import base64
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from lmr_author import files, paper
from lmr_author.checks.lookup import Pair, pair
from lmr_author.checks.view import TaskView
from lmr_author.code import Definition, Module, first_line
from lmr_author.errors import LmrError
from lmr_author.paper import Paragraph
from lmr_author.reporting import records, values
from lmr_author.reporting.code import CodeBlock
from lmr_author.reporting.model import (
    CaseView,
    ImplementationView,
    Mark,
    PaperPage,
    TargetView,
    TaskPage,
    VerdictLine,
)
from lmr_author.reporting.status import STEPS, Status, status_with
from lmr_author.suggesting.sections import FunctionWords, passages
from lmr_author.task import (
    Evaluation,
    Finding,
    GateResult,
    Implementation,
    Progress,
    Severity,
    State,
    Task,
    equivalents,
)
from lmr_author.task import evaluation as evaluations
from lmr_author.task import recording as recorded
from lmr_author.texts import counted
from lmr_author.validation.run import checked

MUTANTS = "mutants-die"
MOST_DIFFERENCES = 30
"""Inputs listed in the table of differences between cases."""

_EQUATIONS = re.compile(r"\b(?:equations?|eqs?)\.?\s*\(?(\d+)\)?(?:\s*(to|-|–|and|,)\s*\(?(\d+)\)?)?", re.I)
_ALGORITHM = re.compile(r"\balgorithm\s+(\d+)", re.I)


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
    blocks, problem = _blocks(task, view)
    parts = [_implementation(task, view, one, gates, blocks, problem) for one in info.implementations]
    return TaskPage(
        name=task.name,
        title=info.paper_name,
        year=info.year,
        paper_url=info.paper_url,
        repo_url=info.repo_url,
        commit=info.repo_commit,
        licence=info.license,
        steps=tuple((step, step in where.done) for step in STEPS),
        next=where.next.replace(str(task.root), task.name),
        note=where.note,
        verdict=_verdict(task, evaluation, found.findings, where),
        implementations=tuple(parts),
        task_gates=tuple(gate for gate in gates if gate.implementation is None),
        environment=records.environment(task, evaluation),
        dockerfile=view.text(task.dockerfile) or "",
        lock=view.text(task.lock) or "",
        findings=found.findings,
        accepted=tuple((finding, entry.reason) for finding, entry in found.accepted),
        vetting=records.vetting(task),
        **records.reviews(task),
        history=records.history(task, info, evaluation),
    )


def _verdict(
    task: Task, evaluation: Evaluation | None, findings: Sequence[Finding], where: Status
) -> tuple[VerdictLine, ...]:
    """Return the verdict: gates, mutants, findings, reviews."""
    lines = []
    if evaluation is None:
        lines.append(VerdictLine("Gates", "never evaluated", "open"))
    else:
        held = sum(gate.status == "passed" for gate in evaluation.gates)
        text = f"{held} of {len(evaluation.gates)} hold" if evaluation.passed else evaluation.open_gates
        if not evaluation.is_of(State.of(task)):
            lines.append(VerdictLine("Gates", f"stale: the task changed since ({text})", "bad"))
        else:
            lines.append(VerdictLine("Gates", text, "good" if evaluation.passed else "bad"))
        killed, tried = evaluations.mutants_killed(evaluation.gates)
        if tried:
            lines.append(VerdictLine("Wrong versions", f"{killed} of {tried} fail", ""))
    serious = [item for item in findings if item.severity is not Severity.NOTE]
    titles = ", ".join(sorted({item.code for item in serious}))
    result = f"{counted(len(serious), 'finding')}: {titles}" if serious else "no problems found"
    lines.append(VerdictLine("Checks", result, "bad" if serious else "good"))
    people = f"signed off by {', '.join(where.signed_off_by)}" if where.signed_off_by else "no sign-off"
    lines.append(VerdictLine("Reviews", people, "good" if "accepted" in where.done else "open"))
    return tuple(lines)


def _blocks(task: Task, view: TaskView) -> tuple[tuple[Paragraph, ...], str]:
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
    implementation: Implementation,
    gates: Sequence[GateResult],
    blocks: Sequence[Paragraph],
    problem: str,
) -> ImplementationView:
    own = [gate for gate in gates if gate.implementation == implementation.index]
    one = pair(view, next(item for item in view.implementations if item.index == implementation.index))
    cases, facts, trouble = _cases(task, view, implementation)
    accepted, more = _accepted(task, implementation)
    mutants: Mapping[str, Any] = next((gate.detail for gate in own if gate.gate == MUTANTS), {})
    return ImplementationView(
        index=implementation.index,
        target=str(implementation.target),
        category=implementation.category,
        instruction=implementation.instruction,
        retrieval_context=implementation.retrieval_context,
        pages=_pages(view, blocks, _marked(_words(implementation, one), implementation.instruction, blocks)),
        targets=tuple(
            TargetView(
                each.qualname,
                _code(one.golden, each.golden, implementation.golden_file),
                _code(one.goal, each.goal, implementation.goal_file),
            )
            for each in one.targets
        ),
        cases=cases,
        differences=_differences(cases),
        recorded=facts,
        gates=tuple(own),
        mutants=mutants if "killed" in mutants else {},
        accepted_mutants=accepted,
        problems=tuple(filter(None, (problem, trouble, more))),
    )


def _code(module: Module | None, definition: Definition | None, name: str) -> CodeBlock | None:
    """Return a definition with its decorators, as in its file."""
    if module is None or definition is None:
        return None
    first = first_line(definition.node)
    lines = [module.line_text(number) for number in range(first, definition.end_line + 1)]
    head = definition.node.body[0]
    has_docstring = definition.docstring is not None
    docstring = (
        (head.lineno - first + 1, (head.end_lineno or head.lineno) - first + 1) if has_docstring else (0, 0)
    )
    return CodeBlock(name, first, "\n".join(lines), docstring)


def _words(implementation: Implementation, one: Pair) -> FunctionWords:
    """Return the words of the golden, or of the masked function without a golden."""
    found = [item.golden or item.goal for item in one.targets if item.golden or item.goal]
    names, arguments, texts = [], [], [implementation.instruction]
    for definition in found:
        if definition is None:
            continue
        texts.append(definition.docstring or "")
        for node in ast.walk(definition.node):
            if isinstance(node, ast.arg):
                arguments.append(node.arg)
            elif isinstance(node, ast.Name):
                names.append(node.id)
            elif isinstance(node, ast.Attribute):
                names.append(node.attr)
    return FunctionWords(
        implementation.goal_function, implementation.class_name, tuple(arguments), tuple(names), tuple(texts)
    )


def _marked(words: FunctionWords, instruction: str, blocks: Sequence[Paragraph]) -> dict[int, str]:
    """Return the blocks to highlight and why: named equations and algorithms first, then passages."""
    equations: set[int] = set()
    for first, between, last in _EQUATIONS.findall(instruction):
        start, end = int(first), int(last or first)
        equations |= (
            set(range(start, min(end, start + 50) + 1)) if between in ("to", "-", "–") else {start, end}
        )
    algorithms = {int(number) for number in _ALGORITHM.findall(instruction)}
    marked: dict[int, str] = {}
    for place, block in enumerate(blocks):
        numbers = {int(number) for number in re.findall(r"\((\d{1,3})\)\s*$", block.text, re.M)}
        named = [f"equation ({number})" for number in sorted(numbers & equations)]
        heading = _ALGORITHM.match(block.text.lstrip())
        if heading and int(heading[1]) in algorithms:
            named.append(f"algorithm {heading[1]}")
        if named:
            marked[place] = ", ".join(named)
    for passage in passages([block.text for block in blocks], words):
        marked.setdefault(passage.place, f"shares {', '.join(passage.terms)}")
    return marked


def _pages(view: TaskView, blocks: Sequence[Paragraph], marked: Mapping[int, str]) -> tuple[PaperPage, ...]:
    """Return the pages with highlighted blocks, the page of the first one first."""
    marks: dict[int, list[Mark]] = defaultdict(list)
    for number, (place, reason) in enumerate(marked.items(), 1):
        block = blocks[place]
        marks[block.page].append(
            Mark(block.left, block.top, block.right, block.bottom, number, reason, block.text.strip())
        )
    if not marks or view.repository is None:
        return ()
    try:
        drawn = paper.images(view.repository / "paper.pdf", marks)
    except LmrError:
        drawn = {}
    order = sorted(marks, key=lambda number: min(mark.number for mark in marks[number]))
    return tuple(_page(number, drawn.get(number), marks[number]) for number in order)


def _page(number: int, image: paper.PageImage | None, marks: Sequence[Mark]) -> PaperPage:
    if image is None:
        return PaperPage(number, 0, 0, "", tuple(marks))
    png = base64.b64encode(image.png).decode("ascii")
    return PaperPage(number, image.width, image.height, png, tuple(marks))


def _cases(
    task: Task, view: TaskView, implementation: Implementation
) -> tuple[tuple[CaseView, ...], dict[str, str], str]:
    """Return the recorded calls with their values, facts of the recording, and its problem if it has one."""
    try:
        folder = task.recording(view.info, implementation.index)
        manifest = recorded.load(folder)
    except LmrError as error:
        return (), {}, error.message
    if manifest is None:
        return (), {}, ""
    facts = {
        "Command": " ".join(manifest.command),
        "Calls": f"{len(manifest.cases)} kept of {manifest.calls}",
        "Never executed": ", ".join(f"line {number}" for number in manifest.coverage.missed) or "no line",
    }
    if manifest.coverage.never_false:
        lines = ", ".join(f"line {number}" for number in manifest.coverage.never_false)
        facts["Conditions that always hold"] = lines
    return tuple(_case(folder, case) for case in manifest.cases), facts, ""


def _case(folder: Any, case: recorded.Case) -> CaseView:
    try:
        place = files.inside(folder, case.name)
        inputs, expected = values.read(place, "inputs"), values.read(place, "expected")
    except LmrError as error:
        inputs = expected = values.Values((), error.message)
    checkers = [
        f"{path or 'value'} {checker.get('kind')}"
        + "".join(f" {key} {value}" for key, value in checker.items() if key != "kind")
        for path, checker in case.checkers.items()
    ]
    return CaseView(case.name, case.call, case.bytes, case.outcome, inputs, expected, tuple(checkers))


def _differences(cases: Sequence[CaseView]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the inputs that differ between cases: arrays by type and shape, other values by themselves."""
    described = [
        {row.path: f"{row.kind} {row.shape}" if row.shape else row.first for row in case.inputs.rows}
        for case in cases
    ]
    paths = dict.fromkeys(path for given in described for path in given)
    rows = ((path, tuple(given.get(path, "–") for given in described)) for path in paths)
    return tuple(row for row in rows if len(set(row[1])) > 1)[:MOST_DIFFERENCES]


def _accepted(task: Task, one: Implementation) -> tuple[tuple[tuple[str, str, str], ...], str]:
    """Return the mutants accepted as equivalent, as (id, diff, reason)."""
    try:
        mutants = equivalents.load(task).of(one.target)
    except LmrError as error:
        return (), error.message.replace(f"{task.root}/", "")
    return tuple((item.id, item.diff, item.reason) for item in mutants), ""
