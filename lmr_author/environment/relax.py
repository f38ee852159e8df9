"""When no versions fit together: what little changes make them fit. Tried in a fixed order, and always told."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache

from lmr_author.environment.locked import Conflict, Lock
from lmr_author.environment.looser import Looser, changed, continued, loosened, size
from lmr_author.environment.recipe import Declared, Recipe, is_exact
from lmr_author.environment.resolver import NO_DATES, Attempt
from lmr_author.model import Progress
from lmr_author.texts import counted

LATER = (30, 90, 180, 365, 730)
"""Days after the commit at which versions are looked for."""

MOST_TRIES = 100
"""So many sets of changes are tried at most, each with a few runs of uv."""

Resolve = Callable[[Recipe, tuple[str, ...], float, Attempt | None], Lock]
"""A recipe, what was changed in it, seconds, and where to go on (None: at the beginning) → its lock."""

Nearest = Callable[[Declared], str]
"""A pin → the first later one that has a wheel, and needs what has wheels; "" when there is none, or it has them."""


@dataclass(frozen=True)
class Relaxing:
    """What came of a search.

    Attributes:
        lock: with its changes; None when none was found.
        recipe: the one that the lock was made for.
        tries: how many sets of changes were tried.
        stopped: why not everything was tried, in words; "" when it was.
        changes: the changes that helped, but were not enough.
        left: what was in the way beside them; None when nothing was changed.
    """

    lock: Lock | None
    recipe: Recipe
    tries: int
    stopped: str = ""
    changes: tuple[str, ...] = ()
    left: Conflict | None = None


class Search:
    """One search, and how far it is.

    Attributes:
        recipe: as the repository has it.
        fitting: the changed one that the last lock was made for; every search ends with the last lock that it made.
        tries: sets of changes that were tried.
        stopped: why there are no more tries; "" while there are.
        changes: those that helped so far; what they leave is ``left``.
    """

    def __init__(
        self,
        recipe: Recipe,
        resolve: Resolve,
        nearest: Nearest,
        seconds: float,
        progress: Progress | None,
    ) -> None:
        self.recipe = self.fitting = recipe
        self.tries = 0
        self.stopped = ""
        self.changes: tuple[Looser, ...] = ()
        self.left: Conflict | None = None
        self.certain: set[str] = set()
        self._known: dict[frozenset[Looser], Lock] = {}
        self._resolve = resolve
        self._nearest = cache(nearest)
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._progress = progress or (lambda _: None)

    def loosened(self, item: Declared) -> list[Looser]:
        """What can be made of a requirement, the smallest change first."""
        nearest = self._nearest(item) if is_exact(item) and not self._over() else ""
        return [*([Looser(item, nearest)] if nearest else []), *loosened(item, self.recipe)]

    def attempt(self, changes: tuple[Looser, ...]) -> Lock | None:
        """The lock with some changes, going on from what is in the way now; None when there are no tries left."""
        known = self._known.get(frozenset(changes))
        if known is not None:
            return known
        reached = self.left.reached if self.left else None
        after = continued(reached, self.changes, changes) if reached else None
        new = [change for change in changes if change not in self.changes]
        others = len(changes) - len(new)
        words = "; ".join(map(str, new)) or "fewer changes"
        beside = f", beside {counted(others, 'other change')}" if others else ""
        made = self.made(changed(self.recipe, changes), tuple(map(str, changes)), f"{words}{beside}", after)
        if made is not None:
            self._known[frozenset(changes)] = made
        return made

    def made(
        self, recipe: Recipe, words: tuple[str, ...], said: str, after: Attempt | None = None
    ) -> Lock | None:
        """The lock of a recipe that was changed; None when there are no tries left."""
        if self._over():
            return None
        self.tries += 1
        self._progress(f"try {self.tries}: {said}")
        found = self._resolve(recipe, words, self._deadline - time.monotonic(), after)
        if found.pinned:
            self.fitting = recipe
        return found

    def _over(self) -> bool:
        if self._deadline - time.monotonic() < 2:
            self.stopped = f"the {self._seconds:.0f} s were over"
        elif self.tries >= MOST_TRIES:
            self.stopped = f"there are {MOST_TRIES} tries at most"
        return bool(self.stopped)


def relaxed(
    recipe: Recipe,
    failed: Lock,
    resolve: Resolve,
    nearest: Nearest,
    *,
    seconds: float,
    progress: Progress | None = None,
    now: datetime | None = None,
) -> Relaxing:
    """Search for a lock that needs changes, which its ``changes`` and its comments name.

    What the resolver says cannot be had at all gives way first. Else a later date is tried, which changes no
    requirement. Then what the resolver blames gives way: ``==`` to the first later version with a wheel, to ``~=``,
    to ``>=``, and at last without a version, or left out where no code imports it at once. Where one change is not
    enough the next conflict is dealt with in turn, going on where that was met; in the end each change is as small
    as the others allow.
    """
    search = Search(recipe, resolve, nearest, seconds, progress)
    if NO_DATES in failed.note:
        words = "versions of today, because the index does not tell their dates"
        found = search.made(replace(recipe, date=None), (words,), words)
    elif failed.conflict is None:
        found = None
    else:
        found = _found(search, failed.conflict, now or datetime.now(UTC))
    changes = tuple(map(str, search.changes))
    left = search.left if changes else None
    made = found if found and found.pinned else None
    return Relaxing(made, search.fitting, search.tries, search.stopped, changes, left)


def _found(search: Search, conflict: Conflict, now: datetime) -> Lock | None:
    search.left = conflict
    if conflict.certain:
        return _together(search) or _on_a_later_day(search, now)
    return _on_a_later_day(search, now) or _together(search)


def _on_a_later_day(search: Search, now: datetime) -> Lock | None:
    """As of the first later day on which everything fits.

    The last day is asked first: what fits on an earlier one fits on that, too, so that mostly one try tells that no
    day helps.
    """
    days = _later(search.recipe.date, now)
    last = _as_of(search, days[-1]) if days else None
    if last is None or last.conflict is not None:
        return None
    for day in days[:-1]:
        made = _as_of(search, day)
        if made and made.pinned:
            return made
    return last if last.pinned else None


def _as_of(search: Search, day: datetime) -> Lock | None:
    date = search.recipe.date
    words = f"versions as of {day.date()} in place of {date.date() if date else 'today'}"
    return search.made(replace(search.recipe, date=day), (words,), words)


def _together(search: Search) -> Lock | None:
    """Changes of requirements, one conflict after the other."""
    while search.left is not None:
        step = _step(search, search.left)
        if step is None or step[0] == search.changes:
            return None
        changes, made = step
        if made.pinned:
            return _smallest(search, changes, made)
        search.changes, search.left = changes, made.conflict
    return None


def _step(search: Search, conflict: Conflict) -> tuple[tuple[Looser, ...], Lock] | None:
    """The changes made so far with one more (or one of them larger) that leads past a conflict."""
    search.certain |= {item.name for item in conflict.certain}
    blamed = _originals(search.recipe, conflict.certain or conflict.blamed)
    for change in sorted((change for item in blamed for change in search.loosened(item)), key=size):
        proposal = _with(search.changes, change)
        made = search.attempt(proposal) if proposal != search.changes else None
        if made and (made.pinned or (made.conflict and change.item.name not in _names(made.conflict))):
            return proposal, made
    return _all_at_once(search, blamed)


def _all_at_once(search: Search, blamed: list[Declared]) -> tuple[tuple[Looser, ...], Lock] | None:
    """What is blamed without any versions, where no change of one thing leads anywhere."""
    changes = search.changes
    for item in blamed:
        loosest = [change for change in search.loosened(item) if change.text]
        changes = _with(changes, loosest[-1]) if loosest else changes
    made = search.attempt(changes) if changes != search.changes else None
    return (changes, made) if made else None


def _smallest(search: Search, changes: tuple[Looser, ...], made: Lock) -> Lock:
    """The same with each change as small as the others allow, or without it, where it may be needless."""
    if len(changes) == 1:
        return made
    for change in changes:
        others = tuple(one for one in changes if one.item != change.item)
        without = [] if change.item.name in search.certain else [()]
        smaller: list[tuple[Looser, ...]] = [*without, *((one,) for one in search.loosened(change.item))]
        for less in smaller[: smaller.index((change,)) if (change,) in smaller else 0]:
            lock = search.attempt((*others, *less))
            if lock is None:
                return made
            if lock.pinned:
                changes, made = (*others, *less), lock
                break
    return made


def _with(changes: tuple[Looser, ...], change: Looser) -> tuple[Looser, ...]:
    return (*(one for one in changes if one.item != change.item), change)


def _originals(recipe: Recipe, blamed: tuple[Declared, ...]) -> list[Declared]:
    """What is blamed as the repository has it: it may have been changed already."""
    names = {item.name for item in blamed}
    return [item for item in recipe.requirements if item.name in names]


def _names(conflict: Conflict) -> set[str]:
    return {item.name for item in conflict.blamed}


def _later(date: datetime | None, now: datetime) -> list[datetime]:
    steps = [date + timedelta(days=days) for days in LATER] if date else []
    return [step for step in steps if step < now]
