"""Index a folder, and answer questions about the index."""

from __future__ import annotations

import difflib
import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.errors import SourceError
from lmr_author.core.indexing.read import MAX_BYTES, IndexEntry, read, reason

SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "__pycache__", ".ipynb_checkpoints", ".tox", ".venv", ".eggs", "node_modules"}
)
"""Folders of tools; nothing in them is the repository's own code."""

NOT_READ = f"a link, larger than {MAX_BYTES // 2**20} MB, or not readable"

SUGGESTED = 4
"""The most entries that "did you mean" names."""


@dataclass(frozen=True)
class Unread:
    """A Python file that is not in the index, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Index:
    """Every function and class of a repository.

    Attributes:
        files: paths of the files read, sorted.
        unread: those that could not be read.
        entries: functions and classes, by path, in file order.
        calls: for each file, how often it calls each name.
    """

    files: tuple[str, ...]
    unread: tuple[Unread, ...]
    entries: tuple[IndexEntry, ...]
    calls: Mapping[str, Mapping[str, int]]

    @cached_property
    def functions(self) -> tuple[IndexEntry, ...]:
        """The functions and methods, without overload stubs."""
        return tuple(entry for entry in self.entries if not entry.is_class and not entry.is_overload)

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """Names that the code of some function uses without calling them."""
        return frozenset(name for entry in self.entries for name in entry.names)

    @cached_property
    def _by_name(self) -> Mapping[str, list[IndexEntry]]:
        by_name: dict[str, list[IndexEntry]] = defaultdict(list)
        for entry in self.entries:
            by_name[entry.name].append(entry)
        return dict(by_name)

    @cached_property
    def _callers(self) -> Mapping[str, list[tuple[str, int]]]:
        callers: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for path, calls in self.calls.items():
            for name, count in calls.items():
                callers[name].append((path, count))
        return dict(callers)

    def named(self, name: str) -> Sequence[IndexEntry]:
        """Return the entries with that last name."""
        return self._by_name.get(name, ())

    def callers(self, name: str) -> Sequence[tuple[str, int]]:
        """Return (file, number of calls) of a name, wherever it is defined: a method's class is not known."""
        return self._callers.get(name, ())

    def similar(self, name: str) -> list[IndexEntry]:
        """Return entries of that last name, else of similar ones, at most SUGGESTED: for "did you mean"."""
        similar = list(self.named(name))
        if not similar:
            for close in difflib.get_close_matches(name, self._by_name, SUGGESTED, 0.75):
                similar += self._by_name[close]
        return similar[:SUGGESTED]


def build(
    repository: Path, *, instead: Mapping[str, bytes] | None = None, without: Collection[str] = ()
) -> Index:
    """Index every function and class of a folder. Never raises for its content.

    Args:
        repository: the folder; links in it are not followed.
        instead: path in the repository → content to index in place of the file's own (a masked file's
            golden); lines stay those of the file itself.
        without: folders, relative to the repository, that are left out.
    """
    paths: list[str] = []
    unread: list[Unread] = []
    entries: list[IndexEntry] = []
    calls: dict[str, Mapping[str, int]] = {}
    for path in sorted(_python_files(os.fspath(repository.absolute()), without)):
        data = files.read_regular(str(repository / path), MAX_BYTES)
        try:
            if data is None:
                unread.append(Unread(path, NOT_READ))
                continue
            own, calls[path] = read(path, data)
        except SourceError as error:
            unread.append(Unread(path, reason(error)))
            continue
        if instead is not None and path in instead:
            try:
                originals, calls[path] = read(path, instead[path])
                own = _at_lines_of(own, originals)
            except SourceError:
                pass
        paths.append(path)
        entries += own
    return Index(tuple(paths), tuple(unread), tuple(entries), calls)


def _python_files(root: str, without: Collection[str]) -> Iterator[str]:
    """Yield paths below a folder that end in ``.py``, with ``/``; links to folders are not followed."""
    for folder, folders, names in os.walk(root):
        below = f"{folder[len(root) + 1 :]}/" if folder != root else ""
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS and below + name not in without]
        yield from (below + name for name in names if name.endswith(".py"))


def _at_lines_of(masked: list[IndexEntry], originals: list[IndexEntry]) -> list[IndexEntry]:
    """Return the originals with the lines that they have in the masked file."""
    masked_by_name = {(entry.qualname, entry.nth): entry for entry in masked}
    moved = []
    for entry in originals:
        now = masked_by_name.get((entry.qualname, entry.nth), entry)
        moved.append(replace(entry, line=now.line, end_line=now.end_line, first_line=now.first_line))
    return moved
