"""A machine that lacks something, or stops in the middle: said in one line, and nothing is left half done."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests.cli.conftest import HINGE
from tests.cli.program import ENVIRONMENT, PROGRAM, refuse
from tests.gitrepos import make_repository
from tests.papers import make_paper

EXPECTED = 3


def test_docker_that_is_not_running(masked: Task) -> None:
    away = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}
    command = ("record", "--sandbox", "docker", "--", "python", "run.py")
    error, hint = refuse(EXPECTED, *command, cwd=masked.root, env=away)
    assert "docker" in error.lower() and "docker" in hint.lower()
    refuse(EXPECTED, "evaluate", "--sandbox", "docker", cwd=masked.root, env=away)


def test_git_that_is_not_installed(tmp_path: Path) -> None:
    make_paper(tmp_path / "paper.pdf")
    make_repository(tmp_path / "code")
    (tmp_path / "bin").mkdir()
    flags = ("--title", "T", "--year", "2023", "--name", "x", "--no-input")
    command = ("new-task", "paper.pdf", "--repo", "./code", *flags)
    error, hint = refuse(EXPECTED, *command, cwd=tmp_path, env={"PATH": str(tmp_path / "bin")})
    assert "git" in error and "install" in hint


def test_a_place_where_nothing_can_be_written_is_named_as_it_was_given(masked: Task) -> None:
    error, _ = refuse(EXPECTED, "report", "--html", "/proc/page.html", cwd=masked.root)
    assert "/proc/page.html: " in error and ".tmp" not in error


FILL = """
import json, os, shutil, subprocess, sys
from tests.cli.program import snapshot
from pathlib import Path
source, room, *command = sys.argv[1:]
folder = Path("/mnt/task")
shutil.copytree(source, folder)
before = snapshot(folder)
with open("/mnt/filler", "wb") as file:
    space = os.statvfs("/mnt")
    try:
        file.write(bytes(max(0, space.f_bavail * space.f_frsize - int(room))))
    except OSError:
        pass
done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
after = snapshot(folder)
os.unlink("/mnt/filler")
again = subprocess.run(command, cwd=folder, capture_output=True, text=True)
changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
print(json.dumps([done.returncode, done.stdout, done.stderr, changed, again.returncode]))
"""


@pytest.mark.bwrap
@pytest.mark.parametrize("room", [0, 4096])
def test_a_full_disk(room: int, fresh: Task) -> None:
    """A real one: a small tmpfs in a mount namespace. The golden may be there; all else is as it was."""
    mounts = ("bwrap", "--dev-bind", "/", "/", "--size", str(512 * 1024), "--tmpfs", "/mnt")
    command = (*PROGRAM, "mask", HINGE, "--category", "Evaluation Metrics", "--no-input")
    done = subprocess.run(
        [*mounts, "--", sys.executable, "-c", FILL, str(fresh.root), str(room), *command],
        env={**ENVIRONMENT, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    code, out, err, changed, again = json.loads(done.stdout or done.stderr)
    assert code == EXPECTED and out == "" and "Traceback" not in err
    assert err.count("error:") == 1 and "No space left on device" in err and "hint: free some space" in err
    whole = {"golden_files/losses_golden.py", "small-repo/pkg/losses.py"}
    assert set(changed) <= whole, changed
    assert not [name for name in changed if name.endswith(".tmp")]
    assert again == 0
