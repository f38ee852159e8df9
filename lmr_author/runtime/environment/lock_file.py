"""A requirements.lock: its content and lines; and the checksum that shows whether a generated file was edited."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from lmr_author.core import files
from lmr_author.core.task import Task
from lmr_author.runtime.environment.needs import DeclaredNeed
from lmr_author.runtime.environment.packages import package_of

SECONDS = 300.0
"""A long list of requirements, on a busy machine and with an empty cache, has taken three minutes."""


class UnpinnedReason(StrEnum):
    CONFLICT = "no versions fit together"
    NO_ANSWER = "the package index does not answer"
    NOT_CACHED = "the package index was not asked, and the cache lacks a package"
    SLOW = "the resolver took too long"
    STOPPED = "it was not asked, or interrupted"


@dataclass(frozen=True)
class Lock:
    """The content of ``requirements.lock``.

    Attributes:
        text: the file: comments, and one requirement a line; never an option or an address.
        pinned: every package, also indirect ones, has one exact version.
        remarks: how it was made, or why it is not pinned, and what else is worth a comment.
        left_out: requirements that were put aside, each with the reason.
        compiled: packages without a wheel, which are compiled when they are installed.
        failure: why it is not pinned; None when it is.
        cause: the same in words.
        blamed: requirements that the resolver names where no versions fit together.
        changes: what was changed of what the repository asks for.
    """

    text: str
    pinned: bool
    remarks: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    compiled: tuple[str, ...] = ()
    failure: UnpinnedReason | None = None
    cause: str = ""
    blamed: tuple[DeclaredNeed, ...] = ()
    changes: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        return "; ".join((*self.remarks, *self.left_out))


@dataclass(frozen=True)
class LockOptions:
    """The options of ``env lock``.

    Attributes:
        date: versions as of this moment, as given; None for the commit's.
        python: Python version inside the image, where it is known better.
        base_image: the image, in place of the Dockerfile's.
        force: overwrite a lock or a Dockerfile that somebody edited.
        seconds: time limit; with 0 no index is asked, and exact requirements are taken as the repository names them.
        extra: requirements beside the repository's, or in place of its own.
        without: names of packages that are not installed, whoever needs them.
        only_goal: pin only what the goal files import.
        goals: the goal files, where nothing is masked yet; with only_goal.
    """

    date: str | None = None
    python: str | None = None
    base_image: str | None = None
    force: bool = False
    seconds: float = SECONDS
    extra: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    only_goal: bool = False
    goals: tuple[str, ...] = ()

    def again(self) -> str:
        words = [word for text in self.extra for word in ("--with", text)]
        words += [word for name in self.without for word in ("--without", name)]
        return shlex.join([*words, *(["--only-goal"] if self.only_goal else [])])


def requirements(lock: str) -> dict[str, str]:
    """Return the requirements of a lock by normalised name, without comments, options and hashes."""
    by_name: dict[str, str] = {}
    for line in re.sub(r"\\\r?\n", " ", lock).splitlines():
        text = re.split(r"\s+--hash|\s+#", line.strip())[0].strip()
        if name := package_of(text):
            by_name[name] = text
    return by_name


def is_pinned(lock: str) -> bool:
    return all(re.search(r"==[^*]+$", line.split(";")[0].strip()) for line in requirements(lock).values())


def off_lock(lock: str, installed: Mapping[str, str]) -> tuple[str, ...]:
    """Return the packages of a pinned lock that an environment lacks or has in another version."""
    if not is_pinned(lock):
        return ()
    versions = {package_of(name): version for name, version in installed.items()}
    differing = []
    for name, text in requirements(lock).items():
        with suppress(InvalidRequirement):
            requirement = Requirement(text)
            there = versions.get(name, "")
            if not there and requirement.marker is None:
                differing.append(f"{name} is missing")
            elif there and not requirement.specifier.contains(there, prereleases=True):
                differing.append(f"{name} {there} instead of {str(requirement.specifier).removeprefix('==')}")
    return tuple(differing)


def _comment(lock: str, pattern: str) -> str:
    match = re.search(rf"^# {pattern}", lock, re.M)
    return match[1] if match else ""


def python(lock: str) -> str:
    return _comment(lock, r"for Python (3\.\d+)")


def options_of(lock: str) -> list[str]:
    try:
        return shlex.split(_comment(lock, r"options: (.*)$"))
    except ValueError:  # somebody edited the line
        return []


def command(lock: str, *words: str) -> str:
    return shlex.join(["lmr-author", "env", "lock", *options_of(lock), *words])


# generated files

_STAMP = re.compile(
    r"^# Checksum of what lmr-author wrote: ([0-9a-f]{16})\. A changed file is not overwritten\.\n", re.M
)


@dataclass(frozen=True)
class Written:
    """A file that was made.

    Attributes:
        changed: whether it was written: it may have been like this before.
        copy: of the former file, relative to the task's ``authoring/removed/``; "" when nobody had edited it.
    """

    path: Path
    changed: bool
    copy: str = ""


def stamped(text: str) -> str:
    return f"{text}# Checksum of what lmr-author wrote: {_digest(text)}. A changed file is not overwritten.\n"


def is_edited(path: Path) -> bool:
    """Return whether a file exists and is not as we wrote it: the checksum is absent, or is another text's."""
    text = files.read_text_or_empty(path)
    return path.is_file() and _STAMP.findall(text) != [_digest(_STAMP.sub("", text))]


def _digest(text: str) -> str:
    return files.sha256_bytes(text.encode("utf-8"))[:16]


def write(task: Task, path: Path, text: str) -> Written:
    """Write a file of a task. Of one that somebody has edited a copy is kept in ``authoring/removed/``."""
    if path.is_file() and files.read_text_or_empty(path) == text:
        return Written(path, changed=False)
    copy = task.move_to_removed(path, copy=True) if is_edited(path) else ""
    files.write_text(path, text)
    return Written(path, changed=True, copy=copy)
