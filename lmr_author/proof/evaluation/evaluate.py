"""``evaluate``: prepare a sandbox, run every gate of every implementation, store the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from lmr_author import __version__
from lmr_author.core import files
from lmr_author.core.errors import LmrError, SandboxBuildError
from lmr_author.core.locks import changes_task
from lmr_author.core.task import (
    Evaluation,
    GateResult,
    GateStatus,
    Progress,
    Task,
    TaskInfo,
    evaluation,
)
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.evaluation import MUTANTS_DIE, UsedSandbox
from lmr_author.core.task.folder import TaskState
from lmr_author.core.texts import listed
from lmr_author.proof.evaluation.gates import (
    Gate,
    golden_passes,
    isolated,
    masked_fails,
    run_gates,
    target_entered,
    untampered,
)
from lmr_author.proof.evaluation.mutation_gates import mutants_die, trivial_fails
from lmr_author.proof.evaluation.trees import MUTANTS, TargetTrees
from lmr_author.proof.targets import MaskedFunctions, masked_functions
from lmr_author.runtime import cluster
from lmr_author.runtime.environment.base_images import base_of
from lmr_author.runtime.environment.build import ask_inventory
from lmr_author.runtime.environment.failures import build_hint
from lmr_author.runtime.environment.lock_file import off_lock
from lmr_author.runtime.environment.where import DOCKER, HERE, LOCAL, Where, other_python, python_of
from lmr_author.runtime.sandbox.base import Sandbox

OnGate = Callable[[GateResult], None]

GATES: dict[str, Gate] = {
    "untampered": untampered,
    "golden-passes": golden_passes,
    "masked-fails": masked_fails,
    "target-entered": target_entered,
    "trivial-fails": trivial_fails,
    MUTANTS_DIE: mutants_die,
    "isolated": isolated,
}
"""The gates of an implementation, in order; ``build`` comes before them, once for the task."""


@dataclass(frozen=True)
class EvaluateOptions:
    """Options of ``evaluate``.

    Attributes:
        mutants: the most mutants to try of each implementation.
    """

    where: Where = HERE
    repeats: int = 3
    seconds: float = 60.0
    mutants: int = MUTANTS


@dataclass(frozen=True)
class EvaluationRun:
    """One finished run of the gates.

    Attributes:
        counts: the sandbox whose evaluation of this state still counts, for display; "" if this one does.
        lost: start and sandbox of the passing evaluation of this state that this failing one replaced; or "".
        powerless: implementation → how its hand-written test passes without the solution.
    """

    task: Task
    record: Evaluation
    counts: str = ""
    lost: str = ""
    powerless: Mapping[int, str] = field(default_factory=dict)

    @property
    def gates(self) -> tuple[GateResult, ...]:
        return self.record.gates

    @property
    def passed(self) -> bool:
        return self.record.passed


@changes_task
def evaluate(task: Task, options: EvaluateOptions, progress: Progress, on_gate: OnGate) -> EvaluationRun:
    """Run every gate of a task and write ``authoring/evaluation.json``.

    Raises:
        SandboxError: no sandbox (no container engine, no interpreter).
        LmrError: nothing is masked, or ``info.json`` cannot be read.
    """
    info, implementations = masked_functions(task)
    if not implementations:
        raise LmrError(
            f"nothing is masked in {task.name}", "mask a function first: lmr-author mask FILE::FUNCTION"
        )
    files.require_writable(task.evaluation_path)
    about = _about_environment(task, options.where)
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
    state = TaskState.of(task)
    gates: list[GateResult] = []

    def keep(result: GateResult) -> None:
        gates.append(result)
        on_gate(result)

    with options.where.sandbox(task, info) as sandbox:
        progress("preparing the environment")
        lock = files.read_text_or_empty(task.lock)
        build, used = _build(sandbox, _asked_for(task, options.where), progress, about, lock)
        keep(build)
        for intended in implementations:
            if build.status is GateStatus.PASSED:
                results = _gates_of(task, info, intended, sandbox, options, progress)
            else:
                results = _skipped(intended)
            for result in results:
                keep(result)
    record = Evaluation(
        tool=__version__,
        sandbox=used,
        started=started,
        seconds=time.monotonic() - clock,
        content_digest=state.content,
        running_digest=state.running,
        gates=tuple(gates),
        passed=evaluation.all_hold(gates),
    )
    before = evaluation.store(task, record)
    counts = lost = ""
    if before is not None and before.outweighs(record):
        counts = before.place
    elif before is not None and before.passed and not record.passed:
        lost = f"{before.started}, {before.place.removeprefix('the ')}"
    return EvaluationRun(task, record, counts, lost, _powerless(task, info, record))


def _gates_of(
    task: Task,
    info: TaskInfo,
    intended: MaskedFunctions,
    sandbox: Sandbox,
    options: EvaluateOptions,
    progress: Progress,
) -> Iterator[GateResult]:
    trees = TargetTrees(
        task,
        info,
        intended.implementation,
        sandbox,
        options.seconds,
        options.mutants,
        progress,
        intended.qualnames,
    )
    with trees:
        yield from run_gates(GATES, trees, options.repeats, progress)


def _skipped(intended: MaskedFunctions) -> Iterator[GateResult]:
    index = intended.implementation.index
    for name in GATES:
        yield GateResult(name, GateStatus.SKIPPED, "skipped: build failed", implementation=index)


def _powerless(task: Task, info: TaskInfo, record: Evaluation) -> dict[int, str]:
    powerless = {}
    for implementation in info.implementations:
        is_handwritten = recorded.load(task.recording(info, implementation.index)) is None
        how = evaluation.passes_without_solution(record.gates, implementation.index)
        if is_handwritten and how:
            powerless[implementation.index] = how
    return powerless


def evaluate_on_cluster(
    tasks: Sequence[Task], options: EvaluateOptions, address: str
) -> Iterator[tuple[Task, EvaluationRun | LmrError]]:
    """Evaluate tasks on a Dask cluster that shares their folders; yield each with its run or its error."""
    there = [Task(task.root.absolute()) for task in tasks]
    named = dict(zip(there, tasks, strict=True))
    work = partial(_evaluate_there, replace(options, where=options.where.absolute))
    for task, run in cluster.spread(address, work, there, gpus=bool(options.where.gpus)):
        yield named[task], run


def _evaluate_there(options: EvaluateOptions, task: Task) -> EvaluationRun:
    cluster.require_shared(task.root)
    return evaluate(task, options, lambda line: None, lambda gate: None)


def _about_environment(task: Task, where: Where) -> str:
    python = python_of(task, where)
    if python.path is None and where.kind == LOCAL:
        return "lmr-author's own Python; `lmr-author env local` creates an environment for the task"
    return python.remark


def _asked_for(task: Task, where: Where) -> UsedSandbox:
    if where.kind == DOCKER:
        own = base_of(files.read_text_or_empty(task.dockerfile))
        return UsedSandbox(where.kind, other_base_image="" if where.base_image == own else where.base_image)
    python = other_python(task, where)
    if python and where.python:
        evaluation.remember_interpreter(python, where.python)
    return UsedSandbox(where.kind, other_python=python)


def _build(
    sandbox: Sandbox,
    used: UsedSandbox,
    progress: Progress,
    about: str,
    lock: str,
) -> tuple[GateResult, UsedSandbox]:
    """Run the gate ``build``: the environment starts and lists its packages, which are added to ``used``.

    Args:
        about: origin of the environment, or "".
        lock: requirements.lock, to compare the packages with.
    """
    clock = time.monotonic()
    try:
        facts = sandbox.prepare(progress)
    except SandboxBuildError as error:
        seconds = time.monotonic() - clock
        return GateResult("build", GateStatus.FAILED, error.message, build_hint(error), seconds=seconds), used
    # The interpreter's path is meaningless on another machine.
    used = UsedSandbox.from_json({**used.to_json(), **facts})
    try:
        used = replace(used, **vars(ask_inventory(sandbox)))
    except SandboxBuildError as error:
        return GateResult("build", GateStatus.FAILED, error.message, error.hint), used
    used = replace(used, off_lock=off_lock(lock, used.packages))
    versions_found = {"python": used.python, "torch": used.torch, "numpy": used.numpy}
    versions = ", ".join(f"{name} {version}" for name, version in versions_found.items() if version)
    if about:
        versions += f"; {about}"
    if used.off_lock:
        versions += f"; not as in requirements.lock: {listed(used.off_lock, 5)}"
    if not sandbox.isolating:
        versions += "; not isolated: the task's code runs as you and can access your files"
    seconds = time.monotonic() - clock
    return GateResult("build", GateStatus.PASSED, versions, seconds=seconds), used
