"""Measure how much of one piece of code is in another: statement by statement, names free, order free."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lmr_author.leaks.statements import BLANK, Statement, token_weight

SOFT = 0.6
"""Common tokens of two statements (Dice) from which one counts as an edited version of the other."""

APART = 10
"""Lines between two statements from which they are no longer taken for one place."""

_Pair = tuple[Statement, Statement]


@dataclass(frozen=True)
class Match:
    """The part of a solution that is in a piece of code.

    Attributes:
        similarity: share of its statements' weight, 0 to 1.
        exact: the same, counting only statements that are equal to their names.
        density: share of that place (first to last statement found) that the solution makes up.
        first, last: its lines; single statements far away from all others are not counted.
    """

    similarity: float
    exact: float
    density: float
    first: int
    last: int


NO_MATCH = Match(0.0, 0.0, 0.0, 0, 0)


def compare(wanted: Sequence[Statement], code: Sequence[Statement]) -> Match:
    """Return the best match of a solution in some code, within a window about as long as the solution."""
    total = sum(item.weight for item in wanted)
    window = _window(wanted, code)
    pairs = _pairs(wanted, window)
    if not total or not pairs:
        return NO_MATCH
    renamed = _renaming(pairs)
    found = sum(_common(one, other, renamed) for one, other in pairs)
    exact = sum(one.weight for one, other in pairs if one.exact == other.exact)
    places = sorted(other.line for _, other in pairs)
    span = sum(item.weight for item in window if places[0] <= item.line <= places[-1])
    density = sum(other.weight for _, other in pairs) / max(span, 0.001)
    return Match(found / total, exact / total, min(density, 1.0), *_place(pairs))


def _window(wanted: Sequence[Statement], code: Sequence[Statement]) -> Sequence[Statement]:
    """Return the part of some code with the most of the solution's statements in it."""
    length = len(wanted) * 3 // 2 + 6
    if len(code) <= length:
        return code
    shapes = {item.shape: item.weight for item in wanted}
    gains = [shapes.get(item.shape, 0.0) for item in code]
    current = best = sum(gains[:length])
    start = 0
    for number in range(1, len(code) - length + 1):
        current += gains[number + length - 1] - gains[number - 1]
        if current > best + 1e-9:
            best, start = current, number
    return code[start : start + length]


def _pairs(wanted: Sequence[Statement], code: Sequence[Statement]) -> list[_Pair]:
    """Pair each statement of the solution with an equal one, else one of the same shape, else an edited one."""
    pairs: list[_Pair] = []
    left, right = list(wanted), list(code)
    keys: tuple[Callable[[Statement], object], ...] = (lambda item: item.exact, lambda item: item.shape)
    for key in keys:
        places: dict[object, list[Statement]] = defaultdict(list)
        for item in reversed(right):
            places[key(item)].append(item)
        rest = []
        for item in left:
            if places.get(key(item)):
                pairs.append((item, places[key(item)].pop()))
            else:
                rest.append(item)
        taken = {id(other) for _, other in pairs}
        left, right = rest, [item for item in right if id(item) not in taken]
    for one in left:
        scored = [(_dice(one, other), -abs(number - len(pairs))) for number, other in enumerate(right)]
        if one.weight >= 1.0 and scored and max(scored)[0] >= SOFT:
            pairs.append((one, right.pop(scored.index(max(scored)))))
    return pairs


def _dice(one: Statement, other: Statement) -> float:
    size = len(one.shape) + len(other.shape)
    if 2 * min(len(one.shape), len(other.shape)) < SOFT * size:
        return 0.0
    return 2 * (one.bag & other.bag).total() / size


def _renaming(pairs: Sequence[_Pair]) -> dict[str, str]:
    """Map each name of the solution to the copy's where both are each other's most frequent partner."""
    seen = Counter(
        names
        for one, other in pairs
        if one.shape == other.shape
        for names in zip(one.names, other.names, strict=True)
    )
    mine: dict[str, str] = {}
    theirs: dict[str, str] = {}
    for (name, partner), _ in seen.most_common():
        mine.setdefault(name, partner)
        theirs.setdefault(partner, name)
    return {name: partner for name, partner in mine.items() if theirs[partner] == name}


def _common(one: Statement, other: Statement, renamed: dict[str, str]) -> float:
    """Return the weight of the tokens that two statements share; variables count where renamed consistently."""
    if one.exact == other.exact:
        return one.weight
    shared = one.bag & other.bag
    del shared[BLANK]
    variables = Counter(renamed.get(name, name) for name in one.names) & Counter(other.names)
    weight = sum(token_weight(token) * count for token, count in shared.items())
    return weight + token_weight(BLANK) * variables.total()


def _place(pairs: Sequence[_Pair]) -> tuple[int, int]:
    """Return first and last line of the counterparts, without the few that stand apart."""
    weights: dict[int, float] = defaultdict(float)
    for one, other in pairs:
        weights[other.line] += one.weight
    runs: list[list[int]] = []
    for line in sorted(weights):
        if runs and line - runs[-1][-1] <= APART:
            runs[-1].append(line)
        else:
            runs.append([line])
    shares = [sum(weights[line] for line in run) for run in runs]
    most = [line for run, share in zip(runs, shares, strict=True) if 3 * share >= max(shares) for line in run]
    return most[0], most[-1]
