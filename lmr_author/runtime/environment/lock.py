"""``env lock``: pin a repository's requirements, and write the lock and the Dockerfile."""

from __future__ import annotations

import difflib
import re
import shlex
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from lmr_author.core import files, locks
from lmr_author.core.errors import Hint, LmrError, Setting, UsageError
from lmr_author.core.task import TORCH_FAMILY, Progress, Task, TaskInfo, provenance
from lmr_author.core.task.provenance import (
    BaseImageOrigin,
    DeclaredRequirement,
    EnvironmentOrigin,
    LockOrigin,
    Provenance,
)
from lmr_author.core.texts import did_you_mean, printable
from lmr_author.runtime.environment import lock_file
from lmr_author.runtime.environment.base_images import base_of
from lmr_author.runtime.environment.detect import base_in_use, problems, read_needs
from lmr_author.runtime.environment.dockerfile import render, render_dockerignore
from lmr_author.runtime.environment.lock_file import GeneratedFile, Lock, LockOptions, UnpinnedReason
from lmr_author.runtime.environment.needs import DeclaredNeed, Needs, has_version
from lmr_author.runtime.environment.packages import package_of
from lmr_author.runtime.environment.pinning import pin
from lmr_author.runtime.environment.requirements import is_address, parse_requirement

_WITH = "--with"
"""Origin of a requirement that the annotator added; it is never loosened."""


@dataclass(frozen=True)
class LockResult:
    """The result of ``env lock``.

    Attributes:
        name: the repository's folder in the task and in the image.
        needs: the repository's needs, changed by the options.
        files: the generated files.
        kept: the Dockerfile was edited, and was not overwritten.
    """

    name: str
    needs: Needs
    base: BaseImageOrigin
    lock: Lock
    files: tuple[GeneratedFile, ...]
    kept: bool = False

    @property
    def problems(self) -> tuple[str, ...]:
        return problems(self.needs, self.base)


def lock(task: Task, options: LockOptions, progress: Progress | None = None) -> LockResult:
    """Pin the repository's requirements; write ``requirements.lock``, the Dockerfile, and their record.

    An edited Dockerfile is kept, unless ``options.force`` is set.

    Raises LmrError if the index does not answer or the requirements have no solution; and for an edited lock without
    ``options.force``.
    """
    with locks.held(task.root):
        if lock_file.is_edited(task.lock) and not options.force:
            raise LmrError(
                "requirements.lock was edited, or was not written by this version of lmr-author",
                "overwrite it with --force, which keeps a copy in authoring/removed/",
            )
        kept = lock_file.is_edited(task.dockerfile) and not options.force
        if kept and options.base_image not in (None, base_of(files.read_text_or_empty(task.dockerfile))):
            raise LmrError(
                "the Dockerfile has another base image, and was edited or not written by this version of lmr-author",
                f"write {options.base_image} into it by hand, or overwrite it with --force, which keeps a copy in"
                " authoring/removed/",
            )
        info = task.load()
        needs, base, made = _resolve(task, info, options, progress or (lambda _: None))
        name = info.repo_folder_name or info.folder_name
        written = [lock_file.write(task, task.lock, made.text)]
        if not kept:
            text = render(needs, base, name, pinned=made.pinned, compiled=made.compiled)
            written.append(lock_file.write(task, task.dockerfile, text))
        if not task.dockerignore.is_file():
            files.write_text(task.dockerignore, render_dockerignore(name))
        record = Provenance.read_if_valid(task.provenance_path)
        if record is not None:
            origin = environment_record(needs, base, made)
            replace(record, environment=origin).write(task.provenance_path)
    return LockResult(name, needs, base, made, tuple(written), kept)


def _resolve(
    task: Task, info: TaskInfo, options: LockOptions, say: Progress
) -> tuple[Needs, BaseImageOrigin, Lock]:
    needs = read_needs(task.repository(info), _date(task, options), _goals(info, options))
    base = base_in_use(task, needs, options.base_image, options.python)
    # The last option for a package counts: advice repeats the options of the previous lock.
    extra = {package_of(text) or text: text for text in options.extra}
    options = replace(options, extra=tuple(extra.values()))
    needs, changes = _with_extra(needs, options.extra)
    options = replace(options, without=_without(needs, options.without))
    if options.only_goal:
        changes = ("only what the goal files import is installed (--only-goal)", *changes)
    made = pin(needs, base, options, say, changes=changes)
    if not made.pinned:
        raise LmrError(_why(made, base), _advice(made, options))
    return needs, base, made


def _date(task: Task, options: LockOptions) -> datetime | None:
    if options.date is not None:
        return parse_date(options.date)
    commit_date = provenance.load(task).repository.commit_date
    return datetime.fromisoformat(commit_date) if commit_date else None


def parse_date(text: str) -> datetime:
    """Read ``2023-06-01`` (the end of that day, UTC) or RFC 3339. Raises UsageError."""
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
        raise UsageError(f"--date {text} is before the package index existed", hint)
    return moment


def _goals(info: TaskInfo, options: LockOptions) -> tuple[str, ...]:
    if not options.only_goal:
        return ()
    goals = info.goal_files or options.goals
    if not goals:
        raise UsageError("--only-goal: the task has no goal file", "mask a function first")
    return goals


def _with_extra(needs: Needs, extra: tuple[str, ...]) -> tuple[Needs, tuple[str, ...]]:
    """Add requirements to the needs; return the needs and the changes. Raises UsageError for an invalid one."""
    requirements, constraints, changes = list(needs.requirements), list(needs.constraints), []
    for text in extra:
        added = parse_requirement(text, _WITH)
        if not isinstance(added, DeclaredNeed):
            hint = "use {0} with a requirement such as 'numpy<2'"
            if is_address(text):
                hint = (
                    "{0} adds packages of the package index only; "
                    "`lmr-author env local --with 'NAME @ git+https://…'` installs from an address"
                )
            raise UsageError(f"{printable(text)!r} is not a requirement", Hint(hint, (Setting(_WITH),)))
        if added.name in TORCH_FAMILY:
            settings = Setting(_WITH), Setting("--base-image")
            hint = "remove it from {0}; {1} chooses its version"
            raise UsageError(f"{text}: the base image provides PyTorch", Hint(hint, settings))
        # The repository's version may be only a constraint, if no goal file imports the package.
        replaced = [own for own in (*requirements, *constraints) if own.name == added.name]
        requirements = [own for own in requirements if own not in replaced] + [added]
        constraints = [own for own in constraints if own not in replaced]
        changes.append(
            f"{added.text} in place of {replaced[0]}" if replaced else f"{added.text} is added (--with)"
        )
    return replace(needs, requirements=tuple(requirements), constraints=tuple(constraints)), tuple(changes)


def _without(needs: Needs, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return normalised names. Raises UsageError for an invalid name, or a package that is not required."""
    required = [requirement.name for requirement in needs.requirements]
    for text in texts:
        name = canonicalize_name(text)
        near = [] if name in required else difflib.get_close_matches(name, required, 1, 0.8)
        if near or not name.replace("-", "").isalnum():
            hint = did_you_mean(near, "use {0} with only a package's name, such as deepspeed")
            setting = Setting("--without", tuple(near))
            problem = f"{printable(text)}: the repository requires no such package"
            raise UsageError(problem, Hint(hint, (setting,)))
    return tuple(dict.fromkeys(map(canonicalize_name, texts)))


def _why(failed: Lock, base: BaseImageOrigin) -> str:
    if failed.failure is not UnpinnedReason.CONFLICT:
        return f"cannot create requirements.lock: {failed.cause}"
    blamed = f" ({', '.join(map(str, failed.blamed))})" if failed.blamed else ""
    return f"the requirements conflict on Python {base.python}{blamed}: {failed.cause}"


_ADVICE = {
    UnpinnedReason.NO_ANSWER: "check the network; UV_OFFLINE=1 uses only the resolver's cache",
    UnpinnedReason.NOT_CACHED: "run it once with a network, to fill the resolver's cache",
    UnpinnedReason.SLOW: "raise the time limit: `lmr-author env lock --timeout SECONDS`",
}


def _advice(failed: Lock, options: LockOptions) -> Hint:
    leave_out = Setting("--without", (), "--without NAME")
    if failed.failure in _ADVICE:
        return Hint(_ADVICE[failed.failure])
    if failed.failure is not UnpinnedReason.CONFLICT:
        return Hint("check the requirements that it names; {0} drops one", (leave_out,))
    others = Setting("--python-version"), Setting("--base-image", (), "--base-image or --date"), leave_out
    if not (own := _versions_in_the_way(failed)):
        return Hint("try another {0}, {1}, or {2}", others)
    command = f"`{without_versions(failed, options)}`"
    drop = Setting(_WITH, tuple(map(_without_version, own)), command)
    return Hint("drop the conflicting versions: {0}; or try another {1}, {2}, or {3}", (drop, *others))


def _versions_in_the_way(failed: Lock) -> list[DeclaredNeed]:
    return [declared for declared in failed.blamed if declared.origin != _WITH and has_version(declared)]


def without_versions(failed: Lock, options: LockOptions | None = None) -> str:
    """Return the shell command that locks without the conflicting versions; "" if none are known."""
    options = options or LockOptions()
    own = _versions_in_the_way(failed)
    if not own:
        return ""
    values = {"--date": options.date, "--base-image": options.base_image, "--python-version": options.python}
    given = [word for option, value in values.items() if value is not None for word in (option, value)]
    again = replace(options, extra=(*options.extra, *map(_without_version, own))).again()
    return " ".join(
        ["lmr-author env lock", again, shlex.join([*given, *["--force"] * options.force])]
    ).strip()


def _without_version(declared: DeclaredNeed) -> str:
    parsed = Requirement(declared.text)
    parsed.specifier = SpecifierSet()
    return str(parsed)


def environment_record(needs: Needs, base: BaseImageOrigin, made: Lock) -> EnvironmentOrigin:
    def declared(requirements: tuple[DeclaredNeed, ...]) -> tuple[DeclaredRequirement, ...]:
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
