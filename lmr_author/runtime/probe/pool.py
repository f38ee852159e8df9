"""The recorded calls that are kept: those that cover much and differ, by their options, shapes and outcomes."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from typing import Any, Dict, FrozenSet, List, NamedTuple, Set, Tuple

from .document import Document
from .storing import dump

MOST_OPTIONS = 8
"""A part with more values than these is data and no option."""
_SPREAD = 2654435761
"""Knuth's multiplier: multiples of it, modulo 2**32, lie anywhere."""


class PooledCall(NamedTuple):
    """A call in the pool. ``traits``: its traits, and the descriptions of its parts, as (path, kind, text)."""

    number: int
    hits: FrozenSet[int]
    traits: FrozenSet[Tuple[str, str, str]]
    size: int


class Pool:
    """Keeps calls that cover much and differ, and no large ones where others do as well.

    Args:
        folder: gets a folder ``calls/000012`` for each call, complete from the moment it exists.
        most: number of calls at most.
        max_bytes: size of all of them together at most.
    """

    def __init__(self, folder: str, most: int, max_bytes: int) -> None:
        self.folder = os.path.join(folder, "calls")
        self.most, self.max_bytes = max(1, most), max_bytes
        self.calls: List[PooledCall] = []

    @property
    def covered(self) -> Set[int]:
        return set().union(*(call.hits for call in self.calls))

    def offer(self, call: PooledCall, inputs: Document, expected: Document, meta: Dict[str, Any]) -> bool:
        """Store a call if it is worth its place, and drop others for it. Returns whether it was stored."""
        staying, dropped = [*self.calls, call], []
        while len(staying) > 1 and (
            len(staying) > self.most or sum(pooled.size for pooled in staying) > self.max_bytes
        ):
            worst = self._most_superfluous(staying)
            staying.remove(worst)
            dropped.append(worst)
        if call in dropped:
            return False
        partial = os.path.join(self.folder, ".partial-%06d" % call.number)
        os.makedirs(partial)
        dump(inputs, partial, "inputs")
        dump(expected, partial, "expected")
        with open(os.path.join(partial, "meta.json"), "w", encoding="ascii") as file:
            json.dump(meta, file, indent=1)
        os.rename(partial, os.path.join(self.folder, "%06d" % call.number))
        self.calls = staying
        for other in dropped:
            shutil.rmtree(os.path.join(self.folder, "%06d" % other.number), ignore_errors=True)
        return True

    @staticmethod
    def _most_superfluous(staying: List[PooledCall]) -> PooledCall:
        """Return the call without coverage or options of its own, then of many like it, then much larger, then by lot.

        The smallest of many calls are the poorest too: an empty text, a single row. So sizes count by powers of
        two, and among equals the number is as good as drawn, though the same each time.
        """
        executed = Counter(block for call in staying for block in call.hits)
        shared = Counter(trait for call in staying for trait in call.traits)
        values = Counter(trait[:2] for trait in shared)
        alike = Counter((call.traits, call.hits) for call in staying)

        def burden(call: PooledCall) -> Any:
            covered = all(executed[block] > 1 for block in call.hits)
            own = sum(shared[trait] == 1 and values[trait[:2]] <= MOST_OPTIONS for trait in call.traits)
            lot = call.number * _SPREAD % 2**32
            return covered, -own, alike[call.traits, call.hits], call.size.bit_length(), lot

        return max(staying, key=burden)
