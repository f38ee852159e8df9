"""Recorded outcomes that show little: nothing, zeros, one constant, the same in all cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lmr_author.authoring.recording.checkers import checker_of
from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task.recording import Case, Recording
from lmr_author.runtime.probe.arrays import dtype_of, numbers
from lmr_author.runtime.probe.checking import load
from lmr_author.runtime.probe.document import BadDocument, Document, walk


def empty_outcomes(folder: Path, recording: Recording) -> dict[str, str]:
    """Return the cases whose outcome is nothing, only zeros or one constant, with what it is.

    Args:
        folder: the recording's folder.
    """
    found = {}
    for case in recording.cases:
        if case.outcome == "returned" and (what := _empty_outcome(folder, case)):
            found[case.name] = what
    return found


def _empty_outcome(folder: Path, case: Case) -> str:
    try:
        document = load(str(files.inside(folder, case.name)), "expected")
        values = list(_values(document, case))
    except (BadDocument, LmrError):
        return ""
    if not values:
        return "nothing"
    if any(value != values[0] for value in values):
        return ""
    if values[0] == 0:
        return "only zeros"
    return f"only {values[0]:.6g}" if len(values) > 1 and isinstance(values[0], int | float) else ""


def _values(document: Document, case: Case) -> Iterator[object]:
    """Yield the numbers and texts of the compared parts; of an array at most two, different ones if it has any."""
    import numpy

    pairs = set()
    for path, node in walk(document.tree):
        if isinstance(node, dict) and node.get("$", "dict") == "dict":
            pairs.add(path)
        if path.startswith("@") or checker_of(path, case.checkers).get("kind") == "ignore":
            continue
        if dtype_of(node):
            flat = numpy.asarray(numbers(document, node)).reshape(-1)
            yield from flat[:2].tolist() if (flat[:1] == flat).all() else ("different", "numbers")
        elif isinstance(node, str):
            if path not in pairs:  # the key of a dictionary has the path of the dictionary
                yield node
        elif isinstance(node, int):
            yield node
        elif isinstance(node, dict) and node.get("$", "dict") not in _CONTAINERS:
            yield node["$"]


_CONTAINERS = ("list", "tuple", "dict", "set", "frozenset", "object", "ref")


def outcome_doubts(empty: Mapping[str, str], cases: Sequence[Case]) -> Iterator[str]:
    """Yield why the outcomes of most cases show little.

    Args:
        empty: what :func:`empty_outcomes` found.
    """
    if 2 * len(empty) > len(cases):
        what = " or ".join(dict.fromkeys(empty.values()))
        yield f"{len(empty)} of {len(cases)} cases expect {what}"
    expected = {
        tuple(sorted((name, digest) for name, digest in case.files.items() if name.startswith("expected")))
        for case in cases
    }
    if len(cases) > 1 and len(expected) == 1:
        yield f"all {len(cases)} cases expect the same"
