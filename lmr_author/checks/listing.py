"""What lies in a task folder: files, folders, links and what is none of these."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import NamedTuple

from lmr_author.files import suffix


class Entry(NamedTuple):
    """Something in the task folder: a file, a folder, a symbolic link, or a special file.

    Attributes:
        relative: path in the task folder, with ``/``; undecodable bytes as surrogates.
        kind: ``"file"``, ``"folder"``, ``"link"`` or ``"special"`` (FIFO, socket, device); ``"closed"``, beside
            its ``"folder"``, for a folder that cannot be listed.
        size: in bytes, 0 for what is no file.
        name: last part of the path.
        folder: the folder it is in; "" for the task folder itself.
        suffix: file ending with its dot, lower case; "" when there is none.
        status: what the file system said of it, of a folder before it was listed; None when it said nothing.
    """

    relative: str
    kind: str
    size: int
    name: str
    folder: str
    suffix: str = ""
    status: os.stat_result | None = None


Take = Callable[[str], os.stat_result | None]
"""Does something with a file, given its path in the folder, and says what the file system said of it on the way."""


def listing(root: str, take: Take | None = None) -> Iterator[Entry]:
    """Everything below a folder, depth first in the order of names, links not followed.

    Args:
        take: called with each file; one of which it says something is not asked for once more.
    """
    stack = [("", "")]
    while stack:
        relative, name = stack.pop()
        try:
            with os.scandir(f"{root}/{relative}") as opened:
                found = sorted(opened, key=attrgetter("name"))
        except OSError:  # not allowed, or too deep for a path
            if relative:
                yield Entry(relative, "closed", 0, name, relative.rpartition("/")[0])
            continue
        prefix = f"{relative}/" if relative else ""
        folders = []
        for item in found:
            name = item.name
            path = prefix + name
            if item.is_file(follow_symlinks=False):
                said = (take(path) if take else None) or status(item)
                yield Entry(path, "file", said.st_size if said else 0, name, relative, suffix(name), said)
                continue
            kind = "link" if item.is_symlink() else "special"
            if item.is_dir(follow_symlinks=False):
                kind = "folder"
                folders.append((path, name))
            yield Entry(path, kind, 0, name, relative, suffix(name), status(item))
        stack.extend(reversed(folders))


def status(path: str | os.DirEntry[str]) -> os.stat_result | None:
    """What the file system says of something, a link itself; None when it says nothing."""
    try:
        return os.lstat(path) if isinstance(path, str) else path.stat(follow_symlinks=False)
    except OSError:
        return None


def same_state(one: os.stat_result | None, other: os.stat_result | None) -> bool:
    """Whether two states of a file are those of the same content."""
    if one is None or other is None:
        return one is other
    return (one.st_ctime_ns, one.st_size, one.st_ino) == (other.st_ctime_ns, other.st_size, other.st_ino)
