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

from .calling import (
    CLOSURE,
    GRADIENTS,
    ITEM_LIMIT,
    ITEMS,
    MODE,
    RANDOM,
    applied,
    restore_random,
    type_name,
    unbind,
)
from .decoding import decode
from .document import BadDocument, Document
from .encoding import DEFAULT_LIMIT, TooLarge, Unstorable
from .fixtures import Fixtures
from .hook import Hook
from .instrument import TargetNotFound, closure_factory
from .objects import MAIN, MAIN_STAND_IN
from .outcome import Inputs

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
        qualname, line: the function; see :func:`~.instrument.instrument`.
        module: the name to import the file by; None or ``__main__`` for a script.
        sys_path: folders of the repository to import from.
        source: served in place of the file's content.
        fixtures: file with functions that build what could not be stored.
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
        fixtures: Optional[str] = None,
    ) -> None:
        self.tree = os.path.abspath(str(tree))
        self.path = os.path.join(self.tree, *goal_file.split("/"))
        self.module = None if module == MAIN else module
        self.sys_path = [os.path.join(self.tree, item) if item else self.tree for item in sys_path]
        self.qualname, self.fixtures = qualname, fixtures
        self._functions: List[Any] = []
        self._namespace: Dict[str, Any] = {}
        self.hook = Hook(self.path, qualname, line, self._register, source, self.path)

    def _register(self, function: Any) -> Any:
        self._functions.append(function)
        return function

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
            return importlib.import_module(self.module)
        spec: Any = importlib.util.spec_from_file_location(MAIN_STAND_IN, self.path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[MAIN_STAND_IN] = module
        spec.loader.exec_module(module)
        return module

    def function(self, free: Dict[str, Any]) -> Any:
        """Return the raw function; a nested one is built with the given free variables."""
        found = self.hook.found
        assert found is not None
        if not found.nested:
            return self._functions[-1]
        exec(closure_factory(found, self.path, list(free)), self._namespace)
        return self._namespace.pop("__lmr_outer__")(**free)

    def call(self, inputs: Document, limit: int = DEFAULT_LIMIT) -> Result:
        """Call the target with recorded inputs. Whatever it does is a result."""
        fixtures = Fixtures(path=self.fixtures)
        try:
            if self.fixtures:
                restore_random({})  # so that they build the same each time
            values = decode(inputs, fixtures.build)
            if not isinstance(values, dict):
                raise BadDocument("the inputs are no dictionary")
            modes, states = values.pop(MODE, None), values.pop(RANDOM, {})
            gradients, most = values.pop(GRADIENTS, False) is True, values.pop(ITEMS, ITEM_LIMIT)
            free = {name[len(CLOSURE) :]: values[name] for name in values if name.startswith(CLOSURE)}
            function = self.function(free)
            args, kwargs = unbind(function, {name: item for name, item in values.items() if name[:1] != "@"})
        except Exception as error:
            return Result("bad-inputs", None, False, "", 0.0, describe(error, self.hook))
        before = Document(
            {name: node for name, node in inputs.tree.items() if name in values}, inputs.buffers
        )
        taken = Inputs(values, before, limit, known=fixtures.known)
        taken.gradients = gradients
        restore_random(states)
        self.hook.hits.clear()
        start = time.perf_counter()
        run = _Run(function, taken, most)
        with applied(modes):
            run.make(args, kwargs)
        seconds = time.perf_counter() - start
        file = inspect.unwrap(function).__code__.co_filename
        told = {} if run.error is None else describe(run.error, self.hook)
        return Result(run.status, run.document, bool(self.hook.hits), file, seconds, told)


class _Run:
    """One call and its outcome."""

    def __init__(self, function: Any, inputs: Inputs, most: int) -> None:
        self.function, self.inputs, self.most = function, inputs, most
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
        value = self.function(*args, **kwargs)
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
                return self.inputs.generated(self.function, items, self.inputs.encode(None))
        await value.aclose()
        return self.inputs.generated(self.function, items, None)


async def _awaited(value: Any) -> Any:
    return await value


def describe(error: BaseException, hook: Hook) -> Dict[str, Any]:
    """Describe an exception; ``raised_in_target``: the ``raise`` itself lies in the target's lines."""
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
