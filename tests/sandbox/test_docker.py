"""Images of tasks: what is in them, how builds fail, and what builds leave."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lmr_author.core import owner
from lmr_author.core.errors import SandboxBuildError, SandboxError
from lmr_author.runtime.sandbox.base import Command
from lmr_author.runtime.sandbox.docker import DockerSandbox
from lmr_author.runtime.sandbox.docker_engine import OWNER_LABEL, connect
from tests.sandbox.building import made_from, write

pytestmark = pytest.mark.docker


def prepare(context: Path, tag: str) -> dict[str, str]:
    """Build the image and return its facts."""
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
        return dict(sandbox.prepare())


def test_a_build_streams_its_log_and_returns_facts(
    context: Path, tag: str, base_image: str, tmp_path: Path
) -> None:
    text = "ARG BASE_IMAGE=pytorch/never:pulled\nFROM ${BASE_IMAGE}\nARG DIR=none\nRUN echo building-$DIR\n"
    (context / "Dockerfile").write_text(text)
    lines: list[str] = []
    log = tmp_path / "logs" / "build.log"
    args = {"DIR": "repo", "BASE_IMAGE": base_image}
    with DockerSandbox(context, tag=tag, build_args=args, log=log) as sandbox:
        facts = sandbox.prepare(lines.append)
    assert "building-repo" in lines
    assert log.read_text().splitlines() == lines
    assert facts["image"].startswith("sha256:")
    assert facts["python"].startswith("3.")
    assert facts["engine"]


def test_an_entrypoint_dockerignore_and_an_image_with_only_python3(
    context: Path, tag: str, base_image: str
) -> None:
    (context / "golden_files").mkdir()
    (context / "golden_files" / "answer.py").write_text("secret")
    (context / "kept.py").write_text("kept")
    (context / ".dockerignore").write_text("golden_files\n")
    write(context, base_image, 'COPY . /task\nRUN rm $(which python)\nENTRYPOINT ["echo", "entry"]')
    code = "import os; print(sorted({'golden_files', 'kept.py'} & set(os.listdir('/task'))))"
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
        assert sandbox.run(Command(("python", "-c", code))).stdout == b"['kept.py']\n"


def test_an_image_without_python_is_an_error(context: Path, tag: str, base_image: str) -> None:
    write(context, base_image, "RUN rm $(which python) $(which python3)")
    with pytest.raises(SandboxError, match="no working Python"):
        prepare(context, tag)


@pytest.mark.parametrize(
    ("rest", "message", "line", "said"),
    [
        (
            "RUN pip install --break-system-packages --no-index no-such-package==1.0", "pip install", 4,
            "ERROR: No matching distribution found for no-such-package==1.0",
        ),
        ("COPY absent.txt /task/", "COPY absent.txt", 4, "stat absent.txt: file does not exist"),
        ("# a comment\nRUN true && \\\n\n    false", "RUN true &&", 5, "non-zero code: 1"),
        ("RNU true", "unknown instruction", 0, "line 4"),
        (f"run echo {'word ' * 30}>&2; exit 3", "at 'run echo" + " word" * 10 + " …' (", 4, "code: 3"),
    ],
)  # fmt: skip
def test_a_failed_build_reports_where_and_why(
    context: Path, tag: str, base_image: str, tmp_path: Path, rest: str, message: str, line: int, said: str
) -> None:
    write(context, base_image, f"RUN true\n{rest}")
    log = tmp_path / "build.log"
    with DockerSandbox(context, tag=tag, build_args={}, log=log) as sandbox:
        with pytest.raises(SandboxBuildError) as caught:
            sandbox.prepare()
        assert message.lower() in caught.value.message.lower()
        assert caught.value.line == line
        assert any(said in each for each in caught.value.said)
        assert str(log) in caught.value.hint
    assert "\n" not in caught.value.message
    assert made_from(context, "containers", "dangling") == []


def test_a_missing_base_image_or_dockerfile_is_named(context: Path, tag: str) -> None:
    write(context, "lmr-author/no-such-image:none", "")
    with pytest.raises(SandboxBuildError, match="lmr-author/no-such-image") as caught:
        prepare(context, tag)
    assert "env build" in caught.value.hint
    (context / "Dockerfile").unlink()
    with pytest.raises(SandboxError, match="Dockerfile"):
        prepare(context, tag)


# What builds leave


def test_failed_builds_keep_one_labelled_image_until_a_build_succeeds(
    context: Path, tag: str, base_image: str
) -> None:
    partial = tag.replace(":latest", ":partial")
    inspect = ["docker", "image", "inspect", "-f", "{{json .Config.Labels}}", partial]
    for number in range(2):
        write(context, base_image, f"RUN echo {number} > /number\nRUN exit 1")
        with pytest.raises(SandboxBuildError):
            prepare(context, tag)
        assert made_from(context, "dangling") == []
        # So that what a killed engine leaves of a build can be found, containers too.
        assert json.loads(subprocess.check_output(inspect))["org.lmr-author"] == "1"
    lines: list[str] = []
    write(context, base_image, "RUN echo 1 > /number\nRUN exit 0")
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
        sandbox.prepare(lines.append)
    assert lines.count(" ---> Using cache") == 3  # two labels and the first RUN
    assert made_from(context, "containers", "dangling") == []
    assert subprocess.run(inspect, capture_output=True, check=False).returncode != 0


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


def test_an_image_to_which_somebody_gave_a_name_stays(context: Path, tag: str, base_image: str) -> None:
    own = tag.replace("/test-", "/test-own-")
    write(context, base_image, "RUN echo one > /number")
    image = prepare(context, tag)["image"]
    subprocess.check_call(["docker", "tag", image, own])
    try:
        write(context, base_image, "RUN echo two > /number")
        assert prepare(context, tag)["image"] != image
        form = ["docker", "image", "inspect", "-f", "{{.Id}}", own]
        assert subprocess.check_output(form, text=True).strip() == image
    finally:
        subprocess.run(["docker", "rmi", "-f", own], capture_output=True, check=False)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_build_leaves_nothing(
    context: Path, tag: str, base_image: str, tmp_path: Path, number: signal.Signals
) -> None:
    write(context, base_image, "RUN echo sleeping\nRUN echo started && sleep 3600")
    script = (
        "import sys; from pathlib import Path; from lmr_author.runtime.sandbox.docker import DockerSandbox\n"
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
    # The engine takes a moment: to notice a kill, and on a busy machine to remove what it was told to.
    deadline = time.monotonic() + 20
    while made_from(context, "containers", "dangling") and time.monotonic() < deadline:
        time.sleep(0.2)
    assert made_from(context, "containers", "dangling") == []


# Containers that are left alone, and images that go away


def test_orphaned_container_ends_by_itself(context: Path, tag: str) -> None:
    script = (
        "import sys; from pathlib import Path; from lmr_author.runtime.sandbox.docker import DockerSandbox\n"
        "from lmr_author.runtime.sandbox.base import Command, Limits\n"
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
    prepare(context, tag)


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
        with pytest.raises(SandboxError, match="image was removed"):
            sandbox.run(Command(("python", "-c", "pass")))
