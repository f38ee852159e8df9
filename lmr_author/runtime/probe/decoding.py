"""Documents back to Python values. Imports the classes that they name: only ever inside the environment."""

from __future__ import annotations

import base64
import collections
import copy
import importlib
import warnings
from typing import Any, Callable, Dict, List

from .arrays import numbers
from .closures import function_at
from .document import BadDocument, Document, join
from .objects import content_type, fill_object, new_object, own, resolve, set_state, state_parts


class OmittedPart:
    """Stands in for a part that was not recorded; using it raises RuntimeError."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        self()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("this part of an object was not recorded (see 'omitted' in its recording)")


class Decoder:
    def __init__(self, document: Document, build: Callable[[str], Any]) -> None:
        self.document, self.build = document, build
        self.values: Dict[int, Any] = {}
        self.path = ""

    def below(self, step: str, node: Any) -> Any:
        above, self.path = self.path, join(self.path, step)
        value = self.node(node)
        self.path = above  # after an exception the path stays, for its message
        return value

    def node(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.node(part) for part in node]
        if not isinstance(node, dict):
            return node
        if "$" not in node:
            return {key: self.below("[%r]" % key, part) for key, part in node.items()}
        if node["$"] == "ref":
            return self.values[node["id"]]
        simple = _SIMPLE.get(node["$"])
        return self._remember(node, simple(self, node) if simple else getattr(self, "_" + node["$"])(node))

    def _remember(self, node: Dict[str, Any], value: Any) -> Any:
        """Note a value for references to its node, which may lie inside the node."""
        if "id" in node:
            self.values[node["id"]] = value
        return value

    def _list(self, node: Dict[str, Any]) -> Any:
        value: List[Any] = self._remember(node, [])
        value.extend(self.node(part) for part in node["v"])
        return value

    def _dict(self, node: Dict[str, Any]) -> Any:
        value: Dict[Any, Any] = self._remember(node, {})
        for key, part in node["v"]:
            name = self.node(key)
            value[name] = self.node(part)
        return value

    def _set(self, node: Dict[str, Any]) -> Any:
        value: Any = self._remember(node, set())
        value.update(self.node(node["v"]))
        return value

    def _tensor(self, node: Dict[str, Any]) -> Any:
        import torch

        value = torch.from_numpy(numbers(self.document, node).copy()).to(getattr(torch, node["dtype"]))
        cls, needs = resolve(node["cls"]) if "cls" in node else torch.Tensor, node.get("requires_grad", False)
        if issubclass(cls, torch.nn.Parameter):
            value = torch.Tensor._make_subclass(cls, value, needs)
        else:
            value = value if cls is torch.Tensor else value.as_subclass(cls)
            value = value.requires_grad_() if needs else value
        value = self._remember(node, value if node.get("leaf", True) else value.clone())
        if "grad" in node:
            value.grad = self.node(node["grad"])
        for name, attribute in node.get("attrs", {}).items():
            value.__dict__[name] = self.node(attribute)
        return value

    def _array(self, node: Dict[str, Any]) -> Any:
        import numpy

        value = numbers(self.document, node).copy()
        return value.view(numpy.matrix) if node.get("cls") == "matrix" else value

    def _structured(self, node: Dict[str, Any]) -> Any:
        import numpy

        value = self._remember(node, numpy.zeros(tuple(node["shape"]), _dtype(numpy, node["layout"])))
        for name, part in node["v"].items():
            value[name] = self.below("." + name, part)
        if node.get("cls") == "recarray":
            return value.view(numpy.recarray)
        return value[()] if node.get("cls") == "scalar" else value

    def _sparse(self, node: Dict[str, Any]) -> Any:
        places, values, shape = self.node(node["places"]), self.node(node["numbers"]), tuple(node["shape"])
        if not node["layout"].startswith("sparse_"):
            coo = _library("scipy.sparse").coo_matrix((values, tuple(places)), shape)
            return resolve(node["layout"])(coo)
        torch = _library("torch")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of PyTorch, about checks and beta versions
            value = torch.sparse_coo_tensor(places, values, shape)
            if node.get("coalesced"):
                value = value._coalesced_(True)
            return value if node["layout"] == "sparse_coo" else getattr(value, "to_" + node["layout"])()

    def _objects(self, node: Dict[str, Any]) -> Any:
        import numpy

        value = self._remember(node, numpy.empty(tuple(node["shape"]), dtype=object))
        for index, element in enumerate(self.node(node["v"])):
            value.reshape(-1)[index] = element
        return value

    def _table(self, node: Dict[str, Any]) -> Any:
        import pandas

        columns, index = self.node(node["columns"]), self.node(node["index"])
        made = [pandas.Series(column, index=index, dtype=column.dtype) for column in self.node(node["v"])]
        table = pandas.DataFrame(dict(enumerate(made)), index=index)
        table.columns = columns
        return table

    def _object(self, node: Dict[str, Any]) -> Any:
        cls = resolve(node["cls"])
        if content_type(cls) in (None, dict, list, set, bytearray):
            value = self._remember(node, new_object(cls, None))
            if "base" in node:
                fill_object(value, self.node(node["base"]))
        else:
            value = self._remember(node, new_object(cls, self.node(node["base"])))
        state = {name: self.below("." + name, part) for name, part in node["state"].items()}
        if isinstance(value, collections.defaultdict):
            value.default_factory = state.pop("default_factory", None)
        if own(cls, "__getstate__") and hasattr(value, "__setstate__"):
            value.__setstate__(state)
        else:
            set_state(value, state)
        return value

    def _call(self, node: Dict[str, Any]) -> Any:
        value = self._remember(node, self.node(node["call"])(*[self.node(part) for part in node["args"]]))
        state = self.node(node.get("state"))
        if state is not None and hasattr(value, "__setstate__"):
            value.__setstate__(state)
        elif state is not None:
            set_state(value, state_parts(state) or {})
        for part in node.get("items", ()):
            value.append(self.node(part))
        for key, part in node.get("pairs", ()):
            value[self.node(key)] = self.node(part)
        return value


def _dtype(numpy: Any, layout: Any) -> Any:
    if isinstance(layout, list):
        return numpy.dtype((_dtype(numpy, layout[0]), tuple(layout[1])))
    if isinstance(layout, dict):
        layout = dict(layout, formats=[_dtype(numpy, part) for part in layout["formats"]])
    return numpy.dtype(layout)


def _library(name: str) -> Any:
    return importlib.import_module(name)


_SIMPLE: Dict[str, Callable[[Decoder, Dict[str, Any]], Any]] = {
    "tuple": lambda decoder, node: tuple(decoder.node(node["v"])),
    "frozenset": lambda decoder, node: frozenset(decoder.node(node["v"])),
    "bytes": lambda decoder, node: base64.b64decode(node["v"], validate=True),
    "bytearray": lambda decoder, node: bytearray(base64.b64decode(node["v"], validate=True)),
    "complex": lambda decoder, node: complex(*node["v"]),
    "omitted": lambda decoder, node: OmittedPart(),
    "name": lambda decoder, node: resolve(node["v"]),
    "fixture": lambda decoder, node: decoder.build(node["v"]),
    "namedtuple": lambda decoder, node: resolve(node["cls"])._make(map(decoder.node, node["v"].values())),
    "scalar": lambda decoder, node: decoder._array(node)[()],
    "make": lambda decoder, node: _built(node["kind"], *decoder.node(node["args"])),
}
_MAKERS: Dict[str, Callable[..., Any]] = {
    "generator": lambda state: _library("torch").Generator(device="cpu").set_state(state),
    "quantized": lambda *args: _library("torch")._make_per_tensor_quantized_tensor(*args[:3]),
    "factory": lambda made: lambda: copy.deepcopy(made),
    "series": lambda values, index, name: _library("pandas").Series(
        values, index=index, dtype=values.dtype, name=name
    ),
    "index": lambda values, name: _library("pandas").Index(values, dtype=values.dtype, name=name),
    "range": lambda *args: _library("pandas").RangeIndex(*args[:3], name=args[3]),
    "levels": lambda levels, names: _library("pandas").MultiIndex.from_arrays(levels, names=names),
    "categorical": lambda codes, *more: _library("pandas").Categorical.from_codes(codes, *more),
    "column": lambda values, dtype: _library("pandas").array(values, dtype=dtype),
}
"""Kind of a ``make`` → its constructor."""


def _built(kind: str, *args: Any) -> Any:
    return function_at(kind, *args) if ":" in kind else _MAKERS[kind](*args)


def _no_fixture(name: str) -> Any:
    raise LookupError("unit_test/fixtures.py is needed to build the fixture %s" % name)


def decode(document: Document, build: Callable[[str], Any] = _no_fixture) -> Any:
    """Rebuild a document's value and import the classes that it names. Raises BadDocument.

    Args:
        build: name of a fixture → its object.
    """
    decoder = Decoder(document, build)
    try:
        return decoder.node(document.tree)
    except RecursionError as error:
        raise BadDocument("nested too deeply") from error
    except Exception as error:
        raise BadDocument("%s: %s" % (type(error).__name__, error), decoder.path) from error
