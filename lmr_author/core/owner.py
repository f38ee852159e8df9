"""Owners of containers, processes and temporary files, so that the remains of a killed owner can be removed.

An owner is written as ``<pid>.<start time>.<pid namespace>.<boot>``. A process id alone would be wrong after
it is used again, after a reboot, or seen from inside another container.
"""

from __future__ import annotations

import os
import re
import signal
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

MARKER = "LMR_AUTHOR_RUN"
"""Environment variable that every program we start inherits: the owner, a dot, and the id of a run in a sandbox."""
_BOOT_DIGITS = 8
"""Enough to distinguish boots; an owner is a part of file names, whose length is limited."""
_OWNER = r"\d+\.\d*\.\d+\.[0-9a-f]+"
_IN_NAME = re.compile(rf"[.-]({_OWNER})\.[a-z0-9_]{{8}}(?:\.tmp|\.partial)?$")
_TEMPORARY = re.compile(rf"(^|/)\.([^/]+)\.{_OWNER}\.[a-z0-9_]{{8}}\.(?:tmp|partial)(?=/|$)")
"""The names that :mod:`lmr_author.core.files` gives: a prefix, the owner, and what :mod:`tempfile` adds."""


def me() -> str:
    return _owner(os.getpid())


@cache
def _owner(pid: int) -> str:
    return ".".join((str(pid), _start_time(pid), *_place()))


def is_gone(owner: str) -> bool:
    """Return True if an owner has certainly ended; False if unknown: another machine or pid namespace, or nonsense."""
    parts = owner.split(".")
    if len(parts) != 4 or not parts[0].isdigit() or tuple(parts[2:]) != _place():
        return False
    pid = int(parts[0])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return _start_time(pid) not in (parts[1], "")


def marked(value: str) -> list[int]:
    """Return the processes, but this one, whose marker begins with ``value``, as far as /proc shows them."""
    return [pid for pid, mark in _marks() if mark.startswith(value)]


def orphans() -> list[int]:
    """Return the processes that an owner that is gone has started."""
    return [pid for pid, mark in _marks() if is_gone(mark.rpartition(".")[0])]


def kill_marked(value: str) -> None:
    """Kill all processes of a run, also those that left its process group."""
    # Again until none is found: one may have forked while we looked.
    for _ in range(100):
        left = marked(value)
        if not left:
            return
        kill(left)


def kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def of_name(name: str) -> str:
    """Return the owner in the name of a temporary file or folder of ours; "" for any other name."""
    match = _IN_NAME.search(name)
    return match[1] if match else ""


def final_path(path: str) -> str:
    """Return a path with the temporary names in it replaced by those that the files get in the end."""
    return _TEMPORARY.sub(r"\1\2", path)


def _marks() -> Iterator[tuple[int, str]]:
    """Yield each process (not this one) whose environment has the marker, with its value."""
    start = f"{MARKER}=".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        mark = next((item for item in variables if item.startswith(start)), None)
        if mark is not None and int(folder.name) != os.getpid():
            yield int(folder.name), mark.removeprefix(start).decode("ascii", "replace")


def _start_time(pid: int) -> str:
    """Return a process's start in clock ticks since boot (field 22 of proc(5) stat), "" if not known."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return ""
    # The second field is the program's name in parentheses and may itself contain some.
    return stat.rpartition(")")[2].split()[19]


def _place() -> tuple[str, str]:
    """Return the pid namespace and the boot that a process id belongs to."""
    try:
        namespace = "".join(filter(str.isdigit, str(Path("/proc/self/ns/pid").readlink())))
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip().replace("-", "")
    except OSError:
        # No /proc (macOS): another machine that shares the folder must differ at least.
        return "0", f"{zlib.crc32(os.uname().nodename.encode()):08x}"
    return namespace, boot[:_BOOT_DIGITS]
