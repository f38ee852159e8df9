"""Scripted models on three tasks: their scores, and the same answers in every other command."""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path

import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.scorer import Score

from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task
from lmr_author.proof.evaluation.candidates import predictions
from lmr_author.release.analysis.analyze import analyze
from lmr_author.release.analysis.observations import read as observe
from lmr_author.release.models.tasks import prompting
from lmr_author.release.review.score import waiting
from tests.cli.program import lmr_forked
from tests.evaluation.foreign import GOLDEN, PLAIN_PYTHON, PRINTS, foreign_task
from tests.models.conftest import with_paper
from tests.models.scripted import inspect_process, run, samples

pytestmark = [pytest.mark.bwrap, pytest.mark.timeout(600)]

SOFTPLUS = GOLDEN[GOLDEN.index("def softplus") : GOLDEN.index("class Mean")]
WRONG = "def add(self, value):\n    return value\n"


def fenced(text: str) -> str:
    """An answer as models give it."""
    return f"Here it is:\n\n```python\n{text}\n```\nIt follows the paper."


GRADER = {
    "return value": "Wrong mean.\n**GRADE: LI**",
    "I cannot.": "I am not sure.",
    "no readable grade": "I am still not sure.",
    "softplus": "It equals the golden.\nGRADE: CC",
}
"""A judge who finds one answer wrong, one right, and is lost for words about another."""


def test_golden_wrong_and_broken_answers(softplus: Task, mean: Task, tmp_path: Path) -> None:
    third = with_paper(foreign_task(tmp_path / "tasks", PRINTS, name="9-Third", instruction="The third."))
    model = {"The third.": "I cannot.", "`softplus`": fenced(SOFTPLUS), "`Mean.add`": fenced(WRONG)}
    arguments = {"tasks": "tasks", "python": str(PLAIN_PYTHON)}
    log = run("prompting", tmp_path, model, arguments, GRADER)
    logs = tmp_path / "logs"

    found = samples(log)
    scores = {name: sample.scores or {} for name, sample in found.items()}
    assert scores["7-Softplus/1"]["unit_test"].value == "C"
    assert scores["7-Softplus/1"]["golden_share"].value == 1.0
    assert scores["7-Softplus/1"]["judge"].value == "CC"
    assert scores["8-Mean/1"]["unit_test"].value == "I" and scores["8-Mean/1"]["judge"].value == "LI"
    assert "AssertionError" in (scores["8-Mean/1"]["unit_test"].explanation or "")
    broken = scores["9-Third/1"]
    assert broken["unit_test"].value == "I"
    assert (broken["unit_test"].explanation or "").startswith("invalid: the answer has no Python code")
    assert (broken["judge"].value, broken["judge"].explanation) == ("unparsable", "I am still not sure.")
    about = scores["7-Softplus/1"]["judge"].metadata or {}
    assert (about["grader"], about["temperature"], about["asked"]) == ("grader", 0.0, 1)
    assert re.fullmatch(r"function@[0-9a-f]{12}", about["prompt"])

    tasks = [softplus, mean, third]
    given = predictions.read(Path(log.location), {task.name: task.load() for task in tasks})
    assert {(item.task, item.model, item.setting, item.input, item.sample) for item in given.items} == {
        (task.name, "mockllm/scripted", "prompting", "repository", 1) for task in tasks
    }
    assert len(waiting(tasks, logs, "ada", None)) == 3, "people grade the same answers"

    again = lmr_forked(
        "judge", "tasks", "--predictions", logs, "--python", PLAIN_PYTHON, "--out", "again", cwd=tmp_path
    )
    assert again.code == 0, again.err
    out = analyze([logs, tmp_path / "again"], tmp_path / "out", tasks).folder
    [row] = csv.DictReader((out / "table2-results.csv").read_text().splitlines())
    assert (row["setting"], row["problems"], row["unit test %"]) == ("prompting", "3", "33.3")
    assert row["golden repeated %"] == "33.3"
    assert (row["judge CC %"], row["judge LI %"], row["judge unparsable"]) == ("33.3", "33.3", "1")
    [took] = csv.DictReader((out / "usage.csv").read_text().splitlines())
    assert (took["tokens in"], took["tokens out"]) == ("30", "30"), "ten of each answer, none of the grader's"
    assert float(took["seconds"]) > 0 and took["cost $"] == ""

    # As `inspect score --action append` with another grader names its scores.
    for sample in log.samples or []:
        about = {"grader": "other", "prompt": "paper@0123456789ab"}
        (sample.scores or {})["judge1"] = Score(value="LC", metadata=about)
    write_eval_log(log, log.location)
    judges = {one.task: one.judges for one in observe([logs]).items}
    assert judges["8-Mean"] == {"grader": "LI", "other (paper)": "LC"}
    assert judges["9-Third"] == {"grader": "unparsable", "other (paper)": "LC"}


def test_a_golden_that_fails_is_no_wrong_answer_and_a_log_is_scored_again(
    softplus: Task, tmp_path: Path
) -> None:
    test = softplus.repository(softplus.load()) / "unit_test" / "cases.json"
    cases = test.read_text()
    test.write_text(json.dumps([{"x": 0.5, "beta": 1.0, "expected": 7.0}]))
    arguments = {"tasks": str(softplus.root), "python": str(PLAIN_PYTHON)}
    log = run("prompting", tmp_path, {"softplus": fenced(SOFTPLUS)}, arguments, epochs=2)
    for sample in log.samples or []:
        found = (sample.scores or {})["unit_test"]
        assert found.reason == "scoring_failed" and "golden does not pass" in (found.explanation or "")
    assert {(one.outcome, one.error) for one in observe([tmp_path / "logs"]).items} == {
        ("unjudged", "GoldenFailsError")
    }

    test.write_text(cases)
    options = ("--scorer", "lmr_author/unit_test", "--action", "overwrite", "--overwrite")
    values = ("-S", "tasks=tasks", "-S", f"python={PLAIN_PYTHON}")
    done = inspect_process(tmp_path, "inspect_ai", "score", log.location, *options, *values)
    assert done.code == 0, done.out + done.err
    again = read_eval_log(log.location)
    assert [(one.scores or {})["unit_test"].value for one in again.samples or []] == ["C", "C"]
    assert [(one.sample, one.outcome) for one in observe([tmp_path / "logs"]).items] == [
        (1, "passed"),
        (2, "passed"),
    ]


def test_answers_from_elsewhere_are_scored(softplus: Task, tmp_path: Path) -> None:
    trial = tmp_path / "jobs" / "today" / "7-Softplus-1__abc"
    goal = trial / "artifacts" / "workspace" / "scores-repo" / "scores" / "smooth.py"
    goal.parent.mkdir(parents=True)
    goal.write_text(GOLDEN)
    (trial / "artifacts" / "manifest.json").write_text("[]")
    result = {
        "id": "right",
        "task_id": {"path": "exported/7-Softplus-1"},
        "task_name": "lmr-author/7-softplus-1",
        "agent_info": {"name": "terminus", "model_info": {"name": "m", "provider": "p"}},
        "verifier_result": {"rewards": {"reward": 1.0}},
    }
    (trial / "result.json").write_text(json.dumps(result))
    failed = trial.with_name("7-Softplus-1__xyz")
    (failed / "artifacts").mkdir(parents=True)
    (failed / "result.json").write_text(json.dumps(result | {"id": "empty", "verifier_result": None}))
    (tmp_path / "jobs" / "today" / "result.json").write_text("{}")

    arguments = {
        "tasks": str(softplus.root),
        "predictions": str(tmp_path / "jobs"),
        "python": str(PLAIN_PYTHON),
    }
    log = run("answers", tmp_path, None, arguments)
    values = {name: (one.scores or {})["unit_test"].value for name, one in samples(log).items()}
    assert values == {
        "7-Softplus/1/m/terminus/agent/repository/right/1": "C",
        "7-Softplus/1/m/terminus/agent/repository/empty/2": "I",
    }
    outcomes = {one.sample: one.outcome for one in observe([tmp_path / "jobs"]).items}
    assert outcomes == {1: "passed", 2: ""}
    again = observe([tmp_path / "logs", tmp_path / "jobs"])
    assert {(one.model, one.agent, one.run) for one in again.items} == {
        ("m", "terminus", run) for run in ("right", "empty")
    }


def test_a_mistake_ends_without_a_traceback(softplus: Task, tmp_path: Path) -> None:
    command = ("eval", "lmr_author/prompting", "--model", "none", "-T", "tasks=tasks", "-T", "input=all")
    done = inspect_process(tmp_path, "inspect_ai", *command)
    shown = done.out + done.err
    assert done.code != 0 and "Traceback" not in shown
    assert "input 'all' is unknown" in shown and "hint: one of: signature" in shown


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"inputs": "paper"}, "did you mean input?"),
        ({"tokens": "abc"}, "-T tokens=abc: not a number of tokens"),
    ],
)
def test_a_typo_ends_the_run(option: dict[str, str], said: str, softplus: Task) -> None:
    with pytest.raises(PrerequisiteError) as ended:
        prompting(str(softplus.root), **option)
    assert said in str(ended.value.message)


def test_one_bad_task_stops_nothing_and_is_no_wrong_answer(
    softplus: Task, mean: Task, tmp_path: Path
) -> None:
    mean.paper_json(mean.load()).write_text("{}")
    arguments = {"tasks": "tasks", "python": str(PLAIN_PYTHON)}
    found = samples(run("prompting", tmp_path, {"`softplus`": fenced(SOFTPLUS)}, arguments))
    assert (found["7-Softplus/1"].scores or {})["unit_test"].value == "C"
    broken = (found["8-Mean/1"].scores or {})["unit_test"]
    assert broken.reason == "scoring_failed" and "has no pages in paper.json" in (broken.explanation or "")
    assert {one.task: one.outcome for one in observe([tmp_path / "logs"]).items} == {
        "7-Softplus": "passed",
        "8-Mean": "unjudged",
    }


def test_what_is_no_log_of_our_tasks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cut.eval").write_bytes(b"PK")
    with pytest.raises(LmrError, match="is not an Inspect AI log"):
        observe([tmp_path])
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(LmrError, match="needs Inspect AI") as refused:
        observe([tmp_path])
    assert ".[inspect]" in refused.value.hint
    (tmp_path / "cut.eval").unlink()
    trial = tmp_path / "jobs" / "other__abc"
    (trial / "artifacts").mkdir(parents=True)
    (trial / "result.json").write_text('{"task_name": "org/other"}')
    with pytest.raises(LmrError, match="not the result of a Harbor trial"):
        observe([tmp_path])


def test_a_judge_without_a_grade_is_asked_once_more(softplus: Task, tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"task": "7-Softplus", "index": 1, "model": "m", "code": fenced(SOFTPLUS)}))
    arguments = {"tasks": "tasks", "predictions": str(answers), "python": str(PLAIN_PYTHON)}
    grader = {"no readable grade": "**Grade**: cc", "softplus": "It equals the golden."}
    [sample] = samples(run("answers", tmp_path, None, arguments, grader)).values()
    judged = (sample.scores or {})["judge"]
    assert (judged.value, (judged.metadata or {})["asked"]) == ("CC", 2)
