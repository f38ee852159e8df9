"""From a document back to Python values. Imports classes: only ever inside the environment."""

from __future__ import annotations

import base64
import collections
import copy
import functools
import logging
import types
from typing import Any, Callable, Dict, List, Optional

from . import arrays, objects, tensors, values
from .buffers import BadDocument
from .document import Document
from .fixtures import Fixtures
from .values import OmittedPart


class Decoder:
    """One decoding run; use :func:`lmr_author.probe.codec.decode`."""

    def __init__(self, document: Document, fixtures: Optional[Fixtures] = None) -> None:
        self.document = document
        self.fixtures = fixtures or Fixtures()
        self.storages: Dict[Any, Any] = {}
        self._known: Dict[int, Any] = {}

    def run(self) -> Any:
        """Decode the whole tree. Raises BadDocument."""
        try:
            return self.node(self.document.tree)
        except BadDocument:
            raise
        except RecursionError as error:
            raise BadDocument("nested too deeply") from error
        except Exception as error:
            raise BadDocument("%s: %s" % (type(error).__name__, error)) from error

    def node(self, node: Any) -> Any:
        """The value of a node."""
        if not isinstance(node, dict):
            return node
        if node["$"] == "ref":
            if node["id"] not in self._known:
                raise BadDocument("a reference to something that comes later")
            return self._known[node["id"]]
        value = _DECODERS[node["$"]](self, node)
        return self.known(node, value)

    def known(self, node: Dict[str, Any], value: Any) -> Any:
        """Note the value of a node, also while it is still being filled."""
        if "id" in node:
            self._known[node["id"]] = value
        return value

    def items(self, nodes: List[Any]) -> List[Any]:
        """Values of several nodes."""
        return [self.node(item) for item in nodes]

    def fill(self, target: Any, pairs: List[List[Any]]) -> Any:
        """Put key and item of each pair into a mapping."""
        for key, item in pairs:
            found = self.node(key)
            target[found] = self.node(item)
        return target


def _mapping(make: Callable[[], Any]) -> Callable[[Decoder, Dict[str, Any]], Any]:
    return lambda self, node: self.fill(self.known(node, make()), node["v"])


def _defaultdict(self: Decoder, node: Dict[str, Any]) -> Any:
    value: Any = self.known(node, collections.defaultdict())
    value.default_factory = self.node(node["factory"])
    return self.fill(value, node["v"])


def _factory(self: Decoder, node: Dict[str, Any]) -> Any:
    made = self.node(node["v"])
    return lambda: copy.deepcopy(made)


def _counter(self: Decoder, node: Dict[str, Any]) -> Any:
    return self.fill(self.known(node, collections.Counter()), node["v"])


def _list(self: Decoder, node: Dict[str, Any]) -> Any:
    value: List[Any] = self.known(node, [])
    for item in node["v"]:
        value.append(self.node(item))
    return value


def _set(self: Decoder, node: Dict[str, Any]) -> Any:
    value: Any = self.known(node, set())
    value.update(self.items(node["v"]))
    return value


def _deque(self: Decoder, node: Dict[str, Any]) -> Any:
    value: Any = self.known(node, collections.deque(maxlen=node["maxlen"]))
    value.extend(self.items(node["v"]))
    return value


def _class(name: str) -> Any:
    found = objects.resolve(name, load=True)
    if not isinstance(found, type):
        raise BadDocument("%s is no class" % name)
    return found


def _namedtuple(self: Decoder, node: Dict[str, Any]) -> Any:
    cls: Any = _class(node["cls"])
    return cls._make([self.node(item) for _, item in node["v"]])


def _object(self: Decoder, node: Dict[str, Any]) -> Any:
    cls = _class(node["cls"])
    base = objects.content_type(cls)
    if base in (None, dict, list, set, bytearray):
        value = self.known(node, objects.new_object(cls, None))
        if "base" in node:
            objects.fill_object(value, self.node(node["base"]))
    else:
        value = self.known(node, objects.new_object(cls, self.node(node["base"])))
    state = {name: self.node(item) for name, item in node["state"]}
    if isinstance(value, collections.defaultdict):
        value.default_factory = state.pop("default_factory", None)
    objects.set_state(value, state)
    return value


def _enum(self: Decoder, node: Dict[str, Any]) -> Any:
    return _class(node["cls"])(self.node(node["value"]))


def _value(self: Decoder, node: Dict[str, Any]) -> Any:
    builder = values.BUILDERS.get(node["type"])
    if builder is None:
        raise BadDocument("an unknown type of value: %.60r" % node["type"])
    return builder(*self.items(node["args"]))


def _name(self: Decoder, node: Dict[str, Any]) -> Any:
    if node["kind"] == "logger":
        return logging.getLogger(node["name"] or None)
    return objects.resolve(node["name"], load=True)


def _method(self: Decoder, node: Dict[str, Any]) -> Any:
    owner = self.node(node["self"])
    function = getattr(type(owner), node["name"], None)
    if isinstance(function, types.FunctionType):
        return types.MethodType(function, owner)
    return getattr(owner, node["name"])


def _partial(self: Decoder, node: Dict[str, Any]) -> Any:
    function, args = self.node(node["func"]), self.items(node["args"])
    return functools.partial(function, *args, **self.fill({}, node["kw"]))


def _reduce(self: Decoder, node: Dict[str, Any]) -> Any:
    call, args = self.node(node["call"]), self.items(node["args"])
    value = self.known(node, call(*args))
    state = self.node(node["state"])
    if state is not None:
        _set_reduced_state(value, state)
    for item in node["items"]:
        value.append(self.node(item))
    return self.fill(value, node["pairs"]) if node["pairs"] else value


def _set_reduced_state(value: Any, state: Any) -> None:
    """What pickle does with the state of ``__reduce_ex__``."""
    setter = getattr(value, "__setstate__", None)
    if setter is not None:
        setter(state)
        return
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    for name, item in (attributes or {}).items():
        value.__dict__[name] = item
    for name, item in (slots or {}).items():
        setattr(value, name, item)


def _tensor(self: Decoder, node: Dict[str, Any]) -> Any:
    cls = _class(node["cls"]) if node.get("cls") else None
    value = self.known(node, tensors.decode(self, node, cls))
    if "grad" in node:
        value.grad = self.node(node["grad"])
    for name, item in node.get("attrs", ()):
        value.__dict__[name] = self.node(item)
    return value


def _sparse(self: Decoder, node: Dict[str, Any]) -> Any:
    return tensors.decode_sparse(node, self.node(node["indices"]), self.node(node["values"]))


def _object_array(self: Decoder, node: Dict[str, Any]) -> Any:
    import numpy

    if len(node["v"]) > 10_000_000 or any(not 0 <= size <= len(node["v"]) for size in node["shape"]):
        raise BadDocument("objects that do not fit the shape %.60r" % node["shape"])
    array = self.known(node, numpy.empty(tuple(node["shape"]), dtype=object))
    return arrays.decode_object_array(node, self.items(node["v"]), array)


_DECODERS: Dict[str, Callable[[Decoder, Dict[str, Any]], Any]] = {
    "int": lambda self, node: int(node["hex"], 16),
    "str": lambda self, node: bytes.fromhex(node["hex"]).decode("utf-8", "surrogatepass"),
    "float": lambda self, node: float(node["v"]),
    "complex": lambda self, node: complex(self.node(node["re"]), self.node(node["im"])),
    "bytes": lambda self, node: base64.b64decode(node["b64"], validate=True),
    "bytearray": lambda self, node: bytearray(base64.b64decode(node["b64"], validate=True)),
    "list": _list,
    "tuple": lambda self, node: tuple(self.items(node["v"])),
    "set": _set,
    "frozenset": lambda self, node: frozenset(self.items(node["v"])),
    "deque": _deque,
    "dict": _mapping(dict),
    "OrderedDict": _mapping(collections.OrderedDict),
    "Counter": _counter,
    "defaultdict": _defaultdict,
    "factory": _factory,
    "namedtuple": _namedtuple,
    "object": _object,
    "enum": _enum,
    "slice": lambda self, node: slice(*self.items(node["v"])),
    "range": lambda self, node: range(*self.items(node["v"])),
    "ellipsis": lambda self, node: Ellipsis,
    "notimplemented": lambda self, node: NotImplemented,
    "value": _value,
    "name": _name,
    "method": _method,
    "partial": _partial,
    "reduce": _reduce,
    "ndarray": arrays.decode_array,
    "objectarray": _object_array,
    "npscalar": lambda self, node: arrays.decode_scalar(node),
    "tensor": _tensor,
    "sparse": _sparse,
    "dataframe": arrays.decode_table,
    "series": arrays.decode_table,
    "index": arrays.decode_table,
    "extension": arrays.decode_table,
    "categorical": arrays.decode_table,
    "fixture": lambda self, node: self.fixtures.build(node["name"]),
    "omitted": lambda self, node: OmittedPart(),
}
