"""Replays recorded calls in a shipped unit test whose values are more than tensors, arrays and plain containers.

Together with its imports this is ``unit_test/lmr_support.py``. It runs beside the code that it tests, so its verdict is
for people; the decision about candidates is made elsewhere, from outcomes that leave a sandbox as data.
"""

from __future__ import annotations

import ast
import builtins
import copy
import glob
import importlib
import inspect
import json
import math
import os
import sys
import traceback
import types
from typing import Any, Dict, List, Mapping, Optional, Tuple

from .calling import (
    GLOBAL,
    GRADIENTS,
    RAISED,
    VALUE,
    applied,
    call,
    closure,
    free_variables,
    gradients,
    restore_random,
    set_globals,
    take_setting,
    type_name,
    unbind,
)
from .decoding import Decoder, OmittedPart
from .instrument import closure_factory, definitions
from .objects import MAIN_STAND_IN, load_file, state_of

MOST = 20
"""Most differences that are reported."""


def _read(base: str, build: Any) -> Any:
    with open(base + ".json", encoding="ascii") as text:
        tree = json.load(text)["values"]
    arrays = {}
    for path in glob.glob(glob.escape(base) + ".*.npy"):
        with open(path, "rb") as file:
            data = file.read()
        numbers = data[10 + int.from_bytes(data[8:10], "little") :]
        arrays[path.split(".")[-2]] = types.SimpleNamespace(data=numbers)
    return Decoder(types.SimpleNamespace(buffers=arrays), build).node(tree)  # type: ignore[arg-type]


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
    """Make a recorded call and compare its outcome. Raises AssertionError with every difference.

    Args:
        case: its folder.
        checkers: path → how that part is compared, where not exactly.
        fixtures, custom: ``unit_test/fixtures.py`` and ``checkers.py``, where they are needed.
    """
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
    run = Comparison(checkers)
    run.compare(expected, actual, "")
    for path, item in checkers.items():
        if item["kind"] == "custom":
            function = getattr(load_file("lmr_checkers", custom), item["function"])
            answer = function(_part(expected, path), _part(actual, path))
            if answer not in (None, True, ""):
                run.found.append("%s: %s" % (path, answer or "%s says no" % item["function"]))
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
        if (
            kind in ("ignore", "custom")
            or e is a
            or isinstance(e, OmittedPart)
            or (id(e), id(a)) in self.seen
        ):
            return
        self.seen[id(e), id(a)] = (e, a)
        if type(e) is not type(a):
            e, a = (side.item() if _is_scalar(side) else side for side in (e, a))
        sequences = path == "value" and {type(e), type(a)} == {list, tuple}
        if type(e) is not type(a) and not sequences:
            self._note(path, "expected a %s, got a %s" % (type(e).__name__, type(a).__name__))
        elif kind == "set":
            self._unordered(list(e), list(a), path, {"": dict(checker, kind="allclose")})
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

    def _unordered(self, e: List[Any], a: List[Any], path: str, near: Mapping[str, Any]) -> None:
        self._note(path, "" if len(e) == len(a) else "expected %d items, got %d" % (len(e), len(a)))
        for item in e:
            match = next((n for n, other in enumerate(a) if not _differences(near, item, other)), None)
            if match is None:
                self._note(path, "expected %.100r, which is nowhere" % (item,))
            else:
                del a[match]

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
            elif self.checkers.get(inner, {}).get("kind") not in ("ignore", "custom"):
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
