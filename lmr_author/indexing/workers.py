"""Reading files in several processes, of which one may die of a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

from lmr_author.indexing import records

ALONE_BELOW = 512 * 1024
"""So little (bytes) is read in this process: starting others would take longer."""

BATCHES_EACH = 12
"""Batches for each process: few enough to cost nothing, and the last ones are small."""

Reading = tuple[str, str, bytes]
_ROOT = str(Path(__file__).resolve().parent.parent.parent)
_PROGRAM = f"import sys; sys.path.append({_ROOT!r}); from lmr_author.indexing.worker import main; main()"
# Isolated, without site-packages, and never with the current folder on the path: a repository is untrusted.
_COMMAND = (sys.executable, "-I", "-S", "-c", _PROGRAM)


def read_all(sizes: Mapping[str, int], jobs: int, words: bool = True) -> Iterator[Reading]:
    """(path, digest, record) of files, in any order, each as soon as it is read.

    Args:
        sizes: path on disk → bytes, by which the work is shared out.
        jobs: processes at most.
        words: whether the records are whole, or outlines.
    """
    if jobs < 1 or len(sizes) < 2 or sum(sizes.values()) < ALONE_BELOW:
        yield from ((path, *records.read_file(path, words)) for path in sizes)
        return
    pool = _Pool(_batches(sizes, jobs), min(jobs, len(sizes)), words)
    try:
        yield from pool.results()
    finally:
        pool.close()


def _batches(sizes: Mapping[str, int], jobs: int) -> deque[list[str]]:
    """Paths in batches of about the same number of bytes, the largest files first: the rest evens out the ends."""
    limit = sum(sizes.values()) // (jobs * BATCHES_EACH)
    batches: deque[list[str]] = deque()
    load = limit + 1
    for path in sorted(sizes, key=lambda path: (-sizes[path], path)):
        if load > limit:
            batches.append([])
            load = 0
        batches[-1].append(path)
        load += sizes[path] + 1000
    return batches


class _Pool:
    """Processes that take batches, each fed by a thread of its own.

    Args:
        batches: of paths; emptied.
        jobs: how many processes.
        words: whether the records are whole, or outlines.
    """

    def __init__(self, batches: deque[list[str]], jobs: int, words: bool) -> None:
        self._batches = batches
        self._words = words
        self._found: SimpleQueue[list[Reading] | OSError | None] = SimpleQueue()
        self._running: list[subprocess.Popen[bytes]] = []
        self._closed = False
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(jobs)]

    def results(self) -> Iterator[Reading]:
        """What is read, until all is. Raises OSError when no process can be started."""
        for thread in self._threads:
            thread.start()
        for _ in self._threads:
            while (found := self._found.get()) is not None:
                if isinstance(found, OSError):
                    raise found
                yield from found

    def close(self) -> None:
        """End what still runs: after Ctrl-C it is in the middle of its batch."""
        with self._lock:
            self._closed = True
        for process in self._running:
            process.kill()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        for process in self._running:
            process.communicate()  # it is dead: this closes the pipes

    def _work(self) -> None:
        try:
            process = self._start()
            while process and (batch := self._next()):
                done = self._read(process, batch)
                self._found.put(done)
                if len(done) < len(batch):
                    # The process died of the file that comes next: the others are read by a new one.
                    self._found.put([(batch[len(done)], "", records.unread("Python's parser crashed on it"))])
                    self._batches.appendleft(batch[len(done) + 1 :])
                    process = self._start()
        except OSError as error:
            self._found.put(error)
        finally:
            self._found.put(None)

    def _start(self) -> subprocess.Popen[bytes] | None:
        """A new process; None when there is nothing left to do."""
        with self._lock:
            if self._closed:
                return None
            pipe = subprocess.PIPE
            process = subprocess.Popen(
                _COMMAND, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=os.sep
            )
            self._running.append(process)
            return process

    def _next(self) -> list[str]:
        """A batch that is not empty; [] when there is none."""
        batch: list[str] = []
        with suppress(IndexError):
            while not batch:
                batch = self._batches.popleft()
        return batch

    def _read(self, process: subprocess.Popen[bytes], batch: list[str]) -> list[Reading]:
        """What a process reads of a batch: fewer files than it has when the process dies."""
        assert process.stdin and process.stdout
        done: list[Reading] = []
        with suppress(BrokenPipeError):
            # JSON in ASCII carries names that are no UTF-8 as lone surrogates, and gives them back.
            process.stdin.write(json.dumps([self._words, batch]).encode() + b"\n")
            process.stdin.flush()
        for path in batch:
            line = process.stdout.readline()
            if not line.endswith(b"\n"):
                break
            digest, _, record = line[:-1].partition(b" ")
            done.append((path, digest.decode(), record))
        return done
