"""Recording real calls of the target while the annotator's command runs.

The command behaves as without us: same ``sys.argv``, ``sys.path``, ``__main__``, exit code and random
numbers. Only calls of the target do more work, and once enough of them are kept, not even those.
"""

from __future__ import annotations

import importlib.machinery
import os
import re
import sys
import threading
import time
from typing import Any, Dict, FrozenSet, List, Optional, Set, Tuple

from . import facts, objects
from .document import Document
from .encoding import TooLarge
from .fixtures import Fixtures
from .hook import Hook
from .instrument import TargetNotFound, instrument
from .outcome import Inputs, take
from .pool import Kept, Pool, write_json
from .watching import Call, names_used
from .wrapping import wrap

DEFAULTS = {
    "max_bytes": 64 * 1024 * 1024,
    "pool": 40,
    "pool_bytes": 512 * 1024 * 1024,
    "first": 200,
    "seconds": 60,
}
"""Limits: bytes of a call, calls kept, their bytes, calls looked at one by one, seconds spent on looking."""
RUSH = 20
"""So many calls are looked at after one that reached a new block unseen."""
MOST_RUSHES = 100
"""So often: a block whose calls cannot be stored must not cost more and more."""

_ATTRIBUTE = re.compile(r"^(\w+)\.(\w+)$")


class Recorder:
    """Records one target.

    Args:
        config: ``tree``, ``goal_file``, ``qualname``, ``line``, ``out``, and optionally :data:`DEFAULTS`.
        child: this process was started by the recorded command; nothing is written unless the target is called.
    """

    def __init__(self, config: Dict[str, Any], child: bool = False) -> None:
        self.tree = os.path.realpath(config["tree"])
        self.out = config["out"]
        self.child = child
        self.limits = {name: config.get(name) or value for name, value in DEFAULTS.items()}
        goal = os.path.join(self.tree, *config["goal_file"].split("/"))
        self.fixtures = tuple(config.get("fixture_names") or ())
        self.gradients = bool(config.get("gradients"))
        self.hook = Hook(goal, config["qualname"], config.get("line") or 0, self.register)
        self.modules: List[str] = []
        self._local = threading.local()
        self._skip: Set[str] = set()
        self._begin()
        if not child:
            os.makedirs(self.pool.folder, exist_ok=True)
        os.register_at_fork(after_in_child=self.forked)

    def _begin(self) -> None:
        """Start counting and keeping calls, in this process."""
        self.pool = Pool(self.out, self.limits["pool"], self.limits["pool_bytes"])
        self.calls = 0
        self.reasons: Dict[Tuple[str, str], int] = {}
        self.spent = 0.0
        self._lock = threading.RLock()
        self._next = self.limits["first"]
        self._rush = self._rushes = 0
        self._covered: Set[int] = set()
        self._executed: Set[int] = set()
        self._saved = 0.0

    def forked(self) -> None:
        """Go on in a forked process, a worker of a DataLoader say, with a folder of its own.

        If the fork happened inside a call of the target, this thread is still inside it.
        """
        base = os.path.dirname(os.path.dirname(self.out)) if self.child else self.out
        self.out = child_folder(base)
        self.child = True
        self._begin()

    def register(self, function: Any) -> Any:
        """Wrap the target: its innermost decorator."""
        self.modules.append(function.__module__)
        _name_module(self.hook.goal_file, function.__module__)
        return wrap(function, self.begin)

    def begin(self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Optional[Call]:
        """Begin a call. None when it is not to be watched: inside another."""
        if getattr(self._local, "active", False):
            return None
        self._local.active = True
        with self._lock:
            self.calls += 1
            call = Call(self, function, self.calls)
            if self._wanted(self.calls):
                start = time.perf_counter()
                call.look(args, kwargs)
                self.spent += time.perf_counter() - start
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

    def done(self) -> None:
        """The call that :meth:`begin` saw has ended."""
        self._local.active = False

    def pause(self, active: bool) -> None:
        """Between the items of a generator, other calls of the same thread are calls of their own."""
        self._local.active = active

    def noticed(self, hits: FrozenSet[int], looked: bool) -> None:
        """Note the blocks that a call executed."""
        with self._lock:
            self._executed |= hits
            if not looked and hits - self._covered and self._rushes < MOST_RUSHES:
                self._rush = RUSH
                self._rushes += 1

    def refuse(self, kind: str, reason: str) -> None:
        """Count a call that is not stored. ``kind``: ``unstorable``, ``too_large``, ``misfit`` or ``failed``."""
        with self._lock:
            self.reasons[(kind, reason)] = self.reasons.get((kind, reason), 0) + 1

    def take(self, function: Any, arguments: Dict[str, Any]) -> Inputs:
        """Take the inputs, leaving out large attributes of ``self`` that the function's code never names."""
        for _ in range(16):
            try:
                fixtures = Fixtures(self.fixtures) if self.fixtures else None
                return take(function, arguments, self.limits["max_bytes"], self._skip, fixtures)
            except TooLarge as error:
                match = _ATTRIBUTE.match(error.path)
                if match is None or match.group(1) != next(iter(arguments), None):
                    raise
                name = match.group(2)
                if name.startswith("_") or name in names_used(function, arguments[match.group(1)]):
                    raise
                self._skip.add(error.path)
        raise TooLarge("", 0, self.limits["max_bytes"])

    def keep(self, call: Call, inputs: Document, expected: Document, meta: Dict[str, Any]) -> None:
        """Offer a complete call to the pool."""
        likeness = repr((meta["outcome"], sorted(meta["summary"].items())))
        with self._lock:
            stored = self.pool.offer(
                Kept(call.number, call.hits, likeness, meta["bytes"]), inputs, expected, meta
            )
            if stored:
                self._covered = self.pool.covered
            # A worker may be ended without warning, so it leaves nothing for later.
            if stored and (self.child or time.monotonic() - self._saved > 2.0):
                self._saved = time.monotonic()
                self.save()

    def save(self) -> None:
        """Write ``summary.json`` as far as it is known."""
        if self.child and not self.calls:
            return
        os.makedirs(self.out, exist_ok=True)
        write_json(os.path.join(self.out, "summary.json"), dict(self._summary(), **facts.versions()))

    def _summary(self) -> Dict[str, Any]:
        lines, absent = self._blocks()
        name = objects.recorded_module(self.modules[-1]) if self.modules else objects.MAIN
        reasons = sorted(self.reasons.items(), key=lambda item: -item[1])
        first = {} if self.pool.kept else {kind: reason for (kind, reason), _ in reversed(reasons)}
        return {
            "calls": self.calls,
            "stored": sorted(item.number for item in self.pool.kept),
            "blocks": {str(block): line for block, line in lines.items()},
            "executed": sorted(self._executed),
            "absent": {str(block): own for block, own in absent.items()},
            "module": None if name == objects.MAIN else name,
            "sys_path": self._sys_path(),
            "imported": self._imported(),
            "not_stored": [{"kind": kind, "reason": reason, "count": n} for (kind, reason), n in reasons],
            "unstorable": first.get("unstorable", first.get("failed", "")),
            "too_large": first.get("too_large", ""),
            "misfit": first.get("misfit", ""),
        }

    def _blocks(self) -> Tuple[Dict[int, int], Dict[int, int]]:
        """The line of each block of the target, and those that stand for an ``else`` that is not written."""
        hook, found = self.hook, self.hook.found
        if found is None:
            try:
                with open(hook.goal_file, "rb") as file:
                    found = instrument(file.read(), hook.goal_file, hook.qualname, hook.line)
            except (OSError, TargetNotFound):
                return {}, {}
        return found.lines, found.absent

    def _inside(self, path: str) -> Optional[str]:
        """A path relative to the tree, "" for the tree itself; None when it lies elsewhere."""
        real = os.path.realpath(path or os.getcwd())
        if real == self.tree:
            return ""
        return (
            os.path.relpath(real, self.tree).replace(os.sep, "/")
            if real.startswith(self.tree + os.sep)
            else None
        )

    def _sys_path(self) -> List[str]:
        places = [self._inside(entry) for entry in sys.path if os.path.isdir(entry or ".")]
        return list(dict.fromkeys(place for place in places if place is not None)) or [""]

    def _imported(self) -> List[str]:
        """Files of the repository that are loaded as modules."""
        paths = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        places = {self._inside(path) for path in paths if isinstance(path, str) and os.path.isfile(path)}
        return sorted(place for place in places if place)


def _name_module(goal_file: str, name: str) -> None:
    """See to it that the goal file's classes are recorded under a name that leads to it again.

    A file that was loaded by its path under an invented name is treated as a script.
    """
    if name == objects.MAIN:
        return
    package, _, last = name.rpartition(".")
    places = getattr(sys.modules.get(package), "__path__", None) if package else None
    try:
        find = importlib.machinery.PathFinder.find_spec
        found = None if package and places is None else find(last if not package else name, places)
    except (ImportError, ValueError):
        found = None
    origin = getattr(found, "origin", None)
    if origin is None or os.path.realpath(origin) != goal_file:
        objects.aliases[name] = objects.MAIN


def child_folder(out: str) -> str:
    """Return where a process that the recorded command started keeps its calls; a new folder each time."""
    base = os.path.join(out, "children", str(os.getpid()))
    number, folder = 1, base
    while os.path.exists(folder):  # process ids come again
        number, folder = number + 1, "%s-%d" % (base, number)
    return folder
