"""Read files of other people: no link leads out of their folder, and no pipe or device makes us wait."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from lmr_author.core.errors import UnsafePathError


def read_inside(root: str, path: str | Path, limit: int) -> bytes | None:
    """Return the content of a regular file of somebody else's folder, of at most ``limit`` bytes; None otherwise.

    A link is followed only when it ends inside of ``root``, which is a path of ``os.path.realpath``.
    """
    try:
        real = os.path.realpath(path)
        if real != root and not real.startswith(root + os.sep):
            return None
    except (OSError, ValueError):
        return None
    return read_regular(real, limit)


def read_regular(path: str, limit: int) -> bytes | None:
    """Return the content of a regular file of at most ``limit`` bytes; None otherwise. Never waits for a named pipe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
                return None
            return file.read(limit)
    except (OSError, ValueError):
        return None


def read(path: Path, limit: int, *, follow: bool = False) -> bytes:
    """Return the content of a file that somebody else wrote. Raises as :func:`require_regular` does."""
    require_regular(path, limit, follow=follow)
    data = read_regular(os.path.realpath(path) if follow else str(path), limit)
    if data is None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return data


def require_regular(path: Path, limit: int, *, follow: bool = False) -> None:
    """Raise UnsafePathError for a link, a pipe, a device, or more than ``limit`` bytes; OSError for no file.

    ``follow``: the user named the path, and it may be a link.
    """
    status = path.stat(follow_symlinks=follow)
    _refuse_special(path, status.st_mode)
    if status.st_size > limit:
        size = f"{limit // 2**20} MiB" if limit >= 2**20 else f"{limit // 2**10} KiB"
        raise UnsafePathError(f"{path} is larger than {size}", "make it smaller, or remove it", path)


def walk(root: Path, limit: int, skip: Callable[[Path], bool] = lambda path: False) -> Iterator[Path]:
    """Yield every file below a folder of somebody else, but for those to ``skip``; only the folder may be a link.

    Raises UnsafePathError for a link, a pipe, a socket or a device, and for more than ``limit`` bytes altogether.
    """
    stack, size = [root], 0
    while stack:
        for entry in sorted(os.scandir(stack.pop()), key=lambda entry: entry.name):
            path = Path(entry.path)
            if skip(path):
                continue
            if entry.is_dir(follow_symlinks=False):
                stack.append(path)
                continue
            status = entry.stat(follow_symlinks=False)
            _refuse_special(path, status.st_mode)
            size += status.st_size
            if size > limit:
                raise UnsafePathError(
                    f"{root} exceeds {limit // 2**20} MiB at {path}",
                    "remove files that are not needed",
                    path,
                )
            yield path


def _refuse_special(path: Path, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = {
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFDIR: "a folder",
    }
    kind = kinds.get(stat.S_IFMT(mode), "a device")
    raise UnsafePathError(
        f"{path} is {kind}, not a file", "replace it by the file itself, or remove it", path
    )
