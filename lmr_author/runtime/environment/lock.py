"""``env lock``: pin what a repository needs, loosening what prevents a solution where somebody agrees to it."""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import TORCH_FAMILY, Progress
from lmr_author.core.task.provenance import DeclaredRequirement, EnvironmentOrigin, LockOrigin
from lmr_author.core.texts import listed, printable
from lmr_author.runtime.environment import lock_file, place
from lmr_author.runtime.environment.base_images import BaseImage
from lmr_author.runtime.environment.detect import detect
from lmr_author.runtime.environment.interpreters import at, packages
from lmr_author.runtime.environment.lock_file import Lock, LockOptions, Unpinned
from lmr_author.runtime.environment.needs import Declared, Needs, exact_version, has_version
from lmr_author.runtime.environment.pinning import commented, pin
from lmr_author.runtime.environment.place import RepositoryPlace, Written
from lmr_author.runtime.environment.requirements import parse_requirement

Agree = Callable[[str], bool]
"""Asks a person at a terminal a question."""

_LATER = timedelta(days=180)
_ROUNDS = 20
"""So often the requirements that uv blames are loosened."""
_WITH = "--with"
"""Origin of a requirement that the annotator added, which is never loosened."""


def lock(
    where: RepositoryPlace, options: LockOptions, progress: Progress | None = None, agree: Agree | None = None
) -> Written:
    """Pin what the repository needs, and write ``requirements.lock`` with the record of it.

    Raises LmrError when there is no lock to be had: the index does not answer, or no versions fit together
    and nobody agreed to a change.
    """
    with place.changing(where, dry_run=options.dry_run):
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
        base = found.base
        # Of several for one package the last counts: advice repeats the options of the lock before.
        extra = {re.split(r"[^\w.-]", text)[0]: text for text in options.extra}
        options = replace(options, extra=tuple(extra.values()))
        needs, changes = _with_extra(found.needs, options.extra)
        options = replace(options, without=_without(needs, options.without))
        if options.only_goal:
            changes = ("only what the goal files import is installed (--only-goal)", *changes)
        if options.from_python is not None:
            made = _from_python(needs, base, options.from_python, options, say, changes)
        else:
            made = pin(needs, base, options, say, changes=changes)
        if not made.pinned:
            needs, made = _relaxed(needs, base, made, options, changes, say, agree)
        origin = environment_record(needs, base, made)
        found = replace(found, needs=needs)
        return place.write(
            found, "requirements.lock", made.text, dry_run=options.dry_run, origin=origin, lock=made
        )


def _goals(where: RepositoryPlace, options: LockOptions) -> tuple[str, ...]:
    if not options.only_goal:
        return ()
    masked = place.goal_files(where.task.load()) if where.task is not None else ()
    goals = masked or options.goals
    if not goals:
        raise UsageError("--only-goal: no goal file is known", "mask a function first, in a task")
    return goals


def _with_extra(needs: Needs, given: tuple[str, ...]) -> tuple[Needs, tuple[str, ...]]:
    """The needs with more requirements, and what that changes. Raises UsageError for what is none."""
    requirements, constraints, changes = list(needs.requirements), list(needs.constraints), []
    for text in given:
        item = parse_requirement(text, _WITH)
        if not isinstance(item, Declared):
            raise UsageError(f"--with {printable(text)}: no requirement", "give one such as 'numpy<2'")
        if item.name in TORCH_FAMILY:
            raise UsageError(f"--with {text}: PyTorch is the base image's", "choose that with --base-image")
        # A version of the repository's may be a constraint only, as of what no goal file imports.
        replaced = [own for own in (*requirements, *constraints) if own.name == item.name]
        requirements = [own for own in requirements if own not in replaced] + [item]
        constraints = [own for own in constraints if own not in replaced]
        changes.append(
            f"{item.text} in place of {replaced[0]}" if replaced else f"{item.text} is added (--with)"
        )
    return replace(needs, requirements=tuple(requirements), constraints=tuple(constraints)), tuple(changes)


def _without(needs: Needs, given: tuple[str, ...]) -> tuple[str, ...]:
    """Names as the index has them. Raises UsageError for what is no name, or a misspelt requirement."""
    known = [item.name for item in needs.requirements]
    for text in given:
        name = canonicalize_name(text)
        near = [] if name in known else difflib.get_close_matches(name, known, 1, 0.8)
        if not name.replace("-", "").isalnum() or near:
            hint = f"did you mean {near[0]}?" if near else "give a package's name alone, such as deepspeed"
            raise UsageError(f"--without {printable(text)}: the repository requires no such package", hint)
    return tuple(dict.fromkeys(map(canonicalize_name, given)))


def _relaxed(
    needs: Needs, base: BaseImage, failed: Lock, options: LockOptions, changes: tuple[str, ...], say: Progress,
    agree: Agree | None,
) -> tuple[Needs, Lock]:  # fmt: skip
    """The needs with changes that were agreed to, and its lock. Raises LmrError, which says what would work.

    A later date is tried first, then looser requirements.
    """
    looser, made = needs, failed
    if failed.failure is Unpinned.NO_DATES:
        looser = replace(needs, date=None)
        change = "today's versions: the package index gives no upload dates"
        made = pin(looser, base, options, say, changes=(*changes, change))
    elif failed.failure is Unpinned.CONFLICT:
        if needs.date is not None and needs.date + _LATER < datetime.now(UTC):
            looser = replace(needs, date=needs.date + _LATER)
            change = f"versions as of {(needs.date + _LATER).date()} in place of {needs.date.date()}"
            say(f"trying {change}")
            made = pin(looser, base, options, say, changes=(*changes, change))
        if not made.pinned:
            looser, made = _loosened(needs, base, failed, options, say)
            made = replace(made, changes=(*changes, *_changes(needs, looser, made), *made.changes))
            made = commented(made, looser, base, options.again())
    why = _why(failed, base)
    if not made.pinned:
        raise LmrError(why, _advice(made))
    said = "; ".join(change for change in made.changes if change not in changes)
    if options.relax or (agree and agree(f"{why}. It works with {said}. Do that?")):
        return looser, made
    raise LmrError(why, f"--relax makes the changes that help: {said}")


def _loosened(
    needs: Needs, base: BaseImage, made: Lock, options: LockOptions, say: Progress
) -> tuple[Needs, Lock]:
    """The needs with the requirements loosened that uv blames, one step at a time, until its versions fit together."""
    deadline = time.monotonic() + options.seconds
    loose = needs
    for _ in range(_ROUNDS):
        if made.failure is not Unpinned.CONFLICT or time.monotonic() > deadline:
            break
        blamed = {item.name for item in made.blamed if item.origin != _WITH}
        weaker = tuple(_weaker(item) if item.name in blamed else item for item in loose.requirements)
        if weaker == loose.requirements:
            break
        say(f"trying {listed([item.text for item in weaker if item not in loose.requirements], 3)}")
        loose = replace(needs, requirements=weaker)
        made = pin(loose, base, replace(options, seconds=max(deadline - time.monotonic(), 1)), say)
    return loose, made


def _weaker(item: Declared) -> Declared:
    """The next weaker form of a requirement: an exact version or ``~=`` as ``>=``, else no version."""
    requirement = Requirement(item.text)
    marker = f"; {requirement.marker}" if requirement.marker else ""
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    lowest = next((part.version for part in requirement.specifier if part.operator == "~="), "")
    lowest = exact_version(item.text).partition("+")[0] or lowest
    version = f">={lowest}" if lowest else ""
    return replace(item, text=f"{requirement.name}{extras if has_version(item) else ''}{version}{marker}")


def _changes(before: Needs, after: Needs, made: Lock) -> tuple[str, ...]:
    """The requirements that were loosened, but for those that the lock fits all the same."""
    held = (
        {name: exact_version(text) for name, text in lock_file.held(made.text).items()} if made.pinned else {}
    )
    return tuple(
        f"{new.text} in place of {old}"
        for new, old in zip(after.requirements, before.requirements, strict=True)
        if new != old and not (old.name in held and held[old.name] in Requirement(old.text).specifier)
    )


def _from_python(
    needs: Needs,
    base: BaseImage,
    python: Path,
    options: LockOptions,
    say: Progress,
    changes: tuple[str, ...],
) -> Lock:
    """A lock with the versions of an environment in which the code runs, also for what these packages need in turn.

    PyTorch and CUDA stay the base image's. Raises LmrError for what is no Python, or a lock that cannot be made.
    """
    interpreter = at(python)
    installed = {name: version.partition("+")[0] for name, version in packages(interpreter).items()}
    if not installed:
        hint = "give an environment's interpreter, such as venv/bin/python"
        raise LmrError(f"--from-python {python}: no packages are installed for it", hint)
    pinned = []
    for item in needs.requirements:
        if item.name in installed:
            requirement = Requirement(item.text)
            requirement.specifier = SpecifierSet(f"=={installed[item.name]}")
            pinned.append(Declared(item.name, str(requirement), "--from-python"))
    rest = tuple(Declared(name, f"{name}=={version}", "--from-python") for name, version in installed.items())
    changes = (*changes, f"versions of a working environment (Python {interpreter.minor})")
    taken = replace(needs, requirements=tuple(pinned), constraints=rest, date=None)
    made = pin(taken, base, options, say, changes=changes, frozen=False)
    if not made.pinned:
        hint = f"{base.reference} has Python {base.python}, and the environment {interpreter.minor}"
        raise LmrError(_why(made, base), f"{hint}: name another image with --base-image, or --python-version")
    absent = (item for item in needs.requirements if item.name not in {*installed, *options.without})
    notes = [f"{item} is not in that environment" for item in absent]
    torch = installed.get("torch", "")
    if torch and base.torch and torch != base.torch:
        notes.append(f"that environment has PyTorch {torch}, and the base image {base.torch}")
    return replace(made, left_out=(*made.left_out, *notes))


def _why(failed: Lock, base: BaseImage) -> str:
    if failed.failure is not Unpinned.CONFLICT:
        return f"requirements.lock cannot be made: {failed.cause}"
    blamed = ", ".join(map(str, failed.blamed))
    return f"no versions fit together for Python {base.python}{blamed and f' ({blamed})'}: {failed.cause}"


_ADVICE = {
    Unpinned.CONFLICT: "try another --python-version, --base-image or --date, or --without NAME",
    Unpinned.NO_ANSWER: "check the network; UV_OFFLINE=1 uses what was asked before",
    Unpinned.NOT_CACHED: "run it once with a network, so that the resolver's cache has what is needed",
    Unpinned.SLOW: "give it more time with --timeout",
}


def _advice(failed: Lock) -> str:
    otherwise = "see the requirements that it names; --without NAME leaves one out"
    return otherwise if failed.failure is None else _ADVICE.get(failed.failure, otherwise)


def environment_record(needs: Needs, base: BaseImage, made: Lock) -> EnvironmentOrigin:
    """Return the making of Dockerfile and lock, for ``authoring/provenance.json``."""

    def declared(items: tuple[Declared, ...]) -> tuple[DeclaredRequirement, ...]:
        return tuple(DeclaredRequirement(item.text, item.origin, item.guessed) for item in items)

    note = "; ".join([*(f"CHANGED: {change}" for change in made.changes), made.note])
    return EnvironmentOrigin(
        base_image=base.to_record(),
        lock=LockOrigin(pinned=made.pinned, note=printable(note, 4000), left_out=tuple(made.left_out)),
        requirements=declared(needs.requirements),
        torch=declared(needs.torch),
        python=needs.python,
        python_origin=needs.python_origin,
        project=needs.project,
        sources=tuple(needs.sources),
        problems=tuple(needs.problems),
    )
