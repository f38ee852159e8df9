"""One suite for every backend: what a run gives back, sees and refuses. Known differences are named in conftest.py."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lmr_author.core.errors import SandboxError
from lmr_author.runtime.sandbox.base import Command, ExecResult, Mount, Sandbox

Python = Callable[..., ExecResult]


# What a run gives back


@pytest.mark.parametrize("code", [255, -signal.SIGKILL, -signal.SIGSEGV])
def test_exit_code_and_signal(python: Python, code: int) -> None:
    ending = f"os._exit({code})" if code >= 0 else f"os.kill(os.getpid(), {-code})"
    assert python(f"import os; {ending}").exit_code == code


RUNS_A_PROGRAM = """
import os, subprocess, sys, tempfile
open(sys.argv[1], 'w').write('#!/bin/sh\\necho ran')
os.chmod(sys.argv[1], 0o755)
tempfile.mkdtemp()
subprocess.run([sys.argv[1]])
"""
# As launchers do: torchrun keeps a store, and asks for the address of the machine's own name until it has one.
REACHES_ITSELF = """
import socket
with socket.create_server(('127.0.0.1', 0)) as server:
    for name in ('localhost', socket.gethostname()):
        socket.create_connection((name, server.getsockname()[1]), 5).close()
print('reached')
"""
STREAMS = "import os; print(*sorted(n for n in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{n}')))"
HAS_A_HOME = "import getpass, pathlib; (pathlib.Path.home() / getpass.getuser()).touch(); print('made')"
CERTIFICATES = "import ssl; print(ssl.create_default_context().cert_store_stats()['x509_ca'] > 0)"


@pytest.mark.parametrize(
    ("code", "network", "said"),
    [
        ("import sys; print(repr(sys.stdin.read()))", False, b"''"),
        (STREAMS, False, b"0 1 2"),
        (HAS_A_HOME, False, b"made"),
        (RUNS_A_PROGRAM, False, b"ran"),
        (REACHES_ITSELF, False, b"reached"),
        (CERTIFICATES, True, b"True"),
    ],
)
def test_a_program_finds_what_it_expects(python: Python, code: str, network: bool, said: bytes) -> None:
    result = python(code, "/tmp/program", network=network)
    assert result.stdout.strip() == said, result.stderr


def test_output_is_bytes_and_separate(python: Python) -> None:
    result = python("import os; os.write(1, b'\\xff\\x00\\xfe\\r\\n'); os.write(2, b'\\x80err')")
    assert (result.stdout, result.stderr) == (b"\xff\x00\xfe\r\n", b"\x80err")
    assert (result.timed_out, result.out_of_memory, result.truncated) == (False, False, False)


def test_large_output_arrives_whole(python: Python) -> None:
    code = "import os\nfor i in range(400): os.write(1, bytes([i % 256]) * 20011); os.write(2, b'e' * 10007)"
    result = python(code)
    assert result.stdout == b"".join(bytes([i % 256]) * 20011 for i in range(400))
    assert result.stderr == b"e" * 10007 * 400


def test_missing_program_is_127(sandbox: Sandbox) -> None:
    result = sandbox.run(Command(("no-such-program",)))
    assert result.exit_code == 127
    assert b"no-such-program" in result.stderr


def test_output_closed_early_is_not_the_end(python: Python, tmp_path: Path) -> None:
    mounts = (Mount(tmp_path, "/shared", writable=True),)
    code = "import os, sys, time; os.close(1); os.close(2); time.sleep(0.3); open(sys.argv[1], 'w').close()"
    assert python(code, "/shared/done", mounts=mounts).exit_code == 0
    assert (tmp_path / "done").exists()


def test_prepare_tells_what_it_is(sandbox: Sandbox, python: Python) -> None:
    facts = sandbox.prepare()
    assert facts["sandbox"] == sandbox.name
    assert (
        python("import platform; print(platform.python_version())").stdout.decode().strip() == facts["python"]
    )


def test_parallel_runs_do_not_mix(python: Python) -> None:
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda number: python(f"print({number})"), range(8)))
    assert [int(result.stdout) for result in results] == list(range(8))


# What is visible inside


def test_environment_is_clean(python: Python, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN_OF_THE_HOST", "secret")
    result = python("import json, os; print(json.dumps(dict(os.environ)))", env={"GIVEN": "ü=:x"})
    inside = json.loads(result.stdout)
    assert inside["GIVEN"] == "ü=:x"
    assert inside["PYTHONDONTWRITEBYTECODE"] == "1"
    assert inside["LANG"] == "C.UTF-8"
    assert not {"A_TOKEN_OF_THE_HOST", "SSH_AUTH_SOCK", "VIRTUAL_ENV", "PYTHONPATH"} & set(inside)


def test_working_folder_and_mounts(python: Python, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_text("content")
    mounts = (Mount(tmp_path, "/task/repository"),)
    result = python("print(open('file').read())", mounts=mounts, cwd="/task/repository/deep")
    assert result.stdout == b"content\n", result.stderr


def test_mounted_paths_work_in_arguments_and_variables(python: Python, tmp_path: Path) -> None:
    (tmp_path / "mod_of_mount.py").write_text("VALUE = 41")
    code = "import sys, mod_of_mount; print(mod_of_mount.VALUE + len(open(sys.argv[1][7:]).read()))"
    fields = {"mounts": (Mount(tmp_path, "/task"),), "env": {"PYTHONPATH": "/nowhere:/task"}}
    assert python(code, "--file=/task/mod_of_mount.py", **fields).stdout == b"51\n"


def test_one_file_is_laid_over_a_mounted_folder(python: Python, tmp_path: Path) -> None:
    folder, other = tmp_path / "folder", tmp_path / "other.py"
    folder.mkdir()
    (folder / "target.py").write_text("masked")
    (folder / "beside.py").write_text("kept")
    other.write_text("golden")
    mounts = (Mount(other, "/task/target.py"), Mount(folder, "/task"))
    result = python("print(open('target.py').read(), open('beside.py').read())", mounts=mounts, cwd="/task")
    assert result.stdout == b"golden kept\n", result.stderr
    assert (folder / "target.py").read_text() == "masked"


def test_mount_inside_a_writable_mount(python: Python, tmp_path: Path) -> None:
    outer, inner = tmp_path / "outer", tmp_path / "inner"
    (outer / "data").mkdir(parents=True)
    inner.mkdir()
    (inner / "file").write_text("inner")
    mounts = (Mount(outer, "/outer", writable=True), Mount(inner, "/outer/data"))
    assert python("print(open('data/file').read())", mounts=mounts, cwd="/outer").stdout == b"inner\n"


@pytest.mark.parametrize("writable", [False, True])
def test_private_folder_of_the_caller_can_be_the_working_folder(
    python: Python, tmp_path: Path, writable: bool
) -> None:
    private = Path(tempfile.mkdtemp(dir=tmp_path))
    (private / "file").write_text("content")
    (private / "file").chmod(0o600)
    mounts = (Mount(private, "/private", writable=writable),)
    code = f"print(open('file').read()); {writable} and open('made', 'w').write('content')"
    result = python(code, mounts=mounts, cwd="/private")
    assert result.stdout == b"content\n", result.stderr
    assert (private / "made").exists() == writable


def test_read_only_mount_refuses_writes(python: Python, tmp_path: Path) -> None:
    # Open to everybody, so that only the mount itself can refuse.
    tmp_path.chmod(0o777)
    code = "import sys; open(sys.argv[1], 'w')"
    result = python(code, "/task/new", mounts=(Mount(tmp_path, "/task"),))
    assert result.exit_code == 1
    assert b"Error" in result.stderr


def test_source_of_a_read_only_mount_stays_as_it_is(python: Python, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("before")
    (tmp_path / "file").chmod(0o666)
    tmp_path.chmod(0o777)
    code = "import os, sys\nos.chdir(sys.argv[1])\nopen('file', 'w').write('after')\nos.rename('file', 'new')"
    python(code, "/task", mounts=(Mount(tmp_path, "/task"),))
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "before")]


def test_writable_mount_keeps_what_is_written(python: Python, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("before")
    code = "import sys; open(sys.argv[1], 'a').write(' after'); open(sys.argv[2], 'w').write('new')"
    mounts = (Mount(tmp_path, "/out", writable=True),)
    result = python(code, "/out/there/file", "/out/new", mounts=mounts)
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "there" / "file").read_text() == "before after"
    assert (tmp_path / "new").read_text() == "new"
    assert {path.stat().st_uid for path in (tmp_path, *tmp_path.rglob("*"))} == {os.geteuid()}


def test_network_only_when_requested(python: Python) -> None:
    code = "import socket; print([name for _, name in socket.if_nameindex() if name != 'lo'])"
    assert python(code, network=True).stdout != python(code).stdout == b"[]\n"


def test_tmp_is_new_in_each_run(python: Python) -> None:
    code = "import os, sys; print(os.path.exists(sys.argv[1])); open(sys.argv[1], 'w')"
    assert [python(code, "/tmp/trace").stdout for _ in range(2)] == [b"False\n"] * 2


def test_tmp_by_its_own_name_is_private(python: Python, tmp_path: Path) -> None:
    with tempfile.NamedTemporaryFile(dir="/tmp", prefix="lmr-secret") as file:
        result = python("import glob; print(glob.glob('/tmp/lmr-secret*'))")
    assert file.name
    assert result.stdout == b"[]\n"


# What is not the program's fault


def test_mount_of_nothing_is_an_error(python: Python, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="does not exist"):
        python("", mounts=(Mount(tmp_path / "absent", "/task"),))


@pytest.mark.parametrize("target", ["relative", "/", "/proc", "/a/../b", "/usr", "/a//b"])
def test_mount_to_a_bad_place_is_an_error(python: Python, tmp_path: Path, target: str) -> None:
    with pytest.raises(SandboxError, match="target"):
        python("", mounts=(Mount(tmp_path, target),))


def test_missing_working_folder_is_an_error(python: Python) -> None:
    with pytest.raises(SandboxError):
        python("", cwd="/does/not/exist")


@pytest.mark.parametrize("argv", [(), ("python", "a\0b")])
def test_bad_command_is_an_error(sandbox: Sandbox, argv: tuple[str, ...]) -> None:
    with pytest.raises(SandboxError):
        sandbox.run(Command(argv))
