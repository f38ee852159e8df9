"""``judge --predictions`` as an evaluator types it."""

from __future__ import annotations

import json
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from lmr_author.core.task import Task
from tests.cli.program import (
    TEMPORARY,
    Ended,
    finish,
    lmr_forked,
    refuse,
    start,
    succeed,
    validate_with,
    wait_for,
)
from tests.evaluation.foreign import PLAIN_PYTHON, STYLES, foreign_task

HEADER = "def softplus(x, beta=1.0):\n"
GOOD = HEADER + "    return math.log1p(math.exp(-abs(beta * x))) / beta + max(x, 0.0)\n"
BAD = HEADER + "    return max(x, 0.0)\n"
SLOW = HEADER + "    import time\n    time.sleep(0.2)\n    return x\n"
PLAIN = ("--python", str(PLAIN_PYTHON))

pytestmark = [pytest.mark.bwrap, pytest.mark.timeout(600)]


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A hand-made task in ``tasks/``, its folder the current one."""
    return foreign_task(tmp_path / "tasks", STYLES["asserts"])


def write(folder: Path, *lines: dict[str, Any]) -> None:
    """Write predictions, by default for the task of these tests; ``...`` leaves a name out."""
    made = [{"task": "7-Softplus", "index": 1, "model": "m"} | line for line in lines]
    texts = [json.dumps({key: value for key, value in one.items() if value is not ...}) for one in made]
    (folder / "predictions.jsonl").write_text("".join(f"{text}\n" for text in texts))


def results(folder: Path) -> list[dict[str, Any]]:
    """The stored results, each as its schema says."""
    lines = [json.loads(line) for line in (folder / "lmr-results" / "results.jsonl").read_text().splitlines()]
    for line in lines:
        validate_with("candidate", line)
    return lines


def judge(folder: Path, *options: str) -> Ended:
    return lmr_forked("judge", "tasks", "--predictions", "predictions.jsonl", *PLAIN, *options, cwd=folder)


def test_one_broken_task_does_not_stop_the_others(task: Task, tmp_path: Path) -> None:
    broken = tmp_path / "tasks" / "3-Broken"
    broken.mkdir()
    (broken / "info.json").write_text("{")
    options = ("--mutants", "0", "--repeats", "1", *PLAIN)

    other = shutil.copytree(broken, tmp_path / "other" / "4-Broken")
    proved = lmr_forked("evaluate", "tasks", *options, "--format", "json", cwd=tmp_path)
    shown = lmr_forked("evaluate", broken, other, *options, cwd=tmp_path)
    alone = lmr_forked("evaluate", "tasks/3-Broken", *options, cwd=tmp_path)

    first, second = proved.json()["tasks"]
    assert (first["task"], first["gates"]) == ("3-Broken", []) and "invalid JSON" in first["error"]
    assert second["task"] == "7-Softplus" and any(gate["status"] == "passed" for gate in second["gates"])
    assert proved.code == 1 and shown.out.count("not evaluated") == 2
    assert alone.code == 3 and "invalid JSON" in alone.err

    write(tmp_path, {"code": GOOD}, {"code": GOOD, "task": "3-Broken"}, {"code": "", "task": "12-Elsewhere"})
    judged = judge(tmp_path)

    assert judged.code == 1 and [line["outcome"] for line in results(tmp_path)] == ["passed"]
    assert "unjudged: all for 3-Broken" in judged.out
    assert "skipped, no such task here: 12-Elsewhere (1)" in judged.out


def test_answers_are_judged_and_summarised(task: Task, tmp_path: Path) -> None:
    patch = (
        "--- a/scores/smooth.py\n+++ b/scores/smooth.py\n@@ -7,3 +7,3 @@ import math\n"
        ' def softplus(x, beta=1.0):\n     """Smooth positive part."""\n-    raise NotImplementedError\n'
        "+    return math.log1p(math.exp(-abs(beta * x))) / beta + max(x, 0.0)\n"
    )
    write(
        tmp_path,
        {"model": "right", "code": f"Sure!\n```python\n{GOOD}```\n"},
        {"model": "right", "code": GOOD + "\n\nprint(softplus(1.0))\n"},
        {"model": "wrong", "code": BAD},
        {"model": "mute", "code": None},
        {"task": ..., "instance_id": 7, "model": ..., "model_name_or_path": "patch", "model_patch": patch},
    )

    done = judge(tmp_path, "--jobs", "2", "--format", "json")

    assert done.code == 0, done.err
    document = done.json()
    assert document["complete"] is True and document["resumed"] == 0
    found = [(line["model"], line["sample"], line["outcome"], line["method"]) for line in results(tmp_path)]
    assert found == [
        ("right", 1, "passed", "test script"),
        ("right", 2, "passed", "test script"),
        ("wrong", 1, "failed", "test script"),
        ("mute", 1, "invalid", "test script"),
        ("patch", 1, "passed", "test script"),
    ]
    assert document["results"] == results(tmp_path)
    assert document["results"][1]["dropped"] == ["code at module level, line 5: print(softplus(1.0))"]
    row = next(row for row in document["summary"] if row["model"] == "right" and row["category"] == "all")
    assert (row["judged"], row["passed"], row["low"]) == (2, 2, 0.2065)
    shown = judge(tmp_path)
    assert re.search(r"^wrong +1 +0 of 1 +0.0% +0.0% to 79.3% +1 failed *$", shown.out, re.MULTILINE)
    assert (
        "failed wrong, 7-Softplus 1: " in shown.out and "5 candidates, 5 of them by an earlier" in shown.out
    )


def test_a_rerun_judges_only_what_is_new_or_changed(task: Task, tmp_path: Path) -> None:
    write(tmp_path, {"model": "a", "code": GOOD}, {"model": "b", "code": BAD})
    assert judge(tmp_path).code == 0
    first = results(tmp_path)

    write(tmp_path, {"model": "a", "code": GOOD}, {"model": "b", "code": GOOD}, {"model": "c", "code": BAD})
    done = judge(tmp_path)

    assert "3 candidates, 1 of them by an earlier run" in done.out
    assert "3 of 3 candidates (1 judged by an earlier run): 1 passed, 1 failed" in done.err
    second = results(tmp_path)
    assert [line["model"] + " " + line["outcome"] for line in second] == ["a passed", "b passed", "c failed"]
    assert second[0] == first[0] and second[1]["digest"] != first[1]["digest"]

    (task.root / "scores-repo/unit_test/cases.json").write_text("[]")
    assert "earlier run" not in judge(tmp_path).out


def test_a_python_file_is_one_answer_and_one_to_grade_by_hand_says_so(task: Task, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(BAD)
    done = lmr_forked("judge", "tasks", "--predictions", "mine.py", "--format", "json", cwd=tmp_path)
    assert [(one["model"], one["index"], one["outcome"]) for one in done.json()["results"]] == [
        ("mine", 1, "failed")
    ]
    said = refuse(2, "judge", "tasks", "--candidate", "mine.py", cwd=tmp_path)
    assert said[1].endswith("add --by-hand, or run it with --predictions mine.py")
    assert (
        refuse(2, "judge", "tasks", "--reviewer", "ada", cwd=tmp_path)[0]
        == "people's grades are given with --by-hand"
    )


def test_an_agents_tree_is_judged(task: Task, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for model, code in (("model-a", GOOD), ("model-b", BAD)):
        copy = runs / model / task.name
        shutil.copytree(task.root, copy)
        goal = copy / "scores-repo/scores/smooth.py"
        head, _, rest = goal.read_text().partition("def softplus")
        goal.write_text(head + code + "\n\nclass Mean" + rest.partition("class Mean")[2])

    done = lmr_forked("judge", "tasks", "--predictions", "runs", *PLAIN, cwd=tmp_path)

    assert done.code == 0, done.err
    found = {line["model"]: line for line in results(tmp_path)}
    assert {name: line["outcome"] for name, line in found.items()} == {
        "model-a": "passed",
        "model-b": "failed",
    }


NO_PREDICTIONS = {
    "{": "predictions.jsonl:1: not JSON",
    "[1]": "entry 1: Expected `object`, got `int`",
    '{"model": "m", "code": ""}': ": no task",
    '{"task": "7-Softplus", "code": ""}': ": no model",
    '{"task": "7-Softplus", "model": "m"}': "neither code nor a patch",
    '{"task": "7-Softplus", "index": 3, "model": "m", "code": ""}': "has no implementation 3",
    '{"task": "9-Other", "model": "m", "code": ""}': "only for other tasks: 9-Other",
    "": "contains no predictions",
}


def test_wrong_predictions_and_options_are_refused(task: Task, tmp_path: Path) -> None:
    given = ("judge", "tasks", "--predictions", "predictions.jsonl")
    for content, said in NO_PREDICTIONS.items():
        (tmp_path / "predictions.jsonl").write_text(content)
        assert said in refuse(3, *given, cwd=tmp_path)[0]
    write(tmp_path, {"code": GOOD})
    assert "no answers named" in refuse(2, "judge", "tasks", "--out", "x", cwd=tmp_path)[0]
    assert refuse(3, *given[:-1], "nothing.jsonl", cwd=tmp_path)[0] == "nothing.jsonl does not exist"
    assert lmr_forked(*given, "--gpus", "1", cwd=tmp_path).code == 2


def test_ctrl_c_leaves_nothing_running_and_keeps_what_was_judged(task: Task, tmp_path: Path) -> None:
    write(tmp_path, *({"model": f"model-{number}", "code": SLOW} for number in range(12)))
    command = ("judge", "tasks", "--predictions", "predictions.jsonl", "--jobs", "2", *PLAIN)
    process = start(*command, cwd=tmp_path)
    stored = tmp_path / "lmr-results" / "results.jsonl"
    wait_for(lambda: stored.is_file() and stored.read_bytes().count(b"\n") >= 2, 200)
    process.send_signal(signal.SIGINT)

    ended = finish(process)

    assert ended.code == 130
    judged = len(results(tmp_path))
    assert 2 <= judged < 12
    assert not [path for path in TEMPORARY.iterdir() if path.name.startswith("lmr-author-trees-")]
    done = succeed(*command, cwd=tmp_path)
    assert f"12 candidates, {judged} of them by an earlier run" in done.out


def test_two_evaluations_do_not_write_to_one_folder(task: Task, tmp_path: Path) -> None:
    import fcntl

    write(tmp_path, {"code": GOOD})
    (tmp_path / "lmr-results").mkdir()
    with (tmp_path / "lmr-results" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = judge(tmp_path)
    assert done.code == 3 and "another evaluation is writing to lmr-results" in done.err


def test_an_environment_that_cannot_run_the_golden_makes_nobody_wrong(tmp_path: Path) -> None:
    foreign_task(tmp_path / "tasks", "import no_such_library\n" + STYLES["asserts"])
    write(tmp_path, {"code": GOOD})

    done = judge(tmp_path)

    assert done.code == 1
    (line,) = results(tmp_path)
    assert (line["outcome"], line["error"]) == ("unjudged", "GoldenFailsError")
    assert "no_such_library" in line["reason"]
    assert "unjudged (1)" in done.out
