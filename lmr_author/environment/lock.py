"""``env lock``: pin what a repository needs, loosening what prevents a solution where somebody agrees to it."""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from packaging.utils import canonicalize_name

from lmr_author.environment import records, resolver
from lmr_author.environment.base_images import BaseImage
from lmr_author.environment.pinning import SECONDS, Conflict, Lock, loosened, pin
from lmr_author.environment.place import (
    Detected,
    Place,
    Written,
    detect,
    parse_date,
    put,
    record,
    require_untouched,
)
from lmr_author.environment.recipe import Declared, Recipe, exact_version, has_version
from lmr_author.errors import LmrError, UsageError
from lmr_author.task import Progress
from lmr_author.texts import printable

Agree = Callable[[str], bool]
"""Asks a person at a terminal a question."""

_LATER = timedelta(days=180)
_TRIES = 40


@dataclass(frozen=True)
class LockOptions:
    """The options of ``env lock``.

    Attributes:
        date: versions as of this moment, as given; None for the commit's.
        python: Python version inside the image, where it is known better.
        base_image: the image, in place of the Dockerfile's.
        hashes: write the hash of each file.
        relax: where nothing fits, make the smallest changes that help.
        offline: use what was asked before.
        force: overwrite a lock that somebody edited.
        dry_run: write nothing.
        without: names of packages that are not installed.
        only_goal: pin only what the goal files import.
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
    without: tuple[str, ...] = ()
    only_goal: bool = False


def lock(
    place: Place, options: LockOptions, progress: Progress | None = None, agree: Agree | None = None
) -> Written:
    """Pin what the repository needs, and write ``requirements.lock`` with the record of it.

    Raises LmrError when there is no lock to be had: the index does not answer, or no versions fit together
    and nobody agreed to a change.
    """
    say = progress or (lambda _: None)
    if not (options.force or options.dry_run):
        require_untouched(place, "requirements.lock")
    date = parse_date(options.date) if options.date is not None else place.date
    found = detect(
        replace(place, date=date),
        base_image=options.base_image,
        python=options.python,
        goals=_goals(place, options),
    )
    recipe, base = found.recipe, found.base
    options = replace(options, without=_without(recipe, options.without))
    made = _pin(recipe, base, options, say)
    if not made.pinned:
        recipe, made = _relaxed(recipe, base, made, options, say, agree)
    if options.relax and made.compiled:
        made = _with_wheels(recipe, base, made, options, say)
    return _write(replace(found, recipe=recipe), made, options)


def _goals(place: Place, options: LockOptions) -> tuple[str, ...]:
    if not options.only_goal:
        return ()
    goals = records.goal_files(place.task.load()) if place.task is not None else ()
    if not goals:
        raise UsageError("--only-goal: no goal file is known", "mask a function first, in a task")
    return goals


def _without(recipe: Recipe, given: tuple[str, ...]) -> tuple[str, ...]:
    """Names as the index has them. Raises UsageError for what is no name, or a misspelt requirement."""
    known = [item.name for item in recipe.requirements]
    for text, name in zip(given, map(canonicalize_name, given), strict=True):
        near = [] if name in known else difflib.get_close_matches(name, known, 1, 0.8)
        if not name.replace("-", "").isalnum() or near:
            hint = f"did you mean {near[0]}?" if near else "give a package's name alone, such as deepspeed"
            raise UsageError(f"--without {printable(text)}: the repository requires no such package", hint)
    return tuple(dict.fromkeys(map(canonicalize_name, given)))


def _pin(
    recipe: Recipe, base: BaseImage, options: LockOptions, say: Progress, changes: tuple[str, ...] = ()
) -> Lock:
    if options.only_goal and not changes:
        changes = ("only what the goal files import is installed (--only-goal)",)
    return pin(
        recipe, base, seconds=options.seconds, progress=say, hashes=options.hashes, offline=options.offline,
        without=options.without, changes=changes,
    )  # fmt: skip


def _relaxed(
    recipe: Recipe, base: BaseImage, failed: Lock, options: LockOptions, say: Progress, agree: Agree | None
) -> tuple[Recipe, Lock]:
    """A recipe with changes that were agreed to, and its lock. Raises LmrError, which says what would work."""
    if failed.conflict is None and failed.note.removeprefix("NOT pinned: ").startswith(resolver.NO_DATES):
        return _undated(recipe, base, failed, options, say, agree)
    if failed.conflict is None:
        raise LmrError(_why(failed, base), _advice(failed))
    changed, made = _looser(recipe, base, failed.conflict, options, say)
    changes = "; ".join(made.changes)
    if not made.pinned:
        left = made.conflict.cause if made.conflict else made.note.removeprefix("NOT pinned: ")
        helped = f"; these changes did not help: {changes}, still in conflict: {left}" if changes else ""
        raise LmrError(
            _why(failed, base), f"try another --python-version, --base-image or --date, or --without{helped}"
        )
    if options.relax or (agree and agree(f"{_why(failed, base)}. It works with {changes}. Do that?")):
        return changed, made
    raise LmrError(_why(failed, base), f"--relax makes the smallest changes that help: {changes}")


def _undated(
    recipe: Recipe, base: BaseImage, failed: Lock, options: LockOptions, say: Progress, agree: Agree | None
) -> tuple[Recipe, Lock]:
    """Today's versions, from an index that does not say when it got them."""
    question = f"{_why(failed, base)}. Take today's versions instead?"
    if not (options.relax or (agree and agree(question))):
        raise LmrError(_why(failed, base), "--relax takes today's versions, and says so in the lock")
    changed = replace(recipe, date=None)
    made = _pin(changed, base, options, say, ("today's versions: the package index gives no upload dates",))
    if not made.pinned:
        raise LmrError(_why(made, base), _advice(made))
    return changed, made


def _looser(
    recipe: Recipe, base: BaseImage, conflict: Conflict, options: LockOptions, say: Progress
) -> tuple[Recipe, Lock]:
    """A later date; else the requirements that are blamed, loosened one after the other, on the day of the commit."""
    deadline = time.monotonic() + options.seconds
    if recipe.date is not None and recipe.date + _LATER < datetime.now(UTC):
        later = recipe.date + _LATER
        say(f"trying versions as of {later.date()}")
        change = f"versions as of {later.date()} in place of {recipe.date.date()}"
        made = _pin(replace(recipe, date=later), base, options, say, (change,))
        if made.pinned:
            return replace(recipe, date=later), made
    changed: dict[Declared, str] = {}
    made = Lock("", False, "", conflict=conflict)

    def attempt(changed: dict[Declared, str]) -> Lock:
        words = tuple(
            f"{new} in place of {old}" if new else f"{old} is left out: no code imports it at once"
            for old, new in changed.items()
        )
        say(f"trying {words[-1]}" if words else "trying without a change")
        left = max(deadline - time.monotonic(), 1)
        return _pin(_with(recipe, changed), base, replace(options, seconds=left), say, words)

    for _ in range(_TRIES):
        step = _next_change(recipe, conflict, changed)
        if step is None or time.monotonic() > deadline:
            break
        changed[step[0]] = step[1]
        made = attempt(changed)
        if made.pinned or made.conflict is None:
            break
        conflict = made.conflict
    # A change that a later one makes needless is taken back.
    for item in list(changed)[:-1] if made.pinned else ():
        fewer = {old: new for old, new in changed.items() if old != item}
        if (smaller := attempt(fewer)).pinned:
            changed, made = fewer, smaller
    return _with(recipe, changed), made


def _next_change(
    recipe: Recipe, conflict: Conflict, changed: dict[Declared, str]
) -> tuple[Declared, str] | None:
    """The smallest next change of a requirement that is blamed, of one that no code imports first.

    Only when no weaker form of any is left, one that no code imports is left out.
    """
    names = {item.name for item in conflict.blamed}
    steps = []
    for item in recipe.requirements:
        if item.name not in names or changed.get(item) == "":
            continue
        forms = loosened(item)
        if re.search(rf"{re.escape(item.name)}==\S+ depends on Python", conflict.cause):
            forms = forms[-1:]  # versions like it are for that Python, too
        tried = forms.index(changed[item]) + 1 if changed.get(item) in forms else 0
        idle = item.name not in recipe.imported
        if tried < len(forms):
            steps.append(((0, tried, not idle), item, forms[tried]))
        elif idle:
            steps.append(((1, 0, False), item, ""))
    return min(steps, key=lambda step: step[0])[1:] if steps else None


def _with(recipe: Recipe, changed: dict[Declared, str]) -> Recipe:
    kept = (replace(item, text=changed.get(item, item.text)) for item in recipe.requirements)
    return replace(recipe, requirements=tuple(item for item in kept if item.text))


def _with_wheels(recipe: Recipe, base: BaseImage, made: Lock, options: LockOptions, say: Progress) -> Lock:
    """A lock with as little to compile as possible; as it was where that does not resolve.

    Changed is a requirement with a version that has no wheel, or that needs a package without one: to the first later
    version for which that is no longer so.
    """
    held = resolver.versions("\n".join(made.pins))
    own = {item.name: item for item in recipe.requirements if has_version(item)}
    changed: dict[Declared, str] = {}
    words: list[str] = []
    for name in made.compiled:
        pinned = f"{name}=={held[name]}" if name in held else name
        say(f"looking for a wheel of {name}")
        if not resolver.newest_python(pinned, base):
            continue  # without a wheel for any Python it is most likely Python alone
        for root in [name] if name in own else made.roots(name):
            item = own.get(root)
            version = exact_version(item.text).partition("+")[0] or held.get(root, "") if item else ""
            if item is None or item in changed or not version:
                continue
            head = item.text.partition(";")[0].rstrip("0123456789.,<>=!~* ")
            later = resolver.first_wheel(
                f"{head}>={version}", base, resolve=root != name, offline=options.offline
            )
            if later and later != version:
                marker = f"; {item.text.partition(';')[2].strip()}" if ";" in item.text else ""
                changed[item] = f"{head}=={later}{marker}"
                why = f"the first version with a wheel for Python {base.python}"
                if root != name:
                    why = f"the first version of which everything has a wheel for Python {base.python}, not {pinned}"
                words.append(f"{changed[item]} in place of {item}: {why}")
    if not changed:
        return made
    again = _pin(_with(recipe, changed), base, options, say, (*made.changes, *words))
    return again if again.pinned else made


def next_wheel(text: str, base: BaseImage, offline: bool = False, *, failed: bool = False) -> str:
    """Return a pin as the first later version that has a wheel for the image's Python; "" when there is none.

    Unless its source ``failed`` to build, it is "" also when the pinned version has no wheel for any Python: its
    source is most likely Python alone.
    """
    version = exact_version(text).partition("+")[0]
    head = text.partition("==")[0]
    marker = f"; {text.partition(';')[2].strip()}" if ";" in text else ""
    if not version or not (failed or resolver.newest_python(f"{head}=={version}", base)):
        return ""
    later = resolver.first_wheel(f"{head}>={version}", base, offline=offline)
    return f"{head}=={later}{marker}" if later and later != version else ""


def _why(failed: Lock, base: BaseImage) -> str:
    if failed.conflict is None:
        return f"requirements.lock cannot be made: {failed.note.removeprefix('NOT pinned: ')}"
    blamed = ", ".join(map(str, failed.conflict.blamed))
    return f"no versions fit together for Python {base.python}{blamed and f' ({blamed})'}: {failed.conflict.cause}"


def _advice(failed: Lock) -> str:
    if "does not answer" in failed.note:
        return "check the network; --offline uses what was asked before"
    if "cache" in failed.note:
        return "run it once with a network, so that the resolver's cache has what is needed"
    if "took longer" in failed.note:
        return "give it more time with --timeout"
    return "see the requirements that it names; --without NAME leaves one out"


def environment_record(recipe: Recipe, base: BaseImage, made: Lock) -> dict[str, Any]:
    """Return how Dockerfile and lock came about, as ``authoring/provenance.json`` has it."""

    def declared(items: tuple[Declared, ...]) -> list[dict[str, Any]]:
        return [{"requirement": item.text, "origin": item.origin, "guessed": item.guessed} for item in items]

    note = "; ".join([*(f"CHANGED: {change}" for change in made.changes), made.note])
    return {
        "base_image": base.to_json(),
        "lock": {"pinned": made.pinned, "note": printable(note, 4000), "left_out": list(made.left_out)},
        "requirements": declared(recipe.requirements),
        "torch": declared(recipe.torch),
        "python": recipe.python,
        "python_origin": recipe.python_origin,
        "project": recipe.project,
        "sources": list(recipe.sources),
        "problems": list(recipe.problems),
    }


def _write(found: Detected, made: Lock, options: LockOptions) -> Written:
    task = found.place.task
    if task is None or options.dry_run:
        return Written(found, made.text, None, lock=made)
    changed, kept = put(task, task.lock, made.text)
    record(task, environment_record(found.recipe, found.base, made))
    return Written(found, made.text, task.lock, changed, kept, made)
