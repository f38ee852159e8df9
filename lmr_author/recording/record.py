"""Record a masked function: drive the golden, choose and prove cases, write the recording and its unit test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from lmr_author import code, files, judging, replaying, staging
from lmr_author.environment.build import prepare, sandbox_of
from lmr_author.environment.failures import explain_command
from lmr_author.environment.local import interpreter_for, where_it_runs
from lmr_author.errors import LmrError, TargetError
from lmr_author.evaluation.mutants import mutants
from lmr_author.masking import locate
from lmr_author.probe.calling import GRADIENTS
from lmr_author.recording import checkers, failed, helpers, resuming, store
from lmr_author.recording.choose import Call, coverage
from lmr_author.recording.command import Driver
from lmr_author.recording.drive import Drive, Recorded
from lmr_author.recording.driving import Job, driven, driver_of, plan_of, target_of
from lmr_author.recording.golden import Golden
from lmr_author.recording.options import RecordOptions, check_options
from lmr_author.recording.prove import Proof, prove
from lmr_author.recording.sizes import Room
from lmr_author.recording.tolerance import Widened
from lmr_author.sandbox.base import Sandbox
from lmr_author.task import Implementation, Progress, Target, Task, TaskInfo
from lmr_author.task.recording import Recording, load

__all__ = ["NO_GRADIENTS", "RecordOptions", "RecordResult", "record"]

Agree = Callable[[Sequence[Widened]], bool]
"""Asks a person whether tolerances wider than usual are right."""
Mutants = Callable[[code.Module, code.Definition, int], Sequence[replaying.Variant]]
"""Makes so many wrong versions of a golden's target, or fewer."""

NO_GRADIENTS = "note: --gradients: no case has any, as no input is a tensor of PyTorch that requires one"


@dataclass(frozen=True)
class RecordResult:
    """What came of it.

    Attributes:
        kept: earlier files that were moved to ``authoring/removed/``.
        error: the last error that the command printed, where it failed.
        missed: first and last lines of the golden's blocks that no case executes.
    """

    implementation: Implementation
    recording: Recording
    proof: Proof
    exit_code: int
    kept: tuple[str, ...]
    error: str = ""
    missed: tuple[tuple[int, int], ...] = ()


def record(
    task: Task,
    options: RecordOptions,
    here: Path,
    progress: Progress,
    agree: Agree | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> RecordResult:
    """Record real calls of a masked function's golden into cases and a unit test.

    Args:
        agree: asked about tolerances that had to be widened; None to take them.
        tell: told, in lines to be shown, which Python runs the command, where nobody named one, and what was found out.

    Raises:
        TargetError: the target is not masked in this task.
        LmrError: see :func:`record_in_sandbox`.
        SandboxError: the sandbox failed.
    """
    info = task.load()
    implementation = _implementation(task, info, options.target, here)
    own = check(task, info, implementation, options)
    python, about = interpreter_for(task, options.sandbox, options.python)
    files.require_writable(task.recording(info, implementation.index))
    with (
        files.temporary_folder("lmr-author-record-") as work,
        sandbox_of(task, info, options.sandbox, python=python, base_image=options.base_image) as sandbox,
    ):
        work.chmod(0o755)
        job = Job(task, info, implementation, options, here, work, own)
        driver = driver_of(job)  # before anything is built, so that what cannot be read is told at once
        if where := where_it_runs(options.sandbox, python, about):
            tell(f"recording {where}")
        progress("preparing the environment")
        prepare(sandbox, progress)
        wrong = partial(explain_command, in_image=sandbox.name == "docker", python=options.python)
        return record_in_sandbox(
            job, driver, sandbox, _mutants, progress, explain=wrong, agree=agree, tell=tell
        )


def check(
    task: Task, info: TaskInfo, implementation: Implementation, options: RecordOptions
) -> helpers.Helpers:
    """Return the annotator's own checkers and fixtures, where everything is ready to record.

    Raises:
        UsageError: the options contradict one another, or name what is not there.
        LmrError: there is a recording already and no ``force``.
    """
    folder = task.recording(info, implementation.index)
    # A recording without its test is one whose making was cut short: it is put aside, not defended.
    if folder.exists() and task.unit_test(info, implementation).exists() and not options.force:
        raise LmrError(
            f"{implementation.target} has a recording already ({folder.relative_to(task.root)})",
            "add --force to make it anew; the old one is kept in authoring/removed/",
        )
    check_options(options)
    own = helpers.read(task.unit_test_folder(info))
    checks = checkers.parse(options.checks)
    checkers.check_extras(checks)
    helpers.check_functions(checks, own)
    return own


def record_in_sandbox(
    job: Job,
    driver: Driver,
    sandbox: Sandbox,
    mutants: Mutants,
    progress: Progress,
    *,
    explain: failed.Explain = lambda text: "",
    agree: Agree | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> RecordResult:
    """Record in a sandbox that is prepared.

    Args:
        sandbox: prepared.
        explain: what is wrong with an environment, and what repairs it, by what a command said.
        agree: asked about tolerances that had to be widened; None to take them.
        tell: told, in lines to be shown, what was found out.

    Raises:
        LmrError: the command never calls it, nothing can be stored, or nothing reproduces.
        SandboxError: the sandbox failed.
    """
    task, info, implementation = job.task, job.info, job.implementation
    run = task.run_folder(implementation.index)
    plan = replace(plan_of(job), explain=explain, driver=driver)
    if plan.uncompiled:
        words = " ".join(f"{name}={value}" for name, value in plan.uncompiled.items())
        tell(f"recording with {words}, as compiled code cannot be watched")
    recorded = driven(sandbox, plan, job.options, run, progress)
    proof = _prove(job, sandbox, plan, recorded, mutants, progress)
    wide = {item.path: item for case in proof.chosen for item in case.wide}
    if wide and agree is not None and not agree(list(wide.values())):
        raise LmrError(
            "nothing was recorded: the tolerances were not agreed to",
            f"say which are right, as in --check '{next(iter(wide))}=allclose:1e-6,1e-6'",
        )
    if job.options.gradients and not any(_has_gradients(item.call) for item in proof.chosen):
        tell(NO_GRADIENTS)
    calls = [item.call for item in proof.chosen]
    inputs = [replaying.load_document(call.folder, "inputs") for call in calls]
    own = helpers.digests(job.helpers, inputs, [item.checkers for item in proof.chosen])
    covered = coverage(calls, recorded.blocks, recorded.absent)
    kept = store.put_aside(task, info, implementation)
    recording = store.store(task, info, implementation, plan, recorded, proof, covered, own, target_of(plan))
    resuming.forget(run)
    error = failed.printed_error(recorded.result)
    missed = _missed(task, implementation, recording)
    return RecordResult(implementation, recording, proof, recorded.result.exit_code, kept, error, missed)


def _prove(
    job: Job, sandbox: Sandbox, plan: Drive, recorded: Recorded, mutants: Mutants, progress: Progress
) -> Proof:
    """Replay on a tree that the recorded run has not touched."""
    clean, cases = job.work / "clean", job.work / "cases"
    cases.mkdir()
    overlay = staging.golden_overlay(job.task, job.info)
    staging.copy_tree(job.task.repository(job.info), clean, overlay, with_tests=False)
    module = code.Module.parse(overlay[plan.goal_file], plan.goal_file)
    definition = code.find(module, Target(plan.goal_file, plan.qualname, nth=plan.nth or None))
    name = recorded.summary.get("module")
    sys_path: Sequence[str] = recorded.summary.get("sys_path") or [""]
    replay_plan = replaying.Plan(
        goal_file=plan.goal_file,
        qualname=plan.qualname,
        line=definition.line,
        module=name if isinstance(name, str) and name != "__main__" else None,
        sys_path=tuple(sys_path),
        recording=cases,
        cases=(),
        preload=tuple(name for name in replaying.HEAVY if name in recorded.summary),
    )
    checks = checkers.parse(job.options.checks)
    golden = Golden(sandbox, replay_plan, clean, plan.inside, job.helpers, judging.functions_of(checks))
    others = [item for item in job.info.implementations if item.index != job.implementation.index]
    found = {str(item.target): load(job.task.recording(job.info, item.index)) for item in others}
    taken = {name: sum(case.bytes for case in one.cases) for name, one in found.items() if one}
    room = Room(int(job.options.max_total_mb * 2**20), taken)
    return prove(
        golden,
        recorded.calls,
        job.options.cases,
        progress,
        lambda most: mutants(module, definition, most),
        checks,
        room,
    )


def _has_gradients(call: Call) -> bool:
    """Tell whether a gradient belongs to a call's outcome."""
    return bool(replaying.load_document(call.folder, "expected").tree.get(GRADIENTS))


def _missed(task: Task, implementation: Implementation, recording: Recording) -> tuple[tuple[int, int], ...]:
    """The blocks that no case executes; one that lies within another that is not is not named again."""
    golden = task.golden(implementation)
    tree = code.Module.parse(golden.read_bytes(), implementation.goal_file).tree
    blocks: list[tuple[int, int]] = []
    for line in recording.coverage.missed:
        if not blocks or line > blocks[-1][1]:
            blocks.append((line, code.block_end(tree, line)))
    return tuple(blocks)


def _mutants(module: code.Module, definition: code.Definition, most: int) -> Sequence[replaying.Variant]:
    found = mutants(module, definition, most)
    return [replaying.Variant(item.id, item.data, definition.line) for item in found]


def _implementation(task: Task, info: TaskInfo, target: str | None, here: Path) -> Implementation:
    if not info.implementations:
        raise TargetError(
            f"nothing is masked in {task.name}", "mask a function first: lmr-author mask FILE::FUNCTION"
        )
    masked = "; ".join(str(item.target) for item in info.implementations)
    if target is None:
        if len(info.implementations) > 1:
            raise TargetError("several functions are masked", f"name one: {masked}")
        return info.implementations[0]
    wanted = locate.locate(task.repository(info), target, here)
    named = [
        item
        for item in info.implementations
        if (item.goal_file, item.qualname) == (wanted.path, wanted.qualname)
    ]
    found = locate.meant(task.repository(info), wanted, named)
    if len(found) == 1:
        return found[0]
    if found:
        names = " or ".join(str(item.target) for item in found)
        raise TargetError(f"{wanted} is masked {len(found)} times in {task.name}", f"name one: {names}")
    raise TargetError(f"{wanted} is not masked in {task.name}", f"masked: {masked}; mask it first")
