"""The files of a task, listed, read and parsed once per run, and never one outside of its folder."""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

from lmr_author.core import files, foreign, resources
from lmr_author.core.code import Module
from lmr_author.core.errors import LmrError, SourceError
from lmr_author.core.parsing import NotParsed, json_data
from lmr_author.core.task import INFO, Implementation, Task, TaskInfo
from lmr_author.core.task.recording import SUPPORT

MAX_TEXT = 16 * 1024 * 1024
"""Larger files (bytes) are never read as text."""
MAX_PYTHON = 2 * 1024 * 1024
"""Larger files (bytes) are never parsed as Python: generated tables, not code."""
MAX_DEPTH = 250
"""More deeply nested code (expressions in expressions, ``elif`` after ``elif``) is not read: recursive visitors,
including Python's own, fail at the recursion limit."""
TOO_DEEP = "the code is nested too deeply"
MAX_IMPLEMENTATIONS = 100
"""More are skipped: no paper has so many, and each is compared with all others."""
NO_REPOSITORY = frozenset({"golden_files", "authoring", ".git", "__pycache__", "unit_test"})
"""Folders of a task that are never the repository."""
_HOLLOW = frozenset({".git", ".gitkeep", ".gitmodules", ".DS_Store"})
"""Files that an empty repository can contain: a submodule's link, a placeholder."""

_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")

P = ParamSpec("P")
T = TypeVar("T")


def once(make: Callable[Concatenate[TaskContents, P], T]) -> Callable[Concatenate[TaskContents, P], T]:
    """Cache a function's result by task and arguments."""

    @functools.wraps(make)
    def remembered(task: TaskContents, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (make, *(value if isinstance(value, str | Path) else id(value) for value in args))
        if key not in task.memo:  # keep the arguments alive: the id of a freed object may be reused
            task.memo[key] = args, make(task, *args, **kwargs)
        return cast(T, task.memo[key][1])

    return remembered


class FileEntry(NamedTuple):
    """An entry of the task folder: a file, a folder, a symbolic link, or a special file.

    Attributes:
        relative: path in the task folder, with ``/``; undecodable bytes as surrogates.
        kind: ``"file"``, ``"folder"``, ``"link"`` or ``"special"`` (FIFO, socket, device); ``"closed"``, beside
            its ``"folder"``, for a folder that cannot be listed.
        folder: the folder it is in; "" for the task folder itself.
    """

    relative: str
    kind: str
    size: int
    name: str
    folder: str
    suffix: str = ""


def listing(root: str) -> Iterator[FileEntry]:
    """Yield everything below a folder, depth first in the order of names, links not followed."""
    stack = [("", "")]
    while stack:
        relative, name = stack.pop()
        try:
            with os.scandir(f"{root}/{relative}") as opened:
                children = sorted(opened, key=attrgetter("name"))
        except OSError:  # not allowed, or too deep for a path
            if relative:
                yield FileEntry(relative, "closed", 0, name, relative.rpartition("/")[0])
            continue
        prefix = f"{relative}/" if relative else ""
        folders = []
        for child in children:
            kind, size = "link" if child.is_symlink() else "special", 0
            if child.is_file(follow_symlinks=False):
                try:
                    kind, size = "file", child.stat(follow_symlinks=False).st_size
                except OSError:  # removed meanwhile
                    continue
            elif child.is_dir(follow_symlinks=False):
                kind = "folder"
                folders.append((prefix + child.name, child.name))
            yield FileEntry(prefix + child.name, kind, size, child.name, relative, files.suffix(child.name))
        stack.extend(reversed(folders))


def readable(name: str) -> str:
    r"""Return a printable file name: bytes that are not UTF-8 become ``\xNN``."""
    if name.isascii():
        return name
    # info.json can contain surrogates that are not bytes of a file name; no file system accepts them.
    name = _NO_BYTE.sub(lambda match: f"\\u{ord(match[0]):x}", name)
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def read_json(data: bytes | None) -> Any:
    try:
        return json_data(data or b"")
    except NotParsed:
        return None


def deep_line(tree: ast.AST) -> int:
    """Return the first line of a statement nested more deeply than ``MAX_DEPTH``, or 0."""
    level: list[tuple[ast.AST, int]] = [(tree, 0)]
    for _ in range(MAX_DEPTH):
        level = [
            (child, getattr(node, "lineno", line))
            for node, line in level
            for child in ast.iter_child_nodes(node)
        ]
    return min((line for _, line in level), default=0)


class TaskContents:
    """The files of a task, read lazily and cached. A broken task has empty parts.

    Symbolic links are followed only if they end inside the task, and special files are never opened.
    """

    def __init__(self, task: Task) -> None:
        # Paths are compared as text, so `..` must go.
        self.task = Task(Path(os.path.abspath(task.root)))  # noqa: PTH100  # links stay as they are named
        self.name = readable(self.task.name)
        self.root = os.path.realpath(task.root)
        self.left_out = 0
        """Implementations beyond ``MAX_IMPLEMENTATIONS``, known once ``raw`` was read."""
        self._start = f"{self.task.root.as_posix()}/"
        self.memo: dict[object, Any] = {}
        """Results shared by checks: see :func:`once`."""

    @cached_property
    def entries(self) -> tuple[FileEntry, ...]:
        return tuple(listing(self.root))

    @cached_property
    def by_path(self) -> dict[str, FileEntry]:
        return {entry.relative: entry for entry in self.entries if entry.kind != "closed"}

    def named(self, name: str) -> list[FileEntry]:
        return [entry for entry in self.entries if entry.name == name]

    def kind(self, path: str) -> str:
        entry = self.by_path.get(path)
        return entry.kind if entry else ""

    def below(self, folder: str) -> tuple[FileEntry, ...]:
        return tuple(entry for entry in self.entries if entry.relative.startswith(f"{folder}/"))

    def files_below(self, folder: str) -> list[FileEntry]:
        return [entry for entry in self.below(folder) if entry.kind == "file"]

    @cached_property
    def repository_entries(self) -> tuple[FileEntry, ...]:
        return self.below(self.relative_raw(self.repository)) if self.repository else ()

    @cached_property
    def repository_files(self) -> dict[str, FileEntry]:
        files_only = (entry for entry in self.repository_entries if entry.kind == "file")
        return {self.in_repository(entry): entry for entry in files_only}

    def path(self, entry: FileEntry) -> Path:
        return self.task.root / entry.relative

    def is_file(self, path: str | Path) -> bool:
        return self.exists(path, Path.is_file)

    def exists(self, path: str | Path, test: Callable[[Path], bool] = Path.exists) -> bool:
        """Return whether a path is a file or folder of the task, or a link to one, that passes a test."""
        try:
            return self.is_inside(path) and test(Path(os.path.realpath(path)))
        except (OSError, ValueError):  # a name that no file can have
            return False

    def is_inside(self, path: str | Path) -> bool:
        """Return whether a path, links resolved, is inside the task; it need not exist."""
        real = os.path.realpath(path)
        return real == self.root or real.startswith(f"{self.root}{os.sep}")

    def in_repository(self, entry: FileEntry) -> str:
        start = self._repository_start
        return entry.relative[len(start) :] if start and entry.relative.startswith(start) else ""

    @cached_property
    def _repository_start(self) -> str:
        return f"{self.relative_raw(self.repository)}/" if self.repository else ""

    def in_repository_path(self, path: Path | None) -> str:
        start, text = f"{self.repository}/", str(path)
        return text[len(start) :] if self.repository and path and text.startswith(start) else ""

    @once
    def module(self, path: Path | None) -> Module | None:
        """Return a file parsed as Python 3; None if it is missing, too large, too deep or not Python 3."""
        data = self.read_bytes(path)
        if path is None or data is None or len(data) > MAX_PYTHON:
            return None
        try:
            module = Module.parse(data, self.relative(path))
            return None if deep_line(module.tree) else module
        except (SourceError, RecursionError, MemoryError, ValueError):
            return None

    @cached_property
    def raw(self) -> dict[str, Any] | None:
        value = read_json(self.read_bytes(self.task.root / INFO))
        if not isinstance(value, dict):
            return None
        entries = value.get("implementations")
        if isinstance(entries, list) and len(entries) > MAX_IMPLEMENTATIONS:
            value["implementations"] = entries[:MAX_IMPLEMENTATIONS]
            self.left_out = len(entries) - MAX_IMPLEMENTATIONS
        return value

    @cached_property
    def info(self) -> TaskInfo:
        return TaskInfo.from_json(self.raw or {})

    @property
    def implementations(self) -> tuple[Implementation, ...]:
        return self.info.implementations

    @cached_property
    def numbered(self) -> list[tuple[int, Implementation, dict[str, Any]]]:
        """Return (position in the file, implementation, raw entry) of each entry that is an object."""
        entries = self.raw.get("implementations") if self.raw else None
        if not isinstance(entries, list):
            return []
        objects = [(position, entry) for position, entry in enumerate(entries) if isinstance(entry, dict)]
        both = zip(objects, self.implementations, strict=True)
        return [(position, implementation, entry) for (position, entry), implementation in both]

    def pointer(self, implementation: Implementation, key: str = "") -> str:
        position, _ = self._entry(implementation)
        return f"/implementations/{position}" + (f"/{key}" if key else "")

    def written(self, implementation: Implementation, key: str) -> str:
        value = self._entry(implementation)[1].get(key)
        return value if isinstance(value, str) else ""

    def _entry(self, implementation: Implementation) -> tuple[int, dict[str, Any]]:
        for position, other, entry in self.numbered:
            if other is implementation:
                return position, entry
        raise ValueError("the implementation belongs to another task")

    @cached_property
    def repository(self) -> Path | None:
        """Return the repository folder, or the only possible one; None if it has no files."""
        path = self.named_repository
        if path is None and not self.kind(self.info.repo_folder_name.strip("/")):
            code = (entry.relative for entry in self.entries if entry.suffix == ".py" and entry.folder)
            folders = {path.partition("/")[0] for path in code} - NO_REPOSITORY
            path = self.task.root / folders.pop() if len(folders) == 1 else None
        names = {entry.name for entry in self.files_below(self.relative_raw(path))} if path else set()
        return path if names - _HOLLOW else None

    @cached_property
    def named_repository(self) -> Path | None:
        try:
            path = self.task.repository(self.info)
            return path if path.is_dir() and path != self.task.root else None
        except (LmrError, OSError, ValueError):
            return None

    def inside(self, root: Path | None, relative: str) -> Path | None:
        if root is None or not relative:
            return None
        try:
            return files.inside(root, relative)
        except (LmrError, OSError, ValueError):
            return None

    @once
    def read_bytes(self, path: Path | None) -> bytes | None:
        """Return a file's content, cached; None if it is not a readable regular file, or above ``MAX_TEXT``."""
        return foreign.read_inside(self.root, path, MAX_TEXT) if path else None

    @once
    def is_support(self, path: Path) -> bool:
        """Return whether a file is lmr-author's own support file, trusted by its digest and not parsed."""
        data = self.read_bytes(path) if path.name == SUPPORT else None
        return data is not None and resources.is_known_support(files.sha256_bytes(data))

    def read_entry(self, entry: FileEntry, limit: int = MAX_TEXT) -> bytes | None:
        """Return an entry's content, not cached; safe, as no folder above an entry is a link."""
        return foreign.read_regular(f"{self.root}/{entry.relative}", limit)

    def head(self, path: Path, size: int) -> bytes:
        try:
            with path.open("rb") if self.is_file(path) else open(os.devnull, "rb") as file:
                return file.read(size)
        except OSError:
            return b""

    def text(self, path: Path | None) -> str | None:
        data = self.read_bytes(path)
        return None if data is None else data.decode("utf-8-sig", "replace")

    def relative_raw(self, path: Path) -> str:
        text = path.as_posix()
        if text.startswith(self._start):
            return text[len(self._start) :]
        return "." if path == self.task.root else path.name

    def relative(self, path: Path) -> str:
        return readable(self.relative_raw(path))
