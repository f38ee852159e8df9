"""A task as checks read it: once, cached, total, and never outside of its folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from lmr_author import files
from lmr_author.checks.lenient import read_json, readable
from lmr_author.checks.listing import Entry, Take, listing, same_state, status
from lmr_author.checks.repository_folder import is_hollow, meant_repository
from lmr_author.errors import LmrError, SourceError
from lmr_author.model import Implementation, TaskInfo
from lmr_author.source import Module
from lmr_author.taskdir import TaskDir

MAX_TEXT = 16 * 1024 * 1024
"""Files larger than this are never read as text (bytes)."""

MAX_PYTHON = 2 * 1024 * 1024
"""Files larger than this are never parsed as Python (bytes): generated tables, not code."""

MAX_HELD = 128 * 1024 * 1024
"""Bytes of files that were read once and are held for those who read them again."""

MAX_IMPLEMENTATIONS = 100
"""Further ones are not looked at: no paper has so many, and each is compared with all the others."""

T = TypeVar("T")


class TaskView:
    """A task as checks see it: read once, cached, and total (a broken task has empty parts).

    Nothing outside of the task folder is ever read: symbolic links are followed only when they end
    inside of it, and special files are never opened.
    """

    def __init__(self, task: TaskDir) -> None:
        self.task = task
        self.name = readable(task.name)
        self.root = os.path.realpath(task.root)
        """The task folder, without links in its path."""
        self._start = f"{task.root.as_posix()}/"
        self._bytes: dict[Path, bytes | None] = {}
        self._held: dict[str, bytes] = {}
        self._room = MAX_HELD
        self.listed_at = 0
        """When the task was listed, in nanoseconds since 1970; 0 before."""
        self.root_status: os.stat_result | None = None
        """What the file system said of the task folder before it was listed."""
        self.disturbed = False
        """Whether a file was read that is no longer the one that was listed."""
        self.read_unheld = False
        """Whether a file was read by its path alone, so that a change since it was listed is not known."""
        self._memo: dict[object, object] = {}
        self.left_out = 0
        """Implementations beyond ``MAX_IMPLEMENTATIONS``, known once ``raw`` was read."""

    def memo(self, key: object, make: Callable[[], T]) -> T:
        """What several checks need, computed once for each task."""
        if key not in self._memo:
            self._memo[key] = make()
        return cast(T, self._memo[key])

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Everything in the task folder, sorted by folder and name, links not followed."""
        return self._listed()

    def hold_all(self) -> None:
        """Read every file while the task is listed, for later readers, as far as there is room for them."""
        if "entries" not in self.__dict__:
            self.entries = self._listed(self._take)

    def _listed(self, take: Take | None = None) -> tuple[Entry, ...]:
        self.listed_at = time.time_ns()
        self.root_status = status(self.root)
        return tuple(listing(self.root, take))

    def _take(self, relative: str) -> os.stat_result | None:
        """Hold a file, and say what the file system said of it when it was opened; None when it is not held."""
        found = files.read_with_status(f"{self.root}/{relative}", min(MAX_TEXT, self._room))
        if found is None:
            return None
        self._held[relative] = found[0]
        self._room -= len(found[0])
        return found[1]

    @cached_property
    def by_path(self) -> dict[str, Entry]:
        """Everything in the task folder by its path."""
        return {entry.relative: entry for entry in self.entries if entry.kind != "closed"}

    @cached_property
    def _by_name(self) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(entry.name, []).append(entry)
        return found

    def named(self, name: str) -> Sequence[Entry]:
        """Everything in the task folder that has a name, at any depth."""
        return self._by_name.get(name, ())

    @cached_property
    def _unlisted(self) -> frozenset[str]:
        """Folders that could not be listed."""
        return frozenset(entry.relative for entry in self.entries if entry.kind == "closed")

    def kind(self, path: str) -> str:
        """What lies at a path of the task folder, as ``Entry.kind``; "" when nothing does."""
        entry = self.by_path.get(path)
        return entry.kind if entry else ""

    def below(self, folder: str) -> tuple[Entry, ...]:
        """Everything in a folder of the task, at any depth."""
        start = f"{folder}/"
        return self.memo(
            ("below", folder),
            lambda: tuple([entry for entry in self.entries if entry.relative.startswith(start)]),
        )

    @cached_property
    def repository_entries(self) -> tuple[Entry, ...]:
        """Everything in the repository folder; empty when there is none."""
        if self.repository is None:
            return ()
        return self.below(self.relative_raw(self.repository))

    def path(self, entry: Entry) -> Path:
        """Where an entry is."""
        return self.task.root / entry.relative

    def seen(self, path: str | Path) -> str | None:
        """What was listed at a path, as :meth:`kind`; None where the listing does not tell, as behind a link."""
        if "entries" not in self.__dict__:
            return None
        text = os.fspath(path)
        if not text.startswith(self._start) or ".." in text:
            return None
        relative = text[len(self._start) :]
        return None if "//" in relative or "/./" in f"{text}/" else self._seen(relative)

    def _seen(self, relative: str) -> str | None:
        entry = self.by_path.get(relative)
        if entry is not None:
            return entry.kind
        folder = relative.rpartition("/")[0]
        above = self._seen(folder) if folder else "folder"
        return None if above in (None, "link") or folder in self._unlisted else ""

    def is_file(self, path: str | Path) -> bool:
        """Whether a path is a file, or a link to one; False for names that no file can have."""
        kind = self.seen(path)
        try:
            return Path(path).is_file() if kind in (None, "link") else kind == "file"
        except (OSError, ValueError):
            return False

    def in_repository(self, entry: Entry) -> str:
        """An entry's path relative to the repository."""
        return entry.relative[self._prefix_length :] if self._prefix_length else ""

    @cached_property
    def _prefix_length(self) -> int:
        """Length of the repository's path in the task, with its slash; 0 when there is none."""
        return len(self.relative_raw(self.repository)) + 1 if self.repository else 0

    def in_repository_path(self, path: Path | None) -> str:
        """A path relative to the repository, with ``/``; "" for none and for what is not in it."""
        if path is None or not self._prefix_length:
            return ""
        inside = f"{self.repository}/"
        return path.as_posix().removeprefix(inside) if path.as_posix().startswith(inside) else ""

    def module(self, path: Path | None) -> Module | None:
        """A file parsed as Python 3, cached; None when it is absent, too large or not Python 3."""
        if path is None:
            return None
        return self.memo(("module", path), lambda: self._parse(path))

    def _parse(self, path: Path) -> Module | None:
        data = self.read_bytes(path)
        if data is None or len(data) > MAX_PYTHON:
            return None
        try:
            return Module.parse(data, self.relative(path))
        except (SourceError, RecursionError, MemoryError, ValueError):
            return None

    @cached_property
    def raw(self) -> dict[str, Any] | None:
        """``info.json`` as it stands, or None when it is absent or no JSON object.

        A comma too many, a ``//`` comment, a line break inside of a text and another encoding are read over:
        LMR001 reports them, and the rest of the task is looked at all the same.
        """
        data = self.read_bytes(self.task.info_path)
        if data is None:
            return None
        value = read_json(data)
        if not isinstance(value, dict):
            return None
        entries = value.get("implementations")
        if isinstance(entries, list) and len(entries) > MAX_IMPLEMENTATIONS:
            value["implementations"] = entries[:MAX_IMPLEMENTATIONS]
            self.left_out = len(entries) - MAX_IMPLEMENTATIONS
        return value

    @cached_property
    def info(self) -> TaskInfo:
        """``info.json`` read leniently; empty when there is none."""
        return TaskInfo.from_json(self.raw or {})

    @property
    def implementations(self) -> tuple[Implementation, ...]:
        """The implementations, in the file's order."""
        return self.info.implementations

    def position(self, implementation: Implementation) -> int:
        """An implementation's place in the list of ``info.json``, from 0, for JSON pointers."""
        entries = self.raw.get("implementations") if self.raw else None
        places = [place for place, entry in enumerate(entries or ()) if isinstance(entry, dict)]
        same = [
            place for place, one in zip(places, self.implementations, strict=False) if one is implementation
        ]
        return same[0] if same else 0

    @cached_property
    def repository(self) -> Path | None:
        """The repository folder; None when it is absent, its name leads outside, or nothing is in it.

        Where no folder has the name, the only one that can be meant.
        """
        path = self.named_repository
        if path is None:
            meant = meant_repository(self.info.repo_folder_name, self.entries)
            path = self.task.root / meant if meant else None
        return None if path is None or is_hollow(self.relative_raw(path), self.entries) else path

    @cached_property
    def named_repository(self) -> Path | None:
        """The folder that ``repo_folder_name`` names, empty or not; None when there is none."""
        try:
            path = self.task.repository(self.info)
            return path if path.is_dir() and path != self.task.root else None
        except (LmrError, OSError, ValueError):
            return None

    @cached_property
    def has_provenance(self) -> bool:
        """Whether there is a record of how the task was made: not so in tasks made by hand."""
        return "authoring/provenance.json" in self.by_path

    @property
    def is_empty(self) -> bool:
        """Whether the repository's folder is there and holds nothing: a submodule link, most often."""
        return self.repository is None and self.named_repository is not None

    @cached_property
    def repository_files(self) -> tuple[Path, ...]:
        """Every regular file of the repository, symbolic links not followed."""
        return tuple(self.path(entry) for entry in self.repository_entries if entry.kind == "file")

    def inside(self, root: Path | None, relative: str) -> Path | None:
        """A path below ``root`` that stays there, or None; the file need not exist."""
        if root is None or not relative:
            return None
        return self.memo(("inside", root, relative), lambda: self._inside(root, relative))

    def _inside(self, root: Path, relative: str) -> Path | None:
        if not relative.startswith("/") and self.seen(root / relative) in ("file", "folder"):
            return root / relative  # no link is on the way
        try:
            return files.inside(root, relative)
        except (LmrError, OSError, ValueError):
            return None

    def read_bytes(self, path: Path | None) -> bytes | None:
        """A file's content, cached; None when it is no readable regular file or is over ``MAX_TEXT``."""
        if path is None:
            return None
        if path not in self._bytes:
            self._bytes[path] = self.read_once(path)
        return self._bytes[path]

    def read_once(self, path: Path, limit: int = MAX_TEXT) -> bytes | None:
        """A file's content, not cached: for scanning. None as for :meth:`read_bytes`."""
        held = self._held.get(self.relative_raw(path)) if self._held else None
        if held is not None:
            return held if len(held) <= limit else None
        if self.seen(path) == "":
            return None
        data = files.read_inside(self.root, path, limit)
        self.read_unheld |= data is not None
        return data

    def read_entry(self, entry: Entry, limit: int = MAX_TEXT) -> bytes | None:
        """A file's content, not cached, as for :meth:`read_once`; no folder above an entry is a link."""
        held = self._held.get(entry.relative)
        if held is not None:
            return held if len(held) <= limit else None
        found = files.read_with_status(f"{self.root}/{entry.relative}", limit)
        if found is None:
            return None
        self.disturbed |= not same_state(entry.status, found[1])
        return found[0]

    def text(self, path: Path | None) -> str | None:
        """A file as text: UTF-8, with what is no UTF-8 replaced; None as for :meth:`read_bytes`."""
        data = self.read_bytes(path)
        return None if data is None else data.decode("utf-8-sig", "replace")

    def relative_raw(self, path: Path) -> str:
        """A path relative to the task folder, with ``/``, as the file system has it."""
        text = path.as_posix()
        if text.startswith(self._start):
            return text[len(self._start) :]
        return "." if path == self.task.root else path.name

    def relative(self, path: Path) -> str:
        """A path as findings name it: as :meth:`relative_raw`, in characters that can be printed."""
        return readable(self.relative_raw(path))
