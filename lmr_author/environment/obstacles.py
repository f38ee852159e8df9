"""What stands in the way of a resolution, by uv's message, and what to do about it: another attempt, or none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lmr_author.environment import resolver
from lmr_author.environment.locked import Conflict, Lock, unpinned
from lmr_author.environment.recipe import BUILT_WITH_TORCH, Declared, is_exact
from lmr_author.environment.resolver import Attempt
from lmr_author.environment.wheels import NO_WHEEL
from lmr_author.texts import printable


@dataclass(frozen=True)
class Index:
    """What the package index is asked meanwhile.

    Attributes:
        compiled: a package, or a pin → whether it has wheels for older Pythons than the image's only, so that its
            source is no help.
        nearest: a pin, and what is built of what it needs (None: itself has no wheel) → the first later one with a
            wheel for the image's Python, "" when there is none.
    """

    compiled: Callable[[str], bool]
    nearest: Callable[[Declared, tuple[str, ...] | None], str]


def following(attempt: Attempt, stderr: str, index: Index) -> Attempt | Lock:
    """What to do about uv's message: the next attempt, or a lock that is not pinned and says why."""
    text = " ".join(resolver.said(stderr).split())
    failure = resolver.index_failure(text)
    if failure:
        return unpinned(attempt, failure)
    missing = [name for name in NO_WHEEL.findall(text) if name not in attempt.built]
    # What may be newer already is only in the way of what may not yet.
    missing.sort(key=lambda name: any(item.startswith(f"{name}=") for item in attempt.later))
    if attempt.wheels_from and missing:
        return _without_wheel(attempt, missing[0], text, index)
    if match := re.search(
        r"`([\w.-]+)` was filtered by `exclude-newer`.*? published at (\d{4}-\d\d-\d\d)", text
    ):
        return _allow_later(attempt, match[1], match[2])
    if match := re.search(r"Because ([\w.-]+) was not found in the package registry", text):
        return _leave_out(attempt, match[1], "it is not on the package index", text)
    if match := re.search(r"Failed to (?:build|download and build|prepare)[^`]*`([\w.-]+?)(?:==|@|`)", text):
        return _unbuildable(attempt, match[1], text)
    if missing:
        return _without_wheel(attempt, missing[0], text, index)
    return _in_conflict(attempt, stderr, text, index)


def allow_later(attempt: Attempt, names: Iterable[str]) -> Attempt:
    """Packages that may be as new as the first ones for the image's Python; the lock tells of them."""
    return replace(attempt, later=(*attempt.later, *(f"{name}={attempt.wheels_from}" for name in names)))


def read_sources(attempt: Attempt, names: tuple[str, ...]) -> Attempt:
    """Packages without a wheel, whose source says what they need; the lock tells of them."""
    remarks = (f"no wheel of {name}: its source is read to learn what it needs" for name in names)
    return replace(
        attempt,
        built=(*attempt.built, *names),
        remarks=tuple(dict.fromkeys((*attempt.remarks, *remarks))),
    )


def _in_conflict(attempt: Attempt, stderr: str, text: str, index: Index) -> Attempt | Lock:
    """Nothing fits: what is not the repository's own word gives way; its own word is not changed here."""
    named = _named(attempt, text)
    conda = next((item for item in named if item.conda), None)
    if conda and re.search(rf"no version of {re.escape(conda.name)}\b", text):
        return _as_on_the_index(attempt, conda, text)
    if len(attempt.constraints) > 1:
        places = ", ".join(dict.fromkeys(item.origin.partition(":")[0] for item in attempt.constraints[:-1]))
        remark = f"the versions of {places} do not fit together here and are not used"
        kept = tuple(item for item in attempt.constraints if item.name == "torchtext")
        return replace(attempt, constraints=kept, remarks=(*attempt.remarks, remark))
    spoken = next((item for item in named if item.guessed or item.mentioned), None)
    if spoken and Requirement(spoken.text).specifier:
        nearest = index.nearest(spoken, None) or index.nearest(spoken, attempt.built)
        which = f"as {nearest}" if nearest else "without its version"
        remark = f"{spoken} {which}, because it does not fit and is only mentioned"
        return _replaced(attempt, spoken, nearest or spoken.name, remark)
    guessed = next((item for item in named if item.guessed), None)
    if guessed:
        return _leave_out(attempt, guessed.name, "no version of it fits, and nobody declares it", text)
    cause = resolver.cause(stderr)
    made = unpinned(attempt, f"no versions fit together: {cause}")
    return replace(made, conflict=Conflict(cause, tuple(named), _certain(named, text), attempt))


def _certain(named: list[Declared], text: str) -> tuple[Declared, ...]:
    """Exact versions that cannot be had for this Python, by uv's message: no other requirement's change helps."""
    return tuple(
        item
        for item in named
        if is_exact(item)
        and any(
            re.search(pattern.format(rf"{re.escape(item.name)}==\S+"), text, re.I)
            for pattern in _CANNOT_BE_HAD
        )
    )


_CANNOT_BE_HAD = (
    r"(?:Because|and) {} has no (?:usable )?wheels",
    r"(?:Because|and) there is no version of {}",
    r"does not satisfy Python\S* and {} depends on Python",
    r"we can conclude that {} cannot be used",
)
"""What uv says of a version that is no choice at all."""


def _as_on_the_index(attempt: Attempt, item: Declared, text: str) -> Attempt | Lock:
    """One of conda's packages in a version that the index does not have: another, or none."""
    if Requirement(item.text).specifier:
        remark = f"{item} without its version, which conda has and the package index has not"
        return _replaced(attempt, item, item.name, remark)
    return _leave_out(attempt, item.name, "it is one of conda's packages", text)


def _replaced(attempt: Attempt, item: Declared, text: str, remark: str = "") -> Attempt:
    declared = tuple(replace(one, text=text) if one == item else one for one in attempt.declared)
    return replace(attempt, declared=declared, remarks=(*attempt.remarks, *([remark] if remark else [])))


def _without_wheel(attempt: Attempt, name: str, text: str, index: Index) -> Attempt | Lock:
    """A package of which there is only the source: uv has to run its build to learn what it needs."""
    canonical = canonicalize_name(name)
    if canonical in BUILT_WITH_TORCH:
        why = "its source needs PyTorch and a CUDA compiler to be installed"
        return _leave_out(attempt, name, why, text)
    newer = any(item.startswith(f"{name}=") for item in attempt.later)
    if attempt.wheels_from and not newer and index.compiled(name):
        return allow_later(attempt, (name,))
    after = _spoken_gives_way(attempt, canonical, text, index)
    if after is not None:
        return after
    if not attempt.resolve:
        return _as_is(attempt, canonical, "")
    return read_sources(attempt, (name,))


def _spoken_gives_way(attempt: Attempt, name: str, text: str, index: Index) -> Attempt | None:
    """A version that is only mentioned, of what has no wheel or of what needs it, as the first later with one."""
    for item in _named(attempt, text):
        if not item.mentioned or not is_exact(item) or (item.name != name and not index.compiled(name)):
            continue
        nearest = index.nearest(item, None if item.name == name else attempt.built)
        if nearest:
            needs = "" if item.name == name else f" that does not need {name} without one"
            change = f"{nearest} in place of {item}, which is only mentioned: the first version with a wheel{needs}"
            return replace(_replaced(attempt, item, nearest), changes=(*attempt.changes, change))
    return None


def _named(attempt: Attempt, text: str) -> list[Declared]:
    """The requirements that a message names."""
    return [
        item for item in attempt.declared if re.search(rf"(?<![\w-]){re.escape(item.name)}(?![\w-])", text)
    ]


def _unbuildable(attempt: Attempt, name: str, text: str) -> Attempt | Lock:
    """What cannot be built here may still be built in the image, with its Python and a compiler."""
    canonical = canonicalize_name(name)
    item = next((item for item in attempt.declared if item.name == canonical), None)
    if item is not None and item.mentioned and Requirement(item.text).specifier:
        remark = f"{item} without its version, which cannot be built here and which is only mentioned"
        return _replaced(attempt, item, item.name, remark)
    fixed = item is not None and is_exact(item)
    if attempt.wheels_from and not fixed and not any(one.startswith(f"{name}=") for one in attempt.later):
        # An early source is seldom made for the image's Python; a later one, or its wheel, is.
        return _without_source(allow_later(attempt, (name,)), name)
    if item is None:
        return _only_later(attempt, name, text)
    if not fixed:
        return _leave_out(attempt, name, "it cannot be built to learn what it needs", text)
    remark = f"{item} is installed as it is: it cannot be built here to learn what it needs"
    return _as_is(attempt, canonical, remark)


def _only_later(attempt: Attempt, name: str, text: str) -> Attempt | Lock:
    """What another package needs, and uv went back to a version that cannot be built: only later ones are left."""
    why = "it cannot be built to learn what it needs"
    match = re.search(rf"`{re.escape(name)}==([^`\s]+)`", text)
    above = f"{name}>{match[1]}" if match else ""
    if not above or above in attempt.above:
        return _leave_out(attempt, name, why, text)
    others = tuple(item for item in attempt.above if not item.startswith(f"{name}>"))
    remark = f"{above}: earlier versions of it cannot be built"
    return replace(_without_source(attempt, name), above=(*others, above), remarks=(*attempt.remarks, remark))


def _without_source(attempt: Attempt, name: str) -> Attempt:
    """Where other versions of it are looked at, whose wheel there may be."""
    return replace(attempt, built=tuple(other for other in attempt.built if other != name))


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
        named = tuple(_named(attempt, text))
        certain = named if len(named) == 1 and is_exact(named[0]) else ()
        return replace(unpinned(attempt, cause), conflict=Conflict(cause, named, certain, attempt))
    remark = f"{gone} is left out: {why}"
    return replace(
        attempt,
        declared=tuple(item for item in attempt.declared if item.name != canonical),
        left_out=(*attempt.left_out, remark),
        remarks=(*attempt.remarks, remark),
    )


def _allow_later(attempt: Attempt, name: str, published: str) -> Attempt | Lock:
    """The repository names a version that came after its last commit, or none before is for the image's Python.

    uv names the newest such version; for the Python's sake no newer one is taken than there has to be.
    """
    known = [item for item in attempt.later if item.startswith(f"{name}=")]
    if attempt.wheels_from and not known:
        return allow_later(attempt, (name,))
    day = (datetime.fromisoformat(published) + timedelta(days=1)).date().isoformat()
    if known and not known[-1].endswith(attempt.wheels_from or day):
        return unpinned(attempt, f"no version of {name} fits")
    remark = f"{name} is newer than the commit ({published}), because the repository asks for it"
    later = (*(item for item in attempt.later if item not in known), f"{name}={day}")
    if later == attempt.later:
        return unpinned(attempt, f"no version of {name} fits")
    return replace(attempt, later=later, remarks=(*attempt.remarks, remark))
