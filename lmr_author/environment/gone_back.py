"""Versions that uv went back to, be they ten years old, only because what later ones need has no wheel."""

from __future__ import annotations

from dataclasses import replace

from packaging.version import Version

from lmr_author.environment.base_images import BaseImage
from lmr_author.environment.python_days import RELEASED, followed
from lmr_author.environment.recipe import Recipe, is_exact
from lmr_author.environment.resolver import Attempt, compile_once, said
from lmr_author.environment.wheels import NO_WHEEL, versions

_SECONDS = 30.0


def held_back(attempt: Attempt, locked: str, recipe: Recipe, base: BaseImage) -> tuple[str, ...]:
    """Packages that a lock has in an old version, or not at all, only because later ones have no wheel for its Python.

    uv goes back to whatever has a wheel for every Python, be it ten years old. Compared is the same resolution for the
    Python that was usual on the recipe's day.

    Args:
        attempt, locked: the resolution, and what uv wrote.
    """
    usual = [python for python in RELEASED if recipe.date and followed(python) <= recipe.date]
    if not usual or not attempt.wheels_from or base.python not in RELEASED:
        return ()
    done = compile_once(attempt, recipe, replace(base, python=usual[-1]), _SECONDS)
    if done.exit_code != 0:
        return ()
    ours, theirs = versions(locked), versions(done.stdout.decode("utf-8", "replace"))
    known = {item.partition("=")[0] for item in attempt.later}
    return tuple(
        name
        for name, version in theirs.items()
        if name not in known and (name not in ours or Version(ours[name]) < Version(version))
    )


def behind(attempt: Attempt, locked: str, recipe: Recipe, base: BaseImage) -> dict[str, tuple[str, ...]]:
    """Declared packages that a lock has in an old version, because something that later ones need has no wheel.

    uv is asked for the newest version of each by itself; where the lock's is older, for why that cannot be had.

    Args:
        attempt, locked: the resolution, and what uv wrote.

    Returns:
        As ``gensim==0.10.1`` → (``smart-open``,), packages whose source has not been read yet.
    """
    open_ended = tuple(item for item in attempt.declared if not is_exact(item))
    if not open_ended or not attempt.resolve:
        return {}
    alone = compile_once(replace(attempt, declared=open_ended, resolve=False), recipe, base, _SECONDS)
    if alone.exit_code != 0:
        return {}
    ours, newest = versions(locked), versions(alone.stdout.decode("utf-8", "replace"))
    found = {}
    for name in sorted(
        name for name in newest if name in ours and Version(ours[name]) < Version(newest[name])
    ):
        above = (*attempt.above, f"{name}>{ours[name]}")
        done = compile_once(replace(attempt, above=above), recipe, base, _SECONDS)
        missing = (
            dict.fromkeys(NO_WHEEL.findall(" ".join(said(done.stderr).split()))) if done.exit_code else {}
        )
        if sources := tuple(one for one in missing if one not in (*attempt.built, name)):
            found[f"{name}=={ours[name]}"] = sources
    return found
