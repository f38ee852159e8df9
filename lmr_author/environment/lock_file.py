"""The text of a requirements.lock: reading and exchanging its lines, and the checksum of what was written."""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lmr_author.files import sha256_bytes

_STAMP = re.compile(
    r"^# Checksum of what lmr-author wrote: ([0-9a-f]{16})\. A changed file is not overwritten\.\n", re.M
)


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


def pins(lock: str) -> list[str]:
    """Return the requirements of a lock that name one version, as ``name==version``."""
    exact = (text.partition(";")[0].strip() for text in requirements(lock))
    return [text for text in exact if "==" in text]


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
