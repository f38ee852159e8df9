"""Recorded calls: what they cover, and how much room they take."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmr_author.recording.tolerance import Widened
from lmr_author.task.recording import Coverage

MOST_BYTES = 32 * 2**20
"""Default limit of all cases of one task together: what a repository of tasks can carry."""
TEXT_PER_SECOND = 500_000
"""Bytes of a JSON document that are read and compared in a second, roughly."""

_SHAPE = re.compile(r"(?P<name>\w+): [\w ]*\[(?P<shape>\d+(?:, \d+)*)\]")
"""An argument in words, as in ``x: tensor float32[512, 768]``."""
_REFUSED = re.compile(r"^.*?: (?P<size>\d+) bytes, more than the limit of (?P<most>\d+)")


@dataclass(frozen=True)
class RecordedCall:
    """One recorded call, as the recorder left it.

    Attributes:
        number: its place among all calls of the run, from 1.
        folder: holds ``inputs.*`` and ``expected.*``.
        hits: blocks and branches of the target that it executed.
        size: bytes of the values in inputs and expected outputs together.
        summary: parameter, or attribute as in ``self.merged`` → its value, or its type and shape.
        outcome: ``"returned"`` or ``"raised"``.
        omitted: attributes that could not be stored, with the advice.
        seconds: how long it took when it was recorded.
        changed: arguments and free variables that it changed.
        nothing: it returned None.
    """

    number: int
    folder: Path
    hits: frozenset[int]
    size: int
    summary: Mapping[str, str] = field(default_factory=dict)
    outcome: str = "returned"
    omitted: tuple[Mapping[str, Any], ...] = ()
    seconds: float = 0.0
    changed: tuple[str, ...] = ()
    nothing: bool = False

    @property
    def stored(self) -> int:
        """Bytes of its files: the values, and the documents around them."""
        paths = [path for path in self.folder.glob("*") if path.name.startswith(("inputs.", "expected."))]
        return max(self.size, sum(path.stat().st_size for path in paths))

    @property
    def comparing(self) -> float:
        """Seconds that comparing its outcome takes: JSON costs time, arrays hardly any."""
        paths = [self.folder / name for name in ("inputs.json", "expected.json")]
        return sum(path.stat().st_size for path in paths if path.is_file()) / TEXT_PER_SECOND


@dataclass(frozen=True)
class Proven:
    """A call that reproduces.

    Attributes:
        checkers: leaf path → how it is compared.
        hits: blocks and branches of the target that its replay executes.
        seconds: how long the golden takes for it.
        wide: tolerances that are wider than their element type's.
    """

    call: RecordedCall
    checkers: dict[str, dict[str, Any]]
    hits: frozenset[int] = frozenset()
    seconds: float = 0.0
    wide: tuple[Widened, ...] = ()

    @property
    def cost(self) -> float:
        """Seconds that one more replay of it takes, comparison included."""
        return self.seconds + self.call.comparing


def coverage(hits: set[int], blocks: Mapping[int, int], absent: Mapping[int, int]) -> Coverage:
    """Return the lines of the target that are executed, and those that are not.

    Args:
        hits: executed blocks.
        blocks: block id → its first line in the golden file.
        absent: block that stands for an ``else`` that is not written, on the line of the ``if`` → the ``if``'s block.
    """
    lines = {line for block, line in blocks.items() if block in hits and block not in absent}
    missed = {line for block, line in blocks.items() if block not in hits and block not in absent}
    never = {blocks[block] for block, own in absent.items() if own in hits and block not in hits}
    return Coverage(tuple(sorted(lines)), tuple(sorted(missed - lines)), tuple(sorted(never)))


# sizes


@dataclass(frozen=True)
class Room:
    """The space for the cases of a task.

    Attributes:
        total: bytes.
        taken: other target → bytes that the cases of its recording take.
    """

    total: int = MOST_BYTES
    taken: Mapping[str, int] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """Bytes that this recording may have; 0 when others have them all."""
        return max(0, self.total - sum(self.taken.values()))


def too_much(call: RecordedCall, room: Room) -> str:
    """Return why a call does not fit beside others, and how to make it fit."""
    size = call.stored
    shapes = _shapes(", ".join(f"{name}: {text}" for name, text in call.summary.items()))
    others = "".join(f", {megabytes(taken)} of it taken by {name}" for name, taken in room.taken.items())
    return (
        f"{megabytes(size)} beside the others, and the task has {megabytes(room.total)} in all{others}; "
        f"{_less_data(size, room.left // 3, shapes)}, or raise the limit: "
        f"--max-total-mb {math.ceil((room.total + size) / 2**20)}"
    )


def too_large_advice(reason: str) -> str:
    """Return how to make calls smaller that the recorder refused, from the reason that it gave."""
    found = _REFUSED.match(reason)
    if found is None:
        return "raise --max-mb, or drive it with less data"
    size = int(found["size"])
    less = _less_data(size, int(found["most"]), _shapes(reason))
    return f"{less}, or raise the limit: --max-mb {math.ceil(size / 2**20)}"


def _less_data(size: int, most: int, shapes: Mapping[str, list[int]]) -> str:
    if shapes:
        name = max(shapes, key=lambda item: math.prod(shapes[item]))
        rows = shapes[name][0]
        fewer = max(1, int(rows * most / size * 0.9))
        if fewer < rows:
            return f"slice the batch in the driver, {name}[:{fewer}] instead of all {rows} rows"
    return "drive it with less data"


def _shapes(text: str) -> dict[str, list[int]]:
    return {
        match["name"]: [int(word) for word in match["shape"].split(", ")] for match in _SHAPE.finditer(text)
    }


def megabytes(size: int) -> str:
    """Return a size in words."""
    return f"{size / 2**20:.1f} MB" if size >= 2**20 else f"{size / 1024:.1f} kB"
