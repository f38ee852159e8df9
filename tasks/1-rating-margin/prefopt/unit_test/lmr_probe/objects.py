"""Classes and functions by name, and the state of objects that are rebuilt without ``__init__``."""

from __future__ import annotations

import collections
import importlib
import sys
import types
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

MAIN = "__main__"
MAIN_STAND_IN = "__lmr_main__"
"""The module that stands in for ``__main__`` when a script's function is replayed."""

_HEAP_TYPE = 1 << 9
_TRANSPARENT = (
    object, dict, list, set, frozenset, tuple, str, int, float, complex, bytes, bytearray,
    collections.OrderedDict, collections.defaultdict, types.SimpleNamespace,
)  # fmt: skip
_CONTENT = (dict, list, set, frozenset, tuple, str, int, float, complex, bytes, bytearray)
_FUNCTION_HOMES = (
    "builtins",
    "torch",
    "torch.nn.functional",
    "torch.special",
    "torch.linalg",
    "numpy",
    "math",
)

aliases: Dict[str, str] = {}
"""Name a module runs under → name it is recorded by (``python -m pkg.train``: ``__main__`` → it)."""

hidden: Set[str] = set()
"""Modules whose classes and functions cannot be found again: a driver outside the repository."""


def resolve(name: str, load: bool) -> Any:
    """The object named ``module:qualname``.

    Args:
        load: import the module when it is not loaded yet (only ever inside the environment).

    Raises LookupError when there is no such object.
    """
    module_name, _, qualname = name.partition(":")
    if module_name == MAIN and MAIN_STAND_IN in sys.modules:
        module_name = MAIN_STAND_IN
    for running, recorded in aliases.items():
        if recorded == module_name and running in sys.modules:
            module_name = running
    module = sys.modules.get(module_name)
    if module is None and load:
        try:
            module = importlib.import_module(module_name)
        except Exception as error:
            raise LookupError(
                "cannot import %s: %s: %s" % (module_name, type(error).__name__, error)
            ) from error
    found: Any = module
    try:
        for part in qualname.split(".") if qualname else ():
            found = getattr(found, part)
    except AttributeError as error:
        raise LookupError("there is no %s" % name) from error
    if found is None:
        raise LookupError("there is no %s" % name)
    return found


def recorded_module(name: str) -> str:
    """The name by which a module is recorded."""
    return MAIN if name == MAIN_STAND_IN else aliases.get(name, name)


def name_of(value: Any) -> Optional[str]:
    """``module:qualname`` of a class or function when that name leads to the very same object."""
    qualname = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(qualname, str) or "<" in qualname:
        return None
    own = getattr(value, "__module__", None)
    homes = [own] if isinstance(own, str) else []
    if not isinstance(value, (type, types.FunctionType)):
        homes.extend(_FUNCTION_HOMES)
        qualname = value.__name__ if homes[0] in _FUNCTION_HOMES and hasattr(value, "__name__") else qualname
    for home in homes:
        if home in hidden:
            continue
        name = "%s:%s" % (recorded_module(home), qualname)
        try:
            if resolve(name, load=False) is value:
                return name
        except LookupError:
            continue
    return None


def is_plain(cls: type) -> bool:
    """Whether an object of this class is its ``__dict__``, slots and container content, and no more.

    False for classes with state that only their own C code sees: those are stored by what
    ``__reduce_ex__`` says.
    """
    for base in cls.__mro__:
        if base in _TRANSPARENT:
            continue
        if not base.__flags__ & _HEAP_TYPE:
            return False
        if base.__base__ is object and not {"__dict__", "__slots__"} & set(base.__dict__):
            return False
    return True


def content_type(cls: type) -> Optional[type]:
    """The built-in container or scalar that a class derives from, if any."""
    for base in cls.__mro__:
        if base in _CONTENT:
            return base
    return None


def state_of(value: Any) -> Iterator[Tuple[str, Any]]:
    """Attributes of an object as (name, value): its ``__dict__``, then its slots."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        attributes = {}
    if isinstance(attributes, dict):
        for name in list(attributes):
            if isinstance(name, str):
                yield name, attributes[name]
    for cls in type(value).__mro__:
        for slot in slot_names(cls):
            member = cls.__dict__.get(slot)
            if isinstance(member, types.MemberDescriptorType):
                try:
                    yield slot, member.__get__(value)
                except AttributeError:
                    continue


def slot_names(cls: type) -> List[str]:
    """Names of a class's own slots as attributes, private ones mangled."""
    names = cls.__dict__.get("__slots__", ())
    if isinstance(names, str):
        names = (names,)
    result = []
    for name in names:
        if name in ("__dict__", "__weakref__") or not isinstance(name, str):
            continue
        if name.startswith("__") and not name.endswith("__"):
            name = "_%s%s" % (cls.__name__.lstrip("_"), name)
        result.append(name)
    return result


def set_state(value: Any, state: Dict[str, Any]) -> None:
    """Put attributes back, past any ``__setattr__`` of the class."""
    slots = {name for cls in type(value).__mro__ for name in slot_names(cls)}
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        attributes = None
    for name, item in state.items():
        if name in slots or attributes is None:
            object.__setattr__(value, name, item)
        else:
            attributes[name] = item


def new_object(cls: type, content: Any) -> Any:
    """An object of ``cls`` without its ``__init__``; ``content`` for a class derived from a scalar."""
    base: Any = content_type(cls)
    if base in (str, int, float, complex, bytes, tuple, frozenset):
        return base.__new__(cls, content)
    if base is None:
        namespace = issubclass(cls, types.SimpleNamespace)
        return types.SimpleNamespace.__new__(cls) if namespace else object.__new__(cls)
    if issubclass(cls, collections.OrderedDict):
        return collections.OrderedDict.__new__(cls)
    if issubclass(cls, collections.defaultdict):
        return collections.defaultdict.__new__(cls)
    return base.__new__(cls)


def fill_object(value: Any, content: Any) -> None:
    """Put the items of a container-derived object back, past any override of its class."""
    if isinstance(value, dict):
        put = (
            collections.OrderedDict.__setitem__
            if isinstance(value, collections.OrderedDict)
            else dict.__setitem__
        )
        for key, item in content.items():
            put(value, key, item)
    elif isinstance(value, list):
        list.extend(value, content)
    elif isinstance(value, set):
        set.update(value, content)
    elif isinstance(value, bytearray):
        bytearray.extend(value, content)
