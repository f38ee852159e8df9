"""Comparing an expected and an actual document, without running anything of either.

Structure, types, shapes, element types, emptiness, places of NaN and ``requires_grad`` always have to
be the same; floating leaves may have a tolerance. Identity is not compared, only values.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence

from .comparison import Checkers, Comparison, Difference, Enough, Spread
from .document import Document
from .leaves import Leaf, leaves

__all__ = ["Difference", "Leaf", "Spread", "changed", "compare", "leaves", "spread"]


def compare(expected: Document, actual: Document, checkers: Optional[Checkers] = None) -> List[Difference]:
    """What differs; an empty list when the documents agree.

    Args:
        checkers: leaf path → ``{"kind": "exact"}``, ``{"kind": "allclose", "rtol": …, "atol": …}`` or
            ``{"kind": "ignore"}``; for sequences ``{"kind": "set"}`` (any order), for DataFrames
            ``{"kind": "dataframe"}`` (rows in any order, whatever the index), for texts
            ``{"kind": "text", "metric": "rouge_l", "at_least": 0.9}``.
            A leaf without one takes that of the nearest path above it, then
            that of ``"*"``, then exact. Paths are those of :func:`leaves` of the expected document.

    At most 20 differences are returned. A malformed actual document is a difference, never an error.
    """
    run = Comparison(expected, actual, checkers or {})
    try:
        run.pair(expected.tree, actual.tree, "")
    except Enough:
        pass
    except RecursionError:
        run.found.append(Difference("", "the documents are nested too deeply to compare"))
    return run.found


def spread(documents: Sequence[Document]) -> Dict[str, Spread]:
    """For each leaf of the first document: how far the others are from it at most."""
    result: Dict[str, Spread] = {}
    for other in documents[1:]:
        run = Comparison(documents[0], other, {}, result)
        try:
            run.pair(documents[0].tree, other.tree, "")
        except (Enough, RecursionError):
            continue
    return (
        {leaf.path: result.get(leaf.path, Spread(0.0, 0.0)) for leaf in leaves(documents[0])}
        if documents
        else {}
    )


def changed(before: Document, after: Document) -> List[str]:
    """Names of the parts of two dictionary documents whose values differ, in the order of ``before``."""
    names = []
    later = dict(after.tree["v"])
    run = Comparison(before, after, {})
    for key, item in before.tree["v"]:
        if key not in later:
            continue
        run.found, run.seen = [], set()
        try:
            run.pair(item, later[key], "")
        except Enough:
            pass
        if run.found:
            names.append(key)
    return names
