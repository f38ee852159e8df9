"""Recording real calls of the target while the annotator's command runs.

The command behaves as without us: same ``sys.argv``, ``sys.path``, ``__main__``, exit code and random numbers. Only
calls of the target do more work, and once enough of them are kept, not even those.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import threading
import time
from collections import Counter
from typing import Any, Dict, FrozenSet, List, NamedTuple, Optional, Set, Tuple

from . import facts, objects
from .calling import random_states, restore_random
from .document import Document, dump
from .encoding import TooLarge
from .instrument import Hook, TargetNotFound, instrument
from .outcome import Fixtures, Inputs, take
from .watching import Call, names_used, wrap

DEFAULTS = {
    "max_bytes": 64 * 1024 * 1024,
    "pool": 100,
    "pool_bytes": 512 * 1024 * 1024,
    "first": 200,
    "seconds": 60,
}
"""Limits: bytes of a call, calls kept, their bytes, calls looked at one by one, seconds spent on looking."""
RUSH = 20
"""Calls that are looked at after one that reached a new block unseen."""
MOST_RUSHES = 100
"""A block whose calls cannot be stored must not cost more and more."""

ELSEWHERE = "elsewhere"
"""A file that says: the target was called in a process that was forked off."""
MOST_OPTIONS = 8
"""A part with more values than these is data and no option."""
_ATTRIBUTE = re.compile(r"^(\w+)\.(\w+)$")
_SPREAD = 2654435761
"""Knuth's multiplier: multiples of it, modulo 2**32, lie anywhere."""


class Kept(NamedTuple):
    """A call in the pool. ``traits``: its options, shapes and outcome, as (path, text)."""

    number: int
    hits: FrozenSet[int]
    traits: FrozenSet[Tuple[str, str]]
    size: int


class Pool:
    """Keeps calls that cover much and differ, and no large ones where others do as well.

    Args:
        folder: gets a folder ``calls/000012`` for each call, complete from the moment it exists.
        most: number of calls at most.
        max_bytes: size of all of them together at most.
    """

    def __init__(self, folder: str, most: int, max_bytes: int) -> None:
        self.folder = os.path.join(folder, "calls")
        self.most, self.max_bytes = max(1, most), max_bytes
        self.kept: List[Kept] = []

    @property
    def covered(self) -> Set[int]:
        """Return the blocks that the kept calls execute together."""
        return set().union(*(item.hits for item in self.kept))

    def offer(self, call: Kept, inputs: Document, expected: Document, meta: Dict[str, Any]) -> bool:
        """Store a call if it is worth its place, and drop others for it. Returns whether it was stored."""
        staying, dropped = [*self.kept, call], []
        while len(staying) > 1 and (
            len(staying) > self.most or sum(item.size for item in staying) > self.max_bytes
        ):
            worst = self._most_superfluous(staying)
            staying.remove(worst)
            dropped.append(worst)
        if call in dropped:
            return False
        partial = os.path.join(self.folder, ".partial-%06d" % call.number)
        os.makedirs(partial)
        dump(inputs, partial, "inputs")
        dump(expected, partial, "expected")
        write_json(os.path.join(partial, "meta.json"), meta)
        os.rename(partial, os.path.join(self.folder, "%06d" % call.number))
        self.kept = staying
        for other in dropped:
            shutil.rmtree(os.path.join(self.folder, "%06d" % other.number), ignore_errors=True)
        return True

    @staticmethod
    def _most_superfluous(staying: List[Kept]) -> Kept:
        """Return the call without coverage or options of its own, then of many like it, then much larger, then by lot.

        The smallest of many calls are the poorest too: an empty text, a single row. So sizes count by powers of
        two, and among equals the number is as good as drawn, though the same each time.
        """
        executed = Counter(block for item in staying for block in item.hits)
        shared = Counter(trait for item in staying for trait in item.traits)
        values = Counter(path for path, _ in shared)
        alike = Counter((item.traits, item.hits) for item in staying)

        def burden(item: Kept) -> Any:
            covered = all(executed[block] > 1 for block in item.hits)
            own = sum(shared[trait] == 1 and values[trait[0]] <= MOST_OPTIONS for trait in item.traits)
            lot = item.number * _SPREAD % 2**32
            return covered, -own, alike[item.traits, item.hits], item.size.bit_length(), lot

        return max(staying, key=burden)


def write_json(path: str, data: Any) -> None:
    """Write JSON so that the file is there completely or not at all."""
    temporary = path + ".tmp"
    with open(temporary, "w", encoding="ascii") as file:
        json.dump(data, file, indent=1)
        file.write("\n")
    os.replace(temporary, path)


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
        self.hook = Hook(goal, config["qualname"], config.get("line") or 0, self.register)
        self.modules: List[str] = []
        self._local = threading.local()
        self._skip: Set[str] = set()
        os.register_at_fork(after_in_child=self.forked)
        self.pool = Pool(self.out, self.limits["pool"], self.limits["pool_bytes"])
        self.calls = 0
        self.refused: Dict[Tuple[str, str], int] = {}
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
        """Wrap the target: its innermost decorator."""
        self.modules.append(function.__module__)
        return wrap(function, self.begin)

    def begin(self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Optional[Call]:
        """Begin a call. None when it is not to be watched: inside another."""
        if getattr(self._local, "active", False):
            return None
        if self._elsewhere:
            self._mark_elsewhere()
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

    def _mark_elsewhere(self) -> None:
        """Leave word that the target was called in a process that is not recorded."""
        with open(os.path.join(self.out, ELSEWHERE), "w"):
            pass

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

    def pause(self, active: bool) -> None:
        """Say whether this thread is inside a call: between the items of a generator it is not."""
        self._local.active = active

    def refuse(self, kind: str, reason: str) -> None:
        """Count a call that is not stored. ``kind``: ``unstorable``, ``too_large``, ``misfit`` or ``failed``."""
        with self._lock:
            self.refused[(kind, reason)] = self.refused.get((kind, reason), 0) + 1

    def take(self, function: Any, arguments: Dict[str, Any]) -> Inputs:
        """Take the inputs, leaving out large attributes of ``self`` that the function's code never names."""
        for _ in range(16):
            try:
                fixtures = Fixtures(self.fixtures, kinds=self._kinds_of_fixtures()) if self.fixtures else None
                limit = self.limits["max_bytes"]
                return take(function, arguments, limit, self._skip, fixtures, self.gradients, self.globals)
            except TooLarge as error:
                match = _ATTRIBUTE.match(error.path)
                if match is None or match.group(1) != next(iter(arguments), None):
                    raise
                name = match.group(2)
                if name.startswith("_") or name in names_used(function, arguments[match.group(1)]):
                    raise
                self._skip.add(error.path)
        raise TooLarge("", 0, self.limits["max_bytes"])

    def _kinds_of_fixtures(self) -> Dict[str, type]:
        """Return the types of the objects that fixtures build; without those that cannot be built here."""
        if self._kinds is None:
            self._kinds = {}
            states, made = random_states(), Fixtures(path=self._fixtures_file)
            for name in self.fixtures:
                try:
                    self._kinds[name] = type(made.build(name))
                except Exception:  # shown where it is needed, when the call is replayed
                    continue
            restore_random(states)
        return self._kinds

    def keep(self, call: Call, inputs: Document, expected: Document, meta: Dict[str, Any]) -> None:
        """Offer a complete call to the pool."""
        traits = frozenset([("", meta["outcome"]), *meta["summary"].items()])
        kept = Kept(call.number, call.hits, traits, meta["bytes"])
        with self._lock:
            stored = self.pool.offer(kept, inputs, expected, meta)
            if stored and time.monotonic() - self._saved > 2.0:
                self._saved = time.monotonic()
                self.save()

    def save(self) -> None:
        """Write ``summary.json`` as far as it is known."""
        if self._elsewhere:
            return
        lines, absent = self._blocks()
        name = objects.recorded_module(self.modules[-1]) if self.modules else objects.MAIN
        reasons = sorted(self.refused.items(), key=lambda item: -item[1])
        summary = {
            "calls": self.calls,
            "blocks": {str(block): line for block, line in lines.items()},
            "executed": sorted(self._executed),
            "absent": {str(block): own for block, own in absent.items()},
            "module": None if name == objects.MAIN else name,
            "sys_path": self._sys_path(),
            "imported": self._imported(),
            "not_stored": [{"kind": kind, "reason": reason, "count": n} for (kind, reason), n in reasons],
        }
        os.makedirs(self.out, exist_ok=True)
        write_json(os.path.join(self.out, "summary.json"), dict(summary, **facts.versions()))

    def _blocks(self) -> Tuple[Dict[int, int], Dict[int, int]]:
        """Return the line of each block of the target, and the blocks that stand for an ``else`` not written."""
        hook, found = self.hook, self.hook.found
        if found is None:
            try:
                with open(hook.goal_file, "rb") as file:
                    found = instrument(file.read(), hook.goal_file, hook.qualname, hook.line)
            except (OSError, TargetNotFound):
                return {}, {}
        return found.lines, found.absent

    def _inside(self, path: str) -> Optional[str]:
        """Return a path relative to the tree, "" for the tree itself; None when it lies elsewhere."""
        real = os.path.realpath(path or os.getcwd())
        if real == self.tree:
            return ""
        if not real.startswith(self.tree + os.sep):
            return None
        return os.path.relpath(real, self.tree).replace(os.sep, "/")

    def _sys_path(self) -> List[str]:
        places = [self._inside(entry) for entry in sys.path if os.path.isdir(entry or ".")]
        return list(dict.fromkeys(place for place in places if place is not None)) or [""]

    def _imported(self) -> List[str]:
        """List the files of the repository that are loaded as modules."""
        paths = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        places = {self._inside(path) for path in paths if isinstance(path, str) and os.path.isfile(path)}
        return sorted(place for place in places if place)
