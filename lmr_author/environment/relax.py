"""When no versions fit together: what little change makes them fit. Tried in a fixed order, and always told."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from packaging.requirements import Requirement

from lmr_author.environment.base_images import BaseImage
from lmr_author.environment.lock import Lock, Progress, lock
from lmr_author.environment.recipe import Declared, Recipe, is_exact
from lmr_author.environment.resolver import NO_DATES

LATER = (30, 90, 180, 365, 730)
"""Days after the commit at which versions are looked for."""


def relaxed(
    recipe: Recipe,
    base: BaseImage,
    failed: Lock,
    *,
    seconds: float,
    progress: Progress | None = None,
    hashes: bool = False,
    offline: bool = False,
    now: datetime | None = None,
) -> Lock | None:
    """A lock that needed one change, which its ``changes`` and its comments name; None when none helps.

    A later date is tried first, then one requirement after the other, of those that the resolver blames:
    ``==`` to ``~=``, to ``>=``, and at last without a version.
    """
    deadline = time.monotonic() + seconds
    for proposal, change in proposals(recipe, failed, now or datetime.now(UTC)):
        left = deadline - time.monotonic()
        if left < 2:
            return None
        if progress is not None:
            progress(f"trying {change}")
        made = lock(proposal, base, seconds=left, hashes=hashes, offline=offline, changes=(change,))
        if made.pinned:
            return made
    return None


def proposals(recipe: Recipe, failed: Lock, now: datetime) -> Iterator[tuple[Recipe, str]]:
    """Recipes with one change, smallest first, each with the change in words."""
    if NO_DATES in failed.note:
        yield replace(recipe, date=None), "versions of today, because the index does not tell their dates"
        return
    if failed.conflict is None:
        return
    if recipe.date is not None:
        for date in _later(recipe.date, now):
            yield replace(recipe, date=date), f"versions as of {date.date()} in place of {recipe.date.date()}"
    for item in failed.conflict.blamed:
        for text in _looser(item):
            changed = tuple(replace(one, text=text) if one == item else one for one in recipe.requirements)
            if changed != recipe.requirements:
                yield replace(recipe, requirements=changed), f"{text} in place of {item}"


def _later(date: datetime, now: datetime) -> list[datetime]:
    steps = [date + timedelta(days=days) for days in LATER]
    return [step for step in steps if step < now]


def _looser(item: Declared) -> Iterator[str]:
    """A requirement with less of a specifier: ``a==1.2.3`` → ``a~=1.2.3``, ``a>=1.2.3``, ``a``."""
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
