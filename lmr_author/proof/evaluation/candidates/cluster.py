"""``judge --predictions --scheduler ADDRESS``: the same work on a Dask cluster.

A task folder is shipped to a worker once, as an archive named by its content; the worker unpacks it and keeps its
sandbox for further candidates. Dask gives the work of a lost worker to another one; results are stored here as they
arrive.
"""

from __future__ import annotations

import atexit
import io
import tarfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from lmr_author.core import files
from lmr_author.core.task import AUTHORING, Task
from lmr_author.proof.evaluation.candidates.predictions import Prediction
from lmr_author.proof.evaluation.candidates.results import CandidateResult
from lmr_author.proof.evaluation.candidates.run import Job, judged
from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions, TaskScorer

if TYPE_CHECKING:
    from distributed import Client


_RETRIES = 3
_LOCK = threading.Lock()
_READY: dict[str, TaskScorer] = {}
"""On a worker: digest of the archive and options → the task, ready."""
_ENDING = ExitStack()
atexit.register(_ENDING.close)


def each(client: Client, jobs: Iterable[Job], options: CandidateOptions) -> Iterator[CandidateResult]:
    """Yield results as they come from the workers. Ends what is under way when it is left."""
    from distributed import as_completed

    shipped: dict[str, Any] = {}
    futures: dict[Any, Job] = {}
    plain = replace(options, out=Path(), scheduler="")
    resources = {"GPU": 1} if options.where.gpus else None
    try:
        for scorer, prediction, digest in jobs:
            name = scorer.task.name
            if name not in shipped:
                data = packed(scorer.task)
                key = f"task-{files.sha256_bytes(data)}"
                # Not scattered: what a lost worker held can then be had from the scheduler again.
                shipped[name] = client.submit(_same, data, key=key, pure=False)
            future = client.submit(
                judge,
                shipped[name],
                name,
                digest,
                shipped_prediction(scorer, prediction),
                plain,
                key=f"candidate-{digest}-{prediction.key}",
                retries=_RETRIES,
                resources=resources,
                pure=False,
            )
            futures[future] = scorer, prediction, digest
        for future in as_completed(list(futures), loop=client.loop):
            scorer, prediction, digest = futures[future]
            try:
                result = future.result()
            except Exception as error:  # whatever happened there, its worker or its connection failed
                reason = f"its worker failed: {type(error).__name__}: {error}"[:300]
                result = replace(scorer.unjudged(prediction, reason), environment=scorer.environment)
            yield replace(result, digest=digest)
            future.release()
    finally:
        client.cancel(list(futures), force=True)


def _same(data: bytes) -> bytes:
    return data


def judge(
    archive: bytes, name: str, digest: str, prediction: Prediction, options: CandidateOptions
) -> CandidateResult:
    """Judge a candidate, on a worker."""
    key = f"{files.sha256_bytes(archive)} {options}"
    with _LOCK:
        if key not in _READY:
            root = _ENDING.enter_context(files.temporary_folder("lmr-author-shipped-"))
            _READY[key] = TaskScorer(unpacked(archive, root / name), options, lambda _: None)
            _ENDING.callback(_READY[key].close)
        scorer = _READY[key]
    return judged(scorer, prediction, digest, threading.Event())


def packed(task: Task) -> bytes:
    """Return a task folder as an archive, without its records."""

    def wanted(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        path = PurePosixPath(entry.name)
        record = path.parts[:1] == (AUTHORING,) and path.name not in (AUTHORING, "also-masked.json")
        return None if record or path.name == "__pycache__" else entry

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(task.root, ".", filter=wanted)
    return buffer.getvalue()


def unpacked(archive: bytes, root: Path) -> Task:
    """Unpack a task folder from its archive."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as content:
        content.extractall(root, filter="data")
    root.parent.chmod(0o755)
    return Task(root)


def shipped_prediction(scorer: TaskScorer, prediction: Prediction) -> Prediction:
    """Return a prediction without paths of this machine: of an agent's tree, the goal file that it left."""
    if prediction.tree is None:
        return prediction
    goal = scorer.info.implementation(prediction.index).goal_file
    left = (
        files.inside(prediction.tree, goal).read_bytes()
        if files.is_file_inside(prediction.tree, goal)
        else b""
    )
    return replace(prediction, tree=None, code=left.decode("utf-8", "replace"))
