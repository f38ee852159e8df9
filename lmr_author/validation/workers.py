"""Validating tasks in several processes, of which one may die of a task, or never come to an end with it."""

from __future__ import annotations

import json
import os
import queue
import selectors
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from lmr_author.taskdir import TaskDir
from lmr_author.validation import limits
from lmr_author.validation.examine import lost
from lmr_author.validation.processes import Process, start
from lmr_author.validation.worker import Answer


def validate_all(
    tasks: Sequence[TaskDir],
    codes: Sequence[str],
    jobs: int,
    *,
    cached: bool,
    asked: bool = True,
    seconds: float = limits.SECONDS,
) -> Iterator[tuple[int, Answer]]:
    """The number and answer of each task as it is ready, in any order. Ctrl-C ends all processes.

    Args:
        codes: of the checks to run.
        jobs: processes at most.
        cached: whether results are for the user's cache.
        asked: whether it may know some of the tasks.
        seconds: that one task may take.
    """
    crew = [_Worker(codes, {"cached": cached, "asked": asked}, seconds) for _ in range(min(jobs, len(tasks)))]
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    answers: queue.SimpleQueue[tuple[int, Answer] | BaseException] = queue.SimpleQueue()
    for number in range(len(tasks)):
        waiting.put(number)

    shared = (tasks, waiting, answers)
    threads = [threading.Thread(target=_work, args=(worker, *shared), daemon=True) for worker in crew]
    try:
        for worker in crew:
            worker.running()  # before there are threads, so that they can be copies of this process
        for thread in threads:
            thread.start()
        for _ in tasks:
            answer = answers.get()
            if isinstance(answer, BaseException):
                raise answer
            yield answer
    finally:
        for worker in crew:
            worker.end()


def _work(
    worker: _Worker,
    tasks: Sequence[TaskDir],
    waiting: queue.SimpleQueue[int],
    answers: queue.SimpleQueue[tuple[int, Answer] | BaseException],
) -> None:
    """Take tasks as long as there are any; what a worker raises is an answer, too."""
    try:
        number = waiting.get_nowait()
        process = worker.asked(tasks[number])
        while True:
            line, why = worker.answer(process)
            try:  # it begins with the next one while this answer is read
                following = waiting.get_nowait()
                process = worker.asked(tasks[following])
            finally:
                answers.put((number, _read(tasks[number], line, why)))
            number = following
    except queue.Empty:
        worker.end()
    except BaseException as error:
        answers.put(error)


def _read(task: TaskDir, line: bytes, why: str) -> Answer:
    """What a process said of a task; what it died of is a finding."""
    try:
        return Answer.from_json(json.loads(line))
    except (ValueError, KeyError, TypeError):
        return Answer(lost(task, why))


class _Worker:
    """A process that validates one task after another, and a new one whenever it has gone."""

    def __init__(self, codes: Sequence[str], request: Mapping[str, bool], seconds: float) -> None:
        self._codes = codes
        self._request = request
        self._seconds = seconds
        self._process: Process | None = None
        self._ended = False
        self._lock = threading.Lock()

    def asked(self, task: TaskDir) -> Process:
        """The process, with a task to validate. Raises queue.Empty when it was ended."""
        process = self.running()
        assert process.stdin
        request = {"root": os.fspath(task.root.absolute()), **self._request}
        with suppress(OSError):  # it has died: there will be no answer
            process.stdin.write(json.dumps(request).encode("ascii") + b"\n")
            process.stdin.flush()
        return process

    def answer(self, process: Process) -> tuple[bytes, str]:
        """(a line, what the process did if the line is no answer): then there will be another process."""
        assert process.stdout
        line, why = b"", "ended the process"
        try:
            with selectors.DefaultSelector() as waiting:
                waiting.register(process.stdout, selectors.EVENT_READ)
                if waiting.select(self._seconds):
                    line = process.stdout.readline()
                else:
                    why = f"took more than {self._seconds:.0f} s"
        except (OSError, ValueError):  # it was ended, and its files are closed
            pass
        if not line.endswith(b"\n"):
            self._gone(process)
        return line, why

    def end(self) -> None:
        """End the process, and start no other."""
        with self._lock:
            self._ended = True
            process = self._process
        if process is not None:
            self._gone(process)

    def running(self) -> Process:
        """The process, started if there is none. Raises queue.Empty when it was ended."""
        with self._lock:
            if self._ended:
                raise queue.Empty
            if self._process is None:
                self._process = start(self._codes)
            return self._process

    def _gone(self, process: Process) -> None:
        process.kill()
        process.wait()
        with self._lock:
            if self._process is process:
                self._process = None
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
