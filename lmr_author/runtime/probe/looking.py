"""One level of a live value as the node of a document, with live values in the place of child nodes."""

from __future__ import annotations

import base64
import collections
import copyreg
import enum
import functools
import logging
import sys
import types
import warnings
from typing import Any, Callable, Dict, List, Optional, Tuple

from .closures import closure_of, place_of
from .decoding import OmittedPart
from .document import NPY_TYPES
from .objects import (
    content_type,
    is_plain,
    lazy_names,
    library,
    name_of,
    own,
    own_state,
    recorded_module,
    state_of,
)

ITERATOR = "an iterator can be read only once; pass a list, or move the loop out of the function"
ASYNC = "an async generator is read by whoever awaits it; choose a function that returns its items, or that reads it"
LOCAL = "it has no importable name; define it at the top level of a module of the repository"
MADE = "it was made while the command ran; leave it out (None), or pass one that a module of the repository defines"
DENSE = "only dense, COO, CSR and CSC tensors of plain numbers can be stored"
PLAIN_ARRAYS = "only plain arrays can be stored; pass numpy.asarray(…) or its parts"
MOST_BITS = 4096
"""Size of an integer that every reader of JSON accepts."""
_REBUILT = (collections.defaultdict, collections.OrderedDict, functools.partial)
"""Classes that are stored by ``__reduce_ex__``; their subclasses by attributes and content."""
_ITERATED = (list, set, bytearray)
_LAYOUTS = ("sparse_coo", "sparse_csr", "sparse_csc")


class Closed(Exception):
    """A value that cannot be opened; the message says what to do instead."""


def is_plain_value(value: Any) -> bool:
    """Tell whether a value is its own node."""
    kind = type(value)
    return value is None or kind in (bool, float, str) or (kind is int and value.bit_length() < MOST_BITS)


def look(value: Any) -> Any:
    """Return the node of a value, with values for its parts; a plain value as it is. Raises Closed."""
    kind = type(value)
    if is_plain_value(value):
        return value
    if kind in _BUILT_IN:
        return _BUILT_IN[kind](value)
    for look_at in (_torch, _numpy, _table, _scipy, _named_tuple, _named):
        node = look_at(value)
        if node is not None:
            return node
    for method, advice in (("__next__", ITERATOR), ("__anext__", ASYNC)):
        if hasattr(kind, method):
            raise Closed(advice)
    return _opened(value, kind)


def _content(value: Any) -> Dict[str, Any]:
    return {"$": type(value).__name__, "v": list(value)}


def _bytes(value: Any) -> Dict[str, Any]:
    return {"$": type(value).__name__, "v": base64.b64encode(value).decode("ascii")}


_BUILT_IN: Dict[type, Callable[[Any], Dict[str, Any]]] = {
    list: _content,
    tuple: _content,
    set: _content,
    frozenset: _content,
    dict: lambda value: {"$": "dict", "v": [list(item) for item in value.items()]},
    bytes: _bytes,
    bytearray: _bytes,
    complex: lambda value: {"$": "complex", "v": [value.real, value.imag]},
    OmittedPart: lambda value: {"$": "omitted"},
}
"""Type → the node of its values; subclasses are objects."""


def _named_tuple(value: Any) -> Any:
    names = getattr(value, "_fields", None) if isinstance(value, tuple) else None
    cls = name_of(type(value)) if names is not None else None
    return cls and {"$": "namedtuple", "cls": cls, "v": dict(zip(type(value)._fields, value))}


def _named(value: Any) -> Any:
    if isinstance(value, types.ModuleType):
        return {"$": "name", "v": recorded_module(value.__name__) + ":"}
    name = name_of(value) if callable(value) else None
    if name is not None:
        return {"$": "name", "v": name}
    if isinstance(value, type):
        raise Closed(LOCAL)
    if not isinstance(value, types.FunctionType):
        return None
    place = place_of(value)
    try:
        if place is not None:
            return _make(place, *closure_of(value))
    except ValueError:  # it calls itself
        pass
    raise Closed(MADE)


# tensors and arrays


def _torch(value: Any) -> Any:
    torch = library("torch")
    if torch is None:
        return None
    if isinstance(value, torch.Generator) and value.device.type == "cpu":
        return _make("generator", value.get_state())
    if not isinstance(value, torch.Tensor):
        return None
    layout = str(value.layout).rpartition(".")[2]
    if getattr(value, "is_nested", False) or getattr(value, "is_meta", False):
        raise Closed(DENSE)
    if layout in _LAYOUTS:
        return _sparse_tensor(value, layout)
    if layout == "strided" and not value.is_quantized:
        return _strided(torch, value)
    if layout == "strided" and str(value.qscheme()) == "torch.per_tensor_affine":
        return _make("quantized", value.int_repr(), value.q_scale(), value.q_zero_point(), value.dtype)
    raise Closed(DENSE)


def _strided(torch: Any, value: Any) -> Dict[str, Any]:
    dtype = str(value.dtype).rpartition(".")[2]
    if dtype not in NPY_TYPES:
        raise Closed(DENSE)
    node = {"$": "tensor", "dtype": dtype, "shape": list(value.shape), "of": value}
    if type(value) is not torch.Tensor:
        node["cls"] = name_of(type(value))
        if node["cls"] is None:
            raise Closed(LOCAL)
    if value.requires_grad:
        node["requires_grad"] = True
    if not value.is_leaf:
        node["leaf"] = False
    elif value.grad is not None:
        node["grad"] = value.grad
    if getattr(value, "__dict__", None):
        node["attrs"] = dict(value.__dict__)
    return node


def _sparse_tensor(value: Any, layout: str) -> Dict[str, Any]:
    plain = value.detach()
    coo = plain if layout == "sparse_coo" else plain.to_sparse_coo()
    node: Dict[str, Any] = {"$": "sparse", "layout": layout, "shape": list(value.shape)}
    if layout == "sparse_coo":
        node["coalesced"] = bool(coo.is_coalesced())
    return dict(node, places=coo._indices(), numbers=coo._values())


def detached(torch: Any, value: Any) -> Any:
    """Return a plain tensor on the CPU, which shares a tensor's numbers if possible."""
    with torch.no_grad():
        plain = value.detach()
        plain = plain if type(plain) is torch.Tensor else plain.as_subclass(torch.Tensor)
        for method in ("resolve_conj", "resolve_neg"):  # older versions have neither
            plain = getattr(plain, method, lambda plain=plain: plain)()
    return plain.cpu()


def _dtype_name(dtype: Any) -> str:
    usual = dtype.isnative and dtype.kind in "biufc" and dtype.name in NPY_TYPES
    return str(dtype.name if usual else dtype.str)


def _numpy(value: Any) -> Any:
    numpy = library("numpy")
    if numpy is None or not isinstance(value, (numpy.ndarray, numpy.generic)):
        return None
    scalar, dtype = isinstance(value, numpy.generic), value.dtype
    if dtype.kind == "O" and type(value) is numpy.ndarray:
        items = value.ravel().tolist() if value.ndim else [value.item()]
        return {"$": "objects", "shape": list(value.shape), "v": items}
    arrays = (numpy.ndarray, numpy.memmap, numpy.matrix, numpy.recarray)
    if dtype.hasobject or not (scalar or type(value) in arrays):
        raise Closed(PLAIN_ARRAYS)
    if dtype.names:
        return _structured(value, scalar, type(value) is numpy.recarray)
    if scalar and dtype.kind in "SV":
        return _reduced(value, type(value))
    node: Dict[str, Any] = {"$": "scalar" if scalar else "array", "dtype": _dtype_name(dtype)}
    node.update(shape=list(value.shape), of=value)
    if type(value) is numpy.matrix:
        node["cls"] = "matrix"
    return node


def _structured(value: Any, scalar: bool, is_record: bool) -> Dict[str, Any]:
    node = {"$": "structured", "layout": _layout(value.dtype), "shape": list(value.shape)}
    node["v"] = {name: value[name] for name in value.dtype.names}
    if scalar or is_record:
        node["cls"] = "scalar" if scalar else "recarray"
    return node


def _layout(dtype: Any) -> Any:
    if dtype.subdtype is not None:
        return [_layout(dtype.subdtype[0]), list(dtype.subdtype[1])]
    if not dtype.names:
        return dtype.str
    fields = [dtype.fields[name] for name in dtype.names]
    titles = [field[2] if len(field) == 3 else None for field in fields]
    return {
        "names": list(dtype.names),
        **({"titles": titles} if any(titles) else {}),
        "formats": [_layout(field[0]) for field in fields],
        "offsets": [field[1] for field in fields],
        "itemsize": dtype.itemsize,
    }


def _scipy(value: Any) -> Any:
    sparse = sys.modules.get("scipy.sparse")
    if sparse is None or not hasattr(sparse, "issparse") or not sparse.issparse(value):
        return None
    cls = name_of(type(value))
    if cls is None or not cls.startswith("scipy.sparse") or len(value.shape) != 2:
        return None
    coo = value.tocoo()
    places = sys.modules["numpy"].array([coo.row, coo.col])
    return {"$": "sparse", "layout": cls, "shape": list(value.shape), "places": places, "numbers": coo.data}


# tables


def _table(value: Any) -> Any:
    pandas = library("pandas")
    if pandas is None:
        return None
    if isinstance(value, pandas.DataFrame):
        columns = [_column(value.iloc[:, number].array) for number in range(value.shape[1])]
        return {"$": "table", "columns": value.columns, "index": value.index, "v": columns}
    if isinstance(value, pandas.Series):
        return _make("series", _column(value.array), value.index, value.name)
    if isinstance(value, pandas.MultiIndex):
        levels = [value.get_level_values(number) for number in range(value.nlevels)]
        return _make("levels", levels, list(value.names))
    if isinstance(value, pandas.RangeIndex):
        return _make("range", value.start, value.stop, value.step, value.name)
    if isinstance(value, pandas.Index):
        return _make("index", _column(value.array), value.name)
    if isinstance(value, pandas.api.extensions.ExtensionArray):
        array = _column(value)
        return _numpy(array) if array is not value else _extension(array)
    return None


def _make(kind: str, *args: Any) -> Dict[str, Any]:
    return {"$": "make", "kind": kind, "args": list(args)}


def _column(array: Any) -> Any:
    """Return the numpy array inside a column; else the column itself."""
    wrapped = type(array).__name__ in ("NumpyExtensionArray", "PandasArray")
    return array.to_numpy() if wrapped or isinstance(array.dtype, sys.modules["numpy"].dtype) else array


def _extension(array: Any) -> Dict[str, Any]:
    pandas: Any = sys.modules["pandas"]
    if isinstance(array.dtype, pandas.CategoricalDtype):
        return _make("categorical", array.codes.copy(), array.categories, bool(array.ordered))
    return _make("column", list(array), str(array.dtype))


# objects


def _opened(value: Any, kind: type) -> Dict[str, Any]:
    plain = is_plain(kind) and kind not in _REBUILT and not isinstance(value, (enum.Enum, logging.Logger))
    if not plain:
        return _reduced(value, kind)
    if kind in copyreg.dispatch_table or own(kind, "__reduce_ex__") or own(kind, "__reduce__"):
        try:
            return _reduced(value, kind)
        except Closed:  # it forbids copies, which a recording is not
            return _attributes(value, kind, None)
    try:
        state = own_state(value)
    except Exception:
        return _attributes(value, kind, None)
    return _reduced(value, kind) if state is None else _attributes(value, kind, state)


def _attributes(value: Any, kind: type, state: Optional[Dict[str, Any]]) -> Dict[str, Any]:
    name, base = name_of(kind), content_type(kind)
    if name is None:
        raise Closed("its class %s: %s" % (kind.__qualname__, LOCAL))
    node: Dict[str, Any] = {"$": "object", "cls": name, "state": {}}
    if base in (str, int, float):
        node["base"] = base(value)
    elif base is not None:
        # Bypassing overrides.
        content = dict.items(value) if base is dict else base.__iter__(value) if base in _ITERATED else value
        node["base"] = base(content)
    if isinstance(value, collections.defaultdict):
        node["state"]["default_factory"] = value.default_factory
    node["state"].update(state_of(value) if state is None else state)
    lazy = lazy_names(kind)
    if lazy:
        node["lazy"] = list(lazy)
    return node


def _reduced(value: Any, kind: type) -> Dict[str, Any]:
    """Return the node of an object by what its ``__reduce_ex__`` returns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            reducer: Any = copyreg.dispatch_table.get(kind)
            reduction = reducer(value) if reducer else value.__reduce_ex__(2)
        except Exception as error:
            raise Closed("%s; it holds what only this process has" % str(error)[:200]) from error
    if isinstance(reduction, str):
        name = name_of(value, reduction)
        if name is None:
            raise Closed(LOCAL)
        return {"$": "name", "v": name}
    call, arguments, state, elements, pairs = (*reduction, None, None, None)[:5]
    node = {"$": "call", "call": call, "args": _arguments(kind, arguments)}
    # An exception gets an empty __dict__ when it is first asked for.
    if state is not None and state != {}:
        node["state"] = state
    if elements is not None:
        node["items"] = list(elements)
    if pairs is not None:
        node["pairs"] = [list(pair) for pair in pairs]
    return node


class Factory:
    """A defaultdict's factory without a name, such as a lambda, identified by what it makes."""

    def __init__(self, made: Any) -> None:
        self.made = made


_BUILT_IN[Factory] = lambda value: _make("factory", value.made)


def _arguments(kind: type, arguments: Tuple[Any, ...]) -> List[Any]:
    if kind is collections.defaultdict and arguments and name_of(arguments[0]) is None:
        return [Factory(arguments[0]())]
    return list(arguments)
