"""What a built image is, and how builds fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.errors import SandboxBuildError, SandboxError
from lmr_author.sandbox.base import Command
from lmr_author.sandbox.docker import DockerSandbox
from tests.sandbox.building import made_from, write

pytestmark = pytest.mark.docker


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
