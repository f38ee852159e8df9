"""The index of a repository: its entries, and what is asked of them."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lmr_author.indexing.entry import Entry

SUGGESTED = 4
"""Entries told of for "did you mean" at most."""


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
        unread: those that could not be.
        entries: functions and classes, by path, in file order.
        calls: for each file, how often it calls each name.
        reused: how many files were known from the cache.
    """

    files: tuple[str, ...]
    unread: tuple[Unread, ...]
    entries: tuple[Entry, ...]
    calls: Mapping[str, Mapping[str, int]]
    reused: int = 0

    @cached_property
    def functions(self) -> tuple[Entry, ...]:
        """The functions and methods, without overload stubs."""
        return tuple(item for item in self.entries if item.kind != "class" and not item.is_overload)

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
        return frozenset(word for item in self.entries for word in item.words.split() if word[-1] != "(")

    def named(self, name: str) -> Sequence[Entry]:
        """The entries whose last name it is."""
        return self._by_name.get(name, ())

    def callers(self, name: str) -> Sequence[tuple[str, int]]:
        """(file, how often) a name is called, wherever it is defined. A name says nothing of its class."""
        return self._callers.get(name, ())

    def similar(self, name: str) -> list[Entry]:
        """Entries of that last name, else of the most similar ones, at most SUGGESTED: for "did you mean"."""
        found = list(self.named(name))
        if not found:
            for close in difflib.get_close_matches(name, self._by_name, SUGGESTED, 0.75):
                found += self._by_name[close]
        return found[:SUGGESTED]


def _grouped(pairs: object) -> Mapping[str, list]:  # type: ignore[type-arg]
    groups = defaultdict(list)
    for key, value in pairs:  # type: ignore[attr-defined]
        groups[key].append(value)
    return dict(groups)
