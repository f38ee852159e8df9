"""``judge --predictions``: judge models' answers to many tasks in parallel, resumably."""

from __future__ import annotations

import atexit
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import TypeVar

from lmr_author.core.errors import LmrError, SandboxError
from lmr_author.core.task import Progress, Task, by_name
from lmr_author.proof.evaluation.candidates import predictions, results
from lmr_author.proof.evaluation.candidates.predictions import Prediction
from lmr_author.proof.evaluation.candidates.results import CandidateResult, ScoreRow, summary
from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions, GoldenFailsError, TaskScorer
from lmr_author.proof.evaluation.verdict import Outcome
from lmr_author.runtime import cluster

TRIES = 3
"""Attempts at a candidate whose sandbox fails."""
BACKOFF_SECONDS = 1.0
"""Pause before the second attempt; each further pause is four times as long."""

Job = tuple[TaskScorer, Prediction, str]
"""A prediction, its task and its digest."""
Work = TypeVar("Work")
Done = TypeVar("Done")

_Shipped = tuple[Path, str, Prediction, str]
"""Folder and content of a task, an answer, and the digest of both: a job for a worker."""
_LOCK = threading.Lock()
_READY: dict[tuple[Path, str, CandidateOptions], TaskScorer] = {}
"""On a worker: the tasks that are ready, by folder, content and options, with their sandboxes."""
_ENDING = ExitStack()
atexit.register(_ENDING.close)

OnResult = Callable[[CandidateResult, int, int], None]
"""Called with a result, the number of candidates judged so far (in earlier runs, too), and of all."""


@dataclass(frozen=True)
class ScoredPredictions:
    """The results of all predictions.

    Attributes:
        results: one for each prediction, in their order, including those of an earlier run.
        resumed: the number judged by an earlier run.
        broken: tasks whose candidates cannot be judged → why.
        elsewhere: names of other tasks → their number of predictions.
    """

    results: tuple[CandidateResult, ...]
    resumed: int
    path: Path
    broken: Mapping[str, LmrError]
    elsewhere: Mapping[str, int]

    @property
    def rows(self) -> list[ScoreRow]:
        return summary(self.results)

    @property
    def complete(self) -> bool:
        judged = all(result.outcome is not Outcome.UNJUDGED for result in self.results)
        return judged and not self.broken


def score(
    tasks: Sequence[Task], source: Path, options: CandidateOptions, say: Progress, on_result: OnResult
) -> ScoredPredictions:
    """Judge all predictions for some tasks that are not judged yet.

    Raises:
        SandboxError: no sandbox (no container engine, no bubblewrap).
        LmrError: the predictions cannot be read, or none of the tasks.
        UsageError: two of the tasks have the same name.
        KeyboardInterrupt: Ctrl-C; no process keeps running, and results so far are kept.
    """
    scorers, broken = _scorers(tasks, options, say)
    answers = predictions.read(source, {name: scorer.info for name, scorer in scorers.items()})
    order = {name: number for number, name in enumerate(scorers)}
    ours = sorted(answers.items, key=lambda prediction: (order[prediction.task], prediction.index))
    interruption = Event()
    left = Counter(prediction.task for prediction in ours)

    def finish(name: str) -> None:
        left[name] -= 1
        if not left[name]:  # free the disk space of its trees
            scorers[name].close()

    with results.opened(options.out) as store, ExitStack() as stack:
        for scorer in scorers.values():
            stack.callback(scorer.close)
        resumed = 0

        def waiting() -> Iterator[Job]:
            nonlocal resumed
            for prediction in ours:
                scorer = scorers[prediction.task]
                digest = "" if prediction.error else scorer.digest(prediction)
                if store.is_judged(prediction.key, digest):
                    resumed += 1
                    finish(prediction.task)
                else:
                    yield scorer, prediction, digest

        if options.scheduler:
            judged_now = _on_cluster(waiting(), options)
        else:
            judged_now = each(waiting(), lambda job: judged(*job, interruption), options.jobs, interruption)
        for done, result in enumerate(judged_now, 1):
            store.add(result)
            on_result(result, resumed + done, len(ours))
            finish(result.task)
        store.tidy([prediction.key for prediction in ours])
    elsewhere = {name: number for name, number in answers.elsewhere.items() if name not in broken}
    return ScoredPredictions(
        results=tuple(store.results[prediction.key] for prediction in ours),
        resumed=resumed,
        path=options.out / results.RESULTS,
        broken=broken,
        elsewhere=elsewhere,
    )


def _scorers(
    tasks: Sequence[Task], options: CandidateOptions, say: Progress
) -> tuple[dict[str, TaskScorer], dict[str, LmrError]]:
    scorers: dict[str, TaskScorer] = {}
    broken: dict[str, LmrError] = {}
    for name, task in by_name(tasks, "results").items():
        try:
            scorers[name] = TaskScorer(task, options, say)
        except LmrError as error:
            broken[name] = error
    if not scorers:
        raise next(iter(broken.values()))
    return scorers, broken


def judged(scorer: TaskScorer, prediction: Prediction, digest: str, interruption: Event) -> CandidateResult:
    """Judge one prediction. A failure to judge it is an unjudged result, not a wrong answer."""
    if prediction.error:
        return scorer.unjudged(prediction, prediction.reason, prediction.error)
    result, tries = retried(lambda: scorer.score(prediction, interruption.is_set), interruption)
    if isinstance(result, LmrError):
        result = _not_judged(scorer, prediction, result)
    return replace(result, digest=digest, environment=scorer.environment, tries=tries)


def _not_judged(scorer: TaskScorer, prediction: Prediction, error: LmrError) -> CandidateResult:
    reason = f"{error.message} ({error.hint})" if error.hint else error.message
    return scorer.unjudged(prediction, reason, type(error).__name__)


def each(
    tasks: Iterable[Work], work: Callable[[Work], Done], jobs: int, interruption: Event
) -> Iterator[Done]:
    """Yield results as they complete, running ``jobs`` at a time; a task is taken only when its work begins.

    An exception, including Ctrl-C, sets ``interruption`` to end running work before it is raised.
    """
    under_way: set[Future[Done]] = set()
    with ThreadPoolExecutor(jobs, thread_name_prefix="candidate") as executor:
        try:
            for task in tasks:
                under_way.add(executor.submit(work, task))
                if len(under_way) >= jobs:
                    done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            while under_way:
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        except BaseException:
            interruption.set()
            raise


def retried(
    work: Callable[[], Done], interruption: Event, tries: int = TRIES, backoff: float = BACKOFF_SECONDS
) -> tuple[Done | LmrError, int]:
    """Do some work, retrying if the sandbox or this machine fails; return result or last error, and attempts."""
    for number in range(1, tries + 1):
        try:
            return work(), number
        except GoldenFailsError as error:
            return error, number
        except SandboxError as error:
            failure = error
        except OSError as error:
            failure = SandboxError(f"this machine failed: {error}", "check whether the disk is full")
        if number < tries and interruption.wait(backoff * 4 ** (number - 1)):
            raise KeyboardInterrupt
    return failure, tries


def _on_cluster(jobs: Iterable[Job], options: CandidateOptions) -> Iterator[CandidateResult]:
    scorers: dict[str, TaskScorer] = {}
    work: list[_Shipped] = []
    for scorer, prediction, digest in jobs:
        scorers[prediction.task] = scorer
        work.append((scorer.task.root.absolute(), scorer.content, prediction, digest))
    there = replace(options, out=Path(), scheduler="", where=options.where.absolute)
    spread = cluster.spread(options.scheduler, partial(_judge, there), work, gpus=bool(options.where.gpus))
    for (_, _, prediction, digest), result in spread:
        if isinstance(result, LmrError):
            yield replace(_not_judged(scorers[prediction.task], prediction, result), digest=digest)
        else:
            yield result


def _judge(options: CandidateOptions, work: _Shipped) -> CandidateResult:
    root, content, prediction, digest = work
    cluster.require_shared(root)
    with _LOCK:
        key = (root, content, options)
        if key not in _READY:
            scorer = TaskScorer(Task(root), options, lambda _: None)
            if scorer.content != content:
                raise LmrError(
                    f"{root} is a different task on the worker, or has changed", "run the command again"
                )
            _READY[key] = scorer
            _ENDING.callback(scorer.close)
    return judged(_READY[key], prediction, digest, Event())
