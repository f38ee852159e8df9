"""Nodes of what no exact type settles: libraries' types, subclasses, objects, classes and functions by name."""

from __future__ import annotations

import collections
import copyreg
import enum
import types
import warnings
from typing import TYPE_CHECKING, Any, Dict

from . import arrays, jax_arrays, objects, tensors, values
from .problems import ITERATOR, LOCAL, Problem
from .tree import join as join_path

if TYPE_CHECKING:
    from .encoder import Encoder

PLACEHOLDER = {"$": "omitted"}
"""Stands for a part that is left out."""


def encode(encoder: Encoder, value: Any, kind: type, path: str) -> Any:
    """What no exact type settles: libraries' types, subclasses, objects."""
    if kind is values.OmittedPart:
        return dict(PLACEHOLDER)
    for library in (tensors.encode, arrays.encode, jax_arrays.encode):
        node = library(encoder, value, path)
        if node is not None:
            return node
    described = values.describe(value)
    if described is not None:
        name, arguments = described
        node = {"$": "value", "type": name, "args": []}
        if name in values.MUTABLE:
            encoder.remember(value, node)
        node["args"] = encoder.items(arguments, path)
        return node
    if isinstance(value, enum.Enum):
        return _enum(encoder, value, path)
    if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")):
        return named(encoder, value, path)
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return _namedtuple(encoder, value, path)
    if hasattr(kind, "__next__") or hasattr(kind, "__anext__"):
        return encoder.problem(path, value, ITERATOR)
    if objects.is_plain(kind):
        return _object(encoder, value, path)
    return _reduced(encoder, value, path)


def _enum(encoder: Encoder, value: Any, path: str) -> Any:
    name = encoder.class_name(type(value), value, path)
    return (
        dict(PLACEHOLDER)
        if name is None
        else {"$": "enum", "cls": name, "value": encoder.node(value.value, path)}
    )


def _namedtuple(encoder: Encoder, value: Any, path: str) -> Any:
    name = encoder.class_name(type(value), value, path)
    if name is None:
        return dict(PLACEHOLDER)
    node: Dict[str, Any] = {"$": "namedtuple", "cls": name, "v": []}

    def fill() -> None:
        for field, item in zip(value._fields, value):
            node["v"].append([field, encoder.node(item, join_path(path, "." + field))])

    return encoder.sealed(value, node, fill)


def named(encoder: Encoder, value: Any, path: str) -> Any:
    """A class or function by its name; a callable object that has none as any other object."""
    name = objects.name_of(value)
    if name is None:
        if not isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
            return (
                _object(encoder, value, path)
                if objects.is_plain(type(value))
                else _reduced(encoder, value, path)
            )
        return encoder.problem(path, value, LOCAL)
    return {"$": "name", "kind": "class" if isinstance(value, type) else "function", "name": name}


def _object(encoder: Encoder, value: Any, path: str) -> Any:
    cls = type(value)
    name = encoder.class_name(cls, value, path)
    if name is None:
        return dict(PLACEHOLDER)
    node: Dict[str, Any] = {"$": "object", "cls": name, "state": []}
    base = objects.content_type(cls)

    def fill_base() -> None:
        if base is dict:
            node["base"] = {"$": "dict", "v": encoder.pairs(dict.items(value), path)}
        elif base is not None:
            content = base(value) if base not in (list, set) else list(base.__iter__(value))
            node["base"] = encoder.node(base(content), path)
        if isinstance(value, collections.defaultdict):
            node["state"].append(
                ["default_factory", encoder.node(value.default_factory, path + ".default_factory")]
            )

    if base in (None, dict, list, set, bytearray):
        encoder.remember(value, node)
        fill_base()
    else:
        encoder.sealed(value, node, fill_base)
    node["state"].extend(encoder.state(objects.state_of(value), path, cls))
    return node


def _reduced(encoder: Encoder, value: Any, path: str) -> Any:
    """An object whose state only its own code sees: what pickle would do, as a tree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            reducer = copyreg.dispatch_table.get(type(value))
            parts = reducer(value) if reducer else value.__reduce_ex__(2)
        except Exception as error:
            return encoder.problem(path, value, "%s; it holds what only this process has" % str(error)[:200])
    if isinstance(parts, str):
        return encoder.problem(path, value, LOCAL)
    call, arguments, state, items, pairs = (tuple(parts) + (None,) * 5)[:5]
    if isinstance(state, dict) and not state:
        state = None  # an exception has a __dict__ as soon as somebody asked for it
    node: Dict[str, Any] = {"$": "reduce"}
    node.update(call=None, args=[], state=None, items=[], pairs=[])

    def fill() -> None:
        node["call"] = encoder.node(call, path)
        node["args"] = encoder.items(arguments, path + "<argument>")

    encoder.inside += 1
    before = len(encoder.omitted)
    try:
        encoder.sealed(value, node, fill)
        node["state"] = encoder.node(state, path)
        node["items"] = encoder.items(items or (), path)
        node["pairs"] = encoder.pairs(pairs or (), path)
    finally:
        encoder.inside -= 1
    if len(encoder.omitted) > before and not encoder.inside:
        encoder.problems.extend(Problem(*item) for item in encoder.omitted[before:])
    return node
