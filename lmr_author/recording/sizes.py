"""Recorded calls that are too large, and what to do about them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lmr_author.recording.choose import Call

MOST_BYTES = 32 * 2**20
"""Size of all cases of one task together: what a repository of tasks can carry."""

_SHAPE = re.compile(r"(?P<name>\w+): [\w ]*\[(?P<shape>\d+(?:, \d+)*)\]")
"""An argument in words, as in ``x: tensor float32[512, 768]``."""
_REFUSED = re.compile(r"^(?P<path>.*?): (?P<size>\d+) bytes, more than the limit of (?P<most>\d+)")


@dataclass(frozen=True)
class Room:
    """What the cases of a task may take together.

    Attributes:
        total: bytes.
        taken: target → bytes that the cases of its recording take, of the task's other implementations.
    """

    total: int = MOST_BYTES
    taken: Mapping[str, int] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """Bytes that this recording may have; 0 when others have them all."""
        return max(0, self.total - sum(self.taken.values()))


def too_much(call: Call, room: Room) -> str:
    """Why a call has no place beside others, and what to do."""
    shapes = _shapes(", ".join(f"{name}: {text}" for name, text in call.summary.items()))
    size = call.stored
    told = advice(size, room.left // 3, shapes).partition("; or raise")[0].partition(", or raise")[0]
    others = "".join(f", {megabytes(taken)} of it taken by {name}" for name, taken in room.taken.items())
    enough = math.ceil((room.total + size) / 2**20)
    return (
        f"{megabytes(size)} beside the others, and the task has {megabytes(room.total)} in all{others}; "
        f"{told}, or raise the limit: --max-total-mb {enough}"
    )


def megabytes(size: int) -> str:
    """A size in words."""
    return f"{size / 2**20:.1f} MB" if size >= 2**20 else f"{size / 1024:.1f} kB"


def of_refused(reason: str) -> str:
    """What to do about calls that were larger than the limit, from what the recorder says of them."""
    found = _REFUSED.match(reason)
    if found is None:
        return "raise --max-mb, or drive it with less data"
    size, most = int(found["size"]), int(found["most"])
    return advice(size, most, _shapes(reason))


def advice(size: int, most: int, shapes: Mapping[str, list[int]]) -> str:
    """What to do about a call of some size: a smaller batch, by how many rows, or a higher limit."""
    larger = f"or raise the limit: --max-mb {math.ceil(size / 2**20)}"
    if shapes:
        name = max(shapes, key=lambda item: math.prod(shapes[item]))
        rows = shapes[name][0]
        fewer = max(1, int(rows * most / size * 0.9))
        if fewer < rows:
            return f"slice the batch in the driver, {name}[:{fewer}] instead of all {rows} rows; {larger}"
    return f"drive it with less data, {larger}"


def _shapes(text: str) -> dict[str, list[int]]:
    return {
        match["name"]: [int(word) for word in match["shape"].split(", ")] for match in _SHAPE.finditer(text)
    }
