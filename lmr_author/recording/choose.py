"""Choose a few cases from many recorded calls: cover the target, differ, and be small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmr_author.recording.tolerance import Widened
from lmr_author.task.recording import Coverage

TEXT_PER_SECOND = 500_000
"""Bytes of a tree that are read and compared in a second, about."""


@dataclass(frozen=True)
class Call:
    """One recorded call, as the recorder left it.

    Attributes:
        number: its place among all calls of the run, from 1.
        folder: holds ``inputs.*`` and ``expected.*``.
        hits: blocks and branches of the target that it executed.
        size: bytes of the values in inputs and expected outputs together.
        summary: parameter → what it was, as in ``tensor float32 [4]``; what makes two calls alike.
        outcome: ``"returned"`` or ``"raised"``.
        omitted: attributes that could not be stored, with the advice.
        seconds: how long it took when it was recorded.
        made: its inputs were made from recorded ones; what it returned is the golden's all the same.
    """

    number: int
    folder: Path
    hits: frozenset[int]
    size: int
    summary: Mapping[str, str] = field(default_factory=dict)
    outcome: str = "returned"
    omitted: tuple[Mapping[str, Any], ...] = ()
    made: bool = False
    seconds: float = 0.0

    @property
    def stored(self) -> int:
        """Bytes of its files: the values, and the trees around them."""
        files = [path for path in self.folder.glob("*") if path.name.startswith(("inputs.", "expected."))]
        return max(self.size, sum(path.stat().st_size for path in files))

    @property
    def comparing(self) -> float:
        """Seconds that comparing its outcome takes about: trees cost, arrays hardly do."""
        paths = [self.folder / name for name in ("inputs.json", "expected.json")]
        return sum(path.stat().st_size for path in paths if path.is_file()) / TEXT_PER_SECOND


@dataclass(frozen=True)
class Proven:
    """A call that reproduces.

    Attributes:
        call: the call.
        checkers: leaf path → how it is compared.
        seconds: how long the golden takes for it.
        wide: tolerances that are wider than their element type's.
    """

    call: Call
    checkers: dict[str, dict[str, Any]]
    seconds: float = 0.0
    wide: tuple[Widened, ...] = ()

    @property
    def cost(self) -> float:
        """Seconds that one more replay of it takes, comparison included."""
        return self.seconds + self.call.comparing


def order_of_choice(calls: Sequence[Call]) -> list[Call]:
    """All calls, best first.

    First a small set that covers what all of them cover: greedily by new coverage, without those that
    the later ones made superfluous. Then those that differ most from the chosen in which arguments were
    given and what they were. Small ones come before large ones, and calls that raised come last unless
    they alone cover something: a test made of errors says little about the method. What was recorded comes
    before what was made.
    """
    remaining = sorted(
        calls, key=lambda call: (call.outcome != "returned", call.made, call.size, call.number)
    )
    chosen = _cover(remaining)
    remaining = [call for call in remaining if call not in chosen]
    while remaining:
        best = max(
            remaining, key=lambda call: (call.outcome == "returned", not call.made, _news(call, chosen))
        )
        remaining.remove(best)
        chosen.append(best)
    return chosen


def _cover(calls: Sequence[Call]) -> list[Call]:
    """A set of calls that covers everything, none of it superfluous."""
    remaining, chosen = list(calls), list[Call]()
    covered: set[int] = set()
    while remaining:
        # `max` takes the first of equals, and the calls come sorted: small ones, no errors.
        best = max(remaining, key=lambda call: (len(call.hits - covered), _news(call, chosen)))
        if chosen and not best.hits - covered:
            break
        remaining.remove(best)
        chosen.append(best)
        covered |= best.hits
    for call in list(chosen):
        others = set().union(*(other.hits for other in chosen if other is not call))
        if len(chosen) > 1 and call.hits <= others:
            chosen.remove(call)
    return chosen


def _news(call: Call, chosen: Sequence[Call]) -> int:
    """How much of a call no chosen one has: arguments given that were not, of kinds or values that were not.

    An argument left out counts too: its default is a value like another.
    """
    alike = [len(set(call.summary.items()) ^ set(other.summary.items())) for other in chosen]
    return min(alike, default=0)


def coverage(calls: Sequence[Call], blocks: Mapping[int, int], absent: Mapping[int, int]) -> Coverage:
    """What of the target some calls execute.

    Args:
        blocks: block id → its first line in the golden file.
        absent: block that stands for an ``else`` that is not written, on the line of the ``if`` → the ``if``'s block.
    """
    hit = set().union(*(call.hits for call in calls)) if calls else set()
    lines = {line for block, line in blocks.items() if block in hit and block not in absent}
    missed = {line for block, line in blocks.items() if block not in hit and block not in absent}
    never = {blocks[block] for block, own in absent.items() if own in hit and block not in hit}
    return Coverage(tuple(sorted(lines)), tuple(sorted(missed - lines)), tuple(sorted(never)))
