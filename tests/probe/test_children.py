"""Recording in processes that the command starts, and the drivers that need no command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.probe.driver import main_module, split
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

STARTERS = {
    "a subprocess that imports it": "import subprocess, sys\nsubprocess.run([sys.executable, 'use.py'], check=True)\n",
    "a subprocess whose script it is": (
        "import subprocess, sys\nsubprocess.run([sys.executable, '-O', 'pkg/goal.py', '3'], check=True)\n"
    ),
    "a subprocess that runs it as a module": (
        "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pkg.goal', '3'], check=True)\n"
    ),
    "a shell": "import os, sys\nassert os.system(sys.executable + ' use.py') == 0\n",
    "a subprocess of a subprocess": (
        "import subprocess, sys\n"
        "code = \"import subprocess, sys; subprocess.run([sys.executable, 'pkg/goal.py', '3'], check=True)\"\n"
        "subprocess.run([sys.executable, '-c', code], check=True)\n"
    ),
    "a forked worker": (
        "import multiprocessing\nfrom pkg.goal import scale\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('fork').Pool(1) as pool:\n        assert pool.map(scale, [3]) == [6]\n"
    ),
    "a spawned worker": (
        "import multiprocessing\nfrom pkg.goal import scale\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n        assert pool.map(scale, [3]) == [6]\n"
    ),
}


def repository(tmp_path: Path, qualname: str = "scale") -> Repository:
    made = Repository(tmp_path / "repo", "pkg/goal.py", qualname)
    made.write(
        {"pkg/__init__.py": "", "pkg/goal.py": GOAL, "use.py": "from pkg.goal import scale\nscale(3)\n"}
    )
    return made


@pytest.mark.parametrize("name", STARTERS)
def test_calls_in_other_processes_are_recorded(tmp_path: Path, name: str) -> None:
    made = repository(tmp_path)
    made.write({"driver.py": STARTERS[name]})
    done = made.record("driver.py")
    assert done.returncode == 0, done.stderr.decode()
    assert made.calls == []
    metas = list((made.out / "children").glob("*/calls/*/meta.json"))
    assert [json.loads(path.read_text())["summary"]["x"] for path in metas] == ["int"], done.stderr.decode()
    summaries = [json.loads(path.read_text()) for path in (made.out / "children").glob("*/summary.json")]
    (summary,) = [item for item in summaries if item["calls"]]
    assert summary["module"] in ("pkg.goal", None)
    assert summary["sys_path"][0] in ("", "pkg")


def test_a_worker_that_is_killed_has_kept_every_call(tmp_path: Path) -> None:
    made = repository(tmp_path)
    made.write(
        {
            "driver.py": "import os, signal\nfrom pkg.goal import scale\nchild = os.fork()\nif child == 0:\n"
            "    scale(1)\n    scale(2)\n    scale('x')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
            "assert os.waitpid(child, 0)[1] == signal.SIGKILL\n"
        }
    )
    done = made.record("driver.py")
    assert done.returncode == 0, done.stderr.decode()
    (summary,) = (json.loads(path.read_text()) for path in (made.out / "children").glob("*/summary.json"))
    assert summary["calls"] == 3


def test_a_process_that_does_not_call_the_target_leaves_nothing(tmp_path: Path) -> None:
    made = repository(tmp_path)
    made.write(
        {"driver.py": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import pkg.goal'])\n"}
    )
    made.record("driver.py")
    assert not (made.out / "children").exists()


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
    assert not (made.out / "children").exists()


@pytest.mark.parametrize(
    ("qualname", "examples", "expected"),
    [
        ("scale", ["scale(4)", "value = 2\nscale(value, k=math.floor(3.5))"], 2),
        ("Box.items", ["Box(3).items()"], 1),
        ("later", ["later(random.random())"], 1),
    ],
)
def test_examples(tmp_path: Path, qualname: str, examples: list[str], expected: int) -> None:
    made = repository(tmp_path, qualname)
    request = tmp_path / "examples.json"
    request.write_text(json.dumps({"goal_file": "pkg/goal.py", "examples": examples}))
    done = made.record("-m", "lmr_probe.drivers", "examples", str(request))
    assert done.returncode == 0, done.stderr.decode()
    assert len(made.calls) == expected
    made.replay().assert_same()


def test_a_wrong_example_is_told_and_the_others_are_recorded(tmp_path: Path) -> None:
    made = repository(tmp_path)
    request = tmp_path / "examples.json"
    request.write_text(json.dumps({"goal_file": "pkg/goal.py", "examples": ["scale(nothing)", "scale(1)"]}))
    done = made.record("-m", "lmr_probe.drivers", "examples", str(request))
    assert done.returncode == 1
    assert b"name 'nothing' is not defined" in done.stderr
    assert len(made.calls) == 1


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


@pytest.mark.parametrize(
    ("name", "load", "meant"),
    [
        ("json", True, "json.__main__"),
        ("json", False, "json.__main__"),
        ("json.tool", True, "json.tool"),
        ("xml.etree", True, "xml.etree.__main__"),
        ("xml.etree", False, "xml.etree"),
        ("this", True, "this"),
        ("nothing.of.this.name", True, "nothing.of.this.name"),
    ],
)
def test_what_is_run_by_the_name_of_a_module(name: str, load: bool, meant: str) -> None:
    assert main_module(name, load=load) == meant


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["x.py", "-m", "y"], ([], "script", ["x.py", "-m", "y"])),
        (["-W", "ignore", "-u", "x.py"], (["-W", "ignore", "-u"], "script", ["x.py"])),
        (["-m", "a.b", "c"], ([], "module", ["a.b", "c"])),
        (["-c", "pass"], ([], "code", ["pass"])),
        ([], ([], "", [])),
    ],
)
def test_the_words_after_python(command: list[str], expected: tuple[list[str], str, list[str]]) -> None:
    assert split(command) == expected
