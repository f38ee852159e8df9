"""How a recording's parts are compared, beside what is usual for their element types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmr_author.authoring.recording.tolerance import BY_DTYPE, MOST_WIDENED, in_proportion, numbers_of
from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task.recording import Recording
from lmr_author.runtime.probe import compare
from lmr_author.runtime.probe.arrays import dtype_of
from lmr_author.runtime.probe.calling import GRAD
from lmr_author.runtime.probe.checking import load
from lmr_author.runtime.probe.document import BadDocument, Document, walk
from lmr_author.runtime.probe.outcome import as_written

Tolerance = tuple[float, float]
"""Relative and absolute."""

_NAMED = {compare.DEFAULT: "every part that is not named", compare.GRADS: ".grad of every tensor"}


@dataclass(frozen=True)
class ComparedPart:
    """How a part of the outcome is compared in some cases.

    Attributes:
        path: ``*`` for every part without a checker of its own.
        tolerance: the widest of the cases; None for other kinds than ``allclose``.
        usual: the widest of its element types; None where it holds for no floating-point part.
        reason: "" where the annotator chose it without one.
    """

    path: str
    kind: str
    tolerance: Tolerance | None
    usual: Tolerance | None
    reason: str
    cases: tuple[str, ...]

    @property
    def is_weak(self) -> bool:
        """True for what is no evidence: a part that is not compared, or a tolerance far from its type's own."""
        if self.kind == "ignore":
            return not (
                self.path in (compare.GRADS,) or self.path.startswith(GRAD) or self.path.endswith(".grad")
            )
        if self.tolerance is None or self.usual is None:
            return False
        return any(own > MOST_WIDENED * usual for own, usual in zip(self.tolerance, self.usual, strict=True))

    @property
    def named(self) -> str:
        return _NAMED.get(self.path) or as_written(self.path)

    @property
    def in_words(self) -> str:
        if self.kind == "ignore":
            return f"{self.named} is not compared"
        return f"{self.named} is compared with {in_numbers(self.tolerance)}, where {in_numbers(self.usual)} is usual"


def how(kind: str, tolerance: Tolerance | None) -> str:
    return "not compared" if kind == "ignore" else in_numbers(tolerance) or kind


def how_each(checkers: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return in words how the parts of a case are compared, each way once."""
    ways = []
    for checker in checkers.values():
        kind = str(checker.get("kind"))
        ways.append(how(kind, _tolerance(checker) if kind == "allclose" else None))
    return tuple(dict.fromkeys(ways))


def in_numbers(tolerance: Tolerance | None) -> str:
    return f"rtol {tolerance[0]:.2g}, atol {tolerance[1]:.2g}" if tolerance else ""


def compared_parts(folder: Path, recording: Recording) -> tuple[ComparedPart, ...]:
    """Return how the parts of all cases are compared: one entry for each part and kind, weak ones first.

    Args:
        folder: the recording's folder.
    """
    parts: dict[tuple[str, str], ComparedPart] = {}
    for case in recording.cases:
        for part in _of_case(folder, case.name, case.checkers):
            key = part.path, part.kind
            parts[key] = _merged(parts[key], part) if key in parts else part
    return tuple(sorted(parts.values(), key=lambda part: not part.is_weak))


def _merged(one: ComparedPart, other: ComparedPart) -> ComparedPart:
    # The case whose tolerance is farthest from the usual one speaks for all.
    widest = max((one, other), key=lambda part: (part.is_weak, part.tolerance or (0.0, 0.0)))
    return replace(widest, cases=(*one.cases, *other.cases))


def _of_case(folder: Path, name: str, checkers: Mapping[str, Mapping[str, Any]]) -> Iterator[ComparedPart]:
    try:
        place = str(files.inside(folder, name))
        expected, inputs = load(place, "expected"), load(place, "inputs")
    except (BadDocument, LmrError):  # the part is shown, with float32's tolerance for its own
        expected, inputs = Document({"value": 0.0}, {}), Document({}, {})
    usual = _usual(expected, inputs)
    for path, checker in checkers.items():
        kind, tolerance = str(checker.get("kind")), None
        reason = str(checker.get("reason") or "")
        if kind == "allclose":
            tolerance = _tolerance(checker)
        held = [usual[leaf] for leaf in usual if _holder(leaf, checkers) == path]
        loosest = (max(rtol for rtol, _ in held), max(atol for _, atol in held)) if held else None
        yield ComparedPart(
            path, kind, tolerance, loosest, "" if reason == compare.CHOSEN else reason, (name,)
        )


def _usual(expected: Document, inputs: Document) -> dict[str, Tolerance]:
    """Return the usual tolerance of each floating-point part, wider for large numbers, as `record` has it."""
    loosest = max(
        (BY_DTYPE.get(dtype_of(node), (0.0, 0.0)) for _, node in walk(inputs.tree)), default=(0.0, 0.0)
    )
    nodes, usual = dict(walk(expected.tree)), {}
    for leaf in compare.leaves(expected):
        own = max(BY_DTYPE.get(leaf.dtype, BY_DTYPE["float64"]), loosest)
        (_, atol), _ = in_proportion(own, numbers_of(expected, nodes[leaf.path]), None)
        usual[leaf.path] = own[0], max(own[1], atol)
    return usual


def _holder(path: str, checkers: Mapping[str, Any]) -> str:
    """Return the path of the checker that holds for a part: its own, or of the nearest part above."""
    while path and path not in checkers:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return path or compare.DEFAULT


def checker_of(path: str, checkers: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the checker of a part; an empty one for an exact comparison."""
    return checkers.get(_holder(path, checkers), {})


def _tolerance(checker: Mapping[str, Any]) -> Tolerance:
    return _number(checker.get("rtol")), _number(checker.get("atol"))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
