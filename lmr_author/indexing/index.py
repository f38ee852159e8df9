"""Index a folder, and answer questions about the index."""

from __future__ import annotations

import difflib
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from lmr_author.errors import SourceError
from lmr_author.indexing import read
from lmr_author.indexing.entry import Entry
from lmr_author.processes import in_processes

SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "__pycache__", ".ipynb_checkpoints", ".tox", ".venv", ".eggs", "node_modules"}
)
"""Folders of tools; nothing in them is the repository's own code."""

ALONE_BELOW = 300
"""Fewer files are read in this process: starting others would take longer."""

SUGGESTED = 4
"""The most entries that "did you mean" names."""

T = TypeVar("T")


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
    entries: tuple[Entry, ...]
    calls: Mapping[str, Mapping[str, int]]

    @cached_property
    def functions(self) -> tuple[Entry, ...]:
        """The functions and methods, without overload stubs."""
        return tuple(item for item in self.entries if not item.is_class and not item.is_overload)

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[Entry]]:
        return _grouped((item.name, item) for item in self.entries)

    @cached_property
    def _callers(self) -> Mapping[str, Sequence[tuple[str, int]]]:
        return _grouped(
            (name, (path, count)) for path, calls in self.calls.items() for name, count in calls.items()
        )

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """Names that the code of some function uses without calling them."""
        return frozenset(name for item in self.entries for name in item.names)

    def named(self, name: str) -> Sequence[Entry]:
        """The entries with that last name."""
        return self._by_name.get(name, ())

    def callers(self, name: str) -> Sequence[tuple[str, int]]:
        """(file, how often) a name is called, wherever it is defined: the class of a method is not known."""
        return self._callers.get(name, ())

    def similar(self, name: str) -> list[Entry]:
        """Entries of that last name, else of the most similar ones, at most SUGGESTED: for "did you mean"."""
        found = list(self.named(name))
        if not found:
            for close in difflib.get_close_matches(name, self._by_name, SUGGESTED, 0.75):
                found += self._by_name[close]
        return found[:SUGGESTED]


def build(
    repository: Path, *, instead: Mapping[str, bytes] | None = None, without: Collection[str] = ()
) -> Index:
    """Index every function and class of a folder. Never raises for what is in it.

    Args:
        repository: the folder; links in it are not followed.
        instead: path in the repository → content to index in place of the file's own (a masked file's
            golden); lines stay those of the file itself.
        without: folders, relative to the repository, that are left out.
    """
    root = os.fspath(repository.absolute())
    paths = list(_python_files(root, without))
    jobs = [(root, path, (instead or {}).get(path)) for path in paths]
    results: dict[str, _Result] = {}
    if len(jobs) < ALONE_BELOW:
        results = {job[1]: _read(job) for job in jobs}
    else:
        for place, result in in_processes(_read, jobs, os.cpu_count() or 1):
            results[paths[place]] = result or Unread(paths[place], "the parser crashed")
    found = dict(sorted(results.items()))
    return Index(
        tuple(path for path, result in found.items() if not isinstance(result, Unread)),
        tuple(result for result in found.values() if isinstance(result, Unread)),
        tuple(item for result in found.values() if not isinstance(result, Unread) for item in result[0]),
        {path: result[1] for path, result in found.items() if not isinstance(result, Unread)},
    )


_Result = Unread | tuple[list[Entry], Mapping[str, int]]


def _read(job: tuple[str, str, bytes | None]) -> _Result:
    root, path, golden = job
    data, why = read.content(f"{root}/{path}")
    if data is None:
        return Unread(path, why)
    try:
        entries, calls = read.entries(path, data)
    except SourceError as error:
        return Unread(path, read.reason(error))
    if golden is not None:
        try:
            originals, calls = read.entries(path, golden)
        except SourceError:
            return entries, calls
        own = {(item.qualname, item.nth): item for item in entries}
        entries = [_at(own.get((item.qualname, item.nth), item), item) for item in originals]
    return entries, calls


def _at(place: Entry, item: Entry) -> Entry:
    return item._replace(line=place.line, end_line=place.end_line, first_line=place.first_line)


def _python_files(root: str, without: Collection[str]) -> Iterator[str]:
    """Paths of what is called ``*.py`` below a folder, with ``/``; links to folders are not followed."""
    for folder, folders, names in os.walk(root):
        below = f"{folder[len(root) + 1 :]}/" if folder != root else ""
        folders[:] = sorted(
            name for name in folders if name not in SKIPPED_FOLDERS and below + name not in without
        )
        yield from (below + name for name in sorted(names) if name.endswith(".py"))


def _grouped(pairs: Iterable[tuple[str, T]]) -> Mapping[str, list[T]]:
    groups: dict[str, list[T]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return dict(groups)
