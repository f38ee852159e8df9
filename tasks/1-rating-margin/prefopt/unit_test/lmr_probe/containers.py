"""Nodes of Python's own types: containers, ranges, modules, methods, partial calls."""

from __future__ import annotations

import base64
import collections
import functools
import logging
import types
from typing import TYPE_CHECKING, Any, Callable, Dict

from . import instances, objects
from .problems import ITERATOR, LOCAL

if TYPE_CHECKING:
    from .encoder import Encoder

Handler = Callable[["Encoder", Any, str], Any]


def _sequence(tag: str) -> Handler:
    def encode(encoder: Encoder, value: Any, path: str) -> Any:
        node: Dict[str, Any] = {"$": tag, "v": []}
        if tag == "list":
            node = encoder.remember(value, node)
            node["v"] = encoder.items(value, path)
            return node
        if not value:
            return node

        def fill() -> None:
            node["v"] = encoder.items(value, path)

        return encoder.sealed(value, node, fill)

    return encode


def _set(tag: str) -> Handler:
    def encode(encoder: Encoder, value: Any, path: str) -> Any:
        node: Dict[str, Any] = {"$": tag, "v": []}

        def fill() -> None:
            node["v"] = encoder.items(sorted(value, key=encoder.order_key), path)

        if tag == "set":
            encoder.remember(value, node)
            fill()
            return node
        return encoder.sealed(value, node, fill) if value else node

    return encode


def _mapping(tag: str) -> Handler:
    def encode(encoder: Encoder, value: Any, path: str) -> Any:
        node = encoder.remember(value, {"$": tag, "v": []})
        if tag == "defaultdict":
            node["factory"] = _factory(encoder, value.default_factory, path + ".default_factory")
        node["v"] = encoder.pairs(list(value.items()), path)
        return node

    return encode


def _factory(encoder: Encoder, value: Any, path: str) -> Any:
    """A ``default_factory``. One without a name, such as a lambda, is known by what it makes."""
    if isinstance(value, types.FunctionType) and objects.name_of(value) is None:
        made = value()
        if isinstance(made, collections.defaultdict) and made.default_factory is value:
            return encoder.problem(path, value, LOCAL)
        return {"$": "factory", "v": encoder.node(made, path)}
    return encoder.node(value, path)


def _deque(encoder: Encoder, value: Any, path: str) -> Any:
    node = encoder.remember(value, {"$": "deque", "v": [], "maxlen": value.maxlen})
    node["v"] = encoder.items(list(value), path)
    return node


def _binary(tag: str) -> Handler:
    def encode(encoder: Encoder, value: Any, path: str) -> Any:
        encoder.grow(path, len(value))
        node = {"$": tag, "b64": base64.b64encode(bytes(value)).decode("ascii")}
        return encoder.remember(value, node) if tag == "bytearray" else node

    return encode


def _range(encoder: Encoder, value: Any, path: str) -> Any:
    kind = type(value).__name__
    parts = [value.start, value.stop, value.step]
    return {"$": kind, "v": [encoder.node(part, path) for part in parts]}


def _complex(encoder: Encoder, value: complex, path: str) -> Any:
    return {"$": "complex", "re": encoder.node(value.real, path), "im": encoder.node(value.imag, path)}


def _module(encoder: Encoder, value: Any, path: str) -> Any:
    return {"$": "name", "kind": "module", "name": objects.recorded_module(value.__name__)}


def _logger(encoder: Encoder, value: logging.Logger, path: str) -> Any:
    return {"$": "name", "kind": "logger", "name": "" if value is logging.root else value.name}


def _method(encoder: Encoder, value: Any, path: str) -> Any:
    owner = value.__self__
    if owner is None or isinstance(owner, types.ModuleType):
        return instances.named(encoder, value, path)
    if isinstance(owner, type) and objects.name_of(value):
        return instances.named(encoder, value, path)
    if getattr(type(owner) if not isinstance(owner, type) else owner, value.__name__, None) is None:
        return encoder.problem(path, value, LOCAL)
    return {"$": "method", "self": encoder.node(owner, path + ".__self__"), "name": value.__name__}


def _partial(encoder: Encoder, value: Any, path: str) -> Any:
    node: Dict[str, Any] = {"$": "partial", "func": None, "args": [], "kw": []}

    def fill() -> None:
        node["func"] = encoder.node(value.func, path + ".func")
        node["args"] = encoder.items(value.args, path + ".args")
        node["kw"] = encoder.pairs(value.keywords.items(), path + ".keywords")

    return encoder.sealed(value, node, fill)


def _cell(encoder: Encoder, value: Any, path: str) -> Any:
    return encoder.problem(path, value, LOCAL)


def _iterator(encoder: Encoder, value: Any, path: str) -> Any:
    return encoder.problem(path, value, ITERATOR)


HANDLERS: Dict[type, Handler] = {
    list: _sequence("list"),
    tuple: _sequence("tuple"),
    set: _set("set"),
    frozenset: _set("frozenset"),
    dict: _mapping("dict"),
    collections.OrderedDict: _mapping("OrderedDict"),
    collections.Counter: _mapping("Counter"),
    collections.defaultdict: _mapping("defaultdict"),
    collections.deque: _deque,
    bytes: _binary("bytes"),
    bytearray: _binary("bytearray"),
    complex: _complex,
    slice: _range,
    range: _range,
    type(Ellipsis): lambda encoder, value, path: {"$": "ellipsis"},
    type(NotImplemented): lambda encoder, value, path: {"$": "notimplemented"},
    types.ModuleType: _module,
    types.MethodType: _method,
    types.BuiltinMethodType: _method,
    functools.partial: _partial,
    logging.Logger: _logger,
    logging.RootLogger: _logger,
    types.GeneratorType: _iterator,
    types.CoroutineType: _iterator,
    types.CellType if hasattr(types, "CellType") else type((lambda x: lambda: x)(0).__closure__[0]): _cell,  # type: ignore[index]
}
