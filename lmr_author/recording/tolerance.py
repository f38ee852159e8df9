"""Tolerances of floating-point results: by dtype, widened where the golden itself shows that it rounds more."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmr_author.probe import compare
from lmr_author.probe.document import BadDocument, Buffer, Document, walk

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

VARIES, ROUNDS = "golden runs differ", "float64 gives another result"


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
    """Return checkers for the floating-point leaves of an outcome, and which of them are wide.

    Args:
        expected: the recorded outcome.
        repeats: outcomes of golden replays in fresh processes.
        precise: the outcome for the same inputs as float64, where the golden accepts them.

    Returns:
        leaf path → ``{"kind": "allclose", "rtol": r, "atol": a}``. Leaves of other types are not named:
        they are compared exactly.
    """
    spread = compare.spread([expected, *repeats])
    errors = _rounding_errors(expected, precise) if precise is not None else {}
    checkers: dict[str, dict[str, Any]] = {}
    wide = []
    for leaf in compare.leaves(expected):
        own = BY_DTYPE.get(leaf.dtype, BY_DTYPE["float64"])
        varied = _by_spread(own, spread[leaf.path])
        # An error beyond all bounds is no rounding but another computation: other random numbers.
        factor = ROUNDING_FACTOR * errors.get(leaf.path, 0.0)
        factor = factor if 1.0 < factor <= MOST_WIDENED else 1.0
        rtol, atol = max(varied[0], own[0] * factor), max(varied[1], own[1] * factor)
        checkers[leaf.path] = {"kind": "allclose", "rtol": rtol, "atol": atol}
        if (rtol, atol) != own:
            wide.append(Widened(leaf.path, leaf.dtype, rtol, atol, VARIES if varied != own else ROUNDS))
    return checkers, tuple(wide)


def _by_spread(own: tuple[float, float], spread: compare.Spread) -> tuple[float, float]:
    """Widen a tolerance by what repeated runs differ."""
    if spread.max_rel <= own[0] or spread.max_abs <= own[1]:
        return own
    return (
        max(own[0], min(SPREAD_FACTOR * spread.max_rel, MOST_WIDENED * own[0])),
        max(own[1], min(SPREAD_FACTOR * spread.max_abs, MOST_WIDENED * own[1])),
    )


def in_double(inputs: Document) -> Document | None:
    """Return the same inputs with every float32 array and tensor as float64; None when there is none.

    torch's default element type becomes float64 too, so that what the function makes by itself is as precise.
    """
    import numpy

    found = Document(copy.deepcopy(inputs.tree), dict(inputs.buffers), inputs.omitted)
    single = [
        node for _, node in walk(found.tree) if isinstance(node, dict) and node.get("dtype") == "float32"
    ]
    if not single:
        return None
    for node in single:
        values = numpy.asarray(compare.numbers(inputs, node)).astype("<f8")
        node["dtype"] = "float64"
        if "data" in node:
            node["data"] = values.tolist()
        else:
            found.buffers[node["file"]] = Buffer("<f8", tuple(values.shape), values.tobytes())
    mode = found.tree.setdefault("@mode", {})
    mode.setdefault("dtype", "float64")
    return found


def _rounding_errors(expected: Document, precise: Document) -> dict[str, float]:
    """Return for float32 leaves how far they are from those of a run in float64, in units of the own tolerance."""
    import numpy

    other = dict(walk(precise.tree))
    found = {}
    for path, node in walk(expected.tree):
        if compare.dtype_of(node) != "float32" or compare.dtype_of(other.get(path)) != "float64":
            continue
        try:
            e, a = compare.numbers(expected, node), compare.numbers(precise, other[path])
        except BadDocument:
            continue
        if e.shape == a.shape and e.size:
            with numpy.errstate(all="ignore"):
                same = (e == a) | (numpy.isnan(e) & numpy.isnan(a))
                rtol, atol = BY_DTYPE["float32"]
                error = numpy.where(same, 0.0, abs(a - e.astype("f8")) / (atol + rtol * abs(e.astype("f8"))))
            found[path] = float(numpy.nan_to_num(error, nan=math.inf).max())
    return found
