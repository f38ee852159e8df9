"""How much of one piece of code stands in another: statement by statement, names free, order free."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from lmr_author.leaks.statements import BLANK, Statement, token_weight

SOFT = 0.6
"""Common tokens of two statements (Dice) from which one counts as an edited version of the other."""

APART = 10
"""Lines from one statement to the next from which they are no longer taken for one place."""


@dataclass(frozen=True)
class Match:
    """What of a solution was found in a piece of code.

    Attributes:
        similarity: share of what its statements tell that stands there too, 0 to 1.
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
    """The best match of a solution in some code, within a window about as long as the solution."""
    total = sum(item.weight for item in wanted)
    window = _window(wanted, code)
    if not total or not window:
        return NO_MATCH
    pairs = _pairs(wanted, window)
    if not pairs:
        return NO_MATCH
    renamed = _renaming(pairs)
    found = sum(_common(one, other, renamed) for one, other in pairs)
    exact = sum(one.weight for one, other in pairs if one.exact == other.exact)
    places = sorted(other.line for _, other in pairs)
    span = [item for item in window if places[0] <= item.line <= places[-1]]
    matched = sum(other.weight for _, other in pairs)
    density = matched / max(sum(item.weight for item in span), 0.001)
    return Match(found / total, exact / total, min(density, 1.0), *_place(pairs))


def _place(pairs: Sequence[tuple[Statement, Statement]]) -> tuple[int, int]:
    """First and last line of where the counterparts stand, without the few that stand apart."""
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


def _window(wanted: Sequence[Statement], code: Sequence[Statement]) -> Sequence[Statement]:
    """The part of some code with the most of the solution's statements in it."""
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


def _pairs(wanted: Sequence[Statement], code: Sequence[Statement]) -> list[tuple[Statement, Statement]]:
    """Each statement of the solution with its counterpart: equal, else of the same shape, else edited."""
    pairs: list[tuple[Statement, Statement]] = []
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
    return pairs + _edited(left, right)


def _edited(left: list[Statement], right: list[Statement]) -> list[tuple[Statement, Statement]]:
    scored = []
    bags = [Counter(item.shape) for item in right]
    for number, one in enumerate(left):
        if one.weight < 1.0:
            continue
        bag = Counter(one.shape)
        for place, other in enumerate(right):
            size = len(one.shape) + len(other.shape)
            if 2 * min(len(one.shape), len(other.shape)) < SOFT * size:
                continue
            dice = 2 * (bag & bags[place]).total() / size
            if dice >= SOFT:
                scored.append((-dice, abs(number - place), number, place))
    pairs, used_left, used_right = [], set(), set()
    for _, _, number, place in sorted(scored):
        if number not in used_left and place not in used_right:
            used_left.add(number)
            used_right.add(place)
            pairs.append((left[number], right[place]))
    return pairs


def _aligned(one: Statement, other: Statement) -> list[tuple[int, int]]:
    """Positions of equal tokens in two statements."""
    if one.shape == other.shape:
        return [(number, number) for number in range(len(one.shape))]
    blocks = SequenceMatcher(None, one.shape, other.shape, autojunk=False).get_matching_blocks()
    return [(block.a + step, block.b + step) for block in blocks for step in range(block.size)]


def _named(item: Statement) -> dict[int, str]:
    places = [number for number, token in enumerate(item.shape) if token == BLANK]
    return dict(zip(places, item.names, strict=True))


def _renaming(pairs: list[tuple[Statement, Statement]]) -> set[tuple[str, str]]:
    """(name in the solution, name in the copy) that belong together: each other's most frequent partner."""
    seen: Counter[tuple[str, str]] = Counter()
    for one, other in pairs:
        mine, theirs = _named(one), _named(other)
        seen.update((mine[a], theirs[b]) for a, b in _aligned(one, other) if a in mine)
    best_left: Counter[str] = Counter()
    best_right: Counter[str] = Counter()
    for (mine_, theirs_), count in seen.items():
        best_left[mine_] = max(best_left[mine_], count)
        best_right[theirs_] = max(best_right[theirs_], count)
    return {
        (one, other)
        for (one, other), count in seen.items()
        if one == other or (count == best_left[one] and count == best_right[other])
    }


def _common(one: Statement, other: Statement, renamed: set[tuple[str, str]]) -> float:
    """Weight of the tokens that two statements share, variables counted where the renaming is consistent."""
    if one.exact == other.exact:
        return one.weight
    mine, theirs = _named(one), _named(other)
    return sum(
        token_weight(one.shape[a])
        for a, b in _aligned(one, other)
        if a not in mine or (mine[a], theirs[b]) in renamed
    )
