"""Loading the target in a fresh process and calling it with recorded inputs."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import os
import sys
import time
import traceback
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from . import flax_modules, randomness
from .codec import DEFAULT_LIMIT, BadDocument, Document, Fixtures, TooLarge, Unstorable, decode, encode
from .hook import Hook
from .instrument import TargetNotFound, closure_factory
from .objects import MAIN, MAIN_STAND_IN
from .outcome import (
    CLOSURE,
    GRADIENTS,
    ITEM_LIMIT,
    ITEMS,
    MODE,
    PROJECT,
    RANDOM,
    STATES,
    Inputs,
    applied,
    type_name,
    unbind,
)
from .states import States

MAX_TRACEBACK = 20_000


class LoadError(Exception):
    """The goal file could not be imported. ``error`` describes it as in :class:`Result`."""

    def __init__(self, error: Dict[str, Any]) -> None:
        super().__init__("%s: %s" % (error["type"], error["message"]))
        self.error = error


class Result(NamedTuple):
    """What a replayed call did.

    Attributes:
        status: ``returned``, ``raised``, ``unstorable`` or ``bad-inputs``.
        document: the outcome; None for the last two.
        entered: a block of the target's body was executed.
        file: the file that the target's code says it is from.
        seconds: time of the call alone.
        error: ``{"type", "message", "traceback", "raised_in_target"}`` of what was raised, or {}.
    """

    status: str
    document: Optional[Document]
    entered: bool
    file: str
    seconds: float
    error: Dict[str, Any]


class Target:
    """A function of a goal file.

    Args:
        tree: the repository.
        goal_file: path in it.
        qualname, line, nth: the function; see :func:`~.instrument.instrument`.
        module: the name to import the file by; None or ``__main__`` for a script.
        sys_path: folders of the repository to import from.
        source: served in place of the file's content.
        fixtures: file with functions that build what could not be stored.
        compiled: whether what the target's decorators make of it is called, and nothing watched.
    """

    def __init__(
        self,
        tree: str,
        goal_file: str,
        qualname: str,
        line: int = 0,
        module: Optional[str] = None,
        sys_path: Sequence[str] = ("",),
        source: Optional[bytes] = None,
        nth: int = 0,
        fixtures: Any = None,
        compiled: bool = False,
    ) -> None:
        self._given = (tree, goal_file, qualname, line, module, sys_path, source, nth, fixtures)
        self.compiled = compiled
        self.tree = os.path.abspath(str(tree))
        self.path = os.path.join(self.tree, *goal_file.split("/"))
        self.module = None if module == MAIN else module
        self.sys_path = [os.path.join(self.tree, item) if item else self.tree for item in sys_path]
        self.qualname = qualname
        self.fixtures = None if fixtures is None else str(fixtures)
        self._functions: List[Any] = []
        self._namespace: Dict[str, Any] = {}
        self.hook = Hook(self.path, qualname, line, self._register, source, self.path, nth, not compiled)

    def _register(self, function: Any) -> Any:
        self._functions.append(function)
        return function

    def as_compiled(self) -> Target:
        """The same function, to be called as its decorators make it."""
        return Target(*self._given, compiled=True)

    def load(self) -> None:
        """Import the goal file with the target instrumented. Raises LoadError."""
        places = list(self.sys_path) + ([] if self.module else [os.path.dirname(self.path)])
        sys.path[:] = list(dict.fromkeys(places + sys.path))
        self.hook.install()
        try:
            module = self._import()
        except TargetNotFound as error:
            raise LoadError({"type": "TargetNotFound", "message": str(error), "traceback": ""}) from error
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            raise LoadError(describe(error, self.hook)) from error
        self._namespace = module.__dict__
        found = self.hook.found
        if found is None:
            where = getattr(module, "__file__", None)
            message = "module %s was imported from %s, which is not the goal file" % (self.module, where)
            raise LoadError({"type": "WrongFile", "message": message, "traceback": ""})
        if not found.nested and not self._functions:
            message = "importing the file does not define %s" % self.qualname
            raise LoadError({"type": "NotDefined", "message": message, "traceback": ""})

    def _import(self) -> Any:
        if self.module:
            if self.module in sys.modules:
                self._forget()
            return importlib.import_module(self.module)
        spec: Any = importlib.util.spec_from_file_location(MAIN_STAND_IN, self.path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[MAIN_STAND_IN] = module
        spec.loader.exec_module(module)
        return module

    def _forget(self) -> None:
        """Forget the repository's modules, so that all are imported anew, the goal file instrumented."""
        base = os.path.realpath(self.tree) + os.sep
        own = os.path.realpath(os.path.dirname(__file__)) + os.sep
        for name, module in list(sys.modules.items()):
            path = os.path.realpath(getattr(module, "__file__", None) or os.devnull)
            if name != MAIN and path.startswith(base) and not path.startswith(own) and not _is_test(path):
                del sys.modules[name]

    def function(self, free: Dict[str, Any]) -> Any:
        """The raw function; a nested one is built with the given free variables."""
        found = self.hook.found
        assert found is not None
        if not found.nested:
            return self._functions[-1]
        namespace = self._namespace
        exec(closure_factory(found, self.path, list(free)), namespace)
        return namespace.pop("__lmr_outer__")(**free)

    def _decorated(self, function: Any) -> Any:
        """What stands in the file under the target's name. Raises TypeError when that is the plain function."""
        found: Any = self._namespace
        for name in self.qualname.split("."):
            found = found.get(name) if isinstance(found, dict) else getattr(found, name, None)
        if found is None or found is function or not callable(found):
            raise TypeError("nothing compiles %s when the file is imported" % self.qualname)
        return found

    def call(self, inputs: Document, limit: int = DEFAULT_LIMIT) -> Result:
        """Call the target with recorded inputs. Whatever it does is a result."""
        try:
            fixtures = Fixtures(path=self.fixtures)
            if fixtures.used:
                randomness.restore({})  # so that they build the same each time
            values = decode(inputs, fixtures)
            if not isinstance(values, dict):
                raise BadDocument("the inputs are no dictionary")
            modes, states = values.pop(MODE, None), values.pop(RANDOM, {})
            gradients = values.pop(GRADIENTS, False) is True
            project = tuple(values.pop(PROJECT, ()))
            objects = States(fixtures) if values.pop(STATES, False) is True else None
            most = values.pop(ITEMS, ITEM_LIMIT)
            free = {name[len(CLOSURE) :]: values[name] for name in values if name.startswith(CLOSURE)}
            arguments = {name: item for name, item in values.items() if not name.startswith("@")}
            function = self.function(free)
            args, kwargs = unbind(function, arguments)
            called = self._decorated(function) if self.compiled else flax_modules.entered(function, args)
        except Exception as error:
            return Result("bad-inputs", None, False, "", 0.0, describe(error, self.hook))
        before = Document(
            {"$": "dict", "v": [pair for pair in inputs.tree["v"] if pair[0] in values]}, inputs.buffers
        )
        taken = Inputs(values, before, limit, fixtures=fixtures)
        taken.gradients, taken.project, taken.states = gradients, project, objects
        randomness.restore(states)
        self.hook.hits.clear()
        start = time.perf_counter()
        run = _Run(function, called, taken, most)
        with applied(modes):
            run.make(args, kwargs)
        seconds = time.perf_counter() - start
        entered = self.compiled or bool(self.hook.hits)
        file = inspect.unwrap(function).__code__.co_filename
        told = {} if run.error is None else describe(run.error, self.hook)
        return Result(run.status, run.document, entered, file, seconds, told)


class _Run:
    """One call, of the function or of what stands for it, and its outcome."""

    def __init__(self, function: Any, called: Any, inputs: Inputs, most: int) -> None:
        self.function, self.called, self.inputs, self.most = function, called, inputs, most
        self.status = "returned"
        self.document: Optional[Document] = None
        self.error: Optional[BaseException] = None

    def make(self, args: Any, kwargs: Any) -> None:
        try:
            self.document = self._outcome(args, kwargs)
        except (Unstorable, TooLarge) as error:
            self.status, self.error = "unstorable", error
        except BaseException as error:
            self.status, self.error = "raised", error
            try:
                self.document = self.inputs.raised(self.function, error)
            except (Unstorable, TooLarge) as problem:
                self.status, self.error = "unstorable", problem

    def _outcome(self, args: Any, kwargs: Any) -> Document:
        value = self.called(*args, **kwargs)
        if inspect.isgenerator(value):
            items: List[Document] = []
            while len(items) < self.most:
                try:
                    items.append(self.inputs.encode(next(value)))
                except StopIteration as stop:
                    return self.inputs.generated(self.function, items, self.inputs.encode(stop.value))
            return self.inputs.generated(self.function, items, None)
        if inspect.isasyncgen(value):
            return asyncio.run(self._collect(value))
        if inspect.iscoroutine(value):
            value = asyncio.run(_awaited(value))
        return self.inputs.returned(self.function, value)

    async def _collect(self, value: Any) -> Document:
        items: List[Document] = []
        while len(items) < self.most:
            try:
                items.append(self.inputs.encode(await value.__anext__()))
            except StopAsyncIteration:
                return self.inputs.generated(self.function, items, encode(None))
        await value.aclose()
        return self.inputs.generated(self.function, items, None)


async def _awaited(value: Any) -> Any:
    return await value


def _is_test(path: str) -> bool:
    return os.sep + "unit_test" + os.sep in path


def describe(error: BaseException, hook: Hook) -> Dict[str, Any]:
    """An exception as plain data; ``raised_in_target``: the ``raise`` itself lies in the target's lines."""
    frames = traceback.extract_tb(error.__traceback__)
    found = hook.found
    inside = False
    if frames and found is not None:
        last = frames[-1]
        same = os.path.realpath(last.filename) == hook.goal_file
        inside = same and found.first <= (last.lineno or 0) <= found.last
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {
        "type": type_name(error),
        "message": str(error)[:2000],
        "traceback": text[-MAX_TRACEBACK:],
        "raised_in_target": inside,
    }
