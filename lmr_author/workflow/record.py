"""``record``: drive the golden, choose and prove cases, write recordings and the unit test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author import compilers, files, judging, replaying, source, staging
from lmr_author.errors import LmrError, TargetError
from lmr_author.evaluation.mutants import mutants
from lmr_author.masking import locate
from lmr_author.model import Implementation, Progress, Target, TaskInfo
from lmr_author.probe.outcome import GRADIENTS
from lmr_author.recorded import SUPPORT, Recording, load
from lmr_author.recording import checkers, compiled, failed, helpers, resuming
from lmr_author.recording.choose import Call, coverage
from lmr_author.recording.drive import Drive, Recorded
from lmr_author.recording.drivers import Data
from lmr_author.recording.golden import Golden
from lmr_author.recording.prove import Proof, prove
from lmr_author.recording.sizes import Room
from lmr_author.recording.store import install_support, renew_support, store
from lmr_author.recording.tolerance import Widened
from lmr_author.sandbox.base import Sandbox
from lmr_author.taskdir import TaskDir
from lmr_author.testgen.generate import generate
from lmr_author.texts import printable
from lmr_author.workflow.env_local import interpreter_for, where_it_runs
from lmr_author.workflow.preparing import prepare, sandbox_of
from lmr_author.workflow.record_drive import Job, driven, driver_of, plan_of
from lmr_author.workflow.record_options import RecordOptions, check_options
from lmr_author.workflow.wrong_environment import explainer

__all__ = ["Data", "RecordOptions", "RecordResult", "record"]

Agree = Callable[[Sequence[Widened]], bool]
"""Asks a person whether tolerances wider than usual are right."""

NO_GRADIENTS = (
    "note: --gradients: no case has any, as no input is a tensor of PyTorch that requires one (arrays of JAX have "
    "none: record the function that calls jax.grad)"
)


@dataclass(frozen=True)
class RecordResult:
    """What came of it."""

    implementation: Implementation
    recording: Recording
    proof: Proof
    exit_code: int
    kept: tuple[str, ...]
    error: str = ""
    """The last error that the command printed, where it failed."""
    missed: tuple[tuple[int, int], ...] = ()
    """First and last lines of the golden's blocks that no case executes."""


def record(
    task: TaskDir,
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
        LmrError: the command never calls it, nothing can be stored, nothing reproduces, or there is a
            recording already and no ``force``.
        SandboxError: the sandbox failed.
    """
    info = task.load()
    implementation = _implementation(task, info, options.target, here)
    _may_record(task, info, implementation, options)
    check_options(options)
    own = _own_helpers(task, info, options)
    python, about = interpreter_for(task, options.sandbox, options.python)
    files.require_writable(task.recording(info, implementation.index))
    with (
        files.temporary_folder("lmr-author-record-") as work,
        sandbox_of(task, info, options.sandbox, python=python, base_image=options.base_image) as sandbox,
    ):
        work.chmod(0o755)
        job = Job(task, info, implementation, options, here, work, own)
        command = driver_of(job)
        if where := where_it_runs(options.sandbox, python, about):
            tell(f"recording {where}")
        progress("preparing the environment")
        prepare(sandbox, progress)
        run = task.run_folder(implementation.index)
        wrong = explainer(in_image=sandbox.name == "docker", python=options.python)
        plan = replace(plan_of(job), explain=wrong)
        if plan.uncompiled:
            words = " ".join(f"{name}={value}" for name, value in plan.uncompiled.items())
            tell(f"recording with {words}, as compiled code cannot be watched")
        plan, recorded = driven(sandbox, plan, command, options, run, progress)
        proof = _prove(job, sandbox, plan, recorded, progress)
        _agree(proof, agree)
        if options.gradients and not any(_has_gradients(item.call) for item in proof.chosen):
            tell(NO_GRADIENTS)
        if proof.compiled.why:
            why = printable(proof.compiled.why, 300)
            tell(f"note: no case tests what {proof.compiled.by} makes of it: {why}")
        kept = _put_aside(task, info, implementation)
        recording = _store(job, plan, recorded, proof)
        resuming.forget(run)
    result = recorded.result
    error = failed.printed_error(result)
    missed = _missed(task, implementation, recording)
    return RecordResult(implementation, recording, proof, result.exit_code, kept, error, missed)


def _has_gradients(call: Call) -> bool:
    """Whether a gradient belongs to a call's outcome."""
    parts = replaying.load_document(call.folder, "expected").tree.get("v", [])
    return any(key == GRADIENTS and part.get("v") for key, part in parts)


def _own_helpers(task: TaskDir, info: TaskInfo, options: RecordOptions) -> helpers.Helpers:
    """The annotator's own checkers and fixtures. Raises UsageError where the options ask for others."""
    own = helpers.read(task.unit_test_folder(info))
    checks = checkers.parse(options.checks)
    checkers.check_extras(checks)
    helpers.check_functions(checks, own)
    return own


def _missed(
    task: TaskDir, implementation: Implementation, recording: Recording
) -> tuple[tuple[int, int], ...]:
    """The blocks that no case executes; one that lies within another that is not is not named again."""
    golden = task.golden(implementation)
    tree = source.Module.parse(golden.read_bytes(), implementation.goal_file).tree
    blocks: list[tuple[int, int]] = []
    for line in recording.coverage.missed:
        if not blocks or line > blocks[-1][1]:
            blocks.append((line, source.block_end(tree, line)))
    return tuple(blocks)


def _may_record(
    task: TaskDir, info: TaskInfo, implementation: Implementation, options: RecordOptions
) -> None:
    folder = task.recording(info, implementation.index)
    # A recording without its test is one whose making was cut short: it is put aside, not defended.
    if folder.exists() and task.unit_test(info, implementation).exists() and not options.force:
        raise LmrError(
            f"{implementation.target} has a recording already ({folder.relative_to(task.root)})",
            "add --force to make it anew; the old one is kept in authoring/removed/",
        )


def _implementation(task: TaskDir, info: TaskInfo, target: str | None, here: Path) -> Implementation:
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


def _prove(job: Job, sandbox: Sandbox, plan: Drive, recorded: Recorded, progress: Progress) -> Proof:
    """Replay on a tree that the recorded run has not touched."""
    clean, cases = job.work / "clean", job.work / "cases"
    cases.mkdir()
    overlay = staging.golden_overlay(job.task, job.info)
    staging.copy_tree(job.task.repository(job.info), clean, overlay, with_tests=False)
    module = source.Module.parse(overlay[plan.goal_file], plan.goal_file)
    definition = source.find(module, Target(plan.goal_file, plan.qualname, nth=plan.nth or None))
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
    functions = judging.functions_of(checks)
    golden = Golden(sandbox, replay_plan, clean, plan.inside, job.helpers, functions)

    def rivals(most: int) -> list[replaying.Variant]:
        found = mutants(module, definition, most)
        return [replaying.Variant(item.id, item.data, definition.line) for item in found]

    room = Room(int(job.options.max_total_mb * 2**20), _taken(job))
    proof = prove(golden, recorded.calls, job.options.cases, progress, rivals, checks, room)
    by = compilers.compiled_by(module.tree, definition.node)
    if not by:
        return proof
    progress(f"running the chosen cases as {by} compiles them")
    return replace(proof, compiled=compiled.taken(golden, proof.chosen, by))


def _taken(job: Job) -> dict[str, int]:
    """Target → bytes of its recorded cases, of the task's other implementations."""
    others = [item for item in job.info.implementations if item.index != job.implementation.index]
    found = {str(item.target): load(job.task.recording(job.info, item.index)) for item in others}
    return {
        name: sum(case.bytes for case in recording.cases) for name, recording in found.items() if recording
    }


def _agree(proof: Proof, agree: Agree | None) -> None:
    """Have a person confirm what is compared more loosely than usual. Raises LmrError."""
    wide = {item.path: item for case in proof.chosen for item in case.wide}
    if wide and agree is not None and not agree(list(wide.values())):
        raise LmrError(
            "nothing was recorded: the tolerances were not agreed to",
            f"say which are right, as in --check '{next(iter(wide))}=allclose:1e-6,1e-6'",
        )


def _put_aside(task: TaskDir, info: TaskInfo, implementation: Implementation) -> tuple[str, ...]:
    """Move an earlier recording and test to ``authoring/removed/``; nothing is overwritten."""
    return tuple(
        task.put_aside(path)
        for path in (task.recording(info, implementation.index), task.unit_test(info, implementation))
        if path.exists()
    )


def _store(job: Job, plan: Drive, recorded: Recorded, proof: Proof) -> Recording:
    task, info, implementation = job.task, job.info, job.implementation
    support = install_support(task.unit_test_folder(info) / SUPPORT)
    calls = [item.call for item in proof.chosen]
    covered = coverage(calls, recorded.blocks, recorded.absent)
    inputs = [replaying.load_document(call.folder, "inputs") for call in calls]
    own = helpers.digests(job.helpers, inputs, [item.checkers for item in proof.chosen])
    folder = task.recording(info, implementation.index)
    recording = store(folder, plan, recorded, proof, covered, support, own)
    renew_support(folder.parent, support)
    text = generate(implementation, recording, plan.nth, proof.compiled.case)
    files.write_text(task.unit_test(info, implementation), text)
    return recording
