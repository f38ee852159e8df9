"""Options of ``record`` with which a rewrite would pass, or a misreading fail, tried on the outcomes that all had."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lmr_author.authoring.recording.checkers import BY_THE_WAY, WORKING_MEMORY
from lmr_author.core.task.challenge import Suggestion
from lmr_author.release.challenge.trial import Checkers, Tried, above, nearest, paths_of
from lmr_author.runtime.probe import compare
from lmr_author.runtime.probe.calling import GRADIENTS, VALUE

WIDEST = 1e-2
"""The widest tolerance that is suggested: what differs by more is another result."""
ROOM = 2.0
"""How much wider than the measured difference a suggested tolerance is."""


@dataclass(frozen=True)
class Change:
    """Options of ``record``, and what they change in the checkers of a case."""

    options: tuple[str, ...]
    apply: Callable[[Checkers], Checkers]


def suggest(rewrite: Tried, misreadings: Sequence[Tried]) -> Suggestion | None:
    """Return options with which a rewrite passes and all misreadings that fail still do; None where none was found.

    Nothing is guessed: each change is tried on the outcomes.
    """
    if any(rewrite.of(case).document is None for case in rewrite.failing):
        return None
    failing = [one for one in misreadings if one.failing]
    for change in _changes(rewrite):
        if _passes(rewrite, change) and not any(_passes(one, change) for one in failing):
            return Suggestion(change.options, len(failing), len(failing))
    return None


def suggest_stricter(misreading: Tried, rewrites: Sequence[Tried]) -> Suggestion | None:
    """Return the option with which a misreading fails that passes, and all rewrites still pass; None for none.

    It compares what the golden changes by the way.
    """
    passing = [one for one in rewrites if not one.failing]
    change = Change(("--in-place",), _comparing)
    if _passes(misreading, change) or not all(_passes(one, change) for one in passing):
        return None
    return Suggestion(change.options, len(passing), len(passing))


def _comparing(checkers: Checkers) -> Checkers:
    reasons = (BY_THE_WAY, WORKING_MEMORY)
    return {path: item for path, item in checkers.items() if item.get("reason") not in reasons}


def _passes(tried: Tried, change: Change) -> bool:
    cases = tried.judge.recording.cases
    known = tried.judge.checkers
    return len(tried.cases) == len(cases) and not any(
        tried.differs(case, change.apply(known[case.name])) for case in cases
    )


def _changes(rewrite: Tried) -> Iterator[Change]:
    """Yield changes by which a rewrite might pass, the mildest first."""
    parts = paths_of(rewrite, rewrite.failing)
    yield from _tolerances(rewrite, parts)
    for part in parts[:1]:
        while part:
            yield _check(part, "set", {"kind": "set"})
            part = above(part)
    roots = dict.fromkeys(part.partition(".")[0].partition("[")[0] for part in parts)
    arguments = [root for root in roots if root != VALUE and not root.startswith("@")]
    known = set().union(*(rewrite.judge.expected[case.name].tree for case in rewrite.failing))
    if arguments and len(arguments) == len(roots) and known.issuperset(arguments):
        yield Change(("--no-in-place",), lambda checkers: _ignoring(checkers, arguments))
    whole = (VALUE, GRADIENTS)
    part = _common(parts) if parts else ""
    if part and part not in whole:
        yield Change(("--check", f"{part}=ignore"), lambda checkers: _ignoring(checkers, [part]))


def _tolerances(rewrite: Tried, parts: Sequence[str]) -> Iterator[Change]:
    """Yield a wider absolute tolerance, a wider relative one, and both, by what was measured."""
    distances: dict[str, list[float]] = {}
    for case in rewrite.failing:
        document = rewrite.of(case).document
        spread = compare.spread([rewrite.judge.expected[case.name], document]) if document else {}
        for part in parts:
            if part in spread:
                distances.setdefault(part, [0.0, 0.0])
                distances[part] = [max(pair) for pair in zip(distances[part], spread[part], strict=True)]
    if not parts or set(distances) != set(parts) or not all(any(pair) for pair in distances.values()):
        return
    part = _common(parts)
    largest, share = (max(pair[place] for pair in distances.values()) for place in (0, 1))
    own = nearest(rewrite.judge.checkers[rewrite.failing[0].name], parts[0])
    usual = {name: float(own.get(name, 0.0)) for name in ("rtol", "atol")}
    for wider in ({"atol": largest}, {"rtol": share}, {"atol": largest, "rtol": share}):
        kind = usual | {name: _rounded(distance) for name, distance in wider.items()}
        if part and max(kind.values()) <= WIDEST:
            yield _check(part, f"allclose:{kind['rtol']:g},{kind['atol']:g}", {"kind": "allclose", **kind})


def _common(parts: Sequence[str]) -> str:
    """Return the part that all parts are, or belong to; "" for none."""
    part = parts[0]
    while part and not all(one == part or one.startswith((part + ".", part + "[")) for one in parts):
        part = above(part)
    return part


def _rounded(distance: float) -> float:
    """Return a tolerance above a distance, in one digit, as people write one."""
    return float(f"{ROOM * distance:.0e}")


def _check(part: str, word: str, kind: dict[str, Any]) -> Change:
    """Return what ``--check PART=KIND`` changes: the checker of a part, and of all that is below it."""

    def apply(checkers: Checkers) -> Checkers:
        own = nearest(checkers, part)
        tolerance = {name: own[name] for name in ("rtol", "atol") if name in own}
        return {**_without(checkers, part), part: {**tolerance, **kind}}

    return Change(("--check", f"{part}={word}"), apply)


def _ignoring(checkers: Checkers, parts: Sequence[str]) -> Checkers:
    for part in parts:
        checkers = {**_without(checkers, part), part: {"kind": "ignore"}}
    return checkers


def _without(checkers: Checkers, part: str) -> Checkers:
    return {path: item for path, item in checkers.items() if not path.startswith((part + ".", part + "["))}
