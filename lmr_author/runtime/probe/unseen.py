"""Globals that a call may change: their changes are no part of its outcome, and are only named."""

from __future__ import annotations

import inspect
import json
from types import CodeType
from typing import Any, Dict, Set

from .encoding import TooLarge, Unstorable, encode

LARGEST = 64 * 1024
"""Largest global (bytes) that is looked at."""


def globals_now(function: Any) -> Dict[str, str]:
    """Return the globals that a function's code names and that hold plain data, each as text."""
    space: Dict[str, Any] = inspect.unwrap(function).__globals__
    found = {}
    for name in sorted(_names(inspect.unwrap(function).__code__)):
        value = space.get(name)
        if isinstance(value, (bool, int, float, str, list, dict, set, tuple)):
            try:
                document = encode(value, LARGEST)
            except (Unstorable, TooLarge):
                continue
            found[name] = json.dumps(document.tree) + repr(document.buffers)
    return found


def _names(code: CodeType) -> Set[str]:
    nested = [item for item in code.co_consts if isinstance(item, CodeType)]
    return set(code.co_names).union(*map(_names, nested))
