"""The whole pipeline in the task's own image."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.core.task import GateStatus, Task
from lmr_author.runtime.environment.where import Where
from lmr_author.runtime.sandbox import image_tag
from lmr_author.runtime.sandbox.docker_engine import connect
from tests.pipeline import only_hinge, run_gates
from tests.support import base_image, make_task, remove_image

BASE = "lmr-author/base:bookworm"
pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def base() -> str:
    """The stand-in base image."""
    return base_image(BASE)


def test_an_interrupted_evaluation_leaves_no_container(tmp_path: Path, base: str) -> None:
    """Ctrl-C while the golden runs in its container: exit code 130, and nothing of ours is left."""
    task = make_task(tmp_path)
    (task.root / "small-repo/pkg/losses.py").write_text(
        "import time\n\ndef hinge(x):\n    time.sleep(60)\n    return x\n"
    )
    # An image of its own: other tests run containers of the base at the same time.
    task.dockerfile.write_text(f"FROM {base}\nLABEL test={uuid.uuid4()}\n")
    mask(task, MaskOptions(("pkg/losses.py::hinge",)), task.root)
    (task.root / "small-repo/unit_test/unit_test_1.py").write_text(
        "from pkg.losses import hinge\nassert hinge(1) == 1\n"
    )
    command = [sys.executable, "-m", "lmr_author", "evaluate", str(task.root), "--sandbox", "docker"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    running = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        client = connect()
        deadline = time.monotonic() + 60
        while not any("unit_test_1.py" in str(item) for item in _commands(client, task)):
            assert time.monotonic() < deadline and running.poll() is None
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130, said
    assert b"interrupted" in said and b"Traceback" not in said
    assert left_of(task) == []
    client.images.remove(image_tag(task.name, task.root))
    assert not task.evaluation_path.exists()
    remove_image(task)


def left_of(task: Task) -> list[Any]:
    """Containers of a task's image; those of other runs on this machine are none of ours."""
    found: list[Any] = connect().api.containers(
        all=True, filters={"ancestor": image_tag(task.name, task.root)}
    )
    return found


def _commands(client: Any, task: Task) -> list[str]:
    wanted = {"label": "org.lmr-author", "ancestor": image_tag(task.name, task.root)}
    return [item.attrs["Args"] for item in client.containers.list(filters=wanted)]


def test_a_broken_dockerfile_is_a_failed_build(tmp_path: Path, base: str) -> None:
    """A task that holds in its image is made in ``tests/recipes/test_make_in_docker.py``."""
    task = only_hinge(tmp_path)
    task.dockerfile.write_text(f"FROM {base}\nRUN no-such-program --at all\n")
    broken = run_gates(task, where=Where("docker"))
    assert broken.gates[0].gate == "build" and broken.gates[0].status is GateStatus.FAILED
    assert "no-such-program" in broken.gates[0].message
    assert {gate.status for gate in broken.gates[1:]} == {GateStatus.SKIPPED}
    assert not broken.passed
    assert left_of(task) == []
    remove_image(task)
