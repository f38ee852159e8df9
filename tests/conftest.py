"""What tests share: skipping what this machine lacks (a failure when LMR_REQUIRE_ALL is set), and a task."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from functools import cache

import pytest

REQUIRE_ALL = bool(os.environ.get("LMR_REQUIRE_ALL"))


@cache
def _has_docker() -> bool:
    command = shutil.which("docker")
    return (
        bool(command) and subprocess.run([command, "info"], capture_output=True, timeout=30).returncode == 0
    )


@cache
def _has_bubblewrap() -> bool:
    command = shutil.which("bwrap")
    if not command:
        return False
    trial = [command, "--ro-bind", "/", "/", "--unshare-all", "true"]
    return subprocess.run(trial, capture_output=True, timeout=30).returncode == 0


@cache
def _has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None


NEEDS = {"docker": _has_docker, "bwrap": _has_bubblewrap, "torch": _has_torch}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose need is not met here; in CI, where everything has to be there, fail it."""
    for name, available in NEEDS.items():
        if item.get_closest_marker(name) is not None and not available():
            message = f"needs {name}, which is not available here"
            if REQUIRE_ALL:
                pytest.fail(message)
            pytest.skip(message)
