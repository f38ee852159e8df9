"""A requirements.lock: its content and comments, and its lines read."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from packaging.requirements import InvalidRequirement, Requirement

from lmr_author.runtime.environment.needs import DeclaredNeed
from lmr_author.runtime.environment.packages import package_of

SECONDS = 300.0
"""A long list of requirements, on a busy machine and with an empty cache, has taken three minutes."""


class UnpinnedReason(StrEnum):
    """Why a lock is not pinned."""

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
        """Return those that the next command has to repeat, as typed."""
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
    """Return whether every line of a lock names one version."""
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
    """Return the Python that a lock says it is for, as ``3.8``; "" when it does not say."""
    return _comment(lock, r"for Python (3\.\d+)")


def options_of(lock: str) -> list[str]:
    try:
        return shlex.split(_comment(lock, r"options: (.*)$"))
    except ValueError:  # somebody edited the line
        return []


def command(lock: str, *words: str) -> str:
    """Return the command that makes a lock again with more options, as typed."""
    return shlex.join(["lmr-author", "env", "lock", *options_of(lock), *words])
