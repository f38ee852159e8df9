"""The probe on every Python it has to run on that this machine has, oldest first."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.probe.harness import PROBE, Repository
from tests.probe.scenarios import SCENARIOS, make
from tests.probe.test_unit_test import METER, METER_DRIVER, generate

SOME = ("relative import", "zero-argument super", "generator", "coroutine", "raising", "nested with closure")
"""Scenarios that depend on the Python most; all of them run on the one that runs the tests."""
VERSIONS = ("3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


@cache
def interpreter(version: str) -> str:
    """Path of a working interpreter of that version, "" when there is none."""
    found = shutil.which(f"python{version}")
    if not found:
        return ""
    done = subprocess.run([found, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


@pytest.fixture(params=[version for version in VERSIONS if interpreter(version)])
def python(request: pytest.FixtureRequest) -> str:
    """Each Python that is here; the one that runs the tests is always among them or tested elsewhere."""
    return interpreter(request.param)


def test_scenarios(tmp_path: Path, python: str) -> None:
    for number, name in enumerate(SOME):
        repository = make(tmp_path / str(number), *SCENARIOS[name])
        repository.python = python
        done = repository.record("driver.py")
        assert (done.returncode, done.stderr) == (0, b""), name
        assert repository.calls, name
        repository.replay().assert_same()


def test_the_unit_test(tmp_path: Path, python: str) -> None:
    repository: Repository = make(tmp_path, "Meter.add", METER, METER_DRIVER)
    repository.python = python
    repository.record("driver.py")
    test = generate(repository)
    done = subprocess.run([python, str(test)], cwd=repository.root, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    (repository.root / "pkg" / "goal.py").write_text(METER.replace("double(x)", "x"))
    assert subprocess.run([python, str(test)], cwd=repository.root, capture_output=True).returncode == 1


def test_the_oldest_python_is_a_promise() -> None:
    vermin = Path(sys.executable).with_name("vermin")
    done = subprocess.run([str(vermin), "-t=3.7-", "--no-tips", str(PROBE)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
