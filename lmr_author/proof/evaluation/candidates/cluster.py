"""``judge --predictions --scheduler ADDRESS``: the same work on a Dask cluster whose workers see the tasks' folders.

A worker keeps the sandbox of a task for further candidates. Dask gives the work of a lost worker to another one, and
results are stored here as they arrive.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task
from lmr_author.proof.evaluation.candidates.predictions import Prediction
from lmr_author.proof.evaluation.candidates.results import CandidateResult
from lmr_author.proof.evaluation.candidates.run import Job, judged
from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions, TaskScorer
from lmr_author.runtime import cluster

_LOCK = threading.Lock()
_READY: dict[tuple[Path, str, CandidateOptions], TaskScorer] = {}
"""On a worker: the tasks that are ready, by folder, content and options."""
_ENDING = ExitStack()
atexit.register(_ENDING.close)

_Work = tuple[Path, str, Prediction, str]
"""Folder and content of a task, an answer, and the digest of both."""


def each(jobs: Iterable[Job], options: CandidateOptions) -> Iterator[CandidateResult]:
    """Yield results as they come from the workers. Ends what is under way when it is left."""
    scorers: dict[str, TaskScorer] = {}
    work: list[_Work] = []
    for scorer, prediction, digest in jobs:
        scorers[digest] = scorer
        work.append((scorer.task.root.absolute(), scorer.content, prediction, digest))
    there = replace(options, out=Path(), scheduler="", where=options.where.absolute)
    results = cluster.spread(options.scheduler, partial(_judge, there), work, gpus=bool(options.where.gpus))
    for (_, _, prediction, digest), result in results:
        if isinstance(result, LmrError):
            scorer = scorers[digest]
            unjudged = scorer.unjudged(prediction, result.message)
            result = replace(unjudged, digest=digest, environment=scorer.environment)
        yield result


def _judge(options: CandidateOptions, work: _Work) -> CandidateResult:
    """Judge a candidate, on a worker."""
    root, content, prediction, digest = work
    cluster.require_shared(root)
    with _LOCK:
        key = (root, content, options)
        if key not in _READY:
            _READY[key] = TaskScorer(Task(root), options, lambda _: None)
            _ENDING.callback(_READY[key].close)
    return judged(_READY[key], prediction, digest, threading.Event())
