"""Resource limits of the kernel, as options of util-linux's prlimit."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from lmr_author.sandbox.base import Limits


def options(limits: Limits, processes: int) -> list[str]:
    """``--as=… --fsize=… --nproc=… --core=0``, none above what this process itself may have."""
    wanted = (
        ("as", resource.RLIMIT_AS, limits.memory_mb << 20),
        ("fsize", resource.RLIMIT_FSIZE, limits.file_mb << 20),
        ("nproc", resource.RLIMIT_NPROC, processes),
        ("core", resource.RLIMIT_CORE, 0),
    )
    found = []
    for name, number, value in wanted:
        hard = resource.getrlimit(number)[1]
        found.append(f"--{name}={value if hard == resource.RLIM_INFINITY else min(value, hard)}")
    return found


def running_already() -> int:
    """Threads that this user runs now; 0 for root, whom the kernel does not count, or where it is unknown."""
    if os.geteuid() == 0:
        return 0
    total = 0
    processes = Path("/proc")
    for process in processes.iterdir() if processes.is_dir() else ():
        try:
            if process.name.isdigit() and process.stat().st_uid == os.geteuid():
                total += sum(1 for _ in (process / "task").iterdir())
        except OSError:
            continue
    return total


def counted_per_namespace() -> bool:
    """Whether the kernel counts processes in each user namespace by itself (Linux 5.14 and newer)."""
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int("".join(filter(str.isdigit, minor[:3])) or 0)) >= (5, 14)
