"""Record a masked function: run the golden, replay its calls, choose cases, store them with a unit test."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from lmr_author.authoring.recording import store
from lmr_author.authoring.recording.checkers import (
    ComparedPart,
    checker_of,
    compared_parts,
    fixture_drafts,
    nodes,
)
from lmr_author.authoring.recording.driver import RecordOptions, switches
from lmr_author.authoring.recording.explored import NO_VERSIONS, KnownVersions
from lmr_author.authoring.recording.job import (
    RecordJob,
    implementation_of,
    job_of,
    last_error,
    require_unrecorded,
)
from lmr_author.authoring.recording.replay import GoldenRunner, golden_runner
from lmr_author.authoring.recording.run import RecordedCall, RecordedRun, run
from lmr_author.authoring.recording.selection import SelectedCases, choose
from lmr_author.authoring.recording.tolerance import WIDENED
from lmr_author.core import code, files
from lmr_author.core.errors import Hint, Setting
from lmr_author.core.locks import changes_task
from lmr_author.core.task import Implementation, Progress, Task, equivalents
from lmr_author.core.task.mutation import MutationScore
from lmr_author.core.task.provenance import Provenance
from lmr_author.core.task.recording import Case, Recording
from lmr_author.core.texts import counted, listed, shortened
from lmr_author.runtime.environment.failures import explain_command
from lmr_author.runtime.environment.where import HERE, Where, prepare, python_in_words, python_of
from lmr_author.runtime.probe.calling import GLOBAL, GRADIENTS, VALUE
from lmr_author.runtime.probe.outcome import as_written
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.sandbox.base import Sandbox

__all__ = ["RecordOptions", "RecordResult", "record"]

Tell = Callable[[Hint], None]
"""Shows a line to the annotator."""


_GRADIENTS = Setting("--compare gradients", ("true",), "--compare gradients")
_ARGUMENTS = Setting("--compare arguments", ("true",), "--compare arguments")
OFFER_GRADIENTS = Hint(
    "note: the result requires gradients, but no case compares them, so a version that detaches a part of it passes; "
    "if training depends on them, record again with {0}",
    (replace(_GRADIENTS, typed="--compare gradients --force"),),
)
NO_GRADIENTS = Hint(
    "note: {0} compares nothing, because no input is a PyTorch tensor that requires a gradient", (_GRADIENTS,)
)
DELETES = (
    "note: the original deletes {}, so a version that keeps it, or sets it to None, fails; unless the instruction asks "
    "for that, record again with {{0}}"
)
UNEXPLORED = Hint(
    "no generated calls: the original raises on more than a tenth of them, is too slow, or gives no sure result; "
    "only the driver's calls become cases"
)
DRAWS = (
    "note: the function draws random numbers ({}): a correct version passes only if it draws the same ones in the "
    "same order, so the instruction must say how to draw them"
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
        for note in _notes_on(job, recorded, selected):
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
        tell(Hint(f"recording with {words}, as compiled code cannot be traced"))
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


def _notes_on(job: RecordJob, recorded: RecordedRun, selected: SelectedCases) -> Iterator[Hint]:
    """Yield notes on the chosen cases: a call left out, gradients, random numbers, and globals that they set."""
    if recorded.fatal:
        yield Hint(
            f"call {recorded.fatal} is left out: its exception ended the command (if it is intended, catch it)"
        )
    if selected.unexplored:
        yield UNEXPLORED
    compared = any(GRADIENTS in path for call in selected.calls for path in call.checkers)
    if job.options.gradients and not compared:
        yield NO_GRADIENTS
    elif not compared and any(map(_is_differentiable, selected.calls)):
        yield OFFER_GRADIENTS
    generators = {trait.value for call in selected.calls for trait in call.traits if trait.kind == "random"}
    if generators:
        yield Hint(DRAWS.format(", ".join(sorted(generators))))
    names, deleted = set[str](), set[str]()
    for call in selected.calls:
        inputs = replaying.load_document(call.folder, "inputs").tree
        names.update(name.removeprefix(GLOBAL) for name in inputs if name.startswith(GLOBAL))
        deleted.update(_deleted(call, inputs))
    if deleted:
        first = min(deleted)
        again = Setting("--check", (), f"--check {first}=ignore --force")
        yield Hint(DELETES.format(listed(sorted(deleted), 3)), (again,))
    if names:
        goal_file = job.implementation.goal_file
        yield Hint(f"cases set {listed(sorted(names), 6)} as your driver did: importing {goal_file} does not")


def _deleted(call: RecordedCall, before: Mapping[str, Any]) -> list[str]:
    """Return the attributes of arguments that the golden deletes and cases compare; ``before``: the call's inputs."""
    after = replaying.load_document(call.folder, "expected").tree
    paths = []
    for name in before.keys() & after.keys():
        if all(isinstance(node, dict) and "state" in node for node in (before[name], after[name])):
            gone = before[name]["state"].keys() - after[name]["state"].keys()
            paths += [f"{name}.{attribute}" for attribute in gone]
    return [path for path in paths if checker_of(path, call.checkers).get("kind") != "ignore"]


def _is_differentiable(call: RecordedCall) -> bool:
    expected = replaying.load_document(call.folder, "expected")
    return any(path.startswith(VALUE) and "requires_grad" in node for path, node in nodes(expected.tree))


def blocks_at(tree: ast.Module, lines: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the first and last lines of blocks by their first lines, without those inside another."""
    blocks: list[tuple[int, int]] = []
    for line in lines:
        if not blocks or line > blocks[-1][1]:
            blocks.append((line, code.block_end(tree, line)))
    return tuple(blocks)


MOST = 3
"""Notes of one kind."""


def notes(result: RecordResult) -> Iterator[Hint]:
    yield from map(Hint, not_stored(result.recording.cases))
    yield from lost_calls(result)
    yield from remarks(result)


def remarks(result: RecordResult) -> Iterator[Hint]:
    recording, selected, run = result.recording, result.selected, result.recorded.result
    goal = recording.target.goal_file
    for effect in result.uncompared:
        yield Hint(f"not compared: {effect.text}; {effect.advice.text}", effect.advice.settings)
    yield from map(Hint, selected.fragile[:MOST])
    if result.not_kept:
        yield Hint(
            f"executed only by calls that are not among the cases: {lines(result.not_kept)} of {goal}; "
            "make these calls storable and reproducible, or raise {0}",
            (Setting("--cases"),),
        )
    if result.missed:
        before = " before the command was stopped" if run.timed_out else ""
        yield Hint(
            f"never executed{before}: {lines(result.missed)} of {goal}; the command needs inputs that reach it"
        )
    if never := ", ".join(map(str, result.never_false)):
        yield Hint(f"never false: the condition on line {never}; use inputs for which it is false")
    yield from map(Hint, _tolerances(selected.calls))
    yield from (Hint(f"{part.in_words}; reviewers will ask why") for part in result.weak)
    if all(case.outcome == "raised" for case in recording.cases):
        yield Hint(
            "the golden raises in every case, which proves little: call it with valid arguments"
            " (a JSON file has no tensors)"
        )
    if run.exit_code != 0:
        reason = f": {last_error(run)}" if run.stdout or run.stderr else ""
        yield Hint(f"the command itself ended with exit code {run.exit_code}{reason}")


def lost_calls(result: RecordResult) -> Iterator[Hint]:
    reasons: dict[str, list[int]] = {}
    for rejected in result.selected.rejected:
        reasons.setdefault(rejected.reason, []).append(rejected.call.number)
    for reason, numbers in reasons.items():
        calls, were = ("calls", "were") if len(numbers) > 1 else ("call", "was")
        yield Hint(
            f"{calls} {listed(list(map(str, numbers)), MOST)} {were} rejected: {shortened(reason, 200)}"
        )
    kinds = {"too_large": "too large to store", "misfit": "not matching the signature"}
    for lost in result.recorded.summary.not_stored:
        why = kinds.get(lost.kind, "impossible to store")
        advice = f": {lost.advice}" if lost.advice else ""
        yield Hint(f"lost: {counted(lost.count, 'call')}, {why} ({shortened(lost.reason, 200)}){advice}")
    if result.recorded.result.timed_out:
        text = "the command was stopped at its time limit ({0}): later calls are missing"
        yield Hint(text, (Setting("--timeout"),))


def lines(blocks: Sequence[tuple[int, int]]) -> str:
    """Return ranges of lines as text: ``line 7`` or ``lines 7, 12-15``."""
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in blocks]
    return f"line{'s' if len(shown) > 1 or '-' in shown[0] else ''} {', '.join(shown)}"


def not_stored(cases: Sequence[Case]) -> list[str]:
    """Return a line for each part of an object that was left out, and one about the fixtures that would build it."""
    parts: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        for omitted in case.omitted:
            part = as_written(str(omitted.get("path"))), str(omitted.get("type"))
            parts.setdefault(part, []).append(case.name)
    notes = []
    for (path, kind), names in list(parts.items())[:MOST]:
        where = "" if len(names) == len(cases) else f" in {', '.join(names)}"
        notes.append(f"not stored{where}: {path} ({kind})")
    if len(parts) > MOST:
        notes.append(f"and {len(parts) - MOST} more parts; recording.json lists them")
    if drafts := fixture_drafts(path for path, _ in parts):
        notes.append(
            "if the function needs it, define a fixture that builds it in unit_test/fixtures.py in the repository: "
            + ", ".join(f"`{draft}`" for draft in drafts[:MOST])
        )
    return notes


def _tolerances(calls: Iterable[RecordedCall]) -> Iterator[str]:
    checkers = [pair for call in calls for pair in call.checkers.items()]
    wide = {path: checker for path, checker in checkers if checker.get("reason") in WIDENED}
    for path, checker in list(wide.items())[:MOST]:
        tolerance = f"rtol {checker['rtol']:.2g}, atol {checker['atol']:.2g}"
        yield f"{path} is compared with {tolerance}: {checker['reason']}"
    if len(wide) > MOST:
        yield f"and {len(wide) - MOST} more parts; CASES in the unit test lists all"
