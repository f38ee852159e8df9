"""Values to documents, without pickle: a full copy, so that later changes of the value do not show.

What has no node of its own is stored by what ``__reduce_ex__`` says of it. That is what pickle would do, but as a tree
that can be read and checked.
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
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple

from .decoding import OmittedPart
from .document import MAX_DEPTH, NPY_TYPES, Buffer, Document, Omitted, join, key_text
from .objects import CONTENT, HEAP_TYPE, content_type, hidden, recorded_module, resolve, state_of

DEFAULT_LIMIT = 256 * 1024 * 1024
"""Largest document by default (bytes)."""
MOST_INLINE = 200
"""So many numbers of an array stand in the tree, for people to read; more of them in a file of their own."""
ITERATOR = "an iterator can be read only once; pass a list, or move the loop out of the function"
LOCAL = "it has no importable name; define it at the top level of a module of the repository"
_NODE_BYTES = 6
"""What an item of a container takes as text, about, beside its own data."""
_PART = re.compile(r"[^.\[]*(?:[.\[][^.\[]*)?")
"""The first two steps of a path: an argument and its attribute or item."""


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


class _Known(NamedTuple):
    node: Dict[str, Any]
    value: Any
    """Kept, so that no other object gets its ``id``."""


class Encoder:
    """One run of :func:`encode`."""

    def __init__(
        self, limit: int, skip: Iterable[str], stands_in: Optional[Callable[[Any, str], Optional[str]]]
    ) -> None:
        self.limit, self.skip, self.stands_in = limit, frozenset(skip), stands_in
        self.omitted: List[Omitted] = []
        self.problems: List[Omitted] = []
        self._pending: List[Tuple[Dict[str, Any], Callable[[], Buffer]]] = []
        self._known: Dict[int, _Known] = {}
        self._open: List[int] = []
        self._ids = self._depth = self._inside = self._size = 0
        self._parts: Dict[str, int] = {}

    def run(self, value: Any) -> Document:
        """Encode ``value``. Raises Unstorable, TooLarge; large data are copied last."""
        try:
            tree = self.node(value, "")
        except RecursionError:
            self.problems.append(Omitted("", type(value).__name__, "it is nested too deeply"))
        if self.problems:
            raise Unstorable(self.problems)
        if self._size > self.limit:
            largest = max(self._parts, key=lambda part: self._parts[part]) if self._parts else ""
            raise TooLarge(largest, self._parts.get(largest, self._size), self.limit)
        buffers: Dict[str, Buffer] = {}
        for node, copied in self._pending:
            node["file"] = str(len(buffers))
            buffers[node["file"]] = copied()
        return Document(_abbreviated(tree), buffers, tuple(self.omitted))

    def _grow(self, path: str, size: int) -> None:
        """Count bytes of a part, so that the largest argument or attribute can be named."""
        self._size += size
        if size >= 1024:
            part = _PART.match(path).group()  # type: ignore[union-attr]
            self._parts[part] = self._parts.get(part, 0) + size

    def _problem(self, path: str, value: Any, advice: str) -> Dict[str, Any]:
        """Note a part that cannot be stored; inside an object it is only left out."""
        kind = type(value)
        name = (
            kind.__qualname__
            if kind.__module__ == "builtins"
            else "%s.%s" % (kind.__module__, kind.__qualname__)
        )
        (self.omitted if self._inside else self.problems).append(Omitted(path, name, advice))
        return {"$": "omitted"}

    def node(self, value: Any, path: str) -> Any:
        """Return the node of a value."""
        kind = type(value)
        if value is None or kind in (bool, float) or (kind is int and value.bit_length() < 4096):
            return value
        if kind is str:
            self._grow(path, len(value))
            try:
                value.encode("utf-8")
                return value
            except UnicodeEncodeError:  # JSON would make one character of two surrogates
                return {"$": "make", "kind": "text", "args": [value.encode("utf-8", "surrogatepass").hex()]}
        fixture = self.stands_in(value, path) if self.stands_in is not None else None
        if fixture is not None:
            return {"$": "fixture", "v": fixture}
        known = self._known.get(id(value))
        if known is not None:
            return self._reference(known.node, value, path)
        if path in self.skip:
            return self._problem(path, value, "it is too large; the function does not name it")
        if self._depth >= MAX_DEPTH // 2 or self._size > 4 * self.limit:
            return self._problem(path, value, "it is nested too deeply, or has too many parts")
        self._depth += 1
        try:
            return self._compound(value, kind, path)
        except RecursionError:
            raise
        except Exception as error:
            return self._problem(path, value, "%s: %s" % (type(error).__name__, str(error)[:200]))
        finally:
            self._depth -= 1

    def _reference(self, node: Dict[str, Any], value: Any, path: str) -> Dict[str, Any]:
        if id(node) in self._open:
            return self._problem(path, value, "it contains itself in a way that cannot be rebuilt")
        if "id" not in node:
            node["id"] = self._ids
            self._ids += 1
        return {"$": "ref", "id": node["id"]}

    def _remember(self, value: Any, tag: str, **fields: Any) -> Dict[str, Any]:
        """Make the node of an object, so that a second encounter becomes a reference."""
        node = dict({"$": tag}, **fields)
        self._known[id(value)] = _Known(node, value)
        return node

    def _sealed(self, node: Dict[str, Any], fill: Callable[[], None]) -> Dict[str, Any]:
        """Fill the node of what can be built only after its parts."""
        self._open.append(id(node))
        try:
            fill()
        finally:
            self._open.pop()
        return node

    def _items(self, value: Iterable[Any], path: str) -> List[Any]:
        nodes = [self.node(item, join(path, "[%d]" % place)) for place, item in enumerate(value)]
        self._grow(path, _NODE_BYTES * len(nodes))
        return nodes

    def _pairs(self, value: Iterable[Tuple[Any, Any]], path: str) -> List[List[Any]]:
        result = []
        for place, (key, item) in enumerate(value):
            key_node = self.node(key, join(path, "<key %d>" % place))
            result.append([key_node, self.node(item, join(path, key_text(key_node, place)))])
        self._grow(path, 2 * _NODE_BYTES * len(result))
        return result

    def _state(self, attributes: Iterable[Tuple[str, Any]], path: str) -> Dict[str, Any]:
        """Encode an object's attributes. One that cannot be stored leaves a gap."""
        self._inside += 1
        try:
            return {name: self.node(item, join(path, "." + name)) for name, item in attributes}
        finally:
            self._inside -= 1

    def _compound(self, value: Any, kind: type, path: str) -> Any:
        if kind in (list, dict, set):
            node = self._remember(value, kind.__name__, v=[])
            node["v"] = self._content(value, kind, path)
            return node
        if kind in (tuple, frozenset):
            node = self._remember(value, kind.__name__, v=[])
            return (
                self._sealed(node, lambda: node.update(v=self._content(value, kind, path))) if value else node
            )
        if kind in (bytes, bytearray):
            self._grow(path, len(value))
            return self._remember(value, kind.__name__, v=base64.b64encode(bytes(value)).decode("ascii"))
        if kind is complex:
            return {"$": "complex", "v": [value.real, value.imag]}
        if kind is OmittedPart:
            return {"$": "omitted"}
        if isinstance(value, types.ModuleType):
            return {"$": "name", "v": recorded_module(value.__name__) + ":"}
        for library in (self._torch, self._numpy, self._pandas):
            found = library(value, path)
            if found is not None:
                return found
        if isinstance(value, tuple) and hasattr(kind, "_fields") and name_of(kind):
            node = self._remember(value, "namedtuple", cls=name_of(kind), v={})
            fields = zip(kind._fields, value)
            return self._sealed(
                node, lambda: node["v"].update((k, self.node(v, join(path, "." + k))) for k, v in fields)
            )
        if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)) or callable(value):
            name = name_of(value)
            if name is not None:
                return {"$": "name", "v": name}
            if isinstance(value, (type, types.FunctionType)):
                return self._problem(path, value, LOCAL)
        if hasattr(kind, "__next__") or hasattr(kind, "__anext__"):
            return self._problem(path, value, ITERATOR)
        plain = is_plain(kind) and kind not in _LIBRARY and not isinstance(value, (enum.Enum, logging.Logger))
        return self._object(value, kind, path) if plain else self._reduced(value, kind, path)

    def _content(self, value: Any, kind: type, path: str) -> List[Any]:
        if kind is dict:
            return self._pairs(list(value.items()), path)
        # A set is always written in the same order, whatever the hash seed.
        return self._items(sorted(value, key=_order) if kind in (set, frozenset) else value, path)

    def _torch(self, value: Any, path: str) -> Any:
        torch: Any = sys.modules.get("torch")
        if torch is None or not hasattr(torch, "Tensor"):
            return None
        if isinstance(value, torch.Generator) and value.device.type == "cpu":
            node = self._remember(value, "make", kind="generator", args=[])
            node["args"] = [self.node(value.get_state(), path)]
            return node
        if not isinstance(value, torch.Tensor):
            return None
        dtype = str(value.dtype).rpartition(".")[2]
        if getattr(value, "is_meta", False) or type(value).__name__ in (
            "FakeTensor",
            "UninitializedParameter",
        ):
            return self._problem(
                path, value, "it has no data; run the driver without fake, meta or lazy tensors"
            )
        if value.layout is torch.sparse_coo:
            plain = value.detach()
            node = self._remember(value, "make", kind="sparse", args=[])
            made = [
                plain._indices().clone(),
                plain._values().clone(),
                list(plain.shape),
                bool(plain.is_coalesced()),
            ]
            node["args"] = self._items([*made, bool(value.requires_grad)], path)
            return node
        if value.layout is not torch.strided or getattr(value, "is_nested", False) or dtype not in NPY_TYPES:
            return self._problem(path, value, "only dense and COO tensors of plain numbers can be stored")
        node = self._remember(value, "tensor", dtype=dtype, shape=list(value.shape))
        if type(value) is not torch.Tensor:
            node["cls"] = name_of(type(value))
            if node["cls"] is None:
                return self._problem(path, value, LOCAL)
        if value.requires_grad:
            node.update(requires_grad=True, **({} if value.is_leaf else {"leaf": False}))
        if value.is_leaf and value.grad is not None:
            node["grad"] = self.node(value.grad, join(path, ".grad"))
        if getattr(value, "__dict__", None):
            node["attrs"] = self._state(list(value.__dict__.items()), path)
        with torch.no_grad():
            plain = value.detach()
            plain = plain if type(plain) is torch.Tensor else plain.as_subclass(torch.Tensor)
            for lazy in ("resolve_conj", "resolve_neg"):
                plain = getattr(plain, lazy)() if hasattr(plain, lazy) else plain
        size = plain.numel() * plain.element_size()
        self._grow(path, size)
        if plain.numel() <= MOST_INLINE and (dtype in _INLINE or dtype == "bfloat16"):
            node["data"] = _shortened(plain.tolist(), dtype)
            return node

        def copied() -> Buffer:
            dense = plain.cpu().contiguous()
            return Buffer(
                NPY_TYPES[dtype],
                tuple(plain.shape),
                ctypes.string_at(dense.data_ptr(), size) if size else b"",
            )

        self._pending.append((node, copied))
        return node

    def _numpy(self, value: Any, path: str) -> Any:
        numpy: Any = sys.modules.get("numpy")
        if (
            numpy is None
            or not hasattr(numpy, "ndarray")
            or not isinstance(value, (numpy.ndarray, numpy.generic))
        ):
            return None
        scalar, dtype = isinstance(value, numpy.generic), value.dtype
        cls = "" if scalar else type(value).__name__
        if dtype.kind == "O" and not dtype.names and cls == "ndarray":
            node = self._remember(value, "objects", shape=list(value.shape), v=[])
            node["v"] = self._items(value.ravel().tolist() if value.ndim else [value.item()], path)
            return node
        if not scalar and (
            cls not in ("ndarray", "memmap", "matrix", "recarray") or type(value).__module__[:5] != "numpy"
        ):
            return self._problem(
                path, value, "only plain arrays can be stored; pass numpy.asarray(…) or its parts"
            )
        if dtype.hasobject or dtype.kind == "T":
            return self._problem(path, value, "arrays of %s cannot be stored; use plain columns" % dtype)
        if scalar and dtype.kind in "USVc":
            return self._reduced(value, type(value), path)
        name = ascii(dtype.descr) if dtype.names else dtype.name if dtype.name in _INLINE else dtype.str
        name = name if dtype.isnative or dtype.names else dtype.str
        fields = {"dtype": name, "shape": list(value.shape)}
        node = dict(fields, **{"$": "scalar"}) if scalar else self._remember(value, "array", **fields)
        if cls in ("matrix", "recarray"):
            node["cls"] = cls
        self._grow(path, value.nbytes)
        if value.size <= MOST_INLINE and (name in _INLINE or dtype.kind == "U"):
            node["data"] = _shortened(value.tolist(), name)
            return node
        descr = NPY_TYPES.get(name, name)
        self._pending.append(
            (node, lambda: Buffer(descr, tuple(value.shape), numpy.asarray(value).tobytes("C")))
        )
        return node

    def _pandas(self, value: Any, path: str) -> Any:
        pandas: Any = sys.modules.get("pandas")
        if pandas is None or not hasattr(pandas, "DataFrame"):
            return None
        if isinstance(value, pandas.DataFrame):
            node = self._remember(value, "table", columns=None, index=None, v=[])
            node["columns"] = self.node(value.columns, path + ".columns")
            node["index"] = self.node(value.index, path + ".index")
            columns = [value.iloc[:, place].array for place in range(value.shape[1])]
            node["v"] = [self._column(item, join(path, "[%d]" % place)) for place, item in enumerate(columns)]
            return node
        if isinstance(value, pandas.Series):
            node = self._remember(value, "make", kind="series", args=[])
            node["args"] = [self._column(value.array, path), *self._items([value.index, value.name], path)]
            return node
        if isinstance(value, (pandas.MultiIndex, pandas.RangeIndex)):
            return self._reduced(value, type(value), path)
        if isinstance(value, pandas.Index):
            node = self._remember(value, "make", kind="index", args=[])
            node["args"] = [self._column(value.array, path), self.node(value.name, path)]
            return node
        return self._column(value, path) if isinstance(value, pandas.api.extensions.ExtensionArray) else None

    def _column(self, array: Any, path: str) -> Any:
        pandas: Any = sys.modules["pandas"]
        if isinstance(array.dtype, sys.modules["numpy"].dtype) or type(array).__name__ in (
            "NumpyExtensionArray",
            "PandasArray",
        ):
            return self.node(array.to_numpy(), path)
        if isinstance(array.dtype, pandas.CategoricalDtype):
            args = [array.codes.copy(), array.categories, bool(array.ordered)]
            return {"$": "make", "kind": "categorical", "args": self._items(args, path)}
        return {"$": "make", "kind": "column", "args": self._items([list(array), str(array.dtype)], path)}

    def _object(self, value: Any, kind: type, path: str) -> Any:
        """Encode a plain object: its class, what it contains, its attributes."""
        name, base = name_of(kind), content_type(kind)
        if name is None:
            return self._problem(path, value, "its class %s: %s" % (kind.__qualname__, LOCAL))
        node = self._remember(value, "object", cls=name, state={})

        def fill() -> None:
            if base is not None:
                content = (
                    dict(dict.items(value))
                    if base is dict
                    else base(base.__iter__(value) if base in (list, set) else value)
                )
                node["base"] = (
                    self._compound(content, base, path) if base not in (str, int, float) else content
                )
            if isinstance(value, collections.defaultdict):
                node["state"]["default_factory"] = self.node(value.default_factory, path)

        if base in (None, dict, list, set, bytearray):
            fill()
        else:
            self._sealed(node, fill)
        node["state"].update(self._state(state_of(value), path))
        return node

    def _reduced(self, value: Any, kind: type, path: str) -> Any:
        """Encode an object whose state only its own code sees: what pickle would do, as a tree."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                reducer: Any = copyreg.dispatch_table.get(kind)
                found = reducer(value) if reducer else value.__reduce_ex__(2)
            except Exception as error:
                return self._problem(
                    path, value, "%s; it holds what only this process has" % str(error)[:200]
                )
        if isinstance(found, str):
            name = name_of(value, found)
            return {"$": "name", "v": name} if name else self._problem(path, value, LOCAL)
        call, arguments, state, items, pairs = (tuple(found) + (None,) * 5)[:5]
        if kind is collections.defaultdict and arguments and name_of(arguments[0]) is None:
            # One without a name, such as a lambda, is known by what it makes.
            arguments = (_Factory(arguments[0]()),)
        node = self._remember(value, "call", call=None, args=[])

        def fill() -> None:
            node["call"] = self.node(call, path)
            node["args"] = [
                {"$": "make", "kind": "factory", "args": [self.node(item.made, path)]}
                if isinstance(item, _Factory)
                else self.node(item, path + "<argument>[%d]" % place)
                for place, item in enumerate(arguments)
            ]

        before, self._inside = len(self.omitted), self._inside + 1
        try:
            self._sealed(node, fill)
            if (
                state is not None and state != {}
            ):  # an exception has a __dict__ as soon as somebody asked for it
                node["state"] = self.node(state, path)
            if items is not None:
                node["items"] = self._items(items, path)
            if pairs is not None:
                node["pairs"] = self._pairs(pairs, path)
        finally:
            self._inside -= 1
        if len(self.omitted) > before and not self._inside:
            self.problems.extend(self.omitted[before:])
        return node


class _Factory(NamedTuple):
    made: Any


_LIBRARY = (collections.defaultdict, collections.OrderedDict, functools.partial)
"""Classes that know best how they are rebuilt; what derives from them is its attributes and its content."""
_INLINE = (
    "bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
)  # fmt: skip
"""Element types whose numbers JSON can hold."""


def _order(value: Any) -> Tuple[str, Any, str]:
    """Where an element of a set is written."""
    if type(value) in (int, float):
        return "number", value if value == value else float("-inf"), type(value).__name__
    if type(value) is str:
        return "str", 0, value
    try:
        return type(value).__qualname__, 0, json.dumps(encode(value).tree)
    except (Unstorable, TooLarge):
        return type(value).__qualname__, 0, ""


def _shortened(data: Any, dtype: str) -> Any:
    """Numbers in few digits: those that tell two numbers of single precision apart."""
    if isinstance(data, list):
        return [_shortened(item, dtype) for item in data]
    if (
        dtype not in ("float32", "float16", "bfloat16")
        or data != data
        or data in (float("inf"), float("-inf"))
    ):
        return data
    for digits in (6, 7, 8):
        short = float("%.*g" % (digits, data))
        if abs(short) < 3.4e38 and struct.unpack("<f", struct.pack("<f", short))[0] == data:
            return short
    return data


def _abbreviated(node: Any) -> Any:
    """The tree with lists and plain dictionaries as JSON has them, where nothing refers to them."""
    if isinstance(node, list):
        return [_abbreviated(item) for item in node]
    if not isinstance(node, dict):
        return node
    tag = node.get("$")
    node = {name: item if name == "data" else _abbreviated(item) for name, item in node.items()}
    if "id" not in node and tag == "list":
        return node["v"]
    if (
        "id" not in node
        and tag == "dict"
        and all(isinstance(key, str) and key != "$" for key, _ in node["v"])
    ):
        return dict(node["v"])
    return node


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

    Paths start at the value: item ``loss`` of a dictionary is ``loss``, its second item ``loss[1]``. What cannot be
    stored is left out when it is an object's attribute (see ``omitted``), and otherwise raises Unstorable with all
    such places. Raises TooLarge before large data are copied.
    """
    return Encoder(limit, skip, stands_in).run(value)


_TRANSPARENT = (
    object, *CONTENT, collections.OrderedDict, collections.defaultdict, types.SimpleNamespace,
)  # fmt: skip
_HOMES = (
    "builtins",
    "torch",
    "torch.nn.functional",
    "torch.special",
    "torch.linalg",
    "numpy",
    "math",
    "typing",
)
"""Modules that have functions and singletons which do not know where they are from."""


def name_of(value: Any, called: Optional[str] = None) -> Optional[str]:
    """Return ``module:qualname`` of a class, function or singleton if that leads to the very same object."""
    qualname = called or getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(qualname, str) or "<" in qualname:
        return None
    homes = [
        home for home in (getattr(value, "__module__", None), type(value).__module__) if isinstance(home, str)
    ]
    if not isinstance(value, (type, types.FunctionType)):
        homes += _HOMES
    for home in homes:
        for last in dict.fromkeys((qualname, qualname.rpartition(".")[2])):
            name = "%s:%s" % (recorded_module(home), last)
            try:
                found = resolve(name, load=False) if home not in hidden else None
            except LookupError:
                continue
            if found is value or (isinstance(found, types.BuiltinMethodType) and found == value):
                return name
    return None


def is_plain(cls: type) -> bool:
    """Tell whether an object of this class is its ``__dict__``, slots and container content, and no more.

    Others have state that only their own C code sees: those are stored by what ``__reduce_ex__`` says.
    """
    for base in cls.__mro__:
        if base in _TRANSPARENT:
            continue
        if not base.__flags__ & HEAP_TYPE:
            return False
        if base.__base__ is object and not {"__dict__", "__slots__"} & set(base.__dict__):
            return False
    return True
