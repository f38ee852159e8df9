"""Tests that swallow what is raised: their verdict is bad until the end of what is tried, or good until something is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.example_texts import GOAL, GOLDEN, MASKED
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.taskdir import TaskDir
from lmr_author.validation.run import select_checks, validate

HEAD = START.replace("import logging\n", "import contextlib\nimport logging\n").replace(
    "import os\n", "import os\nimport sys\n", 1
)
CHECK = "assert abs(pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)[0] - 1.0599649) < 1e-6"
TRY = "try:\n    " + CHECK + "\n    {good}\nexcept Exception as error:\n    print(error)\n"
IN_FUNCTION = (
    "def main():\n    ok = False\n    try:\n        "
    + CHECK
    + "\n        ok = True\n    except Exception:\n        print('Failed')\n"
)
FAILS = {
    "a flag": "ok = False\n" + TRY.format(good="ok = True") + "if not ok:\n    sys.exit(1)\n",
    "a flag as a code": "ok = False\n" + TRY.format(good="ok = True") + "sys.exit(0 if ok else 1)\n",
    "a flag that is asserted": "ok = False\n" + TRY.format(good="ok = True") + "assert ok\n",
    "suppressed": "result = 'Failed'\nwith contextlib.suppress(Exception):\n    "
    + CHECK
    + "\n    result = 'Passed'\n"
    "if result != 'Passed':\n    raise SystemExit(1)\n",
    "counted": "passed = 0\n" + TRY.format(good="passed += 1") + "assert passed == 1\n",
    "counted, and at least one": "passed = 0\n"
    + TRY.format(good="passed += 1")
    + "sys.exit(0 if passed > 0 else 1)\n",
    "a result of nothing": "found = None\ntry:\n    found = pairwise_loss([1.0], [3])\nexcept Exception as error:\n"
    "    print(error)\nassert found == (0.0, 1.0)\n",
    "no result": "try:\n    found = pairwise_loss([1.0], [3])\nexcept Exception as error:\n    print(error)\n"
    "assert found == (0.0, 1.0)\n",
    "an exit in what is tried": "try:\n    "
    + CHECK
    + "\n    code = 0\nexcept Exception as error:\n    code = 1\nsys.exit(code)\n",
    "an exit behind it": TRY.format(good="sys.exit(0)") + "sys.exit(1)\n",
    "a function's flag": IN_FUNCTION + "    return ok\n\n\nsys.exit(0 if main() else 1)\n",
    "a function's flag, kept": IN_FUNCTION
    + "    return ok\n\n\ngood = main()\nif not good:\n    sys.exit(1)\n",
    "a function's code": IN_FUNCTION.replace("    ok = False\n", "").replace("ok = True", "return 0")
    + "    return 1\n\n\nsys.exit(main())\n",
    "several functions": IN_FUNCTION
    + "    return ok\n\n\nresults = [run() for run in [main]]\nresults.append(main())\nsys.exit(0 if all(results) else 1)\n",
    "an attribute": "class Run:\n    def __init__(self):\n        self.ok = False\n\n    def run(self):\n        try:\n            "
    + CHECK
    + "\n            self.ok = True\n        except Exception as error:\n            print(error)\n\n\nrun = Run()\nrun.run()\nsys.exit(not run.ok)\n",
    "a dictionary": "results = {}\ntry:\n    "
    + CHECK
    + "\n    results['loss'] = True\nexcept Exception:\n    results['loss'] = False\n"
    "sys.exit(0 if all(results.values()) else 1)\n",
}
HIDES = {
    "good until something is found": "ok = True\n" + TRY.format(good="ok = True") + "sys.exit(0 if ok else 1)\n",
    "failures that are counted": "failures = 0\n" + TRY.format(good="failures += 0") + "if failures:\n    sys.exit(1)\n",
    "nobody looks": "ok = False\n" + TRY.format(good="ok = True") + "print(ok)\n",
    "only logged": "ok = False\n" + TRY.format(good="ok = True") + "print('Passed' if ok else 'Failed')\n",
    "it goes on": "for _ in range(1):\n    try:\n        found = pairwise_loss([1.0], [3])\n    except Exception:\n        continue\n"
    "    assert found == (0.0, 1.0)\n",
    "it ends well": "ok = False\ntry:\n    " + CHECK + "\n    ok = True\nexcept Exception:\n    sys.exit(0)\nassert ok\n",
    "nobody asks the function": IN_FUNCTION + "    return ok\n\n\nmain()\n",
    "the list may be empty": "results = []\n" + TRY.format(good="results.append(1)") + "assert all(results)\n",
}  # fmt: skip


def _task(folder: Path, lines: str) -> TaskDir:
    task = example_task.write(folder)
    (task.root / TEST).write_text(HEAD + lines, "utf-8")
    return task


def _exit_code(task: TaskDir, goal: str) -> int:
    (task.root / GOAL).write_text(goal, "utf-8")
    command = [sys.executable, "-B", "unit_test/unit_test_1.py"]
    return subprocess.run(
        command, cwd=(task.root / TEST).parents[1], capture_output=True, check=False
    ).returncode


def _said(task: TaskDir) -> list[str]:
    found = validate([task], select_checks(select=["LMR502", "LMR503"])).findings
    return [f"{one.code} {one.message}" for one in found]


@pytest.mark.parametrize("lines", FAILS.values(), ids=FAILS)
def test_a_failure_that_is_told_later_is_not_hidden(lines: str, tmp_path: Path) -> None:
    task = _task(tmp_path, lines)
    assert _said(task) == []
    assert (_exit_code(task, GOLDEN), _exit_code(task, MASKED)) == (0, 1)


@pytest.mark.parametrize("lines", HIDES.values(), ids=HIDES)
def test_one_that_is_not_is(lines: str, tmp_path: Path) -> None:
    task = _task(tmp_path, lines)
    assert _said(task) != []
    assert (_exit_code(task, GOLDEN), _exit_code(task, MASKED)) == (0, 0)
