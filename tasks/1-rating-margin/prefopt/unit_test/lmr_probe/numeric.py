"""Comparing two equally shaped runs of numbers within a tolerance."""

from __future__ import annotations

import math
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from .leaves import COMPLEX, FLOATS, Numbers, numpy_for


class Tolerance(NamedTuple):
    """``|actual - expected| <= atol + rtol * |expected|``; both 0 means equal."""

    rtol: float = 0.0
    atol: float = 0.0


class Mismatch(NamedTuple):
    """Which elements differ. Errors are over elements that are finite on both sides."""

    number: int
    total: int
    first: int
    max_abs: float
    max_rel: float


def mismatch(expected: Numbers, actual: Numbers, tolerance: Tolerance) -> Optional[Mismatch]:
    """How two leaves of one type and shape differ; None when they agree.

    NaN agrees with NaN only and an infinity with the same infinity only, on whichever side it is.
    Tolerance applies to floating and complex leaves; integers, text and dates have to be equal.
    """
    width = 2 if expected.dtype in COMPLEX else 1
    if expected.dtype in FLOATS or expected.dtype in COMPLEX:
        module = numpy_for(len(expected.values))
        if module is not None:
            return _with_numpy(module, expected.values, actual.values, tolerance, width)
        return _plain(expected.values, actual.values, tolerance, width)
    wrong = [n for n, (e, a) in enumerate(zip(expected.values, actual.values)) if e != a]
    if not wrong:
        return None
    if isinstance(expected.values[0], bytes):
        return Mismatch(len(wrong), len(expected.values), wrong[0], math.nan, math.nan)
    pairs = [(float(expected.values[n]), float(actual.values[n])) for n in wrong]
    largest = max(abs(a - e) for e, a in pairs)
    relative = max((abs(a - e) / abs(e) if e else math.inf) for e, a in pairs)
    return Mismatch(len(wrong), len(expected.values), wrong[0], largest, relative)


def spread_of(first: Numbers, second: Numbers) -> Tuple[float, float]:
    """Largest absolute and relative difference; infinite where NaN or infinity do not agree."""
    found = mismatch(first, second, Tolerance())
    if found is None:
        return 0.0, 0.0
    only_finite = mismatch(first, second, Tolerance(0.0, math.inf))
    if only_finite is not None or math.isnan(found.max_abs):
        return math.inf, math.inf
    return found.max_abs, found.max_rel


def _scales(values: Sequence[float], width: int) -> Sequence[float]:
    """``|expected|`` for each number; for a complex one, of the number it is a part of."""
    if width == 1:
        return [abs(value) for value in values]
    result: List[float] = []
    for place in range(0, len(values), 2):
        size = math.hypot(values[place], values[place + 1])
        result.extend((size, size))
    return result


def _plain(
    expected: Sequence[float], actual: Sequence[float], tolerance: Tolerance, width: int
) -> Optional[Mismatch]:
    wrong: List[int] = []
    max_abs = max_rel = 0.0
    scales = _scales(expected, width)
    for place, (e, a) in enumerate(zip(expected, actual)):
        if e == a or (e != e and a != a):
            continue
        if not (math.isfinite(e) and math.isfinite(a)):
            wrong.append(place)
            continue
        error, scale = abs(a - e), scales[place]
        max_abs = max(max_abs, error)
        if math.isfinite(scale):
            max_rel = max(max_rel, error / scale if scale else math.inf)
        if not error <= tolerance.atol + (tolerance.rtol * scale if scale < math.inf else 0.0):
            wrong.append(place)
    if not wrong:
        return None
    elements = {place // width for place in wrong}
    return Mismatch(len(elements), len(expected) // width, wrong[0] // width, max_abs, max_rel)


def _with_numpy(
    numpy: Any, expected: Sequence[float], actual: Sequence[float], tolerance: Tolerance, width: int
) -> Optional[Mismatch]:
    e = numpy.asarray(expected, dtype=numpy.float64)
    a = numpy.asarray(actual, dtype=numpy.float64)
    with numpy.errstate(all="ignore"):
        same = (e == a) | (numpy.isnan(e) & numpy.isnan(a))
        if same.all():
            return None
        finite = numpy.isfinite(e) & numpy.isfinite(a)
        scale = numpy.abs(e)
        if width == 2:
            scale = numpy.repeat(numpy.hypot(e[0::2], e[1::2]), 2)
        error = numpy.where(finite & ~same, numpy.abs(a - e), 0.0)
        bound = tolerance.atol + numpy.where(numpy.isfinite(scale), tolerance.rtol * scale, 0.0)
        wrong = ~same & ~(finite & (error <= bound))
        places = numpy.flatnonzero(wrong)
        if not len(places):
            return None
        relative = numpy.where((error > 0) & numpy.isfinite(scale), error / scale, 0.0)
        elements = len(numpy.unique(places // width))
        first = int(places[0]) // width
        return Mismatch(elements, len(e) // width, first, float(error.max()), float(relative.max()))
