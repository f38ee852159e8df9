"""The parts of judging candidates: predictions, patches, suspicions, storage, retries, intervals."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.errors import LmrError, SandboxError
from lmr_author.evaluation.candidates import predictions, store
from lmr_author.evaluation.candidates.answer import Invalid
from lmr_author.evaluation.candidates.changes import MAX_FILES, of_tree, patched
from lmr_author.evaluation.candidates.disk_watch import DiskWatch
from lmr_author.evaluation.candidates.pool import Interruption, Pace, each, retried
from lmr_author.evaluation.candidates.score import CaseScore, Outcome, Result, Score
from lmr_author.evaluation.candidates.summary import summary, wilson
from lmr_author.evaluation.candidates.suspicions import suspicions
from lmr_author.taskdir import TaskDir
from tests.evaluation.foreign import GOLDEN, MASKS, SOFTPLUS_BODY, foreign_task

MASKED = GOLDEN.replace(SOFTPLUS_BODY, MASKS["raises"])


@pytest.fixture
def task(tmp_path: Path) -> TaskDir:
    return foreign_task(tmp_path / "tasks")


def read(task: TaskDir, *lines: dict[str, object]) -> list[predictions.Prediction]:
    path = task.root.parent / "p.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return list(predictions.read(path, {task.name: task.load()}).items)


@pytest.mark.parametrize(
    "name", ["7-Softplus", "7-softplus", 7, "7", "7-Softplus__1", "7-Softplus#1", "7-Softplus_1"]
)
def test_a_task_is_named_in_many_ways(name: object, task: TaskDir) -> None:
    (found,) = read(task, {"task": name, "model": "m", "code": "x"})

    assert (found.task, found.index, found.sample) == ("7-Softplus", 1, 1)


@pytest.mark.parametrize("name", [7, "7-SOFTPLUS"])
def test_what_may_be_for_one_of_two_tasks_is_for_none(name: object, task: TaskDir) -> None:
    path = task.root.parent / "p.jsonl"
    path.write_text(json.dumps({"task": name, "model": "m", "code": "x"}))
    both = {"7-Softplus": task.load(), "7-softplus": task.load()}

    with pytest.raises(LmrError, match="7-Softplus or 7-softplus"):
        predictions.read(path, both)


def test_samples_are_numbered_for_each_model(task: TaskDir) -> None:
    found = read(task, *({"task": 7, "model": model, "code": "x"} for model in "abab"))

    assert [(item.model, item.sample) for item in found] == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]


def test_an_agents_folders_name_the_model(task: TaskDir, tmp_path: Path) -> None:
    for place in ("one/7-Softplus", "two/run-3/7-Softplus", "7-Softplus"):
        shutil.copytree(task.root, tmp_path / "runs" / place)

    found = predictions.read(tmp_path / "runs", {task.name: task.load()}).items

    assert sorted(item.model for item in found) == ["one", "runs", "two/run-3"]
    assert all(item.tree is not None and item.tree.name == "scores-repo" for item in found)


def test_a_tasks_folder_is_known_by_its_goal_file_too(task: TaskDir, tmp_path: Path) -> None:
    for place in ("one/7-Softplus", "two/7-Softplus"):
        shutil.copytree(task.root, tmp_path / "runs" / place)
        (tmp_path / "runs" / place / "info.json").unlink()
    (tmp_path / "runs/two/7-Softplus/scores-repo/scores/smooth.py").unlink()

    found = predictions.read(tmp_path / "runs", {task.name: task.load()}).items

    assert [item.model for item in found] == ["one"]


def test_what_an_agent_changed(task: TaskDir, tmp_path: Path) -> None:
    repository = task.root / "scores-repo"
    tree = tmp_path / "tree"
    shutil.copytree(repository, tree)
    (tree / "new.py").write_text("x = 1\n")
    (tree / "run.log").write_text("noise")
    (tree / "outside.py").symlink_to("/etc/passwd")

    assert of_tree(tree, repository, {"scores/smooth.py"}) == {"new.py": b"x = 1\n"}


DIFF = """\
--- {old}scores/smooth.py
+++ {new}scores/smooth.py
@@ -5,6 +5,6 @@ import math

 def softplus(x, beta=1.0):
     \"\"\"Smooth positive part.\"\"\"
-    raise NotImplementedError
+    return x

 class Mean:
"""


def test_only_so_many_files_of_an_agent_are_taken(task: TaskDir, tmp_path: Path) -> None:
    head = "".join(f" {line}\n" for line in MASKED.splitlines()[:3])
    made = f"--- a/scores/smooth.py\n+++ b/scores/smooth.py\n@@ -1,3 +1,4 @@\n+x = 1\n{head}" + "".join(
        f"--- /dev/null\n+++ b/m{number}.py\n@@ -0,0 +1 @@\n+x = 1\n" for number in range(MAX_FILES + 1)
    )
    for number in range(MAX_FILES + 1):
        (tmp_path / f"m{number}.py").write_text("x = 1\n")
    assert len(of_tree(tmp_path, task.root / "scores-repo", set())) == MAX_FILES
    assert len(patched(made, task.root / "scores-repo")) == MAX_FILES


@pytest.mark.parametrize(("old", "new"), [("a/", "b/"), ("a/scores-repo/", "b/scores-repo/"), ("", "")])
def test_a_patch_applies_from_where_it_was_made(old: str, new: str, task: TaskDir) -> None:
    exact = DIFF.replace("@@ -5,6 +5,6 @@", "@@ -5,7 +5,7 @@").replace(
        "\n\n class Mean", "\n \n \n class Mean"
    )
    text = exact.replace("import math\n\n def", "import math\n \n def").format(old=old, new=new)

    found = patched(text, task.root / "scores-repo")

    assert found == {"scores/smooth.py": MASKED.replace("raise NotImplementedError", "return x").encode()}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no patch",
        "--- a/other.py\n+++ b/other.py\n@@ -1 +1 @@\n-x\n+y\n",
        "--- a/scores/smooth.py\n+++ b/scores/smooth.py\n@@ -1 +1 @@\n-not there\n+y\n",
        "--- a/../../../etc/passwd\n+++ b/../../../etc/passwd\n@@ -1 +1 @@\n-root\n+y\n",
    ],
)
def test_a_patch_that_does_not_apply_is_invalid(text: str, task: TaskDir) -> None:
    with pytest.raises(Invalid):
        patched(text, task.root / "scores-repo")


def test_a_patch_cannot_leave_its_folder(task: TaskDir, tmp_path: Path) -> None:
    text = DIFF.format(old="a/", new="b/") + (
        "diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n"
        f"+{tmp_path}/victim\n\\ No newline at end of file\n"
    )
    (tmp_path / "victim").write_text("whole")
    try:
        found = patched(text, task.root / "scores-repo")
    except Invalid:
        found = {}

    assert "link" not in found and (tmp_path / "victim").read_text() == "whole"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    import os\n    os._exit(0)\n", "._exit"),
        ("    import sys\n    sys.exit()\n", ".exit"),
        ("    raise SystemExit\n", "SystemExit"),
        ("    import unittest\n", "import unittest"),
        ("    from _pytest import x\n", "import _pytest"),
        ("    math.exp = max\n", "math.exp = …"),
        ("    setattr(math, 'exp', max)\n", "setattr(math, …)"),
        ("    import sys\n    sys.modules['x']\n", ".modules"),
        ("    print('Passed')\n", "the text 'Passed'"),
        ("    open('unit_test/cases.json')\n", "open"),
        ("    class A:\n        def __eq__(self, o): return True\n", "def __eq__"),
    ],
)
def test_what_could_forge_a_verdict_is_suspicious(body: str, said: str) -> None:
    answer = GOLDEN.replace(SOFTPLUS_BODY, body)

    assert said in suspicions(answer.encode(), GOLDEN.encode(), MASKED.encode())
    assert suspicions(answer.encode(), answer.encode(), MASKED.encode()) == []


@pytest.mark.parametrize(
    "body",
    [
        SOFTPLUS_BODY,
        '    """Passed through unit_test."""\n    self.eval()\n    model.modules()\n    x.exp = 1\n',
        "    from scipy import signal\n    self.weight = x\n    raise ValueError('expected a number')\n",
    ],
)
def test_honest_code_is_not_suspicious(body: str) -> None:
    answer = GOLDEN.replace(SOFTPLUS_BODY, body)

    assert suspicions(answer.encode(), GOLDEN.encode(), MASKED.encode()) == []


def result(
    model: str = "m", outcome: Outcome = Outcome.PASSED, sample: int = 1, category: str = "c"
) -> Result:
    case = CaseScore("case_1", outcome, "why", 0.5)
    score = Score(outcome, "why", (case,), "recorded cases", "function", ("helper",), ("other",), 1.5, "log")
    return Result("7-Softplus", 1, model, sample, category, "0" * 64, score, {"kind": "local"}, 2)


def test_a_result_is_read_back_as_it_was_written() -> None:
    assert Result.from_json(json.loads(json.dumps(result().to_json()))) == result()


def test_a_line_that_was_cut_off_is_dropped_and_no_other(tmp_path: Path) -> None:
    with store.opened(tmp_path) as results:
        results.add(result("a"))
        results.add(result("b"))
    path = tmp_path / store.RESULTS
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        with store.opened(tmp_path) as results:
            assert len(results.results) == whole[:cut].count(b"\n")
            results.add(result("c"))
        assert [item.model for item in store.load(path)][-1] == "c"


def test_a_line_that_is_no_result_is_an_error(tmp_path: Path) -> None:
    (tmp_path / store.RESULTS).write_text('{"format": "other"}\n')

    with pytest.raises(LmrError, match=r"results\.jsonl:1: not a result"), store.opened(tmp_path):
        pass


def test_a_failure_of_the_infrastructure_is_judged_again(tmp_path: Path) -> None:
    with store.opened(tmp_path) as results:
        results.add(result("a", Outcome.INFRASTRUCTURE))
        results.add(result("b", Outcome.FAILED))
        assert not results.judged(result("a").key, "0" * 64)
        assert results.judged(result("b").key, "0" * 64)
        assert not results.judged(result("b").key, "1" * 64)


def test_a_sandbox_that_fails_is_tried_again() -> None:
    calls = []

    def work() -> str:
        calls.append(1)
        if len(calls) < 3:
            raise SandboxError("gone") if len(calls) == 1 else OSError(28, "No space left on device")
        return "done"

    assert retried(work, Interruption(), 3, backoff=0) == ("done", 3)
    calls.clear()
    found, tries = retried(work, Interruption(), 2, backoff=0)
    assert isinstance(found, SandboxError) and "No space left" in found.message and tries == 2


def test_an_interruption_ends_what_is_under_way_and_begins_no_more() -> None:
    interruption, begun = Interruption(), []

    def work(number: int) -> int:
        begun.append(number)
        if number == 1:
            raise KeyboardInterrupt
        interruption.sleep(60)
        return number

    with pytest.raises(KeyboardInterrupt):
        list(each(range(10), work, 2, interruption))
    assert begun == [0, 1]


def test_results_come_as_they_are_known_and_no_more_than_jobs_at_once() -> None:
    under_way, most = [0], [0]

    def work(number: int) -> int:
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        time.sleep(0.01)
        under_way[0] -= 1
        return number

    assert sorted(each(range(20), work, 3, Interruption())) == list(range(20))
    assert most[0] <= 3


def test_the_estimate_counts_only_what_this_run_judged() -> None:
    pace = Pace(10)
    pace.skip()
    assert pace.seconds_left is None and pace.done == 1
    pace.step()
    assert pace.seconds_left is not None and pace.seconds_left >= 0


@pytest.mark.parametrize(
    ("passed", "judged", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (0, 0, 0.0, 1.0),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_wilsons_interval(passed: int, judged: int, low: float, high: float) -> None:
    """81 of 263: the example in Newcombe 1998, https://pubmed.ncbi.nlm.nih.gov/9595616/."""
    found = wilson(passed, judged)

    assert found == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 500), st.integers(0, 500))
def test_the_interval_holds_the_share(passed: int, more: int) -> None:
    low, high = wilson(passed, passed + more)

    assert 0 <= low <= high <= 1
    if passed + more:
        assert low <= passed / (passed + more) <= high


def test_what_could_not_be_judged_is_apart() -> None:
    outcomes = [*Outcome, Outcome.PASSED]
    rows = summary(result("m", outcome, number) for number, outcome in enumerate(outcomes))

    assert [(row.category, row.judged, row.passed, row.infrastructure) for row in rows] == [
        ("c", 6, 2, 1),
        ("all", 6, 2, 1),
    ]


def test_a_run_that_fills_the_disk_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "before").write_bytes(bytes(1 << 20))
    by_size, by_number = DiskWatch(1 << 20, 100), DiskWatch(1 << 30, 2)
    assert not by_size.is_full(tmp_path) and not by_number.is_full(tmp_path)
    time.sleep(0.05)
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    assert not by_size.is_full(tmp_path) and by_number.is_full(tmp_path)
    time.sleep(0.05)
    (tmp_path / "a" / "b" / "after").write_bytes(bytes(1 << 21))
    assert by_size.is_full(tmp_path)
