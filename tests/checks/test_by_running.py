"""LMR502, 503 and 504 say that a test cannot fail of just those that, when they are run, do not fail."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.example_texts import GOAL, GOLDEN, MASKED, REPOSITORY
from lmr_author.taskdir import TaskDir
from lmr_author.validation.run import select_checks, validate
from tests.checks.written import Writer

WRONG = GOLDEN.replace("return mean_penalty, ordered / len(penalties)", "return 7.25, 0.125")
CHECKS = select_checks(["LMR502", "LMR503", "LMR504", "LMR506"])
WRITTEN = 150


def _exit_code(task: TaskDir, goal: str) -> int:
    (task.root / GOAL).write_text(goal, "utf-8")
    command = [sys.executable, "-B", "unit_test/unit_test_1.py"]
    return subprocess.run(command, cwd=task.root / REPOSITORY, capture_output=True, check=False).returncode


@pytest.mark.parametrize("number", range(WRITTEN))
def test_what_is_said_of_a_test_is_what_running_it_shows(number: int, tmp_path: Path) -> None:
    text = Writer(Random(number)).test()
    task = example_task.write(tmp_path)
    (task.root / REPOSITORY / "unit_test" / "unit_test_1.py").write_text(text, "utf-8")
    (task.root / REPOSITORY / "unit_test" / "expected.json").write_text(json.dumps({"loss": 1.059964857}))

    said = [f"{one.code} {one.message}" for one in validate([task], CHECKS).findings]

    assert _exit_code(task, GOLDEN) == 0, text
    can_fail = _exit_code(task, WRONG) != 0 and _exit_code(task, MASKED) != 0
    assert bool(said) is not can_fail, "\n".join([*said, text])
