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
from typing import Any, Callable, Dict, FrozenSet, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple, cast


# probe/document.py

FORMAT = "lmr-recording/2"
NODE, NODES, PAIRS, STATE = "node", "nodes", "pairs", "state"
"""Kinds of fields with nodes in them: one, a list, a list of pairs, one for each attribute."""
TEXT, FLAG, INTS, NAMES, DATA = "text", "flag", "ints", "names", "data"
"""Kinds of the others."""


_ARRAY = {"dtype": TEXT, "shape": INTS, "data": DATA, "file": TEXT}
FIELDS: Dict[str, Dict[str, str]] = {
    "ref": {},
    "list": {"v": NODES},
    "tuple": {"v": NODES},
    "set": {"v": NODES},
    "frozenset": {"v": NODES},
    "dict": {"v": PAIRS},
    "bytes": {"v": TEXT},
    "bytearray": {"v": TEXT},
    "complex": {"v": DATA},
    "tensor": {**_ARRAY, "requires_grad": FLAG, "leaf": FLAG, "cls": TEXT, "grad": NODE, "attrs": STATE},
    "array": {**_ARRAY, "cls": TEXT},
    "scalar": _ARRAY,
    "objects": {"shape": INTS, "v": NODES},
    "structured": {"layout": DATA, "shape": INTS, "v": STATE, "cls": TEXT},
    "sparse": {"layout": TEXT, "shape": INTS, "places": NODE, "numbers": NODE, "coalesced": FLAG},
    "table": {"columns": NODE, "index": NODE, "v": NODES},
    "name": {"v": TEXT},
    "namedtuple": {"cls": TEXT, "v": STATE},
    "object": {"cls": TEXT, "base": NODE, "state": STATE, "lazy": NAMES},
    "call": {"call": NODE, "args": NODES, "state": NODE, "items": NODES, "pairs": PAIRS},
    "make": {"kind": TEXT, "args": NODES},
    "fixture": {"v": TEXT},
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
    """A damaged recording, or none at all: the only error that reading one raises.

    Args:
        part: the part that cannot be rebuilt, as in ``self.tokenizer``; "" for the whole.
    """

    def __init__(self, message: str, part: str = "") -> None:
        self.part = part
        super().__init__("%s: %s" % (part, message) if part else message)


class Refused(Exception):
    """A value that cannot be written."""


class Buffer(NamedTuple):
    """Numbers of one type, little-endian and in C order. ``descr``: their type as ``.npy`` files have it."""

    descr: str
    shape: Tuple[int, ...]
    data: bytes


class Document:
    """A value as a JSON tree and buffers (by name), with a list of the parts that were left out."""

    def __init__(self, tree: Any, buffers: Dict[str, Buffer], omitted: Tuple[Any, ...] = ()) -> None:
        self.tree, self.buffers, self.omitted = tree, buffers, omitted


def is_complex(dtype: str) -> bool:
    """Tell whether numbers of a type are written as pairs: real and imaginary part."""
    return dtype.startswith("complex")


def tagged(node: Any) -> Any:
    """Return the tagged node that a list or plain object abbreviates; any other node as it is."""
    if isinstance(node, list):
        return {"$": "list", "v": node}
    if isinstance(node, dict) and "$" not in node:
        return {"$": "dict", "v": [[key, value] for key, value in node.items()]}
    return node


def join(path: str, step: str) -> str:
    """Return a path one step longer; below the root ``""``, ``['loss']`` is written ``loss``."""
    if path:
        return path + step
    return step[2:-2] if step.startswith(("['", '["')) else step.lstrip(".")


def key_text(key: Any, index: int) -> str:
    """Return the step to a dictionary's item: ``['loss']``, ``[3]``, or its place."""
    plain = key is None or isinstance(key, (bool, int, float, str))
    return "[%r]" % (key,) if plain else "[<item %d>]" % index


def parts(node: Any) -> Iterator[Tuple[str, Any]]:
    """Yield a node's sub-nodes as (step of the path, sub-node), keys of pairs included."""
    node = tagged(node)
    for name, kind in FIELDS[node["$"]].items() if isinstance(node, dict) else ():
        if name in node:
            yield from steps(name, kind, node[name])


def steps(name: str, kind: str, value: Any) -> Iterator[Tuple[str, Any]]:
    """Yield the nodes in a field, each with the step of the path that leads there."""
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
    """Yield every node once, as (path, node), in recording order; references are not followed."""
    stack: List[Tuple[str, Any]] = [("", tree)]
    while stack:
        path, node = stack.pop()
        yield path, node
        if isinstance(node, (dict, list)):
            below = [(join(path, step) if step else path, part) for step, part in parts(node)]
            stack.extend(reversed(below))


def by_id(tree: Any) -> Dict[int, Any]:
    """Return the nodes that references name, by their ids."""
    nodes = (node for _, node in walk(tree) if isinstance(node, dict) and node.get("$", "ref") != "ref")
    return {node["id"]: node for node in nodes if "id" in node}


def read(folder: str, stem: str) -> Document:
    """Read a document of our own; one that strangers may have written, :func:`.checking.load` reads."""
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
    """Read a ``.npy`` file of version 1.0. By hand: reading one must not run anything, nor import numpy."""
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
"""The module that stands in for ``__main__`` when a script's function is replayed."""

HELPERS = "unit_test"
"""The package that the annotator's files are imported from, wherever they lie."""

HEAP_TYPE = 1 << 9
CONTENT = (dict, list, set, frozenset, tuple, str, int, float, complex, bytes, bytearray)
_TRANSPARENT = (object, *CONTENT, collections.OrderedDict, collections.defaultdict, types.SimpleNamespace)
_HOMES = (
    "builtins", "torch", "torch.nn.functional", "torch.special", "torch.linalg", "numpy", "math", "typing",
)  # fmt: skip
"""Modules that have functions and singletons which do not know where they are from."""

_MARKS = {"torch": "Tensor", "numpy": "ndarray", "pandas": "DataFrame"}

aliases: Dict[str, str] = {MAIN_STAND_IN: MAIN}
"""Name a module runs under → name it is recorded by."""
is_lasting: Callable[[str], bool] = lambda home: True  # noqa: E731 (another takes its place)
"""Tells whether a module can be imported again where a call is replayed; a recorder sets it (:mod:`.lasting`)."""


def library(name: str) -> Any:
    """Return torch, numpy or pandas where this process has loaded it, else None.

    A module of that name may be half loaded, or a folder of the repository.
    """
    module = sys.modules.get(name)
    return module if hasattr(module, _MARKS[name]) else None


def load_file(name: str, path: str) -> Any:
    """Import a file by its path, so that its classes can be found by name. Raises whatever importing it raises."""
    spec: Any = importlib.util.spec_from_file_location(name, str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def load_helper(path: str) -> Any:
    """Import one of the annotator's files as ``unit_test.fixtures``. Raises whatever importing it raises."""
    path = os.path.realpath(str(path))
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
    """Return the object named ``module:qualname``; imports the module: only ever inside the environment.

    Raises LookupError.
    """
    module_name, _, qualname = name.partition(":")
    if module_name == MAIN and MAIN_STAND_IN in sys.modules:
        module_name = MAIN_STAND_IN
    try:
        value: Any = importlib.import_module(module_name)
    except Exception as error:
        problem = "cannot import %s: %s: %s" % (module_name, type(error).__name__, error)
        raise LookupError(problem) from error
    for part in qualname.split(".") if qualname else ():
        value = getattr(value, part, None)
    if value is None:
        raise LookupError("there is no %s" % name)
    return value


def recorded_module(name: str) -> str:
    """Return the name by which a module is recorded."""
    return aliases.get(name, name)


def name_of(value: Any, called: Optional[str] = None) -> Optional[str]:
    """Return ``module:qualname`` of a class, function or singleton if that leads to the very same object."""
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
    """Return the name of a class that a call made in another one, as ``namedtuple("Match", …)``, which says Match."""
    module = sys.modules.get(cls.__module__)
    if module is None or not is_lasting(cls.__module__):
        return None
    for name, outer in list(vars(module).items()):
        if isinstance(outer, type) and outer.__module__ == cls.__module__:
            for inner, value in list(vars(outer).items()):
                if value is cls:
                    return "%s:%s.%s" % (recorded_module(cls.__module__), name, inner)
    return None


def _look_up(home: str, qualname: str) -> Any:
    """Return the object of a name in a module that is loaded, else None."""
    value: Any = sys.modules.get(home)
    for part in qualname.split("."):
        # getattr would make a lazy module import things that the recorded command never needed.
        is_module = isinstance(value, types.ModuleType)
        value = vars(value).get(part) if is_module else getattr(value, part, None)
    return value


def is_plain(cls: type) -> bool:
    """Tell whether an object of this class is its ``__dict__``, slots and container content, and no more.

    Others have state that only their own C code sees: those are stored by what ``__reduce_ex__`` says.
    """
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
    """Tell whether a class, or one that it derives from, defines a method of pickle's by itself.

    An optimizer of PyTorch says what belongs into a checkpoint, which is less than it is.
    """
    return any(
        name in vars(base)
        for base in cls.__mro__
        if base not in _TRANSPARENT
        and (base.__module__, base.__name__) != ("torch.optim.optimizer", "Optimizer")
    )


def own_state(value: Any) -> Optional[Dict[str, Any]]:
    """Return an object's attributes, those that its ``__getstate__`` names where it has one of its own.

    None where that returns something else than attributes. Raises whatever it raises.
    """
    if not own(type(value), "__getstate__"):
        return dict(state_of(value))
    state = value.__getstate__()
    both = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if not all(part is None or isinstance(part, dict) for part in both):
        return None
    attributes = dict(both[0] or {}, **(both[1] or {}))
    return attributes if all(isinstance(name, str) for name in attributes) else None


@functools.lru_cache(maxsize=None)
def lazy_names(cls: type) -> Tuple[str, ...]:
    """Return the names of what a class computes when it is first asked for, and keeps under the same name."""
    names: Dict[str, bool] = {}
    for base in cls.__mro__:
        for name, member in vars(base).items():
            names.setdefault(name, isinstance(getattr(type(member), "__get__", None), types.FunctionType))
            if isinstance(member, _BINDING) or hasattr(type(member), "__set__"):
                names[name] = False
    return tuple(sorted(name for name, is_lazy in names.items() if is_lazy))


_BINDING = (types.FunctionType, classmethod, staticmethod, functools.partialmethod, type)


def content_type(cls: type) -> Optional[type]:
    """Return the built-in container or scalar that a class derives from, if any."""
    return next((base for base in cls.__mro__ if base in CONTENT), None)


def state_of(value: Any) -> Iterator[Tuple[str, Any]]:
    """Yield an object's attributes as (name, value): its ``__dict__``, then its slots."""
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
    """Put attributes back, past any ``__setattr__`` of the class."""
    slots = {name for name, _ in _slots(type(value))}
    for name, attribute in state.items():
        if name in slots:
            object.__setattr__(value, name, attribute)
        else:
            object.__getattribute__(value, "__dict__")[name] = attribute


def new_object(cls: type, content: Any) -> Any:
    """Make an object of ``cls`` without its ``__init__``; ``content`` for a class derived from a built-in one."""
    base: Any = content_type(cls)
    if base in (str, int, float, complex, bytes, tuple, frozenset):
        return base.__new__(cls, content)
    homes: Any = (types.SimpleNamespace, collections.OrderedDict, collections.defaultdict)
    for home in homes:
        if issubclass(cls, home):
            return home.__new__(cls)
    return (base or object).__new__(cls)


def fill_object(value: Any, content: Any) -> None:
    """Put the items of a container-derived object back, past any override of its class."""
    if isinstance(value, dict):
        home: Any = collections.OrderedDict if isinstance(value, collections.OrderedDict) else dict
        for key, part in content.items():
            home.__setitem__(value, key, part)
    elif isinstance(value, list):
        list.extend(value, content)
    elif isinstance(value, set):
        set.update(value, content)
    elif isinstance(value, bytearray):
        bytearray.extend(value, content)


# probe/calling.py

CLOSURE, GLOBAL, MODE, RANDOM = "@closure ", "@global ", "@mode", "@random"
GRADIENTS, ITEMS = "@gradients", "@items"
"""Parts of the inputs beside the arguments; the first two begin the name of a free variable, of a global."""
VALUE, RAISED, EXHAUSTED, RETURNED = "value", "@raised", "@exhausted", "@returned"
"""Parts of the outcome; a generator's value is the list of its items."""
GRAD = "@grad "
"""Begins the name of an argument of which the call changed nothing but ``.grad`` of tensors."""
ITEM_LIMIT = 1000
"""Most items of a generator that are kept."""
DEEPEST = 8
"""Nesting of containers below which no tensor is looked for."""


def with_prefix(inputs: Dict[str, Any], prefix: str) -> Dict[str, Any]:
    """Return the inputs whose names begin with a prefix, by their names without it."""
    return {name[len(prefix) :]: value for name, value in inputs.items() if name.startswith(prefix)}


def unbind(function: Callable[..., Any], inputs: Dict[str, Any]) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """Return arguments for a call. Raises TypeError when the function has no such parameters."""
    signature = inspect.signature(function)
    arguments = {name: value for name, value in inputs.items() if name[:1] != "@"}
    unknown = [name for name in arguments if name not in signature.parameters]
    if unknown:
        raise TypeError("the function has no parameter %s" % ", ".join(unknown))
    bound = signature.bind_partial()
    for name in signature.parameters:
        if name in arguments:
            bound.arguments[name] = arguments[name]
    return bound.args, bound.kwargs


def closure(function: Any) -> Dict[str, Any]:
    """Return free variables of a function as ``{"@closure x": value}``, without itself and those not bound yet."""
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
    """Call a function of any kind to its end, and return what it returned or yielded. Raises what it raises.

    Args:
        most: items taken of a generator at most.
        keep: copies an item before the generator goes on.
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
    """Be a process group of one, for code that gathers or reduces; it needs no network."""
    distributed = torch.distributed
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        distributed.destroy_process_group()


@contextmanager
def applied(modes: Optional[Dict[str, Any]]) -> Iterator[None]:
    """Run in the modes that :func:`mode` saw."""
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
    """Put states back, and seed the generators that have none."""
    random.seed(0)
    if "python" in states:
        random.setstate(states["python"])
    if "numpy" in states or "numpy" in sys.modules:
        import numpy

        numpy.random.seed(0)
        if "numpy" in states:
            kind, keys, position, has_gauss, gauss = states["numpy"]
            array = numpy.frombuffer(keys, dtype=numpy.uint32)
            numpy.random.set_state((kind, array, position, has_gauss, gauss))
    if "torch" in states:
        import torch as loaded

        loaded.set_rng_state(loaded.tensor(list(states["torch"]), dtype=loaded.uint8))
    elif "torch" in sys.modules:
        # torch.manual_seed would queue seeds for every device, with a stack trace each: slow, and not needed.
        torch = sys.modules["torch"]
        getattr(torch, "default_generator", torch).manual_seed(0)


def type_name(error: BaseException) -> str:
    """Return the class of an exception: ``ValueError``, or ``module.Class`` for one that is not built in."""
    cls = type(error)
    return cls.__qualname__ if cls.__module__ == "builtins" else "%s.%s" % (cls.__module__, cls.__qualname__)


def gradients(inputs: Dict[str, Any], value: Any) -> Dict[str, Any]:
    """Return path of each input that requires a gradient and that the result depends on → its gradient.

    The gradient is that of a weighted sum of all floating tensors in ``value``, with fixed weights that are not all
    alike: the plain sum of a softmax does not depend on anything. It stops at the inputs, also where one was computed
    from another before the call. ``.grad`` of no tensor is touched, and the graph is kept for whoever made the call.
    Raises what autograd raises.
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
    for (path, _), gradient in zip(wanted, returned):
        # Before PyTorch 2.0 hooks of leaves are not run: what is returned is their gradient, and not our zeros.
        if path not in by_path and gradient is not None:
            by_path[path] = gradient
    return {path: by_path[path] for path, _ in wanted if path in by_path}


def _reached(total: Any, inputs: List[Tuple[str, Any]]) -> List[Tuple[str, Any]]:
    """Return the inputs from which the call computed its result.

    Where an input was computed from a parameter before the call, the graph goes on from it to the parameter. A replayed
    call gets that input as data, and knows nothing of the parameter.
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
    """Return numbers between -1 and 1, one for each element, the same ones each time."""
    positions = torch.arange(tensor.numel(), dtype=torch.float64)
    return torch.cos(1.7 * positions + 0.3).reshape(tensor.shape).to(tensor)


def _tensors(torch: Any, values: Dict[str, Any]) -> Iterator[Tuple[str, Any]]:
    """Yield the real tensors in containers, objects and modules that require a gradient, each under its first path."""
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
    """Tell whether numbers of a type may have a tolerance: also those of another byte order, or longer."""
    return dtype in FLOATS or dtype[:2] in ("<f", ">f", "<c", ">c")


def native(dtype: str) -> str:
    """Return the name of an element type, whatever the order of its bytes."""
    return _NATIVE.get(dtype[1:], dtype[1:]) if dtype[:1] == ">" else dtype


_NATIVE = {"f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128"}
_NATIVE.update(
    {"%s%d" % (kind[0], size): kind + str(8 * size) for kind in ("int", "uint") for size in (2, 4, 8)}
)


class Spread(NamedTuple):
    """The distance between repeated runs at a leaf."""

    max_abs: float = 0.0
    max_rel: float = 0.0


def dtype_of(node: Any) -> str:
    """Return the element type of a numeric leaf; "" for no leaf."""
    if isinstance(node, float):
        return "float64"
    if not isinstance(node, dict):
        return ""
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
            with numpy.errstate(over="ignore"):  # a hostile document: its number becomes infinite
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
"""The distance of what no tolerance would make equal, as of NaN or an infinity."""


def scalar_mismatch(e: Any, a: Any, rtol: float, atol: float) -> Optional[Tuple[str, Spread]]:
    """Compare two floats or complex numbers, as :func:`array_mismatch` does arrays."""
    distance = _BEYOND
    if e == a or (e != e and a != a):
        return None
    if cmath.isfinite(e) and cmath.isfinite(a):
        if abs(a - e) <= atol + rtol * abs(e):
            return None
        distance = Spread(abs(a - e), abs(a - e) / abs(e) if e else math.inf)
    return "expected %r, got %r" % (e, a), distance


def array_mismatch(e: Any, a: Any, floating: bool, rtol: float, atol: float) -> Optional[Tuple[str, Spread]]:
    """Compare arrays; returns None when they agree, else a text and the largest distance.

    NaN agrees with NaN only, and an infinity with the same infinity only.
    """
    import numpy

    if not floating:
        wrong = (e != a) & ((e == e) | (a == a))  # no time is not itself either
        return (_first(e, a, wrong), _BEYOND) if wrong.any() else None
    with numpy.errstate(all="ignore"):
        # In double precision, so that no type's own rounding decides, here or in a test that is shipped.
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
    """Return the numbers of two sparse matrices at the places where one of them has some. Raises BadDocument."""
    import numpy

    for places, values in ((e_places, e_numbers), (a_places, a_numbers)):
        if places.ndim != 2 or values.ndim < 1 or places.shape[1] != values.shape[0]:
            raise BadDocument("a sparse matrix whose places are not its numbers'")
    if e_places.shape[0] != a_places.shape[0] or e_numbers.shape[1:] != a_numbers.shape[1:]:
        raise BadDocument("a sparse matrix of another form")
    both = numpy.concatenate([e_places, a_places], axis=1)
    unique, inverse = numpy.unique(both, axis=1, return_inverse=True)
    inverse, count, results = inverse.reshape(-1), e_places.shape[1], []
    for values, into in ((e_numbers, inverse[:count]), (a_numbers, inverse[count:])):
        total = numpy.zeros((unique.shape[1], *values.shape[1:]), values.dtype)
        numpy.add.at(total, into, values)
        results.append(total)
    return results[0], results[1]


def _first(e: Any, a: Any, wrong: Any) -> str:
    """Say how many elements differ, and show the first with its place."""
    import numpy

    if not wrong.shape:
        return "expected %r, got %r" % (e.item(), a.item())
    index = tuple(map(int, numpy.argwhere(wrong)[0]))
    count = "%d of %d elements differ" % (wrong.sum(), wrong.size)
    return "%s; first at %s: expected %r, got %r" % (count, list(index), e[index].item(), a[index].item())


# probe/closures.py

HIT = "__lmr_hit__"
"""Name of the function that notes a block of the target, called with the block's number."""

is_of_repository: Callable[[str], bool] = lambda home: True  # noqa: E731 (another takes its place)
"""Tells whether a module lies in the repository; a recorder sets it (:mod:`.lasting`)."""


def place_of(function: types.FunctionType) -> Optional[str]:
    """Return ``module:Layer.__init__.<lambda>(x)[scale]#0``, or None where a module does not lead there.

    In brackets: its parameters, and the names that it uses. At the end: its number among those of which all this holds.
    """
    home = str(function.__globals__.get("__name__"))
    for place, codes in _places(home).items() if home in sys.modules and is_of_repository(home) else ():
        if function.__code__ in codes:
            return "%s:%s#%d" % (recorded_module(home), place, codes.index(function.__code__))
    return None


def closure_of(function: types.FunctionType) -> List[Any]:
    """Return what a function has beside its code: defaults, and the values of its free variables. Raises ValueError."""
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    if any(value is function for value in values):
        raise ValueError("it calls itself")
    return [function.__defaults__, function.__kwdefaults__, *values]


def function_at(place: str, defaults: Any, keyword_defaults: Any, *values: Any) -> types.FunctionType:
    """Return the function of a place, which :func:`place_of` returned. Raises LookupError."""
    home, _, rest = place.partition(":")
    inside, _, number = rest.rpartition("#")
    module = resolve(home + ":")
    codes = _places(module.__name__).get(inside, [])[int(number) :]
    if not codes or len(codes[0].co_freevars) != len(values):
        raise LookupError("there is no function %s" % place)
    function = types.FunctionType(
        codes[0], vars(module), codes[0].co_name, defaults, tuple(map(_cell, values))
    )
    function.__kwdefaults__ = keyword_defaults
    return function


def _cell(value: Any) -> Any:
    """Return a cell, for which Python 3.7 has no constructor."""
    return (lambda: value).__closure__[0]  # type: ignore[index]


@functools.lru_cache(maxsize=None)
def _places(home: str) -> Dict[str, List[types.CodeType]]:
    """Return the functions in a module's code, but for those in the target: no other version has them."""
    module = sys.modules[home]
    try:
        whole = module.__loader__.get_code(home)  # type: ignore[union-attr]
    except Exception:  # a module that is not from a file
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
    """Takes the place of a part that was not recorded, and says so whenever it is used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        self()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("this part of an object was not recorded (see 'omitted' in its recording)")


class Decoder:
    """Rebuilds one document. ``build``: fixture's name → its object."""

    def __init__(self, document: Document, build: Optional[Callable[[str], Any]] = None) -> None:
        self.document, self.build = document, build
        self.values: Dict[int, Any] = {}
        self.path = ""
        """The part that is being rebuilt."""

    def below(self, step: str, node: Any) -> Any:
        """Return the value of a node that lies one step below."""
        above, self.path = self.path, join(self.path, step)
        value = self.node(node)
        self.path = above  # where it fails, the path stays, for the error
        return value

    def node(self, node: Any) -> Any:
        """Return the value of a node."""
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
        """Note the value of a node for references to it, which may lie inside of the node itself."""
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

    def _fixture(self, node: Dict[str, Any]) -> Any:
        if self.build is None:
            raise LookupError("it takes unit_test/fixtures.py to build a fixture")
        return self.build(node["v"])

    def _class(self, node: Dict[str, Any]) -> Any:
        cls = resolve(node["cls"])
        if not isinstance(cls, type):
            raise TypeError("%s is no class" % node["cls"])
        return cls

    def _tensor(self, node: Dict[str, Any]) -> Any:
        import torch

        value = torch.from_numpy(numbers(self.document, node).copy()).to(getattr(torch, node["dtype"]))
        needs = node.get("requires_grad", False)
        if "cls" in node and issubclass(self._class(node), torch.nn.Parameter):
            value = torch.Tensor._make_subclass(self._class(node), value, needs)
        else:
            value = value.as_subclass(self._class(node)) if "cls" in node else value
            value = value.requires_grad_() if needs else value
        value = self._remember(node, value if node.get("leaf", True) else value.clone())
        if "grad" in node:
            value.grad = self.node(node["grad"])
        for name, attribute in node.get("attrs", {}).items():
            value.__dict__[name] = self.node(attribute)
        return value

    def _array(self, node: Dict[str, Any]) -> Any:
        import numpy

        if numpy.dtype(node["dtype"]).hasobject:
            raise ValueError("an array of objects as raw data")
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

    def _namedtuple(self, node: Dict[str, Any]) -> Any:
        return self._class(node)._make([self.node(part) for part in node["v"].values()])

    def _object(self, node: Dict[str, Any]) -> Any:
        cls = self._class(node)
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
            attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
            set_state(value, dict(attributes or {}, **(slots or {})))
        for part in node.get("items", ()):
            value.append(self.node(part))
        for key, part in node.get("pairs", ()):
            value[self.node(key)] = self.node(part)
        return value


def _dtype(numpy: Any, layout: Any) -> Any:
    """Return the element type that a structured array was recorded with."""
    if isinstance(layout, list):
        return numpy.dtype((_dtype(numpy, layout[0]), tuple(layout[1])))
    if isinstance(layout, dict):
        layout = dict(layout, formats=[_dtype(numpy, part) for part in layout["formats"]])
    return numpy.dtype(layout)


def _generator(state: Any) -> Any:
    result = _library("torch").Generator(device="cpu")
    result.set_state(state)
    return result


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
    "scalar": lambda decoder, node: decoder._array(node)[()],
    "make": lambda decoder, node: _maker(node["kind"])(*decoder.node(node["args"])),
}
_MAKERS: Dict[str, Callable[..., Any]] = {
    "generator": _generator,
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
"""Kind of a ``make`` → the function that makes it of its arguments."""


def _maker(kind: str) -> Callable[..., Any]:
    return functools.partial(function_at, kind) if ":" in kind else _MAKERS[kind]


def decode(document: Document, build: Optional[Callable[[str], Any]] = None) -> Any:
    """Rebuild the value of a document; imports the classes it names. Raises BadDocument.

    Args:
        build: fixture's name → its object.
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
"""Size of an integer that JSON can hold for every reader."""

_REBUILT = (collections.defaultdict, collections.OrderedDict, functools.partial)
"""Classes that are rebuilt as they ask for; an object of a class derived from them is its attributes and content."""
_ITERATED = (list, set, bytearray)
_LAYOUTS = ("sparse_coo", "sparse_csr", "sparse_csc")


class Closed(Exception):
    """A value that cannot be looked into; the message says what to do instead."""


def is_plain_value(value: Any) -> bool:
    """Tell whether a value is its own node."""
    kind = type(value)
    if kind is int:
        return bool(value.bit_length() < MOST_BITS)
    return value is None or kind in (bool, float, str)


def look(value: Any) -> Any:
    """Return the node of a value, with values for its parts; a plain value as it is. Raises Closed."""
    if is_plain_value(value):
        return value
    kind = type(value)
    built_in = _BUILT_IN.get(kind)
    if built_in is not None:
        return built_in(value)
    for look_at in (_torch, _numpy, _table, _scipy, _named_tuple, _named):
        node = look_at(value)
        if node is not None:
            return node
    if hasattr(kind, "__next__") or hasattr(kind, "__anext__"):
        raise Closed(ITERATOR if hasattr(kind, "__next__") else ASYNC)
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
"""Type → the node of exactly its values; derived classes are objects."""


def _named_tuple(value: Any) -> Any:
    names = getattr(value, "_fields", None) if isinstance(value, tuple) else None
    cls = name_of(type(value)) if names is not None else None
    return cls and {"$": "namedtuple", "cls": cls, "v": dict(zip(type(value)._fields, value))}


def _named(value: Any) -> Any:
    """Return the node of a module, class or function; None for anything else, also what can only be called."""
    if isinstance(value, types.ModuleType):
        return {"$": "name", "v": recorded_module(value.__name__) + ":"}
    name = name_of(value) if callable(value) else None
    if name is not None:
        return {"$": "name", "v": name}
    if isinstance(value, type):
        raise Closed(LOCAL)
    return _placed(value) if isinstance(value, types.FunctionType) else None


def _placed(function: types.FunctionType) -> Dict[str, Any]:
    """Return the node of a lambda or closure of the repository."""
    place = place_of(function)
    if place is None:
        raise Closed(MADE)
    try:
        return _make(place, *closure_of(function))
    except ValueError as error:
        raise Closed(MADE) from error


# tensors and arrays


def _torch(value: Any) -> Any:
    torch = library("torch")
    if torch is None:
        return None
    if isinstance(value, torch.Generator) and value.device.type == "cpu":
        return {"$": "make", "kind": "generator", "args": [value.get_state()]}
    if not isinstance(value, torch.Tensor):
        return None
    odd = getattr(value, "is_nested", False) or getattr(value, "is_meta", False)
    layout = str(value.layout).rpartition(".")[2]
    if odd or (layout != "strided" and layout not in _LAYOUTS):
        raise Closed(DENSE)
    if layout != "strided":
        return _sparse_strided(value, layout)
    if value.is_quantized:
        if str(value.qscheme()) != "torch.per_tensor_affine":
            raise Closed(DENSE)
        args = [value.int_repr(), value.q_scale(), value.q_zero_point(), value.dtype]
        return {"$": "make", "kind": "quantized", "args": args}
    return _strided(torch, value)


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


def _sparse_strided(value: Any, layout: str) -> Dict[str, Any]:
    """Return the node of a sparse tensor: the place and number of each element that it stores, in its own order."""
    plain = value.detach()
    coo = plain if layout == "sparse_coo" else plain.to_sparse_coo()
    node: Dict[str, Any] = {"$": "sparse", "layout": layout, "shape": list(value.shape)}
    if layout == "sparse_coo":
        node["coalesced"] = bool(coo.is_coalesced())
    return dict(node, places=coo._indices(), numbers=coo._values())


def detached(torch: Any, value: Any) -> Any:
    """Return a plain tensor on the CPU that shares a tensor's numbers where it can."""
    with torch.no_grad():
        plain = value.detach()
        plain = plain if type(plain) is torch.Tensor else plain.as_subclass(torch.Tensor)
        for lazy in ("resolve_conj", "resolve_neg"):  # older versions have none of them
            plain = getattr(plain, lazy, lambda plain=plain: plain)()
    return plain.cpu()


def dtype_name(dtype: Any) -> str:
    """Return the name of a numpy element type: ``float64``, or ``>f8`` and the like."""
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
    node: Dict[str, Any] = {"$": "scalar" if scalar else "array", "dtype": dtype_name(dtype)}
    node.update(shape=list(value.shape), of=value)
    if type(value) is numpy.matrix:
        node["cls"] = "matrix"
    return node


def _structured(value: Any, scalar: bool, is_record: bool) -> Dict[str, Any]:
    """Return the node of a structured array: an array for each of its fields."""
    node = {"$": "structured", "layout": _layout(value.dtype), "shape": list(value.shape)}
    node["v"] = {name: value[name] for name in value.dtype.names}
    if scalar or is_record:
        node["cls"] = "scalar" if scalar else "recarray"
    return node


def _layout(dtype: Any) -> Any:
    """Return what numpy.dtype makes a structured element type of, in JSON."""
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
    if cls is None or not cls.startswith("scipy.sparse"):
        return None
    coo = value.tocoo()
    places = sys.modules["numpy"].array([coo.row, coo.col]) if len(value.shape) == 2 else None
    if places is None:
        return None
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
    """Return a column's numbers as an array of numpy where they are one; else the column itself."""
    wrapped = type(array).__name__ in ("NumpyExtensionArray", "PandasArray")
    return array.to_numpy() if wrapped or isinstance(array.dtype, sys.modules["numpy"].dtype) else array


def _extension(array: Any) -> Dict[str, Any]:
    pandas: Any = sys.modules["pandas"]
    if isinstance(array.dtype, pandas.CategoricalDtype):
        return _make("categorical", array.codes.copy(), array.categories, bool(array.ordered))
    return _make("column", list(array), str(array.dtype))


# objects


def _opened(value: Any, kind: type) -> Dict[str, Any]:
    """Return the node of an object: what its class says of it, else its content and attributes."""
    plain = is_plain(kind) and kind not in _REBUILT and not isinstance(value, (enum.Enum, logging.Logger))
    if not plain:
        return _reduced(value, kind)
    if kind in copyreg.dispatch_table or own(kind, "__reduce_ex__") or own(kind, "__reduce__"):
        try:
            return _reduced(value, kind)
        except Closed:  # it forbids to be copied, which we do not: its attributes will do
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
        # Past any override of the class.
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
    """Return the node of an object whose state only its own code sees, by what it tells pickle."""
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
    # An exception has an empty __dict__ as soon as somebody asked for it.
    if state is not None and state != {}:
        node["state"] = state
    if elements is not None:
        node["items"] = list(elements)
    if pairs is not None:
        node["pairs"] = [list(pair) for pair in pairs]
    return node


class Factory:
    """Stands for a factory without a name, such as a lambda, which is known by what it makes."""

    def __init__(self, made: Any) -> None:
        self.made = made


_BUILT_IN[Factory] = lambda value: _make("factory", value.made)


def _arguments(kind: type, arguments: Tuple[Any, ...]) -> List[Any]:
    if kind is collections.defaultdict and arguments and name_of(arguments[0]) is None:
        return [Factory(arguments[0]())]
    return list(arguments)


# probe/sides.py

MOST_KEYS = 2_000_000
"""Values that are looked at to sort sets and search dictionaries, at most: a document may be made to take for ever."""
DEEPEST_KEY = 4
"""Nesting of tuples and frozen sets in a key or an element that is looked at to sort it."""


class Stored:
    """Looks at the nodes of a document."""

    def __init__(self, document: Document) -> None:
        self.document, self.ids = document, by_id(document.tree)
        self.keys_left = MOST_KEYS

    def followed(self, node: Any) -> Any:
        """Return the node that a reference names; any other node as it is."""
        return self.ids[node["id"]] if isinstance(node, dict) and node.get("$") == "ref" else node

    def open(self, node: Any) -> Any:
        return tagged(self.followed(node))

    def numbers(self, node: Any) -> Any:
        """Return the numbers of an array, a tensor or a scalar of numpy. Raises BadDocument."""
        return numbers(self.document, node)


class Live:
    """Looks at live values. ``fixture_of``: object → its fixture, or None."""

    def __init__(self, fixture_of: Callable[[Any], Optional[str]] = lambda value: None) -> None:
        self.fixture_of = fixture_of
        self.keys_left = MOST_KEYS

    def followed(self, value: Any) -> Any:
        return value

    def open(self, value: Any) -> Any:
        fixture = self.fixture_of(value)
        if fixture is not None:
            return {"$": "fixture", "v": fixture}
        try:
            return look(value)
        except Closed:
            return {"$": "omitted"}

    def numbers(self, node: Any) -> Any:
        import numpy

        if node["$"] != "tensor":
            return numpy.asarray(node["of"])
        plain = detached(library("torch"), node["of"])
        return (plain.float() if node["dtype"] == "bfloat16" else plain).numpy()


Side = Any
"""A Stored or a Live."""


def plain_value(side: Side, node: Any) -> Any:
    """Return the plain value that a scalar of numpy stands for; any other node as it is. Raises BadDocument."""
    if not isinstance(node, dict) or node["$"] != "scalar":
        return node
    value = side.numbers(node).item()
    if isinstance(value, complex):
        return {"$": "complex", "v": [value.real, value.imag]}
    return value if isinstance(value, (bool, int, float, str)) else node


_NUMBER, _COMPLEX, _TEXT, _NOTHING, _SEQUENCE, _CALL, _NAME, _BYTES, _OBJECT, _OTHER = range(10)
"""Ranks of keys: what comes first in their order."""


def sort_key(side: Side, value: Any, depth: int = DEEPEST_KEY) -> Tuple[Any, ...]:
    """Return what a set is sorted by, and a dictionary searched by: a rank, then what values of that rank are told by.

    Of an object it has the plain attributes alone: elements that have sets of one another would never end.
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
    """Return the plain attributes of an object, and a mark for each other one, and for its content."""
    keys = [("", (_OTHER, ""))] if "base" in node else []
    for name, part in sorted(node["state"].items()):
        plain = plain_value(side, side.open(part))
        is_plain = plain is None or isinstance(plain, (bool, int, float, str))
        keys.append((name, sort_key(side, part, 0) if is_plain else (_OTHER, "")))
    return keys


def is_telling(key: Any) -> bool:
    """Tell whether a key tells a value from all others, but for rounding."""
    if isinstance(key, list):
        return all(map(is_telling, key))
    if key[0] == _OBJECT:
        return bool(key[2]) and all(is_telling(part) for _, part in key[2])
    return key[0] != _OTHER and (key[0] not in (_SEQUENCE, _CALL) or is_telling(key[-1]))


def is_exact(key: Any) -> bool:
    """Tell whether no value equals that of a key unless its key does."""
    if isinstance(key, list):
        return all(map(is_exact, key))
    if key[0] == _NUMBER:
        return key[2] not in ("float", "nan")
    return is_exact(key[-1]) if key[0] in (_SEQUENCE, _CALL) else key[0] in (_TEXT, _NOTHING, _NAME, _BYTES)


# probe/comparison.py

MOST = 20
"""Most differences that are reported."""
MOST_UNORDERED = 2000
"""Most items that are matched each with each; more of them would take too long."""
EXACT = 2**53
"""Whole numbers below it are floats, too."""
MOST_MATCHING = 200_000
"""Most pairs of values that are compared in vain to match items: a document may be made to take for ever."""
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
"""Name of a factory → what it makes."""
_NOTHING = object()
"""Stands for a part that one side lacks."""
Checkers = Mapping[str, Mapping[str, Any]]

_LABELS = {"dtype": "element type", "shape": "shape", "requires_grad": "requires_grad"}
"""Fields of tensors and arrays that have to be the same before their numbers are compared."""


class Difference(NamedTuple):
    """One place where two documents differ."""

    path: str
    message: str

    def __str__(self) -> str:
        return "%s: %s" % (self.path or "the value", self.message)


class Comparison:
    """Compares a recorded value with another one.

    Args:
        expected: the document.
        actual: another document, or live values.
        checkers: path → ``{"kind": "exact"}``, ``{"kind": "allclose", "rtol": …, "atol": …}`` or
            ``{"kind": "ignore"}``; for sequences ``{"kind": "set"}`` (any order). A part without one takes that of the
            nearest path above it; then, where one object is in several places, that of the first place, unless that is
            not compared; then that of :data:`DEFAULT`, then exact.
        within: the comparison whose set this one compares the elements of.
    """

    def __init__(
        self,
        expected: Stored,
        actual: Side,
        checkers: Optional[Checkers] = None,
        within: Optional[Comparison] = None,
    ) -> None:
        self.expected, self.actual, self.checkers = expected, actual, checkers or {}
        self.first: Dict[int, str] = {}
        if within is None:
            nodes = walk(expected.document.tree)
            self.first = {id(node): path for path, node in nodes if isinstance(node, (dict, list))}
        self.matches: _Matches = _Matches() if within is None else within.matches
        self.is_inner = within is not None
        self.most = 1 if self.is_inner else MOST
        self.differences: List[Difference] = []
        self.seen: Dict[Tuple[Any, ...], Any] = {}
        self.kinds = {name: repr(sorted(checker.items())) for name, checker in self.checkers.items()}

    def run(self, expected: Any, actual: Any, path: str = "") -> List[Difference]:
        self.differences, self.seen = [], {}
        try:
            self.pair(expected, actual, path)
        except (RecursionError, BadDocument) as error:
            self.differ(path, "cannot be compared: %s" % error)
        return self.differences[:MOST]

    def differ(self, path: str, message: str) -> None:
        self.differences.append(Difference(path, message))

    def pair(self, wanted: Any, got: Any, path: str) -> None:
        """Compare two values, unless that is left out or was done."""
        if self.is_inner:
            self.matches.work += 1
            if self.matches.work > MOST_MATCHING:
                self.differ(path, "too much to be compared in any order")
                return
        node = self.expected.followed(wanted)
        first = self.first.get(id(node), path) if isinstance(node, (dict, list)) else path
        checker = self.checker(path, first)
        if node == {"$": "omitted"} or (path.startswith(GRAD) and self.left_out(path)):
            return
        skipped = checker.get("kind") == "ignore"
        if skipped and not self.below(path):
            return
        e, a = self.expected.open(node), self.actual.open(got)
        if _is_shared(e) or _is_shared(a):
            pair = (id(node), id(self.actual.followed(got)), repr(sorted(checker.items())), self.below(path))
            if pair in self.seen:
                return
            self.seen[pair] = got  # kept, so that no other value gets its id
        if _kind(e) != _kind(a):
            e, a = plain_value(self.expected, e), plain_value(self.actual, a)
        if {type(e), type(a)} == {int, float} and abs(e) < EXACT and abs(a) < EXACT:
            e, a = float(e), float(a)  # whoever adds up numbers may begin with 0, or with 0.0
        # Who unpacks a result or looks at its items cannot tell a list from a tuple.
        sequences = path == "value" and {_kind(e), _kind(a)} == {"list", "tuple"}
        if _kind(e) == _kind(a) or sequences:
            self.values(e, a, path, first, checker)
        elif not skipped or isinstance(e, dict):
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))

    def values(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare two nodes of one kind."""
        tag = e["$"] if isinstance(e, dict) else ""
        if checker.get("kind") == "ignore":  # only what has a checker of its own is compared, further down
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
        """Return the checker of a path. ``first``: the first place of the same object, which has the tolerances."""
        own = self.nearest(path)
        if own is None and first != path:
            own = self.nearest(first)
            own = None if own is not None and own.get("kind") == "ignore" else own
        return self.checkers.get(DEFAULT, {}) if own is None else own

    def nearest(self, path: str) -> Optional[Mapping[str, Any]]:
        """Return the checker of a path, else of the nearest above; None where there is none."""
        while path:
            if path in self.checkers:
                return self.checkers[path]
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return None

    def below(self, path: str) -> FrozenSet[Tuple[str, str]]:
        """Return the checkers below a path: one object in two places is compared twice where these differ."""
        size = len(path)
        return frozenset(
            (name[size:], kind)
            for name, kind in self.kinds.items()
            if name.startswith(path) and (not path or name[size : size + 1] in (".", "["))
        )

    def loosest(self, path: str, checker: Mapping[str, Any]) -> Dict[str, Any]:
        """Return the widest tolerance of a set's elements: an element has no place of its own."""
        below = [self.checkers[path + name] for name, _ in self.below(path)]
        near = [each for each in (*below, checker) if each.get("kind") == "allclose"]
        return {name: max([each.get(name, 0.0) for each in near] or [0.0]) for name in ("rtol", "atol")}

    # in any order

    def unordered(self, wanted: List[Any], got: List[Any], path: str, checker: Mapping[str, Any]) -> None:
        """Compare items in any order, with the tolerance of the whole."""
        if len(wanted) != len(got):
            self.differ(path, "expected %d items, got %d" % (len(wanted), len(got)))
            return
        matches = self.match(wanted, got, checker)
        for index in [index for index in range(len(wanted)) if index not in matches][: self.most]:
            words = describe(self.expected.open(wanted[index]))
            self.differ(join(path, "[%d]" % index), "expected %s, which is nowhere" % words)

    def match(self, wanted: List[Any], got: List[Any], checker: Mapping[str, Any]) -> Dict[int, int]:
        """Return number of an item → number of the other side's that equals it, but for the tolerance.

        First those of equal keys, then in the order of their keys, then each with each.
        """
        wanted_keys = [sort_key(self.expected, item) for item in wanted]
        got_keys = [sort_key(self.actual, item) for item in got]
        places: Dict[str, List[int]] = {}
        for number in reversed(range(len(got))):
            if is_telling(got_keys[number]):
                places.setdefault(repr(got_keys[number]), []).append(number)
        equal = [places.get(repr(key)) for key in wanted_keys]
        matches = {index: numbers.pop() for index, numbers in enumerate(equal) if numbers}
        taken = frozenset(matches.values())
        left = [n for n, key in enumerate(wanted_keys) if n not in matches and not is_exact(key)]
        right = [n for n, key in enumerate(got_keys) if n not in taken and not is_exact(key)]
        left.sort(key=lambda index: wanted_keys[index])
        right.sort(key=lambda number: got_keys[number])
        inner = Comparison(self.expected, self.actual, {DEFAULT: dict(checker, kind="allclose")}, within=self)
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
        """Tell whether two items are equal. Items that are being compared already, further up, count as equal."""
        node, before = self.expected.followed(wanted), self.matches.work
        near = self.checkers[DEFAULT]
        pair = (id(node), id(self.actual.followed(got)), near.get("rtol"), near.get("atol"))
        if not isinstance(node, (dict, list)):
            is_equal = not self.run(wanted, got)
        else:
            is_equal = self.matches.decide(pair, (wanted, got), lambda: not self.run(wanted, got))
        if is_equal:
            self.matches.work = before
        return is_equal

    # numbers

    def leaf(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare two nodes that hold numbers."""
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
            attributes = [{"$": "object", "cls": "", "state": node.get("attrs", {})} for node in (e, a)]
            self.parts(attributes[0], attributes[1], path)

    def grads(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare the ``.grad`` of two tensors, unless it is left out."""
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
        """Tell whether a part that only one side has is not compared."""
        checker = self.checkers.get(GRADS, {}) if path.startswith(GRAD) else self.checker(path, path)
        return checker.get("kind") == "ignore"

    def numeric(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare numbers of one type and shape."""
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
        """Note that numbers differ: ``|actual - expected| <= atol + rtol * |expected|`` does not hold."""
        text, distance = found
        if math.isfinite(distance.max_abs):
            text += "; largest difference %.3g absolute, %.3g relative" % distance
        near = checker.get("kind") == "allclose"
        self.differ(path, text + (" (allowed: rtol %g, atol %g)" % _tolerance(checker) if near else ""))

    def sparse(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare sparse matrices: the order of the elements, and zeros that one of them stores, do not matter."""
        contradiction = _contradiction(e, a)
        if contradiction:
            self.differ(path, contradiction)
            return
        at = join(path, ".numbers")
        checker = self.checker(at, at)
        expected, actual = (
            [side.open(node[name]) for name in ("places", "numbers")]
            for side, node in ((self.expected, e), (self.actual, a))
        )
        if _label(expected[1], "dtype") != _label(actual[1], "dtype"):
            self.differ(at, "expected %s, got %s" % (describe(expected[1]), describe(actual[1])))
            return
        wanted, got = aligned(*map(self.expected.numbers, expected), *map(self.actual.numbers, actual))
        mismatch = array_mismatch(wanted, got, wanted.dtype.kind in "fc", *_tolerance(checker))
        if mismatch is not None:
            self.mismatch(mismatch, at, at, checker)

    # parts

    def parts(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare two nodes of one tag: their own texts and sizes, then their parts, by what leads to them."""
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
            elif step[1:] not in e.get("lazy", ()):
                self.one_sided(wanted.get(step, _NOTHING), got.get(step, _NOTHING), path, part)
        self.items(e, a, path)

    def items(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare the items of two dictionaries, by their keys."""
        wanted, got = _pairs(e), _pairs(a)
        near = self.loosest(path, self.checker(path, path))
        matches = self.match([key for key, _ in wanted], [key for key, _ in got], near)
        found = frozenset(matches.values())
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
        """Compare two indices of pandas, one of which is a range."""
        wanted, got = _entries(self.expected, e), _entries(self.actual, a)
        if any(one != other for one, other in itertools.zip_longest(wanted, got)):
            self.differ(path, "expected other entries")
        self.pair(e["args"][-1], a["args"][-1], join(path, ".name"))

    def one_sided(self, wanted: Any, got: Any, path: str, part: str) -> None:
        """Note a part below a path that only one side has, unless it is left out."""
        if self.left_out(part) or wanted == {"$": "omitted"}:
            return
        if not path and _is_changed_argument(part):
            self.differ(part, HAS_TO_STAY if wanted is _NOTHING else HAS_TO_CHANGE)
        elif wanted is _NOTHING:
            self.differ(part, "expected nothing, got %s" % describe(self.actual.open(got)))
        else:
            self.differ(part, "expected %s, got nothing" % describe(self.expected.open(wanted)))


def _is_default(side: Side, part: Any, other: Side, node: Dict[str, Any]) -> bool:
    """Tell whether a part is what another side's defaultdict has for keys that it lacks: to look one up adds it."""
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


class _Matches:
    """Pairs of items that were compared. A pair that is being compared counts as equal further down."""

    def __init__(self) -> None:
        self.known: Dict[Tuple[Any, ...], Tuple[bool, Any]] = {}
        self.equal: List[Tuple[Any, ...]] = []
        self.work = 0

    def decide(self, pair: Tuple[Any, ...], kept: Any, compare_them: Callable[[], bool]) -> bool:
        """Return whether a pair is equal. ``kept``: the values whose ids are in it."""
        if pair in self.known:
            return self.known[pair][0]
        size = len(self.equal)
        self.known[pair] = True, kept
        self.equal.append(pair)
        if compare_them():
            return True
        for other in self.equal[size:]:  # found equal because this pair was taken to be
            del self.known[other]
        del self.equal[size:]
        self.known[pair] = False, kept
        return False


def _tolerance(checker: Mapping[str, Any]) -> Tuple[float, float]:
    near = checker.get("kind") == "allclose"
    return (float(checker.get("rtol", 0.0)), float(checker.get("atol", 0.0))) if near else (0.0, 0.0)


def _label(node: Dict[str, Any], field: str) -> Any:
    value = node.get(field, False)
    return native(value) if field == "dtype" and value else value


def _contradiction(e: Dict[str, Any], a: Dict[str, Any]) -> str:
    """Say where two nodes of one tag have other texts, flags or numbers of items; "" where they have the same."""
    for name, kind in FIELDS[e["$"]].items():
        if kind in (TEXT, INTS, FLAG) and e.get(name) != a.get(name):
            in_words = (
                (describe(e), describe(a)) if name == "cls" else (_short(e.get(name)), _short(a.get(name)))
            )
            return "expected %s, got %s" % in_words
        if kind == NODES and len(e.get(name, ())) != len(a.get(name, ())):
            return "expected %d items, got %d" % (len(e.get(name, ())), len(a.get(name, ())))
    return ""


def _is_changed_argument(part: str) -> bool:
    """Tell whether a part of an outcome is an argument, or a free variable: an outcome has those that were changed."""
    return part not in (VALUE, RAISED, EXHAUSTED, RETURNED, GRADIENTS)


def _rows(side: Side, node: Dict[str, Any]) -> List[Any]:
    """Return the items of a sequence, or the rows of an array."""
    return list(side.numbers(node).tolist() if "dtype" in node else node["v"])


def _pairs(node: Dict[str, Any]) -> List[List[Any]]:
    return list(node["v"] if node["$"] == "dict" else node.get("pairs", ()))


def _entries(side: Side, node: Dict[str, Any]) -> Iterable[Any]:
    """Return the entries of an index of pandas. Raises BadDocument where it is none."""
    limits, array = node["args"][:-1], side.open(node["args"][0]) if node["args"] else None
    if node["kind"] == "range" and [type(limit) for limit in limits] == [int] * 3 and limits[2]:
        return range(*limits)
    if not isinstance(array, dict) or array.get("dtype") != "int64":
        raise BadDocument("no index of whole numbers")
    return list(side.numbers(array).tolist())


def _own_steps(node: Dict[str, Any]) -> Dict[str, Any]:
    """Return a node's parts but those of its pairs, by the steps that lead to them."""
    fields = [item for item in FIELDS[node["$"]].items() if item[1] != PAIRS and item[0] in node]
    return {step: part for name, kind in fields for step, part in steps(name, kind, node[name])}


def _is_shared(node: Any) -> bool:
    """Tell whether other places refer to a node."""
    return isinstance(node, dict) and type(node.get("id")) is int and "$" in node


def _kind(node: Any) -> str:
    """Return what has to be the same before values are compared."""
    return str(node["$"]) if isinstance(node, dict) else type(node).__name__


def describe(node: Any) -> str:
    """Put a node into words."""
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
    """Return the last part of the name of a class or function, given as text, as a node or itself."""
    text = value.get("v", "") if isinstance(value, dict) else getattr(value, "__qualname__", value)
    return str(text).rpartition(":")[2].rpartition(".")[2]


def _short(value: Any) -> str:
    """Write a plain value, cut when it is long."""
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."


# probe/effects.py

VALUE_ARGUMENT = "@argument value"
"""The part of an outcome that is an argument named as the returned value is."""


class Fixtures:
    """The fixtures of one call: objects that are built, not stored.

    A fixture is a function without arguments in ``unit_test/fixtures.py``, as in ``def tokenizer(): ...``. It stands
    for every argument and every attribute of its name. Only the name is recorded; the object is built where the
    recording is replayed, and nowhere else.

    Args:
        path: the file that builds them; None where nothing is built.
    """

    def __init__(self, path: Optional[str] = None) -> None:
        self.path = path
        self._names_by_id: Dict[int, Tuple[str, Any]] = {}
        self._built: Dict[str, Any] = {}
        self._module: Any = None

    def named(self, value: Any, path: str = "") -> Optional[str]:
        """Return the fixture that an object was found or built for, or None. Of an outcome, only this counts."""
        fixture = self._names_by_id.get(id(value))
        return None if fixture is None else fixture[0]

    def build(self, name: str) -> Any:
        """Return the object of a fixture, one for all places. Raises LookupError, and what the function raises."""
        if name not in self._built:
            function = self.functions().get(name)
            if function is None:
                raise LookupError("unit_test/fixtures.py has no function %s" % name)
            self._built[name] = function()
            self._names_by_id[id(self._built[name])] = (name, self._built[name])
        return self._built[name]

    def functions(self) -> Dict[str, Any]:
        """Return the functions that build fixtures, by name. Raises what importing their file raises."""
        if self._module is None:
            if self.path is None:
                raise LookupError("it takes unit_test/fixtures.py to build a fixture")
            self._module = load_helper(self.path)
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

    def changes(self, function: Any) -> Dict[str, Any]:
        """Return the parts that differ from before, as they are now."""
        effects: Dict[str, Any] = {}
        now = dict(self.parts)
        now.update({name: value for name, value in closure(function).items() if name in now})
        before, live = Stored(self.document), Live(self.fixture_of)
        exactly = Comparison(before, live)
        but_grads = Comparison(before, live, {GRADS: {"kind": "ignore"}})
        for name, node in self.document.tree.items():
            if name in now and not name.startswith(GLOBAL) and exactly.run(node, now[name]):
                prefix = "" if but_grads.run(node, now[name]) else GRAD
                effects[VALUE_ARGUMENT if name == VALUE and not prefix else prefix + name] = now[name]
        return effects

    def whole(self, function: Any, result: Dict[str, Any]) -> Dict[str, Any]:
        """Return the outcome as live values. ``result``: see :func:`.calling.call`, or what was raised."""
        root = dict(result)
        if self.gradients and VALUE in result and EXHAUSTED not in result:
            root[GRADIENTS] = gradients(self.parts, result[VALUE])
        return dict(root, **self.changes(function))

    def item(self, value: Any) -> Any:
        """Take an item of a generator, before it goes on."""
        raise NotImplementedError

    def ended(self, function: Any, result: Dict[str, Any]) -> Optional[Document]:
        """Take the outcome. A generator's items are what :meth:`item` made of them."""
        raise NotImplementedError


# probe/repeating.py

class Repeated(NamedTuple):
    """A call that was made again.

    Attributes:
        status: ``returned``, ``raised``, ``unstorable`` or ``bad-inputs``.
        document: the outcome, of the first two.
        error: the exception, of all but the first.
        function: what was called; None where it did not come to that.
    """

    status: str
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
        take: makes what takes the outcome.
        fixtures: ``unit_test/fixtures.py``, where the inputs need it.
        begin: called just before the call.
    """
    built = Fixtures(fixtures)
    try:
        if fixtures:
            built.functions()  # also where only a class of the file is needed
            restore_random({})  # so that they build the same each time
        values = decode(inputs, built.build)
        if not isinstance(values, dict):
            raise BadDocument("the inputs are no dictionary")
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
    """List the functions of a name, each with the definitions around it, outermost first."""
    paths: List[Tuple[ast.AST, ...]] = [(tree,)]
    for name in qualname.split("."):
        paths = [(*path, node) for path in paths for node in _defined_in(path[-1]) if node.name == name]
    return [cast(Tuple[ast.stmt, ...], path[1:]) for path in paths if isinstance(path[-1], FUNCTIONS)]


def _defined_in(parent: ast.AST) -> Iterator[Any]:
    """Yield the functions and classes in a body, those in its branches and loops too."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node
        elif isinstance(node, (ast.stmt, ast.ExceptHandler)) or type(node).__name__ == "match_case":
            yield from _defined_in(node)


def closure_factory(tree: ast.Module, target: Any, filename: str, free: Sequence[str]) -> CodeType:
    """Return code that defines ``__lmr_outer__``: given the free variables, it returns the target.

    Args:
        tree: the module, for its ``__future__`` imports.
        target: the nested function; its decorators are left as they are.
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
    """Have everything of PyTorch that names CUDA use the CPU, in this process; without PyTorch, do nothing.

    The code's own questions are answered as if there were one GPU. Installed libraries get the true answer: PyTorch's
    own DataParallel and autocast then turn themselves off. ``x.cuda()`` is ``x`` itself, as it is for what lies on the
    GPU already.
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
    """Return the CPU for a device or type of tensors that is CUDA's; anything else as it is."""
    torch: Any = sys.modules["torch"]
    if isinstance(value, str):
        return "cpu" if value.partition(":")[0] == "cuda" else value.replace("torch.cuda.", "torch.")
    return torch.device("cpu") if isinstance(value, torch.device) and value.type == "cuda" else value


def _device_on_cpu(value: Any) -> Any:
    # `.to(0)`: the number of a GPU. True and False are numbers, too, and stay.
    return "cpu" if type(value) is int else _on_cpu(value)


def _convert_devices(owner: Any, name: str, convert: Callable[[Any], Any] = lambda value: value) -> None:
    """Wrap a function that takes a device by keyword. ``convert``: what is done to its positional arguments."""
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
    """Answer what ``torch.cuda`` is asked."""
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
    # Random numbers of the GPU are drawn by the CPU's generator now. (`torch.manual_seed` itself calls these.)
    cuda.manual_seed = cuda.manual_seed_all = lambda seed: torch.default_generator.manual_seed(int(seed))
    cuda.get_rng_state = lambda *args: torch.get_rng_state()
    cuda.set_rng_state = lambda state, *args: torch.set_rng_state(state)
    cuda.get_rng_state_all = lambda: [torch.get_rng_state()]
    cuda.set_rng_state_all = lambda states: torch.set_rng_state(states[0])


def _answer(function: Any, answer: Any) -> Any:
    """Return an answer to the code, and the true one to an installed library."""
    asking = sys._getframe(1).f_code.co_filename
    return function() if _LIBRARY.search(asking) else answer


# probe/shipped.py

class Target:
    """The function under test, in the repository that the test lies in.

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
        if module:
            self.module: Any = importlib.import_module(module)
        else:
            self.module = load_file(MAIN_STAND_IN, self.path)
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
        # While it is recorded, the recorder's decorator is there.
        return getattr(builtins, "__lmr_target__", lambda function: function)(made)


class Compared(Outcome):
    """Compares what a call did with the expected outcome, in place; nothing of it is written down."""

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
        checkers: path → how that part is compared, where not exactly.
        fixtures: ``unit_test/fixtures.py``, where it is needed.
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
