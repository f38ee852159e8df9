"""Recipes side by side: each in a process of its own, or on a cluster; one that dies takes no other with it."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from lmr_author.core import processes
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress
from lmr_author.release.recipes.make import MakeOptions, Row, make_one
from lmr_author.release.recipes.recipe import Folder
from lmr_author.runtime import cluster

_ENDING_SECONDS = 20
_Running = dict[Connection, tuple[Folder, BaseProcess]]


def make_on_cluster(folders: Sequence[Folder], options: MakeOptions, address: str) -> Iterator[Row]:
    """Make the tasks of recipes on a Dask cluster, and yield a row for each as it is done.

    The workers see the same folders, of recipes, tasks and stand-ins. What a lost worker had begun, another one
    completes from its last finished stage.
    """
    wanted = [replace(folder, path=folder.path.absolute()) for folder in folders]
    paths = dict(zip((folder.path for folder in wanted), folders, strict=True))
    there = replace(options, where=options.where.absolute)
    made = cluster.spread(address, partial(_make_there, there), wanted, gpus=bool(options.where.gpus))
    for folder, row in made:
        path = paths[folder.path].path
        if isinstance(row, LmrError):
            yield Row(path, folder.task, problem=row.message, hint=row.hint)
        else:
            yield replace(row, path=path)


def _make_there(options: MakeOptions, folder: Folder) -> Row:
    for path in (folder.path, options.out):
        cluster.require_shared(path)
    return make_one(folder, options, lambda line: None)


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
    process = context.Process(target=_work, args=(folder, options, there))
    with processes.safe_path():
        process.start()
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
    processes.begin_worker()
    signal.signal(signal.SIGTERM, _interrupt)
    with suppress(KeyboardInterrupt, BrokenPipeError):
        connection.send(make_one(folder, options, connection.send))


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
