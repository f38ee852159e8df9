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
