"""The local sandbox: which interpreter runs, what of it is visible, and how paths are rewritten."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path

import pytest

from lmr_author.core import files, owner
from lmr_author.core.errors import SandboxError
from lmr_author.runtime.sandbox import bubblewrap
from lmr_author.runtime.sandbox.base import Command, Limits, Mount
from lmr_author.runtime.sandbox.local import LocalSandbox

USE_BUBBLEWRAP = [pytest.param(True, marks=pytest.mark.bwrap), pytest.param(False)]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment in a project's folder, with a package of its own and a secret beside it."""
    project = tmp_path_factory.mktemp("project")
    venv.create(project, with_pip=False, symlinks=True)
    packages = next(project.glob("lib/python3*/site-packages"))
    (packages / "only_in_this_one.py").write_text("VALUE = 17")
    (project / "golden.py").write_text("secret")
    return project


@pytest.mark.parametrize("use_bubblewrap", USE_BUBBLEWRAP)
def test_virtual_environment_is_used_as_it_is(environment: Path, use_bubblewrap: bool) -> None:
    sandbox = LocalSandbox(environment / "bin" / "python", use_bubblewrap=use_bubblewrap)
    facts = sandbox.prepare()
    assert facts["interpreter"] == str(environment / "bin" / "python")
    assert facts["isolation"] == ("bubblewrap" if use_bubblewrap else "none")
    assert sandbox.isolating is use_bubblewrap
    result = sandbox.run(Command(("python", "-c", "import only_in_this_one; print(only_in_this_one.VALUE)")))
    assert result.stdout == b"17\n", result.stderr


@pytest.mark.bwrap
def test_what_lies_beside_a_virtual_environment_is_hidden(environment: Path) -> None:
    sandbox = LocalSandbox(environment / "bin" / "python")
    listing = sandbox.run(Command(("ls", str(environment)))).stdout.decode().split()
    assert "bin" in listing
    assert "golden.py" not in listing


@pytest.mark.parametrize("script", [None, "#!/bin/sh\necho hello", "#!/bin/sh\necho '[1]'", "#!/nowhere\n"])
def test_program_that_is_no_python(tmp_path: Path, script: str | None) -> None:
    program = tmp_path / "python"
    if script is not None:
        program.write_text(script)
        program.chmod(0o755)
    with pytest.raises(SandboxError) as caught:
        LocalSandbox(program).prepare()
    assert str(program) in caught.value.message and "--python" in caught.value.hint


@pytest.mark.bwrap
def test_interpreter_under_a_mount_is_refused(environment: Path, tmp_path: Path) -> None:
    sandbox = LocalSandbox(environment / "bin" / "python")
    with pytest.raises(SandboxError, match="interpreter is in"):
        sandbox.run(Command(("python", "-c", ""), mounts=(Mount(tmp_path, str(environment)),)))


@pytest.mark.bwrap
def test_own_words_of_a_program_are_not_taken_for_bubblewraps() -> None:
    code = "import os; os.write(2, b'bwrap: Can\\'t mount proc'); raise SystemExit(1)"
    assert LocalSandbox().run(Command(("python", "-c", code))).exit_code == 1


@pytest.mark.bwrap
def test_limits_cannot_be_raised_inside() -> None:
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))"
    assert b"Error" in LocalSandbox().run(Command(("python", "-c", code))).stderr


def test_bubblewrap_that_does_not_work_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    bubblewrap.tools.cache_clear()
    try:
        sandbox = LocalSandbox()
        assert (sandbox.isolating, sandbox.prepare()["isolation"]) == (False, "none")
    finally:
        bubblewrap.tools.cache_clear()


def test_limits_without_bubblewrap() -> None:
    code = "from resource import *; print(getrlimit(RLIMIT_FSIZE)[0], getrlimit(RLIMIT_CORE)[0])"
    command = Command(("python", "-c", code), limits=Limits(file_mb=3))
    assert LocalSandbox(use_bubblewrap=False).run(command).stdout.split() == [str(3 << 20).encode(), b"0"]


def test_paths_are_rewritten_where_a_mounts_target_stands_alone(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    words = (
        "/task",
        "--file=/task/a.py",
        "/lib:/task:/task/sub",
        "/tasks",
        "/other/task",
        "open('/task')",
        "/in/x",
    )
    mounts = (Mount(tmp_path, "/task", writable=True), Mount(inner, "/in", writable=True))
    command = Command(("python", "-c", "import sys; print(*sys.argv[1:], sep='|')", *words), mounts)
    shown = LocalSandbox(use_bubblewrap=False).run(command).stdout.decode().strip().split("|")
    top = str(tmp_path)
    changed = (top, f"--file={top}/a.py", f"/lib:{top}:{top}/sub", *words[3:6], f"{inner}/x")
    assert tuple(shown) == changed


def test_folders_of_a_killed_owner_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    gone = subprocess.Popen(["true"])
    gone.wait()
    mine = owner.me()
    stale = tmp_path / f"lmr-author-run-{gone.pid}.{'.'.join(mine.split('.')[1:])}.abcdefgh"
    kept = tmp_path / f"lmr-author-run-{mine}.abcdefgh"
    foreign = tmp_path / "lmr-author-run-nonsense"
    for folder in (stale, kept, foreign):
        folder.mkdir()
    inner = os.open(stale, os.O_RDONLY)
    for _ in range(2000):  # deeper than Python's stack
        os.mkdir("d", dir_fd=inner)
        outer, inner = inner, os.open("d", os.O_RDONLY, dir_fd=inner)
        os.close(outer)
    os.close(inner)
    files.remove_abandoned_temporaries()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([kept.name, foreign.name])


def test_owner_is_known_by_more_than_its_number() -> None:
    pid, start, namespace, boot = owner.me().split(".")
    assert not owner.is_gone(owner.me())
    assert owner.is_gone(f"{pid}.{int(start) + 1}.{namespace}.{boot}")
    assert not owner.is_gone(f"{pid}.{int(start) + 1}.{namespace}.anotherboot")
    assert not owner.is_gone(f"{pid}.{int(start) + 1}.1.{boot}")
    assert not owner.is_gone("nonsense")
