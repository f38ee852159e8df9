"""``env lock``: pin what a repository needs, loosening what prevents a solution where somebody agrees to it."""

from __future__ import annotations

import difflib
import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from lmr_author import processes
from lmr_author.environment import place, resolver
from lmr_author.environment.base_images import BaseImage, followed
from lmr_author.environment.interpreters import at
from lmr_author.environment.lock_file import Lock, LockOptions, with_changes
from lmr_author.environment.pinning import pin
from lmr_author.environment.place import Detected, RepositoryPlace, Written, detect
from lmr_author.environment.recipe import Declared, Recipe, exact_version, has_version
from lmr_author.errors import LmrError, UsageError
from lmr_author.task import Progress
from lmr_author.task.provenance import DeclaredRequirement, EnvironmentOrigin, LockOrigin
from lmr_author.texts import listed, printable

Agree = Callable[[str], bool]
"""Asks a person at a terminal a question."""

_LATER = timedelta(days=180)
_ROUNDS = 20
"""So often the requirements that uv blames are loosened."""
_INSTALLED = """
import json, sys
try:
    from importlib.metadata import distributions
except ImportError:
    from importlib_metadata import distributions
found = [[d.metadata["Name"], d.version, d.requires or []] for d in distributions()]
print(json.dumps({"python": "%d.%d" % sys.version_info[:2], "packages": found}))
"""


def lock(
    where: RepositoryPlace, options: LockOptions, progress: Progress | None = None, agree: Agree | None = None
) -> Written:
    """Pin what the repository needs, and write ``requirements.lock`` with the record of it.

    Raises LmrError when there is no lock to be had: the index does not answer, or no versions fit together
    and nobody agreed to a change.
    """
    say = progress or (lambda _: None)
    if not (options.force or options.dry_run):
        place.require_untouched(where, "requirements.lock")
    date = place.parse_date(options.date) if options.date is not None else where.date
    found = detect(
        replace(where, date=date),
        base_image=options.base_image,
        python=options.python,
        goals=_goals(where, options),
    )
    recipe, base = found.recipe, found.base
    options = replace(options, without=_without(recipe, options.without))
    changes = ("only what the goal files import is installed (--only-goal)",) if options.only_goal else ()
    if options.from_python is not None:
        recipe, made = _from_python(recipe, base, options.from_python, options, changes)
    else:
        made = pin(recipe, base, options, say, changes=changes)
    if not made.pinned:
        recipe, made = _relaxed(recipe, base, made, options, say, agree)
    if options.relax and made.compiled:
        recipe, made = _with_wheels(recipe, base, made, options, say)
    return _write(replace(found, recipe=recipe), made, options)


def _goals(where: RepositoryPlace, options: LockOptions) -> tuple[str, ...]:
    if not options.only_goal:
        return ()
    goals = place.goal_files(where.task.load()) if where.task is not None else ()
    if not goals:
        raise UsageError("--only-goal: no goal file is known", "mask a function first, in a task")
    return goals


def _without(recipe: Recipe, given: tuple[str, ...]) -> tuple[str, ...]:
    """Names as the index has them. Raises UsageError for what is no name, or a misspelt requirement."""
    known = [item.name for item in recipe.requirements]
    for text in given:
        name = canonicalize_name(text)
        near = [] if name in known else difflib.get_close_matches(name, known, 1, 0.8)
        if not name.replace("-", "").isalnum() or near:
            hint = f"did you mean {near[0]}?" if near else "give a package's name alone, such as deepspeed"
            raise UsageError(f"--without {printable(text)}: the repository requires no such package", hint)
    return tuple(dict.fromkeys(map(canonicalize_name, given)))


def _relaxed(
    recipe: Recipe, base: BaseImage, failed: Lock, options: LockOptions, say: Progress, agree: Agree | None
) -> tuple[Recipe, Lock]:
    """A recipe with changes that were agreed to, and its lock. Raises LmrError, which says what would work."""
    why = _why(failed, base)
    if failed.conflict is None and not failed.reason.startswith(resolver.NO_DATES):
        raise LmrError(why, _advice(failed))
    if failed.conflict is None:
        if not (options.relax or (agree and agree(f"{why}. Take today's versions instead?"))):
            raise LmrError(why, "--relax takes today's versions, and says so in the lock")
        looser = replace(recipe, date=None)
        change = "today's versions: the package index gives no upload dates"
        made = pin(looser, base, options, say, changes=(change,))
        if not made.pinned:
            raise LmrError(_why(made, base), _advice(made))
        return looser, made
    looser, made = recipe, failed
    if recipe.date is not None and recipe.date + _LATER < datetime.now(UTC):
        looser = replace(recipe, date=recipe.date + _LATER)
        change = f"versions as of {(recipe.date + _LATER).date()} in place of {recipe.date.date()}"
        say(f"trying {change}")
        made = pin(looser, base, options, say, changes=(change,))
    if not made.pinned:
        looser, made = _loosened(recipe, base, failed, options, say)
        made = with_changes(made, _changes(recipe, looser, made), looser, base)
    changes = "; ".join(made.changes)
    if not made.pinned:
        left = f"; still in conflict after {changes}: {made.reason}" if changes else ""
        raise LmrError(why, f"try another --python-version, --base-image or --date, or --without NAME{left}")
    if options.relax or (agree and agree(f"{why}. It works with {changes}. Do that?")):
        return looser, made
    raise LmrError(why, f"--relax makes the changes that help: {changes}")


def _loosened(
    recipe: Recipe,
    base: BaseImage,
    made: Lock,
    options: LockOptions,
    say: Progress,
    only_wheels: tuple[str, ...] = (),
) -> tuple[Recipe, Lock]:
    """The recipe with the requirements loosened that uv blames, one step at a time, until its versions fit together."""
    deadline = time.monotonic() + options.seconds
    loose = recipe
    for _ in range(_ROUNDS):
        if made.conflict is None or time.monotonic() > deadline:
            break
        cause, names = made.conflict.cause, {item.name for item in made.conflict.blamed}
        weaker = tuple(_weaker(item, cause) if item.name in names else item for item in loose.requirements)
        if weaker == loose.requirements:
            break
        say(f"trying {listed([item.text for item in weaker if item not in loose.requirements], 3)}")
        loose = replace(recipe, requirements=weaker)
        left = replace(options, seconds=max(deadline - time.monotonic(), 1))
        made = pin(loose, base, left, say, only_wheels=only_wheels)
    pairs = zip(loose.requirements, recipe.requirements, strict=True)
    near = tuple(
        _nearest(old, base, options, resolve=True) or new if new != old else new for new, old in pairs
    )
    if made.pinned and near != loose.requirements:
        nearer = pin(replace(recipe, requirements=near), base, options, say, only_wheels=only_wheels)
        if nearer.pinned:
            return replace(recipe, requirements=near), nearer
    return loose, made


def _changes(before: Recipe, after: Recipe, made: Lock) -> tuple[str, ...]:
    """The requirements that were loosened, but for those that the lock fits all the same."""
    held = resolver.versions("\n".join(made.pins)) if made.pinned else {}
    return tuple(
        f"{new.text} in place of {old}"
        for new, old in zip(after.requirements, before.requirements, strict=True)
        if new != old and not (old.name in held and held[old.name] in Requirement(old.text).specifier)
    )


def _weaker(item: Declared, cause: str) -> Declared:
    """The next weaker form of a requirement: ``~=``, ``>=``, no version, no extras.

    Where all versions like it are for another Python, which ``cause`` then says, it has no version at once.
    """
    requirement = Requirement(item.text)
    marker = f"; {requirement.marker}" if requirement.marker else ""
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    exact = exact_version(item.text).partition("+")[0]
    compatible = next((part.version for part in requirement.specifier if part.operator == "~="), exact)
    version = f"~={exact}" if exact.count(".") else f">={compatible}" if compatible else ""
    if re.search(rf"\b{re.escape(item.name)}==\S+ depends on Python", cause):
        version = ""
    if not has_version(item):
        extras = ""
    return replace(item, text=f"{requirement.name}{extras}{version}{marker}")


def _nearest(item: Declared, base: BaseImage, options: LockOptions, *, resolve: bool) -> Declared | None:
    """A requirement as the first version since its lowest one that has a wheel; None when there is none.

    Args:
        resolve: everything that it needs has a wheel, too.
    """
    requirement = Requirement(item.text)
    lowest = [part.version for part in requirement.specifier if part.operator in ("==", "~=", ">=")]
    if not lowest:
        return None
    requirement.specifier = SpecifierSet(f">={lowest[0].partition('+')[0]}")
    first = resolver.first_wheel(str(requirement), base, resolve=resolve, offline=options.offline)
    requirement.specifier = SpecifierSet(f"=={first}" if first else "")
    return replace(item, text=str(requirement)) if first else None


def _with_wheels(
    recipe: Recipe, base: BaseImage, made: Lock, options: LockOptions, say: Progress
) -> tuple[Recipe, Lock]:
    """A lock without what has to be compiled because the image's Python is newer than it; else the lock as it was."""
    held = resolver.versions("\n".join(made.pins))
    pins = [f"{name}=={held[name]}" for name in made.compiled if name in held]
    # A package without a wheel for any Python is most likely Python alone, and its source is as good.
    native = [pin for pin in pins if resolver.newest_python(pin, base)]
    if not native:
        return recipe, made
    say(f"looking for wheels of {listed(native, 5)}")
    names = tuple(text.partition("==")[0] for text in native)
    near = (
        _nearest(item, base, options, resolve=False) or item if item.name in names else item
        for item in recipe.requirements
    )
    later, changes, first = replace(recipe, requirements=tuple(near)), made.changes, followed(base.python)
    if recipe.date and first and first > recipe.date:
        later = replace(later, date=first)
        why = f"{listed(native, 5)} has no wheel for Python {base.python}"
        changes = (*changes, f"versions as of {first.date()} in place of {recipe.date.date()}: {why}")
    again = pin(later, base, options, say, only_wheels=names)
    later, again = _loosened(later, base, again, options, say, names)
    if not again.pinned:
        return recipe, made
    return later, with_changes(again, (*changes, *_changes(recipe, later, again)), later, base)


def next_wheel(text: str, base: BaseImage, offline: bool = False) -> str:
    """Return a pin as the first later version that has a wheel for the image's Python; "" when there is none."""
    version = exact_version(text).partition("+")[0]
    head, marker = text.partition("==")[0], text.partition(";")[2].strip()
    later = resolver.first_wheel(f"{head}>={version}", base, offline=offline) if version else ""
    return f"{head}=={later}{marker and f'; {marker}'}" if later and later != version else ""


def _from_python(
    recipe: Recipe, base: BaseImage, python: Path, options: LockOptions, changes: tuple[str, ...]
) -> tuple[Recipe, Lock]:
    """The recipe with the versions of an environment in which the code runs, and of what these packages need in turn.

    PyTorch and CUDA stay the base image's. Raises LmrError for what is no Python, or a lock that cannot be made.
    """
    done = processes.run([str(at(python).path), "-I", "-c", _INSTALLED], cwd=Path("/"), seconds=60)
    try:
        data = json.loads(done.stdout)
    except ValueError as error:
        hint = "give an environment's interpreter, such as venv/bin/python"
        raise LmrError(f"--from-python {python}: no Python that lists its packages", hint) from error
    installed: dict[str, tuple[str, list[str]]] = {
        canonicalize_name(name): (version, needs) for name, version, needs in data["packages"] if name
    }
    left = resolver.excluded(base, recipe.project, recipe.requirements)
    wanted = [item.name for item in recipe.requirements]
    for name in wanted:
        for text in installed[name][1] if name in installed and name not in left else ():
            wanted += [need for need in _needs(text, data["python"]) if need not in wanted]
    pinned = tuple(
        Declared(name, f"{name}=={installed[name][0].partition('+')[0]}", str(python))
        for name in sorted(set(wanted) & installed.keys())
        if name not in left and name not in options.without
    )
    made = pin(
        replace(recipe, requirements=pinned, date=None), base, options, frozen=True,
        changes=(*changes, f"versions of a working environment (Python {data['python']})"),
    )  # fmt: skip
    if not made.pinned:
        hint = f"{base.reference} has Python {base.python}, and the environment {data['python']}"
        raise LmrError(_why(made, base), f"{hint}: name another image with --base-image, or --python-version")
    absent = [
        item
        for item in recipe.requirements
        if item.name not in installed and item.name not in options.without
    ]
    notes = [f"{item} is not in that environment" for item in absent]
    torch = installed.get("torch", ("", []))[0].partition("+")[0]
    if torch and base.torch and torch != base.torch:
        notes.append(f"that environment has PyTorch {torch}, and the base image {base.torch}")
    return recipe, replace(made, left_out=(*made.left_out, *notes))


def _needs(text: str, python: str) -> list[str]:
    """The package that a ``Requires-Dist`` names, where it applies to this Python and no extra."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return []
    values = {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    applies = requirement.marker is None or requirement.marker.evaluate(values)
    return [canonicalize_name(requirement.name)] if applies else []


def _why(failed: Lock, base: BaseImage) -> str:
    if failed.conflict is None:
        return f"requirements.lock cannot be made: {failed.reason}"
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


def environment_record(recipe: Recipe, base: BaseImage, made: Lock) -> EnvironmentOrigin:
    """Return the making of Dockerfile and lock, for ``authoring/provenance.json``."""

    def declared(items: tuple[Declared, ...]) -> tuple[DeclaredRequirement, ...]:
        return tuple(DeclaredRequirement(item.text, item.origin, item.guessed) for item in items)

    note = "; ".join([*(f"CHANGED: {change}" for change in made.changes), made.note])
    return EnvironmentOrigin(
        base_image=base.to_record(),
        lock=LockOrigin(pinned=made.pinned, note=printable(note, 4000), left_out=tuple(made.left_out)),
        requirements=declared(recipe.requirements),
        torch=declared(recipe.torch),
        python=recipe.python,
        python_origin=recipe.python_origin,
        project=recipe.project,
        sources=tuple(recipe.sources),
        problems=tuple(recipe.problems),
    )


def _write(found: Detected, made: Lock, options: LockOptions) -> Written:
    task = found.place.task
    if task is None or options.dry_run:
        return Written(found, made.text, None, lock=made)
    changed, kept = place.put(task, task.lock, made.text)
    place.record(task, environment_record(found.recipe, found.base, made))
    return Written(found, made.text, task.lock, changed, kept, made)
