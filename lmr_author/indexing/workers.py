"""Reading files in several processes, of which one may die of a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from lmr_author.indexing import records

ALONE_BELOW = 512 * 1024
"""So little (bytes) is read in this process: starting others would take longer."""

_ROOT = str(Path(__file__).resolve().parent.parent.parent)
_PROGRAM = f"import sys; sys.path.append({_ROOT!r}); from lmr_author.indexing.worker import main; main()"
# Isolated, without site-packages, and never with the current folder on the path: a repository is untrusted.
_COMMAND = (sys.executable, "-I", "-S", "-c", _PROGRAM)


def read_all(sizes: Mapping[str, int], jobs: int) -> Iterator[tuple[str, str, bytes]]:
    """(path, digest, record) of files, in any order.

    Args:
        sizes: path on disk → bytes, by which the work is shared out.
        jobs: processes at most.
    """
    if jobs < 1 or len(sizes) < 2 or sum(sizes.values()) < ALONE_BELOW:
        yield from ((path, *records.read_file(path)) for path in sizes)
        return
    shares = _shares(sizes, jobs)
    while shares:
        rest: list[list[str]] = []
        for share, lines in zip(shares, _run(shares), strict=True):
            done = [(path, *_split(line)) for path, line in zip(share, lines, strict=False)]
            yield from done
            if len(done) < len(share):
                # The process died of the file that comes next: the others are read by a new one.
                yield share[len(done)], "", records.unread("Python's parser crashed on it")
                rest.append(share[len(done) + 1 :])
        shares = [share for share in rest if share]


def _shares(sizes: Mapping[str, int], jobs: int) -> list[list[str]]:
    """Paths in shares of about the same number of bytes: the largest first, each to the smallest share."""
    shares: list[list[str]] = [[] for _ in range(min(jobs, len(sizes)))]
    loads = [0] * len(shares)
    for path in sorted(sizes, key=lambda path: (-sizes[path], path)):
        place = loads.index(min(loads))
        shares[place].append(path)
        loads[place] += sizes[path] + 1000
    return shares


def _run(shares: Sequence[list[str]]) -> list[list[bytes]]:
    """The whole lines that a process wrote for each share. Ctrl-C ends them all."""
    running: list[subprocess.Popen[bytes]] = []
    outputs: list[bytes] = [b""] * len(shares)
    try:
        for _ in shares:
            running.append(_start())
        threads = [
            threading.Thread(target=_feed, args=(outputs, place, process, shares[place]), daemon=True)
            for place, process in enumerate(running)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for process in running:
            process.kill()
            process.wait()
    return [output.split(b"\n")[:-1] for output in outputs]


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=os.sep
    )


def _feed(outputs: list[bytes], place: int, process: subprocess.Popen[bytes], share: Iterable[str]) -> None:
    # JSON in ASCII carries names that are no UTF-8 as lone surrogates, and gives them back.
    outputs[place] = process.communicate(json.dumps(list(share)).encode())[0]


def _split(line: bytes) -> tuple[str, bytes]:
    digest, _, record = line.partition(b" ")
    return digest.decode(), record
