"""A real Dask scheduler on this machine, with workers that tests kill."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.program import ENVIRONMENT, wait_for

_ADDRESS = re.compile(rb"tcp://127\.0\.0\.1:\d+")


@contextmanager
def cluster_of(folder: Path, workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and workers with one thread each; give its address and their processes."""
    running: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> Path:
        log = folder / f"dask-{len(running)}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{name}", *arguments, "--no-dashboard"],
                env=ENVIRONMENT | {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "20"},
                cwd=folder,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        running.append(process)
        return log

    try:
        log = start("dask_scheduler", "--port", "0", "--host", "127.0.0.1")
        wait_for(lambda: _ADDRESS.search(log.read_bytes()))
        address = _ADDRESS.findall(log.read_bytes())[0].decode()
        logs = [start("dask_worker", address, "--nthreads", "1", "--no-nanny") for _ in range(workers)]
        for log in logs:
            wait_for(lambda log=log: b"Registered to" in log.read_bytes(), 120)
        yield address, running[1:]
    finally:
        for process in reversed(running):
            process.kill()
            process.wait()
