"""A task while models' answers to it are judged: its environment, and what judges each implementation."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from lmr_author import __version__, files, resources
from lmr_author.environment.build import prepare, sandbox_of
from lmr_author.environment.local import interpreter_for
from lmr_author.environment.smoke import ask_inventory
from lmr_author.errors import LmrError, SandboxBuildError, SandboxError
from lmr_author.evaluation.bench import Bench
from lmr_author.evaluation.candidates import predictions
from lmr_author.evaluation.candidates.hiding import Hiding, places
from lmr_author.evaluation.candidates.pool import Interruption, retried
from lmr_author.evaluation.candidates.predictions import Prediction
from lmr_author.evaluation.candidates.score import Outcome, Result, Score
from lmr_author.evaluation.candidates.station import Station, StationOptions, Unscorable
from lmr_author.evaluation.meant import Meant, meant
from lmr_author.sandbox.base import Sandbox
from lmr_author.task import Progress, Task, TaskInfo

TRIES = 3
"""How often a candidate is tried whose sandbox fails."""


@dataclass(frozen=True)
class CandidateOptions:
    """How to judge candidates.

    Attributes:
        out: folder of ``results.jsonl``.
        jobs: how many are judged side by side.
        sandbox, python, base_image, gpus: the sandbox; see :func:`~lmr_author.sandbox.factory.open_sandbox`.
        scheduler: address of a Dask scheduler, whose workers judge; "" for this machine.
        judging: see :class:`~lmr_author.evaluation.candidates.station.StationOptions`.
    """

    out: Path
    jobs: int = 1
    sandbox: str = "local"
    python: Path | None = None
    base_image: str | None = None
    gpus: str = ""
    scheduler: str = ""
    judging: StationOptions = field(default_factory=StationOptions)

    @property
    def that_matter(self) -> dict[str, Any]:
        """Options that a result depends on."""
        judging = self.judging
        return {
            "seconds": judging.seconds,
            "memory_mb": judging.memory_mb,
            "whole_file": judging.whole_file,
            "protocol": judging.protocol,
            "gpus": self.gpus,
            "base_image": self.base_image or "",
            "python": str(self.python or "") if self.scheduler else "",
        }


def judged(desk: Desk, item: Prediction, digest: str, interruption: Interruption) -> Result:
    """Judge one prediction. What keeps it from being judged is a result too, and no wrong answer."""
    tries = 1
    try:
        found, tries = retried(
            lambda: desk.station(item.index).score(item, interruption), interruption, TRIES
        )
    except Unscorable as error:
        found = SandboxError(error.message, error.hint)
    if isinstance(found, SandboxError):
        reason = f"{found.message} ({found.hint})" if found.hint else found.message
        found = Score(Outcome.INFRASTRUCTURE, reason)
    implementation = desk.meant(item.index).implementation
    return Result(
        item.task, item.index, item.model, item.sample, implementation.category, digest, found,
        desk.environment, tries,
    )  # fmt: skip


class Desk:
    """A task while its candidates are judged: its sandbox and a station for each implementation, made at need."""

    def __init__(self, task: Task, options: CandidateOptions, say: Progress) -> None:
        self.task = task
        self.options = options
        self.environment: Mapping[str, Any] = {"kind": options.sandbox}
        self._say = say
        self._info, self._meant = meant(task)
        self._stack = ExitStack()
        self._sandbox: Sandbox | None = None
        self._broken: SandboxError | None = None
        self._stations: dict[int, Station | Unscorable] = {}
        self._lock = threading.RLock()
        self._station_locks: dict[int, threading.Lock] = {}
        self._under_way = 0
        self._complete = False

    @property
    def info(self) -> TaskInfo:
        """The task's ``info.json``, as it was meant."""
        return self._info

    def meant(self, index: int) -> Meant:
        """An implementation, as the task, which may be made by hand, means it."""
        return next(one for one in self._meant if one.implementation.index == index)

    @cached_property
    def content(self) -> str:
        """Digest of the task."""
        return self.task.content_digest()

    def digest(self, item: Prediction) -> str:
        """SHA-256 of everything that makes the result of a prediction. Prepares the environment.

        On a cluster that is the workers' business, and the Dockerfile or the interpreter's path stand for it.
        """
        if not self.options.scheduler:
            self.prepare()
        goals = [one.implementation.goal_file for one in self._meant]
        parts = {
            "tool": __version__,
            "probe": _probe_digest(),
            "task": self.content,
            "index": item.index,
            "answer": files.sha256_bytes(predictions.content(item, goals)),
            "environment": dict(self.environment),
            "options": self.options.that_matter,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def station(self, index: int) -> Station:
        """The station of an implementation, checked. Raises Unscorable, SandboxError."""
        if self._broken is not None:
            raise self._broken
        with self._lock:
            lock = self._station_locks.setdefault(index, threading.Lock())
        with lock:
            if index not in self._stations:
                self._stations[index] = self._checked(index)
            found = self._stations[index]
        if isinstance(found, Unscorable):
            raise found
        return found

    def begin(self) -> None:
        """One more candidate is under way."""
        with self._lock:
            self._under_way += 1

    def end(self) -> None:
        """A candidate that was under way has ended."""
        with self._lock:
            self._under_way -= 1
            self._close_if_done()

    def no_more(self) -> None:
        """No further candidate comes."""
        with self._lock:
            self._complete = True
            self._close_if_done()

    def close(self) -> None:
        """Remove the sandbox and every tree, and do what was asked for with :meth:`on_close`."""
        with self._lock:
            self._stack.close()

    def on_close(self, work: Callable[[], object]) -> None:
        """Do something more when it is closed."""
        self._stack.callback(work)

    def _close_if_done(self) -> None:
        if self._complete and not self._under_way:
            self._stack.close()

    def prepare(self) -> None:
        """Make the environment ready, once; what is the task's own fault is kept for its candidates."""
        with self._lock:
            if self._sandbox is not None or self._broken is not None:
                return
            options = self.options
            self._say(f"{self.task.name}: preparing the environment")
            python, _ = interpreter_for(self.task, options.sandbox, options.python)
            sandbox: Sandbox = self._stack.enter_context(
                sandbox_of(
                    self.task,
                    self._info,
                    options.sandbox,
                    python=python,
                    base_image=options.base_image,
                    gpus=options.gpus,
                )
            )
            try:
                facts = dict(prepare(sandbox, self._say))
                asked = ask_inventory(sandbox)
                if options.sandbox == "docker":
                    sandbox = self._stack.enter_context(Hiding(sandbox, places(sandbox)))
            except SandboxBuildError as error:
                self._broken = error
                return
            versions = {name: asked[name] for name in ("torch", "numpy", "cuda") if asked.get(name)}
            kept: dict[str, Any] = {
                name: facts[name] for name in ("isolation", "python", "image") if name in facts
            }
            self.environment = {"kind": options.sandbox, **kept, **versions}
            self._sandbox = sandbox

    def _checked(self, index: int) -> Station | Unscorable:
        one = self.meant(index)
        goal_file = one.implementation.goal_file
        others = tuple(
            name
            for other in self._meant
            for name in other.qualnames
            if other is not one and other.implementation.goal_file == goal_file
        )
        assert self._sandbox is not None
        with self._lock:
            bench = self._stack.enter_context(
                Bench(
                    self.task, self._info, one.implementation, self._sandbox,
                    self.options.judging.seconds, qualnames=one.qualnames,
                )
            )  # fmt: skip
        station = Station(bench, self.options.judging, others)
        self._say(f"{self.task.name} {index}: running the golden")
        try:
            station.check()
        except Unscorable as error:
            return error
        except SandboxError:
            raise
        except LmrError as error:
            return Unscorable(error.message, error.hint)
        return station


@cache
def _probe_digest() -> str:
    """SHA-256 of the probe: what replays and compares."""
    folder = resources.probe_folder()
    digests = [files.sha256_file(path) for path in files.walk(folder) if path.suffix == ".py"]
    return files.sha256_bytes("\n".join(digests).encode())
