"""A requirement that gives way: what can be made of it, and a recipe or an attempt with such changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lmr_author.environment.recipe import Declared, Recipe, is_exact
from lmr_author.environment.resolver import Attempt


@dataclass(frozen=True)
class Looser:
    """A requirement as ``text``; left out when that is ""."""

    item: Declared
    text: str

    def __str__(self) -> str:
        if not self.text:
            return f"{self.item} is left out: no code imports it at once"
        return f"{self.text} in place of {self.item}"


def loosened(item: Declared, recipe: Recipe) -> list[Looser]:
    """A requirement with less of a specifier, the smallest change first."""
    found = [Looser(item, text) for text in _looser(item)]
    return [*found, Looser(item, "")] if item.name in recipe.idle else found


def _looser(item: Declared) -> Iterator[str]:
    """``a==1.2.3`` → ``a~=1.2.3``, ``a>=1.2.3``, ``a``. An extra goes before years of versions do."""
    requirement = Requirement(item.text)
    name, specifier = requirement.name, requirement.specifier
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    marker = f"; {requirement.marker}" if requirement.marker else ""
    version = next((part.version for part in specifier), "").partition("+")[0] if is_exact(item) else ""
    if "." in version:
        yield f"{name}{extras}~={version}{marker}"
    if extras:
        yield f"{name}{specifier}{marker}"
    if version:
        yield f"{name}{extras}>={version}{marker}"
    if specifier:
        yield f"{name}{extras}{marker}"


def size(change: Looser) -> int:
    """How much a change takes away: a part of a version, a range, a version, or the requirement."""
    if not change.text:
        return 3
    return 0 if Requirement(change.text).specifier else 2 if is_exact(change.item) else 1


def changed(recipe: Recipe, changes: tuple[Looser, ...]) -> Recipe:
    """A recipe with some requirements as they are in the changes."""
    texts = {change.item: change.text for change in changes}
    kept = (
        replace(one, text=texts.get(one, one.text)) for one in recipe.requirements if texts.get(one) != ""
    )
    return replace(recipe, requirements=tuple(kept))


def continued(attempt: Attempt, before: tuple[Looser, ...], after: tuple[Looser, ...]) -> Attempt:
    """An attempt that was made with some changes, as it would be with others: all else that it put aside stays so."""
    texts = {change.item: change.item.text for change in before} | {
        change.item: change.text for change in after
    }
    same = {(change.item, change.text) for change in before}
    new = {(item.name, item.origin): text for item, text in texts.items() if (item, text) not in same}
    aside = [item for item in attempt.as_is if (item.name, item.origin) in new]
    declared = (
        replace(item, text=new.get((item.name, item.origin), item.text))
        for item in (*attempt.declared, *aside)
        if new.get((item.name, item.origin)) != ""
    )
    names = {name for name, _ in new}
    return replace(
        attempt,
        declared=tuple(declared),
        as_is=tuple(item for item in attempt.as_is if item not in aside),
        built=tuple(name for name in attempt.built if canonicalize_name(name) not in names),
    )
