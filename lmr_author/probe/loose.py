"""Comparing items in any order, where the annotator says that the order is free."""

from __future__ import annotations

from typing import Any, Callable, List, Sequence

MOST_UNORDERED = 2000
"""Longer sequences are compared in order: matching each with each would take too long."""


def unmatched(expected: Sequence[Any], actual: Sequence[Any], alike: Callable[[Any, Any], bool]) -> List[int]:
    """Places of expected items that have no partner of their own among the actual ones, in whatever order."""
    left = list(actual)
    missing = []
    for place, item in enumerate(expected):
        found = next((number for number, other in enumerate(left) if alike(item, other)), None)
        if found is None:
            missing.append(place)
        else:
            del left[found]
    return missing
