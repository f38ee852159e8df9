"""Run what drives the target: the golden in place, the recorder watching."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author import code, compilers, files, replaying, staging
from lmr_author.code import FunctionNode
from lmr_author.errors import LmrError, TargetError
from lmr_author.probe.calling import RAISED
from lmr_author.recording import failed, resuming, varying
from lmr_author.recording.choose import Call, order_of_choice
from lmr_author.recording.command import Driver
from lmr_author.recording.command import driver as read_command
from lmr_author.recording.drive import Drive, Recorded, drive, with_made
from lmr_author.recording.drivers import from_examples, from_inputs, from_tests
from lmr_author.recording.helpers import Helpers
from lmr_author.recording.options import RecordOptions
from lmr_author.sandbox.base import Sandbox
from lmr_author.task import UNIT_TEST, Implementation, Progress, Target, Task, TaskInfo
from lmr_author.task.recording import FIXTURES

VARIED = 5
"""Recorded calls that variations are made of."""


@dataclass(frozen=True)
class Job:
    """One recording.

    Attributes:
        here: the current folder, from which scripts and files are looked for.
        work: a folder of ours.
        helpers: what the annotator wrote beside the tests.
    """

    task: Task
    info: TaskInfo
    implementation: Implementation
    options: RecordOptions
    here: Path
    work: Path
    helpers: Helpers


def driver_of(job: Job) -> Driver:
    """Return what the annotator chose to drive the target.

    Raises:
        UsageError: no such script, file, test or example.
    """
    options, implementation = job.options, job.implementation
    repository = job.task.repository(job.info)
    if options.examples:
        return from_examples(implementation, options.examples, job.work, job.helpers.fixtures)
    if options.from_tests:
        return from_tests(implementation, repository, options.command)
    return read_command(options.command, repository, job.here)


def plan_of(job: Job) -> Drive:
    """What to record, without what drives it.

    Raises:
        LmrError: the target is not in its golden.
    """
    task, info, implementation = job.task, job.info, job.implementation
    overlay = staging.original_overlay(task, info)
    golden = code.Module.parse(overlay[implementation.goal_file], implementation.goal_file)
    goal = code.Module.parse(task.goal(info, implementation).read_bytes(), implementation.goal_file)
    pair = code.matching(golden, goal, implementation.qualname, implementation.nth)
    if pair is None:
        raise LmrError(
            f"{implementation.target} cannot be told in {implementation.golden_file}",
            "run `lmr-author validate`",
        )
    tree = job.work / "tree"
    staging.copy_tree(task.repository(info), tree, overlay, with_tests=False)
    if job.helpers.fixtures is not None:  # so that the driver can build the same objects
        files.write_bytes(tree / UNIT_TEST / FIXTURES, job.helpers.fixtures.read_bytes())
    return Drive(
        tree=tree,
        inside=staging.tree_path(info),
        goal_file=implementation.goal_file,
        qualname=implementation.qualname,
        line=pair[0].line,
        nth=pair[0].nth if pair[0].siblings > 1 else 0,
        driver=Driver((), (), ()),
        work=job.work,
        seconds=job.options.seconds,
        max_bytes=int(job.options.max_mb * 1024 * 1024),
        helpers=job.helpers,
        gradients=job.options.gradients,
        uncompiled=compilers.switches(golden.tree, pair[0].node),
    )


def driven(sandbox: Sandbox, plan: Drive, options: RecordOptions, run: Path, progress: Progress) -> Recorded:
    """Run what drives the target, or take up a run that was cut short, and then variations of what was recorded.

    Args:
        run: where the recorder's output lies while the command runs.

    Raises:
        LmrError: the target was never called, no call could be stored, or there is nothing to resume.
        SandboxError: the sandbox failed.
    """
    recorded = _run(sandbox, plan, options.resume, run, progress)
    if not options.vary:
        return recorded
    progress("calling it with variations of the recorded inputs")
    best = order_of_choice(recorded.calls)[:VARIED]
    bases = [replaying.load_document(call.folder, "inputs") for call in best]
    made = varying.variations(bases, varying.parameters_of(target_of(plan)))
    work = plan.work / "varied"
    work.mkdir()
    work.chmod(0o755)
    driver = from_inputs(made, ("--vary",), plan, work, recorded.summary)
    return with_made(recorded, drive(sandbox, replace(plan, driver=driver, work=work)))


def _run(sandbox: Sandbox, plan: Drive, resume: bool, folder: Path, progress: Progress) -> Recorded:
    if resume:
        progress("taking up the run that was cut short")
        return resuming.taken_up(folder, plan)
    earlier = resuming.left(folder, plan)
    also = f" ({len(earlier.calls)} calls of an earlier run are lost: --resume takes them)" if earlier else ""
    progress(f"running the command{also}")
    try:
        recorded = drive(sandbox, replace(plan, out=resuming.begin(folder, plan)))
        _refuse_fatal(plan, recorded, in_image=sandbox.name == "docker")
        return recorded
    except (LmrError, KeyboardInterrupt) as error:
        # Only what was interrupted can be taken up, and only its complete calls.
        if isinstance(error, LmrError) or resuming.left(folder, plan) is None:
            resuming.forget(folder)
        raise


def _refuse_fatal(plan: Drive, recorded: Recorded, *, in_image: bool) -> None:
    """Raise LmrError where the target does nothing but raise, and nobody expects it to: the command dies of it."""
    result = recorded.result
    raised = [str(_raised(call)) for call in recorded.calls if call.outcome == "raised"]
    if len(raised) == len(recorded.calls) and failed.died_of(result, raised[-1]):
        last = failed.last_error(result)
        told = failed.advice(plan.tree, last, result, in_image, plan.driver.unseen, plan.explain)
        raise LmrError(
            f"{plan.goal_file}::{plan.qualname} raised whenever it was called, and the command died of it: {last}",
            f"{told}; where it shall raise, have the driver catch it",
        )


def _raised(call: Call) -> object:
    """The class of what a call raised, by its name."""
    return replaying.load_document(call.folder, "expected").tree.get(RAISED)


def target_of(plan: Drive) -> FunctionNode:
    """Return the target's definition in the golden. Raises TargetError for a class."""
    module = code.Module.parse((plan.tree / plan.goal_file).read_bytes(), plan.goal_file)
    found = code.find(module, Target(plan.goal_file, plan.qualname, nth=plan.nth or None)).node
    if isinstance(found, ast.ClassDef):
        raise TargetError(f"{plan.qualname} is a class", "record its methods one by one")
    return found
