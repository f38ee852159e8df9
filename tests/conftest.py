"""What tests need of a machine: skipped where it is missing, failed where LMR_REQUIRE_ALL is set (CI)."""

from __future__ import annotations

import atexit
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import settings
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

CACHE = tempfile.mkdtemp(prefix="lmr-tests-cache-")
"""In place of the user's cache, for this process and those that it starts."""
atexit.register(shutil.rmtree, CACHE, ignore_errors=True)
os.environ["LMR_AUTHOR_CACHE"] = CACHE

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
"""Else hundreds of processes compile the same modules."""

signal.signal(signal.SIGINT, signal.default_int_handler)
"""Started in the background by a shell, tests and what they start would not notice Ctrl-C at all."""

REQUIRE_ALL = bool(os.environ.get("LMR_REQUIRE_ALL"))
if REQUIRE_ALL:
    # CI tries the same examples each time; everybody else tries new ones.
    settings.register_profile("ci", derandomize=True)
    settings.load_profile("ci")


@cache
def _has_docker() -> bool:
    command = shutil.which("docker")
    return command is not None and subprocess.run([command, "info"], capture_output=True).returncode == 0


@cache
def _has_bubblewrap() -> bool:
    command = shutil.which("bwrap")
    if command is None:
        return False
    trial = [command, "--ro-bind", "/", "/", "--unshare-all", "true"]
    return subprocess.run(trial, capture_output=True).returncode == 0


@cache
def _has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None


NEEDS = {"docker": _has_docker, "bwrap": _has_bubblewrap, "torch": _has_torch}


def pytest_configure(config: pytest.Config) -> None:
    """Have pytest-xdist begin the files in the order below, in place of one by their number of tests."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put long files first: at the end no process waits for another.

    Those whose tests ask for a longer time limit are the longest, then those that run sandboxes or PyTorch. The demo
    comes before all: several files need what it leaves, and would wait for it.
    """
    slow = {item.path for item in items if any(item.get_closest_marker(name) for name in NEEDS)}
    patient = {item.path for item in items if item.get_closest_marker("timeout")} & slow
    tests = Counter(item.path for item in items)

    def order(item: pytest.Item) -> tuple[bool | int, ...]:
        is_demo = item.path.name == "test_demo.py"
        return not is_demo, item.path not in patient, item.path not in slow, -tests[item.path]

    items.sort(key=order)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose need is not met here."""
    for name, available in NEEDS.items():
        if item.get_closest_marker(name) is not None and not available():
            pytest.skip(f"needs {name}, which is not available here")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """In CI, where everything has to be there, a skipped test is a failed one."""
    report = yield
    if REQUIRE_ALL and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but LMR_REQUIRE_ALL is set: {report.longrepr}"
    return report


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    """A keyboard: what is sent to it is typed."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe
