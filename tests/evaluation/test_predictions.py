"""Models' answers as they are read: names, folders, patches."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lmr_author.core import code
from lmr_author.core.task import Target, Task
from lmr_author.proof.evaluation.candidates import predictions
from lmr_author.proof.evaluation.candidates.fitting import FittedAnswer, Slot, fit
from lmr_author.proof.evaluation.candidates.reply import InvalidAnswer
from tests.evaluation.foreign import foreign_task
from tests.evaluation.made import MASKED


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return foreign_task(tmp_path / "tasks")


def read(task: Task, *lines: dict[str, object]) -> list[predictions.Prediction]:
    path = task.root.parent / "p.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return list(predictions.read(path, {task.name: task.load()}).items)


@pytest.mark.parametrize("name", ["7-Softplus", "7-softplus", 7, "7"])
def test_a_task_is_named_by_its_folder_or_number(name: object, task: Task) -> None:
    (found,) = read(task, {"task": name, "model": "m", "code": "x"})
    assert (found.task, found.index, found.sample) == ("7-Softplus", 1, 1)


def test_samples_are_numbered_for_each_model(task: Task) -> None:
    lines = [{"task": 7, "model": model, "code": "x"} for model in "abab"]
    found = read(task, {**lines[0], "sample": 2}, *lines)
    samples = [("a", 2), ("a", 1), ("b", 1), ("a", 3), ("b", 2)]
    assert [(item.model, item.sample) for item in found] == samples


def test_an_agents_folders_name_the_model(task: Task, tmp_path: Path) -> None:
    for place in ("one/7-Softplus", "two/run-3/7-Softplus", "7-Softplus"):
        shutil.copytree(task.root, tmp_path / "runs" / place)
    found = predictions.read(tmp_path / "runs", {task.name: task.load()}).items
    assert sorted(item.model for item in found) == ["one", "runs", "two/run-3"]
    assert {item.code for item in found} == {MASKED}


def test_a_link_of_an_agent_is_not_followed(task: Task, tmp_path: Path) -> None:
    shutil.copytree(task.root, tmp_path / "runs/m/7-Softplus")
    goal = tmp_path / "runs/m/7-Softplus/scores-repo/scores/smooth.py"
    goal.unlink()
    goal.symlink_to("/etc/passwd")
    (found,) = predictions.read(tmp_path / "runs", {task.name: task.load()}).items
    assert found.code == ""


def fitted(patch: str) -> FittedAnswer:
    module = code.Module.parse(MASKED.encode(), "scores/smooth.py")
    return fit(patch, Slot(module, (code.find(module, Target(module.name, "softplus")),)))


DIFF = """\
--- {old}scores/smooth.py
+++ {new}scores/smooth.py
@@ -5,{count} +5,{count} @@ import math
{blank}
 def softplus(x, beta=1.0):
     \"\"\"Smooth positive part.\"\"\"
-    raise NotImplementedError
+    return x
{blank}
{blank}
 class Mean:
"""


@pytest.mark.parametrize(("old", "new"), [("a/", "b/"), ("a/scores-repo/", "b/scores-repo/"), ("", "")])
@pytest.mark.parametrize(
    ("count", "blank"), [(8, " "), (6, ""), (5, " ")], ids=["exact", "stripped", "wrong"]
)
def test_a_patch_applies_from_where_it_was_made_even_miscounted(
    old: str, new: str, count: int, blank: str
) -> None:
    found = fitted(DIFF.format(old=old, new=new, count=count, blank=blank))
    assert found.data.decode() == MASKED.replace("raise NotImplementedError", "return x")


@pytest.mark.parametrize(
    "text",
    [
        "no patch",
        "--- a/scores/smooth.py\n+++ b/scores/smooth.py\n@@ -1 +1 @@\n-not there\n+y\n",
        "--- a/../../../etc/passwd.py\n+++ b/../../../etc/passwd.py\n@@ -1 +1 @@\n-root\n+y\n",
        "--- a/old/smooth.py\n+++ b/old/smooth.py\n@@ -5 +5 @@\n def softplus(x):\n-    pass\n+    return x\n",
    ],
)
def test_a_patch_that_does_not_apply_is_invalid(text: str) -> None:
    with pytest.raises(InvalidAnswer):
        fitted(text)


def test_a_patch_of_other_files_says_so() -> None:
    with pytest.raises(InvalidAnswer, match=r"the answer changes old/smooth.py, not scores/smooth.py"):
        fitted(
            "--- a/old/smooth.py\n+++ b/old/smooth.py\n@@ -5 +5 @@\n def f(x):\n-    pass\n+    return x\n"
        )


def test_a_patch_changes_nothing_but_the_goal_file() -> None:
    text = DIFF.format(old="a/", new="b/", count=8, blank=" ") + (
        "diff --git a/other/smooth.py b/other/smooth.py\n--- a/other/smooth.py\n+++ b/other/smooth.py\n"
        "@@ -1,3 +1,3 @@\n def softplus(x, beta=1.0):\n-    return 1\n+    return 2\n"
    )
    found = fitted(text)
    assert found.data.decode() == MASKED.replace("raise NotImplementedError", "return x")
    assert "changes other/smooth.py" in found.dropped
