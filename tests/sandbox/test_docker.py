"""What only containers have: images, their builds, and an engine that can be away."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from lmr_author.errors import SandboxBuildError, SandboxError
from lmr_author.sandbox.base import Command
from lmr_author.sandbox.docker import DockerSandbox
from lmr_author.sandbox.docker_engine import OWNER_LABEL, connect, containers

pytestmark = pytest.mark.docker


@pytest.fixture
def tag() -> Iterator[str]:
    """A new image name; whatever has it is removed afterwards."""
    name = f"lmr-author/test-{uuid.uuid4().hex[:12]}"
    yield f"{name}:latest"
    subprocess.run(["docker", "rmi", "-f", f"{name}:latest"], capture_output=True, check=False)
    subprocess.run(["docker", "rmi", "-f", f"{name}:partial"], capture_output=True, check=False)


@pytest.fixture
def context(tmp_path: Path, base_image: str) -> Path:
    """A folder for a Dockerfile."""
    folder = tmp_path / "context"
    folder.mkdir()
    write(folder, base_image, "")
    return folder


def write(folder: Path, base_image: str, rest: str) -> None:
    """Write a Dockerfile; the rest begins in its third line."""
    (folder / "Dockerfile").write_text(f"FROM {base_image}\nLABEL {_label(folder)}\n{rest}\n")


def _label(folder: Path) -> str:
    return f"org.lmr-author.test={folder}"


def made_from(folder: Path, *kinds: str) -> list[str]:
    """Ids of containers and nameless images that builds of this folder's Dockerfile have left."""
    mine = ["--filter", f"label={_label(folder)}"]
    commands = {
        "containers": ["docker", "ps", "-aq", *mine],
        "dangling": ["docker", "images", "-q", "--filter", "dangling=true", *mine],
    }
    return [line for kind in kinds for line in subprocess.check_output(commands[kind], text=True).split()]


def test_build_streams_its_log_and_tells_facts(
    context: Path, tag: str, base_image: str, tmp_path: Path
) -> None:
    write(context, base_image, "ARG DIR=none\nRUN echo building-$DIR")
    lines: list[str] = []
    log = tmp_path / "logs" / "build.log"
    with DockerSandbox(context, tag=tag, build_args={"DIR": "repo"}, log=log) as sandbox:
        facts = sandbox.prepare(lines.append)
    assert "building-repo" in lines
    assert "building-repo" in log.read_text().splitlines()
    assert facts["image"].startswith("sha256:")
    assert facts["python"].startswith("3.")
    assert facts["engine"]


def test_build_argument_replaces_the_base(context: Path, tag: str, base_image: str) -> None:
    (context / "Dockerfile").write_text("ARG BASE_IMAGE=pytorch/never:pulled\nFROM ${BASE_IMAGE}\n")
    with DockerSandbox(context, tag=tag, build_args={"BASE_IMAGE": base_image}) as sandbox:
        assert sandbox.prepare()["python"].startswith("3.")


def test_same_content_gives_the_same_image(context: Path, tag: str, base_image: str) -> None:
    write(context, base_image, "RUN date +%N > /stamp")
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
        assert sandbox.prepare()["image"] == sandbox.prepare()["image"]


def test_dockerignore_is_respected(context: Path, tag: str, base_image: str) -> None:
    (context / "golden_files").mkdir()
    (context / "golden_files" / "answer.py").write_text("secret")
    (context / "kept.py").write_text("kept")
    (context / ".dockerignore").write_text("golden_files\n")
    write(context, base_image, "COPY . /task")
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
        listing = sandbox.run(Command(("ls", "/task"))).stdout.decode().split()
    assert "kept.py" in listing
    assert "golden_files" not in listing


def test_python_is_python3_where_there_is_no_other(context: Path, tag: str, base_image: str) -> None:
    write(context, base_image, "RUN rm $(which python)")
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
        assert sandbox.prepare()["python"].startswith("3.")
        assert sandbox.run(Command(("python", "-c", "print(1)"))).stdout == b"1\n"


def test_image_without_python_is_an_error(context: Path, tag: str, base_image: str) -> None:
    write(context, base_image, "RUN rm $(which python) $(which python3)")
    with (
        DockerSandbox(context, tag=tag, build_args={}) as sandbox,
        pytest.raises(SandboxError, match="no working Python"),
    ):
        sandbox.prepare()


def test_entrypoint_of_the_image_is_not_run(context: Path, tag: str, base_image: str) -> None:
    write(context, base_image, 'ENTRYPOINT ["echo", "entry"]')
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
        assert sandbox.run(Command(("python", "-c", "print(1)"))).stdout == b"1\n"


@pytest.mark.parametrize(
    ("rest", "message", "line", "said"),
    [
        (
            "RUN pip install --break-system-packages --no-index no-such-package==1.0", "pip install", 4,
            "ERROR: No matching distribution found for no-such-package==1.0",
        ),
        ("RUN pip install numpy==1.26.0", "RUN pip install", 4, "error: externally-managed-environment"),
        ("COPY absent.txt /task/", "COPY absent.txt", 4, "stat absent.txt: file does not exist"),
        ("# a comment\nRUN true && \\\n\n    false", "RUN true &&", 5, "non-zero code: 1"),
        ("RNU true", "unknown instruction", 0, "line 4"),
        ("RUN echo the last words >&2; exit 3", "the last words", 4, "non-zero code: 3"),
    ],
)  # fmt: skip
def test_failing_build_says_where_and_what(
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


def test_a_long_instruction_is_cut_in_the_message(context: Path, tag: str, base_image: str) -> None:
    step = f"RUN true {'word ' * 60}&& exit 3"
    write(context, base_image, step)
    with (
        DockerSandbox(context, tag=tag, build_args={}) as sandbox,
        pytest.raises(SandboxBuildError, match=r"at 'RUN true( word){10} …' \(line 3\)") as caught,
    ):
        sandbox.prepare()
    assert caught.value.step == step


def test_missing_base_image_is_named(context: Path, tag: str) -> None:
    write(context, "lmr-author/no-such-image:none", "")
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox, pytest.raises(SandboxError) as caught:
        sandbox.prepare()
    assert "lmr-author/no-such-image" in caught.value.message
    assert "env build" in caught.value.hint


def test_missing_dockerfile_is_an_error(context: Path, tag: str) -> None:
    (context / "Dockerfile").unlink()
    with (
        DockerSandbox(context, tag=tag, build_args={}) as sandbox,
        pytest.raises(SandboxError, match="Dockerfile"),
    ):
        sandbox.prepare()


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


def test_output_is_not_stored_by_the_engine(context: Path, tag: str) -> None:
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
        sandbox.prepare()
        client = connect()
        container = sandbox._create(client, f"lmr-author-test-{uuid.uuid4().hex}", Command(("true",)))
        settings = client.api.inspect_container(container)["HostConfig"]
        assert settings["LogConfig"]["Type"] == "none"
        assert container in {each["Id"] for each in containers(client, OWNER_LABEL)}
        client.close()
    after = connect()
    assert container not in {each["Id"] for each in containers(after, OWNER_LABEL)}
    after.close()


def test_image_removed_meanwhile_is_not_the_programs_fault(context: Path, tag: str, base_image: str) -> None:
    write(context, base_image, "RUN date +%N > /stamp")
    with DockerSandbox(context, tag=tag, build_args={}) as sandbox:
        sandbox.prepare()
        subprocess.check_call(["docker", "rmi", "-f", tag], stdout=subprocess.DEVNULL)
        with pytest.raises(SandboxError, match="image is gone"):
            sandbox.run(Command(("python", "-c", "pass")))


def test_engine_that_is_away_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    with pytest.raises(SandboxError, match="not installed or not running") as caught:
        DockerSandbox(tmp_path, tag="lmr-author/none:latest", build_args={}).prepare()
    assert "--sandbox local" in caught.value.hint
