"""The lines of a requirements.lock, read and exchanged: pure functions of its text."""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name


def with_requirement(lock: str, line: str) -> str:
    """A lock with a requirement, in place of what it has of the same name, else in its alphabetical place."""
    name = canonicalize_name(Requirement(line).name)
    made: list[str] = []
    placed = False
    for held, text in entries(lock):
        if held and not placed and held >= name:
            made.append(f"{line}\n")
            placed = True
        if held != name:
            made.append(text)
    return "".join(made if placed else [*made, f"{line}\n"])


def without_requirement(lock: str, name: str, reason: str) -> str:
    """A lock without a requirement; a comment says why."""
    return "".join(
        f"# {text.splitlines()[0].strip(chr(92) + ' ')} is left out: {reason}\n" if held == name else text
        for held, text in entries(lock)
    )


def entries(lock: str) -> list[tuple[str, str]]:
    """The lines of a lock as (normalised name, text with the line's end); "" for a comment or an option."""
    found: list[tuple[str, str]] = []
    pending = ""
    for line in lock.splitlines(keepends=True):
        pending += line if line.endswith("\n") else f"{line}\n"
        if not line.lstrip().startswith("#") and line.rstrip().endswith("\\"):
            continue
        found.append((_name(pending), pending))
        pending = ""
    return [*found, (_name(pending), pending)] if pending else found


def requirements(lock: str) -> list[str]:
    """The requirements of a lock, without comments, options and hashes, sorted."""
    return sorted(plain(text) for name, text in entries(lock) if name)


def pins(lock: str) -> list[tuple[str, str]]:
    """The requirements of a lock that name one version, as (normalised name, ``name==version``)."""
    exact = ((name, plain(text).partition(";")[0].strip()) for name, text in entries(lock) if name)
    return [(name, text) for name, text in exact if "==" in text]


def plain(text: str) -> str:
    """An entry's requirement alone: ``numpy==1.24.3``, with a marker if it has one."""
    return re.split(r"\s+--hash|\s*\\\n|\s+#", text.strip())[0].strip()


def _name(text: str) -> str:
    said = plain(text)
    if not said or said.startswith(("#", "-")):
        return ""
    try:
        return canonicalize_name(Requirement(said).name)
    except InvalidRequirement:
        return ""
