"""Run what drives the target: the golden in place, the recorder watching."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author import compilers, files, replaying, source, staging
from lmr_author.errors import LmrError, TargetError
from lmr_author.model import Implementation, Progress, Target, TaskInfo
from lmr_author.probe.document import Document
from lmr_author.probe.outcome import RAISED
from lmr_author.recorded import FIXTURES
from lmr_author.recording import failed, resuming, varying
from lmr_author.recording.choose import Call, order_of_choice
from lmr_author.recording.command import Driver
from lmr_author.recording.command import driver as read_command
from lmr_author.recording.drive import Drive, Recorded, drive, with_made
from lmr_author.recording.drivers import from_data, from_examples, from_inputs, from_tests
from lmr_author.recording.helpers import Helpers
from lmr_author.recording.parameters import parameters_of
from lmr_author.recording.specs import documents
from lmr_author.sandbox.base import Sandbox
from lmr_author.taskdir import UNIT_TEST, TaskDir
from lmr_author.workflow.record_options import RecordOptions

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

    task: TaskDir
    info: TaskInfo
    implementation: Implementation
    options: RecordOptions
    here: Path
    work: Path
    helpers: Helpers


def driver_of(job: Job) -> Driver | None:
    """What the annotator chose to drive the target; None for described arguments.

    Raises:
        UsageError: no such script, file, test or example.
    """
    options, implementation = job.options, job.implementation
    repository = job.task.repository(job.info)
    if options.arguments:
        documents(options.arguments)  # what cannot be read is told before anything is built
        return None
    if options.examples:
        return from_examples(implementation, options.examples, job.work, job.helpers.fixtures)
    if options.data.files:
        return from_data(implementation, options.data, job.here, job.work)
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
    golden = source.Module.parse(overlay[implementation.goal_file], implementation.goal_file)
    goal = source.Module.parse(task.goal(info, implementation).read_bytes(), implementation.goal_file)
    pair = source.matching(golden, goal, implementation.qualname, implementation.nth)
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
        project=job.options.project,
        uncompiled=compilers.switches(golden.tree, pair[0].node),
    )


def driven(
    sandbox: Sandbox,
    plan: Drive,
    command: Driver | None,
    options: RecordOptions,
    run: Path,
    progress: Progress,
) -> tuple[Drive, Recorded]:
    """Run what drives the target, or take up a run that was cut short, and then variations of what was recorded.

    Args:
        run: where the recorder's output lies while the command runs.

    Raises:
        LmrError: the target was never called, no call could be stored, or there is nothing to resume.
        SandboxError: the sandbox failed.
    """
    parameters = parameters_of(_function(plan))
    if command is None:
        progress("calling it with the arguments described")
        shown = [word for text in options.arguments for word in ("--argument", text)]
        described = documents(options.arguments)
        inputs = [*described, *varying.variations(described, parameters)]
        plan = replace(plan, driver=from_inputs(inputs, shown, plan, plan.work, {}))
        return plan, drive(sandbox, plan)
    plan = replace(plan, driver=command)
    recorded = _run(sandbox, plan, options.resume, run, progress)
    if not options.vary:
        return plan, recorded
    progress("calling it with variations of the recorded inputs")
    best = order_of_choice(recorded.calls)[:VARIED]
    bases = [replaying.load_document(call.folder, "inputs") for call in best]
    made = _vary(sandbox, plan, varying.variations(bases, parameters), recorded)
    return plan, with_made(recorded, made)


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
    return dict(replaying.load_document(call.folder, "expected").tree["v"]).get(RAISED)


def _vary(sandbox: Sandbox, plan: Drive, inputs: Sequence[Document], recorded: Recorded) -> Recorded:
    work = plan.work / "varied"
    work.mkdir()
    work.chmod(0o755)
    driver = from_inputs(inputs, ("--vary",), plan, work, recorded.summary)
    return drive(sandbox, replace(plan, driver=driver, work=work))


def _function(plan: Drive) -> ast.FunctionDef | ast.AsyncFunctionDef:
    module = source.Module.parse((plan.tree / plan.goal_file).read_bytes(), plan.goal_file)
    found = source.find(module, Target(plan.goal_file, plan.qualname, nth=plan.nth or None)).node
    if isinstance(found, ast.ClassDef):
        raise TargetError(f"{plan.qualname} is a class", "record its methods one by one")
    return found
