"""Containers that are left alone, and engines and images that go away."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lmr_author.errors import SandboxError
from lmr_author.sandbox import owner
from lmr_author.sandbox.base import Command
from lmr_author.sandbox.docker import DockerSandbox
from lmr_author.sandbox.docker_engine import OWNER_LABEL, connect
from tests.sandbox.building import write

pytestmark = pytest.mark.docker


def test_orphaned_container_ends_by_itself(context: Path, tag: str) -> None:
    script = (
        "import sys; from pathlib import Path; from lmr_author.sandbox.docker import DockerSandbox\n"
        "from lmr_author.sandbox.base import Command, Limits\n"
        "box = DockerSandbox(Path(sys.argv[1]), tag=sys.argv[2], build_args={})\n"
        "box.prepare(); print('ready', flush=True)\n"
        "box.run(Command(('python', '-c', 'import time; time.sleep(3600)'), limits=Limits(seconds=1)))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(context), tag], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        owned = f"label={OWNER_LABEL}"

        def running() -> list[str]:
            lines = subprocess.check_output(
                ["docker", "ps", "--filter", owned, "--format", "{{.ID}} {{.Labels}}"], text=True
            ).splitlines()
            return [line for line in lines if f"{OWNER_LABEL}={process.pid}." in line]

        while not running():
            time.sleep(0.02)
        process.kill()
        process.wait()
        deadline = time.monotonic() + 30
        while running() and time.monotonic() < deadline:
            time.sleep(0.2)
        assert running() == []
    with DockerSandbox(context, tag=tag, build_args={}) as following:
        following.prepare()


def test_closing_removes_containers_and_output_is_not_stored_by_the_engine(context: Path, tag: str) -> None:
    client = connect()
    mine: dict[str, Any] = {"label": f"{OWNER_LABEL}={owner.me()}"}
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
        image = sandbox.prepare()["image"]
        (held,) = client.containers.list(all=True, filters={**mine, "ancestor": image})
        left = client.containers.create(image, ["true"], labels=held.labels)
        with ThreadPoolExecutor(1) as pool:
            run = pool.submit(sandbox.run, Command(("sleep", "2")))
            while not (running := client.containers.list(filters={**mine, "ancestor": image})):
                assert not run.done()
            assert running[0].attrs["HostConfig"]["LogConfig"]["Type"] == "none"
    remaining = {each.id for each in client.containers.list(all=True, sparse=True, filters=mine)}
    assert not {left.id, held.id} & remaining
    client.close()


def test_image_removed_meanwhile_is_not_the_programs_fault(context: Path, tag: str, base_image: str) -> None:
    write(context, base_image, "RUN date +%N > /stamp")
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
        sandbox.prepare()
        subprocess.check_call(["docker", "rmi", "-f", tag], stdout=subprocess.DEVNULL)
        with pytest.raises(SandboxError, match="image is gone"):
            sandbox.run(Command(("python", "-c", "pass")))
