"""The pre-commit hook and the workflow of docs/continuous-validation.md, as far as they run without a network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import example as example_task
from tests.checks import cases
from tests.cli.program import ROOT, lmr_forked

PAGE = (ROOT / "docs" / "continuous-validation.md").read_text("utf-8")
BLOCKS = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with a good task, and one whose Dockerfile has an unquoted version."""
    example_task.write(tmp_path / "tasks", 2)
    cases.named("LMR203/torch-2-5-unquoted").apply(example_task.write(tmp_path / "tasks"))
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

    done = lmr_forked(*arguments, *changed, cwd=checkout)
    assert done.code == 1 and "1 task" in done.out
    done = lmr_forked(*arguments, f"tasks/{good}/margin-ranking/README.md", cwd=checkout)
    assert done.code == 0


def _steps() -> list[dict[str, Any]]:
    (workflow,) = [block for block in BLOCKS if "jobs" in block]
    (job,) = workflow["jobs"].values()
    steps: list[dict[str, Any]] = job["steps"]
    return steps


def test_the_commands_of_the_workflow_do_what_it_says(checkout: Path) -> None:
    commands = {step["name"]: step for step in _steps() if "name" in step}
    remarks = commands["Annotate the lines of the pull request"]

    done = lmr_forked(*remarks["run"].split()[1:], cwd=checkout)
    assert done.code == 1
    assert re.match(r"::error file=tasks/[^,]+/Dockerfile,line=8,", done.out)
