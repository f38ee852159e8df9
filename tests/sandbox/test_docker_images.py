"""What builds leave: labels, names, nameless images, half-built ones."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lmr_author.errors import SandboxBuildError, SandboxError
from lmr_author.sandbox.base import Command
from lmr_author.sandbox.docker import DockerSandbox
from tests.sandbox.building import made_from, write

pytestmark = pytest.mark.docker


def test_every_layer_bears_our_label(context: Path, tag: str, base_image: str) -> None:
    """So that what a killed engine leaves of a build can be found, containers too."""
    write(context, base_image, "RUN true\nRUN exit 1")
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox, pytest.raises(SandboxBuildError):
        sandbox.prepare()
    partial = tag.replace(":latest", ":partial")
    form = "{{json .Config.Labels}}"
    labels = json.loads(subprocess.check_output(["docker", "image", "inspect", "-f", form, partial]))
    assert labels["org.lmr-author"] == "1"


def test_rebuild_leaves_no_nameless_image(context: Path, tag: str, base_image: str) -> None:
    images = set()
    for number in range(3):
        write(context, base_image, f"RUN echo {number} > /number\nRUN exit 0")
        with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
            images.add(sandbox.prepare()["image"])
    assert len(images) == 3
    assert made_from(context, "dangling") == []


def test_a_failed_build_that_becomes_another_leaves_no_nameless_image(
    context: Path, tag: str, base_image: str
) -> None:
    for number in range(3):
        write(context, base_image, f"RUN echo {number} > /number\nRUN exit 1")
        with DockerSandbox(context, tag=tag, build_args={}) as sandbox, pytest.raises(SandboxBuildError):
            sandbox.prepare()
        assert made_from(context, "dangling") == []
    write(context, base_image, "RUN echo done > /number")
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
        sandbox.prepare()
    assert made_from(context, "containers", "dangling") == []


def test_an_image_stays_while_a_sandbox_is_open(context: Path, tag: str, base_image: str) -> None:
    """Also when the same task is built anew meanwhile, as with another base image; then it goes."""
    stamp = Command(("cat", "/number"))
    write(context, base_image, "RUN echo one > /number")
    with DockerSandbox(context, tag=tag, build_args={}) as first:
        first.prepare()
        write(context, base_image, "RUN echo two > /number")
        with DockerSandbox(context, tag=tag, build_args={}) as second:
            second.prepare()
            assert (first.run(stamp).stdout, second.run(stamp).stdout) == (b"one\n", b"two\n")
        assert first.run(stamp).stdout == b"one\n"
    assert made_from(context, "containers", "dangling") == []
    with DockerSandbox(context, tag=tag, build_args={}) as following:
        assert following.run(stamp).stdout == b"two\n"


def test_an_image_to_which_somebody_gave_a_name_stays(context: Path, tag: str, base_image: str) -> None:
    own = tag.replace("/test-", "/test-own-")
    write(context, base_image, "RUN echo one > /number")
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
        image = sandbox.prepare()["image"]
    try:
        subprocess.check_call(["docker", "tag", image, own])
        write(context, base_image, "RUN echo two > /number")
        with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
            assert sandbox.prepare()["image"] != image
        form = ["docker", "image", "inspect", "-f", "{{.Id}}", own]
        assert subprocess.check_output(form, text=True).strip() == image
    finally:
        subprocess.run(["docker", "rmi", "-f", own], capture_output=True, check=False)


def test_repaired_build_goes_on_and_drops_the_partial_image(context: Path, tag: str, base_image: str) -> None:
    write(context, base_image, "RUN date +%N > /stamp\nRUN exit 1")
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
        with pytest.raises(SandboxError):
            sandbox.prepare()
        lines: list[str] = []
        write(context, base_image, "RUN date +%N > /stamp\nRUN exit 0")
        sandbox.prepare(lines.append)
    assert " ---> Using cache" in lines
    partial = tag.replace(":latest", ":partial")
    assert (
        subprocess.run(["docker", "image", "inspect", partial], capture_output=True, check=False).returncode
        != 0
    )
    assert made_from(context, "dangling") == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_stopped_build_leaves_nothing(
    context: Path, tag: str, base_image: str, tmp_path: Path, number: signal.Signals
) -> None:
    write(context, base_image, "RUN echo sleeping\nRUN echo started && sleep 3600")
    script = (
        "import sys; from pathlib import Path; from lmr_author.sandbox.docker import DockerSandbox\n"
        "box = DockerSandbox(Path(sys.argv[1]), tag=sys.argv[2], build_args={})\n"
        "box.prepare(lambda line: print(line, flush=True))"
    )
    argv = [sys.executable, "-c", script, str(context), tag]
    said = tmp_path / "said"
    with (
        said.open("w") as errors,
        subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdout is not None
        assert any(line.strip() == "started" for line in process.stdout), said.read_text()
        assert made_from(context, "containers")
        process.send_signal(number)
        assert process.wait(30) != 0
    # After Ctrl-C nothing is left when we end; after a kill, the engine takes a moment to notice.
    deadline = time.monotonic() + (20 if number == signal.SIGKILL else 0)
    while made_from(context, "containers") and time.monotonic() < deadline:
        time.sleep(0.2)
    assert made_from(context, "containers", "dangling") == []
