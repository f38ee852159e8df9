"""Wheels for the image's Python: how old versions may be, and the nearest version that has one."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from packaging.requirements import Requirement

from lmr_author.environment.base_images import BaseImage
from lmr_author.environment.recipe import Declared, Recipe, is_exact
from lmr_author.environment.resolver import Attempt, compile_once

RELEASED = {
    "3.7": "2018-06-27",
    "3.8": "2019-10-14",
    "3.9": "2020-10-05",
    "3.10": "2021-10-04",
    "3.11": "2022-10-24",
    "3.12": "2023-10-02",
    "3.13": "2024-10-07",
    "3.14": "2025-10-07",
}
"""When each Python came out (devguide.python.org/versions)."""

FOLLOWED = timedelta(days=180)
"""After so long the packages that have to be compiled have wheels for a new Python (sentencepiece took 170 days)."""

_SECONDS = 30.0


def not_before(recipe: Recipe, base: BaseImage) -> tuple[Recipe, str]:
    """A recipe whose date is not before there were packages for the image's Python, and that change in words.

    Compiled packages of an earlier day have no wheels for it, and their sources seldom compile with it.
    """
    if recipe.date is None or base.python not in RELEASED:
        return recipe, ""
    released = datetime.fromisoformat(RELEASED[base.python]).replace(tzinfo=UTC)
    first = released + FOLLOWED
    if recipe.date >= first:
        return recipe, ""
    change = (
        f"versions as of {first.date()} in place of {recipe.date.date()}: the image's Python {base.python} came out "
        f"on {released.date()}, and earlier packages are not made for it"
    )
    return replace(recipe, date=first), change


def nearest(item: Declared, recipe: Recipe, base: BaseImage, *, offline: bool = False) -> str:
    """A pin as the first later version that has a wheel for the image's Python, ``numpy==1.17.2`` → ``numpy==1.23.2``.

    "" when the pinned version has wheels for no Python at all (its source is enough), or no later one has.
    """
    if not is_exact(item):
        return ""
    requirement = Requirement(item.text)
    pinned = next(part.version for part in requirement.specifier).partition("+")[0]
    if not is_compiled(f"{requirement.name}=={pinned}", base, offline=offline):
        return ""
    # What is pinned may be newer than the commit, and so may the first wheel for this Python.
    dates = (recipe.date, None) if recipe.date else (None,)
    found = (_found(f"{requirement.name}>={pinned}", base, date, offline) for date in dates)
    version = next(filter(None, found), "")
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    marker = f"; {requirement.marker}" if requirement.marker else ""
    return f"{requirement.name}{extras}=={version}{marker}" if version not in ("", pinned) else ""


def is_compiled(pin: str, base: BaseImage, *, date: datetime | None = None, offline: bool = False) -> bool:
    """Whether a package (or one version) without a wheel for the image's Python has wheels for older ones.

    If it has none at all it is most likely Python alone, and its source is as good. Of a package without a version,
    only those before ``date`` are looked at.
    """
    older = (replace(base, python=python) for python in _older(base.python))
    return any(_found(pin, one, date, offline) for one in older)


def _older(python: str) -> list[str]:
    """The Pythons before one, down to 3.6, the newest first: a compiled package has wheels for some of them."""
    return [f"3.{minor}" for minor in range(int(python.partition(".")[2]) - 1, 5, -1)]


def _found(text: str, base: BaseImage, date: datetime | None, offline: bool) -> str:
    """The oldest version that satisfies a requirement and has a wheel for a Python; "" when there is none."""
    attempt = Attempt((Declared("", text, ""),), resolve=False, lowest=True, offline=offline)
    done = compile_once(attempt, Recipe(date=date), base, _SECONDS)
    match = re.search(r"^[\w.-]+==(\S+)", done.stdout.decode("utf-8", "replace"), re.M)
    return match[1] if done.exit_code == 0 and match else ""


def with_wheels(
    recipe: Recipe, base: BaseImage, names: tuple[str, ...], *, offline: bool = False
) -> tuple[Recipe, tuple[str, ...]]:
    """A recipe in which pins that would have to be compiled are the nearest versions that need not, and the changes.

    Args:
        names: packages without a wheel; of these, what the repository pins and what has later wheels is changed.
    """
    changed: dict[Declared, str] = {}
    for item in recipe.requirements:
        text = nearest(item, recipe, base, offline=offline) if item.name in names else ""
        if text:
            changed[item] = text
    requirements = tuple(replace(item, text=changed.get(item, item.text)) for item in recipe.requirements)
    said = tuple(
        f"{text} in place of {item}: the first version with a wheel for Python {base.python}"
        for item, text in changed.items()
    )
    return replace(recipe, requirements=requirements), said
