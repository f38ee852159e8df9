"""One suite for every backend. Known differences are named in conftest.py."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lmr_author.errors import SandboxError
from lmr_author.sandbox import owner
from lmr_author.sandbox.base import Command, ExecResult, Limits, Mount, Sandbox

Python = Callable[..., ExecResult]

HEARTBEAT = """
import os, sys, time
def beat():
    while True:
        with open(sys.argv[1], "a") as file:
            file.write("x")
        time.sleep(0.02)
"""
GRANDCHILD = (
    HEARTBEAT
    + """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        beat()
    os._exit(0)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
"""
)


def stopped(beat: Path) -> bool:
    """Whether a heartbeat, which did beat, beats no more."""
    before = beat.stat().st_size
    time.sleep(0.3)
    return 0 < before == beat.stat().st_size


# What a run gives back


@pytest.mark.parametrize("code", [0, 1, 7, 127, 255])
def test_exit_code(python: Python, code: int) -> None:
    assert python(f"import sys; sys.exit({code})").exit_code == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_signal_is_a_negative_exit_code(python: Python, number: signal.Signals) -> None:
    assert python(f"import os; os.kill(os.getpid(), {int(number)})").exit_code == -number


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


def test_stdin_is_empty(python: Python) -> None:
    assert python("import sys; print(repr(sys.stdin.read()))").stdout == b"''\n"


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


def test_has_a_user_name_and_a_home(python: Python) -> None:
    code = "import getpass, pathlib; (pathlib.Path.home() / getpass.getuser()).touch(); print('made')"
    assert python(code).stdout == b"made\n"


def test_only_the_standard_streams_are_open(python: Python) -> None:
    code = (
        "import os; print([n for n in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{n}')])"
    )
    assert sorted(json.loads(python(code).stdout.replace(b"'", b'"'))) == ["0", "1", "2"]


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


def test_private_folder_of_the_caller_can_be_read(python: Python, tmp_path: Path) -> None:
    private = Path(tempfile.mkdtemp(dir=tmp_path))
    (private / "file").write_text("content")
    (private / "file").chmod(0o600)
    result = python(
        "import sys; print(open(sys.argv[1]).read())", "/task/file", mounts=(Mount(private, "/task"),)
    )
    assert result.stdout == b"content\n", result.stderr


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


def test_tmp_is_writable_and_runs_programs(python: Python) -> None:
    code = (
        "import os, subprocess, sys, tempfile\n"
        "open(sys.argv[1], 'w').write('#!/bin/sh\\necho ran')\n"
        "os.chmod(sys.argv[1], 0o755)\n"
        "tempfile.mkdtemp()\n"
        "sys.exit(subprocess.run([sys.argv[1]]).returncode)"
    )
    assert python(code, "/tmp/program").stdout == b"ran\n"


def test_tmp_is_new_in_each_run(python: Python) -> None:
    code = "import os, sys; print(os.path.exists(sys.argv[1])); open(sys.argv[1], 'w')"
    assert [python(code, "/tmp/trace").stdout for _ in range(2)] == [b"False\n"] * 2


def test_tmp_by_its_own_name_is_private(python: Python, tmp_path: Path) -> None:
    with tempfile.NamedTemporaryFile(dir="/tmp", prefix="lmr-secret") as file:
        result = python("import glob; print(glob.glob('/tmp/lmr-secret*'))")
    assert file.name
    assert result.stdout == b"[]\n"


# What code inside cannot do


def test_is_not_root(python: Python) -> None:
    code = "import os; print(os.getuid() != 0, os.getgid() != 0, 0 not in os.getgroups()); os.setuid(0)"
    result = python(code)
    assert result.stdout == b"True True True\n"
    assert b"Error" in result.stderr


def test_has_no_privileges(python: Python) -> None:
    result = python("print(open('/proc/self/status').read())")
    status = dict(line.split(":\t") for line in result.stdout.decode().splitlines() if ":\t" in line)
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert status["NoNewPrivs"] == "1"


def test_system_is_not_writable(python: Python) -> None:
    code = (
        "import os, sys\n"
        "for folder in sys.argv[1:]:\n"
        "    try:\n"
        "        os.close(os.open(folder + '/lmr-author-probe', os.O_CREAT | os.O_WRONLY))\n"
        "        os.remove(folder + '/lmr-author-probe'); print(folder)\n"
        "    except OSError: pass\n"
    )
    result = python(
        code, "/", "/etc", "/usr", "/usr/lib", "/dev", "/var", "/var/tmp", "/home", "/root", "/opt", "/run"
    )
    assert (result.exit_code, result.stdout) == (0, b"")


def test_network_is_unreachable(python: Python) -> None:
    code = (
        "import errno, socket\n"
        "for family, place in ((socket.AF_INET, '192.0.2.1'), (socket.AF_INET6, '2001:db8::1')):\n"
        "    try:\n"
        "        with socket.socket(family, socket.SOCK_DGRAM) as one: one.connect((place, 53))\n"
        "        print('reached')\n"
        "    except OSError as error: print(errno.errorcode[error.errno])\n"
    )
    assert set(python(code).stdout.split()) <= {b"ENETUNREACH", b"EADDRNOTAVAIL", b"EAFNOSUPPORT"}


def test_a_program_reaches_itself_by_name(python: Python) -> None:
    """As launchers do: torchrun keeps a store, and asks for the address of the machine's own name until it has one."""
    code = (
        "import socket\n"
        "with socket.create_server(('127.0.0.1', 0)) as server:\n"
        "    for name in ('localhost', socket.gethostname()):\n"
        "        socket.create_connection((name, server.getsockname()[1]), 5).close()\n"
        "print('reached')"
    )
    assert python(code).stdout == b"reached\n"


def test_hosts_ports_are_unreachable(python: Python) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5)"
        result = python(code)
    assert b"ConnectionRefusedError" in result.stderr


def test_host_files_are_hidden(python: Python, tmp_path: Path) -> None:
    # Our own home, the tests, the engine's socket and the host's accounts are what an escape would look for.
    secret = tmp_path / "secret"
    secret.write_text("golden")
    places = [secret, Path(__file__), Path("/etc/shadow"), Path("/var/run/docker.sock"), Path("/etc/ssh")]
    code = "import os, sys\nfor path in sys.argv[1:]:\n    if os.access(path, os.R_OK): print(path)"
    result = python(code, *(str(place).replace("/tmp/", "//tmp/") for place in places))
    assert (result.exit_code, result.stdout) == (0, b"")


def test_host_processes_are_hidden(python: Python) -> None:
    with subprocess.Popen(["sleep", "1234.5"]) as sleeper:
        code = (
            "import glob\n"
            "for path in glob.glob('/proc/[0-9]*/cmdline'):\n"
            "    try: print(open(path).read())\n"
            "    except OSError: pass\n"  # a process that ended meanwhile
        )
        result = python(code)
        sleeper.kill()
    assert b"1234.5" not in result.stdout


# Limits


def test_time_limit_kills_everything(python: Python, tmp_path: Path) -> None:
    mounts = (Mount(tmp_path, "/shared", writable=True),)
    result = python(GRANDCHILD + "beat()", "/shared/beat", mounts=mounts, limits=Limits(seconds=1.5))
    assert result.timed_out
    assert result.exit_code == -signal.SIGKILL
    assert stopped(tmp_path / "beat")


def test_a_run_is_ended_when_it_is_told_to_stop(python: Python, tmp_path: Path) -> None:
    mounts = (Mount(tmp_path, "/shared", writable=True),)
    beat = tmp_path / "beat"
    result = python(GRANDCHILD + "beat()", "/shared/beat", mounts=mounts, stop=beat.exists)
    assert (result.stopped, result.timed_out) == (True, False)
    assert stopped(beat)


def test_a_run_that_need_not_stop_goes_on_to_its_end(python: Python) -> None:
    result = python("import time; time.sleep(1.5); print('end')", stop=lambda: False)
    assert (result.stopped, result.exit_code, result.stdout) == (False, 0, b"end\n")


def test_output_before_the_time_limit_is_kept(python: Python) -> None:
    result = python("import time; print('said', flush=True); time.sleep(60)", limits=Limits(seconds=1.5))
    assert (result.timed_out, result.stdout) == (True, b"said\n")


def test_time_limit_holds_for_a_program_that_has_closed_its_output(python: Python) -> None:
    code = "import os, time; os.close(1); os.close(2); time.sleep(60)"
    assert python(code, limits=Limits(seconds=1.5)).timed_out


def test_end_kills_what_runs_on_in_the_background(python: Python, tmp_path: Path) -> None:
    mounts = (Mount(tmp_path, "/shared", writable=True),)
    result = python(GRANDCHILD, "/shared/beat", mounts=mounts, limits=Limits(seconds=30))
    assert (result.exit_code, result.timed_out) == (0, False)
    assert stopped(tmp_path / "beat")


def test_memory_bomb_ends(python: Python) -> None:
    code = "kept = []\nwhile True: kept.append(bytearray(16 << 20))"
    result = python(code, limits=Limits(memory_mb=256, seconds=60))
    assert result.exit_code != 0
    assert not result.timed_out


def test_memory_limit_is_reported(python: Python) -> None:
    code = "kept = []\nwhile True: kept.append(bytearray(16 << 20))"
    assert python(code, limits=Limits(memory_mb=256, seconds=60)).out_of_memory


def test_endless_output_is_cut_in_bounded_memory(python: Python) -> None:
    code = "import os\nwhile True: os.write(1, b'x' * 65536); os.write(2, b'y' * 65536)"
    tracemalloc.start()
    result = python(code, limits=Limits(seconds=1.5, output_bytes=1_000_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (result.stdout, result.stderr) == (b"x" * 1_000_000, b"y" * 1_000_000)
    assert (result.truncated, result.timed_out) == (True, True)
    assert peak < 10_000_000


def test_output_of_exactly_the_limit_is_whole(python: Python) -> None:
    result = python("print('x' * 99)", limits=Limits(output_bytes=100))
    assert (len(result.stdout), result.truncated) == (100, False)


def test_number_of_processes_is_limited(python: Python) -> None:
    code = (
        "import os, time\n"
        "made = 0\n"
        "try:\n"
        "    while made < 200:\n"
        "        if os.fork() == 0: time.sleep(60); os._exit(0)\n"
        "        made += 1\n"
        "except BlockingIOError: print(made)\n"
    )
    result = python(code, limits=Limits(processes=32, seconds=30))
    assert 0 < int(result.stdout) <= 32


def test_fork_bomb_ends(python: Python) -> None:
    code = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    result = python(code, limits=Limits(processes=32, seconds=1.5))
    assert result.timed_out


def test_threads_of_other_runs_do_not_count(python: Python) -> None:
    code = (
        "import threading, time\nfor _ in range(20): threading.Thread(target=time.sleep, args=(1,)).start()"
    )
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(python, code, limits=Limits(processes=40)) for _ in range(4)]
    assert [run.result().exit_code for run in runs] == [0] * 4


@pytest.mark.parametrize("place", ["/tmp/big", "/out/big"])
def test_size_of_a_file_is_limited(python: Python, tmp_path: Path, place: str) -> None:
    code = "import sys\nfile = open(sys.argv[1], 'wb')\nfor _ in range(40): file.write(bytes(1 << 20))"
    mounts = (Mount(tmp_path, "/out", writable=True),)
    result = python(code, place, mounts=mounts, limits=Limits(file_mb=8))
    assert b"OSError" in result.stderr
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 8 << 20


def test_tmp_is_limited(python: Python) -> None:
    code = "import sys\nfor i in range(40): open(f'{sys.argv[1]}/{i}', 'wb').write(bytes(1 << 20))"
    assert b"No space left" in python(code, "/tmp", limits=Limits(file_mb=8)).stderr


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


# Nothing is left behind


def start_owner(owner_script: list[str], shared: Path, seconds: float) -> subprocess.Popen[bytes]:
    """Start a process that runs a beating command in a sandbox, and wait until it beats."""
    shared.mkdir()
    process = subprocess.Popen([*owner_script, str(shared), str(seconds), GRANDCHILD + "beat()"])
    deadline = time.monotonic() + 60
    while not (shared / "beat").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def left_by(pid: int) -> list[str]:
    """Containers, processes and folders whose owner is (or was) this process."""
    listed = subprocess.run(
        ["docker", "ps", "-a", "--filter", "label=org.lmr-author.owner", "--format", "{{.Labels}}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    containers = [line for line in listed.stdout.splitlines() if f"owner={pid}." in line]
    folders = [str(path) for path in Path(tempfile.gettempdir()).glob(f"lmr-author-run.{pid}.*")]
    return [*containers, *folders, *map(str, owner.marked(f"{pid}."))]


@pytest.mark.parametrize("presses", [1, 2])
def test_interrupt_leaves_nothing(owner_script: list[str], tmp_path: Path, presses: int) -> None:
    process = start_owner(owner_script, tmp_path / "shared", 60)
    assert left_by(process.pid)
    for _ in range(presses):
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    assert process.wait(30) != 0
    assert left_by(process.pid) == []
    assert stopped(tmp_path / "shared" / "beat")


def test_killed_owners_remains_are_removed_by_the_next(
    owner_script: list[str], tmp_path: Path, make: Callable[[str], Sandbox], backend: str
) -> None:
    process = start_owner(owner_script, tmp_path / "shared", 60)
    process.kill()
    process.wait()
    with make(backend) as following:
        following.prepare()
    assert left_by(process.pid) == []
    assert stopped(tmp_path / "shared" / "beat")


def test_running_owners_are_left_alone(
    owner_script: list[str], tmp_path: Path, make: Callable[[str], Sandbox], backend: str
) -> None:
    process = start_owner(owner_script, tmp_path / "shared", 60)
    with make(backend) as following:
        following.prepare()
    assert not stopped(tmp_path / "shared" / "beat")
    process.send_signal(signal.SIGINT)
    process.wait(30)
