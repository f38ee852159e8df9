"""The unit test that is generated from a recording: short, standalone, and able to fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.probe.harness import PROBE, Repository
from tests.probe.scenarios import SCRIPT, make

GENERATED = '''\
"""Unit test 1 of 1-Small: ``{qualname}`` in ``{goal_file}``, from recorded calls. Made by lmr-author."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lmr_probe import replay  # noqa: E402

TARGET = replay.Target(HERE.parent, "{goal_file}", "{qualname}", module={module!r}, sys_path={sys_path!r})
CHECKERS = {{
    "000001": {{"value": {{"kind": "allclose", "rtol": 1e-06, "atol": 1e-08}}}},
    "000002": {{"value": {{"kind": "allclose", "rtol": 1e-06, "atol": 1e-08}}}},
}}


def test_recorded_calls():
    replay.run(TARGET, HERE / "recordings" / "1", CHECKERS, log=HERE / "logs" / "unit_test_1.log")


if __name__ == "__main__":
    sys.exit(replay.main(test_recorded_calls))
'''

GOAL = """\
from .helper import double


class Meter:
    def __init__(self):
        self.total = 0.0

    def add(self, x):
        '''Add.'''
        self.total += double(x)
        return self.total
"""

DRIVER = "from pkg.goal import Meter\nm = Meter()\nm.add(1.5)\nm.add(2)\n"


def generate(repository: Repository) -> Path:
    """Lay the test out in the repository as testgen does."""
    folder = repository.root / "unit_test"
    shutil.copytree(repository.out / "calls", folder / "recordings" / "1")
    shutil.copytree(PROBE, folder / "lmr_probe", ignore=shutil.ignore_patterns("__pycache__"))
    test = folder / "unit_test_1.py"
    test.write_text(
        GENERATED.format(
            qualname=repository.qualname,
            goal_file=repository.goal_file,
            module=repository.summary["module"],
            sys_path=repository.summary["sys_path"],
        )
    )
    return test


def run(repository: Repository, *command: str) -> tuple[int, str, str]:
    """Exit code, the log's text, and the output of ``python command`` from the repository's root."""
    log = repository.root / "unit_test" / "logs" / "unit_test_1.log"
    if log.is_file():
        log.unlink()
    environment = {"PYTHONPATH": str(repository.root), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, *command], cwd=repository.root, env=environment, capture_output=True, timeout=120
    )
    output = done.stdout.decode() + done.stderr.decode()
    return done.returncode, log.read_text() if log.is_file() else "", output


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = make(tmp_path, "Meter.add", GOAL, DRIVER)
    made.record("driver.py")
    generate(made)
    return made


@pytest.mark.parametrize(
    "command", [("unit_test/unit_test_1.py",), ("-m", "pytest", "-q", "unit_test/unit_test_1.py")]
)
def test_it_passes_and_fails(repository: Repository, command: tuple[str, ...]) -> None:
    code, log, output = run(repository, *command)
    assert (code, log) == (0, "Passed: Meter.add (2 recorded calls)\n"), output
    goal = repository.root / "pkg" / "goal.py"
    for wrong, reason in {
        GOAL.replace(
            "self.total += double(x)\n        return self.total", "raise NotImplementedError"
        ): "NotImplementedError",
        GOAL.replace("double(x)", "x"): "value: expected 3.0, got 1.5",
        GOAL.replace("return self.total", "return None"): "value: expected 3.0, got None",
        GOAL.replace("return self.total", "total = self.total; self.total = 0.0; return total"): "self.total",
        "import missing_module\n" + GOAL: "No module named 'missing_module'",
        "def nothing():\n    pass\n": "no function Meter.add",
    }.items():
        goal.write_text(wrong)
        code, log, output = run(repository, *command)
        assert code == 1, output
        assert log.startswith("Failed: Meter.add (") and "Passed" not in log
        assert reason in output
    assert not list((repository.root / "unit_test").rglob("*.pyc")) or command[0] == "-m"
    assert "goal" not in {path.name.partition(".")[0] for path in repository.root.rglob("*.pyc")}


def test_it_prints_where_the_target_is_from(repository: Repository) -> None:
    _, _, output = run(repository, "unit_test/unit_test_1.py")
    assert f"target: Meter.add in {repository.root}/pkg/goal.py" in output


def test_no_cases_is_no_pass(repository: Repository) -> None:
    test = repository.root / "unit_test" / "unit_test_1.py"
    text = test.read_text()
    start, end = text.index("CHECKERS"), text.index("def test")
    test.write_text(text[:start] + "CHECKERS = {}\n\n\n" + text[end:])
    code, log, output = run(repository, "unit_test/unit_test_1.py")
    assert code == 1 and "no recorded cases" in output and log.startswith("Failed")


def test_two_tests_of_one_file_in_one_process(repository: Repository) -> None:
    folder = repository.root / "unit_test"
    text = (folder / "unit_test_1.py").read_text()
    (folder / "unit_test_2.py").write_text(text.replace("unit_test_1.log", "unit_test_2.log"))
    code, _, output = run(
        repository, "-m", "pytest", "-q", "unit_test/unit_test_1.py", "unit_test/unit_test_2.py"
    )
    assert code == 0, output
    assert "2 passed" in output


def test_it_can_itself_be_watched_by_the_recorder(repository: Repository, tmp_path: Path) -> None:
    """As evaluation does, to see that the test enters the target."""
    watched = Repository(repository.root, repository.goal_file, repository.qualname)
    shutil.rmtree(watched.out)
    done = watched.record("unit_test/unit_test_1.py", pool=1)
    assert done.returncode == 0, done.stderr.decode()
    assert watched.summary["calls"] == 2
    assert watched.missed() == set()


def test_a_read_only_tree_passes_without_a_log(repository: Repository) -> None:
    folder = repository.root / "unit_test"
    (folder / "logs").mkdir(exist_ok=True)
    (folder / "logs").rmdir()
    (folder / "logs").write_text("a file in the way")
    code, _, output = run(repository, "unit_test/unit_test_1.py")
    assert code == 0 and "no log was written" in output


def test_a_script_as_the_goal(tmp_path: Path) -> None:
    made = make(
        tmp_path,
        "scale",
        SCRIPT.replace("    scale(Config(2), 3)\n", "    scale(Config(2), 3)\n" * 2),
        "",
        "tools/train.py",
    )
    made.record("tools/train.py")
    generate(made)
    code, log, output = run(made, "unit_test/unit_test_1.py")
    assert code == 0 and log.startswith("Passed"), output
