"""The pre-commit hook and the workflow of docs/continuous-validation.md, as far as they run without a network."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from lmr_author.checks import example_task
from lmr_author.checks.registry import by_code
from tests.cli.program import ROOT, lmr

PAGE = (ROOT / "docs" / "continuous-validation.md").read_text("utf-8")
BLOCKS = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with a good task, and one whose Dockerfile has an unquoted version."""
    example_task.write(tmp_path / "tasks", 2)
    example_task.apply(example_task.write(tmp_path / "tasks"), by_code()["LMR203"].failing[0])
    return tmp_path


def test_the_hook_is_the_one_that_the_page_names() -> None:
    (configured,) = BLOCKS[0]["repos"][0]["hooks"]

    assert configured["id"] == HOOK["id"]
    assert HOOK["language"] == "python" and HOOK["require_serial"] is True


def test_the_hook_takes_files_of_tasks_only() -> None:
    for path in ("tasks/1-DPO/info.json", "1-DPO/repo/a.py"):
        assert re.search(HOOK["files"], path)
    for path in ("README.md", "tasks/README.md", "2024-notes.md", "src/v1-x.py"):
        assert not re.search(HOOK["files"], path)


def test_the_hook_validates_the_tasks_of_changed_files_once(checkout: Path) -> None:
    program, *arguments = HOOK["entry"].split()
    assert program == "lmr-author"
    bad, good = sorted(path.name for path in (checkout / "tasks").iterdir())
    changed = [f"tasks/{bad}/Dockerfile", f"tasks/{bad}/info.json"]
    arguments += BLOCKS[0]["repos"][0]["hooks"][0]["args"]

    done = lmr(*arguments, *changed, cwd=checkout)
    assert done.code == 1 and "1 task checked" in done.out
    done = lmr(*arguments, f"tasks/{good}/margin-ranking/README.md", cwd=checkout)
    assert done.code == 0


def _steps() -> list[dict[str, Any]]:
    (workflow,) = [block for block in BLOCKS if "jobs" in block]
    (job,) = workflow["jobs"].values()
    steps: list[dict[str, Any]] = job["steps"]
    return steps


def test_the_commands_of_the_workflow_do_what_it_says(checkout: Path) -> None:
    commands = {step["name"]: step for step in _steps() if "name" in step}
    remarks = commands["Remarks at the lines of the pull request"]
    results = commands["Results under Security, Code scanning"]

    done = lmr(*remarks["run"].split()[1:], cwd=checkout, env=remarks["env"])
    assert done.code == 1
    assert re.match(r"::error file=tasks/[^,]+/Dockerfile,line=8,", done.out)
    assert (checkout / ".lmr-cache" / "validation.sqlite3").is_file()

    command, _, rest = results["run"].partition(" > ")
    done = lmr(*command.split()[1:], cwd=checkout, env=results["env"])
    assert done.code == 1 and rest.endswith("|| test $? -eq 1")
    assert json.loads(done.out)["version"] == "2.1.0"
    (upload,) = [step for step in _steps() if "upload-sarif" in step.get("uses", "")]
    assert upload["with"]["sarif_file"] == rest.split()[0]


def _by_content(cache: Path) -> set[str]:
    """The keys of what is kept by content; what is kept by place has a second line, the state of the task."""
    with closing(sqlite3.connect(cache / "validation.sqlite3")) as database:
        return {
            key for key, record in database.execute("SELECT key, record FROM records") if b"\n" not in record
        }


def test_the_cache_of_the_workflow_holds_in_another_checkout(checkout: Path, tmp_path: Path) -> None:
    env = {"LMR_AUTHOR_CACHE": ".lmr-cache"}
    first = lmr("validate", "tasks", "--format", "json", cwd=checkout, env=env)
    other = tmp_path / "other"
    shutil.copytree(checkout / "tasks", other / "tasks")
    shutil.copytree(checkout / ".lmr-cache", other / ".lmr-cache")
    known = _by_content(other / ".lmr-cache")

    again = lmr("validate", "tasks", "--format", "json", cwd=other, env=env)

    assert again.json()["tasks"][0]["findings"] == first.json()["tasks"][0]["findings"]
    assert known and _by_content(other / ".lmr-cache") == known
