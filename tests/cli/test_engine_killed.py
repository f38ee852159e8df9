"""An engine that is killed during a build, in an engine of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import ENVIRONMENT, PROGRAM, assert_no_traceback
from tests.sandbox.engines import Engine, engine
from tests.support import make_task

BASE = os.environ.get("LMR_TEST_BASE_IMAGE", "lmr-author/base:bookworm")
pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(os.geteuid() != 0 or shutil.which("dockerd") is None, reason="needs root and dockerd"),
]


@pytest.fixture(scope="module")
def own() -> Iterator[Engine]:
    """An engine with the base image. Its path is short: that of a socket may have 108 characters."""
    folder = Path(tempfile.mkdtemp(prefix="lmr-engine-"))
    with engine(folder) as made:
        made.load(BASE)
        yield made


def test_an_engine_that_is_killed_during_a_build(own: Engine, tmp_path: Path) -> None:
    task = make_task(tmp_path, "1-killed")
    task.dockerfile.write_text(f"FROM {BASE}\nRUN echo begun-now && sleep 300\n")
    environment = {**ENVIRONMENT, "DOCKER_HOST": own.host}
    running = subprocess.Popen(
        [*PROGRAM, "env", "build"], cwd=task.root, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    log = task.logs_folder / "build.log"
    deadline = time.monotonic() + 60
    while not (log.is_file() and "\nbegun-now" in log.read_text()):
        assert time.monotonic() < deadline and running.poll() is None
        time.sleep(0.1)
    own.stop(signal.SIGKILL)
    own.end_containers()
    out, err = running.communicate(timeout=60)
    assert_no_traceback(out + err)
    assert running.returncode == 3, err
    assert "engine" in err and "hint:" in err

    own.start()
    assert BASE in own.docker("images", "--format", "{{.Repository}}:{{.Tag}}").split()
