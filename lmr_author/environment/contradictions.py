"""Requirements on one package that no version satisfies together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from packaging.requirements import Requirement
from packaging.specifiers import Specifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from lmr_author.environment.recipe import Contradiction, Declared, applies


def contradictions(
    declared: Iterable[Declared], suggested: Iterable[Declared] = ()
) -> tuple[Contradiction, ...]:
    """Packages whose requirements exclude one another, with the first pair that does.

    What is only mentioned (README, extras) is compared with what is declared, not among itself: a README
    tells several ways. Requirements with a marker are not compared: they may never meet.
    """
    sure, spoken = _by_name(declared), _by_name(suggested)
    found = []
    for name, items in sorted(sure.items()):
        pair = next(_excluding(items, spoken.get(name, [])), None)
        if pair:
            found.append(Contradiction(name, pair))
    return tuple(found)


def _by_name(declared: Iterable[Declared]) -> dict[str, list[Declared]]:
    """Those that name a version without a marker; the first of each specifier."""
    found: dict[str, dict[str, Declared]] = {}
    for item in declared:
        requirement = Requirement(item.text)
        if requirement.specifier and requirement.marker is None and applies(item):
            found.setdefault(item.name, {}).setdefault(str(requirement.specifier), item)
    return {name: list(items.values()) for name, items in found.items()}


def _excluding(items: list[Declared], spoken: list[Declared]) -> Iterator[tuple[Declared, Declared]]:
    for number, first in enumerate(items):
        for second in [*items[number + 1 :], *spoken]:
            if not compatible(first, second):
                yield first, second


def compatible(first: Declared, second: Declared) -> bool:
    """Whether some version satisfies both: tried with the versions that they name, and those around them."""
    both = [_without_label(Requirement(item.text).specifier) for item in (first, second)]
    joined = both[0] & both[1]
    return any(version in joined for version in _candidates(joined)) or not list(_candidates(joined))


def _without_label(specifier: SpecifierSet) -> SpecifierSet:
    return SpecifierSet(re.sub(r"\+[\w.]+", "", str(specifier)), prereleases=True)


def _candidates(specifier: SpecifierSet) -> Iterator[Version]:
    """Versions at, just below and just above each bound."""
    for part in specifier:
        yield from _near(part)


def _near(part: Specifier) -> Iterator[Version]:
    try:
        version = Version(part.version.removesuffix(".*"))
    except InvalidVersion:
        return
    yield version
    release = version.release
    yield Version(".".join(map(str, (*release, 0, 1))))
    yield Version(".".join(map(str, (*release, 1))))
    yield Version(".".join(map(str, (*release[:-1], release[-1] + 1))))
    for place in range(len(release) - 1, -1, -1):
        if release[place]:
            yield Version(".".join(map(str, (*release[:place], release[place] - 1, 9999))))
            break
    yield Version("0")
