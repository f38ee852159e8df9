"""Locks between processes. Each task has one: of several commands that change it, one works and the others wait.

That lock is an ``flock`` on the task's folder. It needs no file, follows the folder when that is renamed, and the
kernel releases it when the process ends, however that happens. Programs that we start do not inherit it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from lmr_author.core import files

OnWait = Callable[[Path], None]
"""Called with the task's folder before waiting for another command that works on it."""


def _wait_silently(_: Path) -> None: ...


on_wait: OnWait = _wait_silently
"""The command line replaces it to say why it waits."""


@dataclass
class _Lock:
    """This process's part in a task's lock. Verbs call each other: the first takes it, the last one releases it."""

    mutex: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0
    descriptor: int = -1


_LOCKS: dict[str, _Lock] = {}


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a task's lock for the time of the block; wait until it is free. Threads of a process share it.

    What a killed command left in the task, or among our temporary folders, is removed first. Does nothing without a
    folder.
    """
    if not folder.is_dir():
        yield
        return
    lock = _LOCKS.setdefault(os.path.realpath(folder), _Lock())
    with lock.mutex:
        if lock.users == 0:
            lock.descriptor = _acquired(folder)
            try:
                files.remove_abandoned(folder, ".", below=True)
                files.remove_abandoned_temporaries()
            except BaseException:
                os.close(lock.descriptor)
                raise
        lock.users += 1
    try:
        yield
    finally:
        with lock.mutex:
            lock.users -= 1
            if lock.users == 0:
                os.close(lock.descriptor)


class _HasRoot(Protocol):
    @property
    def root(self) -> Path: ...


_Task = TypeVar("_Task", bound=_HasRoot)
_Rest = ParamSpec("_Rest")
_Result = TypeVar("_Result")


def changes_task(
    verb: Callable[Concatenate[_Task, _Rest], _Result],
) -> Callable[Concatenate[_Task, _Rest], _Result]:
    """Decorate a function that reads a task, its first argument, and writes it: it holds the task's lock."""

    @wraps(verb)
    def run(task: _Task, /, *args: _Rest.args, **kwargs: _Rest.kwargs) -> _Result:
        with held(task.root):
            return verb(task, *args, **kwargs)

    return run


def _acquired(folder: Path) -> int:
    descriptor = _lockable(folder)
    try:
        _acquire(descriptor, lambda: on_wait(folder))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _acquire(descriptor: int, before_waiting: Callable[[], None]) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        before_waiting()
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # Ctrl-C ends it


@contextmanager
def exclusive(path: Path, before_waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of a file; ``before_waiting`` for another process, call a function, which may raise instead."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        _acquire(file.fileno(), before_waiting)
        yield


def _lockable(folder: Path) -> int:
    """Open a folder, or a file in the user's cache that stands for one that cannot be locked."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pass
    except OSError:  # NFS locks only what is open for writing, and a folder cannot be
        os.close(descriptor)
        return _in_cache(folder)
    return descriptor


def _in_cache(folder: Path) -> int:
    digest = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:16]
    path = files.user_cache() / "locks" / digest
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
