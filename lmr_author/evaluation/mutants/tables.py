"""The tables of ``operators.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("operators.toml").read_text("utf-8"))
WORDS: dict[str, frozenset[str]] = {name: frozenset(text.split()) for name, text in TABLES["words"].items()}
"""Names of functions, methods and keywords, by what they have in common."""
DIMENSIONS: dict[str, frozenset[str]] = {
    name: frozenset(text.split()) for name, text in TABLES["dimensions"].items()
}
"""Functions by the dimension that they work along when none is named."""
OPPOSITES: dict[str, str] = dict(pair.split(":") for pair in WORDS["opposites"])
