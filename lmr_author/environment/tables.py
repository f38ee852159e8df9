"""Values of TOML, YAML and JSON that may be anything: of the wanted kind, else empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def table(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A table below a key."""
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """A list."""
    return value if isinstance(value, list) else []


def strings(value: object) -> list[str]:
    """The strings of a list; nothing else is turned into text (an alias bomb in YAML would explode)."""
    return [item for item in items(value) if isinstance(item, str)]


def text(value: object) -> str:
    """A string."""
    return value if isinstance(value, str) else ""


def extras(value: Mapping[str, Any]) -> str:
    """``extras = ["a", "b"]`` as ``[a,b]``."""
    names = ",".join(strings(value.get("extras")))
    return f"[{names}]" if names else ""
