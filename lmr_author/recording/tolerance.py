"""Tolerances of floating-point results: by dtype, widened where the golden itself shows that it rounds more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmr_author.probe import compare
from lmr_author.probe.codec import Document
from lmr_author.recording.precision import excess

BY_DTYPE: Mapping[str, tuple[float, float]] = {
    "float64": (1e-7, 1e-9),
    "complex128": (1e-7, 1e-9),
    "float32": (1.3e-6, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
}
"""Relative and absolute tolerance by dtype: those of ``torch.testing.assert_close``, float64's absolute one
widened from 1e-7 relative to what differing BLAS builds need."""

SPREAD_FACTOR = 10.0
"""How much wider than the widest difference between golden runs a tolerance is."""

ROUNDING_FACTOR = 4.0
"""How much wider than the golden's own rounding error a tolerance is: another order of operations errs elsewhere."""

MOST_WIDENED = 100.0
"""How much wider than its dtype's a tolerance becomes at most: what varies more is random, not rounded, and
is rejected instead of being waved through."""


@dataclass(frozen=True)
class Widened:
    """A tolerance that is wider than its element type's, and what showed that it has to be."""

    path: str
    dtype: str
    rtol: float
    atol: float
    reason: str


def derive(
    expected: Document, repeats: Sequence[Document], precise: Document | None = None
) -> tuple[dict[str, dict[str, Any]], tuple[Widened, ...]]:
    """Checkers for the floating-point leaves of an outcome, and which of them are wide.

    Args:
        expected: the recorded outcome.
        repeats: outcomes of golden replays in fresh processes.
        precise: the outcome for the same inputs as float64, where the golden accepts them.

    Returns:
        leaf path → ``{"kind": "allclose", "rtol": r, "atol": a}``. Leaves of other types are not named:
        they are compared exactly.
    """
    spread = compare.spread([expected, *repeats])
    errors = excess(expected, precise, BY_DTYPE) if precise is not None else {}
    checkers: dict[str, dict[str, Any]] = {}
    wide = []
    for leaf in compare.leaves(expected):
        own = BY_DTYPE.get(leaf.dtype, BY_DTYPE["float64"])
        varied = _by_spread(own, spread.get(leaf.path, compare.Spread(0.0, 0.0)))
        rounded = _by_rounding(own, errors.get(leaf.path, 0.0))
        rtol, atol = max(varied[0], rounded[0]), max(varied[1], rounded[1])
        checkers[leaf.path] = {"kind": "allclose", "rtol": rtol, "atol": atol}
        if (rtol, atol) != own:
            reason = "golden runs differ" if varied != own else "float64 gives another result"
            wide.append(Widened(leaf.path, leaf.dtype, rtol, atol, reason))
    return checkers, tuple(wide)


def _by_spread(own: tuple[float, float], spread: compare.Spread) -> tuple[float, float]:
    """Widened by what repeated runs differ."""
    if spread.max_rel <= own[0] or spread.max_abs <= own[1]:
        return own
    return (
        max(own[0], min(SPREAD_FACTOR * spread.max_rel, MOST_WIDENED * own[0])),
        max(own[1], min(SPREAD_FACTOR * spread.max_abs, MOST_WIDENED * own[1])),
    )


def _by_rounding(own: tuple[float, float], error: float) -> tuple[float, float]:
    """Widened by the error against float64. One beyond all bounds is another computation: other random numbers."""
    factor = ROUNDING_FACTOR * error
    if factor <= 1.0 or factor > MOST_WIDENED:
        return own
    return own[0] * factor, own[1] * factor
