"""Who owns a container, a process or a temporary folder: so that what a killed owner left can go.

An owner is written as ``<pid>.<start time>.<pid namespace>.<boot>``. A process id alone would be wrong after
it is used again, after a reboot, or seen from inside another container.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

Sweep = Callable[[], None]
"""Kills what a run left behind."""

MARKER = "LMR_AUTHOR_RUN"
"""Environment variable that every process of a local run inherits; its value starts with the owner."""


def me() -> str:
    """The owner's name of this process."""
    return ".".join((str(os.getpid()), _start_time(os.getpid()), *_place()))


def is_gone(owner: str) -> bool:
    """Whether this owner certainly runs no more.

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
    """Processes (not this one) whose environment has the marker with a value starting with ``value``.

    Only what /proc shows us: nothing where there is none, and not a process that cleared its environment.
    """
    wanted = f"{MARKER}={value}".encode()
    found = []
    for pid in _processes():
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if any(item.startswith(wanted) for item in environment.split(b"\0")):
            found.append(pid)
    return found


def orphans() -> list[int]:
    """Processes of local runs whose owner is gone."""
    found = []
    for pid in marked(""):
        try:
            items = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        values = [item.split(b"=", 1)[1] for item in items if item.startswith(f"{MARKER}=".encode())]
        if values and is_gone(values[0].decode("ascii", "replace").rpartition(".")[0]):
            found.append(pid)
    return found


def folder_prefix(prefix: str) -> str:
    """How the name of a temporary folder of this process starts; :mod:`tempfile` adds what makes it unique."""
    return f"{prefix}{me()}."


def remove_folders_of_the_gone(prefix: str) -> None:
    """Remove the temporary folders, named by :func:`folder_prefix`, whose owner was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        if is_gone(folder.name.removeprefix(prefix).rpartition(".")[0]):
            shutil.rmtree(folder, ignore_errors=True)


def _processes() -> list[int]:
    try:
        names = [path.name for path in Path("/proc").iterdir()]
    except OSError:
        return []
    return [int(name) for name in names if name.isdigit() and int(name) != os.getpid()]


def _start_time(pid: int) -> str:
    """Start time of a process in clock ticks since boot (field 22 of proc(5) stat), "" if not known."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return ""
    # The second field is the program's name in parentheses and may itself contain some.
    return stat.rpartition(")")[2].split()[19]


def _place() -> tuple[str, str]:
    """The pid namespace and the boot that a process id belongs to."""
    try:
        namespace = "".join(filter(str.isdigit, str(Path("/proc/self/ns/pid").readlink())))
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip().replace("-", "")
    except OSError:
        return ("0", "0")
    return namespace, boot
