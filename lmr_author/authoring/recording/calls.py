"""Recorded calls: what they cover, and how much room they take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmr_author.authoring.recording.tolerance import Widened
from lmr_author.core.task.recording import Coverage
from lmr_author.runtime.probe.traits import Trait

MOST_BYTES = 32 * 2**20
"""Default limit of all cases of one task together: what a repository of tasks can carry."""
TEXT_PER_SECOND = 500_000
"""Bytes of a JSON document that are read and compared in a second, roughly."""


@dataclass(frozen=True)
class RecordedCall:
    """One recorded call: as the recorder left it, and once it was replayed, how its outcome is compared.

    Attributes:
        number: its place among all calls of the run, from 1.
        folder: holds ``inputs.*`` and ``expected.*``.
        hits: blocks and branches of the target that it executed, in its replay if there was one; ``~block`` for one
            that it executed more than once, as in a loop.
        size: bytes of the values in inputs and expected outputs together.
        summary: parameter, or attribute as in ``self.merged`` → its value, or its type and shape.
        traits: the recorder's facts about it, by which calls are told apart.
        outcome: ``"returned"`` or ``"raised"``.
        omitted: attributes that could not be stored, with the advice.
        seconds: processor time that it took when it was recorded, or in its slowest replay.
        changed: arguments and free variables that it changed.
        nothing: it returned None.
        grads: arguments of which it changed nothing but ``.grad`` of tensors.
        uncompared: kind of an effect that the outcome does not hold → files, globals or parts that have it.
        checkers: leaf path → how it is compared.
        wide: tolerances that are wider than their element type's.
    """

    number: int
    folder: Path
    hits: frozenset[int]
    size: int
    summary: Mapping[str, str] = field(default_factory=dict)
    traits: frozenset[Trait] = frozenset()
    outcome: str = "returned"
    omitted: tuple[Mapping[str, Any], ...] = ()
    seconds: float = 0.0
    changed: tuple[str, ...] = ()
    nothing: bool = False
    grads: tuple[str, ...] = ()
    uncompared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    checkers: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    wide: tuple[Widened, ...] = ()

    @property
    def stored(self) -> int:
        """Bytes of its files: the values, and the documents around them."""
        paths = [path for path in self.folder.glob("*") if path.name.startswith(("inputs.", "expected."))]
        return max(self.size, sum(path.stat().st_size for path in paths))

    @property
    def cost(self) -> float:
        """Seconds that one more replay takes, comparison included: JSON costs time, arrays hardly any."""
        paths = [self.folder / name for name in ("inputs.json", "expected.json")]
        size = sum(path.stat().st_size for path in paths if path.is_file())
        return self.seconds + size / TEXT_PER_SECOND


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


def also_covered(
    before: Coverage, hits: set[int], blocks: Mapping[int, int], absent: Mapping[int, int]
) -> Coverage:
    """Return what some cases execute together with more of them.

    Args:
        before: of the cases; the others as in :func:`coverage`, of those that come to them.
    """
    more = coverage(hits, blocks, absent)
    false = {blocks[block] for block in absent if block in hits}
    return Coverage(
        lines=tuple(sorted({*before.lines, *more.lines})),
        missed=tuple(sorted(set(before.missed) - set(more.lines))),
        never_false=tuple(sorted(set(before.never_false) - false)),
    )


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
    others = "".join(f", {megabytes(taken)} of it taken by {name}" for name, taken in room.taken.items())
    return (
        f"{megabytes(call.stored)} beside the others, and the task has {megabytes(room.total)} in all{others}; "
        "slice the batch in the driver, or raise the limit: "
        f"--max-total-mb {math.ceil((room.total + call.stored) / 2**20)}"
    )


def too_large_advice(size: int) -> str:
    """Return how to make calls smaller that the recorder refused, or room for them.

    Args:
        size: bytes of the largest.
    """
    return f"slice the batch in the driver, or raise the limit: --max-mb {math.ceil(size / 2**20)}"


def megabytes(size: int) -> str:
    """Return a size in words."""
    return f"{size / 2**20:.1f} MB" if size >= 2**20 else f"{size / 1024:.1f} kB"
