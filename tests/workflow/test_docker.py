"""The whole pipeline in the task's own image."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lmr_author.model import GateResult, GateStatus
from lmr_author.sandbox.docker_engine import connect, leftovers
from lmr_author.workflow.demo import DemoHooks, demo
from lmr_author.workflow.evaluate import EvaluateOptions, evaluate

BASE = "lmr-author/base:bookworm"
pytestmark = pytest.mark.docker


def ignore(_: object) -> None:
    """Nothing is shown."""


@pytest.fixture(scope="module")
def base() -> str:
    """The stand-in base image; made by scripts/make-base-image when it is missing."""
    if subprocess.run(["docker", "image", "inspect", BASE], capture_output=True).returncode != 0:
        script = Path(__file__).parents[2] / "scripts" / "make-base-image"
        subprocess.run([str(script), "--with", "numpy", "--tag", BASE], check=True)
    return BASE


def test_the_demo_holds_in_docker_and_a_broken_dockerfile_does_not(tmp_path: Path, base: str) -> None:
    gates: list[GateResult] = []
    result = demo(tmp_path / "demo", "docker", base, DemoHooks(ignore, ignore, ignore, gates.append))
    assert [(gate.gate, gate.message) for gate in gates if gate.status is not GateStatus.PASSED] == []
    assert result.evaluation.sandbox["kind"] == "docker"
    assert result.findings == ()
    assert leftovers(connect()) == []

    task = result.task
    task.dockerfile.write_text(task.dockerfile.read_text() + "\nRUN no-such-program --at all\n")
    broken = evaluate(task, EvaluateOptions("docker", base_image=base), ignore, ignore)
    assert broken.gates[0].gate == "build" and broken.gates[0].status is GateStatus.FAILED
    assert "no-such-program" in broken.gates[0].message
    assert {gate.status for gate in broken.gates[1:]} == {GateStatus.SKIPPED}
    assert not broken.passed
    assert leftovers(connect()) == []
