"""``lmr-author env build`` as a user starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests.cli.program import (
    ENVIRONMENT,
    PROGRAM,
    Ended,
    assert_no_traceback,
    lmr_forked,
    validate_with,
    wait_for,
)
from tests.support import make_task, remove_image

BASE = os.environ.get("LMR_TEST_BASE_IMAGE", "lmr-author/base:bookworm")


@pytest.fixture
def task(tmp_path: Path) -> Iterator[Task]:
    """A task of its own name with a small Dockerfile."""
    made = make_task(tmp_path, f"1-eb{uuid.uuid4().hex[:8]}")
    write(made)
    yield made
    remove_image(made)


def write(task: Task, *more: str, base: str = BASE) -> None:
    """Write its Dockerfile: what new-task writes, in short."""
    lines = [
        f"ARG BASE_IMAGE={base}",
        "FROM ${BASE_IMAGE}",
        "ARG DIR=small-repo",
        *more,
        "COPY ${DIR} /workspace/${DIR}",
        "WORKDIR /workspace",
    ]
    task.dockerfile.write_text("\n".join(lines) + "\n")


def build(task: Task, *arguments: str, **env: str) -> Ended:
    """``env build`` of a task, as JSON."""
    return lmr_forked("env", "build", "--format", "json", *arguments, cwd=task.root, env=env)


@pytest.mark.docker
def test_a_build_is_recorded_and_the_package_imported(task: Task) -> None:
    ended = build(task)
    assert ended.code == 0, ended.err
    stored = json.loads(task.environment_path.read_text())
    validate_with("environment", stored)
    assert ended.json()["environment"] == stored
    assert stored["python"].startswith("3.") and stored["packages"]["numpy"] == stored["numpy"]
    assert [(item["file"], item["ok"]) for item in stored["imports"]] == [("pkg/__init__.py", True)]
    assert "Step 1/" in (task.logs_folder / "build.log").read_text()
    assert "step 1/" in ended.err


@pytest.mark.docker
def test_a_broken_instruction_is_named_with_its_line(task: Task) -> None:
    write(task, "RUN true", "RUN cmake --version")
    ended = lmr_forked("env", "build", cwd=task.root)
    assert ended.code == 1
    assert "line 5 of the Dockerfile: RUN cmake --version" in ended.out
    assert "cause: the image has no cmake" in ended.out
    assert "--no-install-recommends cmake`" in " ".join(ended.out.split())
    assert not task.environment_path.exists()


@pytest.mark.docker
def test_another_base_image_has_to_be_given_again(task: Task) -> None:
    write(task, base="lmr-author/no-such-base:none")
    said = lmr_forked("env", "build", "--base-image", BASE, cwd=task.root)
    assert said.code == 0, said.err
    assert f"give --base-image {BASE} to `record` and `evaluate`" in " ".join(said.out.split())


@pytest.mark.docker
def test_a_base_image_that_cannot_be_had_is_no_fault_of_the_task(task: Task) -> None:
    write(task, base="lmr-author/no-such-base:none")
    ended = build(task)
    assert ended.code == 3 and "lmr-author/no-such-base:none" in ended.err
    assert "--base-image" in ended.err and "make-base-image" in ended.err


@pytest.mark.docker
def test_ctrl_c_stops_the_build(task: Task) -> None:
    word = uuid.uuid4().hex
    write(task, f"RUN echo begun-{word} && sleep 300")
    running = subprocess.Popen(
        [*PROGRAM, "env", "build"], cwd=task.root, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    log = task.logs_folder / "build.log"
    deadline = time.monotonic() + 60
    while not (log.is_file() and f"\nbegun-{word}" in log.read_text()):
        assert time.monotonic() < deadline and running.poll() is None
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert_no_traceback(out + err)
    assert running.returncode == 130
    # The engine ends the container by itself, a moment after the connection is closed.
    listed = ["docker", "ps", "-a", "--no-trunc", "--format", "{{.Command}}"]
    wait_for(lambda: word not in subprocess.check_output(listed, text=True))
    assert not task.environment_path.exists()


def test_no_engine_and_a_socket_without_rights(task: Task, tmp_path: Path) -> None:
    ended = build(task, DOCKER_HOST=f"unix://{tmp_path}/no.sock")
    assert (ended.code, ended.out) == (3, "")
    assert "not installed or not running" in ended.err and "hint:" in ended.err


def test_nothing_to_build_with(task: Task) -> None:
    task.dockerfile.unlink()
    ended = build(task)
    assert ended.code == 3
    assert "has no Dockerfile" in ended.err and "env lock" in ended.err
    write(task)
    ended = build(task, "--file", "absent.py")
    assert ended.code == 2 and "absent.py" in ended.err
