"""Record a target's calls once more, by the command and the options of its recording, and replay all on the golden.

``record`` keeps only the calls that become cases. The golden is an oracle for each of the others, too.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path, PurePosixPath

from lmr_author.authoring.recording import checkers
from lmr_author.authoring.recording.calls import RecordedCall, Room
from lmr_author.authoring.recording.choose import order_of_choice
from lmr_author.authoring.recording.job import Job, RecordOptions, driver_of, golden_of, plan_of, room_of
from lmr_author.authoring.recording.remarks import Uncompared, effects_of, uncompared
from lmr_author.authoring.recording.replay import Golden, Rejected, replay
from lmr_author.authoring.recording.run import Recorded, Run, run
from lmr_author.core import files
from lmr_author.core.errors import UsageError
from lmr_author.core.task import Implementation, Progress, Task, TaskInfo
from lmr_author.core.task.recording import Case, Recording
from lmr_author.runtime.probe.calling import GRADIENTS
from lmr_author.runtime.sandbox.base import Sandbox


@dataclass(frozen=True)
class Again:
    """All calls of a target that could be recorded once more.

    Attributes:
        implementation: whose golden was called.
        room: the space for cases that its recording may have.
        plan, recorded: the run that made them.
        golden: what replays them.
        calls: those that the golden reproduces, with their tolerances, and that are no cases yet.
        cases: case → the same call, where it was made once more.
        rejected: those that the golden does not reproduce, and why.
    """

    implementation: Implementation
    room: Room
    plan: Run
    recorded: Recorded
    golden: Golden
    calls: tuple[RecordedCall, ...]
    cases: dict[str, RecordedCall]
    rejected: tuple[Rejected, ...]

    @property
    def missed(self) -> tuple[int, ...]:
        """Lines of the golden at which blocks begin that no recorded call executes."""
        hits = self.recorded.executed.union(*(call.hits for call in (*self.calls, *self.cases.values())))
        blocks, absent = self.recorded.blocks, self.recorded.absent
        reached = {line for block, line in blocks.items() if block in hits and block not in absent}
        return tuple(sorted({line for block, line in blocks.items() if block not in absent} - reached))

    @property
    def differentiable(self) -> tuple[str, ...]:
        """Arguments that require gradients, where no case compares any."""
        calls = (*self.calls, *self.cases.values())
        if any(GRADIENTS in path for call in calls for path in call.checkers):
            return ()
        names = (trait.path for call in calls for trait in call.traits if trait.kind == "grad")
        return tuple(dict.fromkeys(names))

    def uncompared(self) -> tuple[Uncompared, ...]:
        """Return the golden's effects that no case compares."""
        return uncompared(effects_of(self.golden, self.recorded))


def record_again(
    task: Task,
    info: TaskInfo,
    implementation: Implementation,
    of: tuple[Path, Recording],
    sandbox: Sandbox,
    places: Sequence[Path],
    work: Path,
    progress: Progress,
) -> Again:
    """Run the command of a recording once more, and replay its calls on the golden.

    Args:
        of: the recording's folder, and its manifest.
        sandbox: prepared.
        places: folders in which the driver's script may lie, if not in the repository.
        work: an empty folder of ours.

    Raises:
        UsageError: the script is in none of the places.
        LmrError: the command no longer calls the target.
        SandboxError: the sandbox failed.
    """
    folder, recording = of
    work.chmod(0o755)
    options = options_of(implementation, recording)
    own = checkers.read_helpers(task.unit_test_folder(info))
    job = Job(task, info, implementation, options, own, work)
    driver = driver_of(job, _place(options, task.repository(info), places))
    plan = plan_of(job, driver, lambda text: "")
    progress(f"recording the calls of {implementation.target} once more")
    recorded = run(sandbox, plan)
    golden = golden_of(job, plan, sandbox, recorded, _in_place(options, recording))
    replayed = replay(golden, order_of_choice(recorded.calls), options.cases, progress)
    known = {_identity(folder / case.name): case.name for case in recording.cases}
    cases, others = dict[str, RecordedCall](), list[RecordedCall]()
    for call in sorted(replayed.proven, key=lambda call: call.number):
        name = known.get(_identity(call.folder))
        if name is None:
            others.append(call)
        else:
            cases.setdefault(name, call)
    return Again(
        implementation,
        _room(job, recording.cases),
        plan,
        recorded,
        golden,
        tuple(others),
        cases,
        tuple(replayed.rejected),
    )


def _room(job: Job, cases: Sequence[Case]) -> Room:
    """Return the space for cases, of which a recording's own take some."""
    room = room_of(job)
    return replace(room, left=max(0, room.left - sum(case.bytes for case in cases)))


def options_of(implementation: Implementation, recording: Recording) -> RecordOptions:
    """Return the options with which a recording was made."""
    names = {one.name for one in fields(RecordOptions)}
    given = {key: value for key, value in recording.options.items() if key in names}
    given["checks"] = tuple(given.get("checks", ()))
    words = recording.command
    if words[:2] == ("lmr-author", "record"):
        if words[2:3] == ("--from-tests",):
            given |= {"from_tests": True, "command": words[4:]}
        else:
            given |= {"examples": words[3::2], "command": ()}
    else:
        given["command"] = words
    return RecordOptions(target=str(implementation.target), cuda_as_cpu=recording.cuda_as_cpu, **given)


def typed(options: RecordOptions, more: Sequence[str] = ()) -> list[str]:
    """Return what follows ``lmr-author record`` to record with some options anew, in place of what is there.

    Args:
        more: further options, as ``--in-place``.
    """
    names = {
        "cases": "--cases",
        "seconds": "--timeout",
        "max_mb": "--max-mb",
        "max_total_mb": "--max-total-mb",
    }
    words = [str(options.target), "--force"]
    for name, option in names.items():
        if name in options.unusual:
            words += [option, f"{options.unusual[name]:g}"]
    words += [word for check in options.checks for word in ("--check", check)]
    flags = {"--gradients": options.gradients, "--files": options.files, "--cuda-as-cpu": options.cuda_as_cpu}
    words += [option for option, chosen in flags.items() if chosen]
    if options.in_place is not None and not {"--in-place", "--no-in-place"} & set(more):
        words.append("--in-place" if options.in_place else "--no-in-place")
    words += [*more, *(["--from-tests"] if options.from_tests else [])]
    words += [word for text in options.examples for word in ("--from-example", text)]
    return [*words, "--", *options.command] if options.command else words


def _place(options: RecordOptions, repository: Path, places: Sequence[Path]) -> Path:
    """Return the folder that has the driver's script; the first one where the repository has it, or there is none."""
    words = [] if options.from_tests else list(options.command)
    script = next((word for word in words if word.endswith(".py")), "")
    if PurePosixPath(script).is_absolute() or ".." in PurePosixPath(script).parts:
        # The manifest comes with the task: the sandbox shows the folder of the script that it names.
        raise UsageError(
            f"the recording names a script elsewhere on this machine: {script}",
            "record again: lmr-author record --force",
        )
    if not script or (repository / script).is_file():
        return places[0]
    for place in places:
        if (place / script).is_file():
            return place
    raise UsageError(
        f"there is no {script}, by which `{shlex.join(options.command)}` made the recording",
        f"name the folder that has it: --driver FOLDER; looked in {', '.join(map(str, places))}",
    )


def _in_place(options: RecordOptions, recording: Recording) -> bool:
    """Return whether implementations have to change what the golden changes by the way."""
    if options.in_place is not None:
        return options.in_place
    reasons = {checker.get("reason") for case in recording.cases for checker in case.checkers.values()}
    return checkers.BY_THE_WAY not in reasons and checkers.WORKING_MEMORY not in reasons


def _identity(folder: Path) -> str:
    """Return a digest of a call's inputs."""
    return "\n".join(files.sha256_file(path) for path in sorted(folder.glob("inputs.*")))
