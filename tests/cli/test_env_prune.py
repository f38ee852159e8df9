"""``env prune``, and an engine that is killed during a build, in engines of their own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import ENVIRONMENT, PROGRAM, Ended, assert_no_traceback, lmr
from tests.sandbox.engines import Engine, engine
from tests.support import make_task

BASE = os.environ.get("LMR_TEST_BASE_IMAGE", "lmr-author/base:bookworm")
pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(os.geteuid() != 0 or shutil.which("dockerd") is None, reason="needs root and dockerd"),
]


@pytest.fixture(scope="module")
def own() -> Iterator[Engine]:
    """An engine with the base image. Its path is short: that of a socket may have 108 characters."""
    folder = Path(tempfile.mkdtemp(prefix="lmr-engine-"))
    with engine(folder) as made:
        made.load(BASE)
        yield made


def prune(own: Engine, cwd: Path, *arguments: str) -> Ended:
    """``env prune`` on that engine, with a cache of its own."""
    return lmr(
        "env", "prune", *arguments, cwd=cwd, env={"DOCKER_HOST": own.host, "LMR_AUTHOR_CACHE": str(cwd)}
    )


def image(own: Engine, folder: Path, tag: str, *labels: str) -> str:
    """Make an image with a file of its own and labels; returns its id."""
    folder.mkdir(exist_ok=True)
    (folder / "file").write_text(tag)
    lines = ["FROM scratch", "COPY file /file", *(f"LABEL {label}" for label in labels)]
    (folder / "Dockerfile").write_text("\n".join(lines) + "\n")
    environment = {**os.environ, "DOCKER_BUILDKIT": "0"}
    subprocess.run(
        own.command("build", "-q", "-t", tag, str(folder)),
        check=True,
        stdout=subprocess.DEVNULL,
        env=environment,
    )
    return own.docker("image", "inspect", "-f", "{{.Id}}", tag)


def images(own: Engine) -> set[str]:
    """Ids of all images with a name or without."""
    return set(own.docker("images", "-q", "--no-trunc").split())


def test_only_what_is_ours_and_unused_goes(own: Engine, tmp_path: Path) -> None:
    ours, task = "org.lmr-author=1", "org.lmr-author.task=x"
    foreign = image(own, tmp_path / "a", "somebody/else:latest")
    old = image(own, tmp_path / "b", "lmr-author/1-old:latest", ours, task)
    used = image(own, tmp_path / "c", "lmr-author/2-used:latest", ours, task)
    renamed = image(own, tmp_path / "d", "lmr-author/3-renamed:latest", ours, task)
    own.docker("tag", renamed, "mine/kept:latest")
    nameless = image(own, tmp_path / "e", "lmr-author/4-again:latest", ours, task)
    again = image(own, tmp_path / "f", "lmr-author/4-again:latest", ours, task)
    kept = own.docker("create", "--name", "mine", used, "/file")
    stopped = own.docker("create", "--label", "org.lmr-author.owner=1.1.1.1", again, "/file")

    listed = prune(own, tmp_path, "--dry-run", "--all")
    assert listed.code == 0 and "1-old" in listed.err
    assert {foreign, old, used, renamed, nameless, again} <= images(own)

    # An owner of another machine is not known to be gone: its container stays, and so does its image.
    done = prune(own, tmp_path, "--all", "--yes")
    assert done.code == 0, done.err
    assert images(own) & {foreign, old, used, renamed, nameless, again} == {foreign, used, renamed, again}
    assert {kept, stopped} <= set(own.docker("ps", "-aq", "--no-trunc").split())

    own.docker("rm", stopped, kept)
    assert prune(own, tmp_path, "--all", "--yes").code == 0
    assert images(own) & {foreign, used, renamed, again} == {foreign, renamed}
    assert BASE in own.docker("images", "--format", "{{.Repository}}:{{.Tag}}").split()


def test_an_engine_that_is_killed_during_a_build(own: Engine, tmp_path: Path) -> None:
    task = make_task(tmp_path, "1-killed")
    task.dockerfile.write_text(f"FROM {BASE}\nRUN echo begun-now && sleep 300\n")
    environment = {**ENVIRONMENT, "DOCKER_HOST": own.host}
    running = subprocess.Popen(
        [*PROGRAM, "env", "build"], cwd=task.root, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    log = task.logs_folder / "build.log"
    deadline = time.monotonic() + 60
    while not (log.is_file() and "\nbegun-now" in log.read_text()):
        assert time.monotonic() < deadline and running.poll() is None
        time.sleep(0.1)
    own.stop(signal.SIGKILL)
    own.end_containers()
    out, err = running.communicate(timeout=60)
    assert_no_traceback(out + err)
    assert running.returncode == 3, err
    assert "engine" in err and "hint:" in err

    own.start()
    left = own.docker("ps", "-aq", "--filter", "label=org.lmr-author=1").split()
    assert prune(own, tmp_path, "--all", "--yes").code == 0
    assert own.docker("ps", "-aq").split() == [], left
    assert BASE in own.docker("images", "--format", "{{.Repository}}:{{.Tag}}").split()


def test_what_was_used_lately_stays(own: Engine, tmp_path: Path) -> None:
    made = image(own, tmp_path / "a", "lmr-author/5-new:latest", "org.lmr-author=1", "org.lmr-author.task=x")
    assert prune(own, tmp_path, "--yes").code == 0
    assert made in images(own)
    assert prune(own, tmp_path, "--yes", "--older-than", "0").code == 0
    assert made not in images(own)
