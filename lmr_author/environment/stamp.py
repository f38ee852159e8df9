"""A checksum line in a file that we write, so that a later command knows whether somebody edited it."""

from __future__ import annotations

import re

from lmr_author.files import sha256_bytes

_LINE = re.compile(
    r"^# Checksum of what lmr-author wrote: ([0-9a-f]{16})\. A changed file is not overwritten\.\n", re.M
)


def stamped(text: str, before: str = "") -> str:
    """Text with the line: before the first line that starts with ``before``, by default at the end."""
    plain = unstamped(text)
    line = f"# Checksum of what lmr-author wrote: {_digest(plain)}. A changed file is not overwritten.\n"
    place = re.search(rf"^{before}", plain, re.M) if before else None
    at = place.start() if place else len(plain)
    return plain[:at] + line + plain[at:]


def unstamped(text: str) -> str:
    """Text without the line."""
    return _LINE.sub("", text)


def is_untouched(text: str) -> bool:
    """Whether a file is as we wrote it: it has the line, and the line is right."""
    found = _LINE.findall(text)
    return found == [_digest(unstamped(text))]


def _digest(text: str) -> str:
    return sha256_bytes(text.encode("utf-8"))[:16]
