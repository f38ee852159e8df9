"""A Dockerfile as it is sent to the engine, and the log that comes back."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from lmr_author.runtime.sandbox.docker_build import with_base, with_labels

LABEL = "LABEL org.lmr-author=1"
TEXT = """\
# syntax=x
ARG BASE=a
FROM ${BASE} \\
  AS one
RUN a && \\
    # a comment inside

    b
run echo "\\
FROM here to"
FROM two
COPY x y
"""


def test_a_label_follows_each_from() -> None:
    lines = with_labels(TEXT).splitlines()
    assert [number for number, line in enumerate(lines, 1) if line == LABEL] == [5, 13]
    assert [line for line in lines if line != LABEL] == TEXT.splitlines()
    assert with_labels("FROM a") == f"FROM a\n{LABEL}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM pytorch/pytorch:2.1.0\nRUN x\n", "FROM mine:1\nRUN x\n"),
        (
            "# FROM a\nfrom --platform=linux/amd64 a:1 AS b\n",
            "# FROM a\nfrom --platform=linux/amd64 mine:1 AS b\n",
        ),
        ("ARG BASE_IMAGE=a\nFROM ${BASE_IMAGE}\n", "ARG BASE_IMAGE=a\nFROM ${BASE_IMAGE}\n"),
        ("FROM a AS b\nFROM c\nCOPY --from=b x y\n", "FROM a AS b\nFROM c\nCOPY --from=b x y\n"),
    ],
)
def test_a_base_image_that_is_named_outright_is_replaced(text: str, expected: str) -> None:
    assert with_base(text, "mine:1") == expected


@pytest.mark.docker
def test_a_build_has_no_file_that_a_kill_would_leave(tmp_path: Path) -> None:
    """The SDK's own context was a named file of as many bytes as the task."""
    context, temporary = tmp_path / "context", tmp_path / "tmp"
    context.mkdir()
    temporary.mkdir()
    (context / "Dockerfile").write_text("FROM scratch\nCOPY large /large\n")
    (context / ".dockerignore").write_text("# none\nsecret\n")
    (context / "secret").write_text("x")
    with (context / "large").open("wb") as file:
        file.truncate(100 * 2**20)
    script = (
        "import docker; from pathlib import Path; from lmr_author.runtime.sandbox import docker_build\n"
        f"docker_build.build(docker.from_env(), Path({str(context)!r}), 'lmr-author-test/context:1', {{}}, print, None)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.PIPE
    )
    seen = set[str]()
    while process.poll() is None:
        for path in temporary.iterdir():
            with suppress(FileNotFoundError):  # `tempfile` itself tries the folder with a file of four bytes
                seen.update({path.name} if path.stat().st_size > 2**20 else ())
        time.sleep(0.005)
    assert process.communicate()[0].count(b"Step ") == 3 and process.returncode == 0
    subprocess.run(["docker", "rmi", "-f", "lmr-author-test/context:1"], check=False, capture_output=True)
    assert seen == set()
