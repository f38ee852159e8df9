"""Objects by name, files as modules, and the state of objects that are rebuilt without ``__init__``."""

from __future__ import annotations

import collections
import functools
import importlib
import importlib.util
import os
import sys
import types
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

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
