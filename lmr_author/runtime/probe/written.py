"""Files that a call writes: which ones, and their content where that belongs to the outcome.

Python's audit events (3.8 and later) name files that Python opens; a library that opens files by itself, as PyTorch
does in ``torch.save``, is noticed where an argument names the file or its folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import PurePath
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

MOST_ENTRIES = 1000
"""Entries of a folder that are looked at before and after a call."""
_WRITING = os.O_WRONLY | os.O_RDWR


class Written:
    """Notes the files that are written between ``start`` and ``stop``.

    Attributes:
        folders: folders that it wrote into, and that were there before; below the current one by their relative path.
    """

    watching: Optional[Written] = None
    hooked = False

    def __init__(self, arguments: Iterable[Any] = ()) -> None:
        self.folders: List[str] = []
        self._made: List[str] = []
        self._paths: List[str] = []
        self._here = os.path.realpath(os.getcwd())
        self._named = [str(argument) for argument in arguments if isinstance(argument, (str, PurePath))]
        self._before: Dict[str, Tuple[int, int]] = {}

    def start(self) -> Written:
        """Begin to watch."""
        listen: Any = getattr(sys, "addaudithook", None)
        if listen is not None and not Written.hooked:
            Written.hooked = True  # there is no way to take a hook off again
            listen(_heard)
        self._before = self._listed()
        Written.watching = self
        return self

    def stop(self) -> None:
        """End it."""
        Written.watching = None
        for path, state in self._listed().items():
            if self._before.get(path) != state:
                self.note(path)

    def note(self, path: Any, folder: bool = False) -> None:
        """Note a file that is about to be written, or a folder that is about to be made."""
        if isinstance(path, int):
            return
        name = os.path.realpath(os.fsdecode(path))
        noted = self._made if folder else self._paths
        if name not in noted:
            noted.append(name)
        parent = os.path.dirname(name)
        if parent not in self._made and self._shown(parent) not in self.folders and os.path.isdir(parent):
            self.folders.append(self._shown(parent))

    def names(self) -> List[str]:
        """Return the written files that are left, below the current folder by their relative path."""
        return [self._shown(path) for path in self._left()]

    def contents(self) -> Dict[str, Union[str, bytes]]:
        """Return the written files that are left: text where they are text."""
        texts: Dict[str, Union[str, bytes]] = {}
        for path in self._left():
            try:
                with open(path, "rb") as file:
                    data = file.read()
            except OSError:  # it wrote what nobody may read
                data = b""
            try:
                texts[self._shown(path)] = data.decode("utf-8")
            except UnicodeDecodeError:
                texts[self._shown(path)] = data
        return dict(sorted(texts.items()))

    def _left(self) -> List[str]:
        """Return the files that are still there, without Python's own caches."""
        return [path for path in self._paths if os.path.isfile(path) and "__pycache__" not in path]

    def _shown(self, path: str) -> str:
        inside = path == self._here or path.startswith(self._here + os.sep)
        return os.path.relpath(path, self._here) if inside else path

    def _listed(self) -> Dict[str, Tuple[int, int]]:
        states = {}
        for name in self._named:
            try:
                entries = [entry.path for entry in os.scandir(name)] if os.path.isdir(name) else [name]
                for path in entries[:MOST_ENTRIES]:
                    state = os.stat(path)
                    if os.path.isfile(path):
                        states[os.path.realpath(path)] = (state.st_mtime_ns, state.st_size)
            except (OSError, ValueError):  # no path after all, or nothing there yet
                continue
        return states


def _heard(event: str, arguments: Sequence[Any]) -> None:
    """Hear what Python says before it opens, moves or makes a file. It must never raise."""
    watching = Written.watching
    if watching is None or event not in ("open", "os.rename", "os.mkdir"):
        return
    try:
        if event == "open" and arguments[2] & _WRITING:
            watching.note(arguments[0])
        elif event == "os.rename":
            watching.note(arguments[1])
        elif event == "os.mkdir":
            watching.note(arguments[0], folder=True)
    except Exception:  # flags may be None
        return


@contextlib.contextmanager
def room_to_write(folders: Optional[Sequence[str]]) -> Iterator[None]:
    """Run in a copy of the current folder, made of links, where the call may write.

    Args:
        folders: those that the recorded call wrote into; None to stay where we are.
    """
    if folders is None:
        yield
        return
    here, copy = os.getcwd(), tempfile.mkdtemp(prefix="lmr-files-")
    try:
        _link(here, copy)
        os.chdir(copy)
        for folder in folders:
            _make_real(folder)
        yield
    finally:
        os.chdir(here)
        shutil.rmtree(copy, ignore_errors=True)


def _link(source: str, folder: str) -> None:
    for name in os.listdir(source):
        os.symlink(os.path.join(source, name), os.path.join(folder, name))


def _make_real(folder: str) -> None:
    """Make a folder, and turn links on the way to it into folders of links."""
    path = "" if not os.path.isabs(folder) else os.sep
    for step in folder.strip(os.sep).split(os.sep):
        path = os.path.join(path, step)
        if os.path.islink(path) and not os.path.isabs(folder):
            source = os.path.realpath(path)
            os.unlink(path)
            os.mkdir(path)
            _link(source, path)
        elif not os.path.isdir(path):
            with contextlib.suppress(OSError):  # the call then says what it lacks
                os.mkdir(path)
