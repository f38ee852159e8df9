"""Record a masked function: run the golden, replay its calls, choose cases, store them with a unit test."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from lmr_author.authoring.recording import store
from lmr_author.authoring.recording.checkers import nodes
from lmr_author.authoring.recording.choose import SelectedCases, choose
from lmr_author.authoring.recording.compared import ComparedPart, compared_parts
from lmr_author.authoring.recording.driver import switches
from lmr_author.authoring.recording.explored import NO_VERSIONS, KnownVersions
from lmr_author.authoring.recording.job import (
    RecordJob,
    implementation_of,
    job_of,
    require_unrecorded,
)
from lmr_author.authoring.recording.options import RecordOptions
from lmr_author.authoring.recording.replay import GoldenRunner, golden_runner
from lmr_author.authoring.recording.run import RecordedCall, RecordedRun, run
from lmr_author.core import code, files
from lmr_author.core.errors import Hint, Setting
from lmr_author.core.locks import changes_task
from lmr_author.core.task import Implementation, Progress, Task, equivalents
from lmr_author.core.task.mutation import MutationScore
from lmr_author.core.task.provenance import Provenance
from lmr_author.core.task.recording import Recording
from lmr_author.core.texts import listed
from lmr_author.runtime.environment.failures import explain_command
from lmr_author.runtime.environment.where import HERE, Where, prepare, python_in_words, python_of
from lmr_author.runtime.probe.calling import GLOBAL, GRADIENTS, VALUE
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.sandbox.base import Sandbox

__all__ = ["RecordOptions", "RecordResult", "record"]

Tell = Callable[[Hint], None]
"""Shows a line to the annotator."""


_GRADIENTS = Setting("--compare gradients", ("true",), "--compare gradients")
_ARGUMENTS = Setting("--compare arguments", ("true",), "--compare arguments")
OFFER_GRADIENTS = Hint(
    "note: the inputs require gradients, and no case compares them: a version that detaches something passes; "
    "record again with {0} where training depends on it",
    (replace(_GRADIENTS, typed="--compare gradients --force"),),
)
NO_GRADIENTS = Hint(
    "note: {0}: no case has any, as no input is a tensor of PyTorch that requires one", (_GRADIENTS,)
)
DRAWS = (
    "note: the function draws random numbers ({}): a correct version passes only where it draws the same ones in the "
    "same order, so the instruction has to say how they are drawn"
)

MOST_NAMED = 3
"""Names of one kind that are listed in a text."""


class EffectKind(StrEnum):
    PARTS = "parts"
    ARGUMENTS = "arguments"
    GRADS = "grads"


EFFECTS = {
    EffectKind.PARTS: (
        "parts of the outcome that cannot be stored: {}",
        Hint("return something that can be stored, or mask a function that does"),
    ),
    EffectKind.ARGUMENTS: (
        "arguments that the call also changes: {}",
        Hint("{0} compares them", (_ARGUMENTS,)),
    ),
    EffectKind.GRADS: (
        ".grad of tensors in {}, which the call changes",
        Hint("{0} compares it", (_ARGUMENTS,)),
    ),
}
"""Text of each kind of effect, and how to have it compared."""


@dataclass(frozen=True)
class UncomparedEffect:
    """An effect of the golden that is not compared, and the parts of the result or arguments that have it."""

    kind: EffectKind
    names: tuple[str, ...]

    @property
    def text(self) -> str:
        return EFFECTS[self.kind][0].format(listed(self.names, MOST_NAMED))

    @property
    def advice(self) -> Hint:
        return EFFECTS[self.kind][1]


def uncompared(golden: GoldenRunner, recorded: RecordedRun) -> tuple[UncomparedEffect, ...]:
    """Return what the golden does that no case compares, by the kind of the effect, each name once."""
    by_kind: dict[EffectKind, dict[str, None]] = {}
    for call in recorded.calls:
        ignored = [name for name in call.changed if name in golden.ignored]
        grads = () if golden.grads else call.grads
        effects = {**call.uncompared, EffectKind.ARGUMENTS: ignored, EffectKind.GRADS: grads}
        for kind, names in effects.items():
            if names:
                by_kind.setdefault(EffectKind(kind), {}).update(dict.fromkeys(names))
    return tuple(UncomparedEffect(kind, tuple(names)) for kind, names in sorted(by_kind.items()))


@dataclass(frozen=True)
class RecordResult:
    """A recording, and what it leaves open.

    Attributes:
        removed: earlier files that were moved to ``authoring/removed/``.
        missed, not_kept: first and last lines of blocks that no call executed, or only calls that are no cases.
        never_false: lines of conditions that held whenever a call reached them.
        accepted: ids of survivors that a person accepted as equivalent.
        weak: parts that the annotator left out, or gave a tolerance far from their element type's own.
    """

    implementation: Implementation
    recording: Recording
    recorded: RecordedRun
    selected: SelectedCases
    removed: tuple[str, ...]
    missed: tuple[tuple[int, int], ...] = ()
    not_kept: tuple[tuple[int, int], ...] = ()
    never_false: tuple[int, ...] = ()
    uncompared: tuple[UncomparedEffect, ...] = ()
    accepted: frozenset[str] = frozenset()
    weak: tuple[ComparedPart, ...] = ()

    @property
    def mutants(self) -> MutationScore:
        selected = self.selected
        killed = selected.tried - len(selected.survivors)
        return MutationScore(selected.tried, killed, len(self.accepted), selected.made - selected.tried)


@changes_task
def record(
    task: Task,
    target: str | None,
    options: RecordOptions,
    here: Path,
    progress: Progress,
    tell: Tell = lambda note: None,
    known: KnownVersions = NO_VERSIONS,
    *,
    where: Where = HERE,
    force: bool = False,
) -> RecordResult:
    """Record real calls of a masked function's golden into cases and a unit test.

    Args:
        target: as typed; None when the task has a single implementation.
        here: the current folder, from which scripts and files are named.
        tell: shows the Python that runs the command, where nobody named one, and notes.
        known: right and wrong versions by which cases are chosen, too.
        where: the sandbox.
        force: replace an existing recording (the old one is kept in ``authoring/removed/``).

    Raises:
        TargetError: the target is not masked in this task.
        UsageError: the options contradict one another, or name what is not there.
        LmrError: the command never calls it, nothing can be stored, or nothing reproduces.
        SandboxError: the sandbox failed.
    """
    info = task.load()
    implementation = implementation_of(task, info, target, here)
    if not force:
        require_unrecorded(task, info, implementation)
    files.require_writable(task.recording(info, implementation.index))
    with files.temporary_folder("lmr-author-record-") as work, where.sandbox(task, info) as sandbox:
        work.chmod(0o755)
        # Before anything is built, so that mistakes in the command show at once.
        job = job_of(task, info, implementation, options, here, work)
        job = _in_environment(job, where, sandbox, progress, tell)

        progress("running the command")
        recorded = run(sandbox, job)
        golden = golden_runner(job, sandbox, recorded, bool(options.in_place))
        selected = choose(golden, job, recorded, known, progress)
        for note in notes(job, recorded, selected):
            tell(note)
        result = _store(job, recorded, golden, selected)
        _remember_driver(job)
        return result


def _in_environment(
    job: RecordJob, where: Where, sandbox: Sandbox, progress: Progress, tell: Tell
) -> RecordJob:
    python = python_of(job.task, where)
    if words := python_in_words(python, where):
        tell(Hint(f"recording {words}"))
    progress("preparing the environment")
    prepare(sandbox, progress)
    if variables := switches(job.definition.function):
        words = " ".join(f"{name}={value}" for name, value in variables.items())
        tell(Hint(f"recording with {words}, as compiled code cannot be watched"))
    in_image, lock = sandbox.name == "docker", files.read_text_or_empty(job.task.lock)
    made_by = python.environment.made_by if python.environment else ()
    explain = partial(explain_command, in_image=in_image, python=where.python, lock=lock, made_by=made_by)
    return replace(job, explain=explain)


def _remember_driver(job: RecordJob) -> None:
    """Store where a script outside of the repository lies, for ``challenge``; nothing in a task without provenance."""
    task, driver = job.task, job.driver
    origin = Provenance.read_if_valid(task.provenance_path)
    if origin is not None and job.options.command and driver.mounts:
        source = driver.mounts[0].source
        folder = source.parent if source.is_file() else source
        place = Path(os.path.relpath(folder, task.root.resolve())).as_posix()
        drivers = {**origin.drivers, Path(driver.arguments[0]).name: place}
        replace(origin, drivers=drivers).write(task.provenance_path)


def _store(
    job: RecordJob, recorded: RecordedRun, golden: GoldenRunner, selected: SelectedCases
) -> RecordResult:
    removed = store.move_to_removed(job)
    left_out = uncompared(golden, recorded)
    recording = store.store(job, recorded, selected, [effect.text for effect in left_out])
    executed = recorded.coverage(recorded.executed | selected.hits)
    not_kept = sorted(set(recording.coverage.missed) - set(executed.missed))
    original = job.module.tree
    accepted = equivalents.valid_changes(job.task)
    parts = compared_parts(job.recording_folder, recording)
    return RecordResult(
        job.implementation,
        recording,
        recorded,
        selected,
        removed,
        blocks_at(original, executed.missed),
        blocks_at(original, not_kept),
        executed.never_false,
        left_out,
        frozenset(one.id for one in selected.survivors if accepted.get(one.id) == one.diff),
        tuple(part for part in parts if part.is_weak and not part.reason),
    )


def notes(job: RecordJob, recorded: RecordedRun, selected: SelectedCases) -> Iterator[Hint]:
    """Yield notes on the chosen cases: a call left out, gradients, random numbers, and globals that they set."""
    if recorded.fatal:
        yield Hint(
            f"call {recorded.fatal} is left out: the command died of what it raised (if it is meant, catch it)"
        )
    compared = any(GRADIENTS in path for call in selected.calls for path in call.checkers)
    if job.options.gradients and not compared:
        yield NO_GRADIENTS
    elif not compared and any(map(_is_differentiable, selected.calls)):
        yield OFFER_GRADIENTS
    generators = {trait.value for call in selected.calls for trait in call.traits if trait.kind == "random"}
    if generators:
        yield Hint(DRAWS.format(", ".join(sorted(generators))))
    names = set()
    for call in selected.calls:
        for name in replaying.load_document(call.folder, "inputs").tree:
            if name.startswith(GLOBAL):
                names.add(name.removeprefix(GLOBAL))
    if names:
        yield Hint(
            f"each case sets {listed(sorted(names), 6)}, which importing {job.implementation.goal_file} does not"
        )


def _is_differentiable(call: RecordedCall) -> bool:
    if not any(trait.kind == "grad" for trait in call.traits):
        return False
    expected = replaying.load_document(call.folder, "expected")
    return any(path.startswith(VALUE) and "requires_grad" in node for path, node in nodes(expected.tree))


def blocks_at(tree: ast.Module, lines: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the first and last lines of blocks by their first lines, without those inside another."""
    blocks: list[tuple[int, int]] = []
    for line in lines:
        if not blocks or line > blocks[-1][1]:
            blocks.append((line, code.block_end(tree, line)))
    return tuple(blocks)
