"""``env lock``: pin what a repository needs, loosening what prevents a solution where that is asked for."""

from __future__ import annotations

import difflib
import re
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import TORCH_FAMILY, Progress, Task
from lmr_author.core.task.provenance import (
    BaseImageOrigin,
    DeclaredRequirement,
    EnvironmentOrigin,
    LockOrigin,
)
from lmr_author.core.texts import printable
from lmr_author.runtime.environment.detect import Detected, detect
from lmr_author.runtime.environment.generated import Written, generate
from lmr_author.runtime.environment.lock_file import Lock, LockOptions, Unpinned
from lmr_author.runtime.environment.needs import Declared, Needs
from lmr_author.runtime.environment.packages import package_of
from lmr_author.runtime.environment.pinning import pin
from lmr_author.runtime.environment.requirements import is_address, parse_requirement

_WITH = "--with"
"""Origin of a requirement that the annotator added, which is never loosened."""


def lock(task: Task, options: LockOptions, progress: Progress | None = None) -> Written:
    """Pin what the repository needs, and write ``requirements.lock`` with the record of it.

    Raises LmrError when there is no lock to be had: the index does not answer, or no versions fit together
    and nothing may be loosened.
    """

    def make() -> tuple[Written, EnvironmentOrigin]:
        detected, made = _resolve(task, options, progress or (lambda _: None))
        origin = environment_record(detected.needs, detected.base, made)
        return Written(detected, made.text, lock=made), origin

    return generate(task, task.lock, make, force=options.force, dry_run=options.dry_run)


def _resolve(task: Task, options: LockOptions, say: Progress) -> tuple[Detected, Lock]:
    detected = detect(
        task,
        base_image=options.base_image,
        python=options.python,
        date=None if options.date is None else parse_date(options.date),
        goals=_goals(task, options),
    )
    # Of several for one package the last counts: advice repeats the options of the lock before.
    extra = {package_of(text) or text: text for text in options.extra}
    options = replace(options, extra=tuple(extra.values()))
    needs, changes = _with_extra(detected.needs, options.extra)
    options = replace(options, without=_without(needs, options.without))
    if options.only_goal:
        changes = ("only what the goal files import is installed (--only-goal)", *changes)
    made = pin(needs, detected.base, options, say, changes=changes)
    if not made.pinned:
        needs, made = _relaxed(needs, detected.base, made, options, changes, say)
    return replace(detected, needs=needs), made


def parse_date(text: str) -> datetime:
    """Read ``2023-06-01`` (the whole of that day, UTC) or RFC 3339. Raises UsageError."""
    hint = "write 2023-06-01, or 2023-06-01T12:00:00Z"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"--date {text!r} is not a date", hint) from error
    if re.fullmatch(r"\d{4}-?\d\d-?\d\d", text):
        moment += timedelta(days=1, seconds=-1)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if moment.year < 2005:
        raise UsageError(f"--date {text}: the package index did not exist", hint)
    return moment


def _goals(task: Task, options: LockOptions) -> tuple[str, ...]:
    if not options.only_goal:
        return ()
    goals = task.load().goal_files or options.goals
    if not goals:
        raise UsageError("--only-goal: no goal file is known", "mask a function first, in a task")
    return goals


def _with_extra(needs: Needs, extra: tuple[str, ...]) -> tuple[Needs, tuple[str, ...]]:
    """Return the needs with more requirements, and what that changes. Raises UsageError for what is none."""
    requirements, constraints, changes = list(needs.requirements), list(needs.constraints), []
    for text in extra:
        added = parse_requirement(text, _WITH)
        if not isinstance(added, Declared):
            hint = "give one such as 'numpy<2'"
            if is_address(text):
                hint = (
                    "the lock holds versions of the package index; "
                    "`lmr-author env local --with 'NAME @ git+https://…'` installs from an address"
                )
            raise UsageError(f"--with {printable(text)}: no requirement", hint)
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
    needs: Needs, base: BaseImageOrigin, failed: Lock, options: LockOptions, changes: tuple[str, ...], say: Progress,
) -> tuple[Needs, Lock]:  # fmt: skip
    """Return looser needs, and their lock. Raises LmrError where that is not asked for, or does not help."""
    why, made = _why(failed, base), failed
    if failed.failure not in (Unpinned.NO_DATES, Unpinned.CONFLICT):
        raise LmrError(why, _advice(failed))
    if not options.relax:
        raise LmrError(why, "--relax drops the versions that prevent it, and says which")
    deadline = time.monotonic() + options.seconds
    while not made.pinned:
        looser, dropped = _looser(needs, made)
        if looser == needs:
            raise LmrError(why, _advice(made))
        for change in dropped:
            say(f"trying {change}")
        needs, changes = looser, (*changes, *dropped)
        left = replace(options, seconds=max(deadline - time.monotonic(), 1))
        made = pin(needs, base, left, say, changes=changes)
    return needs, made


def _looser(needs: Needs, failed: Lock) -> tuple[Needs, list[str]]:
    """Return the needs without the versions, or the date, that prevent a lock; and what was dropped."""
    if failed.failure is Unpinned.NO_DATES:
        return replace(needs, date=None), ["today's versions: the package index gives no upload dates"]
    requirements, dropped = [], []
    for declared in needs.requirements:
        loose = declared
        if declared in failed.blamed and declared.origin != _WITH:
            loose = _without_version(declared)
        if loose != declared:
            dropped.append(f"{loose.text} in place of {declared}")
        requirements.append(loose)
    return replace(needs, requirements=tuple(requirements)), dropped


def _without_version(requirement: Declared) -> Declared:
    parsed = Requirement(requirement.text)
    parsed.specifier = SpecifierSet()
    return replace(requirement, text=str(parsed))


def _why(failed: Lock, base: BaseImageOrigin) -> str:
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


def environment_record(needs: Needs, base: BaseImageOrigin, made: Lock) -> EnvironmentOrigin:
    """Return the making of Dockerfile and lock, for ``authoring/provenance.json``."""

    def declared(requirements: tuple[Declared, ...]) -> tuple[DeclaredRequirement, ...]:
        return tuple(DeclaredRequirement(each.text, each.origin, each.guessed) for each in requirements)

    note = "; ".join([*(f"CHANGED: {change}" for change in made.changes), made.note])
    return EnvironmentOrigin(
        base_image=base,
        lock=LockOrigin(pinned=made.pinned, note=printable(note, 4000), left_out=tuple(made.left_out)),
        requirements=declared(needs.requirements),
        torch=declared(needs.torch),
        python=needs.python,
        python_origin=needs.python_origin,
        project=needs.project,
        sources=tuple(needs.sources),
        problems=tuple(needs.problems),
    )
