"""The search over a task: what is looked into, histories and compiled files."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from lmr_author.core import resources
from lmr_author.core.task import Severity, Task
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.leaks import Leak, is_generated
from lmr_author.proof.leaks.tree import histories, scan
from lmr_author.proof.validation.run import validate
from tests import example
from tests.example import BODY, GOLDEN, MASKED, REPOSITORY, compiled
from tests.support import write_files


def _task(folder: Path, files: dict[str, bytes]) -> Task:
    task = example.write(folder)
    write_files(task.root / REPOSITORY, files)
    return task


def _found(task: Task) -> dict[str, Leak]:
    view = TaskContents(task)
    return {leak.path: leak for leak in (*histories(view), *scan(view).leaks)}


def test_every_place_says_whether_it_is_sure_generated_and_maskable(tmp_path: Path) -> None:
    task = _task(
        tmp_path,
        {
            "legacy/old.py": GOLDEN.encode(),
            "build/lib/ranking/losses.py": GOLDEN.encode(),
            "ranking/.ipynb_checkpoints/losses-checkpoint.py": GOLDEN.encode(),
            "__pycache__/losses.cpython-311.pyc": compiled(GOLDEN)(),
            "notes.md": f"```python\n{BODY}```\n".encode(),
        },
    )

    found = _found(task)

    assert {path: (leak.kind, leak.sure, leak.generated) for path, leak in found.items()} == {
        "legacy/old.py": ("code", True, False),
        "build/lib/ranking/losses.py": ("code", True, True),
        "ranking/.ipynb_checkpoints/losses-checkpoint.py": ("code", True, True),
        "__pycache__/losses.cpython-311.pyc": ("compiled", True, True),
        "notes.md": ("text", True, False),
    }
    assert found["legacy/old.py"].node == "legacy/old.py::pairwise_loss"
    assert found["notes.md"].node == ""


def test_what_the_agent_is_meant_to_read_and_recorded_values_are_not_searched(tmp_path: Path) -> None:
    task = _task(
        tmp_path,
        {
            "paper.json": json.dumps({"1": GOLDEN}).encode(),
            "unit_test/recordings/1/case_1/inputs.json": json.dumps({"text": GOLDEN}).encode(),
            "weights.bin": GOLDEN.encode(),
        },
    )

    assert _found(task) == {}


def test_nothing_outside_of_the_task_is_read(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "old.py").write_text(GOLDEN)
    task = _task(tmp_path / "tasks", {})
    os.symlink(tmp_path / "outside", task.root / REPOSITORY / "link")
    os.symlink(tmp_path / "outside" / "old.py", task.root / REPOSITORY / "old.py")
    os.symlink(".", task.root / REPOSITORY / "loop")

    assert _found(task) == {}


def test_histories_of_every_form_are_found(tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    origin.mkdir()
    git = ["git", "-C", str(origin), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    (origin / "losses.py").write_text(GOLDEN)
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"], ["gc", "-q"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    task = _task(tmp_path / "tasks", {"third_party/lib/.git": b"gitdir: ../../.git/modules/lib\n"})
    repository = task.root / REPOSITORY
    subprocess.run(["git", "clone", "-q", "--bare", str(origin), str(repository / "old.git")], check=True)
    subprocess.run(
        [*git, "bundle", "create", str(repository / "all.bundle"), "HEAD"], check=True, capture_output=True
    )
    (origin / ".git").rename(repository / ".git")

    found = _found(task)

    assert {path: (leak.kind, leak.sure) for path, leak in found.items()} == {
        ".git": ("history", True),
        "old.git": ("history", True),
        "all.bundle": ("history", True),
        "third_party/lib/.git": ("history", False),
    }
    codes = {(one.code, one.severity) for one in validate([task]).findings if one.code == "LMR402"}
    assert codes == {("LMR402", Severity.ERROR), ("LMR402", Severity.WARNING)}


def test_a_compiled_copy_under_another_name_is_known(tmp_path: Path) -> None:
    renamed = compiled(GOLDEN.replace("def pairwise_loss", "def other_name"))()
    other = compiled(MASKED.replace("def pairwise_loss", "def other_name"))()
    task = _task(tmp_path, {"a.pyc": renamed, "b.pyc": other})

    assert list(_found(task)) == ["a.pyc"]


GENERATED = (
    *(
        "build/lib/pkg/losses.py",
        "dist/x-1.0.tar.gz",
        "pkg.egg-info/SOURCES.txt",
        "docs/_build/_modules/pkg.html",
    ),
    *("venv/lib/python3.11/site-packages/pkg/x.py", "pkg/x.py~", ".x.py.swp", "x.pyc"),
)


def test_what_counts_as_generated() -> None:
    assert [path for path in GENERATED if not is_generated(path)] == []
    assert not any(map(is_generated, ("pkg/losses.py", "build/losses.py", "docs/_modules/pkg.html")))


def test_a_look_alike_is_no_error_and_says_how_like_it_is(tmp_path: Path) -> None:
    other = "".join(BODY.splitlines(keepends=True)[:11]) + "    return sorted(penalties)[: ordered + 1]\n"
    task = _task(
        tmp_path, {"ranking/other.py": f"def other_loss(scores, labels, margin=1.0):\n{other}".encode()}
    )

    (finding,) = validate([task]).findings

    assert (finding.code, finding.pointer) == ("LMR403", "L1")
    assert finding.severity in (Severity.NOTE, Severity.WARNING)
    assert finding.message.startswith("in other_loss: a look-alike of pairwise_loss, ")
    assert "% the same" in finding.message
    assert "accept" in finding.hint


def test_the_goal_files_comments_are_reported_once(tmp_path: Path) -> None:
    text = MASKED + "\n\n" + "".join(f"# {line}\n" for line in BODY.splitlines())
    task = _task(tmp_path, {"ranking/losses.py": text.encode()})

    assert [one.code for one in validate([task]).findings if one.code.startswith("LMR4")] == ["LMR404"]


@pytest.mark.parametrize(("there", "leaks"), [(MASKED, False), (GOLDEN, True)])
def test_a_look_alike_in_the_source_makes_no_leak_of_its_compiled_file(
    tmp_path: Path, there: str, leaks: bool
) -> None:
    alike = GOLDEN[GOLDEN.index("def pairwise_loss") : GOLDEN.index("class ListLoss")]
    alike = "\n\n" + alike.replace("def pairwise_loss", "def listwise_loss")
    task = _task(
        tmp_path,
        {
            "ranking/losses.py": (MASKED + alike).encode(),
            "ranking/__pycache__/losses.cpython-311.pyc": compiled(there + alike)(),
        },
    )
    golden = task.root / "golden_files" / "losses_golden.py"
    golden.write_text(GOLDEN + alike)

    found = _found(task)

    assert "ranking/losses.py" in found
    assert ("ranking/__pycache__/losses.cpython-311.pyc" in found) is leaks


def test_the_support_file_is_trusted_by_its_digest_not_by_its_name(tmp_path: Path) -> None:
    text = resources.support_file()
    changed = f"{text}\n\n{GOLDEN}"
    task = _task(tmp_path, {"unit_test/lmr_support.py": text.encode(), "lmr_support.py": changed.encode()})
    view = TaskContents(task)

    assert view.is_support(view.repository / "unit_test/lmr_support.py")
    assert not view.is_support(view.repository / "lmr_support.py")
    assert list(_found(task)) == ["lmr_support.py"]
