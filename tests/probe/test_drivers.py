"""Drivers that need no command, and processes that a command forks off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.evaluation.foreign import PLAIN_PYTHON
from tests.probe.harness import Repository

GOAL = """\
def scale(x, k=2):
    return x * k


class Box:
    def __init__(self, n):
        self.n = n

    def items(self):
        for place in range(self.n):
            yield place


async def later(x):
    return x + 1


if __name__ == "__main__":
    import sys

    scale(int(sys.argv[1]), k=5)
"""


def repository(tmp_path: Path, qualname: str = "scale") -> Repository:
    made = Repository(tmp_path / "repo", "pkg/goal.py", qualname)
    made.write(
        {"pkg/__init__.py": "", "pkg/goal.py": GOAL, "use.py": "from pkg.goal import scale\nscale(3)\n"}
    )
    return made


def test_a_fork_inside_the_target_is_part_of_its_call(tmp_path: Path) -> None:
    made = repository(tmp_path)
    made.write(
        {
            "pkg/goal.py": "import os\n\ndef scale(x):\n    if x:\n        child = os.fork()\n        if child == 0:\n"
            "            scale(0)\n            os._exit(0)\n        os.waitpid(child, 0)\n    return x\n",
            "driver.py": "from pkg.goal import scale\nscale(3)\n",
        }
    )
    made.record("driver.py")
    assert len(made.calls) == 1


def test_calls_in_forked_processes_leave_word_and_nothing_else(tmp_path: Path) -> None:
    made = repository(tmp_path)
    made.write(
        {
            "driver.py": "import multiprocessing, os\nfrom pkg.goal import scale\nscale(1)\nchild = os.fork()\n"
            "if child == 0:\n    scale(2)\n    raise SystemExit(0)\nos.waitpid(child, 0)\n"
            "with multiprocessing.get_context('fork').Pool(1) as pool:\n    assert pool.map(scale, [3]) == [6]\n"
            "scale(4)\n"
        }
    )
    done = made.record("driver.py")
    assert done.returncode == 0, done.stderr.decode()
    assert [made.value(call) for call in made.calls] == [2, 8]
    assert made.summary["calls"] == 2
    assert (made.out / "elsewhere").exists()


@pytest.mark.parametrize(
    ("qualname", "examples", "calls", "error"),
    [
        ("scale", ["scale(np.arange(4))", "value = 2\nscale(value, k=math.floor(3.5))"], 2, b""),
        ("Box.items", ["Box(3).items()"], 1, b""),
        ("later", ["later(random.random())"], 1, b""),
        ("scale", ["scale(nothing)", "scale(1)"], 1, b"name 'nothing' is not defined"),
    ],
)
def test_examples(tmp_path: Path, qualname: str, examples: list[str], calls: int, error: bytes) -> None:
    made = repository(tmp_path, qualname)
    if "np." not in examples[0]:
        made.python = str(PLAIN_PYTHON)  # examples may use PyTorch, where it is installed: it is imported
    request = tmp_path / "examples.json"
    request.write_text(json.dumps({"goal_file": "pkg/goal.py", "examples": examples}))
    done = made.record("-m", "lmr_probe.drivers", "examples", str(request))
    assert (done.returncode, len(made.calls)) == (int(bool(error)), calls), done.stderr.decode()
    assert error in done.stderr
    made.replay().assert_same()


def test_the_repositorys_own_tests(tmp_path: Path) -> None:
    made = repository(tmp_path)
    made.write(
        {
            "tests/test_scale.py": "from pkg.goal import scale\n\ndef test_scale():\n    assert scale(2) == 4\n",
            "tests/test_broken.py": "import a_module_that_is_not_there\n",
            "setup.cfg": "[tool:pytest]\naddopts = --an-option-of-a-plugin-that-is-not-there\n",
        }
    )
    done = made.record("-m", "lmr_probe.drivers", "suite", "tests")
    assert len(made.calls) == 1, done.stdout.decode() + done.stderr.decode()
    made.replay().assert_same()
