"""Dependencies as poetry writes them, in PEP 508 form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lmr_author.environment import tables


def as_requirements(name: str, value: object, *, optional: bool = False) -> list[str]:
    """A dependency of poetry in PEP 508 form: none when it is optional, several for several Pythons."""
    if isinstance(value, list):
        return [line for one in value for line in as_requirements(name, one, optional=optional)]
    if not isinstance(value, dict):
        return [f"{name}{as_specifier(value)}"]
    if value.get("optional") and not optional:
        return []
    for kind in ("git", "url", "path"):
        if kind in value:
            prefix = "git+" if kind == "git" and not str(value[kind]).startswith("git+") else ""
            return [f"{name} @ {prefix}{value[kind]}"]
    return [f"{name}{tables.extras(value)}{as_specifier(value.get('version'))}{_marker(value)}"]


def _marker(value: Mapping[str, Any]) -> str:
    """``markers = …`` and ``python = …`` of a dependency as a marker of PEP 508."""
    parts = [tables.text(value.get("markers"))]
    for part in filter(None, as_specifier(value.get("python")).split(",")):
        match = re.fullmatch(r"([<>=!]+)(\d+\.\d+)(?:\.\d+)*", part)
        if match:
            parts.append(f"python_version {match[1]} '{match[2]}'")
    text = " and ".join(part for part in parts if part)
    return f"; {text}" if text else ""


def as_specifier(value: object) -> str:
    """``^1.2`` and ``~1.2`` (python-poetry.org/docs/dependency-specification) as PEP 440 specifiers."""
    parts = []
    for part in str(value or "*").partition("||")[0].split(","):
        part = part.strip()
        match = re.fullmatch(r"([\^~]?)\s*(\d+(?:\.\d+)*)([a-z]+\d*)?", part)
        if part in ("", "*"):
            continue
        if match is None:
            parts.append(re.sub(r"^=(?==)?", "==", part) if part.startswith("=") else part)
        elif match[1] == "":
            parts.append(f"=={match[2]}{match[3] or ''}")
        else:
            parts.append(f">={match[2]}{match[3] or ''},<{_next(match[2], caret=match[1] == '^')}")
    return ",".join(parts)


def _next(version: str, *, caret: bool) -> str:
    """First version that ``^version`` (or ``~version``) no longer allows."""
    numbers = [int(part) for part in version.split(".")]
    place = (
        next((i for i, number in enumerate(numbers) if number), len(numbers) - 1)
        if caret
        else min(1, len(numbers) - 1)
    )
    return ".".join(map(str, [*numbers[:place], numbers[place] + 1]))
