"""A part of an outcome that is too large to be stored whole: its shape, some of its elements, and a few sums.

The elements are at fixed places spread over the whole, and every element is in each of the sums, with another sign: a
result that differs in one element by more than the sums are rounded differs in the sums.
"""

from __future__ import annotations

import sys
from typing import Any, Dict

ELEMENTS = 512
"""Elements that are kept, at most."""
SUMS = 8


def project(value: Any) -> Any:
    """A tensor or array as a small dictionary; what is neither, or is small, as it is."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "Tensor") and isinstance(value, torch.Tensor):
        return value if value.numel() <= ELEMENTS or value.layout != torch.strided else _tensor(torch, value)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "ndarray") and isinstance(value, numpy.ndarray):
        return value if value.size <= ELEMENTS or value.dtype.kind not in "biufc" else _array(numpy, value)
    return value


def _tensor(torch: Any, value: Any) -> Dict[str, Any]:
    with torch.no_grad():
        flat = value.detach().cpu().reshape(-1)
        places = _places(torch.arange(ELEMENTS, dtype=torch.int64), flat.numel())
        wide = flat.to(torch.complex128 if flat.is_complex() else torch.float64)
        # A sum of many half-precision numbers may be too large to be one.
        scale = flat.numel() if flat.dtype in (torch.float16, torch.bfloat16) else 1
        sums = torch.stack([_signed(torch, wide, number).sum() / scale for number in range(SUMS)])
        return {
            "shape": list(value.shape),
            "requires_grad": bool(value.requires_grad),
            "elements": flat[places].clone(),
            "sums": sums.to(flat.dtype if flat.is_floating_point() else wide.dtype),
            "not_finite": int((~torch.isfinite(wide)).sum()),
        }


def _array(numpy: Any, value: Any) -> Dict[str, Any]:
    flat = numpy.asarray(value).reshape(-1)
    places = _places(numpy.arange(ELEMENTS, dtype="int64"), flat.size)
    wide = flat.astype("complex128" if flat.dtype.kind == "c" else "float64")
    scale = flat.size if flat.dtype == numpy.float16 else 1
    sums = numpy.stack([_signed(numpy, wide, number).sum() / scale for number in range(SUMS)])
    return {
        "shape": list(value.shape),
        "elements": flat[places].copy(),
        "sums": sums.astype(flat.dtype if flat.dtype.kind == "f" else wide.dtype),
        "not_finite": int((~numpy.isfinite(wide)).sum()),
    }


def _places(numbers: Any, total: int) -> Any:
    """Places that are spread over all of it, not at equal distances: rows have equal lengths."""
    return (numbers * total // ELEMENTS + numbers * 7919 % max(1, total // ELEMENTS)) % total


def _signed(library: Any, values: Any, number: int) -> Any:
    """The finite values, each with a sign of its own; the first sum has them as they are."""
    places = library.arange(len(values))
    signs = 1 - 2 * (((places * 2654435761) >> (7 + number)) & 1) if number else 1
    finite = library.isfinite(values)
    return library.where(finite, values, library.zeros_like(values)) * signs
