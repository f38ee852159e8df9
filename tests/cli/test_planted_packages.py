"""Packages whose code writes a file and reads a secret as soon as it runs: outside a sandbox it never does."""

from __future__ import annotations

import io
import os
import sys
import tarfile
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests.cli.program import lmr_forked
from tests.support import make_task
from tests.wheels import wheel

SECRET = "hunter2"
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
HINGE = "pkg/losses.py::hinge"

TELL = """
import os, sys
SEEN = "user %s, %s, %s" % (os.getuid(), os.environ.get("PLANTED_SECRET", "nothing"), sorted(os.environ))
try:
    with open({canary!r}, "a") as file:
        file.write("%s: %s\\n" % ({name!r}, SEEN))
except OSError:
    pass
"""
BACKEND = """
import runpy, zipfile
SEEN = runpy.run_path("setup.py")["SEEN"]
def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "planted_source-1.0"
    with zipfile.ZipFile("%s/%s-py3-none-any.whl" % (folder, name), "w") as archive:
        archive.writestr("planted_source.py", "SEEN = %r" % SEEN)
        archive.writestr(name + ".dist-info/METADATA", "Metadata-Version: 2.1\\nName: planted-source\\nVersion: 1.0\\n")
        archive.writestr(name + ".dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(name + ".dist-info/RECORD", "")
    return name + "-py3-none-any.whl"
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """The file that the code of a package writes when it runs on this machine."""
    return tmp_path / "canary"


@pytest.fixture
def index(tmp_path: Path, canary: Path) -> Path:
    """A folder with a source that has to be built, and a wheel that Python runs as soon as it starts."""
    folder = tmp_path / "packages"
    folder.mkdir()
    setup = TELL.format(canary=str(canary), name="setup.py")
    with tarfile.open(folder / "planted_source-1.0.tar.gz", "w:gz") as archive:
        for name, text in (("pyproject.toml", PROJECT), ("backend.py", BACKEND), ("setup.py", setup)):
            member = tarfile.TarInfo(f"planted_source-1.0/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    others = {
        "planted.pth": "import planted_wheel\n",
        "sitecustomize.py": TELL.format(canary=str(canary), name="sitecustomize"),
    }
    wheel(folder, "planted_wheel", code=TELL.format(canary=str(canary), name=".pth"), others=others)
    return folder


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task whose repository asks for both."""
    made = make_task(tmp_path / "tasks")
    (made.root / "small-repo/requirements.txt").write_text("planted-source==1.0\nplanted-wheel==1.0\n")
    return made


@pytest.mark.bwrap
def test_no_code_of_a_package_runs_outside_a_sandbox(
    task: Task, index: Path, canary: Path, tmp_path: Path
) -> None:
    settings = {
        "LMR_AUTHOR_CACHE": str(tmp_path / "cache"),
        "PLANTED_SECRET": SECRET,
        "UV_FIND_LINKS": str(index),
        "UV_NO_INDEX": "1",
    }
    ran: dict[str, str] = {}

    def command(*arguments: str, code: int = 0) -> str:
        done = lmr_forked(*arguments, cwd=task.root, env=settings)
        if canary.exists():
            ran[" ".join(arguments)] = canary.read_text()
            canary.unlink()
        assert done.code == code, done.out + done.err
        return done.out

    command("env", "lock", "--python-version", OWN, "--force")
    assert "planted-source==1.0\nplanted-wheel==1.0" in task.lock.read_text()
    python = command("env", "local").strip()
    [packages] = Path(python).parent.parent.glob("lib/python*/site-packages")
    built = (packages / "planted_source.py").read_text()
    assert "SEEN" in built
    assert list(packages.glob("__pycache__/planted_wheel.*.pyc")), "no run can write it"
    # As somebody works who has made it the shell's own.
    settings |= {
        "VIRTUAL_ENV": str(Path(python).parent.parent),
        "PATH": f"{Path(python).parent}:{os.environ['PATH']}",
    }
    command("env", "local", "--python", python, "--with", "planted-source")
    command("env", "lock", "--python-version", OWN)
    command("suggest")
    command("mask", HINGE, "--category", "Evaluation Metrics", "--no-input")
    command("record", HINGE, "--no-input", "--", "python", "run.py")
    command("evaluate", "--sandbox", "local", "--python", python)
    command("validate", code=1)
    command("status")
    assert ran == {}
    assert SECRET not in built
