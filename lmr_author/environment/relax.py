"""When no versions fit together: what little changes make them fit. Tried in a fixed order, and always told."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache

from packaging.requirements import Requirement

from lmr_author.environment.locked import Lock
from lmr_author.environment.recipe import Declared, Recipe, is_exact
from lmr_author.environment.resolver import NO_DATES

LATER = (30, 90, 180, 365, 730)
"""Days after the commit at which versions are looked for."""

MOST = 12
"""So many conflicts are dealt with, one after the other."""

Resolve = Callable[[Recipe, tuple[str, ...], float], Lock]
"""A recipe, what was changed in it and seconds → its lock."""

Nearest = Callable[[Declared], str]
"""A pin → the first later one that has a wheel, and needs what has wheels; "" when there is none, or it has them."""


@dataclass(frozen=True)
class Looser:
    """A requirement as ``text``; left out when that is ""."""

    item: Declared
    text: str

    def __str__(self) -> str:
        if not self.text:
            return f"{self.item} is left out: no code imports it at once"
        return f"{self.text} in place of {self.item}"


@dataclass(frozen=True)
class Search:
    """What is given to a search.

    Attributes:
        recipe: as the repository has it.
        resolve: makes a lock.
        nearest: asked of what is blamed, each once.
        deadline: when to stop, by ``time.monotonic()``.
        progress: is told what is tried.
    """

    recipe: Recipe
    resolve: Resolve
    nearest: Nearest
    deadline: float
    progress: Callable[[str], None]

    def loosened(self, item: Declared) -> list[Looser]:
        """What can be made of a requirement, the smallest change first."""
        nearest = self.nearest(item) if is_exact(item) else ""
        return [*([Looser(item, nearest)] if nearest else []), *loosened(item, self.recipe)]

    def attempt(self, changes: tuple[Looser, ...]) -> Lock | None:
        """The lock with some changes; None when there is no time left."""
        return self.made(changed(self.recipe, changes), tuple(map(str, changes)))

    def made(self, recipe: Recipe, words: tuple[str, ...]) -> Lock | None:
        """The lock of a recipe that was changed; None when there is no time left."""
        left = self.deadline - time.monotonic()
        if left < 2:
            return None
        self.progress(f"trying {'; '.join(words) or 'it as it is'}")
        return self.resolve(recipe, words, left)


def relaxed(
    recipe: Recipe,
    failed: Lock,
    resolve: Resolve,
    nearest: Nearest,
    *,
    seconds: float,
    progress: Callable[[str], None] | None = None,
    now: datetime | None = None,
) -> Lock | None:
    """A lock that needed changes, which its ``changes`` and its comments name; None when none is found.

    A later date is tried first. Then requirements give way, of those that the resolver blames: ``==`` to the first
    later version with a wheel, to ``~=``, to ``>=``, and at last without a version, or left out where no code imports
    them at once. Where one change is not enough the next conflict is dealt with in turn; in the end each change is as
    small as the others allow.
    """
    search = Search(recipe, resolve, cache(nearest), time.monotonic() + seconds, progress or (lambda _: None))
    if NO_DATES in failed.note:
        made = search.made(
            replace(recipe, date=None), ("versions of today, because the index does not tell their dates",)
        )
        return made if made and made.pinned else None
    if failed.conflict is None:
        return None
    for date in _later(recipe.date, now or datetime.now(UTC)):
        words = f"versions as of {date.date()} in place of {recipe.date.date() if recipe.date else 'today'}"
        made = search.made(replace(recipe, date=date), (words,))
        if made and made.pinned:
            return made
    return _together(search, failed)


def _together(search: Search, failed: Lock) -> Lock | None:
    """Changes of requirements, one conflict after the other."""
    changes: tuple[Looser, ...] = ()
    for _ in range(MOST):
        if failed.conflict is None or not failed.conflict.blamed:
            return None
        blamed = _originals(search.recipe, failed.conflict.blamed)
        step: tuple[tuple[Looser, ...], Lock] | None = None
        for change in sorted((change for item in blamed for change in search.loosened(item)), key=_size):
            proposal = _with(changes, change)
            made = search.attempt(proposal) if proposal != changes else None
            if made and made.pinned:
                return _smallest(search, proposal, made)
            if made and made.conflict and change.item.name not in _names(made):
                step = proposal, made
                break
        if step is None:
            step = _all_at_once(search, changes, blamed)
            if step and step[1].pinned:
                return _smallest(search, *step)
        if step is None or step[0] == changes:
            return None
        changes, failed = step
    return None


def _size(change: Looser) -> int:
    """How much a change takes away: a part of a version, a range, a version, or the requirement."""
    if not change.text:
        return 3
    return 0 if Requirement(change.text).specifier else 2 if is_exact(change.item) else 1


def _all_at_once(
    search: Search, changes: tuple[Looser, ...], blamed: list[Declared]
) -> tuple[tuple[Looser, ...], Lock] | None:
    """What is blamed without any versions, where no change of one thing leads anywhere."""
    for item in blamed:
        loosest = [change for change in search.loosened(item) if change.text]
        changes = _with(changes, loosest[-1]) if loosest else changes
    made = search.attempt(changes)
    return (changes, made) if made else None


def _smallest(search: Search, changes: tuple[Looser, ...], made: Lock) -> Lock:
    """The same with each change as small as the others allow, or without it."""
    if len(changes) == 1:
        return made
    for change in changes:
        others = tuple(one for one in changes if one.item != change.item)
        smaller = [(), *((one,) for one in search.loosened(change.item))]
        for less in smaller[: smaller.index((change,))]:
            lock = search.attempt((*others, *less))
            if lock is None:
                return made
            if lock.pinned:
                changes, made = (*others, *less), lock
                break
    return made


def changed(recipe: Recipe, changes: tuple[Looser, ...]) -> Recipe:
    """A recipe with some requirements as they are in the changes."""
    texts = {change.item: change.text for change in changes}
    kept = (
        replace(one, text=texts.get(one, one.text)) for one in recipe.requirements if texts.get(one) != ""
    )
    return replace(recipe, requirements=tuple(kept))


def _with(changes: tuple[Looser, ...], change: Looser) -> tuple[Looser, ...]:
    return (*(one for one in changes if one.item != change.item), change)


def _originals(recipe: Recipe, blamed: tuple[Declared, ...]) -> list[Declared]:
    """What is blamed as the repository has it: it may have been changed already."""
    names = {item.name for item in blamed}
    return [item for item in recipe.requirements if item.name in names]


def _names(failed: Lock) -> set[str]:
    return {item.name for item in failed.conflict.blamed} if failed.conflict else set()


def _later(date: datetime | None, now: datetime) -> list[datetime]:
    steps = [date + timedelta(days=days) for days in LATER] if date else []
    return [step for step in steps if step < now]


def loosened(item: Declared, recipe: Recipe) -> list[Looser]:
    """A requirement with less of a specifier, the smallest change first."""
    found = [Looser(item, text) for text in _looser(item)]
    return [*found, Looser(item, "")] if item.name in recipe.idle else found


def _looser(item: Declared) -> Iterator[str]:
    """``a==1.2.3`` → ``a~=1.2.3``, ``a>=1.2.3``, ``a``."""
    requirement = Requirement(item.text)
    if not requirement.specifier:
        return
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    marker = f"; {requirement.marker}" if requirement.marker else ""
    if is_exact(item):
        version = next(part.version for part in requirement.specifier).partition("+")[0]
        marks = ("~=", ">=") if "." in version else (">=",)
        yield from (f"{requirement.name}{extras}{mark}{version}{marker}" for mark in marks)
    yield f"{requirement.name}{extras}{marker}"
