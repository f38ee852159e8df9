"""Recorded calls: what they cover, how much room they take, and how they are described."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmr_author.authoring.recording.tolerance import Widened
from lmr_author.core.task.recording import Coverage
from lmr_author.core.texts import counted, listed, shortened
from lmr_author.runtime.probe.traits import Trait

NOT_GIVEN = "not given"
"""Value of a trait of a part that a call does not have."""
LONGEST = 40
"""Characters of a part of a call in a description."""
MOST_MB = 32.0
MOST_BYTES = int(MOST_MB * 2**20)
CALLS_IN_ALL = 4
"""The cases of a task may take as much as so many of the largest calls, if that is more."""
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


# sizes


@dataclass(frozen=True)
class Room:
    """The space for the cases of a task.

    Attributes:
        total: bytes that the cases of all its functions may take.
        left: bytes of them that no recording takes yet.
    """

    total: int = MOST_BYTES
    left: int = MOST_BYTES


def too_much(call: RecordedCall, room: Room) -> str:
    """Return why a call does not fit beside others, and how to make it fit."""
    return (
        f"{megabytes(call.stored)} beside the others, and the task has {megabytes(room.total)} in all, of which its "
        f"other functions leave {megabytes(room.left)}; slice the batch in the driver, or raise the limit: "
        f"--max-mb {math.ceil((room.total + call.stored) / 2**20 / CALLS_IN_ALL)}"
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


# calls in words


Gain = tuple[str, object]
"""A thing that a call brings as a case: ``mutant``, ``block``, ``option`` or ``size``, and which one."""


def additions(chosen: Sequence[RecordedCall], gains: Mapping[int, frozenset[Gain]]) -> dict[int, str]:
    """Return number of a call → what it adds to the others, and how it differs from them; "" for nothing.

    Args:
        gains: number of a call → all that it brings.
    """
    counts = Counter(gain for call in chosen for gain in gains[call.number])
    shared = Counter(pair for call in chosen for pair in call.summary.items())
    words = {}
    for call in chosen:
        # A call that is alone has all its parts: nothing tells it from others.
        own = [gain for gain in gains[call.number] if counts[gain] == 1] if len(chosen) > 1 else []
        options = _telling([trait for kind, trait in own if kind == "option" and isinstance(trait, Trait)])
        parts = _own_in_words(own, options)
        differs = []
        for path, text in call.summary.items():
            rare = shared[path, text] <= max(1, len(chosen) - 1)
            if rare and path not in {option.path for option in options}:
                differs.append(shortened(in_words(path, text), LONGEST))
        if differs:
            parts.append(listed(differs, 3))
        words[call.number] = "; ".join(parts)
    return words


def _own_in_words(own: Sequence[Gain], options: Sequence[Trait]) -> list[str]:
    mutants = [name for kind, name in own if kind == "mutant"]
    blocks = [block for kind, block in own if kind == "block" and isinstance(block, int)]
    parts = []
    if options:
        parts.append(f"the only one with {listed(list(map(option_in_words, options)), 3)}")
    if mutants:
        parts.append(f"{counted(len(mutants), 'mutant')} fail{'s' * (len(mutants) == 1)} only here")
    if any(kind == "size" for kind, _ in own):
        parts.append("larger than the others")
    if any(block >= 0 for block in blocks):
        parts.append("runs lines that no other runs")
    elif blocks:
        parts.append("repeats lines that no other repeats")
    return parts


def _telling(options: Sequence[Trait]) -> list[Trait]:
    """Return options without those that follow from the value of the same part, or from its absence."""
    exact = {option.path for option in options if _is_exact(option)}
    telling = []
    for option in sorted(options):
        # With a flag of its own, how all of them stand together is no news.
        implied = option.path in exact or (exact and option.kind == "flags")
        if _is_exact(option) or not implied:
            telling.append(option)
    return telling


def _is_exact(option: Trait) -> bool:
    return option.kind == "value" or option.value == NOT_GIVEN


def in_words(path: str, text: str) -> str:
    """Return a part of a call as it is shown: ``margin=2.0``, or ``x: tensor float32[4]``."""
    return f"{path}: {text}" if " " in text.strip("'") else f"{path}={text}"


def option_in_words(option: Trait) -> str:
    """Return an option as it is shown: ``margin=2.0``, ``no margin``, ``x of size one × several``."""
    path, kind, value = option
    if value == NOT_GIVEN:
        return f"no {path}"
    if kind == "value":
        return in_words(path, value)
    if kind == "size":
        return f"{path} of size {value}"
    words = {
        "flags": "its combination of flags",
        "random": f"random numbers of {value}",
        "outcome": "an exception" if "raises" in value else "a result",
    }
    return words.get(kind) or f"{path}: {value}"
