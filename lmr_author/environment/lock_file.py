"""A requirements.lock: its content and comments, its lines read and exchanged, and the checksum of what was written."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lmr_author.environment.base_images import BaseImage, asking, unmet
from lmr_author.environment.recipe import Declared, Recipe
from lmr_author.files import sha256_bytes
from lmr_author.texts import printable

SECONDS = 300.0
"""A long list of requirements, on a busy machine and with an empty cache, has taken three minutes."""
_LONGEST = 600
"""Characters of a comment in a lock."""
_STAMP = re.compile(
    r"^# Checksum of what lmr-author wrote: ([0-9a-f]{16})\. A changed file is not overwritten\.\n", re.M
)


@dataclass(frozen=True)
class Conflict:
    """The reason why no versions fit together: the resolver's words on one line, and the requirements that it names."""

    cause: str
    blamed: tuple[Declared, ...]


@dataclass(frozen=True)
class Lock:
    """The content of ``requirements.lock``.

    Attributes:
        text: the file: comments, and one requirement a line; never an option or an address.
        pinned: every package, also indirect ones, has one exact version.
        note: how it was made, or why it is not pinned.
        left_out: requirements that were put aside, each with the reason.
        yanked: versions in it that were withdrawn from the index.
        compiled: packages without a wheel, which are compiled when they are installed.
        conflict: why no versions fit together; None when that is not the reason.
        changes: what was changed of what the repository asks for.
        old: versions years older than the commit, where newer ones were available.
    """

    text: str
    pinned: bool
    note: str
    left_out: tuple[str, ...] = ()
    yanked: tuple[str, ...] = ()
    compiled: tuple[str, ...] = ()
    conflict: Conflict | None = None
    changes: tuple[str, ...] = ()
    old: tuple[str, ...] = ()

    @property
    def pins(self) -> list[str]:
        """Return its requirements, without comments and hashes."""
        lines = (line.rstrip(" \\") for line in self.text.splitlines())
        return [line for line in lines if line and not line.startswith(("#", " "))]

    @property
    def reason(self) -> str:
        """Return why it is not pinned."""
        return self.note.removeprefix("NOT pinned: ")

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return the note, a sentence each, without those of ``left_out``."""
        return tuple(part for part in self.note.split("; ") if part not in self.left_out)


@dataclass(frozen=True)
class LockOptions:
    """The options of ``env lock``.

    Attributes:
        date: versions as of this moment, as given; None for the commit's.
        python: Python version inside the image, where it is known better.
        base_image: the image, in place of the Dockerfile's.
        hashes: write the hash of each version's files.
        relax: where nothing fits, loosen what conflicts.
        offline: use what was asked before.
        force: overwrite a lock that somebody edited.
        dry_run: write nothing.
        seconds: time limit; with 0 no index is asked, and exact requirements are taken as the repository names them.
        without: names of packages that are not installed, whoever needs them.
        only_goal: pin only what the goal files import.
        from_python: an interpreter with which the code runs: its versions are taken.
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
    from_python: Path | None = None


def with_changes(made: Lock, changes: tuple[str, ...], recipe: Recipe, base: BaseImage) -> Lock:
    """Return a lock with more changes, and with the comments in its text that say what it is."""
    made = replace(made, changes=(*changes, *made.changes))
    comments = [f"CHANGED: {change}" for change in made.changes]
    comments += [*made.remarks, f"for Python {base.python}; PyTorch and CUDA are the base image's"]
    if facts := unmet(recipe, base.python):
        comments.append(f"{asking(facts)}, and this is for {base.python}")
    comments += [*made.left_out, *made.yanked, *made.old]
    lines = [f"# {_shortened(comment)}\n" for comment in comments]
    if made.compiled:
        # Whole, however long: what reads a lock takes the names from here.
        lines.append(f"# compiled when installed, there is no wheel: {', '.join(made.compiled)}\n")
    plain = "".join(line for line in made.text.splitlines(keepends=True) if not line.startswith("#"))
    return replace(made, text=stamped("".join(lines) + plain, before="(?=[^#])"))


def _shortened(comment: str) -> str:
    comment = printable(comment, len(comment) + 1)
    if len(comment) <= _LONGEST:
        return comment
    kept = comment[:_LONGEST].rpartition(" ")[0] or comment[:_LONGEST]
    return f"{kept} … (and {len(comment) - len(kept)} more characters)"


def stamped(text: str, before: str = "") -> str:
    """Return text with a checksum line: before the first line that starts with ``before``, by default at the end."""
    plain = _STAMP.sub("", text)
    line = f"# Checksum of what lmr-author wrote: {_digest(plain)}. A changed file is not overwritten.\n"
    place = re.search(rf"^{before}", plain, re.M) if before else None
    at = place.start() if place else len(plain)
    return plain[:at] + line + plain[at:]


def is_untouched(text: str) -> bool:
    """Return whether a file is as we wrote it: it has the checksum line, and the line is right."""
    return _STAMP.findall(text) == [_digest(_STAMP.sub("", text))]


def _digest(text: str) -> str:
    return sha256_bytes(text.encode("utf-8"))[:16]


def entries(lock: str) -> list[tuple[str, str]]:
    """Return the lines of a lock as (normalised name, text with the line's end); "" for a comment or an option."""
    found: list[tuple[str, str]] = []
    pending = ""
    for line in lock.splitlines(keepends=True):
        pending += line if line.endswith("\n") else f"{line}\n"
        if not line.lstrip().startswith("#") and line.rstrip().endswith("\\"):
            continue
        found.append((_name(pending), pending))
        pending = ""
    return [*found, (_name(pending), pending)] if pending else found


def held(lock: str) -> dict[str, str]:
    """Return the requirements of a lock by name, without comments, options and hashes: ``numpy==1.24.3``."""
    return {name: plain(text) for name, text in entries(lock) if name}


def requirements(lock: str) -> list[str]:
    """Return the requirements of a lock, sorted."""
    return sorted(plain(text) for name, text in entries(lock) if name)


def is_pinned(lock: str) -> bool:
    """Return whether every line of a lock names one version."""
    return all(re.search(r"==[^*]+$", line.split(";")[0].strip()) for line in requirements(lock))


def compiled(lock: str) -> list[str]:
    """Return the packages that a lock says are compiled, having no wheel."""
    match = re.search(r"^# compiled when installed, there is no wheel: (.*)$", lock, re.M)
    return re.findall(r"[\w.-]+", match[1]) if match else []


def python(lock: str) -> str:
    """Return the Python that a lock says it is for, as ``3.8``; "" when it does not say."""
    said = re.search(r"^# for Python (3\.\d+)", lock, re.M)
    return said[1] if said else ""


def with_requirement(lock: str, line: str) -> str:
    """Return a lock with a requirement, in place of the one of the same name, else in its alphabetical place."""
    name = canonicalize_name(Requirement(line).name)
    made: list[str] = []
    placed = False
    for other, text in entries(lock):
        if other and not placed and other >= name:
            made.append(f"{line}\n")
            placed = True
        if other != name:
            made.append(text)
    return "".join(made if placed else [*made, f"{line}\n"])


def without_requirement(lock: str, name: str, reason: str) -> str:
    """Return a lock without a requirement; a comment says why."""
    return "".join(
        f"# {text.splitlines()[0].strip(chr(92) + ' ')} is left out: {reason}\n" if other == name else text
        for other, text in entries(lock)
    )


def plain(text: str) -> str:
    """Return an entry's requirement alone, with a marker if it has one."""
    return re.split(r"\s+--hash|\s*\\\n|\s+#", text.strip())[0].strip()


def _name(text: str) -> str:
    said = plain(text)
    if not said or said.startswith(("#", "-")):
        return ""
    try:
        return canonicalize_name(Requirement(said).name)
    except InvalidRequirement:
        return ""
