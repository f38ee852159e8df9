"""The numbers of a document's leaves and their differences."""

from __future__ import annotations

import cmath
import math
from typing import Any, NamedTuple, Optional, Tuple

from .document import BadDocument, Document, is_complex

FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def is_floating(dtype: str) -> bool:
    """Tell whether numbers of a type, in any byte order, may have a tolerance."""
    return dtype in FLOATS or dtype[:2] in ("<f", ">f", "<c", ">c")


def native(dtype: str) -> str:
    """Return the name of an element type without its byte order."""
    return _NATIVE.get(dtype[1:], dtype[1:]) if dtype[:1] == ">" else dtype


_NATIVE = {"f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128"}
_NATIVE.update(
    {"%s%d" % (kind[0], size): kind + str(8 * size) for kind in ("int", "uint") for size in (2, 4, 8)}
)


class Spread(NamedTuple):
    """The largest differences between the numbers of two leaves."""

    max_abs: float = 0.0
    max_rel: float = 0.0


def dtype_of(node: Any) -> str:
    """Return the element type of a numeric leaf; "" for other nodes."""
    if not isinstance(node, dict):
        return "float64" if isinstance(node, float) else ""
    return "complex128" if node.get("$") == "complex" else str(node.get("dtype", ""))


def numbers(document: Document, node: Any) -> Any:
    """Return the numbers of a leaf as an array of numpy. Raises BadDocument."""
    import numpy

    try:
        if isinstance(node, float):
            return numpy.float64(node)
        if node["$"] == "complex":
            return numpy.complex128(complex(*node["v"]))
        kind = node["dtype"]
        if "data" in node:
            dtype = "float32" if kind == "bfloat16" else "float64" if is_complex(kind) else kind
            with numpy.errstate(over="ignore"):  # a hostile number becomes infinite
                value = numpy.array(node["data"], dtype)
                value = value.view("complex128").astype(kind) if is_complex(kind) else value
                return value.reshape(node["shape"])
        buffer = document.buffers[node["file"]]
        flat = numpy.frombuffer(buffer.data, buffer.descr) if buffer.data else numpy.zeros(0, buffer.descr)
        value = flat.reshape(buffer.shape)
        return (value.astype("<u2").astype("<u4") << 16).view("<f4") if kind == "bfloat16" else value
    except (ValueError, TypeError, KeyError, OverflowError, SyntaxError) as error:
        raise BadDocument("invalid numbers: %s" % error) from error


_BEYOND = Spread(math.inf, math.inf)
"""The difference that no tolerance allows, as of NaN or an infinity."""


def scalar_mismatch(e: Any, a: Any, rtol: float, atol: float) -> Optional[Tuple[str, Spread]]:
    """Compare two floats or complex numbers as :func:`array_mismatch` compares arrays."""
    if e == a or (e != e and a != a):
        return None
    distance, error = _BEYOND, abs(a - e)
    if cmath.isfinite(e) and cmath.isfinite(a):
        if error <= atol + rtol * abs(e):
            return None
        distance = Spread(error, error / abs(e) if e else math.inf)
    return "expected %r, got %r" % (e, a), distance


def array_mismatch(e: Any, a: Any, floating: bool, rtol: float, atol: float) -> Optional[Tuple[str, Spread]]:
    """Return None where arrays agree, NaN with NaN only, else a message and the largest difference."""
    import numpy

    if not floating:
        wrong = (e != a) & ((e == e) | (a == a))  # NaT != NaT
        return (_first(e, a, wrong), _BEYOND) if wrong.any() else None
    with numpy.errstate(all="ignore"):
        # In double precision: the rounding of the type itself must not decide.
        e, a = (side.astype("c16" if side.dtype.kind == "c" else "f8") for side in (e, a))
        same = (e == a) | (numpy.isnan(e) & numpy.isnan(a))
        finite = numpy.isfinite(e) & numpy.isfinite(a)
        error, scale = abs(a - e), abs(e)
        wrong = ~same & ~(finite & (error <= atol + rtol * scale))
        if not wrong.any():
            return None
        distance = _BEYOND
        if not (wrong & ~finite).any():
            counted = finite & ~same
            relative = numpy.where(scale > 0, error / scale, math.inf)
            distance = Spread(float(error[counted].max()), float(relative[counted].max()))
    return _first(e, a, wrong), distance


def aligned(e_places: Any, e_numbers: Any, a_places: Any, a_numbers: Any) -> Tuple[Any, Any]:
    """Return the numbers of two sparse matrices at the union of their places. Raises BadDocument."""
    import numpy

    for places, values in ((e_places, e_numbers), (a_places, a_numbers)):
        if places.ndim != 2 or values.ndim < 1 or places.shape[1] != values.shape[0]:
            raise BadDocument("a sparse matrix with other places than numbers")
    if e_places.shape[0] != a_places.shape[0] or e_numbers.shape[1:] != a_numbers.shape[1:]:
        raise BadDocument("a sparse matrix of another form")
    both = numpy.concatenate([e_places, a_places], axis=1)
    unique, inverse = numpy.unique(both, axis=1, return_inverse=True)
    count, results = e_places.shape[1], []
    for values, into in ((e_numbers, inverse.reshape(-1)[:count]), (a_numbers, inverse.reshape(-1)[count:])):
        results.append(numpy.zeros((unique.shape[1], *values.shape[1:]), values.dtype))
        numpy.add.at(results[-1], into, values)
    return results[0], results[1]


def _first(e: Any, a: Any, wrong: Any) -> str:
    import numpy

    if not wrong.shape:
        return "expected %r, got %r" % (e.item(), a.item())
    index = tuple(map(int, numpy.argwhere(wrong)[0]))
    count = "%d of %d elements differ" % (wrong.sum(), wrong.size)
    return "%s; first at %s: expected %r, got %r" % (count, list(index), e[index].item(), a[index].item())
