"""``env lock``: pin what a repository needs, loosening what prevents a solution where somebody agrees to it."""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Callable
from dataclasses import replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import TORCH_FAMILY, Progress
from lmr_author.core.task.provenance import DeclaredRequirement, EnvironmentOrigin, LockOrigin
from lmr_author.core.texts import listed, printable
from lmr_author.runtime.environment import place
from lmr_author.runtime.environment.base_images import BaseImage
from lmr_author.runtime.environment.detect import detect
from lmr_author.runtime.environment.lock_file import Lock, LockOptions, Unpinned
from lmr_author.runtime.environment.needs import Declared, Needs, exact_version, has_version
from lmr_author.runtime.environment.pinning import commented, pin
from lmr_author.runtime.environment.place import RepositoryPlace, Written
from lmr_author.runtime.environment.requirements import parse_requirement

Agree = Callable[[str], bool]
"""Asks a person at a terminal a question."""

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
        detected = detect(
            replace(where, date=date),
            base_image=options.base_image,
            python=options.python,
            goals=_goals(where, options),
        )
        # Of several for one package the last counts: advice repeats the options of the lock before.
        extra = {re.split(r"[^\w.-]", text)[0]: text for text in options.extra}
        options = replace(options, extra=tuple(extra.values()))
        needs, changes = _with_extra(detected.needs, options.extra)
        options = replace(options, without=_without(needs, options.without))
        if options.only_goal:
            changes = ("only what the goal files import is installed (--only-goal)", *changes)
        made = pin(needs, detected.base, options, say, changes=changes)
        if not made.pinned:
            needs, made = _relaxed(needs, detected.base, made, options, changes, say, agree)
        origin = environment_record(needs, detected.base, made)
        detected = replace(detected, needs=needs)
        return place.write(
            detected, "requirements.lock", made.text, dry_run=options.dry_run, origin=origin, lock=made
        )


def _goals(where: RepositoryPlace, options: LockOptions) -> tuple[str, ...]:
    if not options.only_goal:
        return ()
    masked = place.goal_files(where.task.load()) if where.task is not None else ()
    goals = masked or options.goals
    if not goals:
        raise UsageError("--only-goal: no goal file is known", "mask a function first, in a task")
    return goals


def _with_extra(needs: Needs, extra: tuple[str, ...]) -> tuple[Needs, tuple[str, ...]]:
    """Return the needs with more requirements, and what that changes. Raises UsageError for what is none."""
    requirements, constraints, changes = list(needs.requirements), list(needs.constraints), []
    for text in extra:
        added = parse_requirement(text, _WITH)
        if not isinstance(added, Declared):
            raise UsageError(f"--with {printable(text)}: no requirement", "give one such as 'numpy<2'")
        if added.name in TORCH_FAMILY:
            raise UsageError(f"--with {text}: PyTorch is the base image's", "choose that with --base-image")
        # A version of the repository's may be a constraint only, as of what no goal file imports.
        replaced = [own for own in (*requirements, *constraints) if own.name == added.name]
        requirements = [own for own in requirements if own not in replaced] + [added]
        constraints = [own for own in constraints if own not in replaced]
        changes.append(
            f"{added.text} in place of {replaced[0]}" if replaced else f"{added.text} is added (--with)"
        )
    return replace(needs, requirements=tuple(requirements), constraints=tuple(constraints)), tuple(changes)


def _without(needs: Needs, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return names as the index has them. Raises UsageError for what is no name, or a misspelt requirement."""
    required = [requirement.name for requirement in needs.requirements]
    for text in texts:
        name = canonicalize_name(text)
        near = [] if name in required else difflib.get_close_matches(name, required, 1, 0.8)
        if near or not name.replace("-", "").isalnum():
            hint = f"did you mean {near[0]}?" if near else "give a package's name alone, such as deepspeed"
            raise UsageError(f"--without {printable(text)}: the repository requires no such package", hint)
    return tuple(dict.fromkeys(map(canonicalize_name, texts)))


def _relaxed(
    needs: Needs, base: BaseImage, failed: Lock, options: LockOptions, changes: tuple[str, ...], say: Progress,
    agree: Agree | None,
) -> tuple[Needs, Lock]:  # fmt: skip
    """Return the needs with changes that were agreed to, and their lock. Raises LmrError where that does not help."""
    why = _why(failed, base)
    if failed.failure not in (Unpinned.NO_DATES, Unpinned.CONFLICT):
        raise LmrError(why, _advice(failed))
    if not (options.relax or (agree and agree(f"{why}. Loosen what prevents it?"))):
        raise LmrError(why, "--relax loosens what prevents it, and says what it changed")
    if failed.failure is Unpinned.NO_DATES:
        change = "today's versions: the package index gives no upload dates"
        loose = replace(needs, date=None)
        made = pin(loose, base, options, say, changes=(*changes, change))
    else:
        loose, made = _loosened(needs, base, failed, options, say)
        loosened = [
            f"{new.text} in place of {old}"
            for new, old in zip(loose.requirements, needs.requirements, strict=True)
            if new != old
        ]
        made = commented(
            replace(made, changes=(*changes, *loosened, *made.changes)), loose, base, options.again()
        )
    if not made.pinned:
        raise LmrError(why, _advice(made))
    return loose, made


def _loosened(
    needs: Needs, base: BaseImage, made: Lock, options: LockOptions, say: Progress
) -> tuple[Needs, Lock]:
    """Loosen the requirements that uv blames, one step at a time, until its versions fit together."""
    deadline = time.monotonic() + options.seconds
    loose = needs
    for _ in range(_ROUNDS):
        blamed = {requirement.name for requirement in made.blamed if requirement.origin != _WITH}
        weaker = tuple(_weaker(each) if each.name in blamed else each for each in loose.requirements)
        if made.failure is not Unpinned.CONFLICT or weaker == loose.requirements:
            break
        changed = [new.text for new in weaker if new not in loose.requirements]
        say(f"trying {listed(changed, 3)}")
        loose = replace(needs, requirements=weaker)
        made = pin(loose, base, replace(options, seconds=max(deadline - time.monotonic(), 1)), say)
    return loose, made


def _weaker(requirement: Declared) -> Declared:
    """Return the next weaker form of a requirement: an exact version or ``~=`` as ``>=``, else no version."""
    parsed = Requirement(requirement.text)
    marker = f"; {parsed.marker}" if parsed.marker else ""
    extras = f"[{','.join(sorted(parsed.extras))}]" if parsed.extras and has_version(requirement) else ""
    lowest = exact_version(requirement.text).partition("+")[0]
    for part in parsed.specifier:
        if part.operator == "~=":
            lowest = part.version
    version = f">={lowest}" if lowest else ""
    return replace(requirement, text=f"{parsed.name}{extras}{version}{marker}")


def _why(failed: Lock, base: BaseImage) -> str:
    if failed.failure is not Unpinned.CONFLICT:
        return f"requirements.lock cannot be made: {failed.cause}"
    blamed = f" ({', '.join(map(str, failed.blamed))})" if failed.blamed else ""
    return f"no versions fit together for Python {base.python}{blamed}: {failed.cause}"


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

    def declared(requirements: tuple[Declared, ...]) -> tuple[DeclaredRequirement, ...]:
        return tuple(DeclaredRequirement(each.text, each.origin, each.guessed) for each in requirements)

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
