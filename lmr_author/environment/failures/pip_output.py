"""What pip and uv write when a package cannot be built: which package it is, and what its build said.

pip says only that "Getting requirements to build wheel did not run successfully"; why stands between "lines of output"
and "[end of output]".
"""

from __future__ import annotations

import re

FAILED_STEP = (
    r"(?:metadata-generation-failed|legacy-install-failure|subprocess-exited-with-error|Getting requirements to build"
    r" wheel|Failed (?:to build|building wheel)|setup\.py egg_info|did not run successfully)"
)
"""What pip and uv say when a build fails."""


def being_built(text: str) -> str:
    """The package that pip or uv was compiling, "" when none."""
    match = re.search(
        r"╰─> ([\w.-]+)\s*$|Failed building wheel for ([\w.-]+)|Failed to build [`']?([\w.-]+?)(?:==|`|'|\s*$)",
        text,
        re.M,
    )
    return next((group for group in match.groups() if group), "") if match else ""


def culprit(text: str) -> str:
    """The package that pip or uv was building, "" when they do not say."""
    name = being_built(text)
    if name and name != "See":
        return name
    unpacked = re.findall(r"/pip-install-\w+/([\w.-]+?)_[0-9a-f]{32}/", text)
    if unpacked:
        return str(unpacked[-1])
    names = re.findall(r"^\s*Collecting ([\w.-]+)", text, re.M)
    return names[-1] if names else ""


def inner_error(text: str) -> str:
    """The last error that the build itself tells, ``IsADirectoryError: …``; "" when there is none."""
    told = "\n".join(re.findall(r"lines? of output\]\n([\s\S]*?)\[end of output\]", text))
    compilers = re.findall(r"^\s*\S+:\d+:(?:\d+:)? (?:fatal )?error: (.*?)\s*$", told, re.M)
    if compilers:
        return str(compilers[0])[:200]
    errors = re.findall(r"^\s*((?:[\w.]+(?:Error|Exception|Exit)|error): .*?)\s*$", told, re.M)
    plain = [line for line in errors if not line.startswith(("error: Command ", "error: command "))]
    return (plain or errors)[-1][:200] if errors else ""
