# ruff: noqa: E501, ISC004 (samples of source code and tables of cases read better unbroken)
"""Record a real driver, replay in a fresh process, and get the same: one scenario for each kind of target."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lmr_author.probe.codec import encode
from lmr_author.probe.pool import Kept, Pool
from tests.probe.harness import PROBE, Repository
from tests.probe.scenarios import SCENARIOS, SCRIPT, make


def value(repository: Repository, call: str) -> Any:
    """The recorded ``value`` node of a call."""
    return dict(repository.load(call, "expected").tree["v"])["value"]


@pytest.mark.parametrize("name", SCENARIOS)
def test_recorded_calls_replay_to_the_same_outcome(tmp_path: Path, name: str) -> None:
    qualname, goal, driver = SCENARIOS[name]
    repository = make(tmp_path, qualname, goal, driver)
    repository.write({"pkg/user.py": "from .goal import *\n\ndef use(x):\n    return core(x)\n"})
    done = repository.record("driver.py")
    assert (done.returncode, done.stderr) == (0, b"")
    assert repository.calls, repository.summary
    assert repository.summary["module"] == "pkg.goal"
    repository.replay().assert_same()


def test_what_is_recorded_of_a_call(tmp_path: Path) -> None:
    qualname, goal, driver = SCENARIOS["in-place mutation"]
    repository = make(tmp_path, qualname, goal, driver)
    repository.record("driver.py")
    inputs = dict(repository.load("000001", "inputs").tree["v"])
    assert inputs["items"] == {"$": "list", "v": [1]}, "taken before the call changed it"
    assert repository.meta("000001")["mutated"] == ["items", "table"]
    expected = dict(repository.load("000001", "expected").tree["v"])
    assert expected["value"] == 2
    assert expected["items"]["v"] == [1, 2]
    assert repository.meta("000001")["summary"] == {"items": "list of 1", "table": "dict of 0", "x": "int"}
    assert repository.summary["calls"] == 2
    assert repository.missed() == set()


def test_one_object_under_two_names(tmp_path: Path) -> None:
    goal = "def f(a, b):\n    a.append(1)\n    return len(b)\n"
    repository = make(tmp_path, "f", goal, "from pkg.goal import f\nx = [0]\nf(x, x)\n")
    repository.record("driver.py")
    assert repository.meta("000001")["summary"] == {"a": "list of 1", "b": "list of 1"}
    assert value(repository, "000001") == 2
    repository.replay().assert_same()


def test_recursion_is_recorded_once(tmp_path: Path) -> None:
    repository = make(tmp_path, *SCENARIOS["recursive"])
    repository.record("driver.py")
    assert repository.summary["calls"] == 2
    assert value(repository, "000001") == 8


def test_a_masked_target_raises_in_the_target(tmp_path: Path) -> None:
    goal = "def f(x):\n    '''Doc.'''\n    return g(x)\n\ndef g(x):\n    return x + 1\n"
    repository = make(tmp_path, "f", goal, "from pkg.goal import f\nf(1)\nf(2)\n")
    repository.record("driver.py")
    masked = "def f(x):\n    '''Doc.'''\n    # implement\n    raise NotImplementedError\n\ndef g(x):\n    return x + 1\n"
    elsewhere = "def f(x):\n    '''Doc.'''\n    return g(x)\n\ndef g(x):\n    raise NotImplementedError\n"
    replayed = repository.replay({"masked": masked, "elsewhere": elsewhere, "golden": None})
    replayed.assert_same("golden")
    for header in replayed.headers("masked").values():
        assert (header["status"], header["entered"]) == ("raised", True)
        assert header["error"]["type"] == "NotImplementedError"
        assert header["error"]["raised_in_target"] is True
        assert "raise NotImplementedError" in header["error"]["traceback"]
        assert header["file"] == "pkg/goal.py"
    for header in replayed.headers("elsewhere").values():
        assert header["error"]["raised_in_target"] is False
    assert replayed.differences("masked")


def test_a_wrong_variant_differs(tmp_path: Path) -> None:
    qualname, goal, driver = SCENARIOS["self changes"]
    repository = make(tmp_path, qualname, goal, driver)
    repository.record("driver.py")
    wrong = {
        "no total": goal.replace("self.total += x", "pass"),
        "copy": goal.replace("return self", "return None"),
        "more": goal.replace("self.total += x", "self.total += x; self.extra = 1"),
    }
    replayed = repository.replay(wrong)
    assert any("value.total" in item for item in replayed.differences("no total"))
    assert any("value: expected a Meter, got None" in item for item in replayed.differences("copy"))
    assert any("value.extra: expected nothing, got 1" in item for item in replayed.differences("more"))


def test_a_function_of_the_main_script(tmp_path: Path) -> None:
    repository = make(tmp_path, "scale", SCRIPT, "", goal_file="tools/train.py")
    done = repository.record("tools/train.py", "--lr", "1")
    assert done.returncode == 5
    assert done.stdout == b"['tools/train.py', '--lr', '1'] __main__ tools/train.py\n"
    assert repository.summary["module"] is None
    repository.replay().assert_same()


def test_a_function_of_a_module_run_by_its_name(tmp_path: Path) -> None:
    goal = "from .helper import double\n" + SCRIPT.replace("from __future__ import annotations\n", "")
    repository = make(tmp_path, "scale", goal.replace("config.k * x", "double(x)"), "")
    done = repository.record("-m", "pkg.goal", "a")
    assert done.returncode == 5, done.stderr
    assert (
        done.stdout
        == f"['{repository.root}/pkg/goal.py', 'a'] __main__ {repository.root}/pkg/goal.py\n".encode()
    )
    assert repository.summary["module"] == "pkg.goal"
    repository.replay().assert_same()


@pytest.mark.parametrize(
    "driver",
    [
        "import importlib.util as u\ns = u.spec_from_file_location('odd.name', 'pkg/goal.py')\n"
        "m = u.module_from_spec(s)\ns.loader.exec_module(m)\nimport sys\nsys.modules['odd.name'] = m\nm.scale(m.Config(2), 3)\n",
        "import runpy\nm = runpy.run_path('pkg/goal.py')\nm['scale'](m['Config'](2), 3)\n",
        "import importlib\nm = importlib.import_module('pkg.goal')\nm.scale(m.Config(2), 3)\n",
    ],
    ids=["spec_from_file_location", "run_path", "import_module"],
)
def test_every_way_of_importing(tmp_path: Path, driver: str) -> None:
    repository = make(tmp_path, "scale", SCRIPT, driver)
    done = repository.record("driver.py")
    assert done.returncode == 0, done.stderr
    assert repository.summary["calls"] == 1
    if "run_path" not in driver:  # its module is gone, so its classes have no name
        repository.replay().assert_same()


def test_a_driver_outside_the_repository(tmp_path: Path) -> None:
    repository = make(tmp_path, "f", "def f(x):\n    return [x]\n", "")
    outside = tmp_path / "elsewhere" / "run.py"
    outside.parent.mkdir()
    outside.write_text(
        "import sys\nsys.path.insert(1, '.')\nfrom pkg.goal import f\nclass Mine:\n    pass\nf(1)\nf(Mine())\n"
    )
    repository.record(str(outside))
    assert repository.calls == ["000001"]
    assert repository.summary["sys_path"] == [""]
    (reason,) = repository.summary["not_stored"]
    assert reason["count"] == 1
    assert reason["reason"].startswith("x is a __main__.Mine: ")
    repository.replay().assert_same()


def test_classes_of_a_guarded_script_in_the_repository(tmp_path: Path) -> None:
    driver = "from pkg.goal import f\nclass Mine:\n    a = 1\nif __name__ == '__main__':\n    f(Mine())\n"
    repository = make(tmp_path, "f", "def f(x):\n    return [x, x.a]\n", driver)
    repository.record("driver.py")
    repository.replay().assert_same()


def test_a_target_that_is_never_called(tmp_path: Path) -> None:
    repository = make(tmp_path, "f", "def f(x):\n    return x\n", "import pkg.helper\n")
    done = repository.record("driver.py")
    assert done.returncode == 0
    assert repository.calls == []
    assert repository.summary["calls"] == 0
    assert repository.summary["imported"] == ["driver.py", "pkg/__init__.py", "pkg/helper.py"]
    assert repository.summary["blocks"] == {"0": 2}


def test_exit_codes_and_tracebacks_are_pythons(tmp_path: Path) -> None:
    repository = make(tmp_path, "f", "def f(x):\n    return 1 / x\n", "from pkg.goal import f\nf(0)\n")
    done = repository.record("driver.py")
    assert done.returncode == 1
    lines = done.stderr.decode().splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "driver.py" in lines[1]
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert repository.meta("000001")["outcome"] == "raised"
    repository.replay().assert_same()


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
    assert [value(repository, call) for call in repository.calls] == [1, 3]


def test_generators_that_run_side_by_side_are_two_calls(tmp_path: Path) -> None:
    goal = SCENARIOS["generator"][1]
    repository = make(tmp_path, "count", goal, "from pkg.goal import count\nlist(zip(count(3), count(3)))\n")
    repository.record("driver.py")
    assert repository.summary["calls"] == 2
    assert all(repository.meta(call)["outcome"] == "returned" for call in repository.calls)


SENDING = {
    "a generator": ("def", "g = count(3)\nnext(g)\nassert {call} == 5\nlist(count(2))\n", "send", "throw"),
    "an async generator": (
        "async def",
        "import asyncio\nasync def main():\n    g = count(3)\n    await g.__anext__()\n    assert await {call} == 5\n"
        "    await g.aclose()\n    assert [item async for item in count(2)] == [2, None]\nasyncio.run(main())\n",
        "asend",
        "athrow",
    ),
}


@pytest.mark.parametrize("kind", SENDING)
@pytest.mark.parametrize("argument", ["5", "KeyError"])
def test_what_is_sent_into_a_generator_arrives_and_its_call_is_refused(
    tmp_path: Path, kind: str, argument: str
) -> None:
    head, driver, send, throw = SENDING[kind]
    goal = (
        f"{head} count(n):\n    try:\n        x = yield n\n    except KeyError:\n        x = 5\n    yield x\n"
    )
    call = f"g.{throw if argument == 'KeyError' else send}({argument})"
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
    assert value(repository, "000001") == {"$": "list", "v": ["-c", "a"]}
    assert repository.calls == ["000001"], "a class of the command line cannot be found again"


def test_a_killed_recording_keeps_its_complete_calls(tmp_path: Path) -> None:
    driver = "import os, signal\nfrom pkg.goal import f\nf(1)\nf(2)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    repository = make(tmp_path, "f", "def f(x):\n    return x\n", driver)
    done = repository.record("driver.py")
    assert done.returncode == -9
    assert repository.calls == ["000001", "000002"]
    assert repository.summary["module"] == "pkg.goal"
    repository.replay().assert_same()


def test_many_calls_are_bounded_and_rare_branches_are_kept(tmp_path: Path) -> None:
    goal = "def f(x):\n    if x == 777:\n        return -1\n    return x if x % 2 else None\n"
    driver = "from pkg.goal import f\nfor x in range(2000):\n    f(x)\nf(777)\nf(777)\n"
    repository = make(tmp_path, "f", goal, driver)
    repository.record("driver.py", pool=6, first=20)
    assert repository.summary["calls"] == 2002
    assert len(repository.calls) <= 6
    assert repository.missed() == set()
    repository.replay().assert_same()


def test_the_driver_sees_its_own_random_numbers(tmp_path: Path) -> None:
    goal = "import random\n\ndef f(x):\n    return x + random.random()\n"
    driver = "import random\nrandom.seed(3)\nfrom pkg.goal import f\nprint([f(k) for k in range(5)], random.random())\n"
    repository = make(tmp_path, "f", goal, driver)
    import subprocess
    import sys

    plain = subprocess.run([sys.executable, "driver.py"], cwd=repository.root, capture_output=True)
    assert repository.record("driver.py").stdout == plain.stdout
    assert repository.meta("000001")["consumed"] == ["python"]
    repository.replay().assert_same()


def test_large_attributes_that_the_code_does_not_name_are_left_out(tmp_path: Path) -> None:
    goal = (
        "class Trainer:\n    def __init__(self):\n        self.data = bytes(3_000_000)\n        self.k = 2\n"
        "        self.handle = open(__file__)\n    def helper(self):\n        return self.k\n"
        "    def step(self, x):\n        return self.helper() * x\n"
    )
    repository = make(tmp_path, "Trainer.step", goal, "from pkg.goal import Trainer\nTrainer().step(4)\n")
    repository.record("driver.py", max_bytes=1_000_000)
    omitted = {item["path"]: item["advice"] for item in repository.meta("000001")["omitted"]}
    assert sorted(omitted) == ["self.data", "self.handle"]
    assert "too large" in omitted["self.data"]
    repository.replay().assert_same()


def test_large_attributes_that_it_names_or_that_are_private_are_not_left_out(tmp_path: Path) -> None:
    for number, name in enumerate(("data", "_data")):
        goal = f"class Trainer:\n    def __init__(self):\n        self.{name} = bytes(3_000_000)\n    def step(self, x):\n        return x, len(self.data if x else b'')\n"
        repository = make(
            tmp_path / str(number), "Trainer.step", goal, "from pkg.goal import Trainer\nTrainer().step(0)\n"
        )
        repository.record("driver.py", max_bytes=1_000_000)
        assert repository.calls == []
        assert (
            repository.summary["too_large"] == f"self.{name}: 3000000 bytes, more than the limit of 1000000"
        )


def test_the_pool_keeps_what_covers_and_what_differs(tmp_path: Path) -> None:
    pool = Pool(str(tmp_path), most=3, max_bytes=1000)
    document = encode({})
    for number, hits, likeness, size in (
        (1, {0, 1}, "a", 10),
        (2, {0, 1}, "a", 5),
        (3, {0, 2}, "a", 900),  # large, and late, but alone on its branch
        (4, {0, 1}, "b", 20),
        (5, {0, 1}, "a", 1),
    ):
        pool.offer(Kept(number, frozenset(hits), likeness, size), document, document, {})
    assert sorted(item.number for item in pool.kept) == [3, 4, 5]
    assert sorted(path.name for path in (tmp_path / "calls").iterdir()) == ["000003", "000004", "000005"]
    assert pool.covered == {0, 1, 2}
    assert not pool.offer(Kept(6, frozenset({0, 1}), "c", 500), document, document, {}), (
        "too large for what it adds"
    )


def test_too_large_and_unstorable_calls_are_counted(tmp_path: Path) -> None:
    goal = "def f(x):\n    return x\n"
    driver = "from pkg.goal import f\nf(bytes(2_000_000))\nf(lambda: 1)\nf(k for k in 'ab')\n"
    repository = make(tmp_path, "f", goal, driver)
    repository.record("driver.py", max_bytes=1_000_000)
    assert repository.calls == []
    assert repository.summary["too_large"].startswith("x: ")
    reasons = [item["reason"] for item in repository.summary["not_stored"]]
    assert any(item.startswith("x is a function: ") for item in reasons)
    assert any(item.startswith("x is a generator: ") for item in reasons)


def test_the_compiled_file_of_the_goal_is_not_used_nor_written(tmp_path: Path) -> None:
    repository = make(tmp_path, "f", "def f(x):\n    return x\n", "from pkg.goal import f\nf(1)\n")
    repository.record("driver.py")
    cached = {path.name.partition(".")[0] for path in repository.root.rglob("*.pyc")}
    assert "goal" not in cached
