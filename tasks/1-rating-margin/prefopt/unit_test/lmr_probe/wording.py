"""Differences in words."""

from __future__ import annotations

from typing import Any, Sequence

from .leaves import COMPLEX, Numbers, dtype_of
from .numeric import Mismatch, Tolerance


def describe(node: Any) -> str:
    """A node in a message."""
    if not isinstance(node, dict):
        return short(node)
    tag = node["$"]
    if tag == "tensor":
        return "a tensor %s%s" % (node["dtype"], node["shape"])
    if tag == "ndarray":
        return "an array %s%s" % (dtype_of(node), node["shape"])
    if tag in ("list", "tuple", "set", "frozenset", "dict", "OrderedDict", "defaultdict", "deque", "Counter"):
        return "a %s of %d" % (tag, len(node["v"]))
    if "cls" in node:
        return "a %s" % str(node["cls"]).rpartition(":")[2]
    if tag == "fixture":
        return "the fixture %s" % node["name"]
    if tag in ("float", "int"):
        return str(node.get("v", node.get("hex")))
    return {"npscalar": "a numpy scalar", "omitted": "something that was not stored"}.get(tag, "a %s" % tag)


def short(value: Any) -> str:
    """A plain value in a message, cut when it is long."""
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."


def explain(found: Mismatch, wanted: Numbers, got: Numbers, tolerance: Tolerance) -> str:
    """A mismatch in words: how many, the first with its place, and the largest errors."""
    width = 2 if wanted.dtype in COMPLEX else 1
    where, rest = [], found.first
    for size in reversed(wanted.shape):
        where.append(rest % size)
        rest //= size
    values = [_element(run.values, found.first, width, wanted.dtype) for run in (wanted, got)]
    if found.total == 1 and not wanted.shape:
        text = "expected %s, got %s" % (values[0], values[1])
    else:
        place = list(reversed(where))
        counts = "%d of %d elements differ; first at %s" % (found.number, found.total, place)
        text = "%s: expected %s, got %s" % (counts, values[0], values[1])
    if found.max_abs > 0:
        text += "; largest difference %.3g absolute, %.3g relative" % (found.max_abs, found.max_rel)
    if tolerance != Tolerance():
        text += " (allowed: rtol %g, atol %g)" % tolerance
    return text


def _element(values: Sequence[Any], place: int, width: int, dtype: str) -> str:
    if width == 2:
        return repr(complex(values[2 * place], values[2 * place + 1]))
    value = values[place]
    if not isinstance(value, bytes):
        return repr(value)
    if dtype[1:2] == "U":
        return repr(value.decode("utf-32-be" if dtype[:1] == ">" else "utf-32-le", "replace").rstrip("\0"))
    return repr(value.rstrip(b"\0"))
