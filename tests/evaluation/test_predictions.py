"""Models' answers as they are read: names, folders, patches."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lmr_author.core.task import Task
from lmr_author.proof.evaluation.candidates import predictions
from lmr_author.proof.evaluation.candidates.answer import Invalid
from lmr_author.proof.evaluation.candidates.predictions import MAX_FILES
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
    assert all(item.tree is not None and item.tree.name == "scores-repo" for item in found)


def test_what_an_agent_changed(task: Task, tmp_path: Path) -> None:
    repository = task.root / "scores-repo"
    tree = tmp_path / "tree"
    shutil.copytree(repository, tree)
    (tree / "new.py").write_text("x = 1\n")
    (tree / "run.log").write_text("noise")
    (tree / "outside.py").symlink_to("/etc/passwd")

    assert changed(task, tree=tree) == {"new.py": b"x = 1\n"}


def changed(task: Task, **given: Any) -> dict[str, bytes]:
    item = predictions.Prediction("7-Softplus", 1, "m", "here", **given)
    return predictions.changed_files(item, task.root / "scores-repo", "scores/smooth.py")


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


def test_only_so_many_files_of_an_agent_are_taken(task: Task, tmp_path: Path) -> None:
    for number in range(MAX_FILES + 1):
        (tmp_path / f"m{number}.py").write_text("x = 1\n")
    assert len(changed(task, tree=tmp_path)) == MAX_FILES


@pytest.mark.parametrize(("old", "new"), [("a/", "b/"), ("a/scores-repo/", "b/scores-repo/"), ("", "")])
@pytest.mark.parametrize(
    ("count", "blank"), [(8, " "), (6, ""), (5, " ")], ids=["exact", "stripped", "wrong"]
)
def test_a_patch_applies_from_where_it_was_made_even_miscounted(
    old: str, new: str, count: int, blank: str, task: Task
) -> None:
    found = changed(task, patch=DIFF.format(old=old, new=new, count=count, blank=blank))

    assert found == {"scores/smooth.py": MASKED.replace("raise NotImplementedError", "return x").encode()}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no patch",
        "--- a/scores/smooth.py\n+++ b/scores/smooth.py\n@@ -1 +1 @@\n-not there\n+y\n",
        "--- a/../../../etc/passwd.py\n+++ b/../../../etc/passwd.py\n@@ -1 +1 @@\n-root\n+y\n",
    ],
)
def test_a_patch_that_does_not_apply_is_invalid(text: str, task: Task) -> None:
    with pytest.raises(Invalid):
        changed(task, patch=text)


def test_a_patch_cannot_leave_its_folder(task: Task, tmp_path: Path) -> None:
    text = DIFF.format(old="a/", new="b/", count=8, blank=" ") + (
        "diff --git a/link.py b/link.py\nnew file mode 120000\n--- /dev/null\n+++ b/link.py\n@@ -0,0 +1 @@\n"
        f"+{tmp_path}/victim\n\\ No newline at end of file\n"
    )
    (tmp_path / "victim").write_text("whole")

    assert set(changed(task, patch=text)) == {"scores/smooth.py"}
    assert (tmp_path / "victim").read_text() == "whole"
