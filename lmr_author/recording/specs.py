"""Arguments described by the annotator, as in ``logits=float32[batch, 10]``: inputs when there is no run to record."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence
from typing import Any

from lmr_author.errors import UsageError
from lmr_author.probe.buffers import Buffer
from lmr_author.probe.codec import encode
from lmr_author.probe.document import Document
from lmr_author.probe.tensors import BUFFER_NAMES

SIZES = ((2, 3, 4, 5, 6), (1, 4, 3, 2, 5), (3, 2, 5, 4, 1))
"""What named sizes stand for, in the order they first appear: one set per made call."""
_NUMPY = {"float16": "<f2", "float32": "<f4", "float64": "<f8", "int32": "<i4", "int64": "<i8", "bool": "|b1"}
_ARRAY = re.compile(
    r"^(?P<home>np\.)?(?P<dtype>" + "|".join(_NUMPY) + r")(\((?P<low>-?\d+)\.\.(?P<high>-?\d+)\))?"
    r"\[(?P<shape>[^\]]*)\](?P<grad> grad)?$"
)
HINT = (
    "as in --argument 'x=float32[batch, 8]', 'ids=int64(0..99)[batch, time]', 'a=np.float64[5]', 'beta=0.1', "
    "\"kind='hinge'\"; `float32[4] grad` requires a gradient"
)


def documents(arguments: Sequence[str]) -> list[Document]:
    """Inputs that fit some descriptions, one document per set of sizes.

    Args:
        arguments: ``NAME=SPEC``. A spec is an element type with a shape, or a Python literal.

    Raises:
        UsageError: a description cannot be read.
    """
    described = [_split(text) for text in arguments]
    made = [_document(described, sizes, seed) for seed, sizes in enumerate(SIZES)]
    return list({item.digest(): item for item in made}.values())


def _split(text: str) -> tuple[str, str]:
    name, separator, spec = text.partition("=")
    if not separator or not name.strip().isidentifier():
        raise UsageError(f"not an argument: {text!r}", HINT)
    return name.strip(), spec.strip()


def _document(described: Sequence[tuple[str, str]], sizes: Sequence[int], seed: int) -> Document:
    pairs: list[list[Any]] = []
    buffers: dict[str, Buffer] = {}
    known: dict[str, int] = {}
    for number, (name, spec) in enumerate(described):
        match = _ARRAY.match(spec)
        if match is None:
            pairs.append([name, _literal(name, spec)])
            continue
        shape = _shape(match["shape"], sizes, known)
        buffers[f"b{number}"] = _numbers(match, shape, 100 * seed + number)
        pairs.append([name, _node(match, shape, f"b{number}")])
    return Document({"$": "dict", "v": pairs}, buffers)


def _literal(name: str, spec: str) -> Any:
    try:
        return encode(ast.literal_eval(spec)).tree
    except (ValueError, SyntaxError, TypeError) as error:
        raise UsageError(f"{name}: neither an array nor a Python value: {spec!r}", HINT) from error


def _shape(text: str, sizes: Sequence[int], known: dict[str, int]) -> list[int]:
    shape = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        if not word.isdigit() and not word.isidentifier():
            raise UsageError(f"{word!r} is no size", HINT)
        shape.append(int(word) if word.isdigit() else known.setdefault(word, sizes[len(known) % len(sizes)]))
    return shape


def _numbers(match: re.Match[str], shape: Sequence[int], seed: int) -> Buffer:
    """Standard normal floats, integers from the range (0 to 9 unless one is given), coins for truth values."""
    import numpy

    dtype, total = match["dtype"], math.prod(shape)
    name = BUFFER_NAMES[dtype]
    random = numpy.random.default_rng(seed)
    if dtype.startswith("int"):
        low, high = int(match["low"] or 0), int(match["high"] or 9)
        if low > high:
            raise UsageError(f"{low}..{high} is an empty range", HINT)
        values = random.integers(low, high, total, endpoint=True)
    elif dtype == "bool":
        values = random.random(total) < 0.5
    elif match["low"] is not None:
        values = random.uniform(float(match["low"]), float(match["high"]), total)
    else:
        values = random.standard_normal(total)
    return Buffer(name, tuple(shape), values.astype(_NUMPY[dtype]).tobytes())


def _node(match: re.Match[str], shape: list[int], buffer: str) -> dict[str, Any]:
    if match["home"]:
        return {"$": "ndarray", "b": buffer, "dtype": _NUMPY[match["dtype"]], "shape": shape}
    stride = [math.prod(shape[place + 1 :]) for place in range(len(shape))]
    return {
        "$": "tensor",
        "b": buffer,
        "dtype": match["dtype"],
        "shape": shape,
        "stride": stride,
        "offset": 0,
        "requires_grad": bool(match["grad"]),
        "leaf": True,
        "device": "cpu",
    }
