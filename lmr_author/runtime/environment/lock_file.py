"""The format of requirements.lock, and the checksum that shows whether a generated file was edited."""

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
"""A long list of requirements took three minutes on a busy machine with an empty cache."""


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
        text: the file: comments, and one requirement per line; no options or addresses.
        pinned: every package, including indirect ones, has an exact version.
        remarks: comments on the resolution, such as the reason why it is not pinned.
        left_out: dropped requirements, each with the reason.
        compiled: packages without a wheel, to be compiled at installation.
        failure: why it is not pinned; None if it is.
        cause: the same as text.
        blamed: requirements that the resolver names in a conflict.
        changes: changes of the repository's requirements.
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
        date: date limit of versions, as typed; None for the commit's date.
        python: Python version inside the image, if known better.
        base_image: replaces the Dockerfile's.
        force: overwrite an edited lock or Dockerfile.
        seconds: time limit; 0 uses the repository's exact requirements without the package index.
        extra: requirements in addition to the repository's, or replacing them.
        without: names of packages that are never installed.
        only_goal: pin only the imports of the goal files.
        goals: the goal files for only_goal, if nothing is masked yet.
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
    """Return a lock's requirements by normalised name, without comments, options and hashes."""
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
    except ValueError:  # an edited line
        return []


def command(lock: str, *words: str) -> str:
    return shlex.join(["lmr-author", "env", "lock", *options_of(lock), *words])


# generated files

_STAMP = re.compile(
    r"^# Checksum of what lmr-author wrote: ([0-9a-f]{16})\. A changed file is not overwritten\.\n", re.M
)


@dataclass(frozen=True)
class GeneratedFile:
    """A generated file.

    Attributes:
        changed: its content changed.
        copy: path of the former, edited file, relative to the task's ``authoring/removed/``; or "".
    """

    path: Path
    changed: bool
    copy: str = ""


def stamped(text: str) -> str:
    return f"{text}# Checksum of what lmr-author wrote: {_digest(text)}. A changed file is not overwritten.\n"


def is_edited(path: Path) -> bool:
    """Return whether a file exists but its checksum is missing or wrong."""
    text = files.read_text_or_empty(path)
    return path.is_file() and _STAMP.findall(text) != [_digest(_STAMP.sub("", text))]


def _digest(text: str) -> str:
    return files.sha256_bytes(text.encode("utf-8"))[:16]


def write(task: Task, path: Path, text: str) -> GeneratedFile:
    """Write a file of a task; keep a copy of an edited one in ``authoring/removed/``."""
    if path.is_file() and files.read_text_or_empty(path) == text:
        return GeneratedFile(path, changed=False)
    copy = task.move_to_removed(path, copy=True) if is_edited(path) else ""
    files.write_text(path, text)
    return GeneratedFile(path, changed=True, copy=copy)
