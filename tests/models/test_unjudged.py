"""Failures of providers and machines in real logs of Inspect: unjudged everywhere, and never a model's."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, write_eval_log

from lmr_author.core.task import Task
from lmr_author.proof.evaluation.candidates import predictions
from lmr_author.release.analysis.analyze import analyze
from lmr_author.release.analysis.observations import read as observe
from tests.cli.program import lmr_forked
from tests.evaluation.foreign import GOLDEN, PLAIN_PYTHON, STYLES, foreign_task
from tests.models.conftest import with_paper
from tests.models.scripted import Script, run, samples

pytestmark = [pytest.mark.bwrap, pytest.mark.timeout(600)]

RIGHT = f"```python\n{GOLDEN[GOLDEN.index('def softplus') : GOLDEN.index('class Mean')]}\n```"
NUMBERS = ["one", "two", "three", "four", "five"]
MODEL: Script = {
    "Task one.": RIGHT,
    "Task two.": {"raise": "RateLimitError"},
    "Task three.": {"content": "", "stop_reason": "unknown", "error": "finish reason: OTHER"},
    "Task four.": {"content": "I cannot help.", "stop_reason": "content_filter", "error": "refused"},
    "Task five.": {"content": "", "stop_reason": "max_tokens"},
}
"""An answer, an error of the client, an empty output of the provider; a refusal and a limit, which are the model's."""


@pytest.fixture
def tasks(tmp_path: Path) -> list[Task]:
    names = [f"{number}-{word.title()}" for number, word in enumerate(NUMBERS, 1)]
    return [
        with_paper(
            foreign_task(tmp_path / "tasks", STYLES["asserts"], name=name, instruction=f"Task {word}.")
        )
        for name, word in zip(names, NUMBERS, strict=True)
    ]


def evaluated(folder: Path, grader: Script = None, tasks: str = "tasks", **options: object) -> EvalLog:
    arguments = {"tasks": tasks, "python": str(PLAIN_PYTHON)}
    return run("prompting", folder, MODEL, arguments, grader, fail_on_error=False, **options)


def write_retry(log: EvalLog, path: Path) -> None:
    """Write the log of `inspect eval-retry`: the same task's id, what was finished copied, the rest asked again."""
    failed = next(one for one in log.samples or [] if one.error is not None)
    right = next(one for one in log.samples or [] if one.metadata["task"] == "1-One")
    failed.error, failed.output, failed.scores, failed.uuid = None, right.output, right.scores, "another"
    log.eval.eval_id, log.eval.run_id = "another", "another"
    write_eval_log(log, str(path))


def outcomes(folder: Path) -> dict[str, tuple[str, str]]:
    return {one.task: (one.outcome, one.error) for one in observe([folder]).items}


EXPECTED = {
    "1-One": ("passed", ""),
    "2-Two": ("unjudged", "RateLimitError"),
    "3-Three": ("unjudged", "NoModelOutput"),
    "4-Four": ("invalid", ""),
    "5-Five": ("invalid", ""),
}


def test_one_treatment_in_inspect_judge_and_analyze(tasks: list[Task], tmp_path: Path) -> None:
    log = evaluated(tmp_path, score_on_error=True)
    scores = {name: (one.scores or {}).get("unit_test") for name, one in samples(log).items()}
    assert {
        name: score.value for name, score in scores.items() if score and isinstance(score.value, str)
    } == {"1-One/1": "C", "4-Four/1": "I", "5-Five/1": "I"}
    assert log.results is not None
    assert log.results.scores[0].metrics["accuracy"].value == pytest.approx(1 / 3)
    assert outcomes(tmp_path / "logs") == EXPECTED

    done = lmr_forked("judge", "tasks", "--predictions", "logs", "--python", PLAIN_PYTHON, cwd=tmp_path)
    assert done.code == 1 and "2 unjudged: 1 RateLimitError, 1 NoModelOutput" in done.out, done.out + done.err
    assert outcomes(tmp_path / "lmr-results") == EXPECTED

    out = analyze([tmp_path / "logs", tmp_path / "lmr-results"], tmp_path / "out", tasks).folder
    (row,) = csv.DictReader((out / "table2-results.csv").read_text().splitlines())
    assert (row["problems"], row["unit test %"], row["unjudged"]) == ("3", "33.3", "2")


def test_a_grader_that_fails_leaves_the_verdict(tasks: list[Task], tmp_path: Path) -> None:
    grader: Script = {"return": {"raise": "APIConnectionError"}, "": "GRADE: LI"}
    score = (samples(evaluated(tmp_path, grader, "tasks/1-One"))["1-One/1"].scores or {})["judge"]
    assert score.reason == "scoring_failed" and (score.metadata or {})["error"] == "APIConnectionError"
    (first,) = observe([tmp_path / "logs"]).items
    assert (first.task, first.outcome, first.judges) == ("1-One", "passed", {})


def test_an_eval_that_is_run_again_is_more_samples_and_a_retry_is_not(
    tasks: list[Task], tmp_path: Path
) -> None:
    write_retry(evaluated(tmp_path), tmp_path / "logs" / "retried.eval")
    again = observe([tmp_path / "logs"])
    assert outcomes(tmp_path / "logs") == {**EXPECTED, "2-Two": ("passed", "")}
    assert len(again.items) == 5
    known = {task.name: task.load() for task in tasks}
    given = predictions.read(tmp_path / "logs", known).items
    assert [item.task for item in given if item.error] == ["3-Three"] and len(given) == 5
    evaluated(tmp_path)
    found = observe([tmp_path / "logs"])
    assert len(found.items) == 10 and len({one.key for one in found.items}) == 10
    assert len(predictions.read(tmp_path / "logs", known).items) == 10
