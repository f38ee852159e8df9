"""Recipes side by side: each in a process of its own, so that one that dies takes no other with it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from lmr_author.core.task import Progress
from lmr_author.release.recipes.make import MakeOptions, Row, make_one
from lmr_author.release.recipes.recipe import Folder

_ENDING_SECONDS = 20
_Running = dict[Connection, tuple[Folder, BaseProcess]]


def make_all(folders: Sequence[Folder], options: MakeOptions, jobs: int, say: Progress) -> Iterator[Row]:
    """Make the tasks of recipes, ``jobs`` at a time, and yield a row for each as it is done."""
    if jobs == 1 or len(folders) == 1:
        yield from (make_one(folder, options, say) for folder in folders)
        return
    waiting, running = list(folders), _Running()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                _start(waiting.pop(0), options, running)
            for connection in wait(list(running)):
                assert isinstance(connection, Connection)
                told = _received(connection, running)
                if isinstance(told, Row):
                    running.pop(connection)[1].join()
                    yield told
                else:
                    say(str(told))
    finally:
        _end(running)


def _start(folder: Folder, options: MakeOptions, running: _Running) -> None:
    context = get_context("spawn")
    here, there = context.Pipe()
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"  # the current folder may be a foreign repository: import nothing of it
    try:
        process = context.Process(target=_work, args=(folder, options, there))
        process.start()
    finally:
        os.environ.pop("PYTHONSAFEPATH")
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before
    there.close()
    running[here] = folder, process


def _received(connection: Connection, running: _Running) -> Any:
    """Return a line of progress or the row; a row of its own where the process ended without one."""
    try:
        return connection.recv()
    except EOFError:
        folder, process = running[connection]
        process.join()
        said = f"its process ended with {process.exitcode}, as when memory is short"
        return Row(
            folder.path, folder.task, problem=said, hint="run the same command again, with fewer --jobs"
        )


def _end(running: _Running) -> None:
    """End what is under way, as Ctrl-C would."""
    for _, process in running.values():
        process.terminate()
    for _, process in running.values():
        process.join(_ENDING_SECONDS)
        process.kill()


def _work(folder: Folder, options: MakeOptions, connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it, too, and ends this process
    signal.signal(signal.SIGTERM, _interrupt)
    parent = parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
    with suppress(KeyboardInterrupt, BrokenPipeError):
        connection.send(make_one(folder, options, connection.send))


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
