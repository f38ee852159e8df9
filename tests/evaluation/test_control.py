"""Wrong versions run beside the golden: what it fails as well says nothing about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lmr_author.core.task import GateResult, GateStatus, Task
from lmr_author.proof.evaluation import judges
from lmr_author.proof.evaluation.evaluate import EvaluationRun
from lmr_author.proof.evaluation.judges import RecordingJudge
from lmr_author.proof.evaluation.trees import TargetTrees
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.replay.outcomes import Replay, ReplayOutcome
from lmr_author.runtime.replay.replaying import CONTROL
from lmr_author.runtime.sandbox.local import LocalSandbox
from tests.evaluation.foreign import PLAIN_PYTHON
from tests.pipeline import run_gates

pytestmark = pytest.mark.bwrap

Real = Callable[..., Replay]
WRONG = b"def hinge(x, margin=1.0):\n    return 7.0\n"


@pytest.fixture
def task(hinge: Task) -> Task:
    return hinge


@pytest.fixture
def trees(task: Task) -> Iterator[TargetTrees]:
    info = task.load()
    with (
        LocalSandbox(PLAIN_PYTHON) as sandbox,
        TargetTrees(task, info, info.implementations[0], sandbox, 10.0) as trees,
    ):
        sandbox.prepare()
        yield trees


def judge(trees: TargetTrees) -> RecordingJudge:
    assert trees.recording is not None
    return RecordingJudge(trees, trees.recording)


def busy(monkeypatch: pytest.MonkeyPatch, times: int, only: str | None = None) -> list[float]:
    """Let time run out, for all versions that run beside the golden or for one; return the limits of each run."""
    real: Real = replaying.replay
    asked: list[float] = []

    def replay(sandbox: Any, tree: Path, inside: str, plan: Any, versions: Any, **options: Any) -> Replay:
        found = real(sandbox, tree, inside, plan, versions, **options)
        if versions[0].id != CONTROL:
            return found
        asked.append(plan.case_seconds)
        late = {key for key in found.outcomes if only in (None, key[0]) and len(asked) <= times}
        outcomes = {
            key: ReplayOutcome("timeout") if key in late else item for key, item in found.outcomes.items()
        }
        return replace(found, outcomes=outcomes)

    monkeypatch.setattr(judges.replaying, "replay", replay)
    return asked


def gate(result: EvaluationRun, name: str) -> GateResult:
    return next(item for item in result.gates if item.gate == name)


def test_where_the_golden_never_gets_by_nothing_is_proven(
    monkeypatch: pytest.MonkeyPatch, task: Task
) -> None:
    busy(monkeypatch, 99)
    result = run_gates(task)
    for name in ("trivial-fails", "mutants-die"):
        assert gate(result, name).status is GateStatus.UNPROVEN
        assert "the golden itself fails beside" in gate(result, name).message
        assert "when the machine is less busy" in gate(result, name).hint
    assert gate(result, "golden-passes").status is GateStatus.PASSED


def test_a_version_whose_time_ran_out_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, trees: TargetTrees
) -> None:
    asked = busy(monkeypatch, 1, "same")
    same = trees.golden_overlay["pkg/losses.py"]
    assert judge(trees).versions({"same": same, "wrong": WRONG})["same"].passed
    assert len(asked) == 2


def test_an_endless_version_is_noticed_in_one_case_at_a_time(trees: TargetTrees) -> None:
    endless = trees.golden_overlay["pkg/losses.py"].replace(b"    gap =", b"    while True: pass\n    gap =")
    assert b"while True" in endless
    assert trees.recording is not None and len(trees.recording.cases) > 1
    found = judge(trees).versions({"endless": endless}, 0.5)["endless"]
    assert (found.passed, found.late) == (False, True)
    assert found.reason.count("time limit") == 1


def test_a_run_that_ends_early_is_the_work_of_one_version(trees: TargetTrees) -> None:
    golden = trees.golden_overlay["pkg/losses.py"]
    killer = golden.replace(b"    gap =", b"    import os\n    os.kill(os.getppid(), 9)\n    gap =")
    found = judge(trees).versions({"first": golden, "killer": killer, "last": golden, "wrong": WRONG})
    assert {name: item.passed for name, item in found.items()} == {
        "first": True, "killer": False, "last": True, "wrong": False,
    }  # fmt: skip
    assert found["killer"].reason == "it ended the run"
