"""Digests of what the result of a validation depends on: the tool, and the task folder.

A task has two. Its *content* is what it holds: names, kinds and bytes. Its *state* is what the file system
says of it (size, inode, time of the last change), which costs a fraction of reading it, as git's index does.
A state that was seen with a content stands for it; ``ctime`` cannot be set by a program, so that a file that
was changed and put back into its old time is noticed.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lmr_author import __version__, resources

MAX_READ = 16 * 1024 * 1024
"""Larger files (bytes) are told by their state alone: a data set is not read to find out that it is the same."""

_PIECE = 1024 * 1024


@dataclass(frozen=True)
class State:
    """What the file system says about a folder.

    Attributes:
        digest: hexadecimal SHA-256; "" when the folder cannot be listed.
        newest: the last change of anything in it, in nanoseconds since 1970.
    """

    digest: str
    newest: int


@cache
def tool() -> str:
    """The tool as it is installed: its version, and the state of its modules and schemas (a checkout changes)."""
    digest = hashlib.sha256(f"{__version__} {sys.version}".encode())
    package = Path(resources.__file__).parent
    for folder in ("checks", "leaks", "source", "validation"):
        digest.update(state(package / folder, sources=True).digest.encode())
    for path in sorted([*package.glob("*.py"), *resources.folder("schemas").glob("*.json")]):
        found = path.stat()
        digest.update(f"{path.name} {found.st_size} {found.st_mtime_ns}".encode())
    return digest.hexdigest()


def state(root: Path, *, sources: bool = False) -> State:
    """The state of everything below a folder, links not followed.

    Args:
        sources: only Python files, so that bytecode that Python writes beside them does not count.
    """
    lines: list[str] = []
    newest = 0
    stack = [os.fspath(root)]
    while stack:
        folder = stack.pop()
        try:
            with os.scandir(folder) as found:
                for item in found:
                    one = item.stat(follow_symlinks=False)
                    if item.is_dir(follow_symlinks=False):
                        stack.append(item.path)
                        lines.append(f"{item.path}/{one.st_mode}")
                        continue
                    if sources and not item.name.endswith(".py"):
                        continue
                    changed = one.st_ctime_ns
                    newest = changed if changed > newest else newest
                    lines.append(f"{item.path}\0{changed} {one.st_size} {one.st_ino} {one.st_mode}")
        except OSError as error:
            lines.append(f"{folder}\0{error.errno}")
    lines.sort()
    return State(_sha256("\n".join(lines)), newest)


def content(root: Path) -> str:
    """Hexadecimal SHA-256 of everything below a folder, wherever the folder is: names, kinds and bytes."""
    digest = hashlib.sha256(os.fsencode(root.name))
    for path, relative in _below(os.fspath(root)):
        digest.update(os.fsencode(relative) + b"\0" + _of_one(path, os.fspath(root)) + b"\n")
    return digest.hexdigest()


def _below(root: str) -> Iterator[tuple[str, str]]:
    stack = [(root, "")]
    while stack:
        folder, prefix = stack.pop()
        try:
            found = sorted(os.scandir(folder), key=lambda item: item.name)
        except OSError:
            yield folder, prefix + "?"
            continue
        for item in found:
            yield item.path, prefix + item.name
            if item.is_dir(follow_symlinks=False):
                stack.append((item.path, f"{prefix}{item.name}/"))


def _of_one(path: str, root: str) -> bytes:
    """What a path is, in few bytes. Special files are not opened, and links are not followed."""
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            # Whether it leads anywhere is all that is asked of what lies outside.
            leads = f"{root} {Path(path).exists()}".encode("utf-8", "surrogateescape")
            return b"link " + os.fsencode(Path(path).readlink()) + b" " + leads
        if not stat.S_ISREG(found.st_mode):
            return f"kind {stat.S_IFMT(found.st_mode)}".encode()
        if found.st_size > MAX_READ:
            return f"large {found.st_size} {found.st_ino} {found.st_ctime_ns}".encode()
        return _read(path)
    except OSError as error:
        return f"error {error.errno}".encode()


def _read(path: str) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return b"kind changed"
        digest = hashlib.sha256()
        while piece := os.read(handle, _PIECE):
            digest.update(piece)
        return digest.digest()
    finally:
        os.close(handle)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
