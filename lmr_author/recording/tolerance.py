"""Tolerances of floating-point results: by dtype, widened where repeated runs of the golden show a spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmr_author.probe import compare
from lmr_author.probe.codec import Document

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

MOST_WIDENED = 100.0
"""How much wider than its dtype's a tolerance becomes at most: what varies more is random, not rounded, and
is rejected instead of being waved through."""


def derive(expected: Document, repeats: Sequence[Document]) -> dict[str, dict[str, Any]]:
    """Checkers for the floating-point leaves of an outcome.

    Args:
        expected: the recorded outcome.
        repeats: outcomes of golden replays in fresh processes.

    Returns:
        leaf path → ``{"kind": "allclose", "rtol": r, "atol": a}``. Leaves of other types are not named:
        they are compared exactly.
    """
    spread = compare.spread([expected, *repeats])
    checkers: dict[str, dict[str, Any]] = {}
    for leaf in compare.leaves(expected):
        rtol, atol = BY_DTYPE.get(leaf.dtype, BY_DTYPE["float64"])
        absolute, relative = spread.get(leaf.path, compare.Spread(0.0, 0.0))
        if relative > rtol and absolute > atol:
            rtol, atol = (
                max(rtol, min(SPREAD_FACTOR * relative, MOST_WIDENED * rtol)),
                max(atol, min(SPREAD_FACTOR * absolute, MOST_WIDENED * atol)),
            )
        checkers[leaf.path] = {"kind": "allclose", "rtol": rtol, "atol": atol}
    return checkers
