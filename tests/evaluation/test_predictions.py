"""Models' answers as they are read: names, folders, patches."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lmr_author.errors import LmrError
from lmr_author.evaluation.candidates import predictions
from lmr_author.evaluation.candidates.answer import Invalid
from lmr_author.evaluation.candidates.predictions import MAX_FILES, patched
from lmr_author.task import Task
from tests.evaluation.foreign import foreign_task
from tests.evaluation.made import MASKED


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return foreign_task(tmp_path / "tasks")


def read(task: Task, *lines: dict[str, object]) -> list[predictions.Prediction]:
    path = task.root.parent / "p.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return list(predictions.read(path, {task.name: task.load()}).items)


@pytest.mark.parametrize(
    "name", ["7-Softplus", "7-softplus", 7, "7", "7-Softplus__1", "7-Softplus#1", "7-Softplus_1"]
)
def test_a_task_is_named_in_many_ways(name: object, task: Task) -> None:
    (found,) = read(task, {"task": name, "model": "m", "code": "x"})

    assert (found.task, found.index, found.sample) == ("7-Softplus", 1, 1)


@pytest.mark.parametrize("name", [7, "7-SOFTPLUS"])
def test_what_may_be_for_one_of_two_tasks_is_for_none(name: object, task: Task) -> None:
    path = task.root.parent / "p.jsonl"
    path.write_text(json.dumps({"task": name, "model": "m", "code": "x"}))
    both = {"7-Softplus": task.load(), "7-softplus": task.load()}

    with pytest.raises(LmrError, match="7-Softplus or 7-softplus"):
        predictions.read(path, both)


def test_samples_are_numbered_for_each_model(task: Task) -> None:
    found = read(task, *({"task": 7, "model": model, "code": "x"} for model in "abab"))

    assert [(item.model, item.sample) for item in found] == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]


def test_an_agents_folders_name_the_model(task: Task, tmp_path: Path) -> None:
    for place in ("one/7-Softplus", "two/run-3/7-Softplus", "7-Softplus"):
        shutil.copytree(task.root, tmp_path / "runs" / place)

    found = predictions.read(tmp_path / "runs", {task.name: task.load()}).items

    assert sorted(item.model for item in found) == ["one", "runs", "two/run-3"]
    assert all(item.tree is not None and item.tree.name == "scores-repo" for item in found)


def test_a_tasks_folder_is_known_by_its_goal_file_too(task: Task, tmp_path: Path) -> None:
    for place in ("one/7-Softplus", "two/7-Softplus"):
        shutil.copytree(task.root, tmp_path / "runs" / place)
        (tmp_path / "runs" / place / "info.json").unlink()
    (tmp_path / "runs/two/7-Softplus/scores-repo/scores/smooth.py").unlink()

    found = predictions.read(tmp_path / "runs", {task.name: task.load()}).items

    assert [item.model for item in found] == ["one"]


def test_what_an_agent_changed(task: Task, tmp_path: Path) -> None:
    repository = task.root / "scores-repo"
    tree = tmp_path / "tree"
    shutil.copytree(repository, tree)
    (tree / "new.py").write_text("x = 1\n")
    (tree / "run.log").write_text("noise")
    (tree / "outside.py").symlink_to("/etc/passwd")

    assert of_tree(tree, repository) == {"new.py": b"x = 1\n"}


def of_tree(tree: Path, repository: Path) -> dict[str, bytes]:
    item = predictions.Prediction("7-Softplus", 1, "m", "here", tree=tree)
    return predictions.changed_files(item, repository, "scores/smooth.py")


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


def test_only_so_many_files_of_an_agent_are_taken(task: Task, tmp_path: Path) -> None:
    head = "".join(f" {line}\n" for line in MASKED.splitlines()[:3])
    made = f"--- a/scores/smooth.py\n+++ b/scores/smooth.py\n@@ -1,3 +1,4 @@\n+x = 1\n{head}" + "".join(
        f"--- /dev/null\n+++ b/m{number}.py\n@@ -0,0 +1 @@\n+x = 1\n" for number in range(MAX_FILES + 1)
    )
    for number in range(MAX_FILES + 1):
        (tmp_path / f"m{number}.py").write_text("x = 1\n")
    assert len(of_tree(tmp_path, task.root / "scores-repo")) == MAX_FILES
    assert len(patched(made, task.root / "scores-repo")) == MAX_FILES


@pytest.mark.parametrize(("old", "new"), [("a/", "b/"), ("a/scores-repo/", "b/scores-repo/"), ("", "")])
def test_a_patch_applies_from_where_it_was_made(old: str, new: str, task: Task) -> None:
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
def test_a_patch_that_does_not_apply_is_invalid(text: str, task: Task) -> None:
    with pytest.raises(Invalid):
        patched(text, task.root / "scores-repo")


def test_a_patch_cannot_leave_its_folder(task: Task, tmp_path: Path) -> None:
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
