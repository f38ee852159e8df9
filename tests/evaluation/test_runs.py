"""Runs of coding agents in the shapes that they have on disk: which answers are one, and whose a failure is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lmr_author.core.errors import LmrError, UnsafePathError
from lmr_author.core.task import Task
from lmr_author.proof.evaluation.candidates import predictions
from tests.cli.program import lmr_forked
from tests.evaluation.foreign import PLAIN_PYTHON, SOFTPLUS_BODY, STYLES, foreign_task

PATCH = "--- a/scores/smooth.py\n+++ b/scores/smooth.py\n@@ -7 +7 @@\n-    raise NotImplementedError\n+    return x\n"


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return foreign_task(tmp_path / "tasks", STYLES["asserts"])


def write(path: Path, data: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data, indent=2))
    return path


def read(path: Path, task: Task) -> list[tuple[str, str, str, str]]:
    """Model, agent, patch and error of each answer."""
    items = predictions.read(path, {task.name: task.load()}).items
    return [(item.model, item.agent, item.code, item.error) for item in items]


def prediction(patch: str | None, model: str = "m") -> dict[str, Any]:
    return {"model_name_or_path": model, "instance_id": "7-Softplus", "model_patch": patch}


def of_mini(status: str, patch: str, **info: str) -> dict[str, Any]:
    """What mini-SWE-agent 2.4.6 writes beside ``preds.json``."""
    config = {"agent": {"step_limit": 0}, "model": {"model_name": "m"}, "environment": {}}
    about = {"model_stats": {"instance_cost": 0.1, "api_calls": 3}, "config": config, "mini_version": "2.4.6"}
    about |= {"exit_status": status, "submission": patch, **info}
    return {
        "info": about,
        "messages": [],
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": "7-Softplus",
    }


def of_swe_agent(status: str | None, patch: str | None) -> dict[str, Any]:
    """What SWE-agent 1.1.0 writes beside its predictions; the configuration is a text."""
    info = {"model_stats": {"instance_cost": 0.1}, "exit_status": status, "submission": patch}
    replay = json.dumps({"agent": {"model": {"name": "m"}}})
    return {
        "trajectory": [],
        "history": [],
        "info": info,
        "replay_config": replay,
        "environment": "7-Softplus",
    }


@pytest.mark.parametrize(
    ("status", "patch", "error"),
    [
        ("Submitted", PATCH, ""),
        ("LimitsExceeded", "", ""),
        ("RepeatedFormatError", "", ""),
        ("ContextWindowExceededError", "", ""),
        ("RateLimitError", "", "RateLimitError"),
        ("UserInterruption", "", "UserInterruption"),
    ],
)
def test_a_run_of_mini_swe_agent(status: str, patch: str, error: str, task: Task, tmp_path: Path) -> None:
    run = tmp_path / "run"
    file = write(run / "preds.json", {"7-Softplus": prediction(patch)})
    expected = [("m", "mini-SWE-agent", patch, error)]
    alone = write(run / "7-Softplus/7-Softplus.traj.json", of_mini(status, patch, exception_str="why"))
    for path in (file, run, alone):
        assert read(path, task) == expected, path
    (item,) = predictions.read(file, {task.name: task.load()}).items
    assert item.reason == ("why" if error else "")


@pytest.mark.parametrize(
    ("status", "patch", "error"),
    [
        ("submitted", PATCH, ""),
        ("submitted (exit_cost)", PATCH, ""),
        ("exit_format", None, ""),
        ("submitted (exit_api)", PATCH, "exit_api"),
        ("exit_environment_error", None, "exit_environment_error"),
        (None, None, "NoExitStatus"),
    ],
)
def test_a_run_of_swe_agent(
    status: str | None, patch: str | None, error: str, task: Task, tmp_path: Path
) -> None:
    place = tmp_path / "run" / "7-Softplus"
    alone = write(place / "7-Softplus.traj", of_swe_agent(status, patch))
    expected = [("m", "SWE-agent", "" if error else patch or "", error)]
    assert read(alone, task) == expected
    assert read(tmp_path / "run", task) == expected
    pred = write(place / "7-Softplus.pred", prediction(patch))
    write(tmp_path / "run" / "preds.json", {"7-Softplus": prediction(patch)})
    for path in (pred, tmp_path / "run", tmp_path / "run" / "preds.json"):
        assert read(path, task) == expected, path


def test_an_environment_that_did_not_start_is_in_the_table_of_statuses(task: Task, tmp_path: Path) -> None:
    write(tmp_path / "run/preds.json", {"7-Softplus": prediction("")})
    write(
        tmp_path / "run/exit_statuses_17.yaml",
        "instances_by_exit_status:\n    CalledProcessError:\n    - 7-Softplus\n",
    )
    assert read(tmp_path / "run", task) == [("m", "", "", "CalledProcessError")]


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (None, ""),
        ("RuntimeError: Agent reached maximum iteration. Current iteration: 100", ""),
        ("AgentStuckInLoopError: Agent got stuck in a loop", ""),
        ("litellm.RateLimitError: too many requests", "RateLimitError"),
        ("Instance failed after 3 retries. Last error: ACPPromptError: terminated", "ACPPromptError"),
        ("Instance failed after 3 retries. Last error: 503", "OpenHandsError"),
    ],
)
@pytest.mark.parametrize(
    "about", [{"llm": {"model": "m"}}, {"llm_config": {"model": "m"}, "agent_class": "CodeAct"}]
)
def test_a_run_of_openhands(
    error: str | None, name: str, about: dict[str, Any], task: Task, tmp_path: Path
) -> None:
    line = {"instance_id": "7-Softplus", "attempt": 1, "test_result": {"git_patch": PATCH}, "instruction": "…",
            "metadata": about, "history": [], "metrics": {"accumulated_cost": 0.1}, "error": error}  # fmt: skip
    path = write(tmp_path / "run/output.jsonl", json.dumps(line) + "\n")
    write(tmp_path / "run/output.critic_attempt_1.jsonl", json.dumps(line) + "\n")
    expected = [("m", about.get("agent_class", "OpenHands"), "" if name else PATCH, name)]
    assert read(path, task) == read(tmp_path / "run", task) == expected


def test_an_instance_may_name_one_implementation(task: Task, tmp_path: Path) -> None:
    path = write(
        tmp_path / "preds.json", {"7-Softplus-1": {**prediction(PATCH), "instance_id": "7-Softplus-1"}}
    )
    (item,) = predictions.read(path, {task.name: task.load()}).items
    assert (item.task, item.index) == ("7-Softplus", 1)


def test_a_trajectory_outside_of_the_run_is_not_read(task: Task, tmp_path: Path) -> None:
    write(tmp_path / "other/7-Softplus.traj", of_swe_agent("exit_api", None))
    run = tmp_path / "run"
    write(run / "preds.json", {"7-Softplus": prediction(PATCH)})
    (run / "7-Softplus").symlink_to(tmp_path / "other")
    assert read(run / "preds.json", task) == [("m", "", PATCH, "")]
    (run / "a.pred").symlink_to(tmp_path / "run/preds.json")
    with pytest.raises(UnsafePathError):
        read(run, task)


@pytest.mark.parametrize(
    "text", ['{"info": 3, "a": 1}', "{}", '"x"', "3", '{"7-Softplus": {"model_patch": 3}}']
)
def test_json_that_is_no_run_is_named(text: str, task: Task, tmp_path: Path) -> None:
    with pytest.raises(LmrError, match=r"x\.json"):
        read(write(tmp_path / "x.json", text), task)


@pytest.mark.bwrap
def test_runs_are_judged(task: Task, tmp_path: Path) -> None:
    right = PATCH.replace(
        "+    return x\n", "".join(f"+{line}\n" for line in SOFTPLUS_BODY.strip("\n").split("\n"))
    )
    runs = tmp_path / "runs"
    for model, patch, status in (
        ("right", right, "Submitted"),
        ("wrong", PATCH, "Submitted"),
        ("none", "", "APIError"),
    ):
        write(runs / model / "preds.json", {"7-Softplus": prediction(patch, model)})
        write(runs / model / "7-Softplus/7-Softplus.traj.json", of_mini(status, patch))
    done = lmr_forked(
        "judge", "tasks", "--predictions", "runs", "--python", PLAIN_PYTHON, "--format", "json", cwd=tmp_path
    )
    outcomes = {line["model"]: (line["outcome"], line["error"]) for line in done.json()["results"]}
    assert outcomes == {"right": ("passed", ""), "wrong": ("failed", ""), "none": ("unjudged", "APIError")}
    assert done.code == 1
