"""GPUs for containers."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lmr_author.errors import SandboxError, UsageError
from lmr_author.sandbox import open_sandbox
from lmr_author.sandbox.docker import DockerSandbox

BASE_IMAGE = os.environ.get("LMR_TEST_BASE_IMAGE", "lmr-author/base:bookworm")


@pytest.mark.docker
def test_an_engine_without_a_gpu_runtime_is_a_clear_error(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM {BASE_IMAGE}\n")
    tag = f"lmr-author/test-gpus-{os.getpid()}:latest"
    request.addfinalizer(lambda: subprocess.run(["docker", "rmi", "-f", tag], capture_output=True))
    with DockerSandbox(tmp_path, tag=tag, build_args={}, gpus="all") as box:
        if shutil.which("nvidia-container-runtime"):
            assert box.prepare()["sandbox"] == "docker"
            return
        with pytest.raises(SandboxError) as error:
            box.prepare()
    assert "cannot give a container a GPU" in error.value.message
    assert "NVIDIA Container Toolkit" in error.value.hint


@pytest.mark.parametrize(("kind", "gpus"), [("local", "1"), ("docker", "0"), ("docker", "many")])
def test_a_request_that_makes_no_sense_is_refused(kind: str, gpus: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        open_sandbox(kind, context=tmp_path, name="1-A", gpus=gpus)
