"""``challenge``: run misreadings and rewrites on the cases and on all other recorded calls; keep how each ended."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import TypeVar

from lmr_author import __version__
from lmr_author.core import files
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.locks import changes_task
from lmr_author.core.people import git_name
from lmr_author.core.task import Progress, Task, TaskInfo
from lmr_author.core.task import challenge as stored
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.challenge import (
    Acceptance,
    Challenge,
    ChallengedTarget,
    Challenger,
    Ending,
    Kind,
)
from lmr_author.proof.evaluation.candidates.answer import Invalid
from lmr_author.proof.evaluation.candidates.run import retried
from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions, TaskScorer
from lmr_author.release.challenge import variants
from lmr_author.release.challenge.strengthen import strengthen
from lmr_author.release.challenge.suggesting import suggest, suggest_stricter
from lmr_author.release.challenge.target import Target
from lmr_author.release.challenge.trial import Tried
from lmr_author.release.challenge.variants import Variant
from lmr_author.runtime.environment.where import HERE, Where

OnAnswer = Callable[[Challenger], None]
Found = TypeVar("Found")


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


@dataclass
class _Work:
    """A challenge while it runs: its record, which is written after each answer."""

    task: Task
    info: TaskInfo
    options: ChallengeOptions
    record: Challenge
    clock: float = field(default_factory=time.monotonic)
    resumed: int = 0
    strengthened: list[int] = field(default_factory=list)

    def keep(self, answer: Challenger) -> None:
        """Store the result of an answer in its place."""
        key = (answer.index, answer.name)
        answers = [answer if (one.index, one.name) == key else one for one in self.record.answers]
        self.write(replace(self.record, answers=tuple(answers)))

    def keep_target(self, target: ChallengedTarget) -> None:
        """Store what is known about an implementation."""
        others = [one for one in self.record.targets if one.index != target.index]
        ordered = tuple(sorted([*others, target], key=lambda one: one.index))
        self.write(replace(self.record, targets=ordered))

    def write(self, record: Challenge) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        seconds = time.monotonic() - self.clock
        self.record = replace(
            record, tool=__version__, date=now, sandbox=self.options.where.kind, seconds=seconds
        )
        self.record.write(self.task.challenge_path)


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
    before = stored.load(task)
    given = [*(variants.read(options.answers, task) if options.answers else ()), *options.asked]
    answers = _merged(before, given, task)
    if options.implementation is not None:
        info.implementation(options.implementation)
    work = _Work(task, info, options, replace(before or _empty(), answers=tuple(answers)))
    places = [here, *_places(task, options)]
    judging = CandidateOptions(
        Path(), where=options.where, seconds=options.seconds, memory_mb=options.memory_mb
    )
    with ExitStack() as stack:
        scorer = TaskScorer(task, judging, say)
        stack.callback(scorer.close)
        for index in dict.fromkeys(one.index for one in answers):
            if options.implementation in (None, index):
                _challenge(work, index, scorer, places, say, on_answer, stack)
    return ChallengeRun(work.record, work.resumed, tuple(work.strengthened))


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


def _merged(before: Challenge | None, given: Sequence[Variant], task: Task) -> list[Challenger]:
    """Return the answers of the last run with those given now; one with the same code keeps what is known of it.

    What came from the same source, and is no longer there, is left out.
    """
    known = {(one.index, one.name): one for one in (before.answers if before else ())}
    sources, names = {one.source for one in given}, {(one.index, one.name) for one in given}
    kept = [one for key, one in known.items() if key not in names and one.source not in sources]
    new = list[Challenger]()
    for one in given:
        old = known.get((one.index, one.name))
        if old is None or (old.code, old.kind) != (one.code, one.kind):
            old = Challenger(index=one.index, name=one.name, kind=one.kind)
        new.append(replace(old, about=one.about, source=one.source, code=one.code))
    if not kept and not new:
        raise UsageError(
            f"no misreadings or rewrites of {task.name} are known",
            f"add --model PROVIDER/MODEL, or --answers PATH: {variants.FORMS}",
        )
    return sorted([*kept, *new], key=lambda one: one.index)


def _challenge(
    work: _Work,
    index: int,
    whole: TaskScorer,
    places: Sequence[Path],
    say: Progress,
    on_answer: OnAnswer,
    stack: ExitStack,
) -> None:
    """Challenge one implementation: first on the cases alone, then what passes there on the other calls."""
    task, info = work.task, work.info
    recording = recorded.load(task.recording(info, index))
    one = info.implementation(index)
    if recording is None:
        raise LmrError(
            f"{one.target} has no recording, and no other call of its golden is known",
            f"record it: lmr-author record {one.target} -- python driver.py",
        )
    digest = _digest(work, index)
    waiting = [answer for answer in work.record.of(index) if answer.digest != digest(answer)]
    work.resumed += len(work.record.of(index)) - len(waiting)
    for answer in work.record.of(index):
        if answer not in waiting:
            on_answer(answer)
    telling = [
        answer for answer in work.record.of(index, Kind.MISREADING) if answer.ending is Ending.TOLD_APART
    ]
    if not waiting and not (work.options.strengthen and telling):
        return
    target = Target(whole.ready(index), places, say, stack)
    passing = list[Challenger]()
    for answer in waiting:
        ended = _on_cases(target, answer, work.record.of(index, Kind.MISREADING))
        if ended is None:
            passing.append(answer)
        else:
            ended = replace(_accepted(ended), digest=digest(answer))
            work.keep(ended)
            on_answer(ended)
    for answer in passing:
        found = _on_calls(target, answer, work.record.of(index, Kind.REWRITE))
        ended = replace(_accepted(found), digest=digest(answer))
        work.keep(ended)
        on_answer(ended)
    known = next((item for item in work.record.targets if item.index == index), None)
    manifest, golden = stored.digests(task, info, index)
    calls = len(recording.cases) + len(target.again.calls) if passing else known.calls if known else 0
    fresh = ChallengedTarget(
        index=index,
        target=str(one.target),
        recording=manifest,
        golden=golden,
        cases=len(recording.cases),
        calls=calls,
    )
    same = known is not None and (known.recording, known.golden) == (manifest, golden)
    if known is not None and same:
        fresh = replace(fresh, added=known.added, left_out=known.left_out)
    work.keep_target(fresh)
    if work.options.strengthen:
        _strengthen(work, target, fresh, on_answer)


def _strengthen(work: _Work, target: Target, known: ChallengedTarget, on_answer: OnAnswer) -> None:
    """Make calls cases that tell misreadings apart, and store how these end now."""
    index = known.index
    telling = [one for one in work.record.of(index, Kind.MISREADING) if one.ending is Ending.TOLD_APART]
    passing = [one for one in work.record.of(index, Kind.REWRITE) if one.ending is Ending.PASSES]
    if not telling:
        return
    done = strengthen(target, [_variant(one) for one in telling], [_variant(one) for one in passing])
    digest = _digest(work, index)
    for answer in work.record.of(index):
        told = done.told.get(answer.name) if answer in telling else None
        ended = answer
        if told is not None:
            calls = tuple(one.call for one in done.added if answer.name in one.tells)
            ended = replace(_fresh(answer, Ending.FAILS), difference=told, tells=calls)
        ended = replace(ended, digest=digest(ended))
        work.keep(ended)
        if told is not None:
            on_answer(ended)
    manifest, golden = stored.digests(work.task, work.info, index)
    work.keep_target(
        replace(
            known,
            recording=manifest,
            golden=golden,
            cases=known.cases + len(done.added),
            added=(*known.added, *done.added),
            left_out=done.left_out,
        )
    )
    if done.added:
        work.strengthened.append(index)


def _digest(work: _Work, index: int) -> Callable[[Challenger], str]:
    """Return what gives the SHA-256 of all that makes the result of an answer."""
    where, options = work.options.where, work.options
    parts = [
        __version__,
        *stored.digests(work.task, work.info, index),
        files.sha256_file(work.task.goal(work.info, work.info.implementation(index))),
        [where.kind, where.base_image, where.gpus, str(where.python or "")],
        [options.seconds, options.memory_mb],
    ]
    return lambda one: files.sha256_bytes(json.dumps([*parts, one.kind, one.code]).encode())


def _accepted(answer: Challenger) -> Challenger:
    """Return an answer with what somebody said about it; one that ended as it has to needs nobody's word."""
    if answer.accepted is None or answer.settled:
        return answer
    ending = Ending.EQUIVALENT if answer.kind is Kind.MISREADING else Ending.NOT_A_REWRITE
    return replace(answer, ending=ending)


def _fresh(answer: Challenger, ending: Ending) -> Challenger:
    """Return an answer with another ending, and nothing of what an earlier run found."""
    return replace(answer, ending=ending, reason="", difference=None, tells=(), missing=None, suggestion=None)


def _variant(answer: Challenger) -> Variant:
    return Variant(answer.index, answer.name, answer.kind, answer.about, answer.code, answer.source)


def _on_cases(target: Target, answer: Challenger, misreadings: Iterable[Challenger]) -> Challenger | None:
    """Return how an answer ends on the cases; None for a misreading that passes them."""
    try:
        tried = _retried(lambda: target.on_cases(_variant(answer)))
    except Invalid as error:
        return replace(_fresh(answer, Ending.INVALID), reason=error.message)
    if not tried.failing:
        return None if answer.kind is Kind.MISREADING else _fresh(answer, Ending.PASSES)
    failed = replace(
        _fresh(answer, Ending.FAILS),
        difference=tried.first_difference(is_case=True),
        tells=tuple(case.call for case in tried.failing),
    )
    if answer.kind is Kind.MISREADING:
        return failed
    others = [other for one in misreadings for other in _tried(target, one)]
    return replace(failed, suggestion=suggest(tried, others))


def _tried(target: Target, answer: Challenger) -> Iterable[Tried]:
    """Yield what an answer does on the cases; nothing of one that is invalid."""
    with suppress(Invalid):
        yield _retried(lambda: target.on_cases(_variant(answer)))


def _on_calls(target: Target, answer: Challenger, rewrites: Iterable[Challenger]) -> Challenger:
    """Return how a misreading ends that passes the cases."""
    tried = _retried(lambda: target.on_calls(_variant(answer)))
    if not tried.failing:
        others = [other for one in rewrites for other in _tried(target, one)]
        return replace(
            _fresh(answer, Ending.EQUAL),
            missing=target.missing(_variant(answer)),
            suggestion=suggest_stricter(target.on_cases(_variant(answer)), others),
        )
    return replace(
        _fresh(answer, Ending.TOLD_APART),
        difference=tried.first_difference(is_case=False),
        tells=tuple(case.call for case in tried.failing),
    )


def _retried(work: Callable[[], Found]) -> Found:
    """Do some work, again where the sandbox fails. Raises its last error."""
    found, _ = retried(work, Event())
    if isinstance(found, LmrError):
        raise found
    return found
