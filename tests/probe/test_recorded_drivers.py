"""Drivers behave as ever while they are recorded: exit codes, tracebacks, forks, generators, kills."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.probe.scenarios import make
from tests.support import write_files


def test_a_target_that_is_never_called(tmp_path: Path) -> None:
    repository = make(tmp_path, "f", "def f(x):\n    return x\n", "import pkg.helper\n")
    done = repository.record("driver.py")
    assert done.returncode == 0
    assert repository.calls == []
    assert repository.summary["calls"] == 0
    assert repository.summary["imported"] == ["driver.py", "pkg/__init__.py", "pkg/helper.py"]


@pytest.mark.parametrize(
    ("command", "first"), [(["driver.py"], b'"driver.py"'), (["-m", "pkg.run"], b'/pkg/run.py"')]
)
def test_an_exception_ends_the_command_as_ever(tmp_path: Path, command: list[str], first: bytes) -> None:
    repository = make(tmp_path, "f", "def f(x):\n    return 1 / x\n", "from pkg.goal import f\nf(2)\nf(0)\n")
    repository.write({"pkg/run.py": "from pkg.goal import f\n\nf(2)\nf(0)\n"})
    done = repository.record(*command)
    assert done.returncode == 1 and done.stderr.endswith(b"ZeroDivisionError: division by zero\n")
    assert first in done.stderr.splitlines()[1], "the traceback begins in the command"
    assert [repository.meta(call)["outcome"] for call in repository.calls] == ["returned", "raised"]
    assert repository.summary["calls"] == 2


@pytest.mark.parametrize("sent", ["g.send(5)", "g.throw(KeyError)"])
def test_what_is_sent_into_a_generator_arrives_and_its_call_is_refused(tmp_path: Path, sent: str) -> None:
    goal = "def count(n):\n    try:\n        x = yield n\n    except KeyError:\n        x = 5\n    yield x\n"
    driver = f"from pkg.goal import count\ng = count(3)\nnext(g)\nassert {sent} == 5\nlist(count(2))\n"
    repository = make(tmp_path, "count", goal, driver)
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


def test_a_class_from_a_folder_that_the_driver_added_has_no_name_for_a_test(tmp_path: Path) -> None:
    """As of a model whose code a hub downloads: `transformers_modules` is importable in this run alone."""
    write_files(
        tmp_path / "hub", {"remote_code.py": "class Model:\n    def __init__(self):\n        self.size = 3\n"}
    )
    goal = "def width(model):\n    return model.size\n"
    driver = (
        f"import sys\nfrom types import SimpleNamespace\nsys.path.append({str(tmp_path / 'hub')!r})\n"
        "import remote_code\nfrom pkg.goal import width\nwidth(remote_code.Model())\nwidth(SimpleNamespace(size=2))\n"
    )
    repository = make(tmp_path, "width", goal, driver)
    assert repository.record("driver.py").returncode == 0
    assert len(repository.calls) == 1
    (reason,) = repository.summary["not_stored"]
    assert reason["kind"] == "unstorable" and reason["reason"].startswith("model is a remote_code.Model: ")
    repository.replay().assert_same()
