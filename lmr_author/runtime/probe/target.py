"""The forked process that imports one version of the goal file and makes the recorded calls."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import time
import traceback
from copy import copy
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import facts
from .calling import type_name
from .checking import load, to_bytes, write_frame
from .document import BadDocument, Document
from .functions import closure_factory
from .instrument import Hook, TargetNotFound
from .objects import MAIN, MAIN_STAND_IN, load_file
from .outcome import Inputs
from .repeating import repeat
from .storing import DEFAULT_LIMIT

DONE = write_frame({"kind": "done"})
"""The last message of a child."""
START = b'"kind":"start"'
"""Part of the message that begins a case."""


NOTED = 0.005
"""Seconds in which the parent notes that cases run: after that, the first of them may stop it."""


class Result(NamedTuple):
    """The result of a replayed call.

    Attributes:
        status: ``returned``, ``raised``, ``unstorable``, ``bad-inputs`` or ``import-error``.
        document: the outcome, of the first two.
        entered: a block of the target's body was executed.
        hits: the blocks that were executed.
        file: the file that the target's code says it is from.
        seconds: processor time of the call alone (:class:`.facts.Stopwatch`).
        error: ``{"type", "message", "raised_in_target", "part"}`` of the exception, or {}.
    """

    status: str
    document: Optional[Document] = None
    entered: bool = False
    file: str = ""
    seconds: float = 0.0
    hits: Tuple[int, ...] = ()
    error: Dict[str, Any] = {}


class ReplayTarget:
    """A function of a goal file.

    Args:
        request, variant: as in :mod:`.replayer`.
    """

    def __init__(self, request: Dict[str, Any], variant: Dict[str, Any]) -> None:
        self.tree = os.path.abspath(request["tree"])
        self.path = os.path.join(self.tree, *request["goal_file"].split("/"))
        self.module = None if request.get("module") == MAIN else request.get("module")
        folders = request.get("sys_path") or [""]
        self.sys_path = [os.path.join(self.tree, folder) if folder else self.tree for folder in folders]
        self.qualname, self.fixtures = request["qualname"], request.get("fixtures")
        self.limit = int(request.get("max_bytes") or DEFAULT_LIMIT)
        self._functions: List[Any] = []
        self._namespace: Dict[str, Any] = {}
        source: Optional[bytes] = None
        if variant.get("source"):
            with open(variant["source"], "rb") as file:
                source = file.read()
        line = variant.get("line") or request.get("line") or 0
        self.hook = Hook(self.path, self.qualname, line, self._register, source)

    def _register(self, function: Any) -> Any:
        self._functions.append(function)
        return function

    def load(self) -> Dict[str, Any]:
        """Import the goal file with the target instrumented. Returns what is wrong as ``Result.error``, or {}."""
        folders = list(self.sys_path) + ([] if self.module else [os.path.dirname(self.path)])
        sys.path[:] = list(dict.fromkeys(folders + sys.path))
        self.hook.install()
        try:
            if self.module:
                module = importlib.import_module(self.module)
            else:
                module = load_file(MAIN_STAND_IN, self.path)
        except KeyboardInterrupt:
            raise
        except TargetNotFound as error:
            return problem("TargetNotFound", str(error))
        except BaseException as error:
            return describe(error, self.hook)
        self._namespace = module.__dict__
        instrumented = self.hook.instrumented
        if instrumented is None:
            where = getattr(module, "__file__", None)
            message = "module %s was imported from %s, which is not the goal file" % (self.module, where)
            return problem("WrongFile", message)
        if not instrumented.nested and not self._functions:
            return problem("NotDefined", "importing the file does not define %s" % self.qualname)
        return {}

    def function(self, free: Dict[str, Any]) -> Any:
        """Return the raw function; a nested one is built with the given free variables."""
        instrumented = self.hook.instrumented
        assert instrumented is not None
        if not instrumented.nested:
            return self._functions[-1]
        target: Any = copy(instrumented.path[-1])
        target.decorator_list = target.decorator_list[-1:]  # the one that registers it
        exec(closure_factory(instrumented.tree, target, self.path, list(free)), self._namespace)
        return self._namespace.pop("__lmr_outer__")(**free)

    def _take(self, parts: Dict[str, Any], document: Document, **more: Any) -> Inputs:
        return Inputs(parts, document, self.limit, **more)

    def call(self, inputs: Document) -> Result:
        """Call the target with recorded inputs. Whatever it does is a result."""
        watch = facts.Stopwatch()

        def begin() -> None:
            self.hook.hits.clear()
            watch.restart()

        made = repeat(self.function, inputs, self._take, self.fixtures, begin)
        seconds = watch.seconds()
        shown = {} if made.error is None else describe(made.error, self.hook)
        if made.function is None:
            return Result(made.status, error=shown)
        file = inspect.unwrap(made.function).__code__.co_filename
        hits = tuple(sorted(self.hook.hits))
        return Result(made.status, made.document, bool(hits), file, seconds, hits, shown)


def problem(kind: str, message: str) -> Dict[str, Any]:
    return {"type": kind, "message": message, "raised_in_target": False}


def describe(error: BaseException, hook: Hook) -> Dict[str, Any]:
    """Describe an exception; ``raised_in_target``: the ``raise`` itself lies in the target's lines."""
    frames = traceback.extract_tb(error.__traceback__)
    instrumented = hook.instrumented
    inside = False
    if frames and instrumented is not None:
        last = frames[-1]
        same = os.path.realpath(last.filename) == hook.goal_file
        inside = same and instrumented.first <= (last.lineno or 0) <= instrumented.last
    return {
        "type": type_name(error),
        "message": str(error)[:2000],
        "raised_in_target": inside,
        "part": error.part if isinstance(error, BadDocument) else "",
    }


def run_cases(
    request: Dict[str, Any], variant: Dict[str, Any], cases: List[str], out: int, share: bool
) -> None:
    """Run the cases of one variant; sends ``loaded`` after its import, ``start`` and ``case`` for each, then ``used``.

    Args:
        share: send ``used``, the modules that were loaded, some of them by the cases: an optimizer's first step loads
            a third of PyTorch. To look at all modules costs a forked process a copy of the memory they lie in.
    """
    before = set(sys.modules) if share else set()
    target = ReplayTarget(request, variant)
    # Stand where the repository's own runs stand.
    sys.argv[:] = [target.path]
    sys.dont_write_bytecode = True
    os.chdir(target.tree)
    failure = target.load()
    send(out, {"kind": "loaded"})
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "set_num_threads"):
        torch.set_num_threads(int(request.get("threads") or 1))  # sums depend on it in their last bits
    for case in cases:
        if failure:
            _report(out, case, Result("import-error", error=failure), target.tree)
            continue
        send(out, {"kind": "start", "case": case})
        if case == cases[0]:
            time.sleep(NOTED)
        try:
            inputs = load(os.path.join(request["inputs"], case), "inputs")
        except BadDocument as error:
            result = Result("bad-inputs", error=describe(error, target.hook))
        else:
            result = target.call(inputs)
        _report(out, case, result, target.tree)
    if share and not failure:
        send(out, {"kind": "used", "modules": _installed(before, target.tree)})
    send_bytes(out, DONE)


def _installed(before: Any, tree: str) -> List[str]:
    """List modules that were loaded from installed packages, in the order they were loaded."""
    base = os.path.realpath(tree) + os.sep
    names = []
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None) if name not in before else None
        if isinstance(path, str) and not os.path.realpath(path).startswith(base):
            names.append(name)
    return names


def _report(out: int, case: str, result: Result, tree: str) -> None:
    path, base = os.path.realpath(result.file), os.path.realpath(tree)
    inside = (
        os.path.relpath(path, base).replace(os.sep, "/") if path.startswith(base + os.sep) else result.file
    )
    header = dict(result._asdict(), kind="case", case=case, file=inside if result.file else "")
    document = header.pop("document")
    send(out, header, to_bytes(document) if document is not None else b"")


def send(out: int, header: Dict[str, Any], payload: bytes = b"") -> None:
    send_bytes(out, write_frame(header, payload))


def send_bytes(out: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(out, view) :]
