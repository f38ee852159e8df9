"""Comparing documents: an expected outcome with another one, and several with one another."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .arrays import Spread, dtype_of, is_floating
from .comparison import DEFAULT as DEFAULT
from .comparison import GRADS as GRADS
from .comparison import Checkers, Comparison, Difference
from .comparison import describe as describe
from .document import Document, walk
from .sides import Stored

CHOSEN = "as the annotator said"
"""Reason of a checker that was chosen by ``--check``."""


class Leaf(NamedTuple):
    path: str
    dtype: str


def compare(expected: Document, actual: Document, checkers: Optional[Checkers] = None) -> List[Difference]:
    """List the differences, at most :data:`.comparison.MOST`; an empty list when the documents agree.

    A malformed actual document is a difference, never an error. ``checkers``: see :class:`.comparison.Comparison`.
    """
    try:
        return Comparison(Stored(expected), Stored(actual), checkers).run(expected.tree, actual.tree)
    except Exception as error:  # who wrote it may have made it so
        return [Difference("", "cannot be compared: %s: %s" % (type(error).__name__, error))]


def leaves(document: Document) -> List[Leaf]:
    """List the leaves whose comparison may have a tolerance."""
    return [Leaf(path, dtype_of(node)) for path, node in walk(document.tree) if is_floating(dtype_of(node))]


def spread(documents: Sequence[Document]) -> Dict[str, Spread]:
    """Return for each leaf of the first document the largest distance of the others from it."""
    result = {leaf.path: Spread() for leaf in leaves(documents[0])}
    for other in documents[1:]:
        _Distances(documents[0], other, result).run(documents[0].tree, other.tree)
    return result


class _Distances(Comparison):
    """Compares two documents, and notes how far their leaves are apart instead of their differences."""

    def __init__(self, expected: Document, actual: Document, spreads: Dict[str, Spread]) -> None:
        super().__init__(Stored(expected), Stored(actual))
        self.spreads = spreads

    def differ(self, path: str, message: str) -> None:
        pass

    def mismatch(self, found: Tuple[str, Spread], path: str, first: str, checker: Mapping[str, Any]) -> None:
        if first in self.spreads:
            self.spreads[first] = Spread(*map(max, found[1], self.spreads[first]))
