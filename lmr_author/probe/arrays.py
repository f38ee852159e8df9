"""numpy arrays and scalars, and pandas tables, in a document."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from . import jax_arrays
from .buffers import BadDocument, Buffer
from .dtypes import EXTENDED, SAFE_NAMES, descr, dtype_of
from .tree import join as join_path

if TYPE_CHECKING:
    from .decoder import Decoder
    from .encoder import Encoder

_SUBCLASSES = ("ndarray", "memmap", "matrix", "recarray")


def encode(encoder: Encoder, value: Any, path: str) -> Optional[Dict[str, Any]]:
    """The node of a numpy or pandas value; None when it is none."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not hasattr(numpy, "ndarray"):
        return None
    if isinstance(value, numpy.ndarray):
        return _encode_array(encoder, value, path)
    if isinstance(value, numpy.generic):
        return _encode_scalar(encoder, value, path)
    pandas: Any = sys.modules.get("pandas")
    if pandas is None or not hasattr(pandas, "DataFrame"):
        return None
    if value is getattr(pandas, "NA", pandas) or value is pandas.NaT:
        return {
            "$": "name",
            "kind": "singleton",
            "name": "pandas:%s" % ("NaT" if value is pandas.NaT else "NA"),
        }
    if isinstance(value, (pandas.DataFrame, pandas.Series, pandas.Index)):
        return _encode_table(encoder, value, path)
    if isinstance(value, pandas.api.extensions.ExtensionArray):
        node: Dict[str, Any] = _encode_values(encoder, value, path)
        return node
    return None


def _encode_array(encoder: Encoder, value: Any, path: str) -> Dict[str, Any]:
    cls = type(value).__name__
    if cls not in _SUBCLASSES or type(value).__module__.partition(".")[0] != "numpy":
        return encoder.problem(
            path, value, "only plain arrays can be stored; pass numpy.asarray(…) or its parts"
        )
    if value.dtype.kind == "O" and value.dtype.names is None:
        node = encoder.remember(value, {"$": "objectarray", "v": [], "shape": list(value.shape)})
        node["v"] = encoder.items(value.ravel().tolist() if value.ndim else [value.item()], path)
        return node
    if value.dtype.hasobject or value.dtype.kind == "T":
        return encoder.problem(path, value, "arrays of %s cannot be stored; use plain columns" % value.dtype)
    node = {"$": "ndarray", "b": "", "dtype": descr(value.dtype), "shape": list(value.shape)}
    if cls in ("matrix", "recarray"):
        node["cls"] = cls
    if value.flags.f_contiguous and not value.flags.c_contiguous:
        node["order"] = "F"
    encoder.grow(path, value.nbytes)
    encoder.pending.append((node, value, path))
    return encoder.remember(value, node)


def _encode_scalar(encoder: Encoder, value: Any, path: str) -> Dict[str, Any]:
    dtype = value.dtype
    if dtype.hasobject:
        return encoder.problem(path, value, "it holds Python objects")
    return {"$": "npscalar", "dtype": descr(dtype), "hex": value.tobytes()[: dtype.itemsize].hex()}


def buffer_of(value: Any) -> Buffer:
    """An array's numbers: C order, little-endian."""
    import numpy

    array = numpy.asarray(value)
    if array.dtype.names is None and array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    text = descr(array.dtype)
    return Buffer(SAFE_NAMES.get(text, text), tuple(array.shape), array.tobytes("C"))


def decode_array(decoder: Decoder, node: Dict[str, Any]) -> Any:
    """An array from its node."""
    import numpy

    buffer = decoder.document.buffers[node["b"]]
    dtype = dtype_of(node["dtype"])
    stored = dtype if dtype.names or node["dtype"] in EXTENDED else dtype.newbyteorder("<")
    if stored.itemsize * max(1, len(buffer.data)) and stored.hasobject:
        raise BadDocument("an array of objects as raw data")
    array = (
        numpy.frombuffer(buffer.data, stored) if stored.itemsize and buffer.data else numpy.empty(0, stored)
    )
    if not stored.itemsize:
        array = numpy.zeros(tuple(node["shape"]), stored)
    array = array.reshape(tuple(node["shape"])).astype(dtype, order="F" if node.get("order") == "F" else "C")
    if not array.flags.writeable or array.base is not None:
        array = array.copy(order="K")
    if node.get("cls") == "matrix":
        return array.view(numpy.matrix)
    if node.get("cls") == jax_arrays.CLS:
        return jax_arrays.from_numpy(array)
    return array.view(numpy.recarray) if node.get("cls") == "recarray" else array


def decode_scalar(node: Dict[str, Any]) -> Any:
    """A numpy scalar from its node."""
    import numpy

    dtype = dtype_of(node["dtype"])
    raw = bytes.fromhex(node["hex"])
    if dtype.hasobject or dtype.itemsize != len(raw):
        raise BadDocument("a scalar of %d bytes" % len(raw))
    if not raw:
        return numpy.zeros((), dtype)[()]
    return numpy.frombuffer(raw, dtype)[0]


def decode_object_array(node: Dict[str, Any], items: List[Any], array: Any) -> Any:
    """Fill an object array that was made empty."""
    if array.size != len(items):
        raise BadDocument("an array of %d objects for shape %s" % (len(items), node["shape"]))
    flat = array.reshape(-1)
    for place, item in enumerate(items):
        flat[place] = item
    return array


def _encode_table(encoder: Encoder, value: Any, path: str) -> Dict[str, Any]:
    pandas = sys.modules["pandas"]
    if isinstance(value, pandas.DataFrame):
        node = encoder.remember(value, {"$": "dataframe", "columns": None, "index": None, "v": []})
        node["columns"] = encoder.node(value.columns, path + ".columns")
        node["index"] = encoder.node(value.index, path + ".index")
        for place in range(value.shape[1]):
            column = value.iloc[:, place]
            node["v"].append(_encode_values(encoder, column.array, join_path(path, "[%d]" % place)))
        return node
    if isinstance(value, pandas.Series):
        node = encoder.remember(value, {"$": "series", "values": None, "index": None, "name": None})
        node["values"] = _encode_values(encoder, value.array, path + ".values")
        node["index"] = encoder.node(value.index, path + ".index")
        node["name"] = encoder.node(value.name, path + ".name")
        return node
    node = encoder.remember(value, {"$": "index", "kind": "plain", "values": None, "names": None})
    if isinstance(value, pandas.MultiIndex):
        node["kind"] = "multi"
        node["values"] = encoder.node(value.tolist(), path)
        node["names"] = encoder.node(list(value.names), path + ".names")
        return node
    if isinstance(value, pandas.RangeIndex):
        node["kind"] = "range"
        node["values"] = encoder.node([value.start, value.stop, value.step], path)
    else:
        node["values"] = _encode_values(encoder, value.array, path)
    node["names"] = encoder.node([value.name], path + ".names")
    return node


def _encode_values(encoder: Encoder, array: Any, path: str) -> Any:
    pandas: Any = sys.modules["pandas"]
    dtype = array.dtype
    wrapped = type(dtype).__name__ in ("NumpyEADtype", "PandasDtype")
    if wrapped or isinstance(dtype, sys.modules["numpy"].dtype):
        return encoder.node(array.to_numpy(), path)
    if isinstance(dtype, pandas.CategoricalDtype):
        return {
            "$": "categorical",
            "codes": encoder.node(array.codes.copy(), path + ".codes"),
            "categories": encoder.node(array.categories, path + ".categories"),
            "ordered": bool(array.ordered),
        }
    return {"$": "extension", "dtype": str(dtype), "values": encoder.node(list(array), path)}


def decode_table(decoder: Decoder, node: Dict[str, Any]) -> Any:
    """A DataFrame, Series, Index or extension array from its node."""
    import pandas

    tag = node["$"]
    if tag == "extension":
        return pandas.array(decoder.node(node["values"]), dtype=node["dtype"])
    if tag == "categorical":
        codes, categories = decoder.node(node["codes"]), decoder.node(node["categories"])
        return pandas.Categorical.from_codes(codes, categories=categories, ordered=node["ordered"])
    if tag == "index":
        values, names = decoder.node(node["values"]), decoder.node(node["names"])
        if node["kind"] == "multi":
            return pandas.MultiIndex.from_tuples(values, names=names)
        if node["kind"] == "range":
            return pandas.RangeIndex(*values, name=names[0])
        return pandas.Index(values, dtype=values.dtype, name=names[0])
    if tag == "series":
        values, index = decoder.node(node["values"]), decoder.node(node["index"])
        return pandas.Series(values, index=index, name=decoder.node(node["name"]), dtype=values.dtype)
    columns, index = decoder.node(node["columns"]), decoder.node(node["index"])
    arrays = {}
    for place, item in enumerate(node["v"]):
        values = decoder.node(item)
        arrays[place] = pandas.Series(values, index=index, dtype=values.dtype)
    table = pandas.DataFrame(arrays, index=index)
    table.columns = columns
    return table
