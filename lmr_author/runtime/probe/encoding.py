"""Values to documents, without pickle: a full copy, so that later changes of the value do not show.

A value that has no node of its own is stored by what ``__reduce_ex__`` says of it. That is what pickle would do, but as
a tree that can be read and checked.
"""

from __future__ import annotations

import base64
import collections
import copyreg
import ctypes
import enum
import functools
import json
import logging
import re
import struct
import sys
import types
import warnings
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from .decoding import OmittedPart
from .document import MAX_DEPTH, NPY_TYPES, Buffer, Document, Omitted, join, key_text
from .objects import content_type, is_plain, library, name_of, recorded_module, state_of

DEFAULT_LIMIT = 256 * 1024 * 1024
"""Largest document by default (bytes)."""
MOST_INLINE = 200
"""Largest array (elements) that is written into the tree, for people to read; larger ones get a file of their own."""
ITERATOR = "an iterator can be read only once; pass a list, or move the loop out of the function"
LOCAL = "it has no importable name; define it at the top level of a module of the repository"
MADE = "it was made while the command ran; leave it out (None), or pass one that a module of the repository defines"
_NODE_BYTES = 6
"""Size of a container's item as text, about, beside its own data."""
_PART = re.compile(r"[^.\[]*(?:[.\[][^.\[]*)?")
"""The first two steps of a path: an argument and its attribute or item."""
_REBUILT = (collections.defaultdict, collections.OrderedDict, functools.partial)
"""Classes that are rebuilt as they ask for; an object of a class derived from them is its attributes and content."""
_INLINE = (
    "bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
)  # fmt: skip
"""Element types whose numbers JSON can hold."""


class Unstorable(Exception):
    """Values that cannot be stored: ``problems`` are (path, type, advice)."""

    def __init__(self, problems: Iterable[Omitted]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join("%s: cannot store a %s (%s)" % problem for problem in self.problems))


class TooLarge(Exception):
    """A value over the size limit. ``path`` is its largest part; sizes in bytes."""

    def __init__(self, path: str, size: int, limit: int) -> None:
        self.path, self.size, self.limit = path, size, limit
        super().__init__("%s: %d bytes, more than the limit of %d" % (path or "value", size, limit))


def encode(
    value: Any,
    limit: int = DEFAULT_LIMIT,
    skip: Iterable[str] = (),
    stands_in: Optional[Callable[[Any, str], Optional[str]]] = None,
) -> Document:
    """Copy a value into a document.

    Args:
        limit: largest size of the result, in bytes.
        skip: paths of attributes to leave out (they are listed in ``omitted``).
        stands_in: object and path → the fixture that is recorded in its place, or None.

    Paths start at the value: item ``loss`` of a dictionary is ``loss``, its second item ``loss[1]``. A part that cannot
    be stored is left out when it is an object's attribute (see ``omitted``); otherwise raises Unstorable with all such
    parts. Raises TooLarge before large data are copied.
    """
    return _Encoder(limit, skip, stands_in).run(value)


class _Encoder:
    def __init__(
        self, limit: int, skip: Iterable[str], stands_in: Optional[Callable[[Any, str], Optional[str]]]
    ) -> None:
        self.limit, self.skip, self.stands_in = limit, frozenset(skip), stands_in
        self.omitted: List[Omitted] = []
        self.problems: List[Omitted] = []
        self.buffers: List[Tuple[Dict[str, Any], Callable[[], Buffer]]] = []
        self.nodes: Dict[int, Tuple[Dict[str, Any], Any]] = {}
        """``id`` of an object → its node, and the object, kept so that no other gets its ``id``."""
        self.ids = self.depth = self.inside = self.size = 0
        self.sizes: Dict[str, int] = {}

    def run(self, value: Any) -> Document:
        try:
            tree = self.node(value, "")
        except RecursionError:
            self.problems.append(Omitted("", type(value).__name__, "it is nested too deeply"))
        if self.problems:
            raise Unstorable(self.problems)
        if self.size > self.limit:
            largest = max(self.sizes, key=lambda part: self.sizes[part]) if self.sizes else ""
            raise TooLarge(largest, self.sizes.get(largest, self.size), self.limit)
        buffers: Dict[str, Buffer] = {}
        for node, copied in self.buffers:
            node["file"] = str(len(buffers))
            buffers[node["file"]] = copied()
        return Document(_abbreviated(tree), buffers, tuple(self.omitted))

    def grow(self, path: str, size: int) -> None:
        """Count bytes of a part, so that the largest argument or attribute can be named."""
        self.size += size
        if size >= 1024:
            part = _PART.match(path).group()  # type: ignore[union-attr]
            self.sizes[part] = self.sizes.get(part, 0) + size

    def problem(self, path: str, value: Any, advice: str) -> Dict[str, Any]:
        """Note a part that cannot be stored; inside an object it is only left out."""
        kind = type(value)
        prefix = "" if kind.__module__ == "builtins" else kind.__module__ + "."
        omissions = self.omitted if self.inside else self.problems
        omissions.append(Omitted(path, prefix + kind.__qualname__, advice))
        self.nodes.pop(id(value), None)  # its node is in no tree: nothing may refer to it
        return {"$": "omitted"}

    def node(self, value: Any, path: str) -> Any:
        """Return the node of a value."""
        kind = type(value)
        if value is None or kind in (bool, float) or (kind is int and value.bit_length() < 4096):
            return value
        if kind is str:
            self.grow(path, len(value))
            return value
        fixture = self.stands_in(value, path) if self.stands_in is not None else None
        if fixture is not None:
            return {"$": "fixture", "v": fixture}
        encoded = self.nodes.get(id(value))
        if encoded is not None:
            first = encoded[0]
            if "id" not in first:
                first["id"] = self.ids
                self.ids += 1
            return {"$": "ref", "id": first["id"]}
        if path in self.skip:
            return self.problem(path, value, "it is too large; the function does not name it")
        if self.depth >= MAX_DEPTH // 2 or self.size > 4 * self.limit:
            return self.problem(path, value, "it is nested too deeply, or has too many parts")
        self.depth += 1
        try:
            return self.compound(value, kind, path)
        except RecursionError:
            raise
        except Exception as error:
            return self.problem(path, value, "%s: %s" % (type(error).__name__, str(error)[:200]))
        finally:
            self.depth -= 1

    def remember(self, value: Any, tag: str, **fields: Any) -> Dict[str, Any]:
        """Make the node of an object, so that a second encounter becomes a reference."""
        node = dict({"$": tag}, **fields)
        self.nodes[id(value)] = node, value
        return node

    def items(self, value: Iterable[Any], path: str) -> List[Any]:
        nodes = [self.node(part, join(path, "[%d]" % index)) for index, part in enumerate(value)]
        self.grow(path, _NODE_BYTES * len(nodes))
        return nodes

    def pairs(self, value: Iterable[Tuple[Any, Any]], path: str) -> List[List[Any]]:
        result = []
        for index, (key, part) in enumerate(value):
            key_node = self.node(key, join(path, "<key %d>" % index))
            result.append([key_node, self.node(part, join(path, key_text(key_node, index)))])
        self.grow(path, 2 * _NODE_BYTES * len(result))
        return result

    def state(self, attributes: Iterable[Tuple[str, Any]], path: str) -> Dict[str, Any]:
        """Encode an object's attributes. One that cannot be stored leaves a gap."""
        self.inside += 1
        try:
            return {name: self.node(attribute, join(path, "." + name)) for name, attribute in attributes}
        finally:
            self.inside -= 1

    def compound(self, value: Any, kind: type, path: str) -> Any:
        """Return the node of anything but a plain number or text."""
        built_in = _BUILT_IN.get(kind)
        if built_in is not None:
            return built_in(self, value, path)
        for encoded_as in (self.torch, self.numpy, self.pandas, self.namedtuple, self.named):
            node = encoded_as(value, path)
            if node is not None:
                return node
        if hasattr(kind, "__next__") or hasattr(kind, "__anext__"):
            return self.problem(path, value, ITERATOR)
        plain = is_plain(kind) and kind not in _REBUILT and not isinstance(value, (enum.Enum, logging.Logger))
        return self.plain_object(value, kind, path) if plain else self.reduced(value, kind, path)

    def sequence(self, value: Any, path: str) -> Any:
        node = self.remember(value, type(value).__name__, v=[])
        node["v"] = self.items(value, path)
        return node

    def unordered(self, value: Any, path: str) -> Any:
        node = self.remember(value, type(value).__name__, v=[])
        node["v"] = self.items(sorted(value, key=_order), path)  # the same order, whatever the hash seed
        return node

    def dictionary(self, value: Any, path: str) -> Any:
        node = self.remember(value, "dict", v=[])
        node["v"] = self.pairs(list(value.items()), path)
        return node

    def bytes(self, value: Any, path: str) -> Any:
        self.grow(path, len(value))
        return self.remember(value, type(value).__name__, v=base64.b64encode(value).decode("ascii"))

    def namedtuple(self, value: Any, path: str) -> Any:
        """Return the node of a named tuple; None for anything else."""
        names = getattr(value, "_fields", None) if isinstance(value, tuple) else None
        cls = name_of(type(value)) if names is not None else None
        if cls is None:
            return None
        node = self.remember(value, "namedtuple", cls=cls, v={})
        for name, field in zip(type(value)._fields, value):
            node["v"][name] = self.node(field, join(path, "." + name))
        return node

    def named(self, value: Any, path: str) -> Any:
        """Return the node of a module, class or function; None for anything else, also what can only be called."""
        if isinstance(value, types.ModuleType):
            return {"$": "name", "v": recorded_module(value.__name__) + ":"}
        name = name_of(value) if callable(value) else None
        if name is not None:
            return {"$": "name", "v": name}
        if isinstance(value, (type, types.FunctionType)):
            return self.problem(path, value, LOCAL if isinstance(value, type) else MADE)
        return None

    def torch(self, value: Any, path: str) -> Any:
        """Return the node of a tensor or generator; None for anything else. A sparse tensor is reduced."""
        torch = library("torch")
        if torch is None:
            return None
        if isinstance(value, torch.Generator) and value.device.type == "cpu":
            node = self.remember(value, "make", kind="generator", args=[])
            node["args"] = [self.node(value.get_state(), path)]
            return node
        if isinstance(value, torch.Tensor) and value.layout is not torch.sparse_coo:
            return self.tensor(torch, value, path)
        return None

    def tensor(self, torch: Any, value: Any, path: str) -> Any:
        dtype = str(value.dtype).rpartition(".")[2]
        odd = getattr(value, "is_nested", False) or getattr(value, "is_meta", False)
        if odd or value.layout is not torch.strided or dtype not in NPY_TYPES:
            return self.problem(path, value, "only dense and COO tensors of plain numbers can be stored")
        node = self.remember(value, "tensor", dtype=dtype, shape=list(value.shape))
        if type(value) is not torch.Tensor:
            node["cls"] = name_of(type(value))
            if node["cls"] is None:
                return self.problem(path, value, LOCAL)
        if value.requires_grad:
            node["requires_grad"] = True
        if not value.is_leaf:
            node["leaf"] = False
        elif value.grad is not None:
            node["grad"] = self.node(value.grad, join(path, ".grad"))
        if getattr(value, "__dict__", None):
            node["attrs"] = self.state(list(value.__dict__.items()), path)
        plain = _detached(torch, value)
        size = plain.numel() * plain.element_size()

        def copied() -> Buffer:
            dense = plain.cpu().contiguous()
            data = ctypes.string_at(dense.data_ptr(), size) if size else b""
            return Buffer(NPY_TYPES[dtype], tuple(plain.shape), data)

        self.grow(path, size)
        if plain.numel() <= MOST_INLINE and (dtype in _INLINE or dtype == "bfloat16"):
            node["data"] = _shortened(plain.tolist(), dtype)
        else:
            self.buffers.append((node, copied))
        return node

    def numpy(self, value: Any, path: str) -> Any:
        """Return the node of an array or scalar; None for anything else."""
        numpy = library("numpy")
        if numpy is None or not isinstance(value, (numpy.ndarray, numpy.generic)):
            return None
        scalar, dtype = isinstance(value, numpy.generic), value.dtype
        if dtype.kind == "O" and type(value) is numpy.ndarray:
            node = self.remember(value, "objects", shape=list(value.shape), v=[])
            node["v"] = self.items(value.ravel().tolist() if value.ndim else [value.item()], path)
            return node
        arrays = (numpy.ndarray, numpy.memmap, numpy.matrix, numpy.recarray)
        if dtype.hasobject or not (scalar or type(value) in arrays):
            return self.problem(
                path, value, "only plain arrays can be stored; pass numpy.asarray(…) or its parts"
            )
        if dtype.names or (scalar and dtype.kind in "USVc"):
            return self.reduced(value, type(value), path)
        name = dtype.name if dtype.name in _INLINE and dtype.isnative else dtype.str
        fields = {"dtype": name, "shape": list(value.shape)}
        node = dict(fields, **{"$": "scalar"}) if scalar else self.remember(value, "array", **fields)
        if type(value) is numpy.matrix:
            node["cls"] = "matrix"
        self.grow(path, value.nbytes)
        if value.size <= MOST_INLINE and (name in _INLINE or dtype.kind == "U"):
            node["data"] = _shortened(value.tolist(), name)
        else:
            descr, shape = NPY_TYPES.get(name, name), tuple(value.shape)
            self.buffers.append((node, lambda: Buffer(descr, shape, numpy.asarray(value).tobytes("C"))))
        return node

    def pandas(self, value: Any, path: str) -> Any:
        """Return the node of a table, column or index; None for anything else."""
        pandas = library("pandas")
        if pandas is None:
            return None
        if isinstance(value, pandas.DataFrame):
            return self.table(value, path)
        if isinstance(value, pandas.Series):
            node = self.remember(value, "make", kind="series", args=[])
            node["args"] = [self.column(value.array, path), *self.items([value.index, value.name], path)]
            return node
        if isinstance(value, (pandas.MultiIndex, pandas.RangeIndex)):
            return self.reduced(value, type(value), path)
        if isinstance(value, pandas.Index):
            node = self.remember(value, "make", kind="index", args=[])
            node["args"] = [self.column(value.array, path), self.node(value.name, path)]
            return node
        return self.column(value, path) if isinstance(value, pandas.api.extensions.ExtensionArray) else None

    def table(self, value: Any, path: str) -> Any:
        node = self.remember(value, "table", columns=None, index=None, v=[])
        node["columns"] = self.node(value.columns, path + ".columns")
        node["index"] = self.node(value.index, path + ".index")
        for index in range(value.shape[1]):
            array = value.iloc[:, index].array
            node["v"].append(self.column(array, join(path, "[%d]" % index)))
        return node

    def column(self, array: Any, path: str) -> Any:
        pandas: Any = sys.modules["pandas"]
        wrapped = type(array).__name__ in ("NumpyExtensionArray", "PandasArray")
        if wrapped or isinstance(array.dtype, sys.modules["numpy"].dtype):
            return self.node(array.to_numpy(), path)
        if isinstance(array.dtype, pandas.CategoricalDtype):
            args = [array.codes.copy(), array.categories, bool(array.ordered)]
            return {"$": "make", "kind": "categorical", "args": self.items(args, path)}
        return {"$": "make", "kind": "column", "args": self.items([list(array), str(array.dtype)], path)}

    def plain_object(self, value: Any, kind: type, path: str) -> Any:
        """Return the node of a plain object: its class, its content where it is a container, its attributes."""
        name, base = name_of(kind), content_type(kind)
        if name is None:
            return self.problem(path, value, "its class %s: %s" % (kind.__qualname__, LOCAL))
        node = self.remember(value, "object", cls=name, state={})
        if base in (str, int, float):
            node["base"] = base(value)
        elif base is not None:
            # Past any override of the class.
            content = (
                dict.items(value) if base is dict else base.__iter__(value) if base in _ITERATED else value
            )
            node["base"] = self.compound(base(content), base, path)
        if isinstance(value, collections.defaultdict):
            node["state"]["default_factory"] = self.node(value.default_factory, path)
        node["state"].update(self.state(state_of(value), path))
        return node

    def reduced(self, value: Any, kind: type, path: str) -> Any:
        """Return the node of an object whose state only its own code sees, by what it tells pickle."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                reducer: Any = copyreg.dispatch_table.get(kind)
                reduction = reducer(value) if reducer else value.__reduce_ex__(2)
            except Exception as error:
                advice = "%s; it holds what only this process has" % str(error)[:200]
                return self.problem(path, value, advice)
        if isinstance(reduction, str):
            name = name_of(value, reduction)
            return {"$": "name", "v": name} if name else self.problem(path, value, LOCAL)
        node = self.remember(value, "call", call=None, args=[])
        before, self.inside = len(self.omitted), self.inside + 1
        try:
            self.fill_call(node, kind, reduction, path)
        finally:
            self.inside -= 1
        # Here a gap would be passed to the object's own code: it cannot be stored without the part.
        if len(self.omitted) > before and not self.inside:
            self.problems.extend(self.omitted[before:])
        return node

    def fill_call(self, node: Dict[str, Any], kind: type, reduction: Tuple[Any, ...], path: str) -> None:
        """Add the parts of what ``__reduce_ex__`` returned."""
        call, arguments, state, elements, pairs = (*reduction, None, None, None)[:5]
        node["call"] = self.node(call, path)
        node["args"] = self.arguments(kind, arguments, path)
        # An exception has an empty __dict__ as soon as somebody asked for it.
        if state is not None and state != {}:
            node["state"] = self.node(state, path)
        if elements is not None:
            node["items"] = self.items(elements, path)
        if pairs is not None:
            node["pairs"] = self.pairs(pairs, path)

    def arguments(self, kind: type, arguments: Tuple[Any, ...], path: str) -> List[Any]:
        if kind is collections.defaultdict and arguments and name_of(arguments[0]) is None:
            # A factory without a name, such as a lambda, is known by what it makes.
            return [{"$": "make", "kind": "factory", "args": [self.node(arguments[0](), path)]}]
        return [self.node(argument, path + "<argument>[%d]" % n) for n, argument in enumerate(arguments)]


_BUILT_IN: Dict[type, Callable[[_Encoder, Any, str], Any]] = {
    list: _Encoder.sequence,
    tuple: _Encoder.sequence,
    set: _Encoder.unordered,
    frozenset: _Encoder.unordered,
    dict: _Encoder.dictionary,
    bytes: _Encoder.bytes,
    bytearray: _Encoder.bytes,
    complex: lambda encoder, value, path: {"$": "complex", "v": [value.real, value.imag]},
    OmittedPart: lambda encoder, value, path: {"$": "omitted"},
}
"""Type → how exactly its values are encoded; derived classes are objects."""
_ITERATED = (list, set, bytearray)


def _detached(torch: Any, value: Any) -> Any:
    """Return a plain tensor that shares a tensor's numbers."""
    with torch.no_grad():
        plain = value.detach()
        plain = plain if type(plain) is torch.Tensor else plain.as_subclass(torch.Tensor)
        for lazy in ("resolve_conj", "resolve_neg"):  # older versions have none of them
            plain = getattr(plain, lazy, lambda plain=plain: plain)()
    return plain


def _order(value: Any) -> Tuple[str, Any, str]:
    """Return the sort key of a set's element."""
    if type(value) in (int, float):
        return "number", value if value == value else float("-inf"), type(value).__name__
    if type(value) is str:
        return "str", 0, value
    try:
        return type(value).__qualname__, 0, json.dumps(encode(value).tree)
    except (Unstorable, TooLarge):
        return type(value).__qualname__, 0, ""


def _shortened(data: Any, dtype: str) -> Any:
    """Return numbers in few digits: enough to tell two numbers of single precision apart."""
    if isinstance(data, list):
        return [_shortened(number, dtype) for number in data]
    if dtype not in ("float32", "float16", "bfloat16") or data - data != 0:  # infinite, or NaN
        return data
    for digits in (6, 7, 8):
        short = float("%.*g" % (digits, data))
        if abs(short) < 3.4e38 and struct.unpack("<f", struct.pack("<f", short))[0] == data:
            return short
    return data


def _abbreviated(node: Any) -> Any:
    """Return the tree with lists and plain dictionaries as JSON has them, where nothing refers to them."""
    if isinstance(node, list):
        return [_abbreviated(part) for part in node]
    if not isinstance(node, dict):
        return node
    tag = node.get("$")
    node = {name: part if name == "data" else _abbreviated(part) for name, part in node.items()}
    if "id" in node:
        return node
    if tag == "list":
        return node["v"]
    if tag == "dict" and all(isinstance(key, str) and key != "$" for key, _ in node["v"]):
        return dict(node["v"])
    return node
