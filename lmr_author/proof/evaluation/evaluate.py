"""``evaluate``: prepare a sandbox, run every gate of every implementation, store the result."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from lmr_author import __version__
from lmr_author.core import code, files
from lmr_author.core.errors import LmrError, SandboxBuildError, UsageError
from lmr_author.core.locks import changes_task
from lmr_author.core.people import git_name
from lmr_author.core.task import (
    Evaluation,
    GateResult,
    GateStatus,
    Progress,
    Target,
    Task,
    equivalents,
    evaluation,
    interpreters,
)
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.equivalents import EquivalentMutant
from lmr_author.core.task.evaluation import MUTANTS_DIE, GateDetail, UsedSandbox
from lmr_author.core.task.state import State
from lmr_author.proof.evaluation.bench import MUTANTS, Bench
from lmr_author.proof.evaluation.gates import (
    Gate,
    golden_passes,
    isolated,
    masked_fails,
    run_gates,
    target_entered,
    untampered,
)
from lmr_author.proof.evaluation.mutants import Mutant, mutants
from lmr_author.proof.evaluation.resolve import Resolved, resolve
from lmr_author.proof.evaluation.wrong_versions import mutants_die, summed_up, trivial_fails
from lmr_author.runtime import cluster
from lmr_author.runtime.environment import place
from lmr_author.runtime.environment.build import ask_inventory, build_hint
from lmr_author.runtime.environment.where import DOCKER, HERE, LOCAL, Where, other_python, python_of
from lmr_author.runtime.replay.staging import golden_overlay
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
        where: the sandbox.
        repeats: number of golden runs.
        seconds: time limit of one case.
        mutants: the most mutants to try of each implementation.
        implementation: index of the only one whose gates are run; None for all.
    """

    where: Where = HERE
    repeats: int = 3
    seconds: float = 60.0
    mutants: int = MUTANTS
    implementation: int | None = None


@dataclass(frozen=True)
class EvaluationRun:
    """One finished run of the gates.

    Attributes:
        record: the evaluation as stored.
        counts: the sandbox whose evaluation of this state counts for the task, in words; "" for this one.
        lost: start of the sound evaluation of this state in this sandbox that this failing one replaced; or "".
        powerless: implementation → how its hand-written test passes without the solution.
    """

    task: Task
    record: Evaluation
    counts: str = ""
    lost: str = ""
    powerless: Mapping[int, str] = field(default_factory=dict)

    @property
    def gates(self) -> tuple[GateResult, ...]:
        """The results of the gates."""
        return self.record.gates

    @property
    def passed(self) -> bool:
        """True if every gate passed; an unproven one did not."""
        return self.record.passed


@changes_task
def evaluate(task: Task, options: EvaluateOptions, progress: Progress, on_gate: OnGate) -> EvaluationRun:
    """Run every gate of a task and write ``authoring/evaluation.json``, beside what other sandboxes showed.

    Args:
        task: the task folder.
        options: see :class:`EvaluateOptions`.
        progress: called with the current step.
        on_gate: called with each gate's result as soon as it is known.

    Raises:
        SandboxError: the sandbox is not to be had (no engine, no interpreter).
        LmrError: nothing is masked, or ``info.json`` cannot be read.
    """
    info, implementations = resolve(task)
    if not implementations:
        raise LmrError(
            f"nothing is masked in {task.name}", "mask a function first: lmr-author mask FILE::FUNCTION"
        )
    if options.implementation is not None:
        info.implementation(options.implementation)
    files.require_writable(task.evaluation_path)
    python = python_of(task, options.where)
    about = python.remark
    if python.path is None and options.where.kind == LOCAL:
        about = "lmr-author's own Python, as no environment is made (`lmr-author env local` makes one)"
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
    state = State.of(task)
    gates: list[GateResult] = []

    def keep(result: GateResult) -> None:
        gates.append(result)
        on_gate(result)

    with options.where.sandbox(task, info) as sandbox:
        progress("preparing the environment")
        build, used = _build(sandbox, _asked_for(task, options.where), progress, about, implementations)
        keep(build)
        for one in implementations:
            index = one.implementation.index
            if options.implementation not in (None, index):
                for result in _as_before(task, index, used, state):
                    keep(result)
            elif build.status is not GateStatus.PASSED:
                for result in _unrun(index, GateStatus.SKIPPED, "skipped: build failed"):
                    keep(result)
            else:
                limits, names = (options.seconds, options.mutants), one.qualnames
                with Bench(
                    task, info, one.implementation, sandbox, *limits, progress, qualnames=names
                ) as bench:
                    for result in run_gates(GATES, bench, options.repeats, progress):
                        keep(result)
    record = Evaluation(
        tool=__version__,
        sandbox=used,
        started=started,
        seconds=time.monotonic() - clock,
        content_digest=state.content,
        running_digest=state.running,
        gates=tuple(gates),
        passed=bool(gates) and all(gate.status is GateStatus.PASSED for gate in gates),
    )
    stored = evaluation.store(task, record)
    before = stored.replaced
    return EvaluationRun(
        task,
        record,
        counts="" if stored.counts is record else stored.counts.place,
        lost=before.started if before and before.passed and not record.passed else "",
        powerless={
            one.index: how
            for one in info.implementations
            if recorded.load(task.recording(info, one.index)) is None
            and (how := evaluation.passes_without_solution(record.gates, one.index))
        },
    )


def evaluate_on_cluster(
    tasks: Sequence[Task], options: EvaluateOptions, address: str
) -> Iterator[tuple[Task, EvaluationRun | LmrError]]:
    """Evaluate tasks on a Dask cluster that shares their folders; yield each with its run, or with what went wrong."""
    there = [Task(task.root.absolute()) for task in tasks]
    named = dict(zip(there, tasks, strict=True))
    work = partial(_evaluate_there, replace(options, where=options.where.absolute))
    for task, run in cluster.spread(address, work, there, gpus=bool(options.where.gpus)):
        yield named[task], run


def _evaluate_there(options: EvaluateOptions, task: Task) -> EvaluationRun:
    cluster.require_shared(task.root)
    return evaluate(task, options, lambda line: None, lambda gate: None)


def _asked_for(task: Task, where: Where) -> UsedSandbox:
    """Return the sandbox with the options that replace the task's own base image or interpreter."""
    if where.kind == DOCKER:
        own = place.base_of(place.text_of(task.dockerfile))
        return UsedSandbox(where.kind, other_base_image="" if where.base_image == own else where.base_image)
    python = other_python(task, where)
    if python and where.python:
        interpreters.remember(python, where.python)
    return UsedSandbox(where.kind, other_python=python)


@changes_task
def accept_mutants(task: Task, words: Sequence[str], reason: str) -> tuple[dict[str, str], Evaluation | None]:
    """Record that mutants are equivalent to the golden, all of them or none, and recompute the stored gate.

    Returns the change of each by its id, as a diff, and the stored evaluation that counts.

    Args:
        words: ids, and lines (``40``, ``40-52``) for all survivors on them in the stored evaluations.

    Raises UsageError: no such mutant, or no reason; LmrError: the file of accepted mutants is damaged.
    """
    if not reason.strip():
        raise UsageError("to accept a mutant needs a reason", "say it with --reason TEXT")
    stored = evaluation.load(task)
    known = _every_mutant(task)
    found = list[tuple[str, Mutant]]()
    for word in words:
        chosen = [(target, item) for target, item in known if item.id == word]
        if not chosen and (lines := re.fullmatch(r"(\d{1,7})(?:-(\d{1,7}))?", word)):
            first, last = int(lines[1]), int(lines[2] or lines[1])
            alive = {survivor.id for gate in mutant_gates(stored) for survivor in gate.detail.survivors}
            chosen = [(t, item) for t, item in known if item.id in alive and first <= item.line <= last]
        if not chosen:
            raise UsageError(
                f"no mutant {word!r} of {task.name}",
                "the ids and lines are in the report of `lmr-author evaluate`",
            )
        found += chosen
    today = datetime.now(UTC).date().isoformat()
    by = git_name()
    equivalents.add(
        task,
        [EquivalentMutant(target, item.id, reason.strip(), today, by, item.diff) for target, item in found],
    )
    accepted = {item.id for _, item in found}
    for one in (stored, *stored.others) if stored else ():
        evaluation.store(task, _recomputed(replace(one, others=()), accepted))
    return {item.id: item.diff for _, item in found}, evaluation.load(task)


@changes_task
def accept_again(task: Task, accepted: Sequence[EquivalentMutant]) -> None:
    """Store acceptances of a recipe, with the change of each, which is not in the recipe."""
    diffs = {(target, item.id): item.diff for target, item in _every_mutant(task)}
    equivalents.add(task, [replace(one, diff=diffs.get((one.target, one.id), "")) for one in accepted])


def _every_mutant(task: Task) -> list[tuple[str, Mutant]]:
    """Return all mutants that any recording may lead to, with their targets: every parameter is differentiated."""
    info, resolved = resolve(task)
    overlay, found = golden_overlay(task, info), list[tuple[str, Mutant]]()
    for one in resolved:
        path, nth = one.implementation.goal_file, one.implementation.nth
        golden = code.Module.parse(overlay[path], path)
        for name in one.qualnames:
            function = code.find(golden, Target(path, name, nth=nth if len(one.qualnames) == 1 else None))
            names = {item.arg for item, _ in code.parameters(function.function.args)}
            made = mutants(golden, function, differentiated=names)
            found += [(str(one.implementation.target), item) for item in made]
    return found


def mutant_gates(stored: Evaluation | None) -> list[GateResult]:
    """Return the results of ``mutants-die`` that have figures."""
    gates = stored.gates if stored else ()
    return [gate for gate in gates if gate.gate == MUTANTS_DIE and gate.detail.killed is not None]


def _recomputed(stored: Evaluation, accepted: Collection[str]) -> Evaluation:
    gates = list(stored.gates)
    for gate in mutant_gates(stored):
        new = summed_up(gate.detail, accepted)
        gates[gates.index(gate)] = replace(new, implementation=gate.implementation, seconds=gate.seconds)
    return replace(stored, gates=tuple(gates), passed=all(gate.status is GateStatus.PASSED for gate in gates))


def _build(
    sandbox: Sandbox, used: UsedSandbox, progress: Progress, about: str, implementations: Sequence[Resolved]
) -> tuple[GateResult, UsedSandbox]:
    """Run the gate ``build``: the environment comes up and lists its packages, which are added to ``used``.

    Args:
        about: origin of the environment, or "".
        implementations: their corrections of a loose ``info.json`` are added to the message.
    """
    clock = time.monotonic()
    try:
        facts = sandbox.prepare(progress)
    except SandboxBuildError as error:
        seconds = time.monotonic() - clock
        return GateResult("build", GateStatus.FAILED, error.message, build_hint(error), seconds=seconds), used
    # Without the interpreter's path, which says nothing on another machine.
    used = UsedSandbox.from_json({**used.to_json(), **facts})
    try:
        used = replace(used, **vars(ask_inventory(sandbox)))
    except SandboxBuildError as error:
        return GateResult("build", GateStatus.FAILED, error.message, error.hint), used
    found = {"python": used.python, "torch": used.torch, "numpy": used.numpy}
    versions = ", ".join(f"{name} {version}" for name, version in found.items() if version)
    if about:
        versions += f"; {about}"
    if not sandbox.isolating:
        versions += "; nothing is isolated here: the task's code runs as you, with your files"
    notes = [
        f"implementation {one.implementation.index}: {note}" for one in implementations for note in one.notes
    ]
    if notes:
        versions += f"; info.json is loose: {'; '.join(notes)} (see `lmr-author validate`)"
    detail = GateDetail(notes=tuple(notes))
    seconds = time.monotonic() - clock
    return GateResult("build", GateStatus.PASSED, versions, seconds=seconds, detail=detail), used


def _as_before(task: Task, index: int, used: UsedSandbox, state: State) -> list[GateResult]:
    """Return the last evaluation's gates of an implementation that is left out; unproven if it no longer holds.

    Args:
        used: the sandbox, with the versions in it.
        state: of the task as it is.
    """
    stored = evaluation.find_same_sandbox(task, used)
    kept = []
    if stored and (stored.sandbox, stored.tool) == (used, __version__) and stored.is_of(state):
        kept = [gate for gate in stored.gates if gate.implementation == index]
    if kept:
        return kept
    why = (
        "not run: --implementation names another, and no earlier evaluation holds for this state and sandbox"
    )
    return _unrun(index, GateStatus.UNPROVEN, why)


def _unrun(index: int, status: GateStatus, why: str) -> list[GateResult]:
    return [GateResult(name, status, why, implementation=index) for name in GATES]
