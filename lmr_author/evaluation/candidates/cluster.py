"""``evaluate --predictions --scheduler ADDRESS``: the same work on a Dask cluster.

A task folder is shipped to a worker once, as an archive named by its content; the worker unpacks it and keeps
its sandbox while candidates of it come. Dask gives the work of a lost worker to another one, and nothing is
lost with it, since a result is stored here as soon as it arrives.
"""

from __future__ import annotations

import io
import shutil
import tarfile
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author import files
from lmr_author.errors import LmrError
from lmr_author.evaluation.candidates.desk import CandidateOptions, Desk, judged
from lmr_author.evaluation.candidates.pool import Interruption
from lmr_author.evaluation.candidates.predictions import Prediction
from lmr_author.evaluation.candidates.score import Outcome, Result, Score
from lmr_author.task import AUTHORING, Task

if TYPE_CHECKING:
    from distributed import Client


_RETRIES = 3
_SECONDS = 10.0
_LOCK = threading.Lock()
_DESKS: dict[str, Desk] = {}
"""On a worker: archive's digest and options → a task that is ready to be judged."""
KEPT = 4
"""Tasks that a worker keeps ready."""


@dataclass(frozen=True)
class Job:
    """A candidate, with what a worker needs beside its task's archive."""

    digest: str
    item: Prediction | Mapping[str, Any]


def connect(address: str, seconds: float = _SECONDS) -> Client:
    """A connection to a scheduler. Raises LmrError: Dask is not installed, nobody answers within some seconds."""
    try:
        from distributed import Client
    except ImportError as error:
        raise LmrError("--scheduler needs Dask", "install it: pip install 'lmr-author[dask]'") from error
    try:
        return Client(address, timeout=seconds, set_as_default=False)
    except (OSError, ValueError) as error:
        raise LmrError(
            f"no Dask scheduler answers at {address}", "start one (dask scheduler), as in tcp://host:8786"
        ) from error


def each(
    client: Client, jobs: Iterable[tuple[Desk, Prediction, str]], options: CandidateOptions
) -> Iterator[Result]:
    """Results as they come from the workers. Ends what is under way when it is left."""
    from distributed import as_completed

    shipped: dict[str, Any] = {}
    futures: dict[Any, tuple[Desk, Prediction, str]] = {}
    plain = replace(options, out=Path(), scheduler="")
    resources = {"GPU": 1} if options.gpus else None
    try:
        for desk, item, digest in jobs:
            if desk.task.name not in shipped:
                data = packed(desk.task)
                key = f"task-{files.sha256_bytes(data)}"
                # Not scattered: what a lost worker held can then be had from the scheduler again.
                shipped[desk.task.name] = client.submit(_same, data, key=key, pure=False)
            future = client.submit(
                judge,
                shipped[desk.task.name],
                desk.task.name,
                Job(digest, shipped_prediction(item)),
                plain,
                key=f"candidate-{digest}-{item.model}-{item.sample}",
                retries=_RETRIES,
                resources=resources,
                pure=False,
            )
            futures[future] = desk, item, digest
        for future in as_completed(list(futures), loop=client.loop):
            desk, item, digest = futures[future]
            yield _result(future, desk, item, digest)
            future.release()
    finally:
        client.cancel(list(futures), force=True)


def _result(future: Any, desk: Desk, item: Prediction, digest: str) -> Result:
    """A worker's result; what kept it from being judged is no wrong answer."""
    try:
        found: Result = future.result()
        return replace(found, digest=digest)
    except Exception as error:  # whatever happened there, its worker or its connection failed
        category = desk.meant(item.index).implementation.category
        score = Score(Outcome.INFRASTRUCTURE, f"its worker failed: {type(error).__name__}: {error}"[:300])
        return Result(
            item.task, item.index, item.model, item.sample, category, digest, score, desk.environment
        )


def _same(data: bytes) -> bytes:
    return data


def judge(archive: bytes, name: str, job: Job, options: CandidateOptions) -> Result:
    """On a worker: judge a candidate."""
    key = f"{files.sha256_bytes(archive)} {options}"
    with _LOCK:
        if key not in _DESKS:
            while len(_DESKS) >= KEPT:
                _DESKS.pop(next(iter(_DESKS))).no_more()
            root = Path(tempfile.mkdtemp(prefix="lmr-author-shipped-"))
            _DESKS[key] = Desk(unpacked(archive, root / name), options, _say_nothing)
            _DESKS[key].on_close(lambda: shutil.rmtree(root, ignore_errors=True))
        desk = _DESKS[key]
        desk.begin()
    try:
        desk.prepare()
        with files.temporary_folder("lmr-author-tree-") as folder:
            return judged(desk, arrived(job.item, folder), job.digest, Interruption())
    finally:
        desk.end()


def _say_nothing(_: str) -> None:
    pass


def packed(task: Task) -> bytes:
    """A task folder as an archive: the same bytes for the same content, wherever it lies."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(task.root.rglob("*")):
            relative = path.relative_to(task.root)
            records = relative.parts[0] == AUTHORING and relative.name != "also-masked.json"
            if not records and "__pycache__" not in relative.parts and (path.is_file() or path.is_symlink()):
                archive.add(path, relative.as_posix(), recursive=False, filter=_plain)
    return buffer.getvalue()


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def unpacked(archive: bytes, root: Path) -> Task:
    """A task folder from its archive."""
    root.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as content:
        content.extractall(root, filter="data")
    root.parent.chmod(0o755)
    return Task(root)


def shipped_prediction(item: Prediction) -> Prediction | Mapping[str, Any]:
    """A prediction without paths of this machine: an agent's tree goes along as an archive."""
    if item.tree is None:
        return item
    return {"item": replace(item, tree=None), "tree": packed(Task(item.tree))}


def arrived(item: Prediction | Mapping[str, Any], folder: Path) -> Prediction:
    """A prediction as it was, its tree in a folder."""
    if isinstance(item, Prediction):
        return item
    given: Prediction = item["item"]
    return replace(given, tree=unpacked(item["tree"], folder / "tree").root)
