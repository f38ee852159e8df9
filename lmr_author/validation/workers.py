"""Validating tasks in several processes, of which one may die of a task, or never come to an end with it."""

from __future__ import annotations

import json
import os
import queue
import threading
from collections.abc import Iterator, Sequence

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
    seconds: float = limits.SECONDS,
) -> Iterator[tuple[int, Answer]]:
    """The number and answer of each task as it is ready, in any order. Ctrl-C ends all processes.

    Args:
        codes: of the checks to run.
        jobs: processes at most.
        cached: whether the user's cache may be asked.
        seconds: that one task may take.
    """
    crew = [_Worker(codes, cached, seconds) for _ in range(min(jobs, len(tasks)))]
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    answers: queue.SimpleQueue[tuple[int, Answer] | BaseException] = queue.SimpleQueue()
    for number in range(len(tasks)):
        waiting.put(number)

    def work(worker: _Worker) -> None:
        try:
            while True:
                number = waiting.get_nowait()
                answers.put((number, worker.ask(tasks[number])))
        except queue.Empty:
            pass
        except BaseException as error:
            answers.put(error)

    threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in crew]
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


class _Worker:
    """A process that validates one task after another, and a new one whenever it has gone."""

    def __init__(self, codes: Sequence[str], cached: bool, seconds: float) -> None:
        self._codes = codes
        self._cached = cached
        self._seconds = seconds
        self._process: Process | None = None
        self._ended = False
        self._lock = threading.Lock()

    def ask(self, task: TaskDir) -> Answer:
        """What the process says of a task; what it died of is a finding."""
        process = self.running()
        assert process.stdin and process.stdout
        late = threading.Event()

        def too_late() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._seconds, too_late)
        timer.daemon = True
        timer.start()
        try:
            request = {"root": os.fspath(task.root.absolute()), "cached": self._cached}
            process.stdin.write(json.dumps(request).encode("ascii") + b"\n")
            process.stdin.flush()
            return Answer.from_json(json.loads(process.stdout.readline()))
        except (OSError, ValueError):
            why = f"took more than {self._seconds:.0f} s" if late.is_set() else "ended the process"
            self._gone(process)
            return Answer(lost(task, why))
        finally:
            timer.cancel()

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
                try:
                    stream.close()
                except OSError:
                    pass
