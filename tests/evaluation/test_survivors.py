"""Mutants that survive: why, which are accepted and what the gate says then."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.cli import app
from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import GateResult, GateStatus, Task, equivalents, evaluation
from lmr_author.core.task.mutation import Survivor
from lmr_author.proof.evaluation.accepting import accept_mutants, every_mutant
from lmr_author.proof.evaluation.evaluate import EvaluationRun
from tests.pipeline import recorded, run_gates
from tests.support import make_task, write_files

GOAL = """\
def inner(x, scale=2.0):
    return x * scale


def outer(x, rare=False):
    total = inner(x) + 1
    if rare:
        total = total - 7
        total = total * 3
    if x >= 0:
        total = total + 5
    return total
"""
INNER, OUTER = "pkg/steps.py::inner", "pkg/steps.py::outer"


def gate(result: EvaluationRun, name: str, index: int = 1) -> GateResult:
    return next(item for item in result.gates if (item.gate, item.implementation) == (name, index))


def masked(folder: Path, target: str, goal: str, driver: str) -> Task:
    """A task with a goal file and a driver of its own."""
    made = make_task(folder)
    write_files(made.root / "small-repo", {"pkg/steps.py": goal, "go.py": driver})
    mask(made, MaskOptions((target,), category="Evaluation Metrics"), made.root)
    return made


def survivors_of(folder: Path, goal: str, call: str) -> Sequence[Survivor]:
    """The surviving mutants of the one function in a goal file, which is called with three lists."""
    target = goal[len("def ") : goal.index("(")]
    driver = f"from pkg.steps import {target}\nfor values in ([1.5], [2, 3], [4, 5, 7]):\n    {call}\n"
    made = masked(folder, f"pkg/steps.py::{target}", goal, driver)
    recorded(made, f"pkg/steps.py::{target}", "python", "go.py")
    return gate(run_gates(made), "mutants-die").detail.survivors


@pytest.fixture
def task(tmp_path: Path) -> Task:
    calls = "for x in (1.5, 2.5, 4.0):\n    outer(x)\n    inner(x)\n    inner(x, 0.5 * x)\n"
    return masked(tmp_path, OUTER, GOAL, f"from pkg.steps import inner, outer\n{calls}")


@pytest.mark.bwrap
def test_survivors_whose_effect_is_not_compared_say_so(tmp_path: Path) -> None:
    goal = "def tally(values, log):\n    log.append(len(values) + 1)\n    return sum(values)\n"
    survivors = survivors_of(tmp_path, goal, "tally(values, [])")
    why = {item.why for item in survivors if item.line == 2}
    where = "within the tolerance or only in parts that are not compared: log"
    assert why == {f"no case detects it: the outputs differ only {where}"}


@pytest.mark.bwrap
def test_survivors_behind_a_return_in_every_case_are_not_reached(tmp_path: Path) -> None:
    goal = (
        "def total(values, fast=True):\n    if fast:\n        return sum(values) - 1\n"
        "    result = 0\n    return result + max(values)\n"
    )
    survivors = survivors_of(tmp_path, goal, "total(values)")
    behind = {(item.why, item.unreached) for item in survivors if item.line in (4, 5)}
    assert behind == {("no case detects it: none reaches lines 4-5", (4, 5))}


@pytest.mark.bwrap
def test_survivors_say_why_and_one_is_accepted_without_a_new_evaluation(
    task: Task, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded(task, OUTER, "python", "go.py", generated=True)
    run = run_gates(task, generated=True)
    found = gate(run, "mutants-die")
    why = {(item.operator, item.line): item.why for item in found.detail.survivors}
    assert found.status is GateStatus.FAILED
    assert why["arithmetic", 8] == why["constant", 9] == "no case detects it: none reaches lines 8-9"
    told = "no case detects it, but a generated call does: case "
    assert why["ignored parameter", 6].startswith(told) and "rare=" in why["ignored parameter", 6]
    assert {why["one branch", 10].startswith(told), why["constant", 10].startswith(told)} == {True}
    alive = {item.id for item in found.detail.survivors if item.line in range(6, 10)}

    capsys.readouterr()
    words = ["accept", str(task.root), "--reason", "nothing can ever set it to something"]
    assert app.main([*words, "--mutant", "0000aaaa"]) == 2
    assert "no mutant '0000aaaa'" in capsys.readouterr().err
    one = alive.pop()
    assert app.main([*words, "--mutant", one]) == 0
    shown = " ".join("".join(capsys.readouterr()).split())

    accepted = equivalents.load(task).of(OUTER)
    assert [item.id for item in accepted] == [one]
    score = found.detail.score
    text = f"{score.killed} of {score.made} mutants killed, 1 accepted, {score.open - 1} open"
    assert text in shown
    stored = evaluation.load(task)
    assert stored is not None and stored.started == run.record.started
    assert evaluation.mutation_score(stored.gates).text == text


@pytest.mark.bwrap
def test_a_handful_of_mutants_proves_nothing(task: Task) -> None:
    mask(task, MaskOptions((INNER,), category="Evaluation Metrics"), task.root)
    recorded(task, INNER, "python", "go.py")
    found = gate(run_gates(task, mutants=1, repeats=1), "mutants-die", 2)
    assert found.status is GateStatus.UNPROVEN and "fewer than" in found.message


@pytest.mark.parametrize("damaged", ["{", '{"accepted": [3]}'])
def test_a_damaged_file_of_accepted_mutants_is_not_written_over(task: Task, damaged: str) -> None:
    files.write_text(task.equivalent_mutants_path, damaged)
    with pytest.raises(LmrError, match=r"equivalent-mutants\.json"):
        accept_mutants(task, {every_mutant(task)[0][1].id: "it is the same for all numbers"})
    assert task.equivalent_mutants_path.read_text() == damaged


def test_an_acceptance_is_added_to_those_that_are_there(task: Task) -> None:
    earlier = {"target": "a.py::f", "id": "0" * 8, "diff": "-x", "reason": "y", "date": "2025-01-01"}
    files.write_json(task.equivalent_mutants_path, {"accepted": [earlier]})
    identifier = every_mutant(task)[0][1].id
    for reason in ("this was the first reason", "it is the same for all numbers"):
        accept_mutants(task, {identifier: reason})
    found = [(one.target, one.id, one.reason) for one in equivalents.load(task).accepted]
    assert found == [("a.py::f", "0" * 8, "y"), (OUTER, identifier, "it is the same for all numbers")]
