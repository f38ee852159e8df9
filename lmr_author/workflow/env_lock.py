"""``env lock``: pin what a repository needs, and say what had to be changed for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lmr_author import environment
from lmr_author.environment import BaseImage, Lock, Recipe
from lmr_author.environment.lock import SECONDS
from lmr_author.environment.recipe import Declared
from lmr_author.environment.relax import Relaxing, relaxed
from lmr_author.environment.resolver import Attempt
from lmr_author.errors import LmrError
from lmr_author.model import Progress
from lmr_author.workflow import new_task_records as records
from lmr_author.workflow.env import (
    Detected,
    Place,
    Written,
    detect,
    parse_date,
    put,
    record,
    require_untouched,
)

Agree = Callable[[str], bool]
"""A question → whether a person at a terminal agrees."""


@dataclass(frozen=True)
class LockOptions:
    """How to lock.

    Attributes:
        date: versions as of this moment, as given; None for the commit's.
        python: Python version inside of the image, where it is known better.
        base_image: the image, in place of the Dockerfile's.
        hashes: write the hash of each file.
        relax: where nothing fits, make the smallest changes that help.
        offline: use what uv has in its cache.
        force: overwrite a lock that somebody edited.
        dry_run: write nothing.
    """

    date: str | None = None
    python: str | None = None
    base_image: str | None = None
    hashes: bool = False
    relax: bool = False
    offline: bool = False
    force: bool = False
    dry_run: bool = False
    seconds: float = SECONDS


def lock(
    place: Place, options: LockOptions, progress: Progress | None = None, agree: Agree | None = None
) -> Written:
    """Pin what the repository needs, and write ``requirements.lock`` with the record of it.

    Raises LmrError when there is no lock to be had: the index does not answer, or no versions fit together
    and nobody agreed to a change.
    """
    require_untouched(place, options.force, options.dry_run, "requirements.lock")
    date = parse_date(options.date) if options.date is not None else place.date
    found = detect(replace(place, date=date), base_image=options.base_image, python=options.python)
    recipe, base = found.recipe, found.base
    made = _made(recipe, base, options, progress)
    if not made.pinned:
        recipe, made = _relaxed(recipe, base, made, options, progress, agree)
    if options.relax and made.compiled:
        made = _with_wheels(recipe, base, made, options, progress)
    return _write_lock(found, made, options)


def _made(
    recipe: Recipe,
    base: BaseImage,
    options: LockOptions,
    progress: Progress | None = None,
    *,
    changes: tuple[str, ...] = (),
    seconds: float | None = None,
    after: Attempt | None = None,
) -> Lock:
    """A lock with a command's options."""
    return environment.lock(
        recipe,
        base,
        seconds=options.seconds if seconds is None else seconds,
        progress=progress,
        hashes=options.hashes,
        offline=options.offline,
        changes=changes,
        after=after,
    )


def _with_wheels(
    recipe: Recipe, base: BaseImage, made: Lock, options: LockOptions, progress: Progress | None
) -> Lock:
    """A lock in which as little as possible has to be compiled; the first one where that does not resolve."""
    from lmr_author.environment.wheels import not_before, with_wheels

    changed, changes = with_wheels(
        not_before(recipe, base)[0],
        base,
        made,
        seconds=options.seconds,
        offline=options.offline,
        progress=progress,
    )
    if not changes:
        return made
    again = _made(changed, base, options, progress, changes=(*made.changes, *changes))
    return again if again.pinned else made


def _relaxed(
    recipe: Recipe,
    base: BaseImage,
    failed: Lock,
    options: LockOptions,
    progress: Progress | None,
    agree: Agree | None,
) -> tuple[Recipe, Lock]:
    """A recipe with changes that were agreed to, and its lock. Raises LmrError, which says what would work."""
    from lmr_author.environment.wheels import nearest, not_before

    later, _ = not_before(recipe, base)

    def first_later(item: Declared) -> str:
        itself = nearest(item, later, base, offline=options.offline)
        return itself or nearest(item, later, base, built=(), offline=options.offline)

    found = relaxed(
        recipe,
        failed,
        lambda changed, words, left, after: _made(
            changed, base, options, changes=words, seconds=left, after=after
        ),
        first_later,
        seconds=options.seconds,
        progress=progress,
    )
    made = found.lock
    if made is None:
        raise LmrError(_why(failed, base), _advice(failed, found))
    changes = "; ".join(made.changes)
    if options.relax or (agree and agree(f"{_why(failed, base)}. It works with {changes}. Do that?")):
        return found.recipe, made
    raise LmrError(_why(failed, base), f"--relax makes the smallest changes that help: {changes}")


def _why(failed: Lock, base: BaseImage) -> str:
    if failed.conflict is None:
        return f"requirements.lock cannot be made: {failed.note.removeprefix('NOT pinned: ')}"
    blamed = ", ".join(map(str, failed.conflict.blamed))
    named = f" ({blamed})" if blamed else ""
    return f"no versions fit together for Python {base.python}{named}: {failed.conflict.cause}"


def _advice(failed: Lock, found: Relaxing) -> str:
    if failed.conflict is not None:
        return _tried(found)
    if "does not answer" in failed.note:
        return "check the network; --offline uses what was asked before"
    if "cache" in failed.note:
        return "run it once with a network, so that uv's cache has what is needed"
    return (
        "give it more time with --timeout"
        if "took longer" in failed.note
        else "see the requirements that it names"
    )


def _tried(found: Relaxing) -> str:
    """How far the search for changes came, and what is left to do."""
    tries = f"{found.tries} {'try' if found.tries == 1 else 'tries'}"
    done = (
        f"{found.stopped} after {tries}; more: --timeout, or"
        if found.stopped
        else f"no change that was tried helps ({tries}):"
    )
    advice = f"{done} another --python-version or --base-image, or --date"
    if found.left is None:
        return advice
    return f"{advice}. These changes helped: {'; '.join(found.changes)}. Still in the way: {found.left.cause}"


def _write_lock(found: Detected, made: Lock, options: LockOptions) -> Written:
    task = found.place.task
    if task is None or options.dry_run:
        return Written(found, made.text, None, lock=made)
    changed, kept = put(task, task.lock, made.text)
    record(task, {**records.environment(found.recipe, found.base, made)})
    return Written(found, made.text, task.lock, changed, kept, made)
