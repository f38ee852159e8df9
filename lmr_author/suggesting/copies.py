"""Find functions that the repository has a second time: masked once, they can be read elsewhere."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from lmr_author.indexing import Entry, Index

SAME_NAMES = 0.75
"""Share of the names, and SAME_SHAPE of the statements, that make another function a near copy."""
SAME_CALLS = 0.85
"""The same for the functions called alone, which stay when local names are changed; at least MIN_CALLS."""
SAME_SHAPE = 0.7
MIN_CALLS = 5
MIN_STATEMENTS = 3
COMMON = 300
"""A name called by more functions than this tells nothing of a copy."""


@dataclass(frozen=True)
class NearCopy:
    """Another function like it, and how much, 0 to 1."""

    entry: Entry
    share: float


class Copies:
    """Finds near copies with what the index knows; nothing is read again."""

    def __init__(self, index: Index) -> None:
        self._by_fingerprint: dict[str, list[Entry]] = defaultdict(list)
        self._by_call: dict[str, list[Entry]] = defaultdict(list)
        for entry in index.functions:
            if entry.statements >= MIN_STATEMENTS:
                self._by_fingerprint[entry.fingerprint].append(entry)
                for name in entry.calls:
                    self._by_call[name].append(entry)

    def of(self, entry: Entry) -> list[NearCopy]:
        """Near copies of a function, the closest first."""
        if entry.statements < MIN_STATEMENTS:
            return []
        found = {id(other): NearCopy(other, 1.0) for other in self._by_fingerprint[entry.fingerprint]}
        for other in self._alike(entry):
            share = _share(entry, other)
            if share and id(other) not in found:
                found[id(other)] = NearCopy(other, share)
        found.pop(id(entry), None)
        return sorted(found.values(), key=lambda one: (-one.share, one.entry.path, one.entry.line))

    def _alike(self, entry: Entry) -> Sequence[Entry]:
        """Functions that call at least half of what it calls, common names left out."""
        names = [name for name in entry.calls if len(self._by_call[name]) <= COMMON]
        counted = Counter(id(other) for name in names for other in self._by_call[name])
        by_id = {id(other): other for name in names for other in self._by_call[name]}
        return [by_id[one] for one, count in counted.items() if count * 2 >= len(names)]


def _share(one: Entry, other: Entry) -> float:
    """Return the similarity of two functions; 0 when they are no near copies."""
    shape = _overlap(Counter(one.shape), Counter(other.shape))
    if shape < SAME_SHAPE:
        return 0.0
    names = _overlap(Counter(one.identifiers), Counter(other.identifiers))
    if names >= SAME_NAMES:
        return min(names, shape)
    calls = _overlap(Counter(one.calls), Counter(other.calls))
    return min(calls, shape) if calls >= SAME_CALLS and len(one.calls) >= MIN_CALLS else 0.0


def _overlap(one: Counter[str], other: Counter[str]) -> float:
    both, either = (one & other).total(), (one | other).total()
    return both / either if either else 0.0
