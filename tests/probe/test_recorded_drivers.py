# ruff: noqa: E501 (samples of source code and tables of cases read better unbroken)
"""Drivers behave as ever while they are recorded: exit codes, tracebacks, forks, generators, kills."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.probe.harness import PROBE
from tests.probe.scenarios import make


def test_a_target_that_is_never_called(tmp_path: Path) -> None:
    repository = make(tmp_path, "f", "def f(x):\n    return x\n", "import pkg.helper\n")
    done = repository.record("driver.py")
    assert done.returncode == 0
    assert repository.calls == []
    assert repository.summary["calls"] == 0
    assert repository.summary["imported"] == ["driver.py", "pkg/__init__.py", "pkg/helper.py"]
    assert repository.summary["blocks"] == {"0": 2}


@pytest.mark.parametrize("command", [["driver.py"], ["-m", "pkg.run"]], ids=["script", "module"])
def test_a_traceback_begins_as_pythons_and_has_all_of_its_places(tmp_path: Path, command: list[str]) -> None:
    goal = "def f(x):\n    return 1 / x\n"
    repository = make(tmp_path, "f", goal, "from pkg.goal import f\nf(0)\n")
    repository.write({"pkg/run.py": "from pkg.goal import f\n\n\nf(0)\n"})

    def places(said: bytes) -> list[tuple[Path, str, str]]:
        found = re.findall(r'File "([^"]+)", line (\d+), in (\S+)', said.decode())
        return [(repository.root / path, line, name) for path, line, name in found]

    plain = subprocess.run([sys.executable, *command], cwd=repository.root, capture_output=True, timeout=60)
    wanted, shown = places(plain.stderr)[-2:], places(repository.record(*command).stderr)
    assert shown[0] == wanted[0]
    assert [place for place in shown if place[0].parent != PROBE] == wanted


def test_forked_children_do_not_record(tmp_path: Path) -> None:
    driver = (
        "import os\nfrom pkg.goal import f\nf(1)\nchild = os.fork()\nif child == 0:\n    f(2)\n    raise SystemExit(0)\n"
        "os.waitpid(child, 0)\nf(3)\n"
    )
    repository = make(tmp_path, "f", "def f(x):\n    return x\n", driver)
    assert repository.record("driver.py").returncode == 0
    assert repository.summary["calls"] == 2
    assert [repository.value(call) for call in repository.calls] == [1, 3]


SENDING = {
    "a generator": ("def", "g = count(3)\nnext(g)\nassert {call} == 5\nlist(count(2))\n", "g.send(5)"),
    "a generator, an exception": (
        "def",
        "g = count(3)\nnext(g)\nassert {call} == 5\nlist(count(2))\n",
        "g.throw(KeyError)",
    ),
}


@pytest.mark.parametrize("kind", SENDING)
def test_what_is_sent_into_a_generator_arrives_and_its_call_is_refused(tmp_path: Path, kind: str) -> None:
    head, driver, call = SENDING[kind]
    goal = (
        f"{head} count(n):\n    try:\n        x = yield n\n    except KeyError:\n        x = 5\n    yield x\n"
    )
    repository = make(tmp_path, "count", goal, "from pkg.goal import count\n" + driver.format(call=call))
    done = repository.record("driver.py")
    assert done.returncode == 0, done.stderr.decode()
    assert repository.calls == ["000002"]
    (refused,) = repository.summary["not_stored"]
    assert (refused["kind"], refused["count"]) == ("unstorable", 1)
    assert "values are sent into the generator" in refused["reason"]
    repository.replay().assert_same()


def test_code_on_the_command_line(tmp_path: Path) -> None:
    repository = make(tmp_path, "f", "def f(x):\n    return x\n", "")
    code = "import sys\nfrom pkg.goal import f\nclass Mine: pass\nf(sys.argv)\nf(Mine())"
    assert repository.record("-c", code, "a").returncode == 0
    assert repository.value("000001") == ["-c", "a"]
    assert repository.calls == ["000001"], "a class of the command line cannot be found again"


def test_a_killed_recording_keeps_its_complete_calls(tmp_path: Path) -> None:
    driver = "import os, signal\nfrom pkg.goal import f\nf(1)\nf(2)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    repository = make(tmp_path, "f", "def f(x):\n    return x\n", driver)
    done = repository.record("driver.py")
    assert done.returncode == -9
    assert repository.calls == ["000001", "000002"]
    assert repository.summary["module"] == "pkg.goal"
    repository.replay().assert_same()
