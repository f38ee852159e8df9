"""The recorded calls on disk: a bounded number, each complete from the moment it exists."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any, Dict, FrozenSet, List, NamedTuple, Set

from .document import Document, dump

_SPREAD = 2654435761
"""Knuth's multiplier: multiples of it, modulo 2**32, lie anywhere."""


class Kept(NamedTuple):
    """A call in the pool. ``likeness``: what it has in common with others like it."""

    number: int
    hits: FrozenSet[int]
    likeness: str
    size: int


class Pool:
    """Keeps calls that cover much and differ, and no large ones where others do as well.

    Args:
        folder: gets a folder ``calls/000012`` for each call.
        most: number of calls at most.
        max_bytes: size of all of them together at most.
    """

    def __init__(self, folder: str, most: int, max_bytes: int) -> None:
        self.folder = os.path.join(folder, "calls")
        self.most, self.max_bytes = max(1, most), max_bytes
        self.kept: List[Kept] = []

    @property
    def covered(self) -> Set[int]:
        """Blocks that the kept calls execute together."""
        return set().union(*(item.hits for item in self.kept)) if self.kept else set()

    def offer(self, call: Kept, inputs: Document, expected: Document, meta: Dict[str, Any]) -> bool:
        """Store a call, if it is worth its place; drops others for it. Returns whether it was stored."""
        staying, dropped = [*self.kept, call], []
        while len(staying) > 1 and (
            len(staying) > self.most or sum(item.size for item in staying) > self.max_bytes
        ):
            worst = max(staying, key=lambda item: self._burden(item, staying))
            staying.remove(worst)
            dropped.append(worst)
        if call in dropped:
            return False
        self._write(call, inputs, expected, meta)
        self.kept = staying
        for other in dropped:
            shutil.rmtree(self._place(other), ignore_errors=True)
        return True

    @staticmethod
    def _burden(item: Kept, staying: List[Kept]) -> Any:
        """Dropped first: no coverage of its own, then many like it, then much larger, then by lot.

        The smallest of many calls are the poorest too: an empty text, a single row. So sizes count by powers of
        two, and among equals the number is as good as drawn, though the same each time.
        """
        others: Set[int] = set()
        alike = 0
        for other in staying:
            if other is not item:
                others |= other.hits
                alike += other.likeness == item.likeness and other.hits == item.hits
        return item.hits <= others, alike, item.size.bit_length(), item.number * _SPREAD % 2**32

    def _place(self, call: Kept) -> str:
        return os.path.join(self.folder, "%06d" % call.number)

    def _write(self, call: Kept, inputs: Document, expected: Document, meta: Dict[str, Any]) -> None:
        temporary = os.path.join(self.folder, ".partial-%06d" % call.number)
        shutil.rmtree(temporary, ignore_errors=True)
        os.makedirs(temporary)
        try:
            dump(inputs, temporary, "inputs")
            dump(expected, temporary, "expected")
            write_json(os.path.join(temporary, "meta.json"), meta)
            os.rename(temporary, self._place(call))
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def write_json(path: str, data: Any) -> None:
    """Write JSON so that the file is there completely or not at all."""
    temporary = path + ".tmp"
    with open(temporary, "w", encoding="ascii") as file:
        json.dump(data, file, indent=1)
        file.write("\n")
    os.replace(temporary, path)
