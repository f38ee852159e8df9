"""Gather what the report of one task shows. Whatever is missing or damaged becomes a line on the page."""

from __future__ import annotations

import ast
import base64
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from lmr_author import files
from lmr_author.checks.pairing import Pair, pair
from lmr_author.checks.view import TaskView
from lmr_author.code import Definition, Module, first_line
from lmr_author.errors import LmrError
from lmr_author.paper import pages as paper_pages
from lmr_author.reporting import records, values
from lmr_author.reporting.code import Code
from lmr_author.reporting.model import (
    CaseView,
    ImplementationView,
    Mark,
    PaperPage,
    TargetView,
    TaskPage,
)
from lmr_author.reporting.status import STEPS, status_with
from lmr_author.suggesting.passages import FunctionWords, passages
from lmr_author.task import GateResult, Implementation, Progress, Task, equivalents
from lmr_author.task import evaluation as evaluations
from lmr_author.task import recording as recorded
from lmr_author.validation.checking import checked

MUTANTS = "mutants-die"


def task_page(task: Task, say: Progress) -> TaskPage:
    """Everything that the page of a task shows. Raises LmrError only when ``info.json`` cannot be read."""
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
        next=where.next,
        note=where.note,
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


def _blocks(task: Task, view: TaskView) -> tuple[tuple[paper_pages.Block, ...], str]:
    """The paper's paragraphs, or none and why."""
    pdf = view.repository / "paper.pdf" if view.repository else None
    if pdf is None or not pdf.is_file() or pdf.is_symlink():
        return (), "there is no paper.pdf"
    try:
        return paper_pages.blocks(pdf), ""
    except LmrError as error:
        return (), error.message


def _implementation(
    task: Task,
    view: TaskView,
    implementation: Implementation,
    gates: Sequence[GateResult],
    blocks: Sequence[paper_pages.Block],
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
        pages=_pages(view, _words(implementation, one), blocks),
        targets=tuple(
            TargetView(
                each.qualname,
                _code(one.golden, each.golden, implementation.golden_file),
                _code(one.goal, each.goal, implementation.goal_file),
            )
            for each in one.targets
        ),
        cases=cases,
        recorded=facts,
        gates=tuple(own),
        mutants=mutants if "killed" in mutants else {},
        accepted_mutants=accepted,
        problems=tuple(filter(None, (problem, trouble, more))),
    )


def _code(module: Module | None, definition: Definition | None, name: str) -> Code | None:
    """A definition with its decorators, as it stands in its file."""
    if module is None or definition is None:
        return None
    first = first_line(definition.node)
    lines = [module.line_text(number) for number in range(first, definition.end_line + 1)]
    return Code(name, first, "\n".join(lines))


def _words(implementation: Implementation, one: Pair) -> FunctionWords:
    """What the golden says of itself; of the masked function when there is no golden."""
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


def _pages(
    view: TaskView, words: FunctionWords, blocks: Sequence[paper_pages.Block]
) -> tuple[PaperPage, ...]:
    """The pages that describe a function, each with its passages marked."""
    marks: dict[int, list[Mark]] = defaultdict(list)
    for number, found in enumerate(passages([block.text for block in blocks], words), 1):
        block = blocks[found.place]
        marks[block.page].append(
            Mark(block.left, block.top, block.right, block.bottom, found.terms, number, block.text.strip())
        )
    if not marks or view.repository is None:
        return ()
    try:
        drawn = paper_pages.images(view.repository / "paper.pdf", marks)
    except LmrError:
        drawn = {}
    order = sorted(marks, key=lambda number: min(mark.number for mark in marks[number]))
    return tuple(_page(number, drawn.get(number), marks[number]) for number in order)


def _page(number: int, image: paper_pages.PageImage | None, marks: Sequence[Mark]) -> PaperPage:
    if image is None:
        return PaperPage(number, 0, 0, "", tuple(marks))
    png = base64.b64encode(image.png).decode("ascii")
    return PaperPage(number, image.width, image.height, png, tuple(marks))


def _cases(
    task: Task, view: TaskView, implementation: Implementation
) -> tuple[tuple[CaseView, ...], dict[str, str], str]:
    """The recorded calls with their values, facts of the recording, and what is wrong with it."""
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


def _accepted(task: Task, one: Implementation) -> tuple[tuple[tuple[str, str, str], ...], str]:
    """Mutants accepted as equivalent, as (id, diff, reason)."""
    try:
        mutants = equivalents.load(task).of(one.target)
    except LmrError as error:
        return (), error.message.replace(f"{task.root}/", "")
    return tuple((item.id, item.diff, item.reason) for item in mutants), ""
