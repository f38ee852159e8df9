"""Pin a recipe's packages as they were on the day of the commit, with ``uv pip compile --exclude-newer``."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache

from packaging.requirements import Requirement

from lmr_author.environment.base_images import BaseImage, torchtext
from lmr_author.environment.gone_back import behind, held_back
from lmr_author.environment.lock_text import pinned, written
from lmr_author.environment.locked import Lock, unpinned
from lmr_author.environment.obstacles import Index, allow_later, following, read_sources
from lmr_author.environment.recipe import (
    BACKPORTS,
    Declared,
    Recipe,
    is_exact,
    is_freeze,
)
from lmr_author.environment.resolver import Attempt, compile_once
from lmr_author.environment.wheels import is_compiled, nearest, not_before
from lmr_author.model import TORCH_FAMILY, Progress

__all__ = ["Lock", "Progress", "lock"]

SECONDS = 300.0
"""A long list of requirements, on a busy machine and with an empty cache, has taken three minutes."""
ATTEMPTS = 40
"""How often what stands in the way of a resolution is put aside before giving up."""


def lock(
    recipe: Recipe,
    base: BaseImage,
    *,
    seconds: float = SECONDS,
    progress: Progress | None = None,
    hashes: bool = False,
    offline: bool = False,
    changes: tuple[str, ...] = (),
    after: Attempt | None = None,
    stoppable: bool = False,
) -> Lock:
    """Pin a recipe for a base image; offline, or when no versions fit together, it is not, and says why.

    PyTorch and CUDA packages are left to the base image. Where the image's Python is newer than the commit,
    what is compiled (else everything) may be as new as the first packages for it, and the lock says so. uv
    builds a package only to learn what it needs, and only when there is no wheel of it. With ``seconds`` 0 no
    index is asked at all: exact requirements are then taken as the repository names them.

    Args:
        hashes: write the hashes of each version's files.
        offline: answer from uv's cache alone.
        changes: what the caller changed of the repository's own requirements, for the lock's comments.
        after: where an earlier resolution ended (:attr:`Conflict.reached`), with other requirements: what it had put
            aside is put aside, and is not found out again.
        stoppable: an interrupt ends the resolution, not the program: the lock is not pinned, and says why.
    """
    first = after or replace(_first(recipe, base), hashes=hashes, offline=offline)
    index = _index(recipe, base, offline)
    try:
        if after is not None:
            made = _resolved(after, recipe, base, seconds, progress, index)
        elif not first.declared:
            made = Lock("", True, "the repository needs nothing beside PyTorch", hashes=hashes)
        elif seconds <= 0:
            made = _offline(first)
        else:
            made = _as_early_as_possible(first, recipe, base, seconds, progress, index)
    except KeyboardInterrupt:
        if not stoppable:
            raise
        made = unpinned(first, "it was interrupted")
    return written(replace(made, changes=(*changes, *made.changes)), recipe, base)


def _as_early_as_possible(
    attempt: Attempt,
    recipe: Recipe,
    base: BaseImage,
    seconds: float,
    progress: Progress | None,
    index: Index,
) -> Lock:
    """Of the commit's day; where the image's Python is newer, at first only what is compiled may be newer too."""
    later, change = not_before(recipe, base)
    if not change or later.date is None:
        return _resolved(attempt, recipe, base, seconds, progress, index)
    some = replace(attempt, wheels_from=later.date.date().isoformat(), why_later=change)
    made = _resolved(some, recipe, base, seconds / 2, progress, index)
    if made.pinned and not _in_vain(made, index):
        return made
    everything = _resolved(attempt, later, base, seconds / 2, progress, index)
    if everything.pinned and (not made.pinned or len(everything.compiled) < len(made.compiled)):
        return replace(everything, changes=(change, *everything.changes))
    if made.pinned or made.conflict:
        return made
    # It ended on another day than the recipe's: there is no going on from there.
    other = everything.conflict
    return replace(everything, conflict=replace(other, reached=None)) if other else everything


def _in_vain(made: Lock, index: Index) -> bool:
    """Whether a lock has packages that would be compiled for a Python that they were not made for."""
    return any(
        index.compiled(pin.partition(" ")[0]) for pin in made.pins if pin.partition("==")[0] in made.compiled
    )


def _index(recipe: Recipe, base: BaseImage, offline: bool) -> Index:
    """What is asked beside the resolution, each thing once. A pin may be newer than the commit."""
    later, _ = not_before(recipe, base)

    def compiled(name: str) -> bool:
        return is_compiled(name, base, date=None if "==" in name else recipe.date, offline=offline)

    def first_later(item: Declared, built: tuple[str, ...] | None) -> str:
        return nearest(item, later, base, built=built, offline=offline)

    return Index(cache(compiled), cache(first_later))


def _resolved(
    attempt: Attempt,
    recipe: Recipe,
    base: BaseImage,
    seconds: float,
    progress: Progress | None,
    index: Index,
) -> Lock:
    """Call uv until it succeeds, putting aside what stands in the way, or until that would be a decision."""
    deadline = time.monotonic() + seconds
    told: tuple[str, ...] = ()
    settled: Lock | None = None
    for _ in range(ATTEMPTS):
        left = deadline - time.monotonic()
        done = compile_once(attempt, recipe, base, left) if left > 1 else None
        if done is None or done.timed_out:
            return settled or unpinned(attempt, f"uv took longer than {seconds:.0f} s")
        if done.exit_code == 0:
            output = done.stdout.decode("utf-8", "replace")
            made = pinned(attempt, output, recipe, done.stderr)
            if back := held_back(attempt, output, recipe, base):
                attempt = allow_later(attempt, back)
                continue
            sources, why = _behind(attempt, output, recipe, base, index)
            if not sources:
                return made
            settled = replace(made, note="; ".join((made.note, *why)))
            after: Attempt | Lock = read_sources(attempt, sources)
        else:
            after = following(attempt, done.stderr, index)
        if isinstance(after, Lock):
            return settled or after
        said = (*after.remarks, *after.changes)
        if progress is not None and said != told:
            progress(next((line for line in reversed(said) if line not in told), "asking the index"))
        told, attempt = said, after
    return unpinned(attempt, f"more than {ATTEMPTS} requirements stand in the way")


def _behind(
    attempt: Attempt, locked: str, recipe: Recipe, base: BaseImage, index: Index
) -> tuple[tuple[str, ...], list[str]]:
    """The packages whose source has to be read for a lock that is not years behind, and what to say where it cannot."""
    found = {
        pin: tuple(name for name in sources if not index.compiled(name))
        for pin, sources in behind(attempt, locked, recipe, base).items()
    }
    why = [
        f"{pin} is an old version: the source of {', '.join(sources)}, which later ones need, cannot be read here"
        for pin, sources in found.items()
        if sources
    ]
    return tuple(dict.fromkeys(name for sources in found.values() for name in sources)), why


def _first(recipe: Recipe, base: BaseImage) -> Attempt:
    """A full list is an environment that existed: looked up, not resolved, contradictory as it may be."""
    declared, remarks = _companions(recipe.requirements, base)
    declared, parts = _without_backports(declared)
    remarks = (*remarks, *parts)
    if is_freeze(declared):
        remark = "the repository lists a whole environment, which is installed as it stands"
        return Attempt(declared, resolve=False, remarks=(*remarks, remark))
    constraints = tuple(item for item in recipe.constraints if item.name not in TORCH_FAMILY)
    version = torchtext(base)
    if version:
        constraints = tuple(item for item in constraints if item.name != "torchtext")
        constraints += (Declared("torchtext", f"torchtext=={version}", "the image's PyTorch"),)
    return Attempt(declared, constraints, remarks=remarks)


def _without_backports(declared: tuple[Declared, ...]) -> tuple[tuple[Declared, ...], tuple[str, ...]]:
    """Without what is part of every Python since 3.7: pip refuses to install it, or it hides Python's own."""
    gone = [item for item in declared if item.name in BACKPORTS]
    remarks = (f"{item} is left out: it is part of Python itself" for item in gone)
    return tuple(item for item in declared if item not in gone), tuple(remarks)


def _companions(
    declared: tuple[Declared, ...], base: BaseImage
) -> tuple[tuple[Declared, ...], tuple[str, ...]]:
    """Torchtext is compiled for one PyTorch: it is the one that belongs to the image's."""
    version = torchtext(base)
    kept, remarks = [], []
    for item in declared:
        if item.name == "torchtext" and version and Requirement(item.text).specifier:
            if version not in Requirement(item.text).specifier:
                remarks.append(f"torchtext=={version} in place of {item}: it belongs to PyTorch {base.torch}")
            item = replace(item, text=f"torchtext=={version}")
        kept.append(item)
    return tuple(kept), tuple(remarks)


def _offline(attempt: Attempt) -> Lock:
    """The requirements as declared; a lock only if the repository itself pins each of them."""
    if not all(map(is_exact, attempt.declared)):
        return unpinned(attempt, "the package index was not asked")
    lines = "".join(f"{item.text}\n" for item in sorted(attempt.declared, key=lambda item: item.name))
    return Lock(lines, True, "pinned as the repository pins them; the package index was not asked", ())
