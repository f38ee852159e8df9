"""Owners of containers, processes and temporary folders, so that the remains of a killed owner can be removed.

An owner is written as ``<pid>.<start time>.<pid namespace>.<boot>``. A process id alone would be wrong after
it is used again, after a reboot, or seen from inside another container.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from lmr_author import files

MARKER = "LMR_AUTHOR_RUN"
"""Environment variable that every process of a local run inherits: the owner, a dot, and the run's id."""


def me() -> str:
    """Return this process as an owner."""
    return ".".join((str(os.getpid()), _start_time(os.getpid()), *_place()))


def is_gone(owner: str) -> bool:
    """Return whether this owner certainly runs no more.

    False when it cannot be told from here: another machine, another pid namespace, or nonsense.
    """
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
    """Return the processes (not this one) whose environment has the marker with a value starting with ``value``.

    Only those that /proc shows: none where there is no /proc, and not a process that cleared its environment.
    """
    return [pid for pid, mark in _marks() if mark.startswith(value)]


def orphans() -> list[int]:
    """Return the processes of local runs whose owner is gone."""
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
    """Kill processes that may have ended meanwhile."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def folder_prefix(prefix: str) -> str:
    """Return the start of the name of this process's temporary folders; :mod:`tempfile` makes it unique."""
    return f"{prefix}{me()}."


def remove_folders_of_the_gone(prefix: str) -> None:
    """Remove the temporary folders, named by :func:`folder_prefix`, whose owner was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        if is_gone(folder.name.removeprefix(prefix).rpartition(".")[0]):
            files.remove(folder)


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
        return ("0", "0")
    return namespace, boot
