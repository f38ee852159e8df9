"""Replay recorded cases in a sandbox and read back the outcomes, which are untrusted.

The sandbox sees the tree, the probe and the inputs. It returns encoded outcomes, which are compared with the expected
ones here, outside.
"""

from __future__ import annotations

import json
import posixpath
import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmr_author.core import files, resources
from lmr_author.core.errors import LmrError
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.recording import Recording
from lmr_author.core.texts import printable
from lmr_author.runtime.probe import checking, compare
from lmr_author.runtime.probe.calling import RAISED
from lmr_author.runtime.probe.document import BadDocument, Document
from lmr_author.runtime.probe.replayer import LEAVING, LOAD_SECONDS, LOADING, RUNNING, SHARING
from lmr_author.runtime.replay import outcomes
from lmr_author.runtime.replay.outcomes import Replay, ReplayOutcome
from lmr_author.runtime.replay.staging import PROBE_ROOT, copy_fixtures, probe_mount
from lmr_author.runtime.sandbox.base import Command, Limits, Mount, Sandbox

INPUTS = f"{PROBE_ROOT}/job"

HEAVY = ("numpy", "torch")
"""Libraries worth importing once for all versions."""

BATCH_BYTES = 96 * 2**20
"""Limit of the outcomes' size in one run, estimated from the recorded ones."""

AS_PLANNED = (
    "goal_file", "qualname", "line", "module", "sys_path", "cases", "case_seconds", "preload", "until_lost", "share",
    "cuda_as_cpu",
)  # fmt: skip
"""Fields of a plan that are passed to the replayer unchanged."""

CONTROL = "the golden"
"""Id of the golden that is replayed before other versions."""

MOST_TEXT = 2000
"""Limit of a difference in characters: it contains a candidate's values."""

MORE_TIME = 10
"""Factor of the time limit for a second attempt, if the golden exceeded it in the first."""


@dataclass(frozen=True)
class Variant:
    """A version of the goal file to replay; without ``source``, the tree's."""

    id: str
    source: bytes | None = None
    line: int | None = None


@dataclass(frozen=True)
class ReplayPlan:
    """The cases to replay, and the target to call.

    Attributes:
        goal_file, qualname, line: the target in the mounted tree.
        module: name to import it under; None for a script.
        sys_path: folders of the repository for ``sys.path``, as in ``["", "src"]``.
        recording: folder with ``<case>/inputs.*``.
        cases: names of the cases.
        preload: libraries to import before forking the versions; those that the recorded run used.
        case_seconds: time limit of one call.
        fixtures: ``unit_test/fixtures.py``, if the inputs use fixtures.
        until_lost: skip the remaining cases of a version after a timeout or crash, and all versions if the first
            one had it.
        share: import installed packages that the first versions import only once, for all others.
        cuda_as_cpu: run code that hard-codes a GPU on the CPU.
    """

    goal_file: str
    qualname: str
    line: int
    module: str | None
    sys_path: tuple[str, ...]
    recording: Path
    cases: tuple[str, ...]
    preload: tuple[str, ...] = ()
    case_seconds: float = 60.0
    fixtures: Path | None = None
    until_lost: bool = False
    share: bool = True
    cuda_as_cpu: bool = False

    @classmethod
    def of(cls, recording: Recording, folder: Path, line: int, seconds: float) -> ReplayPlan:
        """Return a plan for all cases of a recording.

        Args:
            folder: folder of the recording.
            line: line of the target in the tree.
            seconds: time limit of one call.
        """
        return cls(
            goal_file=recording.target.goal_file,
            qualname=recording.target.qualname,
            line=line,
            module=recording.module,
            sys_path=recording.sys_path,
            recording=folder,
            cases=tuple(case.name for case in recording.cases),
            preload=tuple(name for name in HEAVY if name in recording.versions),
            case_seconds=seconds,
            fixtures=recorded.helper(folder, recording, recorded.FIXTURES),
            cuda_as_cpu=recording.cuda_as_cpu,
        )


@dataclass(frozen=True)
class ControlledReplay:
    """Versions replayed beside the golden. ``fair``: the cases that the golden passed in this run."""

    run: Replay
    fair: frozenset[str]


def replay(
    sandbox: Sandbox,
    tree: Path,
    tree_inside: str,
    plan: ReplayPlan,
    variants: Sequence[Variant],
    *,
    hash_seed: int = 0,
    threads: int = 1,
    limits: Limits | None = None,
    stop: Callable[[], bool] | None = None,
    begun: Callable[[int], None] = lambda _: None,
) -> Replay:
    """Replay cases on one or more versions of the goal file, each in its own process.

    Args:
        sandbox: prepared.
        tree: the repository to run, without ``unit_test/``.
        tree_inside: its path inside.
        hash_seed: PYTHONHASHSEED, varied between repeats to reveal dependence on it.
        threads: torch's number of threads, which affects the last bits of sums.
        stop: polled while it runs; True ends it.
        begun: called with the number of started versions, if each runs in one process: see ``until_lost``.

    Raises:
        SandboxError: the sandbox failed. A failure of the target is an outcome.
    """
    with files.temporary_folder("lmr-author-job-") as job:
        job.chmod(0o755)
        request = write_job(job, tree_inside, plan, variants, threads)
        limits = limits or Limits(seconds=most_seconds(plan, len(variants)))
        patience = Patience(plan.case_seconds)
        shared = SHARING if plan.share and len(variants) > SHARING else 0

        def hear(data: bytes) -> None:
            patience.add(data)
            begun(min(max(0, patience.loads - shared), len(variants)))

        command = Command(
            argv=("python", "-m", "lmr_probe", "replay", request),
            mounts=(Mount(tree, tree_inside), probe_mount(resources.probe_folder()), Mount(job, INPUTS)),
            cwd=tree_inside,
            env={"PYTHONPATH": PROBE_ROOT, "PYTHONHASHSEED": str(hash_seed)},
            limits=limits,
            stop=lambda: patience.is_over() or (stop is not None and stop()),
            on_output=hear,
        )
        result = sandbox.run(command)
    if patience.over and result.stopped:
        result = replace(result, timed_out=True, stopped=False)
    wanted = {(variant.id, case) for variant in variants for case in plan.cases}
    return outcomes.read(result, wanted)


def most_seconds(plan: ReplayPlan, variants: int) -> float:
    """Return the time limit of a run: above the sum of the limits of its versions."""
    loading = max(LOAD_SECONDS, plan.case_seconds)
    return loading + (loading + plan.case_seconds * len(plan.cases)) * variants


def load_document(folder: Path, stem: str) -> Document:
    """Read a stored document without running or importing code. Raises LmrError if it is damaged."""
    try:
        return checking.load(str(folder), stem)
    except (BadDocument, OSError) as error:
        raise LmrError(
            f"{folder.name}/{stem}.json cannot be read: {error}",
            "record the case again with `lmr-author record`",
        ) from error


def differences(
    expected: Document, outcome: ReplayOutcome, checkers: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    if outcome.document is None:
        return [outcome.error.text or outcome.status]
    found = compare.compare(expected, outcome.document, checkers)
    texts = [printable(str(difference), MOST_TEXT) for difference in found]
    # If a call raised what the golden does not, the exception is the better explanation.
    is_unexpected = outcome.document.tree.get(RAISED) != expected.tree.get(RAISED)
    return (
        [f"raised {outcome.error.text}", *texts] if texts and outcome.error.text and is_unexpected else texts
    )


def beside_the_golden(
    run: Callable[[Sequence[Variant], float, bool], Replay],
    golden: Variant,
    versions: Sequence[Variant],
    cases: Collection[str],
    seconds: float,
    passes: Callable[[str, ReplayOutcome], bool],
) -> ControlledReplay:
    """Replay versions after the golden; repeat with more time if the golden fails a case.

    If the golden fails beside them, the failure of a version proves nothing: the machine may be busy, or numba may be
    recompiling. If more time does not help, imports are not shared either: a library that started threads on import
    can hang in a forked process.

    Args:
        run: replays versions with a time limit for each case, with or without shared imports.
        golden: the golden version of the goal file, named :data:`CONTROL`.
        seconds: time limit of one case.
        passes: compares a case's outcome with the recorded one.
    """

    def fair(replayed: Replay) -> frozenset[str]:
        found = {case: replayed.outcomes.get((golden.id, case)) for case in cases}
        return frozenset(case for case, outcome in found.items() if outcome and passes(case, outcome))

    result = run([golden, *versions], seconds, True)
    if len(fair(result)) < len(cases):
        for shared in (True, False):
            if len(fair(run([golden], MORE_TIME * seconds, shared))) == len(cases):
                result = run([golden, *versions], MORE_TIME * seconds, shared)
                break
    return ControlledReplay(result, fair(result))


def write_job(
    job: Path, tree_inside: str, plan: ReplayPlan, variants: Sequence[Variant], threads: int
) -> str:
    """Write request, variants and inputs (never expected outputs) to a folder; return the request's path.

    Its paths are relative, so that the folder works at any path in a sandbox.
    """
    listed = []
    for number, variant in enumerate(variants):
        entry: dict[str, Any] = {"id": variant.id, "source": None, "line": variant.line}
        if variant.source is not None:
            path = job / f"variant_{number}.py"
            path.write_bytes(variant.source)
            entry["source"] = path.name
        listed.append(entry)
    for case in plan.cases:
        target = job / "cases" / case
        target.mkdir(parents=True)
        for file in (plan.recording / case).glob("inputs.*"):
            shutil.copyfile(file, target / file.name)
    request = {
        **{name: getattr(plan, name) for name in AS_PLANNED},
        "tree": posixpath.relpath(tree_inside, INPUTS),
        "inputs": "cases",
        "variants": listed,
        "threads": threads,
    }
    if plan.fixtures is not None:
        copy_fixtures(plan.fixtures, job)
        request["fixtures"] = plan.fixtures.name
    (job / "request.json").write_text(json.dumps(request), encoding="utf-8")
    return f"{INPUTS}/request.json"


GRACE_SECONDS = 10.0
"""Time for the replayer to report a timeout itself; the machine may be busy."""


class Patience:
    """Watches a replayer's output: the run ends if there is no report within the current step's limit.

    The replayer reports every version and case. In a container, a candidate can write there too, but gains no more time
    than slow cases would take: the run has a limit.
    """

    def __init__(self, case_seconds: float) -> None:
        self._seconds = {LOADING: max(LOAD_SECONDS, case_seconds), RUNNING: case_seconds, LEAVING: 0.0}
        self._tail = b""
        self._deadline = float("inf")
        self.over = False
        self.loads = 0
        """Number of load reports: each version, and the shared imports."""

    def add(self, data: bytes) -> None:
        recent, now = self._tail + data, time.monotonic()
        self.loads += recent.count(LOADING)  # the tail contains no complete one
        last = max(self._seconds, key=recent.rfind)
        if last in recent:
            self._deadline = now + self._seconds[last] + GRACE_SECONDS
        elif self._deadline < now + GRACE_SECONDS:
            self._deadline = now + GRACE_SECONDS
        self._tail = recent[-len(RUNNING) + 1 :]

    def is_over(self) -> bool:
        self.over = self.over or time.monotonic() > self._deadline
        return self.over
