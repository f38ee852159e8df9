"""Element types of numpy arrays, and what stands for them in a document."""

from __future__ import annotations

import ast
import importlib
from typing import Any

from .buffers import BadDocument

SAFE_NAMES = {
    "|b1": "BOOL", "|u1": "U8", "|i1": "I8", "<i2": "I16", "<u2": "U16", "<f2": "F16", "<i4": "I32",
    "<u4": "U32", "<f4": "F32", "<i8": "I64", "<u8": "U64", "<f8": "F64", "<c8": "C64",
    "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
}  # fmt: skip
"""numpy's array-protocol strings, or the names of what it has from ml_dtypes → safetensors' names."""

EXTENDED = {"bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1}
"""Names of the element types that numpy has from ml_dtypes, which JAX brings → bytes per element."""


def descr(dtype: Any) -> str:
    """A dtype as the text of a document, little-endian where it is a simple number."""
    if dtype.names:
        return ascii(dtype.descr)
    # Their array-protocol strings are those of bytes without a meaning.
    return str(dtype.name if dtype.name in EXTENDED else dtype.str)


def dtype_of(text: str) -> Any:
    """The numpy dtype that :func:`descr` wrote. Raises BadDocument."""
    import numpy

    try:
        if text in EXTENDED:
            return numpy.dtype(getattr(importlib.import_module("ml_dtypes"), text))
        return numpy.dtype(_fields(ast.literal_eval(text)) if text.startswith("[") else text)
    except (TypeError, ValueError, SyntaxError, ImportError, AttributeError) as error:
        raise BadDocument("not a numpy type: %.60r" % text) from error


def _fields(fields: Any) -> Any:
    """A descr list as numpy.dtype takes it: unnamed padding gets a name."""
    result = []
    for place, field in enumerate(fields):
        name, kind = field[0] or "_padding%d" % place, field[1]
        result.append((name, _fields(kind) if isinstance(kind, list) else kind, *field[2:]))
    return result
