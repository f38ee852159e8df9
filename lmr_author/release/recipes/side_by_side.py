"""Make recipes in parallel: each in its own process, or on a cluster; a crash affects one recipe only."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from multiprocessing.queues import SimpleQueue

from lmr_author.core import processes
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress
from lmr_author.release.recipes.make import MakeOptions, Problem, RecipeOutcome, make_one
from lmr_author.release.recipes.recipe import Folder
from lmr_author.runtime import cluster

_GRACE_SECONDS = 1.0
"""Time for a process to end after its own Ctrl-C."""
_lines: SimpleQueue[str | None]
"""In a worker: the queue of its progress lines."""


def make_all(
    folders: Sequence[Folder], options: MakeOptions, jobs: int, say: Progress
) -> Iterator[RecipeOutcome]:
    """Make the tasks of recipes, ``jobs`` at a time, and yield a row as each is done."""
    if jobs == 1 or len(folders) == 1:
        yield from (make_one(folder, options, say) for folder in folders)
        return
    with processes.safe_path(), ThreadPoolExecutor(jobs) as threads:
        futures = [threads.submit(in_a_process, folder, options, say) for folder in folders]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:  # after Ctrl-C or a kill, no other is begun, and those under way end
            threads.shutdown(wait=False, cancel_futures=True)
            interrupt_workers()


def interrupt_workers() -> None:
    """Interrupt the other processes: Ctrl-C reaches them anyway, a kill of this process does not."""
    for process in multiprocessing.active_children():
        process.join(_GRACE_SECONDS)
        if process.pid and process.is_alive():
            os.kill(process.pid, signal.SIGINT)


def in_a_process(folder: Folder, options: MakeOptions, say: Progress) -> RecipeOutcome:
    """Make the task of a recipe in its own process; a crash of the process becomes a row.

    Args:
        say: is called from another thread.
    """
    context = multiprocessing.get_context("spawn")
    lines = context.SimpleQueue()
    listener = threading.Thread(target=_listen, args=(lines, say), daemon=True)
    listener.start()
    try:
        with ProcessPoolExecutor(1, context, _begin_worker, (lines,)) as pool:
            return pool.submit(_make_in_worker, folder, options).result()
    except BrokenProcessPool:
        problem = "its process died before the task was finished, perhaps for lack of memory"
        hint = "run the same command again, with fewer --jobs"
        return RecipeOutcome(folder.path, folder.task, folder, error=Problem(problem, hint))
    finally:
        lines.put(None)
        listener.join(_GRACE_SECONDS)


def _listen(lines: SimpleQueue[str | None], say: Progress) -> None:
    while (line := lines.get()) is not None:
        say(line)


def _begin_worker(lines: SimpleQueue[str | None]) -> None:
    global _lines
    _lines = lines
    processes.begin_worker()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Ctrl-C ends its sandboxes, too


def _make_in_worker(folder: Folder, options: MakeOptions) -> RecipeOutcome:
    return make_one(folder, options, _lines.put)


def make_on_cluster(folders: Sequence[Folder], options: MakeOptions, address: str) -> Iterator[RecipeOutcome]:
    """Make the tasks of recipes on a Dask cluster, and yield a row as each is done.

    The workers see the same folders of recipes, tasks and stand-ins. If a worker is lost, another one resumes from the
    last finished stage.
    """
    paths = {folder.path.absolute(): folder.path for folder in folders}
    absolute = [replace(folder, path=path) for path, folder in zip(paths, folders, strict=True)]
    work = partial(_make_there, replace(options, where=options.where.absolute))
    for folder, row in cluster.spread(address, work, absolute, gpus=bool(options.where.gpus)):
        if isinstance(row, LmrError):
            row = RecipeOutcome(folder.path, folder.task, folder, error=Problem.of(row))
        yield replace(row, path=paths[folder.path])


def _make_there(options: MakeOptions, folder: Folder) -> RecipeOutcome:
    for path in (folder.path, options.out):
        cluster.require_shared(path)
    return make_one(folder, options, lambda line: None)
