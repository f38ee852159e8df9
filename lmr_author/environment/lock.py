"""Pin a recipe's packages as they were on the day of the commit, with ``uv pip compile --exclude-newer``."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lmr_author.environment import resolver
from lmr_author.environment.base_images import BaseImage, companion
from lmr_author.environment.recipe import (
    BUILT_WITH_TORCH,
    TORCH_FAMILY,
    Declared,
    Recipe,
    is_exact,
    is_freeze,
)
from lmr_author.environment.resolver import Attempt, compile_once
from lmr_author.environment.stamp import stamped
from lmr_author.environment.wheels import not_before
from lmr_author.errors import LmrError
from lmr_author.processes import printable

__all__ = ["Conflict", "Lock", "Progress", "lock"]

SECONDS = 180.0
ATTEMPTS = 40
"""How often what stands in the way of a resolution is put aside before giving up."""

BACKPORTS = frozenset(
    {"argparse", "asyncio", "backports-lzma", "dataclasses", "enum34", "functools32", "futures", "pathlib", "typing",
     "unittest2", "uuid"}
)  # fmt: skip
"""Packages that brought parts of Python to versions before 3.7."""

_NO_WHEEL = re.compile(r"Wheels are required for `([\w.-]+)`")

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Conflict:
    """Why no versions fit together.

    Attributes:
        cause: the resolver's reason, on one line.
        blamed: the requirements that it names, with their origins.
    """

    cause: str
    blamed: tuple[Declared, ...]


@dataclass(frozen=True)
class Lock:
    """What ``requirements.lock`` holds.

    Attributes:
        text: the file: comments, and one requirement a line; never an option or an address.
        pinned: every package, also indirect ones, has one exact version.
        note: how it was made, or why it is not pinned.
        left_out: requirements that were put aside, each with the reason.
        yanked: versions in it that were withdrawn from the index.
        compiled: packages without a wheel, which are compiled when they are installed.
        hashes: every line has its hashes.
        conflict: why no versions fit together; None when that is not the reason.
        changes: what was changed of what the repository asks for; only ``env lock`` does, and says so.
    """

    text: str
    pinned: bool
    note: str
    left_out: tuple[str, ...] = ()
    yanked: tuple[str, ...] = ()
    compiled: tuple[str, ...] = ()
    hashes: bool = False
    conflict: Conflict | None = None
    changes: tuple[str, ...] = ()


def lock(
    recipe: Recipe,
    base: BaseImage,
    *,
    seconds: float = SECONDS,
    progress: Progress | None = None,
    hashes: bool = False,
    offline: bool = False,
    changes: tuple[str, ...] = (),
) -> Lock:
    """Pin a recipe for a base image; offline, or when no versions fit together, it is not, and says why.

    PyTorch and CUDA packages are left to the base image. Where the image's Python is newer than the commit, the date
    is that of the first packages for it, and the lock says so. uv builds a package only to learn what it
    needs, and only when there is no wheel of it. With ``seconds`` 0 no index is asked at all: exact
    requirements are then taken as the repository names them.

    Args:
        hashes: write the hashes of each version's files.
        offline: answer from uv's cache alone.
        changes: what the caller changed of the repository's own requirements, for the lock's comments.
    """
    recipe, later = not_before(recipe, base)
    changes = (*changes, *([later] if later else []))
    first = replace(_first(recipe, base), hashes=hashes, offline=offline)
    if not first.declared:
        made = Lock("", True, "the repository needs nothing beside PyTorch", hashes=hashes)
    elif seconds <= 0:
        made = _offline(first)
    else:
        made = _resolved(first, recipe, base, seconds, progress)
    return _written(replace(made, changes=changes), recipe, base)


def _resolved(
    attempt: Attempt, recipe: Recipe, base: BaseImage, seconds: float, progress: Progress | None
) -> Lock:
    """Call uv until it succeeds, putting aside what stands in the way, or until that would be a decision."""
    deadline = time.monotonic() + seconds
    for _ in range(ATTEMPTS):
        left = deadline - time.monotonic()
        done = compile_once(attempt, recipe, base, left) if left > 1 else None
        if done is None or done.timed_out:
            return _unpinned(attempt, f"uv took longer than {seconds:.0f} s")
        if done.exit_code == 0:
            return _pinned(attempt, done.stdout.decode("utf-8", "replace"), recipe, done.stderr)
        following = _next(attempt, done.stderr)
        if isinstance(following, Lock):
            return following
        if progress is not None and following.remarks:
            progress(following.remarks[-1])
        attempt = following
    return _unpinned(attempt, f"more than {ATTEMPTS} requirements stand in the way")


def _first(recipe: Recipe, base: BaseImage) -> Attempt:
    """A full list is an environment that existed: looked up, not resolved, contradictory as it may be."""
    declared, remarks = _companions(recipe.requirements, base)
    declared, parts = _without_backports(declared)
    remarks = (*remarks, *parts)
    if is_freeze(declared):
        remark = "the repository lists a whole environment, which is installed as it stands"
        return Attempt(declared, resolve=False, remarks=(*remarks, remark))
    constraints = tuple(item for item in recipe.constraints if item.name not in TORCH_FAMILY)
    torchtext = companion(base, "torchtext")
    if torchtext:
        constraints = tuple(item for item in constraints if item.name != "torchtext")
        constraints += (Declared("torchtext", f"torchtext=={torchtext}", "the image's PyTorch"),)
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
    version = companion(base, "torchtext")
    kept, remarks = [], []
    for item in declared:
        if item.name == "torchtext" and version and Requirement(item.text).specifier:
            if version not in Requirement(item.text).specifier:
                remarks.append(f"torchtext=={version} in place of {item}: it belongs to PyTorch {base.torch}")
            item = replace(item, text=f"torchtext=={version}")
        kept.append(item)
    return tuple(kept), tuple(remarks)


def _next(attempt: Attempt, stderr: str) -> Attempt | Lock:
    """What to do about uv's message: the next attempt, or a lock that is not pinned and says why."""
    text = " ".join(resolver.said(stderr).split())
    failure = resolver.index_failure(text)
    if failure:
        return _unpinned(attempt, failure)
    if match := re.search(
        r"`([\w.-]+)` was filtered by `exclude-newer`.*? published at (\d{4}-\d\d-\d\d)", text
    ):
        return _allow_later(attempt, match[1], match[2])
    if match := re.search(r"Because ([\w.-]+) was not found in the package registry", text):
        return _leave_out(attempt, match[1], "it is not on the package index", text)
    if match := re.search(r"Failed to (?:build|download and build|prepare)[^`]*`([\w.-]+?)(?:==|@|`)", text):
        return _unbuildable(attempt, match[1], text)
    missing = [name for name in _NO_WHEEL.findall(text) if name not in attempt.built]
    if missing:
        return _without_wheel(attempt, missing[0], text)
    return _in_conflict(attempt, stderr, text)


def _in_conflict(attempt: Attempt, stderr: str, text: str) -> Attempt | Lock:
    """Nothing fits: what is not the repository's own word gives way; its own word is not changed here."""
    named = [
        item for item in attempt.declared if re.search(rf"(?<![\w-]){re.escape(item.name)}(?![\w-])", text)
    ]
    conda = next((item for item in named if item.conda), None)
    if conda and re.search(rf"no version of {re.escape(conda.name)}\b", text):
        return _as_on_the_index(attempt, conda, text)
    if len(attempt.constraints) > 1:
        places = ", ".join(dict.fromkeys(item.origin.partition(":")[0] for item in attempt.constraints[:-1]))
        remark = f"the versions of {places} do not fit together here and are not used"
        kept = tuple(item for item in attempt.constraints if item.name == "torchtext")
        return replace(attempt, constraints=kept, remarks=(*attempt.remarks, remark))
    guessed = next((item for item in named if item.guessed), None)
    if guessed and Requirement(guessed.text).specifier:
        remark = f"{guessed} without its version, which does not fit and which is only mentioned"
        return _replaced(attempt, guessed, guessed.name, remark)
    if guessed:
        return _leave_out(attempt, guessed.name, "no version of it fits, and nobody declares it", text)
    cause = resolver.cause(stderr)
    unpinned = _unpinned(attempt, f"no versions fit together: {cause}")
    return replace(unpinned, conflict=Conflict(cause, tuple(named)))


def _as_on_the_index(attempt: Attempt, item: Declared, text: str) -> Attempt | Lock:
    """One of conda's packages in a version that the index does not have: another, or none."""
    if Requirement(item.text).specifier:
        remark = f"{item} without its version, which conda has and the package index has not"
        return _replaced(attempt, item, item.name, remark)
    return _leave_out(attempt, item.name, "it is one of conda's packages", text)


def _replaced(attempt: Attempt, item: Declared, text: str, remark: str) -> Attempt:
    declared = tuple(replace(one, text=text) if one == item else one for one in attempt.declared)
    return replace(attempt, declared=declared, remarks=(*attempt.remarks, remark))


def _without_wheel(attempt: Attempt, name: str, text: str) -> Attempt | Lock:
    """A package of which there is only the source: uv has to run its build to learn what it needs."""
    canonical = canonicalize_name(name)
    if canonical in BUILT_WITH_TORCH:
        why = "its source needs PyTorch and a CUDA compiler to be installed"
        return _leave_out(attempt, name, why, text)
    if not attempt.resolve:
        return _as_is(attempt, canonical, "")
    remark = f"no wheel of {name}: its source is read to learn what it needs"
    return replace(attempt, built=(*attempt.built, name), remarks=(*attempt.remarks, remark))


def _unbuildable(attempt: Attempt, name: str, text: str) -> Attempt | Lock:
    """What cannot be built here may still be built in the image, with its Python and a compiler."""
    canonical = canonicalize_name(name)
    item = next((item for item in attempt.declared if item.name == canonical), None)
    if item is None or not is_exact(item):
        return _leave_out(attempt, name, "it cannot be built to learn what it needs", text)
    remark = f"{item} is installed as it is: it cannot be built here to learn what it needs"
    return _as_is(attempt, canonical, remark)


def _as_is(attempt: Attempt, name: str, remark: str) -> Attempt:
    return replace(
        attempt,
        declared=tuple(item for item in attempt.declared if item.name != name),
        as_is=(*attempt.as_is, *(item for item in attempt.declared if item.name == name)),
        remarks=(*attempt.remarks, *([remark] if remark else [])),
    )


def _leave_out(attempt: Attempt, name: str, why: str, text: str) -> Attempt | Lock:
    canonical = canonicalize_name(name)
    gone = next((item for item in attempt.declared if item.name == canonical), None)
    if gone is None:
        cause = f"{canonical}, which another package needs, cannot be had: {printable(text, 300)}"
        named = tuple(
            item
            for item in attempt.declared
            if re.search(rf"(?<![\w-]){re.escape(item.name)}(?![\w-])", text)
        )
        return replace(_unpinned(attempt, cause), conflict=Conflict(cause, named))
    remark = f"{gone} is left out: {why}"
    return replace(
        attempt,
        declared=tuple(item for item in attempt.declared if item.name != canonical),
        left_out=(*attempt.left_out, remark),
        remarks=(*attempt.remarks, remark),
    )


def _allow_later(attempt: Attempt, name: str, published: str) -> Attempt | Lock:
    """The repository names a version that came after its last commit: allow this one package to be as new."""
    if any(item.startswith(f"{name}=") for item in attempt.later):
        return _unpinned(attempt, f"no version of {name} fits")
    day = (datetime.fromisoformat(published) + timedelta(days=1)).date().isoformat()
    remark = f"{name} is newer than the commit ({published}), because the repository asks for it"
    return replace(attempt, later=(*attempt.later, f"{name}={day}"), remarks=(*attempt.remarks, remark))


def _pinned(attempt: Attempt, output: str, recipe: Recipe, stderr: str) -> Lock:
    found = dict(_requirements(output))
    hashes = attempt.hashes and not attempt.as_is
    remarks = list(attempt.remarks)
    if attempt.hashes and not hashes:
        remarks.append(f"without hashes: {attempt.as_is[0].name} has no wheel whose hash could be asked for")
    found |= {_checked(item.text): [] for item in attempt.as_is}
    lines = [_line(text, digests if hashes else []) for text, digests in sorted(found.items())]
    how = f"pinned as of {recipe.date.date().isoformat()}" if recipe.date else "pinned"
    return Lock(
        "".join(f"{line}\n" for line in lines),
        all("==" in text and ".*" not in text for text in found),
        "; ".join((how, *remarks)),
        attempt.left_out,
        resolver.yanked(stderr),
        tuple(
            sorted(
                {canonicalize_name(name) for name in attempt.built} | {item.name for item in attempt.as_is}
            )
        ),
        hashes,
    )


def _requirements(output: str) -> Iterator[tuple[str, list[str]]]:
    """uv's lines, joined, as requirements with their hashes."""
    for line in output.replace("\\\n", " ").splitlines():
        words = line.split(" --hash=")
        if words[0].strip() and not words[0].startswith("#"):
            digests = [word.strip() for word in words[1:]]
            if not all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in digests):
                raise LmrError(f"uv wrote a hash that is none: {printable(line)}", "report this")
            yield _checked(words[0].strip()), digests


def _line(text: str, digests: list[str]) -> str:
    return " \\\n".join([text, *(f"    --hash={digest}" for digest in digests)])


def _checked(line: str) -> str:
    """A line of uv's output as a plain requirement; anything else is a bug worth hearing of."""
    try:
        requirement = Requirement(line)
    except InvalidRequirement as error:
        raise LmrError(f"uv wrote a line that is no requirement: {printable(line)}", "report this") from error
    if requirement.url:
        raise LmrError(f"uv wrote an address: {printable(line)}", "report this")
    return str(requirement)


def _offline(attempt: Attempt) -> Lock:
    """The requirements as declared; a lock only if the repository itself pins each of them."""
    if not all(map(is_exact, attempt.declared)):
        return _unpinned(attempt, "the package index was not asked")
    lines = "".join(f"{item.text}\n" for item in sorted(attempt.declared, key=lambda item: item.name))
    return Lock(lines, True, "pinned as the repository pins them; the package index was not asked", ())


def _unpinned(attempt: Attempt, cause: str) -> Lock:
    declared = sorted([*attempt.declared, *attempt.as_is], key=lambda item: item.name)
    lines = "".join(f"{item.text}\n" for item in declared)
    note = f"NOT pinned: {cause}"
    return Lock(lines, False, "; ".join((note, *attempt.remarks)), attempt.left_out)


def _written(made: Lock, recipe: Recipe, base: BaseImage) -> Lock:
    """The lock with the comments that say what it is."""
    comments = [f"CHANGED: {change}" for change in made.changes]
    comments += [made.note, f"for Python {base.python}; PyTorch and CUDA are the base image's"]
    comments += [*made.left_out, *made.yanked]
    if made.compiled:
        comments.append(f"compiled when installed, there is no wheel: {', '.join(made.compiled)}")
    head = "".join(f"# {printable(comment, 600)}\n" for comment in comments)
    return replace(made, text=stamped(head + made.text, before="(?=[^#])"))
