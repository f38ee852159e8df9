"""Many words looked for in one pass over some bytes (Hyperscan, https://intel.github.io/hyperscan)."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any


class Words:
    """Which of some words stand in bytes, by themselves or in longer words.

    Not for several threads at the same time.
    """

    def __init__(self, words: Collection[bytes]) -> None:
        from hyperscan import HS_FLAG_SINGLEMATCH, HS_MODE_BLOCK, Database

        self._words = sorted(words)
        self._database = Database(mode=HS_MODE_BLOCK)
        if self._words:
            self._database.compile(
                expressions=self._words,
                ids=range(len(self._words)),
                elements=len(self._words),
                flags=[HS_FLAG_SINGLEMATCH] * len(self._words),
                literal=True,
            )

    def within(self, data: bytes) -> set[bytes]:
        """Those that stand in some bytes."""
        if not self._words:
            return set()
        numbers: list[int] = []
        self._database.scan(data, match_event_handler=_note, context=numbers)
        return {self._words[number] for number in numbers} if numbers else set()


def _note(number: int, start: int, end: int, flags: int, numbers: Any) -> None:
    """What Hyperscan calls for each word that it finds."""
    numbers.append(number)


@lru_cache(maxsize=64)
def searched(*sets: frozenset[bytes]) -> Words:
    """The search for some sets of words, prepared once for all files."""
    return Words(frozenset().union(*sets))
