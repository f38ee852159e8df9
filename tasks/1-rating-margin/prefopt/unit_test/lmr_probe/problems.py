"""Why a value cannot be stored."""

from __future__ import annotations

from typing import Iterable, NamedTuple

ITERATOR = "an iterator can be read only once; pass a list, or move the loop out of the function"
LOCAL = "it has no importable name; define it at the top level of a module of the repository"


class Problem(NamedTuple):
    """A part of an argument or a result that cannot be stored."""

    path: str
    type: str
    advice: str


class Unstorable(Exception):
    """Values that cannot be stored: all ``problems``, the first also as ``path``, ``type``, ``advice``."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        self.path, self.type, self.advice = self.problems[0]
        super().__init__("; ".join("%s: cannot store a %s (%s)" % problem for problem in self.problems))


class TooLarge(Exception):
    """A value over the size limit. ``path`` is its largest part; sizes in bytes."""

    def __init__(self, path: str, size: int, limit: int) -> None:
        self.path, self.size, self.limit = path, size, limit
        super().__init__("%s: %d bytes, more than the limit of %d" % (path or "value", size, limit))
