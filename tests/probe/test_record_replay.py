# ruff: noqa: E501 (samples of source code and tables of cases read better unbroken)
"""Recorded calls replay to the same outcome, of every kind of target and driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.probe.harness import Repository
from tests.probe.scenarios import SCENARIOS, SCRIPT, make
from tests.probe.test_unit_test import generate, run


def assert_same_again(repository: Repository) -> None:
    """The recorded calls pass when they are replayed, and in the unit test that is written of them."""
    repository.replay().assert_same()
    generate(repository)
    code, log, output = run(repository, "unit_test/unit_test_1.py")
    assert code == 0 and log.startswith("Passed"), output


@pytest.mark.parametrize("name", SCENARIOS)
def test_recorded_calls_give_the_same_outcome_again(tmp_path: Path, name: str) -> None:
    qualname, goal, driver = SCENARIOS[name]
    repository = make(tmp_path, qualname, goal, driver)
    done = repository.record("driver.py")
    assert (done.returncode, done.stderr) == (0, b"")
    assert repository.calls, repository.summary
    assert repository.summary["module"] == "pkg.goal"
    assert_same_again(repository)


def test_what_is_recorded_of_a_call(tmp_path: Path) -> None:
    qualname, goal, driver = SCENARIOS["in-place mutation"]
    repository = make(tmp_path, qualname, goal, driver)
    repository.record("driver.py")
    inputs = repository.load("000001", "inputs").tree
    assert inputs["items"] == [1], "taken before the call changed it"
    assert repository.mutated("000001") == ["items", "table"]
    expected = repository.load("000001", "expected").tree
    assert expected["value"] == 2
    assert expected["items"]["v"] == [1, 2], "one object in two places"
    assert repository.meta("000001")["summary"] == {"items": "list of 1", "table": "dict of 0", "x": "2"}
    assert repository.summary["calls"] == 2
    assert repository.missed() == set()


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
        assert header["file"] == "pkg/goal.py"
    for header in replayed.headers("elsewhere").values():
        assert header["error"]["raised_in_target"] is False
    assert replayed.differences("masked")


def test_a_function_of_the_main_script(tmp_path: Path) -> None:
    twice = SCRIPT.replace("    scale(Config(2), 3)\n", "    scale(Config(2), 3)\n" * 2)
    repository = make(tmp_path, "scale", twice, "", goal_file="tools/train.py")
    done = repository.record("tools/train.py", "--lr", "1")
    assert done.returncode == 5
    assert done.stdout == b"['tools/train.py', '--lr', '1'] __main__ tools/train.py\n"
    assert repository.summary["module"] is None
    assert_same_again(repository)


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
