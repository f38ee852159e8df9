"""Recorded calls become cases where they tell a misreading apart, and only if nothing right fails."""

from __future__ import annotations

import json
import re

import pytest

from lmr_author.core.task import Task, TaskState
from lmr_author.core.task.challenge import Ending, LeftOutCall
from lmr_author.core.task.recording import load
from tests.challenge.conftest import Challenged
from tests.challenge.made import answer
from tests.pipeline import run_gates

pytestmark = pytest.mark.bwrap


def cases(task: Task) -> dict[str, int]:
    """Name of each case → number of its call."""
    recording = load(task.recording(task.load(), 1))
    assert recording is not None
    return {case.name: case.call for case in recording.cases}


def test_telling_calls_become_the_only_new_cases(challenged: Challenged) -> None:
    before, after = cases(Task(challenged.first)), cases(Task(challenged.strengthened))
    assert list(after.items())[: len(before)] == list(before.items())
    (target,) = challenged.after.targets
    assert list(after.items())[len(before) :] == [(one.case, one.call) for one in target.added]
    assert {"large-stay", "no-step"} <= {name for one in target.added for name in one.tells}
    assert len(target.added) <= 3, "no more than there are misreadings"


def test_the_misreading_fails_there(challenged: Challenged) -> None:
    told = answer(challenged.after, "large-stay")
    assert told.ending is Ending.FAILS
    assert told.difference is not None
    assert told.difference.case in {one.case for one in challenged.after.targets[0].added}


def test_a_call_on_which_a_rewrite_would_fail_is_refused(challenged: Challenged) -> None:
    """The golden's way with a tie is its own: a case of it would fit the test to the golden."""
    assert answer(challenged.before, "half-up").tells[0] == 8
    assert answer(challenged.after, "ties-up").ending is Ending.PASSES
    assert 8 not in {one.call for one in challenged.after.targets[0].added}
    left = next(one for one in challenged.after.targets[0].left_out if one.call == 8)
    assert isinstance(left, LeftOutCall)
    assert (left.why, left.answer) == ("rewrite", "ties-up")
    assert "value[1]" in left.message


def test_old_cases_stay_byte_for_byte(challenged: Challenged) -> None:
    old, new = (
        task.recording(task.load(), 1) for task in (Task(challenged.first), Task(challenged.strengthened))
    )
    for path in old.rglob("case_*/*"):
        assert (new / path.relative_to(old)).read_bytes() == path.read_bytes()
    manifests = [json.loads((folder / "recording.json").read_text()) for folder in (old, new)]
    assert manifests[0]["cases"] == manifests[1]["cases"][: len(manifests[0]["cases"])]
    assert manifests[0]["command"] == manifests[1]["command"]


def test_an_evaluation_made_before_no_longer_holds(challenged: Challenged) -> None:
    states = [TaskState.of(Task(path)) for path in (challenged.first, challenged.strengthened)]
    assert states[0].running != states[1].running


def test_the_page_tells_of_the_case_and_the_old_one_is_kept(challenged: Challenged) -> None:
    task = Task(challenged.strengthened)
    page = task.unit_test(task.load(), task.load().implementation(1)).read_text()
    assert re.search(r"a misreading fails only here: .*large-stay", page)
    assert list(task.removed_folder.rglob("recording.json"))


def test_the_strengthened_test_holds_every_gate_that_is_about_it(challenged: Challenged) -> None:
    gates = {
        gate.gate: gate.status.value for gate in run_gates(Task(challenged.strengthened), mutants=0).gates
    }
    wanted = ("untampered", "golden-passes", "masked-fails", "target-entered", "trivial-fails")
    assert {name: gates[name] for name in wanted} == dict.fromkeys(wanted, "passed")
