"""Recording real calls of the target while the annotator's command runs.

The command behaves as without us: same ``sys.argv``, ``sys.path``, ``__main__``, exit code and random numbers. Only
calls of the target do more work, and once enough of them are kept, not even those.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
import types
from typing import Any, Callable, Dict, FrozenSet, List, Optional, Set, Tuple

from . import facts, lasting, objects
from .calling import (
    EXHAUSTED,
    GLOBAL,
    GRAD,
    GRADIENTS,
    ITEM_LIMIT,
    ITEMS,
    MODE,
    RAISED,
    RANDOM,
    RETURNED,
    VALUE,
    closure,
    restore_random,
    type_name,
)
from .checking import digest
from .document import Document
from .effects import Fixtures
from .encoding import encode
from .instrument import Hook
from .outcome import Inputs, RecordedFixtures, changed_parts
from .pool import Pool, PooledCall
from .storing import TooLarge, Unstorable
from .traits import Trait, describe_call, outcome_trait
from .watching import bind, globals_of, mode, random_states, wrap

DEFAULTS = {
    "max_bytes": 64 * 1024 * 1024,
    "pool": 100,
    "pool_bytes": 512 * 1024 * 1024,
    "first": 200,
    "seconds": 60,
}
"""Limits: bytes of a call, calls kept, their bytes, calls looked at one by one, processor seconds spent on looking."""
RUSH = 20
"""Calls that are looked at after one that reached a new block unseen."""
MOST_RUSHES = 100
"""A block whose calls cannot be stored must not cost more and more."""
MOST_GLOBAL_BYTES = 64 * 1024
"""Size up to which a global is compared with what it was after the import."""
ELSEWHERE = "elsewhere"
"""A file that says: the target was called in a process that was forked off."""
_ATTRIBUTE = re.compile(r"^(\w+)\.(\w+)$")


class Recorder:
    """Records one target.

    Args:
        config: ``tree``, ``goal_file``, ``qualname``, ``line``, ``out``, and optionally :data:`DEFAULTS`.
    """

    def __init__(self, config: Dict[str, Any]) -> None:
        self.tree = os.path.realpath(config["tree"])
        self.out = config["out"]
        self.limits = {name: config.get(name) or value for name, value in DEFAULTS.items()}
        goal = os.path.join(self.tree, *config["goal_file"].split("/"))
        self.fixtures = tuple(config.get("fixture_names") or ())
        self._fixtures_file = config.get("fixtures")
        self._kinds: Optional[Dict[str, type]] = None
        self.gradients = bool(config.get("gradients"))
        self.globals = tuple(config.get("globals") or ())
        self.globals_read = tuple(config.get("globals_read") or ())
        self._at_import: Dict[str, str] = {}
        self.hook = Hook(goal, config["qualname"], config.get("line") or 0, self.register)
        self.modules: List[str] = []
        self.local = threading.local()
        """``active``: this thread is inside a call; between the items of a generator it is not."""
        self._skip: Set[str] = set()
        os.register_at_fork(after_in_child=self.forked)
        self.pool = Pool(self.out, self.limits["pool"], self.limits["pool_bytes"])
        self.calls = 0
        self.refused: Dict[Tuple[str, str, str, str], int] = {}
        self.spent = 0.0
        self._lock = threading.RLock()
        self._next = self.limits["first"]
        self._rush = self._rushes = 0
        self._executed: Set[int] = set()
        self._saved = 0.0
        self._elsewhere = False
        os.makedirs(self.pool.folder, exist_ok=True)

    def forked(self) -> None:
        """Stop recording in a forked process, such as a worker of a DataLoader: two must not write into one folder."""
        self._elsewhere = True

    def register(self, function: Any) -> Any:
        if not self.modules:  # a function inside another is defined again at each call
            self._at_import = _digests(globals_of(function, self.globals_read))
        self.modules.append(function.__module__)
        return wrap(function, self.begin)

    def begin(self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Optional[Call]:
        """Begin a call. None when it is not to be watched: inside another, or in a forked process."""
        if getattr(self.local, "active", False):
            return None
        if self._elsewhere:
            with open(os.path.join(self.out, ELSEWHERE), "w"):
                return None
        self.local.active = True
        with self._lock:
            self.calls += 1
            call = Call(self, function, self.calls)
            if self._wanted(self.calls):
                start = time.thread_time()
                call.look(args, kwargs)
                self.spent += time.thread_time() - start
        self.hook.hits.clear()
        return call

    def _wanted(self, number: int) -> bool:
        """Choose the calls to look at: the first ones all, then ever fewer, and those after a surprise."""
        if number <= self.limits["first"] and self.spent < self.limits["seconds"]:
            return True
        if self._rush > 0:
            self._rush -= 1
            return True
        if number >= self._next:
            self._next = number + max(10, number // 10)
            return True
        return False

    def ended(self, hits: FrozenSet[int], looked: bool) -> None:
        """Note the blocks that a call executed, one that was not looked at too."""
        with self._lock:
            self._executed |= hits
            if not looked and hits - self.pool.covered and self._rushes < MOST_RUSHES:
                self._rush = RUSH
                self._rushes += 1

    def refuse(self, kind: str, reason: str, path: str = "", cls: str = "") -> None:
        key = (kind, reason, path, cls)
        with self._lock:
            self.refused[key] = self.refused.get(key, 0) + 1

    def take(self, function: Any, arguments: Dict[str, Any]) -> Inputs:
        """Take the inputs of a call, leaving out large attributes of ``self`` that the function's code never names.

        Raises Unstorable, TooLarge.
        """
        parts = dict(arguments, **closure(function), **self._globals_of(function))
        limit = self.limits["max_bytes"]
        while True:
            fixtures = RecordedFixtures(self.fixtures, self._kinds_of_fixtures()) if self.fixtures else None
            try:
                document = encode(parts, limit, self._skip, fixtures.find if fixtures else None)
            except TooLarge as error:
                match = _ATTRIBUTE.match(error.path)
                if match is None or match.group(1) != next(iter(arguments), None) or error.path in self._skip:
                    raise
                name = match.group(2)
                if name.startswith("_") or name in names_used(function, arguments[match.group(1)]):
                    raise
                self._skip.add(error.path)
                continue
            more = {"fixture_of": fixtures.named} if fixtures else {}
            return Inputs(parts, document, limit, self._skip, gradients=self.gradients, **more)

    def _globals_of(self, function: Any) -> Dict[str, Any]:
        """Return the globals that importing the file does not set, or not to their values now."""
        read = globals_of(function, self.globals_read)
        now = _digests({name: value for name, value in read.items() if name in self._at_import})
        changed = {name: read[name] for name in now if now[name] != self._at_import[name]}
        return dict(globals_of(function, self.globals), **changed)

    def _kinds_of_fixtures(self) -> Dict[str, type]:
        """Return the types of the objects that fixtures build; without those that cannot be built here."""
        if self._kinds is None:
            self._kinds = {}
            states, made = random_states(), Fixtures(self._fixtures_file)
            lasting.adopt(self._fixtures_file or "")
            for name in self.fixtures:
                try:
                    self._kinds[name] = type(made.build(name))
                except Exception:  # shown where it is needed, when the call is replayed
                    continue
            restore_random(states)
        return self._kinds

    def keep(self, call: Call, inputs: Document, expected: Document, meta: Dict[str, Any]) -> None:
        texts = [(path, "text", text) for path, text in meta["summary"].items()]
        pooled = PooledCall(call.number, call.hits, frozenset([*meta["traits"], *texts]), meta["bytes"])
        with self._lock:
            stored = self.pool.offer(pooled, inputs, expected, meta)
            if stored and time.monotonic() - self._saved > 2.0:
                self._saved = time.monotonic()
                self.save()

    def save(self) -> None:
        """Write ``summary.json`` as far as it is known."""
        if self._elsewhere:
            return
        instrumented = self.hook.instrumented
        name = objects.recorded_module(self.modules[-1]) if self.modules else objects.MAIN
        fields = ("kind", "reason", "path", "type", "count")
        refused = sorted(self.refused.items(), key=lambda entry: -entry[1])
        summary = {
            "calls": self.calls,
            "blocks": instrumented.lines if instrumented else {},
            "executed": sorted(self._executed),
            "absent": instrumented.absent if instrumented else {},
            "module": None if name == objects.MAIN else name,
            "sys_path": self._sys_path(),
            "imported": self._imported(),
            "not_stored": [dict(zip(fields, (*key, count))) for key, count in refused],
        }
        path = os.path.join(self.out, "summary.json")
        with open(path + ".tmp", "w", encoding="ascii") as file:
            json.dump(dict(summary, **facts.versions()), file, indent=1)
        os.replace(path + ".tmp", path)

    def _inside(self, path: str) -> Optional[str]:
        """Return a path relative to the tree, "" for the tree itself; None when it lies elsewhere."""
        real = os.path.realpath(path or os.getcwd())
        if real == self.tree:
            return ""
        if not real.startswith(self.tree + os.sep):
            return None
        return os.path.relpath(real, self.tree).replace(os.sep, "/")

    def _sys_path(self) -> List[str]:
        folders = [self._inside(entry) for entry in sys.path if os.path.isdir(entry or ".")]
        return list(dict.fromkeys(folder for folder in folders if folder is not None)) or [""]

    def _imported(self) -> List[str]:
        """List the files of the repository that are loaded as modules."""
        paths = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        files = {self._inside(path) for path in paths if isinstance(path, str) and os.path.isfile(path)}
        return sorted(file for file in files if file)


def _digests(values: Dict[str, Any]) -> Dict[str, str]:
    """Return the digests of values, without those that are large, cannot be stored, or are found by their names."""
    digests = {}
    for name, value in values.items():
        try:
            document = encode({name: value}, MOST_GLOBAL_BYTES)
        except Exception:  # nothing that goes wrong here reaches the command
            continue
        node = document.tree[name]
        if not isinstance(node, dict) or node.get("$") != "name":
            digests[name] = digest(document)
    return digests


class Call:
    """One watched call. Nothing that goes wrong here reaches the driver."""

    def __init__(self, recorder: Recorder, function: Any, number: int) -> None:
        self.recorder, self.function, self.number = recorder, function, number
        self.hits: FrozenSet[int] = frozenset()
        self.items: List[Document] = []
        self._inputs: Optional[Inputs] = None
        self._shapes = ""
        self._names: Set[str] = set()
        self._random: Dict[str, Any] = {}
        self._mode: Dict[str, Any] = {}
        self._watch = facts.Stopwatch()

    def look(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        try:
            arguments = bind(self.function, args, kwargs)
        except TypeError as error:  # the call is about to end in the same one
            self.recorder.refuse("misfit", str(error))
            return

        def copy() -> None:
            self._shapes = _shapes(arguments)
            self._inputs = self.recorder.take(self.function, arguments)
            self._names = names_used(self.function, next(iter(arguments.values()), None))
            self._mode, self._random = mode(), random_states()

        self._guarded(copy)
        self._watch = facts.Stopwatch()

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
            return
        except Unstorable as error:
            for path, kind, advice in error.problems[:5]:
                self.recorder.refuse("unstorable", "%s is a %s: %s" % (path, kind, advice), path, kind)
        except TooLarge as error:
            self.recorder.refuse("too_large", "%s%s" % (error, self._shapes))
        except Exception as error:
            self.recorder.refuse("failed", "%s: %s" % (type(error).__name__, error))
        self._inputs = None

    def pause(self, paused: bool) -> None:
        """Say that the driver has the turn, between two items of a generator, or the call again."""
        self.recorder.local.active = not paused

    def item(self, value: Any) -> None:
        """Note an item that a generator yielded."""
        inputs = self._inputs
        if inputs is not None and len(self.items) < ITEM_LIMIT:
            self._guarded(lambda: self.items.append(inputs.item(value)))

    def refuse(self, reason: str) -> None:
        if self._inputs is not None:
            self.recorder.refuse("unstorable", reason)
            self._inputs = None

    def ended(self, value: Any, error: Optional[BaseException] = None) -> None:
        """End a call that returned or raised."""
        self._end({VALUE: value} if error is None else {RAISED: type_name(error)})

    def generated(self, exhausted: bool, value: Any = None) -> None:
        complete = exhausted and len(self.items) < ITEM_LIMIT
        returned = {RETURNED: value} if complete else {}
        self._end({VALUE: self.items, EXHAUSTED: complete, **returned})

    def _end(self, result: Dict[str, Any]) -> None:
        seconds = self._watch.seconds()
        try:
            self.hits = frozenset(self.recorder.hook.hits)
            inputs = self._inputs
            self.recorder.ended(self.hits, inputs is not None)
            if inputs is not None:
                start = time.thread_time()
                self._guarded(lambda: self._keep(inputs, result, seconds))
                self.recorder.spent += time.thread_time() - start
        finally:
            self._inputs = None
            self.pause(True)

    def _keep(self, inputs: Inputs, result: Dict[str, Any], seconds: float) -> None:
        after = random_states()
        used = {name: state for name, state in self._random.items() if after.get(name) != state}
        expected = inputs.ended(self.function, result)
        more: Dict[str, Any] = {MODE: self._mode, RANDOM: used, GRADIENTS: inputs.gradients}
        if expected.tree.get(EXHAUSTED) is False:
            more[ITEMS] = len(self.items)
        inputs.document.tree.update(
            {name: encode(value).tree for name, value in more.items() if value not in ({}, False)}
        )
        meta = self._meta(inputs.document, expected, seconds)
        meta["traits"] += [Trait("", "random", name) for name in sorted(used)]
        self.recorder.keep(self, inputs.document, expected, meta)

    def _uncompared(self, inputs: Document, expected: Document) -> Dict[str, List[str]]:
        """Return the effects of the call that its outcome does not hold: parts without a form."""
        before = {part.path for part in inputs.omitted}
        lacking = [part.path for part in expected.omitted]
        effects = {"parts": [path for path in lacking if path.startswith(VALUE) or path not in before]}
        return {kind: names for kind, names in effects.items() if names}

    def _meta(self, inputs: Document, expected: Document, seconds: float) -> Dict[str, Any]:
        named = {key.replace(GLOBAL, ""): node for key, node in inputs.tree.items()}
        arguments = {name: node for name, node in named.items() if name[:1] != "@"}
        described = describe_call(arguments, self._names, inputs.buffers)
        raised = expected.tree.get(RAISED)
        return {
            "call": self.number,
            "hits": sorted(self.hits),
            "seconds": round(seconds, 6),
            "summary": described.texts,
            "traits": [*described.traits, outcome_trait(raised)],
            "outcome": "returned" if raised is None else "raised",
            "changed": changed_parts(inputs, expected),
            "nothing": expected.tree.get(VALUE, 0) is None,
            "grads": [name[len(GRAD) :] for name in expected.tree if name.startswith(GRAD)],
            "uncompared": self._uncompared(inputs, expected),
            "omitted": [dict(omission._asdict()) for omission in inputs.omitted],
            "bytes": sum(map(_size, (inputs, expected))),
        }


def _size(document: Document) -> int:
    buffers = sum(len(buffer.data) for buffer in document.buffers.values())
    return buffers + len(json.dumps(document.tree))


def _shapes(arguments: Dict[str, Any]) -> str:
    """Write the shapes of arguments, as in ``" (x: [512, 768])"``: these can be sliced where a call is too large."""
    shapes = []
    for name, value in arguments.items():
        shape = getattr(value, "shape", None)
        if isinstance(shape, tuple) and shape and all(isinstance(size, int) for size in shape):
            shapes.append("%s: %s" % (name, list(shape)))
    return " (%s)" % ", ".join(shapes) if shapes else ""


def names_used(function: Any, owner: Any) -> Set[str]:
    """Return attribute names in a function's code and in the methods of its object that it calls, and they call."""
    names: Set[str] = set()
    waiting: List[types.CodeType] = [function.__code__]
    visited: Set[types.CodeType] = set()
    while waiting:
        code = waiting.pop()
        if code in visited:
            continue
        visited.add(code)
        waiting.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
        for name in code.co_names + tuple(
            constant for constant in code.co_consts if isinstance(constant, str)
        ):
            names.add(name)
            method = getattr(type(owner), name, None) if name.isidentifier() else None
            method = getattr(method, "fget", None) or method
            if isinstance(method, types.FunctionType):
                waiting.append(method.__code__)
    return names
