"""``evaluate --predictions``: judge models' answers to many tasks, side by side, resumable."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from lmr_author import __version__, files, resources
from lmr_author.environment import inventory
from lmr_author.errors import LmrError, SandboxBuildError, SandboxError
from lmr_author.evaluation.bench import Bench, remove_stale
from lmr_author.evaluation.candidates import predictions, store
from lmr_author.evaluation.candidates.hiding import Hiding, places
from lmr_author.evaluation.candidates.pool import Interruption, Pace, each, retried
from lmr_author.evaluation.candidates.predictions import Prediction
from lmr_author.evaluation.candidates.score import Outcome, Result, Score
from lmr_author.evaluation.candidates.station import Station, StationOptions, Unscorable
from lmr_author.evaluation.candidates.summary import Row, summary
from lmr_author.evaluation.meant import Meant, meant
from lmr_author.model import TaskInfo
from lmr_author.sandbox.base import Sandbox
from lmr_author.sandbox.factory import open_sandbox
from lmr_author.taskdir import TaskDir
from lmr_author.workflow import cluster
from lmr_author.workflow.env_local import interpreter_for
from lmr_author.workflow.preparing import prepare

OnResult = Callable[[Result, Pace], None]
Say = Callable[[str], None]


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


@dataclass(frozen=True)
class Scored:
    """What all predictions came to.

    Attributes:
        results: one for each prediction, in their order, with those of an earlier run.
        resumed: how many of them an earlier run had judged.
        path: the file that holds them.
    """

    results: tuple[Result, ...]
    resumed: int
    path: Path

    @property
    def rows(self) -> list[Row]:
        """By model and category."""
        return summary(self.results)

    @property
    def complete(self) -> bool:
        """Whether every candidate has a verdict."""
        return all(result.score.outcome is not Outcome.INFRASTRUCTURE for result in self.results)


def score(
    tasks: Sequence[TaskDir], source: Path, options: CandidateOptions, say: Say, on_result: OnResult
) -> Scored:
    """Judge every prediction for some tasks that was not judged before.

    Args:
        source: the file or folder of predictions.
        say: told what is being done.
        on_result: told each result as soon as it is known.

    Raises:
        SandboxError: the sandbox is not to be had (no engine, no bubblewrap).
        LmrError: the predictions cannot be read.
        KeyboardInterrupt: Ctrl-C; nothing is left running, and what was judged is kept.
    """
    known = {task.name: Desk(task, options, say) for task in tasks}
    given = predictions.read(source, {name: desk.info for name, desk in known.items()})
    given.sort(key=lambda item: (list(known).index(item.task), item.index))
    remove_stale()
    pace, interruption = Pace(len(given)), Interruption()
    resumed = 0
    with store.opened(options.out) as results:

        def waiting() -> Iterator[tuple[Desk, Prediction, str]]:
            nonlocal resumed
            left = Counter(item.task for item in given)
            for item in given:
                desk = known[item.task]
                digest = desk.digest(item)
                left[item.task] -= 1
                if results.judged(_key(item), digest):
                    resumed += 1
                    pace.skip()
                else:
                    desk.begin()
                    yield desk, item, digest
                if not left[item.task]:
                    desk.no_more()

        with ExitStack() as stack:
            for desk in known.values():
                stack.callback(desk.close)
            if options.scheduler:
                client = stack.enter_context(cluster.connect(options.scheduler))
                found_here = cluster.each(client, waiting(), options)
            else:
                found_here = each(waiting(), _worker(interruption), options.jobs, interruption)
            for result in found_here:
                results.add(result)
                pace.step()
                on_result(result, pace)
        results.tidy([_key(item) for item in given])
        found = tuple(results.results[_key(item)] for item in given)
    return Scored(found, resumed, options.out / store.RESULTS)


def _worker(interruption: Interruption) -> Callable[[tuple[Desk, Prediction, str]], Result]:
    """What judges one candidate in a thread."""

    def work(one: tuple[Desk, Prediction, str]) -> Result:
        desk, item, digest = one
        try:
            return judged(desk, item, digest, interruption)
        finally:
            desk.end()

    return work


def _key(item: Prediction) -> store.Key:
    return item.task, item.index, item.model, item.sample


def judged(desk: Desk, item: Prediction, digest: str, interruption: Interruption) -> Result:
    """Judge one prediction. What keeps it from being judged is a result too, and no wrong answer."""
    tries = 1
    try:
        found, tries = retried(
            lambda: desk.station(item.index).score(item, interruption), interruption, desk.options.tries
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

    def __init__(self, task: TaskDir, options: CandidateOptions, say: Say) -> None:
        self.task = task
        self.options = _Options(options)
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
        """An implementation."""
        return next(one for one in self._meant if one.implementation.index == index)

    @cached_property
    def content(self) -> str:
        """Digest of the task."""
        return self.task.content_digest()

    def digest(self, item: Prediction) -> str:
        """SHA-256 of everything that makes the result of a prediction. Prepares the environment.

        On a cluster that is the workers' business, and the Dockerfile or the interpreter's path stand for it.
        """
        if not self.options.given.scheduler:
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
        """It has ended."""
        with self._lock:
            self._under_way -= 1
            self._close_if_done()

    def no_more(self) -> None:
        """No further candidate comes."""
        with self._lock:
            self._complete = True
            self._close_if_done()

    def close(self) -> None:
        """Remove everything."""
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
            options = self.options.given
            self._say(f"{self.task.name}: preparing the environment")
            python, _ = interpreter_for(self.task, options.sandbox, options.python)
            sandbox: Sandbox = self._stack.enter_context(
                open_sandbox(
                    options.sandbox,
                    context=self.task.root,
                    name=self.task.name,
                    python=python,
                    base_image=options.base_image,
                    repo_folder=self._info.repo_folder_name,
                    log=self.task.logs_folder / "build.log",
                    gpus=options.gpus,
                )
            )
            try:
                facts = dict(prepare(sandbox, self._say))
                asked = inventory.ask(sandbox)
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
                    self.options.given.judging.seconds, qualnames=one.qualnames,
                )
            )  # fmt: skip
        station = Station(bench, self.options.given.judging, others)
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


@dataclass(frozen=True)
class _Options:
    given: CandidateOptions
    tries: int = 3

    @property
    def that_matter(self) -> dict[str, Any]:
        """Options that a result depends on."""
        judging = self.given.judging
        return {
            "seconds": judging.seconds,
            "memory_mb": judging.memory_mb,
            "whole_file": judging.whole_file,
            "protocol": judging.protocol,
            "gpus": self.given.gpus,
            "base_image": self.given.base_image or "",
            "python": str(self.given.python or "") if self.given.scheduler else "",
        }


@cache
def _probe_digest() -> str:
    """SHA-256 of the probe: what replays and compares."""
    folder = resources.probe_folder()
    digests = [files.sha256_file(path) for path in files.walk(folder) if path.suffix == ".py"]
    return files.sha256_bytes("\n".join(digests).encode())
