"""One lock for each task: of several commands that change it, one works and the others wait.

The lock is an ``flock`` on the task's folder. It needs no file, follows the folder when that is renamed, and the kernel
releases it when the process ends, however that happens. Programs that we start do not inherit it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from lmr_author.core import files, owner

_PROGRAM = ("lmr-author", "lmr_author", "__main__.py")


@dataclass(frozen=True)
class Holder:
    """The process that works on a task.

    Attributes:
        pid: its number.
        arguments: its verb and what follows; () when it is not the command line program, or cannot be seen.
        since: when it was started; None when that is unknown.
    """

    pid: int
    arguments: tuple[str, ...]
    since: datetime | None


OnWait = Callable[[Path, Holder | None], None]
"""Called with the task's folder and who works on it (None: unknown) before waiting."""


def _wait_silently(_: Path, __: Holder | None) -> None: ...


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

    What a killed command left in the task, or among our temporary folders, is removed first. Does nothing where there
    is no folder.
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
    """Return a descriptor that holds the lock; wait for it, and say who has it, when that takes time."""
    descriptor = _lockable(folder)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        try:
            on_wait(folder, _holder(os.fstat(descriptor).st_ino))
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # Ctrl-C ends it
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


def _lockable(folder: Path) -> int:
    """Open a folder, or what stands for it where it cannot be locked."""
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
    """Open a file in the user's cache folder that stands for a folder that cannot be locked."""
    digest = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:16]
    path = files.user_cache() / "locks" / digest
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _holder(inode: int) -> Holder | None:
    """Return who holds an flock, as /proc/locks has it (proc_locks(5)); None where that does not tell."""
    try:
        lines = Path("/proc/locks").read_text("ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        # 3: FLOCK  ADVISORY  WRITE 4242 fe:00:2155646 0 EOF; a line of one that waits has "->" after the number.
        words = line.split()
        if words[1] == "FLOCK" and words[5].endswith(f":{inode}") and int(words[4]) > 0:
            pid = int(words[4])
            return Holder(pid, _arguments(pid), owner.started(pid))
    return None


def _arguments(pid: int) -> tuple[str, ...]:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return ()
    for number, word in enumerate(words[:6]):
        if Path(word).name in _PROGRAM:
            return tuple(word for word in words[number + 1 :] if word)
    return ()
