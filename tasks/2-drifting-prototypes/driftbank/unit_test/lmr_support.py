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
import ctypes
import enum
import functools
import importlib
import importlib.util
import inspect
import json
import logging
import math
import os
import random
import re
import shutil
import struct
import sys
import tempfile
import traceback
import types
import warnings
from contextlib import contextmanager, nullcontext
from pathlib import PurePath
from types import CodeType
from typing import Any, Callable, Dict, FrozenSet, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple, Union, cast


# probe/document.py

FORMAT = "lmr-recording/2"
MAX_DEPTH = 200
"""Deepest nesting of a tree; encoder and reader agree on it."""


class Kind(NamedTuple):
    """What a field of a node holds.

    Attributes:
        fits: whether a value is of this kind; whoever writes a hostile document chooses it.
        steps: field's name and value → the nodes in it, each with the step of the path that leads there.
    """

    fits: Callable[[Any], bool]
    steps: Callable[[str, Any], Iterable[Tuple[str, Any]]] = lambda name, value: ()


def _are_pairs(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)


def _are_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(size) is int and 0 <= size < 2**48 for size in value)


def _pair_steps(name: str, pairs: Any) -> Iterator[Tuple[str, Any]]:
    for index, (key, value) in enumerate(pairs):
        if isinstance(key, (dict, list)):
            yield "<key %d>" % index, key
        yield key_text(key, index), value


NODE = Kind(lambda value: True, lambda name, node: [("" if name == "base" else "." + name, node)])
NODES = Kind(
    lambda value: isinstance(value, list),
    lambda name, nodes: [("[%d]" % index, node) for index, node in enumerate(nodes)],
)
PAIRS = Kind(_are_pairs, _pair_steps)
STATE = Kind(
    lambda value: isinstance(value, dict),
    lambda name, state: [("." + attribute, node) for attribute, node in state.items()],
)
TEXT = Kind(lambda value: isinstance(value, str))
FLAG = Kind(lambda value: isinstance(value, bool))
INTS = Kind(_are_sizes)
DATA = Kind(lambda value: True)


class Field(NamedTuple):
    """A field of a node. ``required``: no node of its tag is without it."""

    name: str
    kind: Kind
    required: bool = True


def _fields(**kinds: Kind) -> Tuple[Field, ...]:
    return tuple(Field(name, kind) for name, kind in kinds.items())


def _optional(**kinds: Kind) -> Tuple[Field, ...]:
    return tuple(Field(name, kind, required=False) for name, kind in kinds.items())


_ARRAY = _fields(dtype=TEXT, shape=INTS) + _optional(data=DATA, file=TEXT)
FIELDS: Dict[str, Tuple[Field, ...]] = {
    "ref": (),
    "list": _fields(v=NODES),
    "tuple": _fields(v=NODES),
    "set": _fields(v=NODES),
    "frozenset": _fields(v=NODES),
    "dict": _fields(v=PAIRS),
    "bytes": _fields(v=TEXT),
    "bytearray": _fields(v=TEXT),
    "complex": _fields(v=DATA),
    "tensor": _ARRAY + _optional(requires_grad=FLAG, leaf=FLAG, cls=TEXT, grad=NODE, attrs=STATE),
    "array": _ARRAY + _optional(cls=TEXT),
    "scalar": _ARRAY,
    "objects": _fields(shape=INTS, v=NODES),
    "table": _fields(columns=NODE, index=NODE, v=NODES),
    "name": _fields(v=TEXT),
    "namedtuple": _fields(cls=TEXT, v=STATE),
    "object": _fields(cls=TEXT, state=STATE) + _optional(base=NODE),
    "call": _fields(call=NODE, args=NODES) + _optional(state=NODE, items=NODES, pairs=PAIRS),
    "make": _fields(kind=TEXT, args=NODES),
    "fixture": _fields(v=TEXT),
    "omitted": (),
}
"""Tag → its fields, in the order in which their nodes are walked."""

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


class Buffer(NamedTuple):
    """Numbers of one type, little-endian and in C order. ``descr``: their type as ``.npy`` files have it."""

    descr: str
    shape: Tuple[int, ...]
    data: bytes


class Omitted(NamedTuple):
    """A part that was left out of an object's state: where, what it was, what to do about it."""

    path: str
    type: str
    advice: str


class Document:
    """A value as a JSON tree and buffers (by name), with a list of the parts that were left out."""

    def __init__(self, tree: Any, buffers: Dict[str, Buffer], omitted: Tuple[Omitted, ...] = ()) -> None:
        self.tree = tree
        self.buffers = buffers
        self.omitted = omitted

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers together."""
        return sum(len(buffer.data) for buffer in self.buffers.values())


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
    for field in FIELDS[node["$"]] if isinstance(node, dict) else ():
        if field.name in node:
            yield from field.kind.steps(field.name, node[field.name])


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


def dump(document: Document, folder: str, stem: str) -> None:
    """Write ``<stem>.json`` and, for each large array, ``<stem>.<n>.npy``."""
    base = os.path.join(str(folder), stem)
    for name, buffer in document.buffers.items():
        with open("%s.%s.npy" % (base, name), "wb") as file:
            file.write(write_npy(buffer))
    header = {
        "format": FORMAT,
        "omitted": [list(omission) for omission in document.omitted],
        "values": document.tree,
    }
    with open(base + ".json", "w", encoding="ascii") as text:
        text.write(pretty(header) + "\n")


def pretty(value: Any, indent: str = "") -> str:
    """Format JSON for people: whatever fits into a line is one line."""
    text = json.dumps(value)
    if len(text) + len(indent) <= 110 or not isinstance(value, (dict, list)):
        return text
    inner = indent + " "
    if isinstance(value, list) and not any(isinstance(part, (dict, list)) for part in value):
        # Lines are broken between items only: a blank inside of a text stays what it is.
        rows, row = [], inner
        for part in value:
            word = json.dumps(part) + ", "
            if len(row) + len(word) > 110 and row != inner:
                rows.append(row)
                row = inner
            row += word
        return "[\n%s\n%s]" % ("\n".join([*(part.rstrip() for part in rows), row[:-2]]), indent)
    if isinstance(value, list):
        lines = [inner + pretty(part, inner) for part in value]
    else:
        lines = ["%s%s: %s" % (inner, json.dumps(key), pretty(part, inner)) for key, part in value.items()]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return "%s\n%s\n%s%s" % (opening, ",\n".join(lines), indent, closing)


def read_file(path: str) -> bytes:
    """Return a file's bytes. Raises BadDocument."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise BadDocument("cannot read %s: %s" % (os.path.basename(path), error.strerror)) from error


def read(folder: str, stem: str) -> Document:
    """Read a document that :func:`dump` wrote; :func:`.checking.load` checks it, too. Raises BadDocument."""
    base = os.path.join(str(folder), stem)
    header = parse_json(read_file(base + ".json"))
    if header.get("format") != FORMAT:
        raise BadDocument("the format is %.40r, not %s" % (header.get("format"), FORMAT))
    buffers = {}
    try:
        for _, node in walk(header.get("values")):
            if isinstance(node, dict) and "$" in node and "file" in node:
                name = node["file"]
                if not (isinstance(name, str) and name.isdigit()):
                    raise BadDocument("not the name of a file: %.60r" % (name,))
                buffers[name] = read_npy(read_file("%s.%s.npy" % (base, name)))
        omitted = tuple(Omitted(*omission) for omission in header["omitted"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadDocument("not a tree: %s" % error) from error
    return Document(header.get("values"), buffers, omitted)


def parse_json(data: bytes) -> Dict[str, Any]:
    """Parse a JSON object. Raises BadDocument."""
    try:
        header = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError, MemoryError) as error:
        raise BadDocument("not JSON: %s" % error) from error
    if not isinstance(header, dict):
        raise BadDocument("no JSON object")
    return header


def write_npy(buffer: Buffer) -> bytes:
    """Return the bytes of a ``.npy`` file, version 1.0. By hand: an environment with PyTorch need not have numpy."""
    text = "{'descr': %r, 'fortran_order': False, 'shape': %r, }" % (buffer.descr, tuple(buffer.shape))
    raw = text.encode("latin1")
    raw += b" " * (-(len(raw) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(raw)) + raw + buffer.data


def read_npy(data: bytes) -> Buffer:
    """Read a ``.npy`` file as :func:`write_npy` makes it. Raises BadDocument."""
    size = struct.unpack("<H", data[8:10])[0] if data[:8] == b"\x93NUMPY\x01\x00" and len(data) > 10 else -1
    if not 0 <= size <= len(data) - 10:
        raise BadDocument("not a .npy file")
    try:
        header = ast.literal_eval(data[10 : 10 + size].decode("latin1").strip())
        descr, shape, fortran = header["descr"], tuple(header["shape"]), header["fortran_order"]
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as error:
        raise BadDocument("not a .npy header") from error
    if fortran is not False or not all(type(size) is int and 0 <= size < 2**48 for size in shape):
        raise BadDocument("a .npy file that is not in C order")
    return Buffer(str(descr), shape, data[10 + size :])


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

aliases: Dict[str, str] = {}
"""Name a module runs under → name it is recorded by (``python -m pkg.train``: ``__main__`` → it)."""
hidden: Set[str] = set()
"""Modules whose classes and functions cannot be found again: a driver outside the repository."""


first_path: Optional[List[str]] = None
"""The repository, and ``sys.path`` as it was before anything of it ran; None where that does not matter."""
_importable: Dict[str, bool] = {}


def library(name: str) -> Any:
    """Return torch, numpy or pandas where this process has loaded it, else None.

    A module of that name may be half loaded, or a folder of the repository.
    """
    module = sys.modules.get(name)
    return module if hasattr(module, _MARKS[name]) else None


def load_file(name: str, path: str, register: bool = False) -> Any:
    """Import a file by its path. Raises whatever importing it raises.

    Args:
        register: list the module in ``sys.modules``, so that its classes can be found by name.
    """
    spec: Any = importlib.util.spec_from_file_location(name, str(path))
    module = importlib.util.module_from_spec(spec)
    if register:
        sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if register:
            del sys.modules[name]
        raise
    return module


def load_helper(path: str) -> Any:
    """Import one of the annotator's files by the name that a driver has for it, ``unit_test.fixtures``, and only once.

    Raises whatever importing it raises.
    """
    path = os.path.realpath(str(path))
    folder, file = os.path.split(path)
    stem = os.path.splitext(file)[0]
    name = "%s.%s" % (HELPERS, stem)
    loaded = sys.modules.get(name)
    if loaded is not None and os.path.realpath(getattr(loaded, "__file__", None) or "") == path:
        return loaded
    package: Any = sys.modules.setdefault(HELPERS, types.ModuleType(HELPERS))
    folders = list(getattr(package, "__path__", ()))
    if folder not in folders:
        package.__path__ = [folder, *folders]
    module = load_file(name, path, register=True)
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
    return MAIN if name == MAIN_STAND_IN else aliases.get(name, name)


def is_importable(home: str) -> bool:
    """Tell whether a module can be imported without what this run did to ``sys.path``, or lies in the repository.

    The code of a model that a hub downloads (``transformers_modules``) can be imported in this run alone.
    """
    file = getattr(sys.modules.get(home), "__file__", None)
    if first_path is None or not isinstance(file, str):
        return True
    top = home.partition(".")[0]
    if top not in _importable:
        inside = os.path.realpath(file).startswith(first_path[0] + os.sep)
        later, sys.path[:] = list(sys.path), first_path
        try:
            finders = [finder.find_spec for finder in sys.meta_path if hasattr(finder, "find_spec")]
            _importable[top] = inside or any(find(top, None) is not None for find in finders)
        except Exception:  # a finder of the repository's own
            _importable[top] = True
        finally:
            sys.path[:] = later
    return _importable[top]


def name_of(value: Any, called: Optional[str] = None) -> Optional[str]:
    """Return ``module:qualname`` of a class, function or singleton if that leads to the very same object."""
    qualname = called or getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(qualname, str) or "<" in qualname:
        return None
    homes = (getattr(value, "__module__", None), type(value).__module__)
    more = () if isinstance(value, (type, types.FunctionType)) else _HOMES
    for home in filter(is_importable, (*homes, *more)):
        for name in (qualname, qualname.rpartition(".")[2]):
            candidate = _look_up(home, name)
            if candidate is value or (isinstance(candidate, types.BuiltinMethodType) and candidate == value):
                return "%s:%s" % (recorded_module(home), name)
    return None


def _look_up(home: Any, qualname: str) -> Any:
    """Return the object of a name in a module that is loaded, else None."""
    value: Any = sys.modules.get(home) if isinstance(home, str) and home not in hidden else None
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
GRADIENTS, ITEMS, FILES = "@gradients", "@items", "@files"
"""Parts of the inputs beside the arguments; the first two begin the name of a free variable, of a global."""
VALUE, RAISED, EXHAUSTED, RETURNED = "value", "@raised", "@exhausted", "@returned"
"""Parts of the outcome; a generator's value is the list of its items."""
GRAD = "@grad "
"""Begins the name of an argument of which the call changed nothing but ``.grad`` of tensors."""
ITEM_LIMIT = 1000
"""Most items of a generator that are kept."""
DEEPEST = 8
"""Nesting of containers below which no tensor is looked for."""


class Setting(NamedTuple):
    """The parts of recorded inputs that are neither arguments nor free variables."""

    modes: Optional[Dict[str, Any]]
    states: Dict[str, Any]
    gradients: bool
    most: int
    files: Optional[List[str]]


def take_setting(inputs: Dict[str, Any]) -> Setting:
    """Remove the setting of a call from its inputs, and return it."""
    modes, states = inputs.pop(MODE, None), inputs.pop(RANDOM, {})
    return Setting(
        modes,
        states,
        inputs.pop(GRADIENTS, False) is True,
        inputs.pop(ITEMS, ITEM_LIMIT),
        inputs.pop(FILES, None),
    )


def free_variables(inputs: Dict[str, Any]) -> Dict[str, Any]:
    """Return the free variables among some inputs, by their own names."""
    return {name[len(CLOSURE) :]: value for name, value in inputs.items() if name.startswith(CLOSURE)}


def globals_of(function: Any, names: Iterable[str]) -> Dict[str, Any]:
    """Return those of some globals that are set, as ``{"@global args": value}``."""
    space = inspect.unwrap(function).__globals__
    return {GLOBAL + name: space[name] for name in names if name in space}


def set_globals(function: Any, inputs: Dict[str, Any]) -> None:
    """Set the globals among some inputs in the module of a function."""
    space = inspect.unwrap(function).__globals__
    space.update({name[len(GLOBAL) :]: value for name, value in inputs.items() if name.startswith(GLOBAL)})


def bind(function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Dict[str, Any]:
    """Return arguments by parameter name, in order; no defaults. Raises TypeError as the call would."""
    return dict(inspect.signature(function).bind(*args, **kwargs).arguments)


def unbind(function: Callable[..., Any], inputs: Dict[str, Any]) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """Reverse :func:`bind`. Raises TypeError when the function has no such parameters."""
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


def mode() -> Dict[str, Any]:
    """Return torch's modes that change what a call does, where they are not the usual ones."""
    torch = library("torch")
    if torch is None:
        return {}
    modes = {
        "grad": torch.is_grad_enabled(),
        "dtype": str(torch.get_default_dtype()).rpartition(".")[2],
        "group": _in_group_of_one(torch),
    }
    usual = {"grad": True, "dtype": "float32", "group": False}
    return {name: value for name, value in modes.items() if value != usual[name]}


def _in_group_of_one(torch: Any) -> bool:
    """Tell whether this process is a group of its own, as a script for several is when it runs alone."""
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return False
    return bool(distributed.get_world_size() == 1)


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
    alone = modes.get("group") and not torch.distributed.is_initialized()
    try:
        with _group_of_one(torch) if alone else nullcontext():
            yield
    finally:
        torch.set_grad_enabled(before[1])
        torch.set_default_dtype(before[0])


def random_states() -> Dict[str, Any]:
    """Return the state of each random generator that is loaded, comparable with ``==``. CUDA's are left out."""
    states: Dict[str, Any] = {"python": random.getstate()}
    numpy, torch = library("numpy"), library("torch")
    if numpy is not None:
        kind, keys, position, has_gauss, gauss = numpy.random.get_state()
        states["numpy"] = (kind, keys.tobytes(), int(position), int(has_gauss), float(gauss))
    if torch is not None:
        state = torch.get_rng_state()
        states["torch"] = bytes(state.numpy().tobytes()) if numpy is not None else bytes(state.tolist())
    return states


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
        self.buffers, self.build = document.buffers, build
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
        value = self._remember(node, value if node.get("leaf", True) else value.clone())
        if "grad" in node:
            value.grad = self.node(node["grad"])
        for name, attribute in node.get("attrs", {}).items():
            value.__dict__[name] = self.node(attribute)
        return value

    def _array(self, node: Dict[str, Any]) -> Any:
        import numpy

        dtype = numpy.dtype(node["dtype"])
        if dtype.hasobject:
            raise ValueError("an array of objects as raw data")
        shape = tuple(node["shape"])
        if "data" in node:
            value = numpy.array(node["data"], dtype).reshape(shape)
        elif dtype.itemsize and self.buffers[node["file"]].data:
            value = numpy.frombuffer(self.buffers[node["file"]].data, dtype).reshape(shape).copy()
        else:
            value = numpy.zeros(shape, dtype)
        return value.view(numpy.matrix) if node.get("cls") == "matrix" else value

    def _objects(self, node: Dict[str, Any]) -> Any:
        import numpy

        value = self._remember(node, numpy.empty(tuple(node["shape"]), dtype=object))
        for index, element in enumerate(self.node(node["v"])):
            value.reshape(-1)[index] = element
        return value

    def _table(self, node: Dict[str, Any]) -> Any:
        import pandas

        index, columns = self.node(node["index"]), self.node(node["columns"])
        made = [_pandas("series", self.node(column), index, None) for column in node["v"]]
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


def _generator(state: Any) -> Any:
    result = importlib.import_module("torch").Generator(device="cpu")
    result.set_state(state)
    return result


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
    "name": lambda decoder, node: resolve(node["v"]),
    "scalar": lambda decoder, node: decoder._array(node)[()],
    "make": lambda decoder, node: _MAKERS[node["kind"]](*decoder.node(node["args"])),
}
_MAKERS: Dict[str, Callable[..., Any]] = {
    "generator": _generator,
    "factory": lambda made: lambda: copy.deepcopy(made),
    "series": functools.partial(_pandas, "series"),
    "index": functools.partial(_pandas, "index"),
    "categorical": functools.partial(_pandas, "categorical"),
    "column": functools.partial(_pandas, "column"),
}


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


# probe/encoding.py

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


# probe/arrays.py

FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


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
            dtype = "float64" if kind == "bfloat16" else kind
            with numpy.errstate(over="ignore"):  # a hostile document: its number becomes infinite
                return numpy.array(node["data"], dtype).reshape(node["shape"])
        buffer = document.buffers[node["file"]]
        value = numpy.frombuffer(buffer.data, numpy.dtype(buffer.descr)).reshape(buffer.shape)
        return (value.astype("<u2").astype("<u4") << 16).view("<f4") if kind == "bfloat16" else value
    except (ValueError, TypeError, KeyError, OverflowError, SyntaxError) as error:
        raise BadDocument("invalid numbers: %s" % error) from error


_BEYOND = Spread(math.inf, math.inf)
"""The distance of what no tolerance would make equal, as of NaN or an infinity."""


def scalar_mismatch(e: Any, a: Any, rtol: float, atol: float) -> Optional[Tuple[str, Spread]]:
    """Compare two floats or complex numbers that are not equal, as :func:`array_mismatch` does arrays."""
    distance = _BEYOND
    if cmath.isfinite(e) and cmath.isfinite(a):
        if abs(a - e) <= atol + rtol * abs(e):
            return None
        distance = Spread(abs(a - e), abs(a - e) / abs(e) if e else math.inf)
    return "expected %r, got %r" % (e, a), distance


_CODES = {
    "|b1": "?", "|u1": "B", "|i1": "b", "<i2": "h", "<u2": "H", "<i4": "i", "<u4": "I", "<i8": "q", "<u8": "Q",
    "<f2": "e", "<f4": "f", "<f8": "d", "<c8": "ff", "<c16": "dd",
}  # fmt: skip
"""``.npy`` type → code of :mod:`struct`."""


def listed_numbers(document: Document, node: Dict[str, Any]) -> List[Any]:
    """Return the numbers of a leaf in a list: an environment with PyTorch may lack numpy. Raises BadDocument."""
    if node["$"] == "complex":
        return [complex(*node["v"])]
    if "data" in node:
        values = [node["data"]]
        for _ in node["shape"]:
            values = [number for row in values for number in row]
        return [rounded(number, node["dtype"]) for number in values]
    buffer = document.buffers[node["file"]]
    if buffer.descr not in _CODES:
        raise BadDocument("the numbers differ, and without numpy nobody can say how much")
    rows = struct.iter_unpack("<" + _CODES[buffer.descr], buffer.data)
    if node["dtype"] == "bfloat16":
        return [struct.unpack("<f", struct.pack("<I", (row[0] & 0xFFFF) << 16))[0] for row in rows]
    return [complex(*row) if len(row) == 2 else row[0] for row in rows]


def rounded(value: Any, dtype: str) -> Any:
    """Return a number that was written in few digits as its type has it."""
    if dtype not in ("float32", "float16", "bfloat16") or not isinstance(value, float):
        return value
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:  # a hostile document
        return value


def listed_mismatch(
    e: List[Any], a: List[Any], floating: bool, rtol: float, atol: float
) -> Optional[Tuple[str, Spread]]:
    """Compare numbers one by one; see :func:`array_mismatch`."""
    distance, first, count = Spread(), "", 0
    for position, (wanted, got) in enumerate(zip(e, a)):
        if wanted == got or (floating and wanted != wanted and got != got):
            continue
        mismatch = scalar_mismatch(wanted, got, rtol, atol) if floating else ("", _BEYOND)
        if mismatch is not None:
            count, distance = count + 1, Spread(*map(max, distance, mismatch[1]))
            first = first or "first is number %d: expected %r, got %r" % (position, wanted, got)
    return ("%d of %d elements differ; %s" % (count, len(e), first), distance) if count else None


def array_mismatch(e: Any, a: Any, floating: bool, rtol: float, atol: float) -> Optional[Tuple[str, Spread]]:
    """Compare arrays; returns None when they agree, else a text and the largest distance.

    NaN agrees with NaN only, and an infinity with the same infinity only.
    """
    import numpy

    if not floating:
        wrong = e != a
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


def _first(e: Any, a: Any, wrong: Any) -> str:
    """Say how many elements differ, and show the first with its place."""
    import numpy

    if not wrong.shape:
        return "expected %r, got %r" % (e.item(), a.item())
    index = tuple(map(int, numpy.argwhere(wrong)[0]))
    count = "%d of %d elements differ" % (wrong.sum(), wrong.size)
    return "%s; first at %s: expected %r, got %r" % (count, list(index), e[index].item(), a[index].item())


def has_numpy() -> bool:
    try:
        import numpy  # noqa: F401
    except ImportError:
        return False
    return True


# probe/compare.py

MOST = 20
"""Most differences that are reported."""
MOST_UNORDERED = 2000
"""Longer sequences are compared in order: matching each item with each would take too long."""
SKIPPED = ("ignore", "custom")
"""Kinds of checkers whose parts are not compared here; functions of the annotator judge those of ``custom``."""
DEFAULT = "*"
"""Checker of every part that has none of its own, and none above it."""
CHOSEN = "as the annotator said"
"""Reason of a checker that was chosen by ``--check``."""
GRADS = "*.grad"
"""Checker of the ``.grad`` of every tensor that has none of its own."""

HAS_TO_CHANGE = "the call has to change it, and left it as it was"
HAS_TO_STAY = "the call changed it, and has to leave it as it is"

Checkers = Mapping[str, Mapping[str, Any]]

_LABELS = {"dtype": "element type", "shape": "shape", "requires_grad": "requires_grad"}
"""Fields of tensors and arrays that have to be the same before their numbers are compared."""


class Difference(NamedTuple):
    """One place where two documents differ."""

    path: str
    message: str

    def __str__(self) -> str:
        return "%s: %s" % (self.path or "the value", self.message)


class Leaf(NamedTuple):
    """A floating or complex leaf: its path and element type."""

    path: str
    dtype: str


def compare(expected: Document, actual: Document, checkers: Optional[Checkers] = None) -> List[Difference]:
    """List the differences, at most :data:`MOST`; an empty list when the documents agree.

    A malformed actual document is a difference, never an error.

    Args:
        checkers: path → ``{"kind": "exact"}``, ``{"kind": "allclose", "rtol": …, "atol": …}`` or
            ``{"kind": "ignore"}``; for sequences ``{"kind": "set"}`` (any order). A part without one takes that of the
            nearest path above it; then, where one object is in several places, that of the first place, unless that is
            not compared; then that of :data:`DEFAULT`, then exact.
    """
    return _Comparison(expected, actual, checkers or {}).run(expected.tree, actual.tree)


def changed(before: Document, after: Document, checkers: Optional[Checkers] = None) -> List[str]:
    """Name the parts of two dictionary documents whose values differ, in the order of ``before``."""
    run = _Comparison(before, after, checkers or {})
    later = after.tree
    return [name for name, node in before.tree.items() if name in later and run.run(node, later[name])]


def leaves(document: Document) -> List[Leaf]:
    """List the leaves whose comparison may have a tolerance."""
    return [Leaf(path, dtype_of(node)) for path, node in walk(document.tree) if dtype_of(node) in FLOATS]


def spread(documents: Sequence[Document]) -> Dict[str, Spread]:
    """Return for each leaf of the first document the largest distance of the others from it."""
    result = {leaf.path: Spread() for leaf in leaves(documents[0])}
    for other in documents[1:]:
        _Comparison(documents[0], other, {}, result).run(documents[0].tree, other.tree)
    return result


class _Comparison:
    """Compares two documents; with ``spreads``, notes distances of leaves there instead of differences."""

    def __init__(
        self,
        expected: Document,
        actual: Document,
        checkers: Checkers,
        spreads: Optional[Dict[str, Spread]] = None,
    ) -> None:
        self.expected, self.actual, self.checkers, self.spreads = expected, actual, checkers, spreads
        self.ids = [by_id(document.tree) for document in (expected, actual)]
        self.first = {id(node): path for path, node in walk(expected.tree) if isinstance(node, (dict, list))}
        self.differences: List[Difference] = []
        self.seen: Set[Tuple[Any, ...]] = set()
        self.kinds = {name: repr(sorted(checker.items())) for name, checker in checkers.items()}

    def run(self, expected: Any, actual: Any) -> List[Difference]:
        self.differences, self.seen = [], set()
        try:
            self.pair(expected, actual, "")
        except RecursionError:
            self.differ("", "nested too deeply to compare")
        return self.differences[:MOST]

    def differ(self, path: str, message: str) -> None:
        if self.spreads is None:
            self.differences.append(Difference(path, message))

    def pair(self, e: Any, a: Any, path: str) -> None:
        """Compare two nodes, unless that is left out or was done."""
        e, a = _followed(e, self.ids[0]), _followed(a, self.ids[1])
        first = self.first.get(id(e), path) if isinstance(e, (dict, list)) else path
        checker = self.checker(path, first)
        left_out = checker.get("kind") in SKIPPED or (path.startswith(GRAD) and self.left_out(path))
        if left_out or e == {"$": "omitted"}:
            return
        if _is_shared(e) or _is_shared(a):
            pair = (id(e), id(a), repr(sorted(checker.items())), self.below(path))
            if pair in self.seen:
                return
            self.seen.add(pair)
        e, a = tagged(e), tagged(a)
        if _kind(e) != _kind(a):
            e, a = _number(e), _number(a)
        # Who unpacks a result or looks at its items cannot tell a list from a tuple.
        sequences = path == "value" and {_kind(e), _kind(a)} == {"list", "tuple"}
        if _kind(e) == _kind(a) or sequences:
            self.values(e, a, path, first, checker)
        else:
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))

    def values(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare two nodes of one kind."""
        if self.loosely(e, a, path, checker):
            return
        if dtype_of(e):
            self.leaf(e, a, path, first, checker)
        elif isinstance(e, dict):
            self.parts(e, a, path)
        elif e != a:
            self.differ(path, "expected %s, got %s" % (describe(e), describe(a)))

    def checker(self, path: str, first: str) -> Mapping[str, Any]:
        """Return the checker of a path. ``first``: the first place of the same object, which has the tolerances."""
        own = self.nearest(path)
        if own is None and first != path:
            own = self.nearest(first)
            own = None if own is not None and own.get("kind") in SKIPPED else own
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
            if name.startswith(path) and name[size : size + 1] in (".", "[")
        )

    def loosely(self, e: Any, a: Any, path: str, checker: Mapping[str, Any]) -> bool:
        """Compare in any order where a checker says so; False when it is none, or does not fit the value."""
        tags = ("list", "tuple", "array", "tensor")
        if checker.get("kind") != "set" or not isinstance(e, dict) or e["$"] not in tags:
            return False
        wanted, got = _items(self.expected, e), _items(self.actual, a)
        if len(wanted) > MOST_UNORDERED and len(wanted) == len(got):
            return False
        self.unordered(wanted, got, path, checker)
        return True

    def unordered(self, wanted: List[Any], got: List[Any], path: str, checker: Mapping[str, Any]) -> None:
        """Compare items in any order; within each, the checkers below the path hold."""
        if len(wanted) != len(got):
            self.differ(path, "expected %d items, got %d" % (len(wanted), len(got)))
            return
        # An item has no place of its own, so no checker can be meant for a part of it.
        inner = _Comparison(self.expected, self.actual, {DEFAULT: dict(checker, kind="allclose")})
        for index, node in enumerate(wanted):
            match = next((number for number, other in enumerate(got) if not inner.run(node, other)), None)
            if match is None:
                self.differ(join(path, "[%d]" % index), "expected %s, which is nowhere" % describe(node))
            else:
                del got[match]

    def leaf(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare two nodes that hold numbers."""
        if isinstance(e, dict):
            for field, label in _LABELS.items():
                wanted, got = e.get(field, False), a.get(field, False)
                if wanted != got:
                    self.differ(path, "expected %s %s, got %s" % (label, wanted, got))
                    return
            if e.get("cls") != a.get("cls"):
                self.differ(path, "expected class %s, got %s" % (e.get("cls"), a.get("cls")))
        if not self.same_data(e, a):
            try:
                self.numeric(e, a, path, first, checker)
            except BadDocument as error:
                self.differ(path, str(error))
        if isinstance(e, dict) and e["$"] == "tensor":
            self.grads(e, a, join(path, ".grad"))
            attributes = [{"$": "object", "cls": "", "state": node.get("attrs", {})} for node in (e, a)]
            self.parts(attributes[0], attributes[1], path)

    def grads(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare the ``.grad`` of two tensors, unless it is left out."""
        checker = self.checkers.get(path) or self.checkers.get(GRADS) or {}
        if checker.get("kind") in SKIPPED:
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
        return checker.get("kind") in SKIPPED

    def same_data(self, e: Any, a: Any) -> bool:
        """Tell whether two leaves have the very same numbers, written alike: most have, and numpy is not needed."""
        if not isinstance(e, dict):
            return bool(e == a or (e != e and a != a))
        if "file" in e and "file" in a:
            return bool(self.expected.buffers[e["file"]] == self.actual.buffers[a["file"]])
        return bool(e.get("data", e.get("v", e)) == a.get("data", a.get("v")))

    def numeric(self, e: Any, a: Any, path: str, first: str, checker: Mapping[str, Any]) -> None:
        """Compare numbers of one type and shape: ``|actual - expected| <= atol + rtol * |expected|``."""
        floating = dtype_of(e) in FLOATS
        near = floating and checker.get("kind") == "allclose"
        allowed = checker if near else {}
        rtol, atol = float(allowed.get("rtol", 0.0)), float(allowed.get("atol", 0.0))
        if isinstance(e, float):
            mismatch = scalar_mismatch(e, a, rtol, atol)
        elif has_numpy():
            wanted, got = numbers(self.expected, e), numbers(self.actual, a)
            mismatch = array_mismatch(wanted, got, floating, rtol, atol)
        else:
            listed = listed_numbers(self.expected, e), listed_numbers(self.actual, a)
            mismatch = listed_mismatch(listed[0], listed[1], floating, rtol, atol)
        if mismatch is None:
            return
        text, distance = mismatch
        if self.spreads is not None and first in self.spreads:
            self.spreads[first] = Spread(*map(max, distance, self.spreads[first]))
        if math.isfinite(distance.max_abs):
            text += "; largest difference %.3g absolute, %.3g relative" % distance
        self.differ(path, text + (" (allowed: rtol %g, atol %g)" % (rtol, atol) if near else ""))

    def parts(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        """Compare two nodes of one tag: their own texts and sizes, then their parts, by what leads to them."""
        contradiction = _contradiction(e, a)
        if contradiction:
            self.differ(path, contradiction)
            return
        by_key = all(_plain_key(key) for key, _ in _pairs(e) + _pairs(a))
        wanted, got = _parts(e, by_key), _parts(a, by_key)
        for key in dict(wanted, **got):
            if len(self.differences) >= MOST:
                return
            step = (wanted if key in wanted else got)[key][0]
            part = join(path, step) if step else path
            if key in wanted and key in got:
                self.pair(wanted[key][1], got[key][1], part)
            elif not self.left_out(part):
                self.one_sided(wanted.get(key), got.get(key), path, part)
        ordered = e.get("call") == {"$": "name", "v": "collections:OrderedDict"}
        if ordered and set(wanted) == set(got) and list(wanted) != list(got):
            self.differ(path, "the keys are in another order")

    def one_sided(
        self, wanted: Optional[Tuple[str, Any]], got: Optional[Tuple[str, Any]], path: str, part: str
    ) -> None:
        """Note a part below a path that only one side has, given as :func:`_parts` does."""
        if not path and _is_changed_argument(part):
            self.differ(part, HAS_TO_STAY if wanted is None else HAS_TO_CHANGE)
        elif wanted is None:
            self.differ(part, "expected nothing, got %s" % describe(got and got[1]))
        elif wanted[1] != {"$": "omitted"}:
            self.differ(part, "expected %s, got nothing" % describe(wanted[1]))


def _contradiction(e: Dict[str, Any], a: Dict[str, Any]) -> str:
    """Say where two nodes of one tag have other texts, flags or numbers of items; "" where they have the same."""
    for name, kind, _ in FIELDS[e["$"]]:
        if kind in (TEXT, INTS, FLAG) and e.get(name) != a.get(name):
            in_words = (describe(e), describe(a)) if name == "cls" else (_short(e[name]), _short(a[name]))
            return "expected %s, got %s" % in_words
        if kind is NODES and len(e.get(name, ())) != len(a.get(name, ())):
            return "expected %d items, got %d" % (len(e.get(name, ())), len(a.get(name, ())))
    return ""


def _is_changed_argument(part: str) -> bool:
    """Tell whether a part of an outcome is an argument, or a free variable: an outcome has those that were changed."""
    return part not in (VALUE, RAISED, EXHAUSTED, RETURNED, GRADIENTS, FILES)


def _followed(node: Any, ids: Dict[int, Any]) -> Any:
    """Return the node that a reference names; any other node as it is."""
    return ids[node["id"]] if isinstance(node, dict) and node.get("$") == "ref" else node


def _items(document: Document, node: Dict[str, Any]) -> List[Any]:
    """Return the items of a sequence, or the rows of an array."""
    return list(numbers(document, node).tolist() if "dtype" in node else node["v"])


def _pairs(node: Dict[str, Any]) -> List[List[Any]]:
    return list(node["v"] if node["$"] == "dict" else node.get("pairs", ()))


def _plain_key(key: Any) -> str:
    """Return a dictionary's key as text, by which another dictionary is searched; "" for one that is no plain value."""
    return "" if _is_compound(key) else json.dumps(key, sort_keys=True)


def _is_compound(node: Any) -> bool:
    """Tell whether a key, or a part of it, is an object, a tensor, or has its numbers or itself elsewhere."""
    if isinstance(node, list):
        return any(map(_is_compound, node))
    if not isinstance(node, dict):
        return False
    if "$" in node and (node["$"] in ("object", "call", "tensor") or "file" in node or "id" in node):
        return True
    return any(map(_is_compound, node.values()))


def _parts(node: Dict[str, Any], by_key: bool) -> Dict[str, Tuple[str, Any]]:
    """Return a node's parts as identity → (step of the path, sub-node); items of dictionaries by key or by place."""
    pairs = _pairs(node)
    others = dict(node, **{"v" if node["$"] == "dict" else "pairs": []})
    by_identity = {step: (step, part) for step, part in parts(others)}
    for position, (key, part) in enumerate(pairs):
        identity = _plain_key(key) if by_key else str(position)
        if not by_key:
            by_identity["<key>" + identity] = ("<key %d>" % position, key)
        by_identity["<item>" + identity] = (key_text(key, position), part)
    return by_identity


def _number(node: Any) -> Any:
    """Return the number that a scalar of numpy is; any other node as it is."""
    number = isinstance(node, dict) and node["$"] == "scalar" and "data" in node
    if number and isinstance(node["data"], (bool, int, float)):
        return rounded(node["data"], node["dtype"])
    return node


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
    in_words: Callable[[Any], str] = _IN_WORDS.get(node["$"], lambda node: "a %s" % node["$"])
    return in_words(node)


def _of_class(node: Dict[str, Any]) -> str:
    return "a %s" % node["cls"].rpartition(":")[2]


def _sized(node: Dict[str, Any]) -> str:
    return "a %s of %d" % (node["$"], len(node["v"]))


def _called(node: Dict[str, Any]) -> str:
    """Name the class of an object that is made by a call, as pickle would make it."""
    name = node["call"].get("v") if isinstance(node["call"], dict) else ""
    if name == "copyreg:__newobj__" and node["args"] and isinstance(node["args"][0], dict):
        name = node["args"][0].get("v", name)
    return "a %s" % str(name).rpartition(":")[2].rpartition(".")[2]


_IN_WORDS: Dict[str, Callable[[Dict[str, Any]], str]] = {
    "tensor": lambda node: "a tensor %s%s" % (node["dtype"], node["shape"]),
    "array": lambda node: "an array %s%s" % (node["dtype"], node["shape"]),
    "scalar": lambda node: "a numpy scalar",
    "list": _sized,
    "tuple": _sized,
    "set": _sized,
    "frozenset": _sized,
    "dict": _sized,
    "object": _of_class,
    "namedtuple": _of_class,
    "call": _called,
    "complex": lambda node: str(complex(*node["v"])),
    "fixture": lambda node: "the fixture %s" % node["v"],
    "name": lambda node: str(node["v"]),
    "make": lambda node: "a %s" % node["kind"],
    "omitted": lambda node: "something that was not stored",
}
"""Tag of a node → what it is called in messages; the others are called by their tags."""


def _short(value: Any) -> str:
    """Write a plain value, cut when it is long."""
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."


# probe/written.py

MOST_ENTRIES = 1000
"""Entries of a folder that are looked at before and after a call."""
_WRITING = os.O_WRONLY | os.O_RDWR


class Written:
    """Notes the files that are written between ``start`` and ``stop``.

    Attributes:
        folders: folders that it wrote into, and that were there before; below the current one by their relative path.
    """

    watching: Optional[Written] = None
    hooked = False

    def __init__(self, arguments: Iterable[Any] = ()) -> None:
        self.folders: List[str] = []
        self._made: List[str] = []
        self._paths: List[str] = []
        self._here = os.path.realpath(os.getcwd())
        self._named = [str(argument) for argument in arguments if isinstance(argument, (str, PurePath))]
        self._before: Dict[str, Tuple[int, int]] = {}

    def start(self) -> Written:
        """Begin to watch."""
        listen: Any = getattr(sys, "addaudithook", None)
        if listen is not None and not Written.hooked:
            Written.hooked = True  # there is no way to take a hook off again
            listen(_heard)
        self._before = self._listed()
        Written.watching = self
        return self

    def stop(self) -> None:
        """End it."""
        Written.watching = None
        for path, state in self._listed().items():
            if self._before.get(path) != state:
                self.note(path)

    def note(self, path: Any, folder: bool = False) -> None:
        """Note a file that is about to be written, or a folder that is about to be made."""
        if isinstance(path, int):
            return
        name = os.path.realpath(os.fsdecode(path))
        noted = self._made if folder else self._paths
        if name not in noted:
            noted.append(name)
        parent = os.path.dirname(name)
        if parent not in self._made and self._shown(parent) not in self.folders and os.path.isdir(parent):
            self.folders.append(self._shown(parent))

    def names(self) -> List[str]:
        """Return the written files that are left, below the current folder by their relative path."""
        return [self._shown(path) for path in self._left()]

    def contents(self) -> Dict[str, Union[str, bytes]]:
        """Return the written files that are left: text where they are text."""
        texts: Dict[str, Union[str, bytes]] = {}
        for path in self._left():
            try:
                with open(path, "rb") as file:
                    data = file.read()
            except OSError:  # it wrote what nobody may read
                data = b""
            try:
                texts[self._shown(path)] = data.decode("utf-8")
            except UnicodeDecodeError:
                texts[self._shown(path)] = data
        return dict(sorted(texts.items()))

    def _left(self) -> List[str]:
        """Return the files that are still there, without Python's own caches."""
        return [path for path in self._paths if os.path.isfile(path) and "__pycache__" not in path]

    def _shown(self, path: str) -> str:
        inside = path == self._here or path.startswith(self._here + os.sep)
        return os.path.relpath(path, self._here) if inside else path

    def _listed(self) -> Dict[str, Tuple[int, int]]:
        states = {}
        for name in self._named:
            try:
                entries = [entry.path for entry in os.scandir(name)] if os.path.isdir(name) else [name]
                for path in entries[:MOST_ENTRIES]:
                    state = os.stat(path)
                    if os.path.isfile(path):
                        states[os.path.realpath(path)] = (state.st_mtime_ns, state.st_size)
            except (OSError, ValueError):  # no path after all, or nothing there yet
                continue
        return states


def _heard(event: str, arguments: Sequence[Any]) -> None:
    """Hear what Python says before it opens, moves or makes a file. It must never raise."""
    watching = Written.watching
    if watching is None or event not in ("open", "os.rename", "os.mkdir"):
        return
    try:
        if event == "open" and arguments[2] & _WRITING:
            watching.note(arguments[0])
        elif event == "os.rename":
            watching.note(arguments[1])
        elif event == "os.mkdir":
            watching.note(arguments[0], folder=True)
    except Exception:  # flags may be None
        return


@contextlib.contextmanager
def room_to_write(folders: Optional[Sequence[str]]) -> Iterator[None]:
    """Run in a copy of the current folder, made of links, where the call may write.

    Args:
        folders: those that the recorded call wrote into; None to stay where we are.
    """
    if folders is None:
        yield
        return
    here, copy = os.getcwd(), tempfile.mkdtemp(prefix="lmr-files-")
    try:
        _link(here, copy)
        os.chdir(copy)
        for folder in folders:
            _make_real(folder)
        yield
    finally:
        os.chdir(here)
        shutil.rmtree(copy, ignore_errors=True)


def _link(source: str, folder: str) -> None:
    for name in os.listdir(source):
        os.symlink(os.path.join(source, name), os.path.join(folder, name))


def _make_real(folder: str) -> None:
    """Make a folder, and turn links on the way to it into folders of links."""
    path = "" if not os.path.isabs(folder) else os.sep
    for step in folder.strip(os.sep).split(os.sep):
        path = os.path.join(path, step)
        if os.path.islink(path) and not os.path.isabs(folder):
            source = os.path.realpath(path)
            os.unlink(path)
            os.mkdir(path)
            _link(source, path)
        elif not os.path.isdir(path):
            with contextlib.suppress(OSError):  # the call then says what it lacks
                os.mkdir(path)


# probe/outcome.py

_LAST_STEP = re.compile(r"(?:^|\.|^@closure |^@global )([^\W\d]\w*)$")
"""An argument, a free variable, or an attribute; no item of a container."""
_CHILD = re.compile(r"\._(?:modules|parameters|buffers)\['([^\W\d]\w*)'\]")
"""An attribute of a torch module, where the module keeps it."""


VALUE_ARGUMENT = "@argument value"
"""The part of an outcome that is an argument named as the returned value is."""


def as_written(path: str) -> str:
    """Write a path as code has it: ``self.encoder`` for ``self._modules['encoder']``."""
    return _CHILD.sub(r".\1", path)


class Fixtures:
    """The fixtures of one call: objects that are built, not stored.

    A fixture is a function without arguments in ``unit_test/fixtures.py``, as in ``def tokenizer(): ...``. It stands
    for every argument and every attribute of its name. Only the name is recorded; the object is built where the
    recording is replayed, and nowhere else.

    Args:
        names: fixtures by which arguments and attributes are recorded.
        path: the file that builds them; None where nothing is built.
        kinds: fixture → type of the object that it builds, where that is known.
    """

    def __init__(
        self, names: Iterable[str] = (), path: Optional[str] = None, kinds: Optional[Dict[str, type]] = None
    ) -> None:
        self.path, self.kinds = path, kinds or {}
        self._names = frozenset(names)
        self._names_by_id: Dict[int, Tuple[str, Any]] = {}
        self._built: Dict[str, Any] = {}
        self._module: Any = None

    def find(self, value: Any, path: str) -> Optional[str]:
        """Return the fixture that stands for an object of the inputs, by where it is, or None."""
        match = _LAST_STEP.search(as_written(path))
        if match is None or match.group(1) not in self._names or not self._stands_for(match.group(1), value):
            return self.named(value, path)
        self._names_by_id[id(value)] = (match.group(1), value)
        return match.group(1)

    def _stands_for(self, name: str, value: Any) -> bool:
        """Tell whether a fixture is such an object, or the object could not be stored without it.

        A layer without dropout may have a lambda where another one has a module, which is no such object.
        """
        if self.kinds.get(name, type(value)) is type(value):
            return True
        try:
            return bool(encode(value).omitted)
        except (Unstorable, TooLarge):
            return True

    def named(self, value: Any, path: str) -> Optional[str]:
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


class Inputs:
    """The parts that a call may change, and their document from before it.

    Args:
        fixture_of: object and path → its fixture, or None.
        gradients: whether gradients belong to the outcome.
        written: the files that the call writes, where they belong to the outcome.
    """

    def __init__(
        self,
        parts: Dict[str, Any],
        document: Document,
        limit: int = DEFAULT_LIMIT,
        skip: Iterable[str] = (),
        fixture_of: Optional[Callable[[Any, str], Optional[str]]] = None,
        gradients: bool = False,
        written: Optional[Written] = None,
    ) -> None:
        self.parts, self.document, self.limit = parts, document, limit
        self.skip, self.fixture_of, self.gradients, self.written = tuple(skip), fixture_of, gradients, written

    def encode(self, value: Any) -> Document:
        """Encode a part of the outcome. Objects of fixtures are known by their identity."""
        return encode(value, self.limit, self.skip, self.fixture_of)

    def _after(self, function: Any) -> Dict[str, Any]:
        """Return the parts that differ from before, as they are now, and the files that were written."""
        effects: Dict[str, Any] = {}
        if self.written is not None:
            self.written.stop()
            contents = self.written.contents()
            effects = {FILES: contents} if contents else {}
        now = dict(self.parts)
        now.update({name: value for name, value in closure(function).items() if name in now})
        later = self.encode(now)
        names = changed(self.document, later)
        more_than_grads = changed(self.document, later, {GRADS: {"kind": "ignore"}}) if names else []
        for name in names:
            if not name.startswith(GLOBAL):
                prefix = "" if name in more_than_grads else GRAD
                effects[VALUE_ARGUMENT if name == VALUE and not prefix else prefix + name] = now[name]
        return effects

    def ended(self, function: Any, value: Any, error: Optional[BaseException] = None) -> Document:
        """Return the outcome of a call that returned or raised. Raises Unstorable, TooLarge."""
        root: Dict[str, Any] = {VALUE: value} if error is None else {RAISED: type_name(error)}
        if self.gradients and error is None:
            root[GRADIENTS] = gradients(self.parts, value)
        return self.encode(dict(root, **self._after(function)))

    def generated(self, function: Any, yielded: List[Document], end: Optional[Document]) -> Document:
        """Return the outcome of a generator.

        Args:
            items: what it yielded, each taken when it was yielded.
            end: its return value when it was exhausted, else None.
        """
        after = self.encode(self._after(function))
        whole = _combine([*yielded, after, *([end] if end is not None else [])])
        tree: Dict[str, Any] = {VALUE: whole.tree[: len(yielded)], EXHAUSTED: end is not None}
        if end is not None:
            tree[RETURNED] = whole.tree[-1]
        return Document(dict(tree, **whole.tree[len(yielded)]), whole.buffers, whole.omitted)


def changed_parts(inputs: Document, expected: Document) -> List[str]:
    """Return the names under which an outcome has arguments and free variables that the call changed."""
    names = [
        VALUE_ARGUMENT if name == VALUE else name for name in inputs.tree if name not in (GRADIENTS, FILES)
    ]
    return [name for name in names if name in expected.tree]


def _combine(documents: List[Document]) -> Document:
    """Make one list document of several documents that share nothing."""
    buffers: Dict[str, Buffer] = {}
    omitted: List[Omitted] = []
    trees, next_id = [], 0
    for document in documents:
        tree = json.loads(json.dumps(document.tree))
        first_id, first_file = next_id, len(buffers)
        buffers.update((str(first_file + int(name)), buffer) for name, buffer in document.buffers.items())
        for _, node in list(walk(tree)):
            if isinstance(node, dict) and "$" in node:
                if "file" in node:
                    node["file"] = str(first_file + int(node["file"]))
                if "id" in node:
                    node["id"] += first_id
                    next_id = max(next_id, node["id"] + 1)
        omitted.extend(document.omitted)
        trees.append(tree)
    return Document(trees, buffers, tuple(omitted))


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
    fixtures: Optional[str] = None,
    limit: int = DEFAULT_LIMIT,
    begin: Callable[[], Any] = lambda: None,
) -> Repeated:
    """Call a function with recorded inputs. Whatever it does is a result.

    Args:
        find: free variables by name → the function.
        fixtures: ``unit_test/fixtures.py``, where the inputs need it.
        limit: largest size of the outcome.
        begin: called just before the call.
    """
    built = Fixtures(path=fixtures)
    try:
        if fixtures:
            built.functions()  # also where only a class of the file is needed
            restore_random({})  # so that they build the same each time
        values = decode(inputs, built.build)
        if not isinstance(values, dict):
            raise BadDocument("the inputs are no dictionary")
        setting = take_setting(values)
        function = find(free_variables(values))
        args, kwargs = unbind(function, values)
        set_globals(function, values)
    except Exception as error:
        return Repeated("bad-inputs", error=error)
    before = {name: node for name, node in inputs.tree.items() if name in values}
    with room_to_write(setting.files), applied(setting.modes):
        taken = Inputs(
            values,
            Document(before, inputs.buffers),
            limit,
            fixture_of=built.named,
            gradients=setting.gradients,
            written=None if setting.files is None else Written(values.values()).start(),
        )
        restore_random(setting.states)
        begin()
        made = _outcome(function, args, kwargs, setting.most, taken)
    return made._replace(function=function)


def _outcome(function: Any, args: Any, kwargs: Any, most: int, inputs: Inputs) -> Repeated:
    try:
        result = call(function, args, kwargs, most, inputs.encode)
        if EXHAUSTED not in result:
            return Repeated("returned", inputs.ended(function, result[VALUE]))
        end = inputs.encode(result[RETURNED]) if result[EXHAUSTED] else None
        return Repeated("returned", inputs.generated(function, result[VALUE], end))
    except (Unstorable, TooLarge) as error:
        return Repeated("unstorable", error=error)
    except BaseException as error:  # a SystemExit is an outcome, too
        try:
            return Repeated("raised", inputs.ended(function, None, error), error)
        except (Unstorable, TooLarge) as refusal:
            return Repeated("unstorable", error=refusal)


# probe/custom.py

NOT_PLAIN = frozenset({"object", "call", "name", "namedtuple", "fixture", "omitted"})
"""Nodes that name code, or hold nothing."""


class _Plain(Decoder):
    """Decodes a part of a document, and nothing that names code."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.nodes = dict(walk(document.tree))
        self.by_id = by_id(document.tree)

    def node(self, node: Any) -> Any:
        if isinstance(node, dict) and "$" in node:
            if node["$"] in NOT_PLAIN or node.get("cls") not in (None, "matrix"):
                raise BadDocument("a checker sees plain values only, and this holds a %s" % node["$"])
            if node["$"] == "ref" and node["id"] not in self.values:
                return self.node(self.by_id[node["id"]])  # the first place lies outside of this part
        return super().node(node)

    def part(self, path: str) -> Any:
        if path not in self.nodes:
            raise BadDocument("there is no %s" % path)
        return self.node(self.nodes[path])


def load_checkers(path: Any) -> Dict[str, Any]:
    """Return the functions of a checkers file. Raises whatever importing it raises."""
    return {name: value for name, value in vars(load_helper(path)).items() if callable(value)}


def verdict(functions: Mapping[str, Any], name: str, expected: Document, actual: Document, path: str) -> str:
    """Return a checker's objection to a part: "" when the values agree. Never raises an Exception."""
    if name not in functions:
        return "unit_test/checkers.py has no function %s" % name
    try:
        answer = functions[name](_Plain(expected).part(path), _Plain(actual).part(path))
    except BadDocument as error:
        return str(error)
    except Exception as error:
        return "%s raised %s: %s" % (name, type(error).__name__, str(error)[:300])
    if isinstance(answer, str):
        return answer[:500]
    # numpy's or torch's True will do; anything else that is merely truthy will not.
    agreed = answer is None or (type(answer).__name__ in ("bool", "bool_", "Tensor") and bool(answer))
    return "" if agreed else "%s says no" % name


# probe/definitions.py

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class TargetNotFound(Exception):
    """The source has no such function, or no Python."""


def find(tree: ast.Module, qualname: str, line: int = 0, nth: int = 0) -> Tuple[ast.stmt, ...]:
    """Return the definitions that lead to a function, itself last. Raises TargetNotFound.

    Of several definitions of the name, ``line`` or ``nth`` (from 1) selects one; the last otherwise.
    """
    matches = definitions(tree, qualname)
    if not matches:
        raise TargetNotFound("there is no function %s" % qualname)
    if nth > len(matches):
        raise TargetNotFound("there are %d functions %s, not %d" % (len(matches), qualname, nth))
    if nth:
        return matches[nth - 1]
    at_line = [path for path in matches if def_line(path[-1]) == line]
    if line and not at_line and len(matches) > 1:
        raise TargetNotFound("there is no function %s at line %d" % (qualname, line))
    return (at_line or matches)[-1]


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


def def_line(node: Any) -> int:
    """Return the line of the ``def`` itself; before Python 3.8 a node's line is that of its first decorator."""
    last_decorator = max(map(last_line, node.decorator_list), default=0)
    return int(node.lineno if node.lineno > last_decorator else last_decorator + 1)


def last_line(node: Any) -> int:
    return max(getattr(part, "lineno", 0) for part in ast.walk(node))


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
            self.module = load_file(MAIN_STAND_IN, self.path, register=True)
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


def check(
    target: Target, case: Any, checkers: Mapping[str, Any], fixtures: Any = None, custom: Any = None
) -> None:
    """Make a recorded call and compare its outcome. Raises AssertionError with every difference.

    Args:
        case: its folder.
        checkers: path → how that part is compared, where not exactly.
        fixtures, custom: ``unit_test/fixtures.py`` and ``checkers.py``, where they are needed.
    """
    expected = read(str(case), "expected")
    made = repeat(target.function, read(str(case), "inputs"), fixtures and str(fixtures))
    raised = made.error
    shown = "".join(traceback.format_exception(type(raised), raised, raised.__traceback__)) if raised else ""
    problems = ["%s: %s" % (made.status, raised)]
    if made.document is not None:
        problems = [str(difference) for difference in compare(expected, made.document, checkers)]
        for path, checker in checkers.items():
            if checker["kind"] == "custom":
                functions = load_checkers(custom)
                message = verdict(functions, checker["function"], expected, made.document, path)
                problems += ["%s: %s" % (path, message)] if message else []
    if problems:
        text = "\n  ".join(problems)
        raise AssertionError("%s:\n  %s\n%s" % (os.path.basename(str(case)), text, shown))
