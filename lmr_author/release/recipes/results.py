"""Outcomes of recipes: a table and ``RESULTS.md`` for people, facts for programs (``make --format json``)."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lmr_author.authoring.recording.record import blocks_at
from lmr_author.core import code, files, quoting
from lmr_author.core.errors import LmrError
from lmr_author.core.task import INFO, Finding, GateResult, GateStatus, Implementation, Task, TaskInfo
from lmr_author.core.task import recording as recordings
from lmr_author.core.task.evaluation import MUTANTS_DIE
from lmr_author.core.task.recording import Case
from lmr_author.core.texts import counted
from lmr_author.release.recipes import STAGES
from lmr_author.release.recipes.made import JudgedAnswer
from lmr_author.release.recipes.make import WORK, RecipeOutcome, StageState
from lmr_author.release.recipes.recipe import Folder

MADE_TO = "made to "
HEADER = ("task", "stage", "gates", "mutants", "answers right", "seconds", "")


def state(row: RecipeOutcome) -> str:
    if row.left_out:
        return "left out"
    if row.made_to:
        return f"{MADE_TO}{row.made_to}"
    return "sound" if row.sound else "not sound"


def problem(row: RecipeOutcome) -> str:
    """Return why a recipe was skipped or stopped, or its first wrong result; "" for none."""
    if row.left_out:
        return row.left_out
    if row.error is not None:
        where = [str(row.path / row.error.file)] if row.error.file else []
        return ": ".join([*where, *filter(None, [row.error.field]), row.error.message])
    problems = []
    if row.made.findings:
        found = "; ".join(f"{one.code} {one.path}: {one.message}" for one in row.made.findings)
        problems.append(f"validate: {found}")
    if row.evaluation is not None and not row.evaluation.passed:
        problems.append(f"evaluate, {row.evaluation.place}: {row.evaluation.open_gates}")
    for answer in row.wrong:
        got = f"expected {answer.expected}, got {answer.outcome} ({answer.reason})"
        problems.append(f"answer {answer.index}/{answer.name}: {got}")
    return "; ".join(problems)


def hint(row: RecipeOutcome) -> str:
    """Return the command or edit that helps with the problem, or a file to look at; "" for none."""
    if row.error is not None:
        return row.error.hint
    unfinished = row.place is not None and row.place.parent.name.startswith(WORK)
    return f"it is in {row.place}, and replaced nothing" if unfinished else ""


def of_how_many(numbers: tuple[int, int]) -> str:
    return f"{numbers[0]} of {numbers[1]}" if numbers[1] else ""


def cells(row: RecipeOutcome) -> tuple[str, ...]:
    mutants = row.mutants.text if row.mutants.made else ""
    numbers = (of_how_many(row.gates), mutants, of_how_many(row.right))
    return (row.task, row.stage or "none", *numbers, f"{row.seconds:.0f}", state(row))


def write_markdown(path: Path, rows: Sequence[RecipeOutcome]) -> None:
    """Write ``RESULTS.md``: the table of the screen with each recipe's commit, then remarks and problems."""
    right, answers = sum(row.right[0] for row in rows), sum(row.right[1] for row in rows)
    summary = (
        f"Written by `lmr-author make`: {counted(len(rows), 'recipe')}, {sum(row.sound for row in rows)} sound; "
        f"{right} of {answers} answers got the expected verdict. Seconds are computing time, minutes a person's work."
    )
    lines = [
        "# Results",
        "",
        summary,
        "",
        f"| {' | '.join(HEADER[:-1])} | state | commit | minutes |",
        f"|{'---|' * (len(HEADER) + 2)}",
    ]
    sections = []
    for row in rows:
        recipe = row.folder.recipe if row.folder else None
        about = (recipe.repository.commit[:12], str(recipe.minutes or "")) if recipe else ("", "")
        lines.append(f"| {' | '.join((*cells(row), *about))} |")
        remarks = [*(recipe.remarks if recipe else ()), problem(row)]
        if texts := [f"- {quoting.markdown(remark)}" for remark in remarks if remark]:
            sections += ["", f"## {row.task}", "", *texts]
    files.write_text(path, "\n".join([*lines, *sections]) + "\n")


def summary(rows: Sequence[RecipeOutcome]) -> Mapping[str, int]:
    words = [state(row) for row in rows]
    made_to = [word for word in dict.fromkeys(words) if word.startswith(MADE_TO)]
    return {word: words.count(word) for word in (*made_to, "sound", "not sound", "left out") if word in words}


_OF_TASK = {
    "instance_id": "id",
    "folder_name": "name",
    "paper_name": "paper.title",
    "paper_url": "paper.url",
    "year": "paper.year",
    "repo_url": "repository.url",
    "repo_folder_name": "repository.folder",
}
_OF_TARGET = {"instruction": "instruction", "category": "category", "retrieval_context": "retrieval"}
"""Keys of info.json, and the recipe's fields of the same content."""
_OF_MUTANTS = ("made", "killed", "accepted", "open", "untried", "indistinguishable", "survivors")


def to_json(row: RecipeOutcome) -> dict[str, Any]:
    gates = row.evaluation.gates if row.evaluation else ()
    return {
        "task": row.task,
        "recipe": str(row.path),
        "place": str(row.place) if row.place else None,
        "state": state(row),
        "stage": row.stage,
        "stages": [
            {
                "name": name,
                "state": row.stages.get(name, StageState.NOT_BEGUN),
                "seconds": row.ran.get(name, 0.0),
            }
            for name in STAGES
        ],
        "seconds": round(row.seconds, 1),
        "error": msgspec.to_builtins(row.error),
        "left_out": row.left_out,
        "findings": [_finding(finding) for finding in row.made.findings],
        "gates": [_gate(gate) for gate in gates],
        "mutants": row.mutants.to_json(),
        "targets": list(_targets(row)),
        "answers": [_answer(answer, row) for answer in row.made.answers],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    line = re.match(r"L(\d+)", finding.pointer)
    return {
        "code": finding.code,
        "severity": finding.severity,
        "path": finding.path,
        "line": int(line[1]) if line else None,
        "pointer": finding.pointer,
        "index": finding.implementation,
        "message": finding.message,
        "hint": finding.hint,
        "field": _field(finding),
    }


def _field(finding: Finding) -> str:
    """Return the recipe's field from which a key of info.json was made; "" for none."""
    if finding.path != INFO:
        return ""
    match finding.pointer.split("/")[1:]:
        case ["implementations", number, key, *_] if key in _OF_TARGET:
            return f"targets[{number}].{_OF_TARGET[key]}"
        case [key]:
            return _OF_TASK.get(key, "")
    return ""


def _gate(gate: GateResult) -> dict[str, Any]:
    """Return a gate; the survivors and figures of mutants are with the target."""
    elsewhere = (*_OF_MUTANTS, "facts")
    lists = {name: value for name, value in gate.detail.to_json().items() if value and name not in elsewhere}
    return {
        "name": gate.gate,
        "index": gate.implementation,
        "status": gate.status,
        "holds": gate.status is GateStatus.PASSED,
        "message": gate.message,
        "hint": gate.hint,
        "lists": lists,
    }


def _targets(row: RecipeOutcome) -> Iterator[dict[str, Any]]:
    if row.place is None or row.stages.get("mask", StageState.NOT_BEGUN) is StageState.NOT_BEGUN:
        return
    task = Task(row.place)
    try:
        info = task.load()
    except LmrError:  # what was cut off may have none
        return
    for implementation in info.implementations:
        index = implementation.index
        gates = row.evaluation.gates if row.evaluation else ()
        detail = [gate.detail for gate in gates if gate.gate == MUTANTS_DIE and gate.implementation == index]
        survivors = [msgspec.to_builtins(one) for each in detail for one in each.survivors]
        notes = [{"text": note.text, "field": note.field} for note in row.made.notes if note.index == index]
        yield {
            "index": index,
            "target": str(implementation.target),
            "file": implementation.goal_file,
            **_recorded(task, info, implementation),
            "notes": notes,
            "mutants": detail[0].score.to_json() if detail else None,
            "survivors": [{"file": implementation.goal_file, **one} for one in survivors],
        }


def _recorded(task: Task, info: TaskInfo, implementation: Implementation) -> dict[str, Any]:
    nothing: dict[str, Any] = {"calls": 0, "cases": [], "not_reached": [], "never_false": []}
    try:
        recording = recordings.load(task.recording(info, implementation.index))
        if recording is None:
            return nothing
        golden = code.Module.parse(task.golden(implementation).read_bytes(), implementation.goal_file)
    except (LmrError, OSError):
        return nothing
    return {
        "calls": recording.calls,
        "cases": [_case(case) for case in recording.cases],
        "not_reached": blocks_at(golden.tree, recording.coverage.missed),
        "never_false": recording.coverage.never_false,
    }


def _case(case: Case) -> dict[str, Any]:
    return {
        "name": case.name,
        "call": case.call,
        "made_of": case.made_of,
        "bytes": case.bytes,
        "outcome": case.outcome,
        "adds": case.adds,
        "tolerance": {path: dict(checker) for path, checker in case.checkers.items()},
        "left_out": [dict(part) for part in case.omitted],
    }


def _answer(answer: JudgedAnswer, row: RecipeOutcome) -> dict[str, Any]:
    kind, alike = "", None
    targets = row.folder.recipe.targets if row.folder else ()
    known = targets[answer.index - 1].expected.get(answer.name) if answer.index <= len(targets) else None
    if row.folder is not None and known is not None:  # else the recipe has changed since
        kind, alike = known.kind, _alike(row.folder, answer, known.kind)
    return {**msgspec.to_builtins(answer), "right": answer.right, "kind": kind, "alike": alike}


def _alike(folder: Folder, answer: JudgedAnswer, kind: str) -> float | None:
    """Return the share of lines in common with the most similar answer of the same kind; None without another."""
    target = folder.recipe.targets[answer.index - 1]
    others = [name for name, each in target.expected.items() if each.kind == kind and name != answer.name]
    own = _normal(folder.answer_text(answer.index, answer.name))
    shares = [
        difflib.SequenceMatcher(None, own, _normal(folder.answer_text(answer.index, name)), False).ratio()
        for name in others
    ]
    return round(max(shares), 2) if shares else None


def _normal(text: str) -> list[str]:
    try:
        return ast.unparse(ast.parse(text)).splitlines()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text.splitlines()
