"""Documents back to Python values. Imports the classes that they name: only ever inside the environment."""

from __future__ import annotations

import base64
import collections
import copy
import ctypes
import functools
import importlib
import warnings
from typing import Any, Callable, Dict, List, Optional

from .document import BadDocument, Document
from .objects import content_type, fill_object, new_object, resolve, set_state


class OmittedPart:
    """Stands where a part of an object was not recorded; any use of it says so."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        self()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("this part of an object was not recorded (see 'omitted' in its recording)")


class Decoder:
    """One run of :func:`decode`."""

    def __init__(self, document: Document, build: Optional[Callable[[str], Any]] = None) -> None:
        self.buffers, self.build = document.buffers, build
        self.known: Dict[int, Any] = {}

    def node(self, node: Any) -> Any:
        """Return the value of a node."""
        if isinstance(node, list):
            return [self.node(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$" not in node:
            return {key: self.node(item) for key, item in node.items()}
        if node["$"] == "ref":
            return self.known[node["id"]]
        simple = _SIMPLE.get(node["$"])
        return self._know(node, simple(self, node) if simple else getattr(self, "_" + node["$"])(node))

    def _know(self, node: Dict[str, Any], value: Any) -> Any:
        """Note the value of a node, also while it is still being filled."""
        if "id" in node:
            self.known[node["id"]] = value
        return value

    def _list(self, node: Dict[str, Any]) -> Any:
        value: List[Any] = self._know(node, [])
        value.extend(self.node(item) for item in node["v"])
        return value

    def _dict(self, node: Dict[str, Any]) -> Any:
        value: Dict[Any, Any] = self._know(node, {})
        for key, item in node["v"]:
            found = self.node(key)
            value[found] = self.node(item)
        return value

    def _set(self, node: Dict[str, Any]) -> Any:
        value: Any = self._know(node, set())
        value.update(self.node(node["v"]))
        return value

    def _fixture(self, node: Dict[str, Any]) -> Any:
        if self.build is None:
            raise LookupError("it takes unit_test/fixtures.py to build a fixture")
        return self.build(node["v"])

    def _class(self, node: Dict[str, Any]) -> Any:
        found = resolve(node["cls"], load=True)
        if not isinstance(found, type):
            raise TypeError("%s is no class" % node["cls"])
        return found

    def _tensor(self, node: Dict[str, Any]) -> Any:
        import torch

        dtype, shape = getattr(torch, node["dtype"]), tuple(node["shape"])
        if "data" in node:
            value = torch.tensor(node["data"], dtype=dtype).reshape(shape)
        else:
            data = self.buffers[node["file"]].data
            value = torch.empty(shape, dtype=dtype)
            if len(data) != value.numel() * value.element_size():
                raise ValueError("%d bytes for a tensor of %s" % (len(data), node["shape"]))
            ctypes.memmove(value.data_ptr(), data, len(data))
        needs = node.get("requires_grad", False)
        if "cls" in node and issubclass(self._class(node), torch.nn.Parameter):
            value = torch.Tensor._make_subclass(self._class(node), value, needs)
        else:
            value = value.as_subclass(self._class(node)) if "cls" in node else value
            value = value.requires_grad_() if needs else value
        value = self._know(node, value if node.get("leaf", True) else value.clone())
        if "grad" in node:
            value.grad = self.node(node["grad"])
        for name, item in node.get("attrs", {}).items():
            value.__dict__[name] = self.node(item)
        return value

    def _array(self, node: Dict[str, Any]) -> Any:
        import numpy

        kind = node["dtype"]
        dtype = numpy.dtype(_fields(kind) if kind.startswith("[") else kind)
        if dtype.hasobject:
            raise ValueError("an array of objects as raw data")
        if "data" in node:
            value = numpy.array(node["data"], dtype).reshape(tuple(node["shape"]))
        elif dtype.itemsize and self.buffers[node["file"]].data:
            value = (
                numpy.frombuffer(self.buffers[node["file"]].data, dtype).reshape(tuple(node["shape"])).copy()
            )
        else:
            value = numpy.zeros(tuple(node["shape"]), dtype)
        return value.view(getattr(numpy, node["cls"])) if node.get("cls") in ("matrix", "recarray") else value

    def _objects(self, node: Dict[str, Any]) -> Any:
        import numpy

        value = self._know(node, numpy.empty(tuple(node["shape"]), dtype=object))
        for place, item in enumerate(self.node(node["v"])):
            value.reshape(-1)[place] = item
        return value

    def _table(self, node: Dict[str, Any]) -> Any:
        import pandas

        index, columns = self.node(node["index"]), self.node(node["columns"])
        made = [_pandas("series", self.node(item), index, None) for item in node["v"]]
        table = pandas.DataFrame(dict(enumerate(made)), index=index)
        table.columns = columns
        return table

    def _namedtuple(self, node: Dict[str, Any]) -> Any:
        return self._class(node)._make([self.node(item) for item in node["v"].values()])

    def _object(self, node: Dict[str, Any]) -> Any:
        cls = self._class(node)
        if content_type(cls) in (None, dict, list, set, bytearray):
            value = self._know(node, new_object(cls, None))
            if "base" in node:
                fill_object(value, self.node(node["base"]))
        else:
            value = self._know(node, new_object(cls, self.node(node["base"])))
        state = {name: self.node(item) for name, item in node["state"].items()}
        if isinstance(value, collections.defaultdict):
            value.default_factory = state.pop("default_factory", None)
        set_state(value, state)
        return value

    def _call(self, node: Dict[str, Any]) -> Any:
        value = self._know(node, self.node(node["call"])(*[self.node(item) for item in node["args"]]))
        if node.get("state") is not None:
            _set_reduced_state(value, self.node(node["state"]))
        for item in node.get("items", ()):
            value.append(self.node(item))
        for key, item in node.get("pairs", ()):
            value[self.node(key)] = self.node(item)
        return value


def _set_reduced_state(value: Any, state: Any) -> None:
    if hasattr(value, "__setstate__"):
        value.__setstate__(state)
        return
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    set_state(value, dict(attributes or {}, **(slots or {})))


def _fields(text: str) -> Any:
    """The field list of a structured type as numpy.dtype takes it: unnamed padding gets a name."""
    import ast

    def named(fields: Any) -> Any:
        return [
            (
                field[0] or "_padding%d" % place,
                named(field[1]) if isinstance(field[1], list) else field[1],
                *field[2:],
            )
            for place, field in enumerate(fields)
        ]

    return named(ast.literal_eval(text))


def _generator(state: Any) -> Any:
    result = importlib.import_module("torch").Generator(device="cpu")
    result.set_state(state)
    return result


def _sparse(indices: Any, values: Any, shape: Any, coalesced: bool, requires_grad: bool) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing is checked: it was a tensor before
        made = importlib.import_module("torch").sparse_coo_tensor(indices, values, shape)
    return (made.coalesce() if coalesced else made).requires_grad_(requires_grad)


def _pandas(kind: str, values: Any, *args: Any) -> Any:
    pandas: Any = importlib.import_module("pandas")
    if kind == "series":
        return pandas.Series(values, index=args[0], name=args[1], dtype=values.dtype)
    if kind == "index":
        return pandas.Index(values, dtype=values.dtype, name=args[0])
    if kind == "categorical":
        return pandas.Categorical.from_codes(values, categories=args[0], ordered=args[1])
    return pandas.array(values, dtype=args[0])


_SIMPLE: Dict[str, Callable[[Decoder, Dict[str, Any]], Any]] = {
    "tuple": lambda decoder, node: tuple(decoder.node(node["v"])),
    "frozenset": lambda decoder, node: frozenset(decoder.node(node["v"])),
    "bytes": lambda decoder, node: base64.b64decode(node["v"], validate=True),
    "bytearray": lambda decoder, node: bytearray(base64.b64decode(node["v"], validate=True)),
    "complex": lambda decoder, node: complex(*node["v"]),
    "omitted": lambda decoder, node: OmittedPart(),
    "name": lambda decoder, node: resolve(node["v"], load=True),
    "scalar": lambda decoder, node: decoder._array(node)[()],
    "make": lambda decoder, node: _MAKERS[node["kind"]](*decoder.node(node["args"])),
}
_MAKERS: Dict[str, Callable[..., Any]] = {
    "generator": _generator,
    "sparse": _sparse,
    "text": lambda text: bytes.fromhex(text).decode("utf-8", "surrogatepass"),
    "factory": lambda made: lambda: copy.deepcopy(made),
    **{kind: functools.partial(_pandas, kind) for kind in ("series", "index", "categorical", "column")},
}


def decode(document: Document, build: Optional[Callable[[str], Any]] = None) -> Any:
    """Rebuild the value of a document; imports the classes it names. Raises BadDocument.

    Args:
        build: fixture's name → its object.
    """
    try:
        return Decoder(document, build).node(document.tree)
    except RecursionError as error:
        raise BadDocument("nested too deeply") from error
    except Exception as error:
        raise BadDocument("%s: %s" % (type(error).__name__, error)) from error
