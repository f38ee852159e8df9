"""One suite for every backend: what code inside cannot do, and how much of everything it may use."""

from __future__ import annotations

import ctypes
import platform
import signal
import socket
import subprocess
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lmr_author.runtime.sandbox.base import ExecResult, Limits, Mount
from tests.sandbox.beats import GRANDCHILD, stopped

Python = Callable[..., ExecResult]


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


MAKES_NAMESPACES = """
import ctypes, os, platform
NEWUSER, SIGCHLD = 0x10000000, 17
clone, unshare, clone3 = (56, 272, 435) if platform.machine() == "x86_64" else (220, 97, 435)
libc = ctypes.CDLL(None, use_errno=True)
uid, parent, made = os.getuid(), os.getpid(), []
flags = (ctypes.c_uint64 * 8)(NEWUSER, 0, 0, 0, SIGCHLD)
for arguments in ((clone, NEWUSER | SIGCHLD, 0, 0, 0, 0), (clone3, flags, 64)):
    child = libc.syscall(*arguments)
    if child == 0 and os.getpid() != parent:
        os._exit(0)
    made += [arguments[0]] if child > 0 else []
made += [unshare] if libc.syscall(unshare, NEWUSER | 0x20000) == 0 else []
if unshare in made:
    open("/proc/self/uid_map", "w").write(f"0 {uid} 1")
mounted = [place for place in (b"/tmp", b"/dev/shm") if libc.mount(b"tmpfs", place, b"tmpfs", 0, b"size=8g") == 0]
print(made, mounted)
"""
MEMORY_OF_NO_PROCESS = """
import ctypes, os, sys
if sys.argv[1] == "memfd":
    for number in range(64):
        os.write(os.memfd_create("file"), bytes(16 << 20))
else:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    for number in range(64):
        segment = libc.shmget(0, 16 << 20, 0o1600)
        if segment < 0:
            raise OSError(ctypes.get_errno())
        place = libc.shmat(segment, None, 0)
        ctypes.memset(place, 1, 16 << 20)
        libc.shmdt(ctypes.c_void_p(place))
"""


def test_no_user_namespace_is_made_inside(python: Python) -> None:
    result = python(MAKES_NAMESPACES)
    assert result.stdout == b"[] []\n", result.stderr


@pytest.mark.parametrize("kind", ["memfd", "shm"])
def test_memory_of_no_process_is_limited(python: Python, kind: str) -> None:
    result = python(MEMORY_OF_NO_PROCESS, kind, limits=Limits(memory_mb=256, file_mb=32, seconds=60))
    assert result.exit_code != 0
    assert not result.timed_out


def test_tmp_and_shm_are_no_larger_than_the_memory(python: Python) -> None:
    code = (
        "import os, sys\n"
        "for place in sys.argv[1:]:\n"
        "    try:\n"
        "        for i in range(40): open(f'{place}/{i}', 'wb').write(bytes(16 << 20))\n"
        "    except OSError: pass\n"
        "    written = sum(file.stat().st_size for file in os.scandir(place)) >> 20\n"
        "    if written > 256: print(place, written)\n"
    )
    result = python(code, "/tmp", "/dev/shm", limits=Limits(memory_mb=256, file_mb=1024, seconds=60))
    assert result.stdout == b""


KEYS = """
import ctypes, platform, sys
add, request, control = (248, 249, 250) if platform.machine() == "x86_64" else (217, 218, 219)
libc, name = ctypes.CDLL(None, use_errno=True), sys.argv[1].encode()
key, text = libc.syscall(request, b"user", name, None, 0), ctypes.create_string_buffer(64)
libc.syscall(control, 11, key, text, 64)
print(key > 0, text.value, libc.syscall(add, b"user", b"left", b"behind", 6, -3) > 0)
"""


def test_keys_of_the_hosts_session_are_out_of_reach(python: Python) -> None:
    """A session's keyring is inherited by all of its processes, and what one of them leaves there stays."""
    libc = ctypes.CDLL(None, use_errno=True)
    add, join = (248, 250) if platform.machine() == "x86_64" else (217, 219)
    if libc.syscall(join, 1, None) < 0 or libc.syscall(add, b"user", b"ours", b"secret", 6, -3) < 0:
        pytest.skip("this kernel, or what it runs in, has no keyrings")
    assert python(KEYS, "ours").stdout == b"False b'' False\n"
    assert python(KEYS, "left").stdout == b"False b'' False\n"


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
    code = GRANDCHILD + "print('said', flush=True); beat()"
    result = python(code, "/shared/beat", mounts=mounts, limits=Limits(seconds=1.5))
    assert result.timed_out
    assert result.exit_code == -signal.SIGKILL
    assert result.stdout == b"said\n", "output before the limit is kept"
    assert stopped(tmp_path / "beat")


def test_a_run_is_ended_when_it_is_told_to_stop(python: Python, tmp_path: Path) -> None:
    mounts = (Mount(tmp_path, "/shared", writable=True),)
    beat = tmp_path / "beat"
    result = python(GRANDCHILD + "beat()", "/shared/beat", mounts=mounts, stop=beat.exists)
    assert (result.stopped, result.timed_out) == (True, False)
    assert stopped(beat)


def test_a_run_that_need_not_stop_goes_on_to_its_end(python: Python) -> None:
    result = python("import time; time.sleep(0.2); print('end')", stop=lambda: False)
    assert (result.stopped, result.exit_code, result.stdout) == (False, 0, b"end\n")


def test_time_limit_holds_for_a_program_that_has_closed_its_output(python: Python) -> None:
    code = "import os, time; os.close(1); os.close(2); time.sleep(60)"
    assert python(code, limits=Limits(seconds=1)).timed_out


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
    assert python(code, limits=Limits(processes=32, seconds=1)).timed_out


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
