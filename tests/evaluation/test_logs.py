"""Logs of engines in their real shape: whose a failure is, and which answers are one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from lmr_author.core.task import Task
from lmr_author.proof.evaluation.candidates import logs, predictions
from lmr_author.release.analysis.observations import Usage
from lmr_author.release.analysis.observations import read as observe
from lmr_author.release.review.score import waiting
from tests.cli.program import lmr_forked, validate_with
from tests.evaluation.foreign import GOLDEN, PLAIN_PYTHON, STYLES, foreign_task

STARTED, FAILED_AT, LATER = (
    f"2026-11-28T20:0{minute}:05{part}Z" for minute, part in ((1, ""), (2, ".25"), (3, ""))
)
REWARD = {"verifier_result": {"rewards": {"reward": 0.0}}}
PASSES = {"verifier_result": {"rewards": {"reward": 1.0}}}


def exception(name: str, **more: Any) -> dict[str, Any]:
    """What a trial says about an exception."""
    about = {
        "exception_type": name,
        "exception_message": f"{name} happened",
        "exception_traceback": "Traceback …",
    }
    return {"exception_info": {**about, "occurred_at": FAILED_AT, **more}}


def trial(job: Path, name: str, work: str | None = None, **fields: Any) -> Path:
    """Write a trial as Harbor 0.26 does, with the goal file that its agent left."""
    folder = job / f"7-Softplus-1__{name}"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    if work is not None:
        goal = folder / "artifacts" / "workspace" / "scores-repo" / "scores" / "smooth.py"
        goal.parent.mkdir(parents=True)
        goal.write_text(work)
    result: dict[str, Any] = {
        "schema_version": 1,
        "id": str(uuid4()),
        "task_name": "lmr-author/7-softplus-1",
        "trial_name": folder.name,
        "trial_uri": folder.as_uri(),
        "task_id": {"path": "exported/7-Softplus-1"},
        "source": None,
        "task_checksum": "0" * 64,
        "config": {"task": {"path": "exported/7-Softplus-1"}, "trial_name": folder.name},
        "agent_info": {"name": "terminus-2", "version": "2.0", "model_info": {"name": "m", "provider": "p"}},
        "agent_result": {"n_input_tokens": 10, "n_output_tokens": 3},
        "verifier_result": None,
        "exception_info": None,
        "verifier": {"started_at": LATER, "finished_at": LATER},
        "reward_valid": False,
        **fields,
    }
    (folder / "result.json").write_text(json.dumps(result))
    if result["exception_info"]:
        (folder / "exception.txt").write_text("Traceback …")
    return folder


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return foreign_task(tmp_path / "tasks", STYLES["asserts"])


@pytest.mark.parametrize(
    ("fields", "work", "outcome", "error", "is_answered"),
    [
        (REWARD, "x", "failed", "", True),
        (PASSES, "x", "passed", "", True),
        (exception("RateLimitError") | REWARD, "x", "unjudged", "RateLimitError", False),
        (exception("RuntimeError") | {"verifier": None}, None, "unjudged", "RuntimeError", False),
        (exception("SomethingNew") | REWARD, "x", "unjudged", "SomethingNew", False),
        (exception("AgentTimeoutError") | PASSES, "x", "passed", "", True),
        (exception("ContextLengthExceededError") | REWARD, "x", "failed", "", True),
        (exception("AgentSafetyRefusalError") | REWARD, "", "failed", "", True),
        (exception("AgentTimeoutError"), "x", "unjudged", "AgentTimeoutError", True),
        (exception("VerifierTimeoutError", occurred_at=LATER), "x", "unjudged", "VerifierTimeoutError", True),
        (exception("AgentTimeoutError", policy_override={"has_valid_reward": False}) | REWARD, "x", "unjudged",
         "AgentTimeoutError", False),
        ({}, "x", "", "", True),
    ],
    ids=["failed", "passed", "provider", "build", "unknown", "agent's time", "context", "refusal", "no verdict",
         "verifier", "own policy", "no verifier"],
)  # fmt: skip
def test_whose_failure_a_trial_is(
    fields: dict[str, Any], work: str | None, outcome: str, error: str, is_answered: bool, tmp_path: Path
) -> None:
    folder = trial(tmp_path / "job", "abc", work, **fields)
    (tmp_path / "job" / "result.json").write_text("{}")  # the job's own
    assert logs.find(tmp_path) == [folder / "result.json"]
    [(_, answer)] = logs.read(folder / "result.json")
    assert (answer.get("outcome", ""), answer.get("error", "")) == (outcome, error)
    assert ("code" in answer) is is_answered
    assert (answer["model"], answer["agent"]) == ("m", "terminus-2")


def test_a_trial_says_what_it_took(tmp_path: Path) -> None:
    phase = {"agent_execution": {"started_at": STARTED, "finished_at": LATER}}
    took = {"n_input_tokens": 900, "n_cache_tokens": 100, "n_output_tokens": 30, "cost_usd": 0.02}
    for name, fields in (("a", {**phase, "agent_result": took}), ("b", {"agent_result": None})):
        trial(tmp_path / "job", name, "x", **PASSES, **fields)
    measured, unknown = (one.usage for one in observe([tmp_path / "job"]).items)
    assert measured == Usage(tokens_in=900, tokens_out=30, cost=0.02, seconds=120) and unknown == Usage()


@pytest.mark.bwrap
def test_a_failed_trial_is_unjudged_everywhere(task: Task, tmp_path: Path) -> None:
    job = tmp_path / "jobs" / "today"
    trial(job, "a", GOLDEN, **PASSES)
    trial(job, "b", "", **exception("RateLimitError"), **REWARD)
    trial(job, "c", None, **exception("RateLimitError"))
    trial(job, "d", None, **exception("SandboxBuildFailedError"))
    trial(job, "e", GOLDEN, **exception("VerifierTimeoutError", occurred_at=LATER))
    (job / "result.json").write_text("{}")

    judging = ("judge", "tasks", "--predictions", "jobs", "--python", PLAIN_PYTHON)
    done = lmr_forked(*judging, cwd=tmp_path)
    assert done.code == 1, "not every answer has a verdict"
    assert "m (terminus-2, agent, repository)  1         2 of 2  100.0%" in done.out
    assert "3 unjudged: 2 RateLimitError, 1 SandboxBuildFailedError" in done.out
    assert "unjudged (2): 7-Softplus 1: RateLimitError happened" in done.out
    document = lmr_forked(*judging, "--format", "json", cwd=tmp_path).json()
    assert document["resumed"] == 2
    row = next(row for row in document["summary"] if row["category"] == "all")
    assert (row["judged"], row["passed"]) == (2, 2)
    assert row["unjudged"] == {"RateLimitError": 2, "SandboxBuildFailedError": 1}
    for line in document["results"]:
        validate_with("candidate", line)
        assert (line["outcome"] == "unjudged") is bool(line["error"])

    alone = {one.sample: (one.outcome, one.error) for one in observe([tmp_path / "jobs"]).items}
    assert alone[5] == ("unjudged", "VerifierTimeoutError")
    both = observe([tmp_path / "jobs", tmp_path / "lmr-results"])
    assert [one.outcome for one in both.items] == ["passed", *["unjudged"] * 3, "passed"]


def test_the_same_job_twice_is_more_samples(task: Task, tmp_path: Path) -> None:
    for job in ("one", "two"):
        trial(tmp_path / "jobs" / job, "abc", GOLDEN, **PASSES)
    found = predictions.read(tmp_path / "jobs", {task.name: task.load()}).items
    assert [item.sample for item in found] == [1, 1] and len({item.key for item in found}) == 2
    observed = observe([tmp_path / "jobs"])
    assert (len(observed.items), observed.repeated) == (2, 0)


def test_a_line_may_say_that_a_provider_failed(task: Task, tmp_path: Path) -> None:
    line = {"task": 7, "model": "m", "error": "RateLimitError", "reason": "too many requests"}
    validate_with("prediction", line)
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps(line) + "\n" + json.dumps({**line, "code": "def softplus(x): ..."}) + "\n")
    failed, answered = predictions.read(path, {task.name: task.load()}).items
    assert (failed.error, failed.reason, failed.code) == ("RateLimitError", "too many requests", "")
    assert answered.error == "" and answered.code
    (shown,) = waiting([task], path, "ada", None)
    assert "def softplus" in shown.text, "people grade answers alone"


def test_two_files_of_one_name_are_two_runs(task: Task, tmp_path: Path) -> None:
    keys = set()
    for folder in ("one", "two", "two"):
        path = tmp_path / folder / "p.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"task": 7, "model": "m", "code": "x"}) + "\n")
        keys |= {item.key for item in predictions.read(path, {task.name: task.load()}).items}
    assert len(keys) == 2
