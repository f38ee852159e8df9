"""How much single precision costs: the golden runs once more on the same inputs as float64, where it accepts them."""

from __future__ import annotations

import copy
from collections.abc import Mapping

from lmr_author.probe.buffers import BadDocument, Buffer
from lmr_author.probe.document import Document
from lmr_author.probe.leaves import Numbers, dtype_of, numbers, walk

Excess = dict[str, float]
"""Leaf path → the largest error of the recorded result, in units of its element type's own tolerance."""


def in_double(inputs: Document) -> Document | None:
    """The same inputs with every float32 array and tensor as float64; None when there is none, or it is a view.

    torch's default element type becomes float64 too, so that what the function makes by itself is as precise.
    """
    import numpy

    tree = copy.deepcopy(inputs.tree)
    nodes = [
        node for _, node in walk(Document(tree, inputs.buffers)) if isinstance(node, dict) and "b" in node
    ]
    single = [node for node in nodes if dtype_of(node) == "float32"]
    names = {node["b"] for node in single}
    if not names or any(node["b"] in names and dtype_of(node) != "float32" for node in nodes):
        return None
    buffers = dict(inputs.buffers)
    for name in names:
        if buffers[name].dtype != "F32":
            return None
        values = numpy.frombuffer(buffers[name].data, "<f4").astype("<f8")
        buffers[name] = Buffer("F64", buffers[name].shape, values.tobytes())
    for node in single:
        node["dtype"] = "float64" if node["$"] == "tensor" else "<f8"
    for name, node in tree["v"]:
        if name == "@mode" and isinstance(node, dict):
            node["v"] = [
                [key, "float64" if (key, item) == ("dtype", "float32") else item] for key, item in node["v"]
            ]
    return Document(tree, buffers, inputs.omitted)


def excess(expected: Document, precise: Document, by_dtype: Mapping[str, tuple[float, float]]) -> Excess:
    """How far the float32 leaves of an outcome are from those of a run in float64.

    A leaf that is elsewhere, or of another shape, says nothing.
    """
    other = dict(walk(precise))
    found: Excess = {}
    for path, node in walk(expected):
        if dtype_of(node) != "float32" or dtype_of(other.get(path)) != "float64":
            continue
        try:
            wanted, got = numbers(expected, node), numbers(precise, other[path])
        except BadDocument:
            continue
        if wanted.shape == got.shape and len(wanted.values) == len(got.values):
            found[path] = _largest(wanted, got, by_dtype["float32"])
    return found


def _largest(wanted: Numbers, got: Numbers, tolerance: tuple[float, float]) -> float:
    """The largest error, in units of ``atol + rtol * |expected|``; infinite where finite meets NaN or infinity."""
    import numpy

    e, a = numpy.asarray(wanted.values, "f8"), numpy.asarray(got.values, "f8")
    if not len(e):
        return 0.0
    with numpy.errstate(all="ignore"):
        same = (e == a) | (numpy.isnan(e) & numpy.isnan(a))
        error = numpy.where(same, 0.0, numpy.abs(a - e) / (tolerance[1] + tolerance[0] * numpy.abs(e)))
    return float(numpy.nan_to_num(error, nan=numpy.inf).max())
