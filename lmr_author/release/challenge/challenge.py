"""``challenge``: run misreadings and rewrites on the cases and on all other recorded calls, and store each result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from lmr_author import __version__
from lmr_author.authoring.recording.driver import folders_beside
from lmr_author.core import files
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.locks import changes_task
from lmr_author.core.repo.git import user_name
from lmr_author.core.task import Implementation, Progress, Task, TaskInfo
from lmr_author.core.task import challenge as stored
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.challenge import (
    Acceptance,
    AnswerKind,
    Challenge,
    ChallengedTarget,
    Challenger,
    Ending,
)
from lmr_author.core.task.recording import Recording
from lmr_author.core.texts import Step
from lmr_author.proof.evaluation.candidates.reply import InvalidAnswer
from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions, TaskScorer
from lmr_author.release.challenge import answers as given
from lmr_author.release.challenge.calls import find_driver
from lmr_author.release.challenge.strengthen import strengthen
from lmr_author.release.challenge.target import Trials
from lmr_author.runtime.environment.where import HERE, Where

ACCEPTED = {AnswerKind.MISREADING: Ending.EQUIVALENT, AnswerKind.REWRITE: Ending.NOT_A_REWRITE}
"""Kind of an answer → its ending if a person says that it is not one."""


@dataclass(frozen=True)
class ChallengeOptions:
    """Options of ``challenge``, as its help describes them; ``written``: answers that a model wrote."""

    answers: Path | None = None
    driver: Path | None = None
    written: tuple[Challenger, ...] = ()
    implementation: int | None = None
    where: Where = HERE
    strengthen: bool = False
    seconds: float = 60.0
    memory_mb: int = 8192


@dataclass(frozen=True)
class ChallengeRun:
    """Outcome of a challenge.

    Attributes:
        resumed: number of answers that an earlier run had settled.
        failure: what ended it early; the record has the results so far.
    """

    record: Challenge
    resumed: int
    strengthened: tuple[int, ...]
    failure: LmrError | None = None


@changes_task
def challenge(task: Task, options: ChallengeOptions, here: Path, say: Progress) -> ChallengeRun:
    """Challenge a task's tests; results of the same answer, test and golden are reused.

    Args:
        here: the current folder, where the script of the recording may be.

    Raises LmrError: no answers, no recording, or no driver; nothing has run then.
    """
    info = task.load()
    if options.implementation is not None:
        info.implementation(options.implementation)
    new = list(options.written)
    if options.answers is not None:
        new = [*given.read(options.answers, task, options.implementation), *new]
    before = stored.load(task)
    answers = merged(before.answers if before else (), new, options.implementation)
    if not answers:
        raise UsageError(
            f"no misreadings or rewrites of {task.name} are known",
            f"add --model PROVIDER/MODEL, or --answers PATH: {given.FORMS}",
        )
    record = before or Challenge(tool=__version__, date=_now())
    log = Log(task, replace(record, answers=tuple(answers)))
    judging = CandidateOptions(
        Path(), where=options.where, seconds=options.seconds, memory_mb=options.memory_mb
    )
    strengthened, failure = list[int](), None
    with ExitStack() as stack:
        scorer = TaskScorer(task, judging, say)
        stack.callback(scorer.close)
        indices = dict.fromkeys(answer.index for answer in answers)
        rounds = [Round(log, index, scorer) for index in indices if options.implementation in (None, index)]
        drivers = [part.driver(options, here) for part in rounds]
        resumed = sum(part.begin() for part in rounds)
        try:
            for part, driver in zip(rounds, drivers, strict=True):
                if part.has_work(options.strengthen):
                    trials = Trials(scorer.ready(part.index), driver, say, stack)
                    part.run(trials)
                    if options.strengthen and part.strengthen(trials):
                        strengthened.append(part.index)
        except LmrError as error:
            failure = error
    return ChallengeRun(log.record, resumed, tuple(strengthened), failure)


def require_drivers(task: Task, options: ChallengeOptions, here: Path) -> None:
    """Raise LmrError if a recording, or the script that made it, is missing: before a model is asked."""
    info = task.load()
    for implementation in info.implementations:
        if options.implementation in (None, implementation.index):
            find_driver(task, info, _recording(task, info, implementation), _folders(task, options, here))


def _recording(task: Task, info: TaskInfo, implementation: Implementation) -> Recording:
    recording = recorded.load(task.recording(info, implementation.index))
    if recording is None:
        raise LmrError(
            f"{implementation.target} has no recording, and no other call of its golden is known",
            f"record it: lmr-author record {implementation.target} -- python driver.py",
        )
    return recording


def merged(
    before: Sequence[Challenger], new: Sequence[Challenger], implementation: int | None
) -> list[Challenger]:
    """Return the answers of the last run with the new ones; an answer with the same code keeps its result.

    An answer that is gone from a source that was read again is dropped.
    """
    earlier = {(answer.index, answer.name): answer for answer in before}
    sources = {answer.source for answer in new}
    answers = {
        key: answer
        for key, answer in earlier.items()
        if answer.source not in sources or implementation not in (None, answer.index)
    }
    for answer in new:
        key = (answer.index, answer.name)
        old = earlier.get(key, answer)
        if (old.code, old.kind) == (answer.code, answer.kind):
            answer = replace(old, about=answer.about, source=answer.source)
        answers[key] = answer
    return sorted(answers.values(), key=lambda answer: answer.index)


def _folders(task: Task, options: ChallengeOptions, here: Path) -> list[Path]:
    if options.driver is not None:
        return [options.driver]
    answers = options.answers
    beside = [answers] if answers is not None and answers.is_dir() else []
    return list(dict.fromkeys([here, *beside, *folders_beside(task)]))


@changes_task
def accept(task: Task, name: str, reason: str, index: int | None = None) -> Challenger:
    """Record that a misreading is equivalent to the golden, or that a rewrite is not one.

    Raises UsageError: no such answer, a settled one, or no reason; LmrError: the task was never challenged.
    """
    record = stored.load(task)
    if record is None:
        raise LmrError(
            f"{task.name} was never challenged", "challenge it first: lmr-author challenge --answers …"
        )
    matching = [answer for answer in record.answers if answer.name == name and index in (None, answer.index)]
    open_names = ", ".join(dict.fromkeys(answer.name for answer in record.open)) or "none"
    if len(matching) != 1:
        problem, hint = f"there is no answer {name!r}", f"open: {open_names}"
        if matching:
            problem, hint = f"{len(matching)} answers are named {name!r}", f"add --implementation N; {hint}"
        raise UsageError(problem, hint)
    if not reason.strip():
        raise UsageError("accepting an answer needs a reason", "add --reason TEXT")
    (answer,) = matching
    if answer.settled and answer.ending is not ACCEPTED[answer.kind]:
        raise UsageError(f"{name} {answer.ending.value}, as it should", "there is nothing to accept")
    today = datetime.now(UTC).date().isoformat()
    acceptance = Acceptance(reason.strip(), today, user_name())
    accepted = replace(answer, accepted=acceptance, ending=ACCEPTED[answer.kind])
    answers = [accepted if other is answer else other for other in record.answers]
    replace(record, answers=tuple(answers)).write(task.challenge_path)
    return accepted


@dataclass
class Log:
    """Record of a running challenge, written after each answer, so that an interrupted run can resume."""

    task: Task
    record: Challenge

    def keep(self, answer: Challenger) -> None:
        key = (answer.index, answer.name)
        answers = [answer if (old.index, old.name) == key else old for old in self.record.answers]
        self._write(replace(self.record, answers=tuple(answers)))

    def keep_target(self, target: ChallengedTarget) -> None:
        targets = {**{old.index: old for old in self.record.targets}, target.index: target}
        self._write(replace(self.record, targets=tuple(targets[index] for index in sorted(targets))))

    def _write(self, record: Challenge) -> None:
        self.record = replace(record, tool=__version__, date=_now())
        self.record.write(self.task.challenge_path)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Round:
    """Answers to one implementation: all run on its cases, then passing misreadings on the other calls.

    Raises LmrError: it has no recording.
    """

    def __init__(self, log: Log, index: int, scorer: TaskScorer) -> None:
        self.log, self.index, self.scorer = log, index, scorer
        self.implementation = scorer.info.implementation(index)
        self.recording = _recording(log.task, scorer.info, self.implementation)
        test = self._test()
        self._waiting = [answer for answer in log.record.of(index) if answer.digest != _digest(test, answer)]

    def _facts(self) -> ChallengedTarget:
        """Return the stored facts about the implementation, unless its recording or golden changed."""
        recording, golden = stored.digests(self.log.task, self.scorer.info, self.index)
        for target in self.log.record.targets:
            if (target.index, target.recording, target.golden) == (self.index, recording, golden):
                return target
        node_id = str(self.implementation.target)
        return ChallengedTarget(index=self.index, target=node_id, recording=recording, golden=golden)

    def begin(self) -> int:
        """Reset the answers whose result is stale; return the number of the others."""
        for answer in self._waiting:
            self.log.keep(replace(_ended(answer, Ending.WAITING), digest=""))
        self.log.keep_target(self._facts())
        return len(self.log.record.of(self.index)) - len(self._waiting)

    def driver(self, options: ChallengeOptions, here: Path) -> Path:
        """Return the folder of the recording's script; any folder if no answer can need other calls."""
        waits = any(answer.kind is AnswerKind.MISREADING for answer in self._waiting)
        if not (waits or (options.strengthen and self.has_work(strengthens=True))):
            return here
        task = self.log.task
        return find_driver(task, self.scorer.info, self.recording, _folders(task, options, here))

    def has_work(self, strengthens: bool) -> bool:
        """Return True if answers wait, or new cases might distinguish some."""
        return bool(self._waiting) or (
            strengthens and bool(self._ended(AnswerKind.MISREADING, Ending.TOLD_APART))
        )

    def run(self, trials: Trials) -> None:
        named = self.scorer.environment
        versions = {name: str(named[name]) for name in ("python", "torch", "numpy") if name in named}
        self.log.keep_target(replace(self._facts(), versions=versions))
        passing = []
        for answer in _in_turn(self._waiting, "the cases", trials.say):
            ended = self._on_cases(trials, answer)
            if ended.kind is AnswerKind.MISREADING and ended.ending is Ending.PASSES:
                passing.append(answer)
                self.log.keep(ended)  # not at its end: without a digest, it waits
            else:
                self._keep(ended)
        trials.rewrites = tuple(self._ended(AnswerKind.REWRITE, Ending.PASSES))
        for answer in _in_turn(passing, "all other calls", trials.say):
            self._keep(self._on_calls(trials, answer))

    def strengthen(self, trials: Trials) -> bool:
        """Turn calls that distinguish misreadings into cases, and store the results; return True if any was added."""
        distinguished = self._ended(AnswerKind.MISREADING, Ending.TOLD_APART)
        if not distinguished:
            return False
        before = self._facts()
        trials.rewrites = tuple(self._ended(AnswerKind.REWRITE, Ending.PASSES))
        done = strengthen(trials, distinguished, list(trials.rewrites))
        # Other answers keep their results, because the new test contains the old cases.
        for answer in self.log.record.of(self.index):
            difference = done.differences.get(answer.name)
            if difference is not None:
                tells = tuple(case.call for case in done.added if answer.name in case.tells)
                answer = replace(_ended(answer, Ending.FAILS), difference=difference, tells=tells)
            self._keep(answer)
        facts = replace(self._facts(), added=(*before.added, *done.added), left_out=done.left_out)
        self.log.keep_target(facts)
        return bool(done.added)

    def _ended(self, kind: AnswerKind, ending: Ending) -> list[Challenger]:
        return [answer for answer in self.log.record.of(self.index, kind) if answer.ending is ending]

    def _on_cases(self, trials: Trials, answer: Challenger) -> Challenger:
        """Return an answer with its result on the cases; a passing misreading runs on the other calls next."""
        try:
            trial = trials.on_cases(answer)
        except InvalidAnswer as error:
            return replace(_ended(answer, Ending.INVALID), reason=error.message)
        if not trial.failing:
            return _ended(answer, Ending.PASSES)
        difference = trial.first_difference(is_case=True)
        return replace(_ended(answer, Ending.FAILS), difference=difference, tells=trial.failing_calls)

    def _on_calls(self, trials: Trials, answer: Challenger) -> Challenger:
        trial = trials.on_calls(answer)
        if not trial.failing:
            return replace(_ended(answer, Ending.EQUAL), missing=trials.missing(answer))
        difference = trial.first_difference(is_case=False)
        return replace(_ended(answer, Ending.TOLD_APART), difference=difference, tells=trial.failing_calls)

    def _keep(self, answer: Challenger) -> None:
        if answer.accepted is not None and not answer.settled:
            answer = replace(answer, ending=ACCEPTED[answer.kind])
        self.log.keep(replace(answer, digest=_digest(self._test(), answer)))

    def _test(self) -> list[object]:
        """Return everything besides the answer that determines its result."""
        task, info, options = self.log.task, self.scorer.info, self.scorer.options
        return [
            __version__,
            *stored.digests(task, info, self.index),
            files.sha256_file(task.goal(info, self.implementation)),
            options.that_matter,
            options.where.kind,
            str(options.where.python or ""),
        ]


def _digest(test: Iterable[object], answer: Challenger) -> str:
    return files.sha256_bytes(json.dumps([*test, answer.kind, answer.code], sort_keys=True).encode())


def _ended(answer: Challenger, ending: Ending) -> Challenger:
    """Return an answer with a new ending and without an earlier run's findings."""
    return replace(answer, ending=ending, reason="", difference=None, tells=(), missing=None)


def _in_turn(answers: Sequence[Challenger], calls: str, say: Progress) -> Iterator[Challenger]:
    for number, answer in enumerate(answers):
        line = f"{answer.kind} {answer.name}, {number + 1} of {len(answers)}, on {calls}"
        say(Step(line, number, len(answers)))
        yield answer
