"""``lmr-author env lock`` as a user starts it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from lmr_author.runtime.environment import lock as locking
from lmr_author.runtime.environment.lock_file import LockOptions
from tests.cli.program import Ended, refuse, succeed
from tests.servers import Release, package_index
from tests.support import make_task

INDEX = {
    "loss": [Release("1.0", "2022-01-01", ("maths",)), Release("2.0", "2024-01-01", ("maths",))],
    "maths": [Release("1.0", "2022-01-01"), Release("1.5", "2022-06-01"), Release("2.0", "2024-01-01")],
    "picky": [Release("1.0", "2022-01-01", ("maths==1.0",))],
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables that let uv ask an index, once, and keep what it said in a folder of these tests."""
    folder = tmp_path_factory.mktemp("uv-cache")
    return {"UV_OFFLINE": "0", "LMR_AUTHOR_CACHE": str(folder), "UV_HTTP_RETRIES": "0"}


@pytest.fixture(scope="module")
def index(cache: dict[str, str]) -> Iterator[dict[str, str]]:
    """Variables that make uv ask a small index with upload dates, and nothing else."""
    with package_index(INDEX) as address:
        yield {**cache, "UV_DEFAULT_INDEX": address}


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task whose repository was committed at the end of 2022."""
    made = make_task(tmp_path)
    (made.root / "small-repo/requirements.txt").write_text("torch==2.0.1\nloss\nmaths>=1\n")
    made.provenance_path.parent.mkdir(exist_ok=True)
    made.provenance_path.write_text(json.dumps({"repository": {"commit_date": "2022-12-31T00:00:00Z"}}))
    made.lock.unlink()
    return made


def pins(text: str) -> list[str]:
    """A lock's lines without its comments."""
    return [line for line in text.splitlines() if not line.startswith("#")]


def lock(task: Task, index: dict[str, str], *arguments: str) -> Ended:
    """``env lock`` of a task, which must succeed."""
    return succeed("env", "lock", *arguments, cwd=task.root, env=index)


def test_a_lock_holds_the_versions_of_the_commits_day_and_names_where_each_need_was_read(
    task: Task, index: dict[str, str]
) -> None:
    done = lock(task, index)
    assert pins(task.lock.read_text()) == ["loss==1.0", "maths==1.5"]
    for fact in ("torch==2.0.1 (requirements.txt:1)", "maths>=1 (requirements.txt:3)", "as of 2022-12-31"):
        assert fact in done.out
    assert "pinned as of 2022-12-31" in done.err
    assert f"wrote {task.lock}" in done.err and f"wrote {task.dockerfile}" in done.err
    assert "pytorch/pytorch:2.0.1" in done.out and "pytorch/pytorch:2.0.1" in task.dockerfile.read_text()
    assert lock(task, index).err.count("unchanged") == 2
    lock(task, index, "--date", "2024-06-01")
    assert pins(task.lock.read_text()) == ["loss==2.0", "maths==2.0"]


def test_a_conflict_names_what_conflicts_and_changes_nothing_by_itself(
    task: Task, index: dict[str, str]
) -> None:
    (task.root / "small-repo/requirements.txt").write_text("picky==1.0\nmaths==1.5\n")
    error, hint = refuse(3, "env", "lock", "--date", "2023-01-01", cwd=task.root, env=index)
    assert "maths==1.5 (requirements.txt:2)" in error and "picky==1.0 (requirements.txt:1)" in error
    command = re.search("`lmr-author (env lock .* --date 2023-01-01)`", hint)
    assert command and not task.lock.exists()
    done = succeed(*shlex.split(command[1]), cwd=task.root, env=index)
    assert "changed: maths in place of maths==1.5 (requirements.txt:2)" in done.err
    assert "# CHANGED: maths in place of maths==1.5" in task.lock.read_text()
    assert pins(task.lock.read_text()) == ["maths==1.0", "picky==1.0"]


def test_only_the_goal_files_imports_are_locked(
    task: Task, index: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    error, hint = refuse(2, "env", "lock", "--only-goal", cwd=task.root, env=index)
    assert "no goal file" in error and "mask a function" in hint
    repository = task.root / "small-repo"
    (repository / "requirements.txt").write_text("picky==1.0\nloss\nmaths==1.0\n")
    code = (repository / "pkg/losses.py").read_text()
    (repository / "pkg/losses.py").write_text(f"import loss\n{code}")
    for name, value in index.items():
        monkeypatch.setenv(name, value)
    before = LockOptions(only_goal=True, goals=("pkg/losses.py",), force=True)
    made = locking.lock(task, before).lock.text
    assert pins(made) == ["loss==1.0", "maths==1.0"], "a recipe locks before it masks"
    category = ("--category", "Evaluation Metrics")
    succeed("mask", "pkg/losses.py::hinge", *category, "--no-input", cwd=task.root)
    lock(task, index, "--only-goal")
    assert pins(task.lock.read_text()) == ["loss==1.0", "maths==1.0"]
    assert "# CHANGED: only what the goal files import" in task.lock.read_text()
    lock(task, index, "--only-goal", "--with", "maths")
    assert pins(task.lock.read_text()) == ["loss==1.0", "maths==1.5"], "--with replaces the repository's pin"
    assert "# CHANGED: maths in place of maths==1.0 (requirements.txt:3)" in task.lock.read_text()


def test_an_edited_file_is_not_overwritten(task: Task, index: dict[str, str]) -> None:
    lock(task, index, "--force")
    task.dockerfile.write_text(task.dockerfile.read_text() + "# mine\n")
    mine = task.dockerfile.read_text()
    assert "kept the edited Dockerfile" in lock(task, index, "--with", "picky").err
    assert task.dockerfile.read_text() == mine and "picky==1.0" in pins(task.lock.read_text())
    error, hint = refuse(3, "env", "lock", "--base-image", "me/base:1", cwd=task.root, env=index)
    assert "another base image" in error and "write me/base:1 into it" in hint and "--force" in hint
    task.lock.write_text(task.lock.read_text() + "# mine\n")
    assert "--force" in refuse(3, "env", "lock", cwd=task.root, env=index)[1]
    locked = task.lock.read_text()
    lock(task, index, "--force")
    assert (task.authoring / "removed/Dockerfile").read_text() == mine
    assert (task.authoring / "removed/requirements.lock").read_text() == locked
    assert "# mine" not in task.lock.read_text() + task.dockerfile.read_text()


def test_without_an_answer_there_is_no_lock(task: Task, index: dict[str, str]) -> None:
    error, hint = refuse(
        3, "env", "lock", cwd=task.root, env={**index, "UV_DEFAULT_INDEX": "http://127.0.0.1:9/"}
    )
    assert "does not answer" in error and "UV_OFFLINE" in hint
    nowhere = {**index, "LMR_AUTHOR_CACHE": str(task.root.parent / "empty-cache")}
    error, hint = refuse(3, "env", "lock", cwd=task.root, env={**nowhere, "UV_OFFLINE": "1"})
    assert "cache" in error and "with a network" in hint


def test_no_python_files_at_all(task: Task) -> None:
    shutil.rmtree(task.root / "small-repo")
    (task.root / "small-repo").mkdir()
    assert "there are no Python files" in succeed("env", "lock", cwd=task.root).out


def test_a_lock_for_another_python_than_the_repositorys_says_so(task: Task, index: dict[str, str]) -> None:
    (task.root / "small-repo/environment.yml").write_text("dependencies: [python=3.12]\n")
    asked = "the repository asks for Python ==3.12.* (environment.yml:1),"
    own = ("--force", "--base-image", "me/base:1", "--python-version")
    done = lock(task, index, *own, "3.11")
    assert f"{asked} but the lock is for 3.11" in " ".join(done.out.split())
    assert f"# {asked} and this is for 3.11\n" in task.lock.read_text()
    assert asked not in lock(task, index, *own, "3.12").out + task.lock.read_text()


def test_requirements_are_added_and_left_out(task: Task, index: dict[str, str]) -> None:
    requirements = ("--with", "loss", "--with", "picky", "--with", "Loss>1")
    lock(task, index, *requirements, "--date", "2024-06-01")
    text = task.lock.read_text()
    assert pins(text) == ["loss==2.0", "maths==1.0", "picky==1.0"]
    assert "# CHANGED: Loss>1 in place of loss (requirements.txt:2)" in text
    (task.root / "small-repo/requirements.txt").write_text("picky==1.0\nloss\n")
    lock(task, index, "--without", "Maths", "--without", "loss")
    assert pins(task.lock.read_text()) == ["picky==1.0"]
    refuse(2, "env", "lock", "--with", "torch==2.1", cwd=task.root, env=index)
    for address in ("https://x.example/a.whl", "git+https://x.example/a", "a @ git+https://x.example/a"):
        _, hint = refuse(2, "env", "lock", "--with", address, cwd=task.root, env=index)
        assert "lmr-author env local --with 'NAME @ git+https://…'" in hint
    error, hint = refuse(2, "env", "lock", "--without", "los", cwd=task.root, env=index)
    assert "requires no such package" in error and "did you mean loss" in hint
