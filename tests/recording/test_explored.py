"""Generated calls as cases, what they must not do, and what they show of survivors."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.authoring.recording.record import RecordResult
from lmr_author.core.errors import LmrError
from lmr_author.core.task import GateResult, Task, evaluation
from lmr_author.core.task.evaluation import MUTANTS_DIE
from lmr_author.proof.evaluation.candidates.results import CandidateResult
from lmr_author.proof.evaluation.candidates.run import score
from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.replay.outcomes import Replay
from tests.evaluation.foreign import PLAIN
from tests.pipeline import recorded, run_gates
from tests.support import make_task

pytestmark = pytest.mark.bwrap


def task_of(folder: Path, source: str, driver: str, target: str) -> Task:
    """A task whose masked function is the last one of some source."""
    task = make_task(folder)
    repository = task.root / "small-repo"
    (repository / "pkg/found.py").write_text(source)
    (repository / "go.py").write_text(driver)
    mask(task, MaskOptions((f"pkg/found.py::{target}",), category="Evaluation Metrics"), task.root)
    return task


def record(task: Task, target: str, *, generated: bool = True, quick: bool = False) -> RecordResult:
    found = f"pkg/found.py::{target}"
    return recorded(task, found, "python", "go.py", generated=generated, quick=quick)


def mutants_gate(task: Task) -> GateResult:
    return run_gates(task, "golden-passes", MUTANTS_DIE, generated=True, repeats=1).gates[-1]


CLIP = """\
def clip(values, least, most):
    found = []
    for value in values:
        if value < least:
            value = least
        elif value > most:
            value = most
        found.append(value)
    return found
"""
APART = """\
from pkg.found import clip
clip([1, 5, 9], 0, 10)
clip([2, 4, 3, 8], 3, 20)
clip([7, 6, 1], 0, 5)
"""


def test_arguments_of_several_calls_are_put_together(tmp_path: Path) -> None:
    """No call of the driver has values on both sides; put together, some have."""
    result = record(task_of(tmp_path, CLIP, APART, "clip"), "clip")
    generated = [case for case in result.recording.cases if case.made_of]
    assert generated and all(case.call > result.recording.calls for case in generated)
    assert any(" of call " in case.made_of for case in generated)
    page = next(tmp_path.rglob("unit_test_1.py")).read_text()
    assert f"made of {generated[0].made_of}"[:40] in page


ONE_SIDE = """\
def clip(values, least, most):
    if max(values) > most:
        return [min(value, most) for value in values]
    return [max(value, least) for value in values]
"""


def test_an_answer_that_passes_and_differs_on_a_generated_call_has_a_note(tmp_path: Path) -> None:
    task = task_of(tmp_path, CLIP, APART, "clip")
    record(task, "clip", generated=False, quick=True)
    answers = {"right": CLIP, "one side": ONE_SIDE, "wrong": ONE_SIDE.replace("max(value, least)", "value")}
    given = tmp_path / "answers.jsonl"
    lines = [{"task": task.name, "index": 1, "model": model, "code": code} for model, code in answers.items()]
    given.write_text("\n".join(map(json.dumps, lines)))
    found = score(
        [task], given, CandidateOptions(tmp_path / "out", where=PLAIN), lambda _: None, lambda *_: None
    )
    results = {result.model: result for result in found.results}
    assert {name: result.outcome.value for name, result in results.items()} == {
        "right": "passed", "one side": "passed", "wrong": "failed",
    }  # fmt: skip
    right, differing, wrong = (results[name] for name in answers)
    assert differing.differs is not None and right.differs is wrong.differs is None
    assert right.generated == differing.generated > 20 and wrong.generated == 0
    assert 0 < differing.differs.call <= 100 and differing.differs.made_of.startswith("case ")
    assert CandidateResult.from_json(differing.to_json()) == differing
    assert {row.model: row.differing for row in found.rows} == {"right": 0, "one side": 1, "wrong": 0}


GRADE = """\
def grade(score, late=False, bonus=0):
    points = score * 2 + 1
    if late:
        points = points - 7
    if bonus > 3:
        points = points + bonus * 2
    return points
"""


def test_a_driver_that_never_sets_an_option_leaves_its_mutants_open(tmp_path: Path) -> None:
    driver = "from pkg.found import grade\nfor score in (1.5, 2.5, 4.0):\n    grade(score)\n"
    task = task_of(tmp_path, GRADE, driver, "grade")
    record(task, "grade")
    gate = mutants_gate(task)
    assert gate.detail.indistinguishable == 0 and (gate.detail.open or 0) > 5
    on_condition = [one for one in gate.detail.survivors if "bonus > 3" in one.diff]
    assert on_condition and any("bonus=" in one.why for one in on_condition)


COUNTED = """\
def total(values):
    result = 0
    result = sum(values)
    if len(values) > 2:
        if len(values) > 1:
            result = result + len(values)
    return result
"""


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """A recorded task, to be copied."""
    driver = "from pkg.found import total\nfor n in range(6):\n    total(list(range(n, 2 * n)))\n"
    task = task_of(tmp_path_factory.mktemp("counted"), COUNTED, driver, "total")
    record(task, "total")
    return task


def test_what_no_call_tells_apart_does_not_count_and_is_shown(counted: Task, tmp_path: Path) -> None:
    task = Task(shutil.copytree(counted.root, tmp_path / counted.name))
    gate = mutants_gate(task)
    same = [one for one in gate.detail.survivors if one.indistinguishable]
    assert {"-    result = 0\n+    result = 1"} <= {one.diff for one in same}
    assert gate.detail.indistinguishable == len(same) and f"{len(same)} indistinguishable" in gate.message
    assert all(one.explored >= 100 and str(one.explored) in one.why for one in same)

    # Fewer generated calls than the floor show nothing, whatever a record says.
    stored = json.loads(task.evaluation_path.read_text())
    for each in stored["gates"]:
        for one in each["detail"].get("survivors", ()):
            one["explored"] = 99
    task.evaluation_path.write_text(json.dumps(stored))
    found = evaluation.load(task)
    assert found is not None and evaluation.mutation_score(found.gates).indistinguishable == 0


def test_a_run_that_is_cut_short_shows_nothing(
    counted: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it may count as calls that do not tell a survivor apart."""
    task = Task(shutil.copytree(counted.root, tmp_path / counted.name))
    original = replaying.replay

    def replay(*args: Any, **options: Any) -> Replay:
        run, plan = original(*args, **options), args[3]
        is_beside = plan.until_lost and len(plan.cases) > 100
        return replace(run, outcomes={}) if is_beside else run

    monkeypatch.setattr(replaying, "replay", replay)
    assert mutants_gate(task).detail.indistinguishable == 0


SOLVE = """\
import numpy as np

def solve(matrix, vector):
    return np.linalg.pinv(matrix, rcond=1e-25) @ vector
"""


SOLVE_DRIVER = """\
import numpy as np
from pkg.found import solve
noise = np.random.default_rng(0)
for _ in range(4):
    row = noise.normal(size=4)
    solve(np.stack([row * factor for factor in 1 + noise.random(4)]), noise.normal(size=4))
"""
WELL_CONDITIONED = """\
    full = noise.normal(size=(4, 4)) + 3 * np.eye(4)
    solve(full, noise.normal(size=4))
"""


def test_an_ill_conditioned_call_is_no_case(tmp_path: Path) -> None:
    """A singular matrix keeps noise, to the bit the same each time: no other way to solve gives it."""
    task = task_of(tmp_path, SOLVE, SOLVE_DRIVER, "solve")
    with pytest.raises(LmrError, match="ill-conditioned"):
        record(task, "solve", generated=False, quick=True)
    (task.root / "small-repo/go.py").write_text(SOLVE_DRIVER + WELL_CONDITIONED)
    result = record(task, "solve", generated=False, quick=True)
    reasons = [lost.reason for lost in result.selected.rejected]
    assert len([reason for reason in reasons if reason.startswith("ill-conditioned")]) >= 3, reasons
    assert {2, 4, 6, 8} <= {case.call for case in result.recording.cases}


SINGLE = """\
import numpy as np

def halved(x):
    if x.dtype != np.float32:
        raise TypeError("expected float32")
    return x / 2
"""


def test_a_golden_that_refuses_double_precision_is_not_ill_conditioned(tmp_path: Path) -> None:
    """As a layer whose own weights are float32: there is no run in double precision to compare with."""
    driver = """\
import numpy as np
from pkg.found import halved
noise = np.random.default_rng(0)
for rows in (2, 3, 5):
    halved(noise.normal(size=rows).astype("f4"))
"""
    result = record(task_of(tmp_path, SINGLE, driver, "halved"), "halved", generated=False, quick=True)
    assert [case.call for case in result.recording.cases] == [1, 2, 3]


SPANS = """\
def spans(text):
    stack, found = [], []
    for place, letter in enumerate(text):
        if letter == "(":
            stack.append(place)
        elif letter == ")":
            found.append((stack.pop(), place))
    assert not stack
    return found
"""


def test_calls_are_not_generated_where_the_golden_raises_on_many(tmp_path: Path) -> None:
    """Its inputs have a form that nothing here knows; a correct version may do anything with others."""
    driver = """\
from pkg.found import spans
for text in ("(a)", "((b))", "()()", "(c(d)e)"):
    spans(list(text))
"""
    result = record(task_of(tmp_path, SPANS, driver, "spans"), "spans")
    assert {case.made_of for case in result.recording.cases} == {""}
