"""``record``: drive the golden, choose and prove cases, write recordings and the unit test."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lmr_author import files, replaying, source, staging
from lmr_author.errors import LmrError, TargetError, UsageError
from lmr_author.evaluation.mutants import mutants
from lmr_author.masking import locate
from lmr_author.model import Implementation, Target, TaskInfo
from lmr_author.probe.document import Document
from lmr_author.recorded import SUPPORT, Recording
from lmr_author.recording import checkers, varying
from lmr_author.recording.choose import order_of_choice, unreached
from lmr_author.recording.command import Driver
from lmr_author.recording.command import driver as read_command
from lmr_author.recording.drive import Drive, Recorded, drive, with_made
from lmr_author.recording.drivers import Data, from_data, from_examples, from_inputs, from_tests
from lmr_author.recording.prove import Proof, prove
from lmr_author.recording.specs import documents
from lmr_author.recording.store import install_support, renew_support, store
from lmr_author.sandbox.base import Sandbox
from lmr_author.sandbox.factory import open_sandbox
from lmr_author.taskdir import TaskDir
from lmr_author.testgen.generate import generate
from lmr_author.workflow.env_local import interpreter_for
from lmr_author.workflow.preparing import prepare

Progress = Callable[[str], None]

VARIED = 5
"""Recorded calls that variations are made of."""


@dataclass(frozen=True)
class RecordOptions:
    """How to record.

    Attributes:
        target: as typed; None when the task has a single implementation.
        command: the annotator's command; with ``from_tests``, more words for pytest.
        from_tests: the repository's own tests drive the target.
        examples: calls written out, as Python text, that drive it.
        arguments: ``NAME=SPEC``, from which inputs are made when there is nothing to run.
        data: files that hold arguments.
        checks: ``PATH=KIND``, how parts of the outcome are compared.
        vary: also try variations of the recorded inputs.
        cases: how many cases to keep.
        sandbox, python, base_image: where it runs.
        seconds: time limit of the command.
        max_mb: limit of one recorded call, in MB.
        force: replace an existing recording (the old one is kept in ``authoring/removed/``).
    """

    target: str | None
    command: tuple[str, ...]
    cases: int = 3
    sandbox: str = "local"
    python: Path | None = None
    base_image: str | None = None
    seconds: float = 600.0
    max_mb: float = 8.0
    force: bool = False
    from_tests: bool = False
    examples: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    vary: bool = False
    checks: tuple[str, ...] = ()
    data: Data = field(default_factory=Data)


@dataclass(frozen=True)
class RecordResult:
    """What came of it."""

    implementation: Implementation
    recording: Recording
    proof: Proof
    exit_code: int
    kept: tuple[str, ...]


def record(task: TaskDir, options: RecordOptions, here: Path, progress: Progress) -> RecordResult:
    """Record real calls of a masked function's golden into cases and a unit test.

    Raises:
        TargetError: the target is not masked in this task.
        LmrError: the command never calls it, nothing can be stored, nothing reproduces, or there is a
            recording already and no ``force``.
        SandboxError: the sandbox failed.
    """
    info = task.load()
    implementation = _implementation(task, info, options.target, here)
    folder = task.recording(info, implementation.index)
    # A recording without its test is one whose making was cut short: it is put aside, not defended.
    if folder.exists() and task.unit_test(info, implementation).exists() and not options.force:
        raise LmrError(
            f"{implementation.target} has a recording already ({folder.relative_to(task.root)})",
            "add --force to make it anew; the old one is kept in authoring/removed/",
        )
    _check_source(options)
    described = documents(options.arguments) if options.arguments else []
    python, about = interpreter_for(task, options.sandbox, options.python)
    with (
        files.temporary_folder("lmr-author-record-") as temporary,
        open_sandbox(
            options.sandbox,
            context=task.root,
            name=task.name,
            python=python,
            base_image=options.base_image,
            repo_folder=info.repo_folder_name,
            log=task.logs_folder / "build.log",
        ) as sandbox,
    ):
        work = temporary
        work.chmod(0o755)
        command = None if described else _driver(task, info, implementation, options, here, work)
        progress(about or "preparing the environment")
        prepare(sandbox, progress)
        plan = _plan(task, info, implementation, options, work)
        plan, recorded = _driven(sandbox, plan, command, described, options, progress)
        proof = _prove(sandbox, task, info, plan, recorded, options, work, progress)
        kept = _put_aside(task, info, implementation)
        recording = _store(task, info, implementation, plan, recorded, proof)
    return RecordResult(implementation, recording, proof, recorded.result.exit_code, kept)


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
    for item in info.implementations:
        if (item.goal_file, item.qualname) == (wanted.path, wanted.qualname):
            return item
    raise TargetError(f"{wanted} is not masked in {task.name}", f"masked: {masked}; mask it first")


def _check_source(options: RecordOptions) -> None:
    """One way to drive the target, not two, and checks that can be read. Raises UsageError."""
    checkers.parse(options.checks)
    ways = {
        "a command": bool(options.command) and not options.from_tests,
        "--from-tests": options.from_tests,
        "--from-example": bool(options.examples),
        "--argument": bool(options.arguments),
        "--import": bool(options.data.files),
    }
    given = [name for name, used in ways.items() if used]
    if len(given) > 1:
        raise UsageError(f"the target is to be driven by {' and by '.join(given)}", "choose one of them")


def _driver(
    task: TaskDir,
    info: TaskInfo,
    implementation: Implementation,
    options: RecordOptions,
    here: Path,
    work: Path,
) -> Driver:
    repository = task.repository(info)
    if options.examples:
        return from_examples(implementation, options.examples, work)
    if options.data.files:
        return from_data(implementation, options.data, here, work)
    if options.from_tests:
        return from_tests(implementation, repository, options.command)
    return read_command(options.command, repository, here)


def _plan(
    task: TaskDir,
    info: TaskInfo,
    implementation: Implementation,
    options: RecordOptions,
    work: Path,
) -> Drive:
    """What to record, without what drives it."""
    overlay = staging.original_overlay(task, info)
    golden = source.Module.parse(overlay[implementation.goal_file], implementation.goal_file)
    goal = source.Module.parse(task.goal(info, implementation).read_bytes(), implementation.goal_file)
    pair = source.matching(golden, goal, implementation.qualname)
    if pair is None:
        raise LmrError(
            f"{implementation.target} cannot be told in {implementation.golden_file}",
            "run `lmr-author validate`",
        )
    tree = work / "tree"
    staging.copy_tree(task.repository(info), tree, overlay, with_tests=False)
    return Drive(
        tree=tree,
        inside=staging.tree_path(info),
        goal_file=implementation.goal_file,
        qualname=implementation.qualname,
        line=pair[0].line,
        nth=pair[0].nth if pair[0].siblings > 1 else 0,
        driver=Driver((), (), ()),
        work=work,
        seconds=options.seconds,
        max_bytes=int(options.max_mb * 1024 * 1024),
    )


def _driven(
    sandbox: Sandbox,
    plan: Drive,
    command: Driver | None,
    described: Sequence[Document],
    options: RecordOptions,
    progress: Progress,
) -> tuple[Drive, Recorded]:
    """Run what drives the target, and then variations of what was recorded."""
    parameters = varying.parameters_of(_function(plan))
    if command is None:
        progress("calling it with the arguments described")
        shown = [word for text in options.arguments for word in ("--argument", text)]
        inputs = [*described, *varying.variations(described, parameters)]
        plan = replace(plan, driver=from_inputs(inputs, shown, plan, plan.work, {}))
        return plan, drive(sandbox, plan)
    progress("running the command")
    plan = replace(plan, driver=command)
    recorded = drive(sandbox, plan)
    if not options.vary:
        return plan, recorded
    progress("calling it with variations of the recorded inputs")
    best = order_of_choice(recorded.calls)[:VARIED]
    bases = [replaying.load_document(call.folder, "inputs") for call in best]
    work = plan.work / "varied"
    work.mkdir()
    work.chmod(0o755)
    driver = from_inputs(varying.variations(bases, parameters), ("--vary",), plan, work, recorded.summary)
    return plan, with_made(recorded, drive(sandbox, replace(plan, driver=driver, work=work)))


def _function(plan: Drive) -> ast.FunctionDef | ast.AsyncFunctionDef:
    module = source.Module.parse((plan.tree / plan.goal_file).read_bytes(), plan.goal_file)
    found = source.find(module, Target(plan.goal_file, plan.qualname, nth=plan.nth or None)).node
    if isinstance(found, ast.ClassDef):
        raise TargetError(f"{plan.qualname} is a class", "record its methods one by one")
    return found


def _prove(
    sandbox: Sandbox,
    task: TaskDir,
    info: TaskInfo,
    plan: Drive,
    recorded: Recorded,
    options: RecordOptions,
    work: Path,
    progress: Progress,
) -> Proof:
    """Replay on a tree that the recorded run has not touched."""
    clean = work / "clean"
    overlay = staging.golden_overlay(task, info)
    staging.copy_tree(task.repository(info), clean, overlay, with_tests=False)
    golden = source.Module.parse(overlay[plan.goal_file], plan.goal_file)
    definition = source.find(golden, Target(plan.goal_file, plan.qualname, nth=plan.nth or None))
    module = recorded.summary.get("module")
    sys_path: Sequence[str] = recorded.summary.get("sys_path") or [""]
    replay_plan = replaying.Plan(
        goal_file=plan.goal_file,
        qualname=plan.qualname,
        line=definition.line,
        module=module if isinstance(module, str) and module != "__main__" else None,
        sys_path=tuple(sys_path),
        recording=work,
        cases=(),
        preload=tuple(name for name in replaying.HEAVY if name in recorded.summary),
    )

    def rivals(most: int) -> list[replaying.Variant]:
        return [
            replaying.Variant(item.id, item.data, definition.line)
            for item in mutants(golden, definition, most)
        ]

    return prove(
        sandbox,
        recorded.calls,
        options.cases,
        replay_plan,
        clean,
        plan.inside,
        work,
        progress,
        rivals,
        checkers.parse(options.checks),
    )


def _put_aside(task: TaskDir, info: TaskInfo, implementation: Implementation) -> tuple[str, ...]:
    """Move an earlier recording and test to ``authoring/removed/``; nothing is overwritten."""
    return tuple(
        task.put_aside(path)
        for path in (task.recording(info, implementation.index), task.unit_test(info, implementation))
        if path.exists()
    )


def _store(
    task: TaskDir,
    info: TaskInfo,
    implementation: Implementation,
    plan: Drive,
    recorded: Recorded,
    proof: Proof,
) -> Recording:
    support = install_support(task.unit_test_folder(info) / SUPPORT)
    calls = [item.call for item in proof.chosen]
    missed = unreached(calls, recorded.blocks)
    lines = tuple(sorted(set(recorded.blocks.values()) - set(missed)))
    folder = task.recording(info, implementation.index)
    recording = store(folder, plan, recorded, proof.chosen, proof.versions, lines, missed, support)
    renew_support(folder.parent, support)
    text = generate(implementation, recording, plan.nth)
    files.write_text(task.unit_test(info, implementation), text)
    return recording
