"""Tolerances of floating-point results: by dtype, widened where the golden itself shows that it rounds more."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lmr_author.runtime.probe import compare
from lmr_author.runtime.probe.arrays import Spread, dtype_of, numbers
from lmr_author.runtime.probe.calling import VALUE
from lmr_author.runtime.probe.document import BadDocument, Document, walk
from lmr_author.runtime.probe.storing import put_numbers

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

NARROWING_FACTOR = 16.0
"""How much wider than the golden's largest rounding error a tolerance stays when it is narrowed."""
FEWEST_EPSILONS = 32.0
"""A narrowed tolerance in units of float32's precision, at least: a loop adds up less exactly than PyTorch does."""
FEWEST_NUMBERS = 8
"""Numbers that have to show how exact a golden is: one alone may be exact by chance."""

USUAL, SIZE, STEP = (
    "usual for its element type",
    "in proportion to its size",
    "below the effect of the change",
)
WIDENED = VARIES, ROUNDS = "golden runs differ", "float64 gives another result"
NARROWED = "the golden is more exact than its element type"
"""Reasons of a tolerance."""


@dataclass(frozen=True)
class Exactness:
    """Largest distance of a leaf from its value in double precision, largest element, and number of elements."""

    error: float
    size: float
    numbers: int


@dataclass(frozen=True)
class DerivedCheckers:
    """Tolerances of the floating-point leaves of an outcome; other leaves are compared exactly.

    Attributes:
        checkers: leaf path → ``{"kind": "allclose", "rtol": r, "atol": a, "reason": …}``.
        exact: leaf path → how exact the golden is there, where a run in float64 shows it.
    """

    checkers: dict[str, dict[str, Any]]
    exact: Mapping[str, Exactness] = field(default_factory=dict)


def derive(
    expected: Document,
    repeats: Sequence[Document],
    precise: Document | None = None,
    inputs: Document | None = None,
) -> DerivedCheckers:
    """Return how the floating-point leaves of an outcome are compared.

    Args:
        repeats: outcomes of golden replays in fresh processes.
        precise: the outcome for the same inputs as float64, where the golden accepts them.
        inputs: the recorded inputs. What is computed from single precision is no more precise, whatever its type.
    """
    spread = compare.spread([expected, *repeats])
    inputs, precise = inputs or Document({}, {}), precise or Document({}, {})
    nodes, before, in_float64 = (dict(walk(document.tree)) for document in (expected, inputs, precise))
    # A result is no more precise than the least precise input.
    loosest_input = max(BY_DTYPE.get(dtype_of(node), (0.0, 0.0)) for node in before.values())
    checkers: dict[str, dict[str, Any]] = {}
    exactness: dict[str, Exactness] = {}
    for leaf in compare.leaves(expected):
        usual = max(BY_DTYPE.get(leaf.dtype, BY_DTYPE["float64"]), loosest_input)
        values = numbers_of(expected, nodes[leaf.path])
        earlier = exact = None
        if before.get(leaf.path) and leaf.path.partition("[")[0] != VALUE:
            earlier = numbers_of(inputs, before[leaf.path])
        if _is_rounded(leaf, in_float64):
            exact = numbers_of(precise, in_float64[leaf.path])
        own, reason = in_proportion(usual, values, earlier)
        error = _rounding_error(values, exact, own)
        if own[1] < usual[1] and 1.0 < error < math.inf:
            # Hardly more than rounding: the leaf is zero, but for the last bits.
            own, reason = usual, USUAL
            error = _rounding_error(values, exact, own)
        varied = _by_spread(own, spread[leaf.path])
        # An error beyond all bounds is no rounding but another computation: other random numbers.
        factor = ROUNDING_FACTOR * error
        if not 1.0 < factor <= MOST_WIDENED:
            factor = 1.0
        rtol, atol = _plain(max(varied[0], own[0] * factor)), _plain(max(varied[1], own[1] * factor))
        if varied != own or factor > 1.0:
            reason = VARIES if varied != own else ROUNDS
        elif exact is not None and exact.shape == values.shape and error < math.inf:
            exactness[leaf.path] = _exactness(values, exact, spread[leaf.path])
        checkers[leaf.path] = {"kind": "allclose", "rtol": rtol, "atol": atol, "reason": reason}
    return DerivedCheckers(checkers, exactness)


def _is_rounded(leaf: compare.Leaf, in_float64: Mapping[str, Any]) -> bool:
    return leaf.dtype in ("float32", "float64") and dtype_of(in_float64.get(leaf.path)) == "float64"


def _plain(number: float) -> float:
    """Return a tolerance in two digits, as people write one."""
    return float(f"{number:.2g}")


def _exactness(values: Any, exact: Any, spread: Spread) -> Exactness:
    import numpy

    both = numpy.isfinite(values) & numpy.isfinite(exact)
    error = float(numpy.max(numpy.abs(values[both].astype("f8") - exact[both]), initial=0.0))
    size = float(numpy.max(numpy.abs(values[both]), initial=0.0))
    return Exactness(max(error, spread.max_abs), size, int(both.sum()))


def narrowed(
    calls: Sequence[tuple[Mapping[str, dict[str, Any]], Mapping[str, Exactness]]],
) -> list[dict[str, dict[str, Any]]]:
    """Return the checkers of several calls, with narrower tolerances where all calls show a more exact golden.

    An absolute tolerance of 1e-5 hides an effect of that size on weights of 0.2, which are exact to 1e-8. Another
    order of operations errs about as much as the golden does, so some of its errors are allowed.
    """
    import numpy

    by_path: dict[str, list[Exactness]] = {}
    for _, leaves in calls:
        for path, leaf in leaves.items():
            by_path.setdefault(path, []).append(leaf)
    fewest = FEWEST_EPSILONS * float(numpy.finfo("f4").eps)
    relative: dict[str, float] = {}
    for path, of_calls in by_path.items():
        if sum(leaf.numbers for leaf in of_calls) >= FEWEST_NUMBERS:
            largest = max((leaf.error / leaf.size for leaf in of_calls if leaf.size), default=0.0)
            relative[path] = max(NARROWING_FACTOR * largest, fewest)
    narrow = []
    for checkers, leaves in calls:
        own = dict(checkers)
        for path in leaves.keys() & relative.keys() & own.keys():
            atol = _plain(relative[path] * leaves[path].size)
            usual = own[path].get("reason") in (USUAL, SIZE, STEP)
            if usual and 0.0 < atol < own[path]["atol"]:
                own[path] = {**own[path], "atol": atol, "reason": NARROWED}
        narrow.append(own)
    return narrow


def in_proportion(usual: tuple[float, float], values: Any, before: Any) -> tuple[tuple[float, float], str]:
    """Return a tolerance in proportion to a leaf's numbers, or to how far the call changed them, and its reason.

    A learning rate of 1e-5 moves a weight by as much as the absolute tolerance of float32: any update would do.
    """
    import numpy

    size = float(numpy.max(numpy.abs(values[numpy.isfinite(values)]), initial=0.0))
    rtol, atol = usual
    if before is not None and before.shape == values.shape and values.dtype.kind == "f":
        change = numpy.abs(values - before)
        step = float(numpy.max(change[numpy.isfinite(change)], initial=0.0))
        if 0.0 < step < size:
            precision = 4.0 * float(numpy.finfo(values.dtype).eps)
            own = min(rtol, max(precision, 0.02 * step / size)), min(atol, 0.005 * step)
            return own, USUAL if own == usual else STEP
    if size <= 0.0:
        return usual, USUAL
    power = 10.0 ** math.floor(math.log10(size))
    # Large numbers round where they cancel; small ones are no less precise than others.
    factor = min(1e3, power / 10) if power >= 100 else max(1e-4, 10 * power) if power < 0.1 else 1.0
    return (rtol, atol * factor), USUAL if factor == 1.0 else SIZE


def numbers_of(document: Document, node: Any) -> Any:
    """Return the numbers of a leaf as an array; none where they cannot be read."""
    import numpy

    try:
        return numpy.asarray(numbers(document, node))
    except BadDocument:
        return numpy.zeros(0)


def _by_spread(own: tuple[float, float], spread: Spread) -> tuple[float, float]:
    if spread.max_rel <= own[0] or spread.max_abs <= own[1]:
        return own
    return (
        max(own[0], min(SPREAD_FACTOR * spread.max_rel, MOST_WIDENED * own[0])),
        max(own[1], min(SPREAD_FACTOR * spread.max_abs, MOST_WIDENED * own[1])),
    )


def in_double(inputs: Document, *, with_torch: bool = True) -> Document | None:
    """Return the same inputs with every float32 array and tensor as float64; None when there is none.

    ``with_torch``, its default element type becomes float64, so that what the function makes itself is as precise.
    """
    double = Document(copy.deepcopy(inputs.tree), dict(inputs.buffers), inputs.omitted)
    single = []
    for _, node in walk(double.tree):
        if isinstance(node, dict) and node.get("dtype") == "float32":
            single.append(node)
    if not single:
        return None
    for node in single:
        put_numbers(double, node, numbers_of(inputs, node).astype("<f8"))
    if with_torch:
        mode = double.tree.setdefault("@mode", {})
        mode.setdefault("dtype", "float64")
    return double


ROUNDING = 1e-15
"""Relative size of a rounding in double precision, a few times over."""
DIGITS = 6
"""A number with no more digits was written by somebody, perhaps as a limit: it stays what it is."""


def moved(inputs: Document, precise: Document | None) -> Document | None:
    """Return the same inputs in double precision, with their numbers moved by a rounding; None when there are none.

    Equal numbers stay equal, so that ties stay ties.
    """
    import numpy

    start = precise or inputs
    other = Document(copy.deepcopy(start.tree), dict(start.buffers), start.omitted)
    is_moved = False
    before = dict(walk(inputs.tree))
    for path, node in walk(other.tree):
        is_array = isinstance(node, dict) and dtype_of(node) == "float64" and node.get("$") != "complex"
        if path[:1] == "@" or not is_array:
            continue
        values = numbers_of(start, node)
        changed = numpy.where(_is_written(numbers_of(inputs, before[path])), values, _nudged(values))
        if not numpy.array_equal(changed, values, equal_nan=True):
            put_numbers(other, node, changed)
            is_moved = True
    return other if is_moved else None


def _nudged(values: Any) -> Any:
    import numpy

    with numpy.errstate(all="ignore"):
        sign = numpy.where(numpy.sin(1e6 * values) < 0, -1.0, 1.0)
        return values * (1 + ROUNDING * sign)


def _is_written(values: Any) -> Any:
    """Tell which numbers have few digits, in the precision that they have."""
    import numpy

    with numpy.errstate(all="ignore"):
        double = values.astype("f8")
        scale = 10.0 ** (DIGITS - 1 - numpy.floor(numpy.log10(numpy.abs(double))))
        short = (numpy.round(double * scale) / scale).astype(values.dtype)
    return ~numpy.isfinite(scale) | (short == values)


def _rounding_error(values: Any, exact: Any, own: tuple[float, float]) -> float:
    """Return how far numbers are from those of a run in float64, in units of their tolerance; 0.0 for unknown."""
    import numpy

    if exact is None or values.shape != exact.shape or not values.size:
        return 0.0
    with numpy.errstate(all="ignore"):
        same = (values == exact) | (numpy.isnan(values) & numpy.isnan(exact))
        rtol, atol = own
        distance = abs(exact - values.astype("f8"))
        error = numpy.where(same, 0.0, distance / (atol + rtol * abs(values.astype("f8"))))
    return float(numpy.nan_to_num(error, nan=math.inf).max())


def differs_in_double(
    expected: Document, precise: Document, checkers: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Return the parts that a golden which computes in float64 would not give again, as a correct rewrite may do."""
    import numpy

    rounded = Document(copy.deepcopy(precise.tree), dict(precise.buffers), precise.omitted)
    wanted = dict(walk(expected.tree))
    for path, node in walk(rounded.tree):
        if dtype_of(node) == "float64" and dtype_of(wanted.get(path)) == "float32":
            with numpy.errstate(all="ignore"):
                put_numbers(rounded, node, numbers_of(precise, node).astype("<f4"))
    return list(dict.fromkeys(difference.path for difference in compare.compare(expected, rounded, checkers)))
