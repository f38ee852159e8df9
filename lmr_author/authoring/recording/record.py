"""Record a masked function: run the golden, replay its calls, choose cases, store them with a unit test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lmr_author.authoring.recording import store
from lmr_author.authoring.recording.calls import coverage
from lmr_author.authoring.recording.choose import Proof, choose, order_of_choice
from lmr_author.authoring.recording.job import (
    Job,
    RecordOptions,
    driver_of,
    golden_of,
    implementation_of,
    plan_of,
    ready_helpers,
    room_of,
)
from lmr_author.authoring.recording.remarks import Uncompared, blocks_at, effects_of, notes, uncompared
from lmr_author.authoring.recording.replay import Golden, replay
from lmr_author.authoring.recording.run import Recorded, Run, run
from lmr_author.core import code, files
from lmr_author.core.locks import changes_task
from lmr_author.core.task import Implementation, Progress, Task, equivalents
from lmr_author.core.task.recording import Recording
from lmr_author.runtime.environment.failures import explain_command
from lmr_author.runtime.environment.where import prepare, python_in_words
from lmr_author.runtime.replay import staging
from lmr_author.runtime.sandbox.base import Sandbox

__all__ = ["RecordOptions", "RecordResult", "record"]

Tell = Callable[[str], None]
"""Shows a line to the annotator."""


@dataclass(frozen=True)
class RecordResult:
    """A recording, and what it leaves open.

    Attributes:
        kept: earlier files that were moved to ``authoring/removed/``.
        missed: first and last lines of the golden's blocks that no call executed.
        not_kept: likewise, of blocks that only calls executed which did not become cases.
        never_false: lines of conditions that held whenever a call reached them.
        uncompared: effects of the golden that no case compares.
    """

    implementation: Implementation
    recording: Recording
    recorded: Recorded
    proof: Proof
    kept: tuple[str, ...]
    missed: tuple[tuple[int, int], ...] = ()
    not_kept: tuple[tuple[int, int], ...] = ()
    never_false: tuple[int, ...] = ()
    uncompared: tuple[Uncompared, ...] = ()


@changes_task
def record(
    task: Task,
    options: RecordOptions,
    here: Path,
    progress: Progress,
    tell: Tell = lambda line: None,
) -> RecordResult:
    """Record real calls of a masked function's golden into cases and a unit test.

    Args:
        here: the current folder, from which scripts and files are named.
        tell: shows the Python that runs the command, where nobody named one, and notes.

    Raises:
        TargetError: the target is not masked in this task.
        UsageError: the options contradict one another, or name what is not there.
        LmrError: the command never calls it, nothing can be stored, or nothing reproduces.
        SandboxError: the sandbox failed.
    """
    info = task.load()
    implementation = implementation_of(task, info, options.target, here)
    helpers = ready_helpers(task, info, implementation, options)
    files.require_writable(task.recording(info, implementation.index))
    with (
        files.temporary_folder("lmr-author-record-") as work,
        options.where.sandbox(task, info) as sandbox,
    ):
        work.chmod(0o755)
        job = Job(task, info, implementation, options, helpers, work)
        plan = _prepare(job, sandbox, here, progress, tell)

        progress("running the command")
        recorded = run(sandbox, plan)
        golden = golden_of(job, plan, sandbox, recorded, bool(options.in_place))
        replayed = replay(golden, order_of_choice(recorded.calls), options.cases, progress)
        accepted = {equivalent.id for equivalent in equivalents.load(task).of(implementation.target)}
        proof = choose(golden, replayed, options.cases, room_of(job), accepted, progress)
        for note in notes(job, recorded, proof):
            tell(note)
        return _store(job, plan, recorded, golden, proof)


def _prepare(job: Job, sandbox: Sandbox, here: Path, progress: Progress, tell: Tell) -> Run:
    """Prepare the sandbox, and lay out the run of the command."""
    where = job.options.where
    # Before anything is built, so that mistakes in the command show at once.
    driver = driver_of(job, here)
    if python := python_in_words(job.task, where):
        tell(f"recording {python}")
    progress("preparing the environment")
    prepare(sandbox, progress)
    in_image, lock = sandbox.name == "docker", files.read_text_or_empty(job.task.lock)
    explain = partial(explain_command, in_image=in_image, python=where.python, lock=lock)
    plan = plan_of(job, driver, explain)
    if plan.uncompiled:
        words = " ".join(f"{name}={value}" for name, value in plan.uncompiled.items())
        tell(f"recording with {words}, as compiled code cannot be watched")
    return plan


def _store(job: Job, plan: Run, recorded: Recorded, golden: Golden, proof: Proof) -> RecordResult:
    """Put the cases and their test in the place of an earlier recording; return what they leave open."""
    task, info, implementation = job.task, job.info, job.implementation
    kept = store.put_aside(task, info, implementation)
    left_out = uncompared(effects_of(golden, recorded))
    function = golden.definition.function
    recording = store.store(
        task, info, implementation, plan, recorded, proof, function, left_out, job.options.unusual
    )
    executed = coverage(recorded.executed | proof.hits, recorded.blocks, recorded.absent)
    not_kept = sorted(set(recording.coverage.missed) - set(executed.missed))
    original = code.Module.parse(staging.read_golden(task, implementation), plan.goal_file).tree
    return RecordResult(
        implementation,
        recording,
        recorded,
        proof,
        kept,
        blocks_at(original, executed.missed),
        blocks_at(original, not_kept),
        executed.never_false,
        left_out,
    )
