"""What lies in a task folder: files, folders, links and what is none of these."""

from __future__ import annotations

import os
from collections.abc import Iterator
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
    """

    relative: str
    kind: str
    size: int
    name: str
    folder: str
    suffix: str = ""


def listing(root: str) -> Iterator[Entry]:
    """Yield everything below a folder, depth first in the order of names, links not followed."""
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
            kind, size = "link" if item.is_symlink() else "special", 0
            if item.is_file(follow_symlinks=False):
                kind, size = "file", _size(item)
            elif item.is_dir(follow_symlinks=False):
                kind = "folder"
                folders.append((prefix + item.name, item.name))
            yield Entry(prefix + item.name, kind, size, item.name, relative, suffix(item.name))
        stack.extend(reversed(folders))


def _size(item: os.DirEntry[str]) -> int:
    try:
        return item.stat(follow_symlinks=False).st_size
    except OSError:  # removed meanwhile
        return 0
