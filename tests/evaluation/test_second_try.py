"""A candidate whose time ran out is tried once more: the machine may have been busy just then."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lmr_author.evaluation import judges, script
from lmr_author.evaluation.candidates.run import score
from lmr_author.evaluation.candidates.scorer import CandidateOptions
from lmr_author.evaluation.verdict import Outcome
from lmr_author.replay.replaying import Replay, ReplayPlan, replay
from lmr_author.replay.replaying import ReplayOutcome as Replayed
from lmr_author.task import Task
from tests.evaluation.foreign import PLAIN_PYTHON, STYLES, foreign_task
from tests.pipeline import only_hinge, quiet, recorded

pytestmark = pytest.mark.bwrap

CORRECT = "def hinge(x, margin=1.0):\n    return max(margin - x, 0.0)\n"
ENDLESS = "def hinge(x, margin=1.0):\n    while True: pass\n"


def outcome(task: Task, code: str, out: Path) -> Outcome:
    out.mkdir()
    source = out / "predictions.jsonl"
    source.write_text(json.dumps({"task": task.name, "index": 1, "model": "m", "code": code}) + "\n")
    options = CandidateOptions(out, python=PLAIN_PYTHON, seconds=1)
    (found,) = score([task], source, options, quiet, lambda *_: None).results
    return found.outcome


def test_of_recorded_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = only_hinge(tmp_path / "tasks")
    recorded(task)
    plans: list[ReplayPlan] = []

    def busy(
        sandbox: Any, tree: Path, inside: str, plan: ReplayPlan, versions: Any, **options: Any
    ) -> Replay:
        found = replay(sandbox, tree, inside, plan, versions, **options)
        if versions[0].id != "candidate":
            return found
        plans.append(plan)
        late = {key: Replayed("timeout") for key in found.outcomes}
        return replace(found, outcomes=late) if len(plans) == 1 else found

    monkeypatch.setattr(judges.replaying, "replay", busy)
    assert outcome(task, CORRECT, tmp_path / "once") is Outcome.PASSED
    assert [plan.until_lost for plan in plans] == [False, True], "the second ends at the first that is late"
    assert outcome(task, CORRECT, tmp_path / "again") is Outcome.PASSED
    assert len(plans) == 3
    assert outcome(task, ENDLESS, tmp_path / "endless") is Outcome.TIMEOUT


def test_of_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = foreign_task(tmp_path / "tasks", STYLES["asserts"])
    good = (
        "def softplus(x, beta=1.0):\n    return math.log1p(math.exp(-abs(beta * x))) / beta + max(x, 0.0)\n"
    )
    real, late = script.run, iter([True, False, True, True])

    def busy(*arguments: Any, **options: Any) -> Any:
        found = real(*arguments, **options)
        return replace(found, timed_out=arguments[1].startswith("script_candidate") and next(late))

    monkeypatch.setattr(script, "run", busy)
    assert [outcome(task, good, tmp_path / name) for name in ("one", "two")] == [
        Outcome.PASSED,
        Outcome.TIMEOUT,
    ]
