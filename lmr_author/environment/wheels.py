"""Wheels for the image's Python: how old versions may be, and the nearest version that has one."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lmr_author.environment.base_images import BaseImage
from lmr_author.environment.locked import Lock
from lmr_author.environment.python_days import FOLLOWED, RELEASED, followed
from lmr_author.environment.recipe import Declared, Recipe, is_exact
from lmr_author.environment.resolver import Attempt, compile_once
from lmr_author.model import Progress

WITH_WHEELS = {
    "cchardet": "faust-cchardet",
    "fasttext": "fasttext-wheel",
    "nmslib": "nmslib-metabrainz",
    "psycopg2": "psycopg2-binary",
    "pycrypto": "pycryptodome",
    "pysqlite3": "pysqlite3-binary",
    "pytrec-eval": "pytrec-eval-terrier",
}
"""Packages without wheels (for any Python of today), and those that bring the same module and have them."""

_SECONDS = 30.0
_SOURCES = 6
NO_WHEEL = re.compile(r"Wheels are required for `([\w.-]+)`")
"""What uv says of a package of which there is only the source."""


def not_before(recipe: Recipe, base: BaseImage) -> tuple[Recipe, str]:
    """A recipe whose date is not before there were packages for the image's Python, and that change in words.

    Compiled packages of an earlier day have no wheels for it, and their sources seldom compile with it.
    """
    if recipe.date is None or base.python not in RELEASED:
        return recipe, ""
    first = followed(base.python)
    released = first - FOLLOWED
    if recipe.date >= first:
        return recipe, ""
    change = (
        f"versions as of {first.date()} in place of {recipe.date.date()}: the image's Python {base.python} came out "
        f"on {released.date()}, and earlier packages are not made for it"
    )
    return replace(recipe, date=first), change


def versions(output: str) -> dict[str, str]:
    """The pins of uv's output, or of a lock: normalised name → version."""
    found = re.findall(r"^([\w.-]+)(?:\[.*?\])?==([^\s;]+)", output, re.M)
    return {canonicalize_name(name): version for name, version in found}


def nearest(
    item: Declared,
    recipe: Recipe,
    base: BaseImage,
    *,
    built: tuple[str, ...] | None = None,
    tried: bool = False,
    offline: bool = False,
) -> str:
    """A pin as the first later version that has a wheel for the image's Python, ``numpy==1.17.2`` → ``numpy==1.23.2``.

    "" when the pinned version has wheels for no Python at all (its source is enough), or no later one has.

    Args:
        built: where it is what the pin needs that has no wheel: the packages of which the source is enough. What
            the first later version needs then has wheels, too.
        tried: its source could not be built, so that it is no help even where there are wheels for no Python.
    """
    if not is_exact(item):
        return ""
    requirement = Requirement(item.text)
    pinned = next(part.version for part in requirement.specifier).partition("+")[0]
    if (
        built is None
        and not tried
        and not is_compiled(f"{requirement.name}=={pinned}", base, offline=offline)
    ):
        return ""
    # What is pinned may be newer than the commit, and so may the first wheel for this Python.
    dates = (recipe.date, None) if recipe.date else (None,)
    text = f"{requirement.name}{_extras(requirement)}>={pinned}"
    found = (_found(text, base, date, offline, built) for date in dates)
    version = next(filter(None, found), "")
    marker = f"; {requirement.marker}" if requirement.marker else ""
    return (
        f"{requirement.name}{_extras(requirement)}=={version}{marker}" if version not in ("", pinned) else ""
    )


def _extras(requirement: Requirement) -> str:
    return f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""


def is_compiled(pin: str, base: BaseImage, *, date: datetime | None = None, offline: bool = False) -> bool:
    """Whether a package (or one version) without a wheel for the image's Python has wheels for older ones.

    If it has none at all it is most likely Python alone, and its source is as good. Of a package without a version,
    only those before ``date`` are looked at.
    """
    return bool(newest_python(pin, base, date=date, offline=offline))


def newest_python(pin: str, base: BaseImage, *, date: datetime | None = None, offline: bool = False) -> str:
    """The newest Python before the image's that a package (or one version) has a wheel for; "" when there is none."""
    older = (
        python for python in _older(base.python) if _found(pin, replace(base, python=python), date, offline)
    )
    return next(older, "")


def _older(python: str) -> list[str]:
    """The Pythons before one, down to 3.6, the newest first: a compiled package has wheels for some of them."""
    return [f"3.{minor}" for minor in range(int(python.partition(".")[2]) - 1, 5, -1)]


def _found(
    text: str, base: BaseImage, date: datetime | None, offline: bool, built: tuple[str, ...] | None = None
) -> str:
    """The oldest version that satisfies a requirement and has a wheel for a Python; "" when there is none.

    With ``built`` what it needs is looked at, too; what of that is Python alone may be built.
    """
    name = canonicalize_name(Requirement(text).name)
    for _ in range(_SOURCES):
        attempt = Attempt(
            (Declared("", text, ""),),
            resolve=built is not None,
            built=built or (),
            lowest=True,
            offline=offline,
        )
        done = compile_once(attempt, Recipe(date=date), base, _SECONDS)
        if done.exit_code == 0:
            return versions(done.stdout.decode("utf-8", "replace")).get(name, "")
        missing = dict.fromkeys(NO_WHEEL.findall(done.stderr)) if built is not None else {}
        more = [one for one in missing if one not in (built or ()) and not is_compiled(one, base, date=date)]
        if not more:
            break
        built = (*(built or ()), *more)
    return ""


def only_for(python: str, pins: Sequence[str], base: BaseImage) -> str:
    """The first pin that has a wheel for a Python and none for the image's; "" when there is none, or nobody knows.

    What has wheels for neither is most likely Python alone, and its source is as good in both.
    """
    left = list(pins)
    while left:
        declared = tuple(Declared("", text, "") for text in left)
        done = compile_once(Attempt(declared, resolve=False), Recipe(), base, _SECONDS)
        said = " ".join(done.stderr.split())
        blamed = [text for text in left if re.search(rf"(?<![\w.-]){re.escape(text)}(?![\w.+-]*\w)", said)]
        if done.exit_code == 0 or not blamed:
            break
        for text in blamed:
            if _found(text, replace(base, python=python), None, offline=False):
                return text
        left = [text for text in left if text not in blamed]
    return ""


def with_wheels(
    recipe: Recipe,
    base: BaseImage,
    made: Lock,
    *,
    seconds: float = 300.0,
    offline: bool = False,
    progress: Progress | None = None,
) -> tuple[Recipe, tuple[str, ...]]:
    """A recipe in which versions that lead to compiling are the nearest later ones that do not, and the changes.

    Changed is what the repository names a version of and what has no wheel there, or needs something that has none.

    Args:
        made: a lock for the recipe, with what has no wheel and what needs it.
        seconds: what is not looked at by then stays as it is.
    """
    deadline = time.monotonic() + seconds
    changed: dict[Declared, tuple[str, str]] = {}
    own = {item.name: item for item in recipe.requirements if Requirement(item.text).specifier}
    held = versions("\n".join(made.pins))
    for number, name in enumerate(made.compiled, 1):
        if time.monotonic() > deadline:
            break
        if progress is not None:
            progress(f"looking for a wheel of {name} ({number} of {len(made.compiled)})")
        pin = f"{name}=={held[name]}" if name in held else name
        direct = name in own
        if not direct and not is_compiled(pin, base, offline=offline):
            continue
        enough = None if direct else tuple(other for other in made.compiled if other != name)
        for root in (name,) if direct else made.roots(name):
            item = own.get(root)
            if item is None or item in changed:
                continue
            pinned = _pinned(item, held.get(root, ""))
            text = nearest(pinned, recipe, base, built=enough, offline=offline)
            if text:
                what = "the first version" if direct else f"the first version that does not need {pin}, and"
                changed[item] = text, f"{what} with a wheel for Python {base.python}"
    requirements = tuple(
        replace(item, text=changed[item][0]) if item in changed else item for item in recipe.requirements
    )
    said = tuple(f"{text} in place of {item}: {why}" for item, (text, why) in changed.items())
    return replace(recipe, requirements=requirements), said


def _pinned(item: Declared, version: str) -> Declared:
    """A range (``numpy>=1.19,<1.20``) as the version that a lock has of it."""
    requirement = Requirement(item.text)
    if is_exact(item) or not version:
        return item
    marker = f"; {requirement.marker}" if requirement.marker else ""
    return replace(item, text=f"{requirement.name}{_extras(requirement)}=={version}{marker}")
