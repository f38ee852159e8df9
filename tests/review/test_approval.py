"""A weak test is never called sound because its survivors were accepted; only its reviewers can say so, together."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.core import files
from lmr_author.core.task import Task, equivalents, evaluation
from lmr_author.core.task.evaluation import MUTANTS_DIE
from lmr_author.core.task.mutation import Judgement, MutationScore
from lmr_author.proof.evaluation.accepting import accept_mutants, every_mutant, open_survivors
from lmr_author.release.export.assessment import assess, gather
from lmr_author.release.reporting.status import status_with
from lmr_author.release.review.review import find_waiting
from tests.pipeline import recorded, run_gates
from tests.review.reviewing import run, said
from tests.support import make_task, starter

GRADE = "pkg/grades.py::grade"
SOURCE = """\
def grade(score, late=False, bonus=0):
    points = score * 2 + 1
    if late:
        points = points - 7
        points = points * 3
    if bonus > 3:
        points = points + bonus * 2
    return points
"""
FEW_CALLS = "from pkg.grades import grade\nfor score in (1.5, 2.5, 4.0):\n    grade(score)\n"
ALL_CALLS = FEW_CALLS + (
    "for bonus in (1, 3, 4, 5, 9):\n    grade(0.5, True, bonus)\n    grade(0.5, bonus=bonus)\ngrade(2.0, late=True)\n"
)

pytestmark = pytest.mark.bwrap


@pytest.fixture(scope="module")
def weak(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """A task whose driver never sets an option of the target, recorded and evaluated."""
    task = make_task(tmp_path_factory.mktemp("weak"))
    folder = task.root / "small-repo"
    (folder / "pkg/grades.py").write_text(SOURCE)
    (folder / "go.py").write_text(FEW_CALLS)
    mask(task, MaskOptions((GRADE,), category="Evaluation Metrics"), task.root)
    recorded(task, GRADE, "python", "go.py")
    assert not run_gates(task).passed
    return task


@pytest.fixture
def task(weak: Task, tmp_path: Path) -> Task:
    shutil.copytree(weak.root, tmp_path / "tasks" / weak.name, symlinks=True)
    return Task(tmp_path / "tasks" / weak.name)


def sentence(identifier: str) -> str:
    """A reason that nobody has thought about, another one for each mutant."""
    word = "".join(chr(ord("a") + int(digit, 16)) for digit in identifier)
    return f"the change called {word} makes no difference on any input"


def accept_everything(task: Task) -> None:
    """As a person who wants a green page would: one by one, in several commands."""
    left = [one.id for one in open_survivors(evaluation.load(task))]
    for some in (left[:3], left[3:]):
        accept_mutants(task, {identifier: sentence(identifier) for identifier in some})


def score(task: Task) -> MutationScore:
    found = evaluation.load(task)
    assert found is not None
    return evaluation.mutation_score(found.gates)


def judgement(task: Task) -> Judgement | None:
    found = evaluation.load(task)
    assert found is not None
    return next(gate for gate in found.gates if gate.gate == MUTANTS_DIE).detail.judgement


def is_sound(task: Task) -> bool:
    """Whether any part of the program says so of the task as it is."""
    found = evaluation.load(task)
    (shown,) = [item for item in assess([gather(task, ())]) if item.id == "O.e.3"]
    said_so = {
        found is not None and found.passed,
        "evaluated" in status_with(task, ()).done,
        bool(shown.score),
    }
    assert len(said_so) == 1 or status_with(task, ()).review == "accepted", said_so
    return "evaluated" in status_with(task, ()).done


@pytest.mark.parametrize(
    ("made", "killed", "accepted", "untried", "proves"),
    [
        (100, 90, 0, 0, "held"),
        (100, 89, 0, 0, "open"),
        (100, 81, 10, 0, "held"),
        (100, 80, 10, 0, "open"),
        (100, 89, 11, 0, "accepted"),
        (100, 54, 46, 0, "accepted"),
        (100, 0, 100, 0, "open"),
        (10, 8, 2, 90, "few"),
        (0, 0, 0, 0, "open"),
    ],
)
def test_what_the_figures_prove(made: int, killed: int, accepted: int, untried: int, proves: str) -> None:
    assert MutationScore(made, killed, accepted, untried).judgement.value == proves


def test_survivors_lead_to_other_inputs_not_to_accepting_them(
    task: Task, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judgement(task) is Judgement.OPEN and not is_sound(task)
    assert status_with(task, ()).next == f"lmr-author record {GRADE} --task {task.root}"
    assert score(task).text in status_with(task, ()).note
    code, shown = run(capsys, "evaluate", task.root, "--python", "python3", "--repeats", "1")
    assert code == 1
    assert shown.rstrip().endswith(f"next: lmr-author record {GRADE} --task {task.root}")
    (task.root / "small-repo" / "go.py").write_text(ALL_CALLS)
    recorded(task, GRADE, "python", "go.py", force=True)
    assert run_gates(task).passed and score(task).accepted == 0


def test_one_command_does_not_accept_many(task: Task, capsys: pytest.CaptureFixture[str]) -> None:
    before = score(task)
    for reason in ("x", "nothing can ever set it to something"):
        code, shown = run(capsys, "accept", task.root, "--mutant", "1-200", "--reason", reason)
        assert code == 2 and f"names {before.open}" in shown and "a sentence of its own" in shown
    first, second = [one.id for one in open_survivors(evaluation.load(task))][:2]
    code, shown = run(
        capsys, "accept", task.root, "--mutant", first, "--mutant", second, "--reason", sentence(first)
    )
    assert code == 2 and equivalents.load(task).accepted == () and score(task) == before
    code, shown = run(capsys, "accept", task.root, "--mutant", first, "--reason", "equivalent")
    assert code == 2 and "not a sentence" in shown and "--reason 'labels" in shown
    code, shown = run(capsys, "accept", task.root, "--mutant", first, "--reason", sentence(first))
    assert code == 0 and "\n  +" in shown and "1 accepted" in shown
    code, shown = run(capsys, "accept", task.root, "--mutant", second, "--reason", f"2. {sentence(first)}!")
    assert code == 2 and f"the reason for {first}" in shown
    assert score(task) == replace(before, accepted=1)


def test_the_same_change_on_two_lines_may_have_one_reason(task: Task) -> None:
    entry = equivalents.EquivalentMutant(
        GRADE, "0" * 8, sentence("ab"), "2026-01-01", "", "-    x = 1\n+    x = 2"
    )
    same = replace(entry, id="1" * 8, diff="-x = 1\n+x = 2")
    equivalents.add(task, [entry, same])
    assert len(equivalents.valid_changes(task)) == 2
    assert equivalents.flaw_of(replace(same, diff="-x = 1\n+x = 3"), [entry])


def test_accepted_mutants_stay_in_the_denominator_everywhere(
    task: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = score(task).made
    accept_everything(task)
    text = f"{score(task).killed} of {made} mutants killed, {score(task).accepted} accepted, 0 open"
    assert judgement(task) is Judgement.ACCEPTED and not is_sound(task)

    code, shown = run(capsys, "evaluate", task.root, "--python", "python3", "--repeats", "1")
    assert (
        code == 1
        and text in shown
        and "sound" not in shown
        and f"next: lmr-author review {task.root}" in shown
    )
    assert text in status_with(task, ()).note and "lmr-author review" in status_with(task, ()).next
    for place in (task.root, task.root.parent):
        run(capsys, "report", place, "--html", tmp_path / "page.html")
        assert text in (tmp_path / "page.html").read_text()
    assert any(text in item.reason for item in assess([gather(task, ())]))
    for to, name in (("harbor", "*/task.toml"), ("huggingface", "README.md"), ("lmr-bench", "*/info.json")):
        code, shown = run(capsys, "export", task.root, "--to", to, "--out", tmp_path / to, "--unreviewed")
        assert code == 1 and text in shown and not (tmp_path / to).exists()
        assert run(capsys, "export", task.root, "--to", to, "--out", tmp_path / to, "--force")[0] == 0
        assert text in next((tmp_path / to).glob(name)).read_text()
    row = json.loads((tmp_path / "huggingface/data/implementations.jsonl").read_text())
    assert (row["mutants_made"], row["mutants_accepted"]) == (made, score(task).accepted)
    assert "sound = false" in next((tmp_path / "harbor").glob("*/task.toml")).read_text()


def weakened(folder: Path) -> Task:
    """A copy of a starter task, which has no findings, whose test would let thirty of a hundred mutants survive."""
    task = starter("1-rating-margin", folder / "tasks")
    record = json.loads(task.evaluation_path.read_text())
    (gate,) = (gate for gate in record["gates"] if gate["gate"] == MUTANTS_DIE)
    made = [mutant for _, mutant in every_mutant(task)][:30]
    gate["detail"]["survivors"] = [
        {"id": mutant.id, "line": mutant.line, "diff": mutant.diff} for mutant in made
    ]
    files.write_json(task.evaluation_path, record)
    return task


def test_reviewers_approve_what_they_have_seen_and_nothing_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = weakened(tmp_path)
    assert judgement(task) is Judgement.OPEN
    accept_everything(task)
    assert score(task) == MutationScore(100, 70, 30)
    for number, name in enumerate(("ada", "bo", "cy")):
        assert not is_sound(task), f"{number} reviewers are too few"
        assert find_waiting([task], name) == [task]
        said(task, name)
    assert is_sound(task) and status_with(task, ()).state == "accepted"
    run(capsys, "report", task.root, "--html", tmp_path / "page.html")
    assert "approved by reviewers" in (tmp_path / "page.html").read_text()
    code, shown = run(capsys, "export", task.root, "--to", "agent", "--out", tmp_path / "out")
    assert code == 0, shown

    path = task.equivalent_mutants_path
    path.write_text(path.read_text().replace("the change called", "the small change"))
    assert not is_sound(task), "these reasons were never reviewed"
    said(task, "ada")
    said(task, "bo", tests="fail")
    said(task, "cy")
    assert not is_sound(task)


FORGERIES: dict[str, Callable[[dict[str, Any]], object]] = {
    "it passed": lambda record: record.update(passed=True),
    "the gate passed": lambda record: record["gates"][-2].update(status="passed"),
    "all were killed": lambda record: record["gates"][-2]["detail"].update(
        killed=100, open=0, judgement="held"
    ),
    "none was measured": lambda record: record["gates"][-2].update(status="passed", detail={}),
    "it never ran": lambda record: record["gates"].pop(-2),
    "accepted by its flag": lambda record: [
        one.update(accepted=True) for one in record["gates"][-2]["detail"]["survivors"]
    ],
}


@pytest.mark.parametrize("name", FORGERIES)
def test_what_an_edited_evaluation_claims_is_worked_out_again(task: Task, name: str) -> None:
    record = json.loads(task.evaluation_path.read_text())
    for gate in record["gates"]:
        if gate["gate"] != MUTANTS_DIE:
            gate["status"] = "passed"
    record["passed"] = True
    FORGERIES[name](record)
    files.write_json(task.evaluation_path, record)
    assert not is_sound(task)


def test_an_edited_file_of_accepted_mutants_counts_only_by_the_rules(task: Task) -> None:
    before = score(task)

    def write(reason: Callable[[str], str], diff: Callable[[str], str]) -> None:
        entries = [
            equivalents.EquivalentMutant(GRADE, one.id, reason(one.id), "2026-01-01", "Ann", diff(one.diff))
            for one in open_survivors(replace_accepted(task))
        ]
        equivalents.EquivalentMutants(accepted=tuple(entries)).write(task.equivalent_mutants_path)

    write(lambda _: "nothing can ever set it to something", lambda diff: diff)
    assert score(task).accepted < 3, "one reason for all of them is none"
    write(sentence, lambda _: "-    harmless = 1\n+    harmless = 1.0")
    assert score(task) == before, "a reviewer would be shown another change"
    write(sentence, lambda diff: diff)
    assert score(task).accepted == before.open and not is_sound(task)
    task.equivalent_mutants_path.unlink()
    assert score(task) == before


def replace_accepted(task: Task) -> evaluation.Evaluation | None:
    """The evaluation as it is without anything accepted."""
    task.equivalent_mutants_path.unlink(missing_ok=True)
    return evaluation.load(task)
