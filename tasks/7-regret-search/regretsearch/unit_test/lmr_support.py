"""Makes recorded calls again and compares their outcomes, for tests that lmr-author wrote.

Parts of its own probe, unchanged: the same file in every task, which `lmr-author validate` knows.
"""

from __future__ import annotations

import ast
import asyncio
import base64
import builtins
import cmath
import collections
import contextlib
import copy
import copyreg
import enum
import functools
import importlib
import importlib.util
import inspect
import itertools
import json
import logging
import math
import os
import random
import re
import struct
import sys
import traceback
import types
import warnings
from contextlib import contextmanager, nullcontext
from types import CodeType
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple, cast


# probe/document.py

FORMAT = "lmr-recording/2"
NODE, NODES, PAIRS, STATE = "node", "nodes", "pairs", "state"
"""Kinds of fields with nodes in them: one, a list, a list of pairs, one for each attribute."""
TEXT, FLAG, INTS, NAMES, DATA = "text", "flag", "ints", "names", "data"
"""Kinds of the others."""
_ARRAY = {"dtype": TEXT, "shape": INTS, "data": DATA, "file": TEXT}
FIELDS: Dict[str, Dict[str, str]] = {
    "ref": {},
    **{tag: {"v": NODES} for tag in ("list", "tuple", "set", "frozenset")},
    "dict": {"v": PAIRS},
    **{tag: {"v": TEXT} for tag in ("bytes", "bytearray", "name", "fixture")},
    "complex": {"v": DATA},
    "tensor": {**_ARRAY, "requires_grad": FLAG, "leaf": FLAG, "cls": TEXT, "grad": NODE, "attrs": STATE},
    "array": {**_ARRAY, "cls": TEXT},
    "scalar": _ARRAY,
    "objects": {"shape": INTS, "v": NODES},
    "structured": {"layout": DATA, "shape": INTS, "v": STATE, "cls": TEXT},
    "sparse": {"layout": TEXT, "shape": INTS, "places": NODE, "numbers": NODE, "coalesced": FLAG},
    "table": {"columns": NODE, "index": NODE, "v": NODES},
    "namedtuple": {"cls": TEXT, "v": STATE},
    "object": {"cls": TEXT, "base": NODE, "state": STATE, "lazy": NAMES},
    "call": {"call": NODE, "args": NODES, "state": NODE, "items": NODES, "pairs": PAIRS},
    "make": {"kind": TEXT, "args": NODES},
    "omitted": {},
}
"""Tag → its fields and their kinds, in the order in which their nodes are walked."""

NPY_TYPES = {
    "bool": "|b1", "uint8": "|u1", "int8": "|i1", "int16": "<i2", "uint16": "<u2", "int32": "<i4", "uint32": "<u4",
    "int64": "<i8", "uint64": "<u8", "float16": "<f2", "float32": "<f4", "float64": "<f8", "complex64": "<c8",
    "complex128": "<c16", "bfloat16": "<i2",
}  # fmt: skip
"""Element type → its ``.npy`` type. bfloat16, which numpy lacks, is stored as the integers with the same bits."""


class BadDocument(Exception):
    """A damaged recording. ``part``: what cannot be rebuilt, as in ``self.tokenizer``; "" for the whole."""

    def __init__(self, message: str, part: str = "") -> None:
        self.part = part
        super().__init__("%s: %s" % (part, message) if part else message)


class Refused(Exception):
    """A value that cannot be recorded."""


class Buffer(NamedTuple):
    """Numbers in C order. ``descr``: their type in ``.npy`` files."""

    descr: str
    shape: Tuple[int, ...]
    data: bytes


class Document:
    """A value as a JSON tree and buffers by name, and the parts that were left out."""

    def __init__(self, tree: Any, buffers: Dict[str, Buffer], omitted: Tuple[Any, ...] = ()) -> None:
        self.tree, self.buffers, self.omitted = tree, buffers, omitted


def is_complex(dtype: str) -> bool:
    return dtype.startswith("complex")


def tagged(node: Any) -> Any:
    """Return the tagged form of a node that JSON abbreviates: a list or an object with text keys."""
    if isinstance(node, list):
        return {"$": "list", "v": node}
    if isinstance(node, dict) and "$" not in node:
        return {"$": "dict", "v": [[key, value] for key, value in node.items()]}
    return node


def join(path: str, step: str) -> str:
    """Extend a path by a step; at the root, ``['loss']`` becomes ``loss``."""
    if path:
        return path + step
    return step[2:-2] if step.startswith(("['", '["')) else step.lstrip(".")


def key_text(key: Any, index: int) -> str:
    plain = key is None or isinstance(key, (bool, int, float, str))
    return "[%r]" % (key,) if plain else "[<item %d>]" % index


def parts(node: Any) -> Iterator[Tuple[str, Any]]:
    """Yield a node's children as (step, child), including the keys of pairs."""
    node = tagged(node)
    for name, kind in FIELDS[node["$"]].items() if isinstance(node, dict) else ():
        if name in node:
            yield from steps(name, kind, node[name])


def steps(name: str, kind: str, value: Any) -> Iterator[Tuple[str, Any]]:
    if kind == NODE:
        yield "" if name == "base" else "." + name, value
    elif kind == NODES:
        yield from (("[%d]" % index, node) for index, node in enumerate(value))
    elif kind == STATE:
        yield from (("." + attribute, node) for attribute, node in value.items())
    elif kind == PAIRS:
        for index, (key, node) in enumerate(value):
            if isinstance(key, (dict, list)):
                yield "<key %d>" % index, key
            yield key_text(key, index), node


def walk(tree: Any) -> Iterator[Tuple[str, Any]]:
    """Yield (path, node) of every node in recording order, without following references."""
    stack: List[Tuple[str, Any]] = [("", tree)]
    while stack:
        path, node = stack.pop()
        yield path, node
        if isinstance(node, (dict, list)):
            below = [(join(path, step) if step else path, part) for step, part in parts(node)]
            stack.extend(reversed(below))


def by_id(tree: Any) -> Dict[int, Any]:
    nodes = (node for _, node in walk(tree) if isinstance(node, dict) and node.get("$", "ref") != "ref")
    return {node["id"]: node for node in nodes if "id" in node}


def read(folder: str, stem: str) -> Document:
    """Read a trusted document; :func:`.checking.load` reads untrusted ones."""
    base = os.path.join(str(folder), stem)
    with open(base + ".json", encoding="utf-8") as text:
        header = json.load(text)
    if header["format"] != FORMAT:
        raise BadDocument("the format is %.40r, not %s" % (header["format"], FORMAT))
    buffers = {}
    for _, node in walk(header["values"]):
        if isinstance(node, dict) and "$" in node and "file" in node:
            name = node["file"]
            if not (isinstance(name, str) and name.isdigit()):
                raise BadDocument("not the name of a file: %.60r" % (name,))
            with open("%s.%s.npy" % (base, name), "rb") as file:
                buffers[name] = read_npy(file.read())
    return Document(header["values"], buffers, header["omitted"])


def read_npy(data: bytes) -> Buffer:
    """Parse ``.npy`` 1.0 by hand: it must not import numpy, which the recorded code may not use."""
    if data[:8] != b"\x93NUMPY\x01\x00":
        raise BadDocument("not a .npy file")
    (size,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + size].decode("latin1").strip())
    if header["fortran_order"] is not False:
        raise BadDocument("a .npy file that is not in C order")
    return Buffer(header["descr"], tuple(header["shape"]), data[10 + size :])


# probe/objects.py

MAIN = "__main__"
MAIN_STAND_IN = "__lmr_main__"
"""Module name of a script whose function is replayed."""
HELPERS = "unit_test"
"""Package name of the annotator's files."""
HEAP_TYPE = 1 << 9
CONTENT = (dict, list, set, frozenset, tuple, str, int, float, complex, bytes, bytearray)
_TRANSPARENT = (object, *CONTENT, collections.OrderedDict, collections.defaultdict, types.SimpleNamespace)
_HOMES = (
    "builtins", "torch", "torch.nn.functional", "torch.special", "torch.linalg", "numpy", "math", "typing",
)  # fmt: skip
"""Modules with functions and singletons that have no ``__module__``."""
_MARKS = {"torch": "Tensor", "numpy": "ndarray", "pandas": "DataFrame"}

aliases: Dict[str, str] = {MAIN_STAND_IN: MAIN}
"""Name that a module runs under → name that it is recorded by."""
is_lasting: Callable[[str], bool] = lambda home: True  # noqa: E731 (another takes its place)
"""Tells whether a replay can import a module again; a recorder replaces it (:mod:`.lasting`)."""


def library(name: str) -> Any:
    """Return torch, numpy or pandas if it is loaded: completely, and not a folder of the repository."""
    module = sys.modules.get(name)
    return module if hasattr(module, _MARKS[name]) else None


def load_file(name: str, path: str) -> Any:
    spec: Any = importlib.util.spec_from_file_location(name, str(path))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def load_helper(path: str) -> Any:
    """Import one of the annotator's files as ``unit_test.fixtures``."""
    path = os.path.realpath(path)
    folder, file = os.path.split(path)
    stem = os.path.splitext(file)[0]
    name = "%s.%s" % (HELPERS, stem)
    loaded = sys.modules.get(name)
    if loaded is not None and os.path.realpath(str(getattr(loaded, "__file__", ""))) == path:
        return loaded
    package: Any = sys.modules.setdefault(HELPERS, types.ModuleType(HELPERS))
    folders = list(getattr(package, "__path__", ()))
    if folder not in folders:
        package.__path__ = [folder, *folders]
    module = load_file(name, path)
    setattr(package, stem, module)
    return module


def resolve(name: str) -> Any:
    """Import the object ``module:qualname``; only inside the environment. Raises LookupError."""
    module_name, _, qualname = name.partition(":")
    if module_name == MAIN and MAIN_STAND_IN in sys.modules:
        module_name = MAIN_STAND_IN
    try:
        value: Any = importlib.import_module(module_name)
    except Exception as error:
        raise LookupError("cannot import %s: %s: %s" % (module_name, type(error).__name__, error)) from error
    for part in filter(None, qualname.split(".")):
        value = getattr(value, part, None)
    if value is None:
        raise LookupError("there is no %s" % name)
    return value


def recorded_module(name: str) -> str:
    return aliases.get(name, name)


def name_of(value: Any, called: Optional[str] = None) -> Optional[str]:
    """Return ``module:qualname`` of a class, function or singleton if it leads back to the same object."""
    qualname = called or getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(qualname, str) or "<" in qualname:
        return None
    homes = (getattr(value, "__module__", None), type(value).__module__)
    more = () if isinstance(value, (type, types.FunctionType)) else _HOMES
    for home in (*homes, *more):
        if not isinstance(home, str) or not is_lasting(home):
            continue
        for name in (qualname, qualname.rpartition(".")[2]):
            candidate = _look_up(home, name)
            if candidate is value or (isinstance(candidate, types.BuiltinMethodType) and candidate == value):
                return "%s:%s" % (recorded_module(home), name)
    return _name_in_a_class(value) if isinstance(value, type) else None


def _name_in_a_class(cls: type) -> Optional[str]:
    """Return the name of a class attribute like ``Match = namedtuple("Match", …)``: its qualname lacks the owner."""
    home = cls.__module__
    classes = vars(sys.modules[home]) if home in sys.modules and is_lasting(home) else {}
    for name, outer in list(classes.items()):
        inner = list(vars(outer).items()) if isinstance(outer, type) and outer.__module__ == home else ()
        for attribute in (attribute for attribute, value in inner if value is cls):
            return "%s:%s.%s" % (recorded_module(home), name, attribute)
    return None


def _look_up(home: str, qualname: str) -> Any:
    value: Any = sys.modules.get(home)
    for part in qualname.split("."):
        # getattr would make a lazy module import things that the recorded command never needed.
        is_module = isinstance(value, types.ModuleType)
        value = vars(value).get(part) if is_module else getattr(value, part, None)
    return value


def is_plain(cls: type) -> bool:
    """Tell whether ``__dict__``, slots and container content are all the state of an object; else C code has more."""
    for base in cls.__mro__:
        if base in _TRANSPARENT:
            continue
        if not base.__flags__ & HEAP_TYPE:
            return False
        if isinstance(vars(base).get("__new__"), types.BuiltinFunctionType):  # made by code in Rust or C
            return False
        if base.__base__ is object and not {"__dict__", "__slots__"} & set(base.__dict__):
            return False
    return True


def own(cls: type, name: str) -> bool:
    """Tell whether a class defines or inherits its own version of one of pickle's methods."""
    # An optimizer's state for checkpoints lacks some of its attributes.
    bases = [base for base in cls.__mro__ if base not in _TRANSPARENT]
    optimizer = ("torch.optim.optimizer", "Optimizer")
    return any(name in vars(base) for base in bases if (base.__module__, base.__name__) != optimizer)


def own_state(value: Any) -> Optional[Dict[str, Any]]:
    """Return the attributes of an object, or of its own ``__getstate__``; None where that returns anything else."""
    if not own(type(value), "__getstate__"):
        return dict(state_of(value))
    attributes = state_parts(value.__getstate__())
    return attributes if all(isinstance(name, str) for name in attributes or ()) else None


def state_parts(state: Any) -> Optional[Dict[str, Any]]:
    """Return the attributes in what ``__getstate__`` returns: ``__dict__``, or a pair of it and the slots."""
    both = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if not all(part is None or isinstance(part, dict) for part in both):
        return None
    return {**(both[0] or {}), **(both[1] or {})}


@functools.lru_cache(maxsize=None)
def lazy_names(cls: type) -> Tuple[str, ...]:
    """Return the names of cached properties: computed on first access, kept under the same name."""
    names: Dict[str, bool] = {}
    for base in cls.__mro__:
        for name, member in vars(base).items():
            names.setdefault(name, isinstance(getattr(type(member), "__get__", None), types.FunctionType))
            if isinstance(member, _BINDING) or hasattr(type(member), "__set__"):
                names[name] = False
    return tuple(sorted(name for name, is_lazy in names.items() if is_lazy))


_BINDING = (types.FunctionType, classmethod, staticmethod, functools.partialmethod, type)


def content_type(cls: type) -> Optional[type]:
    """Return the built-in container or scalar that a class derives from."""
    return next((base for base in cls.__mro__ if base in CONTENT), None)


def state_of(value: Any) -> Iterator[Tuple[str, Any]]:
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        attributes = {}
    yield from [(name, attribute) for name, attribute in list(attributes.items()) if isinstance(name, str)]
    for name, member in _slots(type(value)):
        try:
            yield name, member.__get__(value)
        except AttributeError:  # declared, and not set
            continue


def _slots(cls: type) -> List[Tuple[str, Any]]:
    return [
        (name, member)
        for base in cls.__mro__
        for name, member in vars(base).items()
        if isinstance(member, types.MemberDescriptorType) and base.__flags__ & HEAP_TYPE
    ]


def set_state(value: Any, state: Dict[str, Any]) -> None:
    """Restore attributes, bypassing ``__setattr__``."""
    slots = {name for name, _ in _slots(type(value))}
    for name, attribute in state.items():
        if name in slots:
            object.__setattr__(value, name, attribute)
        else:
            object.__getattribute__(value, "__dict__")[name] = attribute


def new_object(cls: type, content: Any) -> Any:
    """Create an object without ``__init__``; ``content``: that of an immutable built-in base."""
    base: Any = content_type(cls)
    if base in (str, int, float, complex, bytes, tuple, frozenset):
        return base.__new__(cls, content)
    homes: Any = (types.SimpleNamespace, collections.OrderedDict, collections.defaultdict)
    for home in homes:
        if issubclass(cls, home):
            return home.__new__(cls)
    return (base or object).__new__(cls)


def fill_object(value: Any, content: Any) -> None:
    """Restore the items of a subclass of a container, bypassing its overrides."""
    if isinstance(value, dict):
        home: Any = collections.OrderedDict if isinstance(value, collections.OrderedDict) else dict
        for key, part in content.items():
            home.__setitem__(value, key, part)
    fills: Any = ((list, list.extend), (set, set.update), (bytearray, bytearray.extend))
    for base, fill in fills:
        if isinstance(value, base):
            fill(value, content)


# probe/calling.py

CLOSURE, GLOBAL, MODE, RANDOM = "@closure ", "@global ", "@mode", "@random"
GRADIENTS, ITEMS = "@gradients", "@items"
"""Inputs beside the arguments; the first two are prefixes of the names of free variables and globals."""
VALUE, RAISED, EXHAUSTED, RETURNED = "value", "@raised", "@exhausted", "@returned"
"""Parts of the outcome; a generator's value is the list of its items."""
GRAD = "@grad "
"""Prefix of an argument of which only the ``.grad`` of tensors changed."""
ADDED = "@added"
"""Attributes that objects lacked before the call, or the arguments in which nothing else changed, with commas."""
ITEM_LIMIT = 1000
"""Most items of a generator that are kept."""
DEEPEST = 8
"""Nesting of containers in which tensors are searched."""


def with_prefix(inputs: Dict[str, Any], prefix: str) -> Dict[str, Any]:
    return {name[len(prefix) :]: value for name, value in inputs.items() if name.startswith(prefix)}


def unbind(function: Callable[..., Any], inputs: Dict[str, Any]) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """Return ``args`` and ``kwargs`` of a call. Raises TypeError where the function lacks a parameter."""
    signature = inspect.signature(function)
    unknown = [name for name in inputs if name[:1] != "@" and name not in signature.parameters]
    if unknown:
        raise TypeError("the function has no parameter %s" % ", ".join(unknown))
    bound = signature.bind_partial()
    bound.arguments.update((name, inputs[name]) for name in signature.parameters if name in inputs)
    return bound.args, bound.kwargs


def closure(function: Any) -> Dict[str, Any]:
    """Return ``{"@closure x": value}`` of a function's bound free variables, without the function itself."""
    function = inspect.unwrap(function)
    variables = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            if name not in ("__class__", function.__name__):
                variables[CLOSURE + name] = cell.cell_contents
        except ValueError:
            continue
    return variables


def call(function: Any, args: Any, kwargs: Any, most: int, keep: Callable[[Any], Any]) -> Dict[str, Any]:
    """Call a function, coroutine or generator to its end and return the parts of its outcome.

    Args:
        most: limit of a generator's items.
        keep: copies an item before the generator resumes.
    """
    value = function(*args, **kwargs)
    if inspect.iscoroutine(value):
        value = asyncio.run(value)
    if not inspect.isgenerator(value):
        return {VALUE: value}
    yielded: List[Any] = []
    while len(yielded) < most:
        try:
            yielded.append(keep(next(value)))
        except StopIteration as stop:
            return {VALUE: yielded, EXHAUSTED: True, RETURNED: stop.value}
    return {VALUE: yielded, EXHAUSTED: False}


@contextmanager
def _group_of_one(torch: Any) -> Iterator[None]:
    """Join a process group of one, without a network, for code that gathers or reduces."""
    distributed = torch.distributed
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        distributed.destroy_process_group()


@contextmanager
def applied(modes: Optional[Dict[str, Any]]) -> Iterator[None]:
    """Run in the recorded modes of PyTorch."""
    if not modes:
        yield
        return
    import torch

    before = torch.get_default_dtype(), torch.is_grad_enabled()
    torch.set_default_dtype(getattr(torch, modes.get("dtype", "float32")))
    torch.set_grad_enabled(modes.get("grad", True))
    autocast = nullcontext()
    if modes.get("autocast"):
        autocast = torch.autocast("cpu", dtype=getattr(torch, modes["autocast"]))
    alone = modes.get("group") and not torch.distributed.is_initialized()
    try:
        with _group_of_one(torch) if alone else nullcontext(), autocast:
            yield
    finally:
        torch.set_grad_enabled(before[1])
        torch.set_default_dtype(before[0])


def restore_random(states: Dict[str, Any]) -> None:
    """Restore the states of random generators, and seed those without one."""
    random.seed(0)
    if "python" in states:
        random.setstate(states["python"])
    if "numpy" in states or "numpy" in sys.modules:
        import numpy

        numpy.random.seed(0)
        if "numpy" in states:
            kind, keys, *rest = states["numpy"]
            numpy.random.set_state((kind, numpy.frombuffer(keys, dtype=numpy.uint32), *rest))
    if "torch" in states:
        import torch as loaded

        loaded.set_rng_state(loaded.tensor(list(states["torch"]), dtype=loaded.uint8))
    elif "torch" in sys.modules:
        # torch.manual_seed would slowly queue seeds for every device, with a stack trace each.
        torch = sys.modules["torch"]
        getattr(torch, "default_generator", torch).manual_seed(0)


def type_name(error: BaseException) -> str:
    cls = type(error)
    return cls.__qualname__ if cls.__module__ == "builtins" else "%s.%s" % (cls.__module__, cls.__qualname__)


def gradients(inputs: Dict[str, Any], value: Any) -> Dict[str, Any]:
    """Return path of an input → its gradient, of the inputs that require one and that the result depends on.

    The gradient is that of a sum of all floating tensors in ``value``, with fixed and different weights: the plain sum
    of a softmax is constant. It stops at the inputs, even where one was computed from another before the call. No
    ``.grad`` changes, and the caller keeps the graph.
    """
    torch = library("torch")
    if torch is None:
        return {}
    results = [tensor for _, tensor in _tensors(torch, {"": value})]
    wanted = list(_tensors(torch, inputs))
    if not results or not wanted:
        return {}
    by_path: Dict[str, Any] = {}

    def stop(path: str) -> Callable[[Any], Any]:
        def hook(gradient: Any) -> Any:
            by_path[path] = gradient.clone()
            return torch.zeros_like(gradient)

        return hook

    with torch.enable_grad():
        total = sum((tensor * _weights(torch, tensor)).sum() for tensor in results)
        wanted = _reached(total, wanted)
        hooks = [tensor.register_hook(stop(path)) for path, tensor in wanted]
        try:
            ends = [tensor for _, tensor in wanted]
            returned = torch.autograd.grad(total, ends, retain_graph=True, allow_unused=True)
        finally:
            for handle in hooks:
                handle.remove()
    # Before PyTorch 2.0 hooks of leaves do not run: then the gradient is what is returned.
    both = [(path, by_path.get(path, gradient)) for (path, _), gradient in zip(wanted, returned)]
    return {path: gradient for path, gradient in both if gradient is not None}


def _reached(total: Any, inputs: List[Tuple[str, Any]]) -> List[Tuple[str, Any]]:
    """Return the inputs from which the call computed its result.

    A replayed call gets its inputs as data: the search stops at them, before the parameters that they came from.
    """
    computed = {(tensor.grad_fn, tensor.output_nr) for _, tensor in inputs if not tensor.is_leaf}
    waiting, edges = [(total.grad_fn, 0)], set()
    while waiting:
        edge = waiting.pop()
        if edge[0] is not None and edge not in edges:
            edges.add(edge)
            waiting.extend(() if edge in computed else edge[0].next_functions)
    leaves = {id(getattr(function, "variable", None)) for function, _ in edges}

    def is_reached(tensor: Any) -> bool:
        return id(tensor) in leaves if tensor.is_leaf else (tensor.grad_fn, tensor.output_nr) in edges

    return [(path, tensor) for path, tensor in inputs if is_reached(tensor)]


def _weights(torch: Any, tensor: Any) -> Any:
    positions = torch.arange(tensor.numel(), dtype=torch.float64)
    return torch.cos(1.7 * positions + 0.3).reshape(tensor.shape).to(tensor)


def _tensors(torch: Any, values: Dict[str, Any]) -> Iterator[Tuple[str, Any]]:
    """Yield (first path, tensor) of the tensors in containers, objects and modules that require a gradient."""
    visited: Set[int] = set()
    waiting = [(path, value, 0) for path, value in reversed(list(values.items()))]
    while waiting:
        path, holder, depth = waiting.pop()
        if id(holder) in visited or depth > DEEPEST or isinstance(holder, (str, bytes, int, float)):
            continue
        visited.add(id(holder))
        if isinstance(holder, torch.Tensor):
            if holder.requires_grad and holder.is_floating_point():
                yield path, holder
            continue
        waiting.extend((path + step, part, depth + 1) for step, part in reversed(_steps(torch, holder)))


def _steps(torch: Any, value: Any) -> List[Tuple[str, Any]]:
    if isinstance(value, torch.nn.Module):
        return [("." + name, parameter) for name, parameter in value.named_parameters()]
    if isinstance(value, dict):
        return [("[%r]" % (key,), part) for key, part in value.items()]
    if isinstance(value, (list, tuple)):
        return [("[%d]" % index, part) for index, part in enumerate(value)]
    attributes = getattr(value, "__dict__", None)
    if isinstance(value, type) or not isinstance(attributes, dict) or callable(value):
        return []
    return [("." + name, part) for name, part in attributes.items()]


# probe/arrays.py

FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def is_floating(dtype: str) -> bool:
    """Tell whether numbers of a type, in any byte order, may have a tolerance."""
    return dtype in FLOATS or dtype[:2] in ("<f", ">f", "<c", ">c")


def native(dtype: str) -> str:
    """Return the name of an element type without its byte order."""
    return _NATIVE.get(dtype[1:], dtype[1:]) if dtype[:1] == ">" else dtype


_NATIVE = {"f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128"}
_NATIVE.update(
    {"%s%d" % (kind[0], size): kind + str(8 * size) for kind in ("int", "uint") for size in (2, 4, 8)}
)


class Spread(NamedTuple):
    """The largest differences between the numbers of two leaves."""

    max_abs: float = 0.0
    max_rel: float = 0.0


def dtype_of(node: Any) -> str:
    """Return the element type of a numeric leaf; "" for other nodes."""
    if not isinstance(node, dict):
        return "float64" if isinstance(node, float) else ""
    return "complex128" if node.get("$") == "complex" else str(node.get("dtype", ""))


def numbers(document: Document, node: Any) -> Any:
    """Return the numbers of a leaf as an array of numpy. Raises BadDocument."""
    import numpy

    try:
        if isinstance(node, float):
            return numpy.float64(node)
        if node["$"] == "complex":
            return numpy.complex128(complex(*node["v"]))
        kind = node["dtype"]
        if "data" in node:
            dtype = "float32" if kind == "bfloat16" else "float64" if is_complex(kind) else kind
            with numpy.errstate(over="ignore"):  # a hostile number becomes infinite
                value = numpy.array(node["data"], dtype)
                value = value.view("complex128").astype(kind) if is_complex(kind) else value
                return value.reshape(node["shape"])
        buffer = document.buffers[node["file"]]
        flat = numpy.frombuffer(buffer.data, buffer.descr) if buffer.data else numpy.zeros(0, buffer.descr)
        value = flat.reshape(buffer.shape)
        return (value.astype("<u2").astype("<u4") << 16).view("<f4") if kind == "bfloat16" else value
    except (ValueError, TypeError, KeyError, OverflowError, SyntaxError) as error:
        raise BadDocument("invalid numbers: %s" % error) from error


_BEYOND = Spread(math.inf, math.inf)
"""The difference that no tolerance allows, as of NaN or an infinity."""


def scalar_mismatch(e: Any, a: Any, rtol: float, atol: float) -> Optional[Tuple[str, Spread]]:
    """Compare two floats or complex numbers as :func:`array_mismatch` compares arrays."""
    if e == a or (e != e and a != a):
        return None
    distance, error = _BEYOND, abs(a - e)
    if cmath.isfinite(e) and cmath.isfinite(a):
        if error <= atol + rtol * abs(e):
            return None
        distance = Spread(error, error / abs(e) if e else math.inf)
    return "expected %r, got %r" % (e, a), distance


def array_mismatch(e: Any, a: Any, floating: bool, rtol: float, atol: float) -> Optional[Tuple[str, Spread]]:
    """Return None where arrays agree, NaN with NaN only, else a message and the largest difference."""
    import numpy

    if not floating:
        wrong = (e != a) & ((e == e) | (a == a))  # NaT != NaT
        return (_first(e, a, wrong), _BEYOND) if wrong.any() else None
    with numpy.errstate(all="ignore"):
        # In double precision: the rounding of the type itself must not decide.
        e, a = (side.astype("c16" if side.dtype.kind == "c" else "f8") for side in (e, a))
        same = (e == a) | (numpy.isnan(e) & numpy.isnan(a))
        finite = numpy.isfinite(e) & numpy.isfinite(a)
        error, scale = abs(a - e), abs(e)
        wrong = ~same & ~(finite & (error <= atol + rtol * scale))
        if not wrong.any():
            return None
        distance = _BEYOND
        if not (wrong & ~finite).any():
            counted = finite & ~same
            relative = numpy.where(scale > 0, error / scale, math.inf)
            distance = Spread(float(error[counted].max()), float(relative[counted].max()))
    return _first(e, a, wrong), distance


def aligned(e_places: Any, e_numbers: Any, a_places: Any, a_numbers: Any) -> Tuple[Any, Any]:
    """Return the numbers of two sparse matrices at the union of their places. Raises BadDocument."""
    import numpy

    for places, values in ((e_places, e_numbers), (a_places, a_numbers)):
        if places.ndim != 2 or values.ndim < 1 or places.shape[1] != values.shape[0]:
            raise BadDocument("a sparse matrix with other places than numbers")
    if e_places.shape[0] != a_places.shape[0] or e_numbers.shape[1:] != a_numbers.shape[1:]:
        raise BadDocument("a sparse matrix of another form")
    both = numpy.concatenate([e_places, a_places], axis=1)
    unique, inverse = numpy.unique(both, axis=1, return_inverse=True)
    count, results = e_places.shape[1], []
    for values, into in ((e_numbers, inverse.reshape(-1)[:count]), (a_numbers, inverse.reshape(-1)[count:])):
        results.append(numpy.zeros((unique.shape[1], *values.shape[1:]), values.dtype))
        numpy.add.at(results[-1], into, values)
    return results[0], results[1]


def _first(e: Any, a: Any, wrong: Any) -> str:
    import numpy

    if not wrong.shape:
        return "expected %r, got %r" % (e.item(), a.item())
    index = tuple(map(int, numpy.argwhere(wrong)[0]))
    count = "%d of %d elements differ" % (wrong.sum(), wrong.size)
    return "%s; first at %s: expected %r, got %r" % (count, list(index), e[index].item(), a[index].item())


# probe/closures.py

HIT = "__lmr_hit__"
"""Name of the function with which an instrumented target reports an executed block."""
is_of_repository: Callable[[str], bool] = lambda home: True  # noqa: E731 (another takes its place)
"""Tells whether a module lies in the repository; a recorder replaces it (:mod:`.lasting`)."""


def place_of(function: types.FunctionType) -> Optional[str]:
    """Return ``module:Layer.__init__.<lambda>(x)[scale]#0``, or None for a function of no module's code.

    In brackets: its parameters and the names that it uses; at the end its number among functions alike.
    """
    home = str(function.__globals__.get("__name__"))
    for place, codes in _places(home).items() if home in sys.modules and is_of_repository(home) else ():
        if function.__code__ in codes:
            return "%s:%s#%d" % (recorded_module(home), place, codes.index(function.__code__))
    return None


def closure_of(function: types.FunctionType) -> List[Any]:
    """Return a function's defaults and the values of its free variables. Raises ValueError where it calls itself."""
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    if any(value is function for value in values):
        raise ValueError("it calls itself")
    return [function.__defaults__, function.__kwdefaults__, *values]


def function_at(place: str, defaults: Any, keyword_defaults: Any, *values: Any) -> types.FunctionType:
    """Return the function at a place of :func:`place_of`. Raises LookupError."""
    home, _, rest = place.partition(":")
    inside, _, number = rest.rpartition("#")
    module = resolve(home + ":")
    codes = _places(module.__name__).get(inside, [])[int(number) :]
    if not codes or len(codes[0].co_freevars) != len(values):
        raise LookupError("there is no function %s" % place)
    cells = tuple(map(_cell, values))
    function = types.FunctionType(codes[0], vars(module), codes[0].co_name, defaults, cells)
    function.__kwdefaults__ = keyword_defaults
    return function


def _cell(value: Any) -> Any:  # Python 3.7 has no constructor for it
    return (lambda: value).__closure__[0]  # type: ignore[index]


@functools.lru_cache(maxsize=None)
def _places(home: str) -> Dict[str, List[types.CodeType]]:
    """Return the functions in a module's code, without those in the target, which other versions lack."""
    module = sys.modules[home]
    try:
        whole = module.__loader__.get_code(home)  # type: ignore[union-attr]
    except Exception:  # not from a file
        return {}
    found: Dict[str, List[types.CodeType]] = {}
    for names, code in _inside(whole, ()):
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        key = "%s(%s)[%s]" % (".".join(names), ", ".join(parameters), ", ".join(code.co_names))
        found.setdefault(key, []).append(code)
    return found


def _inside(code: types.CodeType, names: Tuple[str, ...]) -> Iterator[Tuple[Tuple[str, ...], types.CodeType]]:
    for part in code.co_consts if HIT not in code.co_names else ():
        if isinstance(part, types.CodeType):
            yield (*names, part.co_name), part
            yield from _inside(part, (*names, part.co_name))


# probe/decoding.py

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


# probe/looking.py

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


# probe/sides.py

MOST_KEYS = 2_000_000
"""Most values that are opened to sort sets and to search dictionaries: a limit for hostile documents."""
DEEPEST_KEY = 4
"""Nesting of tuples and frozen sets in a sort key."""


class Stored:
    def __init__(self, document: Document) -> None:
        self.document, self.ids = document, by_id(document.tree)
        self.keys_left = MOST_KEYS

    def followed(self, node: Any) -> Any:
        return self.ids[node["id"]] if isinstance(node, dict) and node.get("$") == "ref" else node

    def open(self, node: Any) -> Any:
        return tagged(self.followed(node))

    def numbers(self, node: Any) -> Any:
        return numbers(self.document, node)


class Live:
    """``fixture_of``: object → its fixture, or None."""

    def __init__(self, fixture_of: Callable[[Any], Optional[str]] = lambda value: None) -> None:
        self.fixture_of = fixture_of
        self.keys_left = MOST_KEYS

    def followed(self, value: Any) -> Any:
        return value

    def open(self, value: Any) -> Any:
        fixture = self.fixture_of(value)
        try:
            return look(value) if fixture is None else {"$": "fixture", "v": fixture}
        except Closed:
            return {"$": "omitted"}

    def numbers(self, node: Any) -> Any:
        import numpy

        if node["$"] != "tensor":
            return numpy.asarray(node["of"])
        plain = detached(library("torch"), node["of"])
        return (plain.float() if node["dtype"] == "bfloat16" else plain).numpy()


Side = Any


def plain_value(side: Side, node: Any) -> Any:
    """Convert a numpy scalar to a plain value; return any other node as it is. Raises BadDocument."""
    if not isinstance(node, dict) or node["$"] != "scalar":
        return node
    value = side.numbers(node).item()
    if isinstance(value, complex):
        return {"$": "complex", "v": [value.real, value.imag]}
    return value if isinstance(value, (bool, int, float, str)) else node


_NUMBER, _COMPLEX, _TEXT, _NOTHING, _SEQUENCE, _CALL, _NAME, _BYTES, _OBJECT, _OTHER = range(10)
"""Ranks of sort keys."""


def sort_key(side: Side, value: Any, depth: int = DEEPEST_KEY) -> Tuple[Any, ...]:
    """Return a key of values in any order: a rank, then what identifies the value; of an object its plain attributes.

    With other attributes, elements that hold sets of one another would never end.
    """
    side.keys_left -= 1
    if side.keys_left < 0:
        return _OTHER, ""
    node = plain_value(side, side.open(value))
    if isinstance(node, (bool, int, float)):
        return (_NUMBER, node, type(node).__name__) if node == node else (_NUMBER, float("-inf"), "nan")
    if isinstance(node, str):
        return _TEXT, node
    if node is None:
        return (_NOTHING,)
    tag = node["$"]
    if tag == "complex":
        return (_COMPLEX, *node["v"])
    if tag in ("tuple", "list", "frozenset", "namedtuple") and depth:
        parts = node["v"].values() if tag == "namedtuple" else node["v"]
        keys = [sort_key(side, part, depth - 1) for part in parts]
        return _SEQUENCE, tag, sorted(keys) if tag == "frozenset" else keys
    if tag == "call" and depth and not node.keys() & {"state", "items", "pairs"}:
        return _CALL, [sort_key(side, part, depth - 1) for part in (node["call"], *node["args"])]
    if tag == "name":
        return _NAME, node["v"]
    if tag in ("bytes", "bytearray"):
        return _BYTES, tag, node["v"]
    if tag == "object":
        return _OBJECT, node["cls"], _plain_state(side, node)
    return _OTHER, tag


def _plain_state(side: Side, node: Dict[str, Any]) -> List[Any]:
    """Return the plain attributes of an object, with a mark for its content and for each other attribute."""
    keys = [("", (_OTHER, ""))] if "base" in node else []
    for name, part in sorted(node["state"].items()):
        plain = plain_value(side, side.open(part))
        is_plain = plain is None or isinstance(plain, (bool, int, float, str))
        keys.append((name, sort_key(side, part, 0) if is_plain else (_OTHER, "")))
    return keys


def certainty(key: Any) -> int:
    """Return 2 where values are equal only if their keys are, 1 where equal keys mean equal values, else 0."""
    if isinstance(key, list):
        return min(map(certainty, key), default=2)
    rank = key[0]
    if rank == _NUMBER:
        return 1 if key[2] in ("float", "nan") else 2
    if rank == _OBJECT:
        return min([1, *(certainty(part) for _, part in key[2])]) if key[2] else 0
    if rank in (_SEQUENCE, _CALL):
        return certainty(key[-1])
    return 2 if rank in (_TEXT, _NOTHING, _NAME, _BYTES) else int(rank == _COMPLEX)


# probe/comparison.py

MOST = 20
"""Most differences that are kept and reported."""
MOST_UNORDERED = 2000
"""Most items that are matched by trying each pair."""
EXACT = 2**53
"""Limit of the integers that floats represent exactly."""
MOST_MATCHING = 200_000
"""Most failed comparisons while items are matched: a limit for hostile documents."""
DEFAULT = "*"
"""Checker of every part that has none of its own, and none above it."""
GRADS = "*.grad"
"""Checker of the ``.grad`` of every tensor that has none of its own."""

HAS_TO_CHANGE = "the call has to change it, and left it as it was"
HAS_TO_STAY = "the call changed it, and has to leave it as it is"

_DEFAULTDICT = {"$": "name", "v": "collections:defaultdict"}
_DEFAULTS: Mapping[Any, Any] = {
    "builtins:int": 0,
    "builtins:float": 0.0,
    "builtins:str": "",
    "builtins:bool": False,
}
"""Name of a defaultdict's factory → its result."""
_NOTHING = object()
"""A part that one side lacks."""
_EXACTLY: Mapping[str, Any] = {}
Checkers = Mapping[str, Mapping[str, Any]]

_LABELS = {"dtype": "element type", "shape": "shape", "requires_grad": "requires_grad"}
"""Fields of tensors and arrays that have to be the same before their numbers are compared."""


class Difference(NamedTuple):
    path: str
    message: str

    def __str__(self) -> str:
        return "%s: %s" % (self.path or "the value", self.message)


class Comparison:
    """Compares a document with another document or with live values.

    Args:
        checkers: path → ``{"kind": "exact"}``, ``{"kind": "allclose", "rtol": …, "atol": …}`` or
            ``{"kind": "ignore"}``; for sequences ``{"kind": "set"}`` (any order). A part without one takes that of the
            nearest path above it; then, where one object is in several places, that of the first place, unless that is
            not compared; then that of :data:`DEFAULT`, then exact.
        within: the comparison whose unordered items this one compares.
        may_add: objects may have attributes that the document's lack: their paths are ``additions``.
    """

    def __init__(
        self,
        expected: Stored,
        actual: Side,
        checkers: Optional[Checkers] = None,
        within: Optional[Comparison] = None,
        may_add: bool = False,
    ) -> None:
        self.expected, self.actual, self.checkers = expected, actual, checkers or {}
        self.may_add = may_add
        self.additions: List[str] = []
        self.added: List[str] = []
        nodes = walk(expected.document.tree) if within is None else ()
        self.first = {id(node): path for path, node in nodes if isinstance(node, (dict, list))}
        self.outermost: Comparison = self if within is None else within.outermost
        self.most = MOST if within is None else 1
        if may_add:
            self.most = 2 * MOST  # never reached: every addition is looked for
        self.differences: List[Difference] = []
        self.seen: Dict[Tuple[Any, ...], Any] = {}
        # of the outermost comparison:
        self.agreeing: Dict[Tuple[Any, ...], Tuple[bool, Any]] = {}
        self.assumed: List[Tuple[Any, ...]] = []
        self.failures = 0

    def run(self, expected: Any, actual: Any, path: str = "") -> List[Difference]:
        self.differences, self.seen = [], {}
        try:
            self.pair(expected, actual, path)
        except (RecursionError, BadDocument) as error:
            self.differ(path, "cannot be compared: %s" % error)
        return self.differences[:MOST]

    def differ(self, path: str, message: str) -> None:
        if len(self.differences) < MOST:
            self.differences.append(Difference(path, message))

    def pair(self, wanted: Any, got: Any, path: str) -> None:
        """Compare two values, unless they are ignored or were compared before."""
        if self.outermost is not self:
            self.outermost.failures += 1  # agrees() takes it back
            if self.outermost.failures > MOST_MATCHING:
                self.differ(path, "too much to be compared in any order")
                return
        node = self.expected.followed(wanted)
        first = self.first.get(id(node), path)
        checker = self.checker(path, first)
        if node == {"$": "omitted"} or path == ADDED or (path.startswith(GRAD) and self.left_out(path)):
            return
        skipped = checker.get("kind") == "ignore"
        if skipped and not self.below(path):
            return
        e, a = self.expected.open(node), self.actual.open(got)
        if any(isinstance(side, dict) and "id" in side for side in (e, a)):
            # One object in two places is compared twice where the checkers differ.
            checkers = [(rest, id(each)) for rest, each in self.below(path).items()]
            pair = (id(node), id(self.actual.followed(got)), id(checker), *checkers)
            if pair in self.seen:
                return
            self.seen[pair] = got  # kept, so that no other value gets its id
        if _kind(e) != _kind(a):
            e, a = plain_value(self.expected, e), plain_value(self.actual, a)
        if {type(e), type(a)} == {int, float} and abs(e) < EXACT and abs(a) < EXACT:
            e, a = float(e), float(a)  # a sum may start with 0 or 0.0
        # Unpacking and indexing a result work alike for a list and a tuple.
        sequences = path == "value" and {_kind(e), _kind(a)} == {"list", "tuple"}
        if _kind(e) == _kind(a) or sequences:
            self.values(e, a, path, first, checker)
        elif not skipped or isinstance(e, dict):
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))

    def values(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare two nodes of one kind."""
        tag = e["$"] if isinstance(e, dict) else ""
        if checker.get("kind") == "ignore":  # only parts with checkers of their own are compared
            if tag:
                self.parts(e, a, path)
        elif tag in ("set", "frozenset"):
            self.unordered(e["v"], a["v"], path, self.loosest(path, checker))
        elif checker.get("kind") == "set" and tag in ("list", "tuple", "array", "tensor"):
            self.unordered(_rows(self.expected, e), _rows(self.actual, a), path, checker)
        elif dtype_of(e):
            self.leaf(e, a, path, first, checker)
        elif tag == "sparse":
            self.sparse(e, a, path)
        elif tag:
            self.parts(e, a, path)
        elif e != a:
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))

    def checker(self, path: str, first: str) -> Mapping[str, Any]:
        """Return the checker of a path, or of the first place of the same object."""
        own = self.nearest(path)
        if own is None and first != path:
            own = self.nearest(first)
            own = None if own is not None and own.get("kind") == "ignore" else own
        return self.checkers.get(DEFAULT, _EXACTLY) if own is None else own

    def nearest(self, path: str) -> Optional[Mapping[str, Any]]:
        while path:
            if path in self.checkers:
                return self.checkers[path]
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return None

    def below(self, path: str) -> Checkers:
        """Return the checkers below a path, by the rest of their paths."""
        size = len(path)
        return {
            name[size:]: checker
            for name, checker in self.checkers.items()
            if name.startswith(path) and (not path or name[size : size + 1] in (".", "["))
        }

    def loosest(self, path: str, checker: Mapping[str, Any]) -> Dict[str, Any]:
        """Return the widest tolerance of unordered items, which have no paths of their own."""
        near = [each for each in (*self.below(path).values(), checker) if each.get("kind") == "allclose"]
        return {name: max([each.get(name, 0.0) for each in near], default=0.0) for name in ("rtol", "atol")}

    # in any order

    def unordered(self, wanted: List[Any], got: List[Any], path: str, checker: Mapping[str, Any]) -> None:
        """Compare items in any order, with one tolerance for all."""
        if len(wanted) != len(got):
            self.differ(path, "expected %d items, got %d" % (len(wanted), len(got)))
            return
        matches = self.match(wanted, got, checker)
        for index in [index for index in range(len(wanted)) if index not in matches][: self.most]:
            words = describe(self.expected.open(wanted[index]))
            self.differ(join(path, "[%d]" % index), "expected %s, which is nowhere" % words)

    def match(self, wanted: List[Any], got: List[Any], checker: Mapping[str, Any]) -> Dict[int, int]:
        """Return number of an item → number of its equal on the other side.

        First by equal keys, then by the order of the keys, then by trying each pair.
        """
        wanted_keys = [sort_key(self.expected, item) for item in wanted]
        got_keys = [sort_key(self.actual, item) for item in got]
        places: Dict[str, List[int]] = {}
        for number in reversed(range(len(got))):
            if certainty(got_keys[number]):
                places.setdefault(repr(got_keys[number]), []).append(number)
        equal = [places.get(repr(key)) for key in wanted_keys]
        matches = {index: numbers.pop() for index, numbers in enumerate(equal) if numbers}
        taken = frozenset(matches.values())
        left = [n for n, key in enumerate(wanted_keys) if n not in matches and certainty(key) < 2]
        right = [n for n, key in enumerate(got_keys) if n not in taken and certainty(key) < 2]
        left.sort(key=lambda index: wanted_keys[index])
        right.sort(key=lambda number: got_keys[number])
        near = {DEFAULT: dict(checker, kind="allclose"), GRADS: self.checkers.get(GRADS, _EXACTLY)}
        inner = Comparison(self.expected, self.actual, near, within=self)
        for index, number in list(zip(left, right)):
            if inner.agrees(wanted[index], got[number]):
                matches[index] = number
                left.remove(index)
                right.remove(number)
        for index in left if len(left) <= MOST_UNORDERED else ():
            match = next((number for number in right if inner.agrees(wanted[index], got[number])), None)
            if match is not None:
                matches[index] = match
                right.remove(match)
        return matches

    def agrees(self, wanted: Any, got: Any) -> bool:
        """Tell whether two items are equal. A pair that is being compared counts as equal further down."""
        outer, near = self.outermost, self.checkers[DEFAULT]
        ids = (id(self.expected.followed(wanted)), id(self.actual.followed(got)))
        pair = (*ids, near.get("rtol"), near.get("atol"))
        failures, size = outer.failures, len(outer.assumed)
        if pair not in outer.agreeing:
            outer.agreeing[pair] = True, (wanted, got)  # kept, so that no other values get their ids
            outer.assumed.append(pair)
            if self.run(wanted, got):
                for other in outer.assumed[size:]:  # it counted as equal because this pair did
                    del outer.agreeing[other]
                del outer.assumed[size:]
                outer.agreeing[pair] = False, (wanted, got)
        is_equal = outer.agreeing[pair][0]
        if is_equal:
            outer.failures = failures
        return is_equal

    # numbers

    def leaf(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        if isinstance(e, dict):
            for field, label in _LABELS.items():
                wanted, got = _label(e, field), _label(a, field)
                if wanted != got:
                    self.differ(path, "expected %s %s, got %s" % (label, wanted, got))
                    return
            if e.get("cls") != a.get("cls"):
                self.differ(path, "expected class %s, got %s" % (e.get("cls"), a.get("cls")))
        self.numeric(e, a, path, first, checker)
        if isinstance(e, dict) and e["$"] == "tensor":
            self.grads(e, a, join(path, ".grad"))
            attributes = [{"$": "object", "state": node.get("attrs", {})} for node in (e, a)]
            self.parts(attributes[0], attributes[1], path)

    def grads(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        checker = self.checkers.get(path) or self.checkers.get(GRADS) or {}
        if checker.get("kind") == "ignore":
            return
        if "grad" in e and "grad" in a:
            self.pair(e["grad"], a["grad"], path)
        elif "grad" in e:
            self.differ(path, "expected a gradient, got none")
        elif "grad" in a:
            self.differ(path, "expected no gradient")

    def left_out(self, path: str) -> bool:
        checker = self.checkers.get(GRADS, {}) if path.startswith(GRAD) else self.checker(path, path)
        return checker.get("kind") == "ignore"

    def numeric(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        floating = is_floating(dtype_of(e))
        rtol, atol = _tolerance(checker) if floating else (0.0, 0.0)
        if isinstance(e, float):
            mismatch = scalar_mismatch(e, a, rtol, atol)
        elif e["$"] == "complex":
            mismatch = scalar_mismatch(complex(*e["v"]), complex(*a["v"]), rtol, atol)
        else:
            wanted, got = self.expected.numbers(e), self.actual.numbers(a)
            mismatch = array_mismatch(wanted, got, floating, rtol, atol)
        if mismatch is not None:
            self.mismatch(mismatch, path, first, checker if floating else {})

    def mismatch(self, found: Tuple[str, Spread], path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Report numbers for which ``|actual - expected| <= atol + rtol * |expected|`` is false."""
        text, distance = found
        if math.isfinite(distance.max_abs):
            text += "; largest difference %.3g absolute, %.3g relative" % distance
        near = checker.get("kind") == "allclose"
        self.differ(path, text + (" (allowed: rtol %g, atol %g)" % _tolerance(checker) if near else ""))

    def sparse(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare sparse matrices, in any order of their elements and without the zeros that they store."""
        at = join(path, ".numbers")
        checker = self.checker(at, at)
        expected, actual = (
            [side.open(node[name]) for name in ("places", "numbers")]
            for side, node in ((self.expected, e), (self.actual, a))
        )
        problem = _contradiction(e, a)
        if not problem and _label(expected[1], "dtype") != _label(actual[1], "dtype"):
            problem = "expected %s, got %s" % (describe(expected[1]), describe(actual[1]))
        if problem:
            self.differ(at, problem)
            return
        wanted, got = aligned(*map(self.expected.numbers, expected), *map(self.actual.numbers, actual))
        mismatch = array_mismatch(wanted, got, wanted.dtype.kind in "fc", *_tolerance(checker))
        if mismatch is not None:
            self.mismatch(mismatch, at, at, checker)

    # parts

    def parts(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare two nodes of one tag: first their own texts and sizes, then their parts."""
        if e["$"] == "make" and {e["kind"], a["kind"]} == {"range", "index"}:
            self.index(e, a, path)
            return
        contradiction = _contradiction(e, a)
        if contradiction and self.checker(path, path).get("kind") != "ignore":
            self.differ(path, contradiction)
            return
        wanted, got = _own_steps(e), _own_steps(a)
        for step in dict(wanted, **got):
            if len(self.differences) >= self.most:
                return
            part = join(path, step) if step else path
            if step in wanted and step in got:
                self.pair(wanted[step], got[step], part)
            elif self.may_add and step in got and e["$"] == "object":
                self.additions.append(part)
            elif step[1:] not in e.get("lazy", ()):
                self.one_sided(wanted.get(step, _NOTHING), got.get(step, _NOTHING), path, part)
        self.items(e, a, path)

    def items(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        wanted, got = _pairs(e), _pairs(a)
        near = self.loosest(path, self.checker(path, path))
        matches = self.match([key for key, _ in wanted], [key for key, _ in got], near)
        found = frozenset(matches.values())
        if not path:  # the whole outcome
            self.added = [name for key, part in got if key == ADDED for name in str(part).split(",")]
        more = [(number, pair) for number, pair in enumerate(got) if number not in found]
        for index, (key, part) in enumerate(wanted):
            if len(self.differences) >= self.most:
                return
            at = join(path, key_text(plain_value(self.expected, self.expected.open(key)), index))
            if index in matches:
                self.pair(part, got[matches[index]][1], at)
            elif not _is_default(self.expected, part, self.actual, a):
                self.one_sided(part, _NOTHING, path, at)
        for number, (key, part) in more[: self.most]:
            at = join(path, key_text(plain_value(self.actual, self.actual.open(key)), number))
            if not _is_default(self.actual, part, self.expected, e):
                self.one_sided(_NOTHING, part, path, at)
        numbers = [matches[index] for index in sorted(matches)]
        if e.get("call") == {"$": "name", "v": "collections:OrderedDict"} and numbers != sorted(numbers):
            self.differ(path, "the keys are in another order")

    def index(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare a range index of pandas with another index."""
        wanted, got = _entries(self.expected, e), _entries(self.actual, a)
        if any(one != other for one, other in itertools.zip_longest(wanted, got)):
            self.differ(path, "expected other entries")
        self.pair(e["args"][-1], a["args"][-1], join(path, ".name"))

    def one_sided(self, wanted: Any, got: Any, path: str, part: str) -> None:
        """Report a part that only one side has."""
        may_be = part == ADDED or (wanted is _NOTHING and part in self.added)
        if may_be or self.left_out(part) or wanted == {"$": "omitted"}:
            return
        if not path and part not in (VALUE, RAISED, EXHAUSTED, RETURNED, GRADIENTS):  # a changed argument
            self.differ(part, HAS_TO_STAY if wanted is _NOTHING else HAS_TO_CHANGE)
        elif wanted is _NOTHING:
            self.differ(part, "expected nothing, got %s" % describe(self.actual.open(got)))
        else:
            self.differ(part, "expected %s, got nothing" % describe(self.expected.open(wanted)))


def _is_default(side: Side, part: Any, other: Side, node: Dict[str, Any]) -> bool:
    """Tell whether a part is the default of the other side's defaultdict: a mere lookup adds it."""
    if other.open(node.get("call")) != _DEFAULTDICT or not node["args"]:
        return False
    factory = other.open(node["args"][0])
    if not isinstance(factory, dict):
        return False
    default = _DEFAULTS.get(factory.get("v")) if factory["$"] == "name" else None
    if factory.get("kind") == "factory":
        default = plain_value(other, other.open(factory["args"][0]))
    value = plain_value(side, side.open(part))
    return isinstance(default, (int, float, str)) and type(value) is type(default) and bool(value == default)


def _tolerance(checker: Mapping[str, Any]) -> Tuple[float, float]:
    near = checker.get("kind") == "allclose"
    return (float(checker.get("rtol", 0.0)), float(checker.get("atol", 0.0))) if near else (0.0, 0.0)


def _label(node: Dict[str, Any], field: str) -> Any:
    value = node.get(field, False)
    return native(value) if field == "dtype" and value else value


def _contradiction(e: Dict[str, Any], a: Dict[str, Any]) -> str:
    """Return how the texts, flags or sizes of two nodes of one tag differ, or ""."""
    for name, kind in FIELDS[e["$"]].items():
        if kind in (TEXT, INTS, FLAG) and e.get(name) != a.get(name):
            in_words = (
                (describe(e), describe(a)) if name == "cls" else (_short(e.get(name)), _short(a.get(name)))
            )
            return "expected %s, got %s" % in_words
        if kind == NODES and len(e.get(name, ())) != len(a.get(name, ())):
            return "expected %d items, got %d" % (len(e.get(name, ())), len(a.get(name, ())))
    return ""


def _rows(side: Side, node: Dict[str, Any]) -> List[Any]:
    return list(side.numbers(node).tolist() if "dtype" in node else node["v"])


def _pairs(node: Dict[str, Any]) -> List[List[Any]]:
    return list(node["v"] if node["$"] == "dict" else node.get("pairs", ()))


def _entries(side: Side, node: Dict[str, Any]) -> Iterable[Any]:
    """Return the integers in an index of pandas. Raises BadDocument."""
    limits, array = node["args"][:-1], side.open(node["args"][0]) if node["args"] else None
    if node["kind"] == "range" and [type(limit) for limit in limits] == [int] * 3 and limits[2]:
        return range(*limits)
    if not isinstance(array, dict) or array.get("dtype") != "int64":
        raise BadDocument("no index of whole numbers")
    return list(side.numbers(array).tolist())


def _own_steps(node: Dict[str, Any]) -> Dict[str, Any]:
    """Return step → part of a node, without its pairs."""
    fields = [item for item in FIELDS[node["$"]].items() if item[1] != PAIRS and item[0] in node]
    return {step: part for name, kind in fields for step, part in steps(name, kind, node[name])}


def _kind(node: Any) -> str:
    return str(node["$"]) if isinstance(node, dict) else type(node).__name__


def describe(node: Any) -> str:
    node = tagged(node)
    if not isinstance(node, dict):
        return _short(node)
    tag, content = node["$"], node.get("v")
    if tag == "name":
        return str(content)
    if tag == "complex":
        return str(complex(*node["v"]))
    if tag == "omitted":
        return "something that was not stored"
    if tag == "fixture":
        return "the fixture %s" % content
    if tag == "call":  # as pickle makes an object: its class is called, or is the first argument
        called = [_last_name(part) for part in (node["call"], *node["args"][:1])]
        return "a %s" % (called[-1] if called[0] == "__newobj__" and called[-1] else called[0])
    text = "an array" if tag == "array" else "a " + _last_name(node.get("cls") or node.get("kind") or tag)
    if "dtype" in node:
        return text + " %s%s" % (node["dtype"], node["shape"])
    return text + (" of %d" % len(content) if isinstance(content, list) else "")


def _last_name(value: Any) -> str:
    """Return the last part of the name of a class or function, given as a text, a node or an object."""
    text = value.get("v", "") if isinstance(value, dict) else getattr(value, "__qualname__", value)
    return str(text).rpartition(":")[2].rpartition(".")[2]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."


# probe/effects.py

VALUE_ARGUMENT = "@argument value"
"""The part of an outcome that is a changed argument named ``value``."""


class Fixtures:
    """The fixtures of one call: objects that a replay builds, recorded by name only.

    A fixture is a function without arguments in ``unit_test/fixtures.py``, which builds the arguments and attributes of
    its name. ``path``: that file; None where nothing is built.
    """

    def __init__(self, path: Optional[str] = None) -> None:
        self.path = path
        self._names_by_id: Dict[int, Tuple[Any, ...]] = {}
        self._built: Dict[str, Any] = {}
        self._module: Any = None

    def named(self, value: Any, path: str = "") -> Optional[str]:
        """Return the fixture that an object was found or built for, or None."""
        name: Optional[str] = self._names_by_id.get(id(value), (None,))[0]
        return name

    def build(self, name: str) -> Any:
        """Return the one object of a fixture. Raises LookupError, and what the function raises."""
        if name not in self._built:
            function = self.functions().get(name)
            if function is None:
                raise LookupError("unit_test/fixtures.py has no function %s" % name)
            self._built[name] = function()
            self._names_by_id[id(self._built[name])] = (name, self._built[name])
        return self._built[name]

    def functions(self) -> Dict[str, Any]:
        if self.path is None:
            raise LookupError("it takes unit_test/fixtures.py to build a fixture")
        self._module = self._module or load_helper(self.path)
        return {name: value for name, value in vars(self._module).items() if inspect.isfunction(value)}


class Outcome:
    """The outcome of a call: what it returned or raised, and what it changed.

    Args:
        parts: what the call may change.
        document: the same before the call.
        fixture_of: object and path → its fixture, or None.
        gradients: whether gradients belong to the outcome.
    """

    def __init__(
        self,
        parts: Dict[str, Any],
        document: Document,
        fixture_of: Callable[..., Optional[str]] = lambda value, path="": None,
        gradients: bool = False,
    ) -> None:
        self.parts, self.document, self.fixture_of = parts, document, fixture_of
        self.gradients = gradients

    def changes(self, function: Any, value: Any = None) -> Dict[str, Any]:
        """Return the parts that the call changed. ``value``: what it returned, which may be one of them."""
        effects: Dict[str, Any] = {}
        added: List[str] = []
        now = dict(self.parts)
        now.update({name: value for name, value in closure(function).items() if name in now})
        before, live = Stored(self.document), Live(self.fixture_of)
        exactly = Comparison(before, live)
        but_grads = Comparison(before, live, {GRADS: {"kind": "ignore"}})
        but_new = Comparison(before, live, {GRADS: {"kind": "ignore"}}, may_add=True)
        for name, node in self.document.tree.items():
            if name in now and not name.startswith(GLOBAL) and exactly.run(node, now[name]):
                changed = VALUE_ARGUMENT if name == VALUE else name
                if not but_grads.run(node, now[name]):
                    changed = GRAD + name
                else:
                    but_new.additions = []
                    is_more = not but_new.run(node, now[name], changed)
                    added += [changed] if is_more else but_new.additions
                    if value is now[name]:
                        added += [VALUE + path[len(changed) :] for path in but_new.additions]
                effects[changed] = now[name]
        return dict(effects, **{ADDED: ",".join(added)}) if added else effects

    def whole(self, function: Any, result: Dict[str, Any]) -> Dict[str, Any]:
        """Return the outcome as live values. ``result``: that of :func:`.calling.call`, or what was raised."""
        root = dict(result)
        if self.gradients and VALUE in result and EXHAUSTED not in result:
            root[GRADIENTS] = gradients(self.parts, result[VALUE])
        return dict(root, **self.changes(function, result.get(VALUE)))

    def item(self, value: Any) -> Any:
        """Take an item of a generator before it resumes."""
        raise NotImplementedError

    def ended(self, function: Any, result: Dict[str, Any]) -> Optional[Document]:
        """Take the outcome; the items of a generator are what :meth:`item` returned."""
        raise NotImplementedError


# probe/repeating.py

class Repeated(NamedTuple):
    """The result of a call: its status and, if it returned or raised, its outcome."""

    status: str
    """``returned``, ``raised``, ``unstorable`` or ``bad-inputs``."""
    document: Optional[Document] = None
    error: Optional[BaseException] = None
    function: Any = None


def repeat(
    find: Callable[[Dict[str, Any]], Any],
    inputs: Document,
    take: Callable[..., Outcome],
    fixtures: Optional[str] = None,
    begin: Callable[[], Any] = lambda: None,
) -> Repeated:
    """Call a function with recorded inputs. Whatever it does is a result.

    Args:
        find: free variables by name → the function.
        take: constructor of the :class:`.effects.Outcome`.
        fixtures: ``unit_test/fixtures.py``, where the inputs need it.
        begin: called just before the call.
    """
    built = Fixtures(fixtures)
    try:
        if fixtures:
            built.functions()  # the inputs may need no more than a class of the file
            restore_random({})  # fixtures build the same objects each time
        values = decode(inputs, built.build)
        modes, states = values.pop(MODE, None), values.pop(RANDOM, {})
        gradients, most = values.pop(GRADIENTS, False) is True, values.pop(ITEMS, ITEM_LIMIT)
        function = find(with_prefix(values, CLOSURE))
        args, kwargs = unbind(function, values)
        inspect.unwrap(function).__globals__.update(with_prefix(values, GLOBAL))
    except Exception as error:
        return Repeated("bad-inputs", error=error)
    before = {name: node for name, node in inputs.tree.items() if name in values}
    with applied(modes):
        document = Document(before, inputs.buffers)
        taken = take(values, document, fixture_of=built.named, gradients=gradients)
        restore_random(states)
        begin()
        made = _outcome(function, args, kwargs, most, taken)
    return made._replace(function=function)


def _outcome(function: Any, args: Any, kwargs: Any, most: int, taken: Outcome) -> Repeated:
    try:
        try:
            return Repeated("returned", taken.ended(function, call(function, args, kwargs, most, taken.item)))
        except Refused:
            raise
        except BaseException as error:  # a SystemExit is an outcome, too
            return Repeated("raised", taken.ended(function, {RAISED: type_name(error)}), error)
    except Refused as refusal:
        return Repeated("unstorable", error=refusal)


# probe/functions.py

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def definitions(tree: ast.Module, qualname: str) -> List[Tuple[ast.stmt, ...]]:
    """List the functions of a name, each below its enclosing definitions."""
    paths: List[Tuple[ast.AST, ...]] = [(tree,)]
    for name in qualname.split("."):
        paths = [(*path, node) for path in paths for node in _defined_in(path[-1]) if node.name == name]
    return [cast(Tuple[ast.stmt, ...], path[1:]) for path in paths if isinstance(path[-1], FUNCTIONS)]


def _defined_in(parent: ast.AST) -> Iterator[Any]:
    """Yield the functions and classes in a body, its branches and its loops."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node
        elif isinstance(node, (ast.stmt, ast.ExceptHandler)) or type(node).__name__ == "match_case":
            yield from _defined_in(node)


def closure_factory(tree: ast.Module, target: Any, filename: str, free: Sequence[str]) -> CodeType:
    """Return code that defines ``__lmr_outer__``, a function of the free variables that returns the target.

    ``tree``: the module, for its ``__future__`` imports.
    """
    names = [name for name in free if name != target.name]
    text = "def __lmr_outer__(%s):\n    def %s(): pass\n    return %s\n"
    outer: Any = ast.parse(text % (", ".join(names), target.name, target.name), filename)
    outer.body[0].body[0] = target
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    outer.body[:0] = [node for node in imports if node.module == "__future__"]
    return compile(outer, filename, "exec", dont_inherit=True)


# probe/cuda_as_cpu.py

_FACTORIES = """
    arange as_tensor asarray bartlett_window blackman_window empty empty_like empty_strided eye frombuffer full
    full_like hamming_window hann_window kaiser_window linspace logspace normal ones ones_like rand rand_like randint
    randint_like randn randn_like randperm range scalar_tensor sparse_coo_tensor tensor tril_indices triu_indices
    zeros zeros_like
"""
_METHODS = "new_empty new_empty_strided new_full new_ones new_tensor new_zeros"
_ANSWERS: Dict[str, Any] = {
    "current_device": 0, "empty_cache": None, "get_arch_list": [], "get_device_capability": (8, 0),
    "get_device_name": "CPU", "init": None, "ipc_collect": None, "is_bf16_supported": True,
    "is_current_stream_capturing": False, "is_initialized": True, "max_memory_allocated": 0,
    "max_memory_cached": 0, "max_memory_reserved": 0, "mem_get_info": (2**34, 2**34), "memory_allocated": 0,
    "memory_cached": 0, "memory_reserved": 0, "memory_summary": "", "reset_max_memory_allocated": None,
    "reset_peak_memory_stats": None, "set_device": None, "synchronize": None, "utilization": 0,
}  # fmt: skip
_LIBRARY = re.compile(r"[/\\](site|dist)-packages[/\\]")


def use_cpu_for_cuda() -> None:
    """Run everything in PyTorch that names CUDA on the CPU, in this process.

    The code's own queries see one GPU. Installed libraries see none, so that DataParallel and autocast turn themselves
    off. ``x.cuda()`` is ``x``, as for a tensor on the GPU.
    """
    # TorchScript compiles what it finds under the names that are replaced here.
    os.environ.update(CUDA_VISIBLE_DEVICES="", PYTORCH_JIT="0")
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        return
    if hasattr(torch.cuda, "__lmr_cpu__"):
        return
    torch.cuda.__lmr_cpu__ = True
    for name in _FACTORIES.split():
        _convert_devices(torch, name)
    for name in _METHODS.split():
        _convert_devices(torch.Tensor, name)
    for owner, name, convert in (
        (torch.Tensor, "to", _device_on_cpu),
        (torch.nn.Module, "to", _device_on_cpu),
        (torch.nn.Module, "to_empty", _device_on_cpu),
        (torch.Tensor, "type", _on_cpu),
        (torch, "set_default_tensor_type", _on_cpu),
        (torch, "set_default_device", _device_on_cpu),
        (torch, "load", _on_cpu),
    ):
        _convert_devices(owner, name, convert)
    load = torch.load
    torch.load = lambda *args, **kwargs: load(
        *args, **dict({} if args[1:] else {"map_location": "cpu"}, **kwargs)
    )
    torch.Tensor.cuda = torch.Tensor.pin_memory = lambda self, *args, **kwargs: self
    _answer_queries(torch)


def _on_cpu(value: Any) -> Any:
    torch: Any = sys.modules["torch"]
    if isinstance(value, str):
        return "cpu" if value.partition(":")[0] == "cuda" else value.replace("torch.cuda.", "torch.")
    return torch.device("cpu") if isinstance(value, torch.device) and value.type == "cuda" else value


def _device_on_cpu(value: Any) -> Any:
    # `.to(0)` is a GPU; `.to(True)` is not.
    return "cpu" if type(value) is int else _on_cpu(value)


def _convert_devices(owner: Any, name: str, convert: Callable[[Any], Any] = lambda value: value) -> None:
    """Wrap a function that takes a device by keyword. ``convert``: applied to positional arguments."""
    function = getattr(owner, name, None)
    if function is None:  # in another version of PyTorch
        return

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for key in kwargs.keys() & {"device", "map_location"}:
            kwargs[key] = _device_on_cpu(kwargs[key])
        return function(*map(convert, args), **kwargs)

    setattr(owner, name, call)


def _answer_queries(torch: Any) -> None:
    cuda = torch.cuda
    for name, answer in _ANSWERS.items():
        setattr(cuda, name, lambda *args, answer=answer, **kwargs: answer)
    for name, answer in (("is_available", True), ("device_count", 1)):
        setattr(cuda, name, functools.partial(_answer, getattr(cuda, name), answer))
    for name in dir(torch):
        if name.endswith("Tensor") and hasattr(cuda, name):
            setattr(cuda, name, getattr(torch, name))
    cuda.device = cuda.device_of = cuda.stream = contextlib.nullcontext
    cuda.get_device_properties = lambda *args: types.SimpleNamespace(
        name="CPU", total_memory=2**34, major=8, minor=0, multi_processor_count=1
    )
    # The CPU's generator draws the GPU's random numbers. (`torch.manual_seed` calls these, too.)
    cuda.manual_seed = cuda.manual_seed_all = lambda seed: torch.default_generator.manual_seed(int(seed))
    cuda.get_rng_state = lambda *args: torch.get_rng_state()
    cuda.set_rng_state = lambda state, *args: torch.set_rng_state(state)
    cuda.get_rng_state_all = lambda: [torch.get_rng_state()]
    cuda.set_rng_state_all = lambda states: torch.set_rng_state(states[0])


def _answer(function: Any, answer: Any) -> Any:
    asking = sys._getframe(1).f_code.co_filename
    return function() if _LIBRARY.search(asking) else answer


# probe/shipped.py

class Target:
    """The function under test, in the test's own repository.

    Args:
        root: the repository.
        goal_file, qualname: the function; ``nth`` of that name, from 1, where there are several.
        module: the name to import the file by; None for a script.
        sys_path: folders of the repository to import from.
    """

    def __init__(
        self,
        root: Any,
        goal_file: str,
        qualname: str,
        module: Optional[str],
        sys_path: Any = ("",),
        nth: int = 0,
    ) -> None:
        self.path = os.path.join(str(root), *goal_file.split("/"))
        self.qualname, self.nth = qualname, nth
        folders = [os.path.join(str(root), folder) if folder else str(root) for folder in sys_path]
        sys.path[:0] = folders + ([] if module else [os.path.dirname(self.path)])
        self.module: Any = importlib.import_module(module) if module else load_file(MAIN_STAND_IN, self.path)
        if os.path.realpath(str(self.module.__file__)) != os.path.realpath(self.path):
            raise ImportError("%s was imported from %s" % (module, self.module.__file__))

    def function(self, free: Dict[str, Any]) -> Any:
        """Return the function without its decorators; a nested one is built with the given free variables."""
        names = self.qualname.split(".")
        value: Any = self.module
        for name in names:
            value = vars(value).get(name) if isinstance(value, (type, types.ModuleType)) else None
        for name in ("__func__", "fget", "func"):
            value = getattr(value, name, None) or value
        if callable(value) and not self.nth and not free:
            value = inspect.unwrap(value, stop=lambda wrapped: hasattr(wrapped, "__lmr_watched__"))
            code = getattr(inspect.unwrap(value), "__code__", None)
            if code and code.co_name == names[-1] and os.path.samefile(code.co_filename, self.path):
                return value
        return self._from_source(free)

    def _from_source(self, free: Dict[str, Any]) -> Any:
        with open(self.path, "rb") as file:
            tree = ast.parse(file.read(), self.path)
        matches = definitions(tree, self.qualname)
        if len(matches) < max(1, self.nth):
            raise LookupError("there is no function %s in %s" % (self.qualname, self.path))
        above, target = matches[self.nth - 1][:-1], matches[self.nth - 1][-1]
        target.decorator_list = []  # type: ignore[attr-defined]
        if above and isinstance(above[-1], ast.ClassDef):
            free = dict(free, __class__=vars(self.module).get(self.qualname.split(".")[0]))
        free = {name: value for name, value in free.items() if name != target.name}  # type: ignore[attr-defined]
        space = self.module.__dict__
        exec(closure_factory(tree, target, self.path, list(free)), space)
        made = space.pop("__lmr_outer__")(**free)
        # A recorder of the test registers its decorator here.
        return getattr(builtins, "__lmr_target__", lambda function: function)(made)


class Compared(Outcome):
    """Compares the outcome of a call, as live values, with the expected document."""

    def __init__(self, expected: Document, checkers: Mapping[str, Any], *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.expected, self.yielded = expected.tree, 0
        self.comparison = Comparison(Stored(expected), Live(self.fixture_of), checkers)

    def item(self, value: Any) -> None:
        items = self.expected.get(VALUE)
        if isinstance(items, list) and self.yielded < len(items):
            self.comparison.pair(items[self.yielded], value, "%s[%d]" % (VALUE, self.yielded))
        self.yielded += 1

    def ended(self, function: Any, result: Dict[str, Any]) -> None:
        wanted, got = dict(self.expected), self.whole(function, result)
        if EXHAUSTED in wanted and EXHAUSTED in got:  # the items were compared one by one
            count = len(wanted.pop(VALUE))
            if len(got.pop(VALUE)) != count:
                self.comparison.differ(VALUE, "expected %d items, got %d" % (count, self.yielded))
        self.comparison.pair(wanted, got, "")


def check(target: Target, case: Any, checkers: Mapping[str, Any], fixtures: Any = None) -> None:
    """Make a recorded call and compare its outcome. Raises AssertionError with every difference.

    Args:
        case: its folder.
        checkers: path → checker, see :class:`Comparison`.
        fixtures: ``unit_test/fixtures.py``, where the inputs need it.
    """
    expected, compared = read(str(case), "expected"), []

    def take(*args: Any, **more: Any) -> Compared:
        compared.append(Compared(expected, checkers, *args, **more))
        return compared[0]

    made = repeat(target.function, read(str(case), "inputs"), take, fixtures and str(fixtures))
    raised = made.error
    shown = "".join(traceback.format_exception(type(raised), raised, raised.__traceback__)) if raised else ""
    problems = ["%s: %s" % (made.status, raised)]
    if compared and made.status in ("returned", "raised"):
        problems = [str(difference) for difference in compared[0].comparison.differences[:MOST]]
    if problems:
        text = "\n  ".join(problems)
        raise AssertionError("%s:\n  %s\n%s" % (os.path.basename(str(case)), text, shown))
