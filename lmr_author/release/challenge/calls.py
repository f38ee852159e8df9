"""All calls of a target: recorded once more, or generated, and written as recordings of their own.

``record`` keeps only the calls that become cases. The golden is an oracle for each of the others, too.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from lmr_author.authoring.recording import store
from lmr_author.authoring.recording.driver import RecordOptions, folder_with
from lmr_author.authoring.recording.explored import KnownVersions, explore
from lmr_author.authoring.recording.job import RecordJob, job_of, room_left
from lmr_author.authoring.recording.record import UncomparedEffect, uncompared
from lmr_author.authoring.recording.replay import GoldenRunner, golden_runner, replay
from lmr_author.authoring.recording.run import RecordedCall, RecordedRun, inputs_digest, run
from lmr_author.authoring.recording.selection import order_of_choice
from lmr_author.core import files
from lmr_author.core.errors import UsageError
from lmr_author.core.task import Progress, Task, TaskInfo, provenance
from lmr_author.core.task.recording import MANIFEST, Coverage, Recording
from lmr_author.proof.evaluation.judges import RecordingJudge
from lmr_author.proof.evaluation.trees import TargetTrees
from lmr_author.release.recipes.recipe import script_in
from lmr_author.runtime.probe.calling import GRADIENTS
from lmr_author.runtime.replay.replaying import Variant

MOST_TRIED = 8
"""Answers that the time limit leaves time to run on generated calls."""


@dataclass(frozen=True)
class Calls:
    """All calls of a target that could be recorded again.

    Attributes:
        room: bytes left for further cases.
        others: recorded and generated calls that the golden reproduces and that are not cases yet.
        cases: case → the same call, if it was made again.
    """

    room: int
    job: RecordJob
    recorded: RecordedRun
    golden: GoldenRunner
    others: tuple[RecordedCall, ...]
    cases: dict[str, RecordedCall]

    @property
    def missed(self) -> tuple[int, ...]:
        """Lines of the golden at which blocks begin that no recorded call executes."""
        hits = self.recorded.executed.union(*(call.hits for call in (*self.others, *self.cases.values())))
        return self.recorded.coverage(hits).missed

    @property
    def differentiable(self) -> tuple[str, ...]:
        """Arguments that require gradients, unless some case compares gradients."""
        calls = (*self.others, *self.cases.values())
        if any(GRADIENTS in path for call in calls for path in call.checkers):
            return ()
        names = (trait.path for call in calls for trait in call.traits if trait.kind == "grad")
        return tuple(dict.fromkeys(names))

    def uncompared(self) -> tuple[UncomparedEffect, ...]:
        return uncompared(self.golden, self.recorded)


def record_again(
    trees: TargetTrees,
    recording: Recording,
    here: Path,
    rewrites: Mapping[str, Variant],
    work: Path,
    say: Progress,
) -> Calls:
    """Run the command of a recording again, replay its calls on the golden, and generate others.

    Args:
        trees: of the target, with a prepared sandbox.
        here: the folder of the driver's script, if it is not in the repository.
        rewrites: those that pass, with which generated calls have to agree.
        work: an empty folder of ours.

    Raises LmrError: the command no longer calls the target. SandboxError: the sandbox failed.
    """
    task, info, implementation = trees.task, trees.info, trees.implementation
    work.chmod(0o755)
    options = RecordOptions.of(recording)
    job = job_of(task, info, implementation, options, here, work)
    say(f"recording the calls of {implementation.target} once more")
    recorded = run(trees.sandbox, job)
    golden = golden_runner(job, trees.sandbox, recorded, bool(options.in_place))
    proven, _ = replay(golden, order_of_choice(recorded.calls), options.fewest_cases, say)
    explored = explore(golden, proven, recorded.summary.calls + 1, MOST_TRIED, KnownVersions(rewrites), say)
    case_names = {inputs_digest(trees.recording_folder / case.name): case.name for case in recording.cases}
    cases, others = dict[str, RecordedCall](), list[RecordedCall]()
    for call in sorted((*proven, *explored), key=lambda call: call.number):
        name = case_names.get(call.inputs_digest)
        if name is None:
            others.append(call)
        else:
            cases.setdefault(name, call)
    room = max(0, room_left(job) - sum(case.bytes for case in recording.cases))
    return Calls(room, job, recorded, golden, tuple(others), cases)


class NoDriverError(UsageError):
    """The script that made a recording is in none of the folders in which it may be.

    Attributes:
        remembered: the folder in which it was recorded, if that still exists; a stranger may have named it.
    """

    def __init__(self, script: str, remembered: Path | None, looked_in: Sequence[Path]) -> None:
        places = ", ".join(map(str, looked_in))
        super().__init__(
            f"there is no {script}, which made the recording; looked in {places}", "name its folder"
        )
        self.script = script
        self.remembered = remembered


def find_driver(task: Task, info: TaskInfo, recording: Recording, folders: Sequence[Path]) -> Path:
    """Return the folder with the driver's script; the first of ``folders`` if the command runs no script.

    Raises NoDriverError: it is in none. UsageError: the recording names a place outside of them.
    """
    options = RecordOptions.of(recording)
    script = "" if options.from_tests else script_in(options.words)
    if not script:
        return folders[0]
    path = PurePosixPath(script)
    if path.is_absolute() or ".." in path.parts:
        # The manifest comes with the task: the sandbox shows the folder of the script that it names.
        raise UsageError(
            f"the recording names a script elsewhere on this machine: {script}",
            "record again: lmr-author record --force",
        )
    folder = folder_with(script, (task.repository(info), *folders))
    if folder is None:
        place = provenance.load(task).drivers.get(script)
        remembered = folder_with(script, [task.root / place]) if place else None
        raise NoDriverError(script, remembered and remembered.resolve(), folders)
    return folder


def write_recording(
    work: Path,
    trees: TargetTrees,
    before: Recording,
    calls: Calls,
    new: Sequence[tuple[RecordedCall, str]],
    *,
    keep_cases: bool,
) -> RecordingJudge:
    """Write calls as a recording of their own, or after the task's cases; return its judge.

    Args:
        work: an empty folder of ours, laid out like ``unit_test/``.
        new: calls, and what each adds as a case.
        keep_cases: begin with the cases of ``before``, unchanged.
    """
    folder = work / "recordings" / str(trees.implementation.index)
    folder.mkdir(parents=True)
    calls.job.helpers.copy_into(work)
    cases = list(before.cases) if keep_cases else []
    for case in cases:
        shutil.copytree(trees.recording_folder / case.name, folder / case.name)
    taken = max((int(case.name.removeprefix("case_")) for case in cases), default=0)
    for number, (call, adds) in enumerate(new, taken + 1):
        cases.append(store.store_case(folder, number, call, adds))
    recorded = calls.recorded
    covered = _also_covered(before.coverage, frozenset().union(*(call.hits for call, _ in new)), recorded)
    recording = store.recording_of(
        folder, calls.job, recorded, cases, covered, before.versions, before.options
    )
    recording = replace(recording, command=before.command, created=before.created, calls=before.calls)
    files.write_json(folder / MANIFEST, recording.to_json())
    return RecordingJudge(trees, recording, folder)


def _also_covered(before: Coverage, hits: frozenset[int], recorded: RecordedRun) -> Coverage:
    new_lines = recorded.coverage(hits).lines
    summary = recorded.summary
    false = {summary.blocks[block] for block in summary.absent.keys() & hits}
    return Coverage(
        lines=tuple(sorted({*before.lines, *new_lines})),
        missed=tuple(sorted(set(before.missed) - set(new_lines))),
        never_false=tuple(sorted(set(before.never_false) - false)),
    )


def put_in_place(judge: RecordingJudge, calls: Calls) -> None:
    """Replace the task's recording and unit test, which are kept among the removed files."""
    trees, recording = judge.trees, judge.recording
    task, info, implementation = trees.task, trees.info, trees.implementation
    with files.temporary_folder("lmr-author-store-") as work, files.HeldInterrupts():
        staging = work / "recording"
        shutil.copytree(judge.folder, staging)
        effects = [effect.text for effect in calls.uncompared()]
        page = store.write_manifest(staging, calls.job, recording, effects)
        store.move_to_removed(calls.job)
        with files.staged_folder(task.recording(info, implementation.index)) as folder:
            shutil.copytree(staging, folder, dirs_exist_ok=True)
        store.renew_support(task.unit_test_folder(info))
        files.write_text(task.unit_test(info, implementation), page)
