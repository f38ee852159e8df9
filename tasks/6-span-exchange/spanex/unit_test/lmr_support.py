"""Reads recorded calls, makes them and compares their outcomes: copied by lmr-author, for its tests."""

from __future__ import annotations

import ast
import asyncio
import base64
import builtins
import collections
import copy
import functools
import importlib
import importlib.machinery
import importlib.util
import inspect
import json
import math
import os
import random
import sys
import traceback
import types
from contextlib import contextmanager
from types import CodeType
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

Document: Any = None
_MAKERS: Any = None
gradients: Any = None
unmatched: Any = None


MAIN = "__main__"
MAIN_STAND_IN = "__lmr_main__"
"""The module that stands in for ``__main__`` when a script's function is replayed."""

HEAP_TYPE = 1 << 9
CONTENT = (dict, list, set, frozenset, tuple, str, int, float, complex, bytes, bytearray)
aliases: Dict[str, str] = {}
"""Name a module runs under → name it is recorded by (``python -m pkg.train``: ``__main__`` → it)."""

def load_file(name: str, path: str, register: bool = False) -> Any:
    """Import a file by its path. Raises whatever importing it raises."""
    spec: Any = importlib.util.spec_from_file_location(name, str(path))
    module = importlib.util.module_from_spec(spec)
    if register:
        sys.modules[name] = module
    spec.loader.exec_module(module)
    return module

def resolve(name: str, load: bool) -> Any:
    """Return the object named ``module:qualname``. Raises LookupError."""
    module_name, _, qualname = name.partition(":")
    if module_name == MAIN and MAIN_STAND_IN in sys.modules:
        module_name = MAIN_STAND_IN
    for running, recorded in aliases.items():
        if recorded == module_name and running in sys.modules:
            module_name = running
    found: Any = sys.modules.get(module_name)
    if found is None and load:
        try:
            found = importlib.import_module(module_name)
        except Exception as error:
            problem = "cannot import %s: %s: %s" % (module_name, type(error).__name__, error)
            raise LookupError(problem) from error
    for part in qualname.split(".") if qualname else ():
        # getattr would make a lazy module import things that the recorded command never needed.
        lazy = isinstance(found, types.ModuleType) and not load
        found = vars(found).get(part) if lazy else getattr(found, part, None)
    if found is None:
        raise LookupError("there is no %s" % name)
    return found

def content_type(cls: type) -> Optional[type]:
    """Return the built-in container or scalar that a class derives from, if any."""
    return next((base for base in cls.__mro__ if base in CONTENT), None)

def state_of(value: Any) -> Iterator[Tuple[str, Any]]:
    """Yield an object's attributes as (name, value): its ``__dict__``, then its slots."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        attributes = {}
    yield from [(name, item) for name, item in list(attributes.items()) if isinstance(name, str)]
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
    for name, item in state.items():
        if name in slots:
            object.__setattr__(value, name, item)
        else:
            object.__getattribute__(value, "__dict__")[name] = item

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
        for key, item in content.items():
            home.__setitem__(value, key, item)
    elif isinstance(value, list):
        list.extend(value, content)
    elif isinstance(value, set):
        set.update(value, content)
    elif isinstance(value, bytearray):
        bytearray.extend(value, content)

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
        return self._remember(node, simple(self, node) if simple else getattr(self, "_" + node["$"])(node))
    def _remember(self, node: Dict[str, Any], value: Any) -> Any:
        """Note the value of a node for references to it, which may lie inside of the node itself."""
        if "id" in node:
            self.known[node["id"]] = value
        return value
    def _class(self, node: Dict[str, Any]) -> Any:
        found = resolve(node["cls"], load=True)
        if not isinstance(found, type):
            raise TypeError("%s is no class" % node["cls"])
        return found
    def _array(self, node: Dict[str, Any]) -> Any:
        import numpy
        kind = node["dtype"]
        dtype = numpy.dtype(ast.literal_eval(kind) if kind.startswith("[") else kind)
        if dtype.hasobject:
            raise ValueError("an array of objects as raw data")
        shape = tuple(node["shape"])
        if "data" in node:
            value = numpy.array(node["data"], dtype).reshape(shape)
        elif dtype.itemsize and self.buffers[node["file"]].data:
            value = numpy.frombuffer(self.buffers[node["file"]].data, dtype).reshape(shape).copy()
        else:
            value = numpy.zeros(shape, dtype)
        return value.view(getattr(numpy, node["cls"])) if node.get("cls") in ("matrix", "recarray") else value
    def _object(self, node: Dict[str, Any]) -> Any:
        cls = self._class(node)
        if content_type(cls) in (None, dict, list, set, bytearray):
            value = self._remember(node, new_object(cls, None))
            if "base" in node:
                fill_object(value, self.node(node["base"]))
        else:
            value = self._remember(node, new_object(cls, self.node(node["base"])))
        state = {name: self.node(item) for name, item in node["state"].items()}
        if isinstance(value, collections.defaultdict):
            value.default_factory = state.pop("default_factory", None)
        set_state(value, state)
        return value
    def _call(self, node: Dict[str, Any]) -> Any:
        value = self._remember(node, self.node(node["call"])(*[self.node(item) for item in node["args"]]))
        state = self.node(node.get("state"))
        if state is not None and hasattr(value, "__setstate__"):
            value.__setstate__(state)
        elif state is not None:
            attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
            set_state(value, dict(attributes or {}, **(slots or {})))
        for item in node.get("items", ()):
            value.append(self.node(item))
        for key, item in node.get("pairs", ()):
            value[self.node(key)] = self.node(item)
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
    "name": lambda decoder, node: resolve(node["v"], load=True),
    "scalar": lambda decoder, node: decoder._array(node)[()],
    "make": lambda decoder, node: _MAKERS[node["kind"]](*decoder.node(node["args"])),
}
_MAKERS: Dict[str, Callable[..., Any]] = {
    "generator": _generator,
    "factory": lambda made: lambda: copy.deepcopy(made),
    **{kind: functools.partial(_pandas, kind) for kind in ("series", "index", "categorical", "column")},
}

CLOSURE, GLOBAL, MODE, RANDOM = "@closure ", "@global ", "@mode", "@random"
GRADIENTS, ITEMS = "@gradients", "@items"
"""Parts of the inputs beside the arguments; the first two begin the name of a free variable, of a global."""
VALUE, RAISED, EXHAUSTED, RETURNED = "value", "@raised", "@exhausted", "@returned"
"""Parts of the outcome; a generator's value is the list of its items."""
ITEM_LIMIT = 1000
"""Most items of a generator that are kept."""

class Setting(NamedTuple):
    """The parts of recorded inputs that are neither arguments nor free variables."""
    modes: Optional[Dict[str, Any]]
    states: Dict[str, Any]
    gradients: bool
    most: int

def take_setting(inputs: Dict[str, Any]) -> Setting:
    """Remove the setting of a call from its inputs, and return it."""
    modes, states = inputs.pop(MODE, None), inputs.pop(RANDOM, {})
    return Setting(modes, states, inputs.pop(GRADIENTS, False) is True, inputs.pop(ITEMS, ITEM_LIMIT))

def free_variables(inputs: Dict[str, Any]) -> Dict[str, Any]:
    """Return the free variables among some inputs, by their own names."""
    return {name[len(CLOSURE) :]: item for name, item in inputs.items() if name.startswith(CLOSURE)}

def set_globals(function: Any, inputs: Dict[str, Any]) -> None:
    """Set the globals among some inputs in the module of a function."""
    space = inspect.unwrap(function).__globals__
    space.update({name[len(GLOBAL) :]: item for name, item in inputs.items() if name.startswith(GLOBAL)})

def unbind(function: Callable[..., Any], inputs: Dict[str, Any]) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """Reverse :func:`bind`. Raises TypeError when the function has no such parameters."""
    signature = inspect.signature(function)
    arguments = {name: item for name, item in inputs.items() if name[:1] != "@"}
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
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            if name not in ("__class__", function.__name__):
                found[CLOSURE + name] = cell.cell_contents
        except ValueError:
            continue
    return found

def call(function: Any, args: Any, kwargs: Any, most: int, keep: Callable[[Any], Any]) -> Dict[str, Any]:
    """Call a function of any kind to its end, and return what it returned or yielded. Raises what it raises."""
    value = function(*args, **kwargs)
    if inspect.iscoroutine(value):
        value = asyncio.run(_finished(value))
    if not inspect.isgenerator(value):
        return {VALUE: value}
    items: List[Any] = []
    while len(items) < most:
        try:
            items.append(keep(next(value)))
        except StopIteration as stop:
            return {VALUE: items, EXHAUSTED: True, RETURNED: stop.value}
    return {VALUE: items, EXHAUSTED: False}

async def _finished(value: Any) -> Any:
    return await value

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
    try:
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

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

def definitions(tree: ast.Module, qualname: str) -> List[Tuple[ast.stmt, ...]]:
    """List the functions of a name, each with the definitions around it, outermost first."""
    found = _definitions(tree.body, qualname.split("."), ())
    return [path for path in found if isinstance(path[-1], _FUNCTIONS)]

def _definitions(
    body: Sequence[ast.stmt], names: List[str], above: Tuple[ast.stmt, ...]
) -> Iterator[Tuple[ast.stmt, ...]]:
    for statement in body:
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            if statement.name == names[0]:
                path = (*above, statement)
                if len(names) == 1:
                    yield path
                else:
                    yield from _definitions(statement.body, names[1:], path)
            continue
        for block in _blocks(statement):
            yield from _definitions(block, names, above)

def _blocks(statement: ast.stmt) -> Iterator[List[ast.stmt]]:
    """Yield the statement lists inside a compound statement."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(statement, field, None)
        if isinstance(block, list):
            yield block
    for field in ("handlers", "cases"):
        for item in getattr(statement, field, ()):
            yield item.body

def closure_factory(tree: ast.Module, target: Any, filename: str, free: Sequence[str]) -> CodeType:
    """Return code that defines ``__lmr_outer__``: given the free variables, it returns the target."""
    names = [name for name in free if name != target.name]
    text = "def __lmr_outer__(%s):\n    def %s(): pass\n    return %s\n"
    outer: Any = ast.parse(text % (", ".join(names), target.name, target.name), filename)
    outer.body[0].body[0] = target
    outer.body[:0] = [
        item for item in tree.body if isinstance(item, ast.ImportFrom) and item.module == "__future__"
    ]
    return compile(outer, filename, "exec", dont_inherit=True)

MOST = 20
"""Most differences that are reported."""

class _Files(Dict[str, Any]):
    """The large arrays of a document, each read when it is needed."""
    def __init__(self, base: str) -> None:
        super().__init__()
        self.base = base
    def __missing__(self, name: str) -> Any:
        with open("%s.%s.npy" % (self.base, name), "rb") as file:
            data = file.read()
        return types.SimpleNamespace(data=data[10 + int.from_bytes(data[8:10], "little") :])

def _read(base: str, build: Any) -> Any:
    with open(base + ".json", encoding="ascii") as file:
        tree = json.load(file)["values"]
    return Decoder(types.SimpleNamespace(buffers=_Files(base)), build).node(tree)  # type: ignore[arg-type]

class Target:
    """The function under test, in the repository that the test lies in."""
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
        places = [os.path.join(str(root), item) if item else str(root) for item in sys_path]
        sys.path[:0] = places + ([] if module else [os.path.dirname(self.path)])
        if module:
            self.module: Any = importlib.import_module(module)
        else:
            self.module = load_file(MAIN_STAND_IN, self.path, register=True)
        if os.path.realpath(str(self.module.__file__)) != os.path.realpath(self.path):
            raise ImportError("%s was imported from %s" % (module, self.module.__file__))
    def function(self, free: Dict[str, Any]) -> Any:
        """Return the function without its decorators; a nested one is built with the given free variables."""
        names = self.qualname.split(".")
        found: Any = self.module
        for name in names:
            found = vars(found).get(name) if isinstance(found, (type, types.ModuleType)) else None
        for name in ("__func__", "fget", "func"):
            found = getattr(found, name, None) or found
        if callable(found) and not self.nth and not free:
            found = inspect.unwrap(found, stop=lambda item: hasattr(item, "__lmr_watched__"))
            code = getattr(inspect.unwrap(found), "__code__", None)
            if code and code.co_name == names[-1] and os.path.samefile(code.co_filename, self.path):
                return found
        return self._from_source(free)
    def _from_source(self, free: Dict[str, Any]) -> Any:
        with open(self.path, "rb") as file:
            tree = ast.parse(file.read(), self.path)
        found = definitions(tree, self.qualname)
        if len(found) < max(1, self.nth):
            raise LookupError("there is no function %s in %s" % (self.qualname, self.path))
        above, target = found[self.nth - 1][:-1], found[self.nth - 1][-1]
        target.decorator_list = []  # type: ignore[attr-defined]
        if above and isinstance(above[-1], ast.ClassDef):
            free = dict(free, __class__=vars(self.module).get(self.qualname.split(".")[0]))
        free = {name: item for name, item in free.items() if name != target.name}  # type: ignore[attr-defined]
        space = self.module.__dict__
        exec(closure_factory(tree, target, self.path, list(free)), space)
        made = space.pop("__lmr_outer__")(**free)
        # While it is recorded, the recorder's decorator is there.
        return getattr(builtins, "__lmr_target__", lambda function: function)(made)
    def outcome(self, inputs: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any], str]:
        """Make a call; returns its outcome, its inputs as they are afterwards, and the traceback if it raised."""
        setting = take_setting(inputs)
        function = self.function(free_variables(inputs))
        args, kwargs = unbind(function, inputs)
        set_globals(function, inputs)
        restore_random(setting.states)
        with applied(setting.modes):
            try:
                found, shown = call(function, args, kwargs, setting.most, _copied), ""
                if setting.gradients:
                    found[GRADIENTS] = gradients(inputs, found[VALUE])
            except BaseException as error:  # a SystemExit must not end the test
                found, shown = {RAISED: type_name(error)}, traceback.format_exc()
        later = closure(function)
        kept = {name: item for name, item in inputs.items() if not name.startswith(GLOBAL)}
        return found, {name: later.get(name, item) for name, item in kept.items()}, shown

def _copied(item: Any) -> Any:
    try:
        return copy.deepcopy(item)
    except Exception:  # a tensor that was computed, for one
        return item

def check(
    target: Target, case: Any, checkers: Mapping[str, Any], fixtures: Any = None, custom: Any = None
) -> None:
    """Make a recorded call and compare its outcome. Raises AssertionError with every difference."""
    built: Dict[str, Any] = {}
    def build(name: str) -> Any:
        if name not in built:
            built[name] = getattr(load_file("lmr_fixtures", fixtures), name)()
        return built[name]
    if fixtures:
        restore_random({})  # so that they build the same each time
    inputs, before = (_read(os.path.join(str(case), "inputs"), build) for _ in range(2))
    expected = _read(os.path.join(str(case), "expected"), build)
    actual, after, shown = target.outcome(inputs)
    for name, item in after.items():
        key = "@argument value" if name == "value" else name
        actual[key] = item
        expected.setdefault(key, before[name])
    judged = {path: item["function"] for path, item in checkers.items() if item["kind"] == "custom"}
    plain = {path: {"kind": "ignore"} if path in judged else item for path, item in checkers.items()}
    run = Comparison(plain)
    run.compare(expected, actual, "")
    for path, name in judged.items():
        answer = getattr(load_file("lmr_checkers", custom), name)(_part(expected, path), _part(actual, path))
        if answer not in (None, True, ""):
            run.found.append("%s: %s" % (path, answer or "%s says no" % name))
    if run.found:
        problems = "\n  ".join(run.found[:MOST])
        raise AssertionError("%s:\n  %s\n%s" % (os.path.basename(str(case)), problems, shown))

def _part(value: Any, path: str) -> Any:
    """Return the part of an outcome at a path, as in ``value['loss'][0].weight``."""
    name = next(name for name in value if path == name or path.startswith((name + ".", name + "[")))
    return eval("_" + path[len(name) :], {"__builtins__": {}}, {"_": value[name]})

class Comparison:
    """Compares values part by part; ``found`` lists the differences."""
    def __init__(self, checkers: Mapping[str, Any]) -> None:
        self.checkers = checkers
        self.found: List[str] = []
        self.seen: Dict[Tuple[int, int], Any] = {}
    def compare(self, e: Any, a: Any, path: str) -> None:
        """Compare an expected and an actual value."""
        place, checker = path, None
        while place and checker is None:
            checker = self.checkers.get(place)
            place = place[: max(place.rfind("."), place.rfind("["), 0)]
        checker = checker or self.checkers.get("", {})
        kind = checker.get("kind")
        rtol, atol = (checker["rtol"], checker["atol"]) if kind == "allclose" else (0.0, 0.0)
        if kind == "ignore" or e is a or isinstance(e, OmittedPart) or (id(e), id(a)) in self.seen:
            return
        self.seen[id(e), id(a)] = (e, a)
        if type(e) is not type(a):
            e, a = (side.item() if _is_scalar(side) else side for side in (e, a))
        sequences = path == "value" and {type(e), type(a)} == {list, tuple}
        if type(e) is not type(a) and not sequences:
            self._note(path, "expected a %s, got a %s" % (type(e).__name__, type(a).__name__))
        elif kind == "set":
            near = {"": dict(checker, kind="allclose")}
            missing = unmatched(list(e), list(a), lambda x, y: not _differences(near, x, y))
            if missing or len(e) != len(a):
                self._note(path, "%d items are nowhere" % len(missing))
        elif hasattr(e, "dtype") and hasattr(e, "shape") and not hasattr(e, "iloc"):
            self._arrays(e, a, path, rtol, atol)
        elif isinstance(e, (float, complex)):
            same = e == a or abs(a - e) <= atol + rtol * abs(e) < math.inf or (e != e and a != a)
            self._note(path, "" if same else "expected %r, got %r" % (e, a))
        elif e is None or isinstance(e, (set, frozenset, str, bytes, int, type, types.FunctionType)):
            self._note(path, "" if e == a else "expected %.100r, got %.100r" % (e, a))
        else:
            self._parts(_parts_of(e), _parts_of(a), path)
    def _note(self, path: str, problem: str) -> None:
        if problem:
            self.found.append("%s: %s" % (path, problem))
    def _arrays(self, e: Any, a: Any, path: str, rtol: float, atol: float) -> None:
        for name in ("dtype", "shape", "requires_grad"):
            wanted, got = getattr(e, name, None), getattr(a, name, None)
            if wanted != got:
                self._note(path, "expected %s %s, got %s" % (name, wanted, got))
                return
        library: Any = sys.modules["torch" if hasattr(e, "requires_grad") else "numpy"]
        if hasattr(e, "is_sparse"):
            if e.is_leaf and a.is_leaf:
                self.compare(e.grad, a.grad, path + ".grad")
            e, a = (side.detach().to_dense() if side.is_sparse else side.detach() for side in (e, a))
        elif e.dtype.hasobject:
            self.compare(e.tolist(), a.tolist(), path)
            return
        floating = str(e.dtype).rpartition(".")[2][:5] in ("float", "bfloa", "compl")
        close = library.isclose(a, e, rtol=rtol, atol=atol, equal_nan=True) if floating else a == e
        wrong = (~close).reshape(-1)
        if wrong.any():
            first = int(wrong.nonzero()[0][0])
            wanted, got = (side.reshape(-1)[first].item() for side in (e, a))
            message = "%d elements differ; the first is number %d: expected %r, got %r"
            self._note(path, message % (int(wrong.sum()), first, wanted, got))
    def _parts(self, e: Dict[str, Any], a: Dict[str, Any], path: str) -> None:
        for step in [*e, *(step for step in a if step not in e)]:
            inner = path + step if path else step.replace("['", "").replace("']", "").lstrip(".")
            if step in e and step in a:
                self.compare(e[step], a[step], inner)
            elif self.checkers.get(inner, {}).get("kind") != "ignore":
                if step not in e:
                    self._note(inner, "expected nothing")
                elif not isinstance(e[step], OmittedPart):
                    self._note(inner, "expected something, got nothing")

def _is_scalar(value: Any) -> bool:
    """Tell whether a value is a number of numpy, which a caller cannot tell from one of Python."""
    return type(value).__module__ == "numpy" and hasattr(value, "item") and not hasattr(value, "__len__")

def _parts_of(value: Any) -> Dict[str, Any]:
    """Return the parts of a value by the step that leads to them."""
    found: Dict[str, Any] = {}
    if hasattr(value, "iloc"):  # a table or a column of pandas
        columns = [value.iloc[:, n] for n in range(value.shape[1])] if hasattr(value, "columns") else [value]
        found = {"." + name: getattr(value, name, None) for name in ("columns", "index", "name")}
        found.update(("[%d]" % n, column.to_numpy()) for n, column in enumerate(columns))
        return found
    if hasattr(value, "get_indexer"):  # an index
        return {"": value.tolist(), ".names": list(value.names)}
    if isinstance(value, dict):
        found.update(("[%r]" % (key,), item) for key, item in dict.items(value))
    elif isinstance(value, (list, tuple)) or type(value).__name__ == "deque":
        names = getattr(value, "_fields", None) or ()
        found.update((".%s" % names[n] if names else "[%d]" % n, item) for n, item in enumerate(value))
    found.update(("." + name, item) for name, item in state_of(value))
    if not found and not isinstance(value, (dict, list, tuple)):
        reduced = value.__reduce_ex__(2)
        steps = enumerate(reduced if isinstance(reduced, tuple) else (reduced,))
        found.update(("<%d>" % n, list(item) if hasattr(item, "__next__") else item) for n, item in steps)
    return found

def _differences(checkers: Mapping[str, Any], e: Any, a: Any) -> List[str]:
    run = Comparison(checkers)
    run.compare(e, a, "")
    return run.found
