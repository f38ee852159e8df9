"""``challenge``: run misreadings and rewrites on the cases and on all other recorded calls; keep how each ended."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from lmr_author import __version__
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.locks import changes_task
from lmr_author.core.people import git_name
from lmr_author.core.task import Progress, Task
from lmr_author.core.task import challenge as stored
from lmr_author.core.task.challenge import Acceptance, Challenge, Challenger, Ending
from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions, TaskScorer
from lmr_author.release.challenge import variants
from lmr_author.release.challenge.round import Log, OnAnswer, Round
from lmr_author.release.challenge.variants import Variant
from lmr_author.runtime.environment.where import HERE, Where


@dataclass(frozen=True)
class ChallengeOptions:
    """Options of ``challenge``.

    Attributes:
        answers: the file or folder of misreadings and rewrites; None for those of the last run.
        asked: those that a model wrote.
        implementation: only this one.
        where: the sandbox.
        driver: the folder that has the script by which the calls were recorded; None to look for it.
        strengthen: make recorded calls cases that tell misreadings apart.
        seconds: time limit of one call.
        memory_mb: memory limit of an answer.
    """

    answers: Path | None = None
    asked: tuple[Variant, ...] = ()
    implementation: int | None = None
    where: Where = HERE
    driver: Path | None = None
    strengthen: bool = False
    seconds: float = 60.0
    memory_mb: int = 8192


@dataclass(frozen=True)
class ChallengeRun:
    """The outcome of a challenge.

    Attributes:
        resumed: number of answers that an earlier run had settled.
        strengthened: implementations whose test has new cases.
    """

    record: Challenge
    resumed: int
    strengthened: tuple[int, ...]


@changes_task
def challenge(
    task: Task, options: ChallengeOptions, here: Path, say: Progress, on_answer: OnAnswer
) -> ChallengeRun:
    """Challenge a task's tests; results of the same answer, test and golden are not made again.

    Args:
        here: the current folder, where the script of the recording may lie.
        on_answer: called with each answer as soon as its ending is known.

    Raises:
        LmrError: no answers, no recording, or its command no longer works here.
        SandboxError: the sandbox failed.
    """
    info = task.load()
    if options.implementation is not None:
        info.implementation(options.implementation)
    before = stored.load(task)
    given = list(options.asked)
    if options.answers is not None:
        given = [*variants.read(options.answers, task, options.implementation), *given]
    answers = merged(before, given, task, options.implementation)
    log = Log(task, options.where.kind, replace(before or _empty(), answers=tuple(answers)))
    places = [here, *_places(task, options)]
    judging = CandidateOptions(
        Path(), where=options.where, seconds=options.seconds, memory_mb=options.memory_mb
    )
    resumed, strengthened = 0, list[int]()
    with ExitStack() as stack:
        scorer = TaskScorer(task, judging, say)
        stack.callback(scorer.close)
        for index in dict.fromkeys(one.index for one in answers):
            if options.implementation in (None, index):
                part = Round(log, index, scorer, on_answer, strengthens=options.strengthen)
                resumed += part.begin()
                part.run(places, say, stack)
                if options.strengthen and part.strengthen():
                    strengthened.append(index)
    return ChallengeRun(log.record, resumed, tuple(strengthened))


@changes_task
def accept(task: Task, name: str, reason: str, index: int | None = None) -> Challenger:
    """Record that a misreading is equivalent to the golden, or that a rewrite is none.

    Raises UsageError: no such answer, one that is settled, or no reason; LmrError: the task was never challenged.
    """
    record = stored.load(task)
    if record is None:
        raise LmrError(
            f"{task.name} was never challenged", "challenge it first: lmr-author challenge --answers …"
        )
    found = [one for one in record.answers if one.name == name and index in (None, one.index)]
    if len(found) != 1:
        names = ", ".join(dict.fromkeys(one.name for one in record.open)) or "none"
        several = f"{len(found)} answers are named {name!r}" if found else f"there is no answer {name!r}"
        raise UsageError(several, f"add --implementation N; open: {names}" if found else f"open: {names}")
    if not reason.strip():
        raise UsageError("to accept an answer needs a reason", "say it with --reason TEXT")
    if found[0].ending in (Ending.FAILS, Ending.PASSES) and found[0].settled:
        raise UsageError(f"{name} {found[0].ending.value}, as it has to", "nothing has to be accepted")
    today = datetime.now(UTC).date().isoformat()
    changed = record.accept(found[0].index, name, Acceptance(reason.strip(), today, git_name()))
    changed.write(task.challenge_path)
    return next(one for one in changed.answers if (one.index, one.name) == (found[0].index, name))


def _empty() -> Challenge:
    return Challenge(tool=__version__, date=datetime.now(UTC).isoformat(timespec="seconds"))


def _places(task: Task, options: ChallengeOptions) -> list[Path]:
    """Return the folders in which the script of a recording may lie, beside the current one."""
    if options.driver is not None:
        return [options.driver]
    beside = [options.answers] if options.answers is not None and options.answers.is_dir() else []
    return [*beside, task.root, task.root.parent, task.authoring]


def merged(
    before: Challenge | None, given: Sequence[Variant], task: Task, implementation: int | None
) -> list[Challenger]:
    """Return the answers of the last run with those given now; one with the same code keeps what is known of it.

    What came from the same source, and is no longer there, is left out; of one function alone where it is named.
    """
    known = {(answer.index, answer.name): answer for answer in (before.answers if before else ())}
    names = {(variant.index, variant.name) for variant in given}
    sources = {variant.source for variant in given}
    kept = []
    for key, answer in known.items():
        read_again = answer.source in sources and implementation in (None, answer.index)
        if key not in names and not read_again:
            kept.append(answer)
    new = list[Challenger]()
    for variant in given:
        old = known.get((variant.index, variant.name))
        if old is None or (old.code, old.kind) != (variant.code, variant.kind):
            old = Challenger(index=variant.index, name=variant.name, kind=variant.kind)
        new.append(replace(old, about=variant.about, source=variant.source, code=variant.code))
    if not kept and not new:
        raise UsageError(
            f"no misreadings or rewrites of {task.name} are known",
            f"add --model PROVIDER/MODEL, or --answers PATH: {variants.FORMS}",
        )
    return sorted([*kept, *new], key=lambda one: one.index)
