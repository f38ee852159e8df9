"""Record a masked function: drive the golden, choose and prove cases, write the recording and its unit test."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

from lmr_author.authoring.masking import locate
from lmr_author.authoring.recording import checkers, failed, store
from lmr_author.authoring.recording.calls import MOST_BYTES, RecordedCall, Room, coverage
from lmr_author.authoring.recording.draft_driver import Drafted, draft_driver
from lmr_author.authoring.recording.drivers import Driver, from_examples, from_tests, read_command, switches
from lmr_author.authoring.recording.prove import Proof, prove
from lmr_author.authoring.recording.run import Recorded, Run, begin, calls_left, forget, read, run, words_of
from lmr_author.authoring.recording.tolerance import Widened
from lmr_author.authoring.recording.uncompared import Kind, Uncompared, uncompared, with_changed_grads
from lmr_author.authoring.recording.versions import Golden
from lmr_author.core import code, files
from lmr_author.core.errors import LmrError, TargetError, UsageError
from lmr_author.core.locks import changes_task
from lmr_author.core.task import UNIT_TEST, Implementation, Progress, Target, Task, TaskInfo, equivalents
from lmr_author.core.task.recording import Recording, load
from lmr_author.core.texts import listed
from lmr_author.runtime.environment.build import prepare
from lmr_author.runtime.environment.failures import explain_command
from lmr_author.runtime.environment.where import HERE, Where, python_in_words
from lmr_author.runtime.probe.calling import GLOBAL, GRADIENTS, VALUE
from lmr_author.runtime.probe.document import walk
from lmr_author.runtime.replay import replaying, staging
from lmr_author.runtime.sandbox.base import ExecResult, Sandbox

__all__ = ["NO_GRADIENTS", "RecordOptions", "RecordResult", "record"]

OFFER_GRADIENTS = (
    "note: the inputs require gradients, and no case compares them: a version that detaches something passes; "
    "record again with --gradients --force where training depends on it"
)
NO_GRADIENTS = "note: --gradients: no case has any, as no input is a tensor of PyTorch that requires one"

Agree = Callable[[Sequence[Widened]], bool]
"""Asks a person whether tolerances wider than usual are right."""
AskInPlace = Callable[[Sequence[str]], bool]
"""Asks a person whether implementations have to change some arguments as the golden does."""
_DETACHES = re.compile(r"\.detach\(|\bno_grad\b|\.data\b|stop_gradient|inference_mode|requires_grad_\(")
Tell = Callable[[str], None]
"""Shows a line to the annotator."""


@dataclass(frozen=True)
class RecordOptions:
    """Options of ``record``.

    Attributes:
        target: as typed; None when the task has a single implementation.
        command: the annotator's command; with ``from_tests``, more words for pytest.
        cases: how many cases to keep.
        where: the sandbox.
        seconds: time limit of the command.
        max_mb: limit of one recorded call, in MB.
        max_total_mb: limit of all cases of the task together, in MB.
        gradients: compare gradients with respect to the inputs too; where the golden detaches, they are in any case.
        in_place: an implementation has to change the arguments that the golden changes, ``.grad`` of tensors included;
            None to ask, or else not.
        files: an implementation has to write the files that the golden writes.
        force: replace an existing recording (the old one is kept in ``authoring/removed/``), or the calls of an
            interrupted run.
        from_tests: the repository's own tests drive the target.
        examples: calls written out, as Python text, that drive it.
        cuda_as_cpu: run code that insists on a GPU on the CPU.
        checks: ``PATH=KIND``, how parts of the outcome are compared.
        words: what follows ``lmr-author record``, by which an interrupted run is resumed.
    """

    target: str | None
    command: tuple[str, ...]
    cases: int = 3
    where: Where = HERE
    seconds: float = 600.0
    max_mb: float = 8.0
    max_total_mb: float = MOST_BYTES / 2**20
    gradients: bool = False
    in_place: bool | None = None
    files: bool = False
    force: bool = False
    from_tests: bool = False
    examples: tuple[str, ...] = ()
    cuda_as_cpu: bool = False
    checks: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def unusual(self) -> dict[str, object]:
        """Those that decide what is recorded and how it is compared, where they are not as usual."""
        names = ("cases", "seconds", "max_mb", "max_total_mb", "gradients", "in_place", "files", "checks")
        usual = {one.name: one.default for one in fields(self)}
        return {name: getattr(self, name) for name in names if getattr(self, name) != usual[name]}


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


@dataclass(frozen=True)
class Job:
    """One recording: what is recorded, with what options, in which folder of ours."""

    task: Task
    info: TaskInfo
    implementation: Implementation
    options: RecordOptions
    helpers: checkers.Helpers
    work: Path


@changes_task
def record(
    task: Task,
    options: RecordOptions,
    here: Path,
    progress: Progress,
    agree: Agree | None = None,
    tell: Tell = lambda line: None,
    ask_in_place: AskInPlace = lambda names: False,
) -> RecordResult:
    """Record real calls of a masked function's golden into cases and a unit test.

    Args:
        here: the current folder, from which scripts and files are named.
        agree: asked about tolerances that had to be widened; None to take them.
        tell: shows the Python that runs the command, where nobody named one, and notes.
        ask_in_place: asked where the golden changes arguments, and returns something.

    Raises:
        TargetError: the target is not masked in this task.
        UsageError: the options contradict one another, or name what is not there.
        LmrError: the command never calls it, nothing can be stored, or nothing reproduces.
        SandboxError: the sandbox failed.
    """
    info = task.load()
    implementation = implementation_of(task, info, options.target, here)
    own = _check(task, info, implementation, options)
    files.require_writable(task.recording(info, implementation.index))
    with (
        files.temporary_folder("lmr-author-record-") as work,
        options.where.sandbox(task, info) as sandbox,
    ):
        work.chmod(0o755)
        job = Job(task, info, implementation, options, own, work)
        driver = driver_of(
            job, here
        )  # before anything is built, so that mistakes in the command show at once
        if python := python_in_words(task, options.where):
            tell(f"recording {python}")
        progress("preparing the environment")
        prepare(sandbox, progress)
        plan = plan_of(
            job,
            driver,
            partial(explain_command, in_image=sandbox.name == "docker", python=options.where.python),
        )
        if plan.uncompiled:
            words = " ".join(f"{name}={value}" for name, value in plan.uncompiled.items())
            tell(f"recording with {words}, as compiled code cannot be watched")
        folder, kept = task.run_folder(implementation.index), False
        try:
            return _recorded(job, plan, sandbox, progress, agree, tell, ask_in_place)
        except KeyboardInterrupt:
            kept = not options.force and bool(words_of(folder))
            raise
        finally:
            if not kept:
                forget(folder)


def draft(task: Task, target: str | None, here: Path, path: Path, named: Sequence[str] = ()) -> Drafted:
    """Draft a driver of a masked function from its golden and the repository.

    Args:
        path: the script that it will be.
        named: options that name the task, for the command in the script.

    Raises:
        TargetError: the target is not masked in this task.
    """
    info = task.load()
    implementation = implementation_of(task, info, target, here)
    golden = code.Module.parse(staging.read_golden(task, implementation), implementation.goal_file)
    definition = code.find(golden, implementation.target)
    command = shlex.join(
        ["lmr-author", "record", str(implementation.target), *named, "--", "python", str(path)]
    )
    return draft_driver(task.repository(info), golden, definition, command)


def _check(
    task: Task, info: TaskInfo, implementation: Implementation, options: RecordOptions
) -> checkers.Helpers:
    """Return the annotator's own checkers and fixtures. Raises LmrError where something is not ready to record."""
    folder = task.recording(info, implementation.index)
    # A recording without its test is one whose making was cut short: it is put aside, not defended.
    if folder.exists() and task.unit_test(info, implementation).exists() and not options.force:
        raise LmrError(
            f"{implementation.target} has a recording already ({folder.relative_to(task.root)})",
            "add --force to make it anew; the old one is kept in authoring/removed/",
        )
    ways = {
        "a command": bool(options.command) and not options.from_tests,
        "--from-tests": options.from_tests,
        "--from-example": bool(options.examples),
    }
    given = [name for name, used in ways.items() if used]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} both drive the target", "choose one of them")
    own = checkers.read_helpers(task.unit_test_folder(info))
    checks = checkers.parse(options.checks)
    checkers.check_functions(checks, own)
    return own


def driver_of(job: Job, here: Path) -> Driver:
    options, repository = job.options, job.task.repository(job.info)
    if options.examples:
        return from_examples(job.implementation, options.examples, job.work, job.helpers.fixtures)
    if options.from_tests:
        return from_tests(job.implementation, repository, options.command)
    return read_command(options.command, repository, here)


def plan_of(job: Job, driver: Driver, explain: failed.Explain) -> Run:
    """Lay out the golden tree to run in. Raises LmrError: the target is not in its golden."""
    task, info, implementation = job.task, job.info, job.implementation
    overlay = staging.original_overlay(task, info)
    golden = code.Module.parse(overlay[implementation.goal_file], implementation.goal_file)
    goal = code.Module.parse(task.goal(info, implementation).read_bytes(), implementation.goal_file)
    pair = code.matching(golden, goal, implementation.qualname, implementation.nth)
    if pair is None:
        raise LmrError(
            f"{implementation.target} cannot be identified in {implementation.golden_file}",
            "run `lmr-author validate`",
        )
    tree = job.work / "tree"
    staging.copy_tree(task.repository(info), tree, overlay, with_tests=False)
    if job.helpers.fixtures is not None:  # so that the driver can build the same objects
        staging.copy_fixtures(job.helpers.fixtures, tree / UNIT_TEST)
    return Run(
        tree=tree,
        inside=staging.tree_path(info),
        goal_file=implementation.goal_file,
        qualname=implementation.qualname,
        line=pair[0].line,
        nth=pair[0].nth if pair[0].siblings > 1 else 0,
        driver=driver,
        work=job.work,
        seconds=job.options.seconds,
        max_bytes=int(job.options.max_mb * 1024 * 1024),
        helpers=job.helpers,
        gradients=job.options.gradients or bool(_DETACHES.search(ast.unparse(pair[0].function))),
        files=job.options.files,
        globals=code.set_at_run_time(golden.tree, pair[0].function),
        cuda_as_cpu=job.options.cuda_as_cpu,
        uncompiled=switches(golden.tree, pair[0].function),
        explain=explain,
    )


def _recorded(
    job: Job,
    plan: Run,
    sandbox: Sandbox,
    progress: Progress,
    agree: Agree | None,
    tell: Tell,
    ask_in_place: AskInPlace,
) -> RecordResult:
    """Run the plan in a prepared sandbox, prove what it records, and store that."""
    task, info, implementation = job.task, job.info, job.implementation
    recorded = _calls(job, plan, sandbox, progress, tell)
    golden = golden_of(job, plan, sandbox, recorded, ask_in_place)
    accepted = {one.id for one in equivalents.load(task).of(implementation.target)}
    proof = prove(golden, recorded.calls, job.options.cases, room_of(job), accepted, progress)
    wide = {part.path: part for call in proof.chosen for part in call.wide}
    if wide and agree is not None and not agree(list(wide.values())):
        raise LmrError(
            "nothing was recorded: the tolerances were not agreed to",
            f"say which are right, as in {checkers.check_option(next(iter(wide)), 'allclose:1e-6,1e-6')}",
        )
    if recorded.fatal:
        tell(
            f"call {recorded.fatal} is left out: the command died of what it raised (if it is meant, catch it)"
        )
    for note in _notes(job, proof):
        tell(note)
    kept = store.put_aside(task, info, implementation)
    left_out = uncompared(effects_of(golden, proof, recorded))
    recording = store.store(
        task, info, implementation, plan, recorded, proof, golden.definition.function, left_out,
        job.options.unusual,
    )  # fmt: skip
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


def effects_of(golden: Golden, proof: Proof, recorded: Recorded) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield what the golden does that no case compares, by the kind of the effect."""
    for call in recorded.calls:
        yield from call.uncompared.items()
        yield Kind.ARGUMENTS, [name for name in golden.ignored if name in call.changed]
        yield Kind.GRADS, [] if golden.grads else call.grads
    for call in () if golden.grads else proof.chosen:
        inputs = replaying.load_document(call.folder, "inputs")
        expected = replaying.load_document(call.folder, "expected")
        yield Kind.GRADS, with_changed_grads(inputs, expected, call.changed)


def _calls(job: Job, plan: Run, sandbox: Sandbox, progress: Progress, tell: Tell) -> Recorded:
    """Run the command, or use the calls of the same command's interrupted run."""
    folder = job.task.run_folder(job.implementation.index)
    left = None if job.options.force else calls_left(folder, plan)
    if left is not None:
        tell("using the calls of this command's interrupted run (--force runs it again)")
        return read(left, ExecResult(0, b"", b"", 0.0))
    progress("running the command")
    return run(sandbox, plan, begin(folder, plan, job.options.words))


def golden_of(job: Job, plan: Run, sandbox: Sandbox, recorded: Recorded, ask_in_place: AskInPlace) -> Golden:
    """Lay out a golden tree that the recorded run has not touched, and decide which changes count."""
    overlay = staging.golden_overlay(job.task, job.info)
    module = code.Module.parse(overlay[plan.goal_file], plan.goal_file)
    definition = code.find(module, Target(plan.goal_file, plan.qualname, nth=plan.nth or None))
    method = bool(definition.class_name) and "." not in definition.function_name
    by_the_way = checkers.changes_by_the_way(definition.function, method, recorded.calls)
    arguments = [name for name in by_the_way if not (method and name == by_the_way[0])]
    grads = checkers.changes_grads(definition.function, recorded.calls)
    only_grads = {name for call in recorded.calls for name in call.grads} if not grads else set()
    asked = [*arguments, *(f".grad of {name}" for name in sorted(only_grads))]
    in_place = job.options.in_place
    if in_place or (in_place is None and asked and ask_in_place(asked)):
        by_the_way, grads = (), True
    clean, cases = job.work / "clean", job.work / "cases"
    cases.mkdir()
    staging.copy_tree(job.task.repository(job.info), clean, overlay, with_tests=False)
    replay_plan = replaying.ReplayPlan(
        goal_file=plan.goal_file,
        qualname=plan.qualname,
        line=definition.line,
        module=recorded.module,
        sys_path=recorded.sys_path,
        recording=cases,
        cases=(),
        preload=tuple(name for name in replaying.HEAVY if name in recorded.summary),
        cuda_as_cpu=plan.cuda_as_cpu,
    )
    checks = checkers.parse(job.options.checks)
    return Golden(
        sandbox, replay_plan, clean, plan.inside, module, definition, job.helpers, checks, by_the_way, grads
    )


def room_of(job: Job) -> Room:
    """Return the space that the recordings of the task's other functions leave."""
    others = [other for other in job.info.implementations if other.index != job.implementation.index]
    taken = {}
    for other in others:
        recording = load(job.task.recording(job.info, other.index))
        if recording:
            taken[str(other.target)] = sum(case.bytes for case in recording.cases)
    return Room(int(job.options.max_total_mb * 2**20), taken)


def _notes(job: Job, proof: Proof) -> Iterator[str]:
    """Yield what an annotator should know of the chosen cases: gradients, and globals that they set."""
    compared = any(GRADIENTS in path for call in proof.chosen for path in call.checkers)
    if job.options.gradients and not compared:
        yield NO_GRADIENTS
    elif not compared and any(map(_requires_gradients, proof.chosen)):
        yield OFFER_GRADIENTS
    trees = [replaying.load_document(call.folder, "inputs").tree for call in proof.chosen]
    names = {name.removeprefix(GLOBAL) for tree in trees for name in tree if name.startswith(GLOBAL)}
    if names:
        yield f"each case sets {listed(sorted(names), 6)}, which importing {job.implementation.goal_file} does not"


def _requires_gradients(call: RecordedCall) -> bool:
    """Tell whether something that was returned can be differentiated with respect to an input."""
    expected = replaying.load_document(call.folder, "expected")
    nodes = (node for path, node in walk(expected.tree) if path.startswith(VALUE))
    return any(isinstance(node, dict) and "requires_grad" in node for node in nodes) and any(
        trait.kind == "grad" for trait in call.traits
    )


def blocks_at(tree: ast.Module, lines: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the first and last lines of blocks by their first lines, without those inside another."""
    blocks: list[tuple[int, int]] = []
    for line in lines:
        if not blocks or line > blocks[-1][1]:
            blocks.append((line, code.block_end(tree, line)))
    return tuple(blocks)


def implementation_of(task: Task, info: TaskInfo, target: str | None, here: Path) -> Implementation:
    """Return the masked function that a target names. Raises TargetError for none and for several."""
    meant = list(info.implementations)
    if not meant:
        raise TargetError(
            f"nothing is masked in {task.name}", "mask a function first: lmr-author mask FILE::FUNCTION"
        )
    several = "several functions are masked"
    if target is not None:
        masked = "; ".join(str(implementation.target) for implementation in meant)
        wanted = locate.locate(task.repository(info), target, here)
        name = (wanted.path, wanted.qualname)
        named = [each for each in meant if (each.goal_file, each.qualname) == name]
        meant = locate.meant(task.repository(info), wanted, named)
        if not meant:
            raise TargetError(f"{wanted} is not masked in {task.name}", f"masked: {masked}; mask it first")
        several = f"{wanted} is masked {len(meant)} times in {task.name}"
    if len(meant) > 1:
        raise TargetError(several, f"name one: {' or '.join(str(each.target) for each in meant)}")
    return meant[0]
