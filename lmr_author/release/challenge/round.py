"""One implementation's part of a challenge: all answers on the cases, then what passes there on the other calls."""

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
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress, Task
from lmr_author.core.task import challenge as stored
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.challenge import Challenge, ChallengedTarget, Challenger, Ending, Kind
from lmr_author.proof.evaluation.candidates.answer import Invalid
from lmr_author.proof.evaluation.candidates.run import retried
from lmr_author.proof.evaluation.candidates.scorer import TaskScorer
from lmr_author.release.challenge.strengthen import strengthen
from lmr_author.release.challenge.suggesting import suggest, suggest_stricter
from lmr_author.release.challenge.target import Target
from lmr_author.release.challenge.trial import Trial
from lmr_author.release.challenge.variants import Variant

OnAnswer = Callable[[Challenger], None]
Result = TypeVar("Result")


@dataclass
class Log:
    """The record of a challenge while it runs: written after each answer, so that an interrupted run can go on."""

    task: Task
    sandbox: str
    record: Challenge
    clock: float = field(default_factory=time.monotonic)

    def keep(self, answer: Challenger) -> None:
        """Store an answer in its place."""
        key = (answer.index, answer.name)
        answers = [answer if (one.index, one.name) == key else one for one in self.record.answers]
        self.write(replace(self.record, answers=tuple(answers)))

    def keep_target(self, target: ChallengedTarget) -> None:
        """Store the facts about an implementation."""
        others = [one for one in self.record.targets if one.index != target.index]
        ordered = tuple(sorted([*others, target], key=lambda one: one.index))
        self.write(replace(self.record, targets=ordered))

    def write(self, record: Challenge) -> None:
        """Store the record."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        seconds = time.monotonic() - self.clock
        self.record = replace(record, tool=__version__, date=now, sandbox=self.sandbox, seconds=seconds)
        self.record.write(self.task.challenge_path)


class Round:
    """The answers to one implementation.

    Args:
        strengthens: what another call tells apart is shown at the end, by :meth:`strengthen`.

    Raises LmrError: it has no recording.
    """

    def __init__(
        self, log: Log, index: int, scorer: TaskScorer, on_answer: OnAnswer, *, strengthens: bool
    ) -> None:
        self.log, self.index, self.scorer, self.on_answer = log, index, scorer, on_answer
        self.strengthens = strengthens
        self._waiting: list[str] = []
        self._target: Target | None = None
        implementation = scorer.info.implementation(index)
        recording = recorded.load(log.task.recording(scorer.info, index))
        if recording is None:
            raise LmrError(
                f"{implementation.target} has no recording, and no other call of its golden is known",
                f"record it: lmr-author record {implementation.target} -- python driver.py",
            )
        self.recording = recording
        self.implementation = implementation

    @property
    def _answers(self) -> tuple[Challenger, ...]:
        return self.log.record.of(self.index)

    def begin(self) -> int:
        """Put back the answers whose result does not hold for the test as it is; return the number of the others."""
        digest = self._digests()
        current = [answer for answer in self._answers if answer.digest == digest(answer)]
        self._waiting = [answer.name for answer in self._answers if answer not in current]
        for answer in self._answers:
            if answer.name in self._waiting:
                self.log.keep(replace(_ended(answer, Ending.WAITING), digest=""))
            else:
                self._show(answer)
        self.log.keep_target(self._facts())
        return len(current)

    def run(self, places: Sequence[Path], say: Progress, stack: ExitStack) -> None:
        """Run the answers that wait.

        Args:
            places: folders in which the script may lie that made the recording.
            stack: ends what is open at the end.
        """
        telling = self.strengthens and any(one.ending is Ending.TOLD_APART for one in self._answers)
        if not self._waiting and not telling:
            return
        target = self._target = Target(self.scorer.ready(self.index), places, say, stack)
        waiting = [answer for answer in self._answers if answer.name in self._waiting]
        passing = []
        for answer in waiting:
            ended = self._on_cases(target, answer)
            if ended is None:
                passing.append(answer)
            else:
                self._show(self._keep(ended))
        for answer in passing:
            self._show(self._keep(self._on_calls(target, answer)))
        if passing:
            calls = len(self.recording.cases) + len(target.again.calls)
            self.log.keep_target(replace(self._facts(), calls=calls))

    def strengthen(self) -> bool:
        """Make calls cases that tell misreadings apart, and store how these end now; return whether any became one."""
        telling = [one for one in self._answers if one.ending is Ending.TOLD_APART]
        rewrites = [one for one in self._answers if (one.kind, one.ending) == (Kind.REWRITE, Ending.PASSES)]
        if not telling or self._target is None:
            return False
        done = strengthen(
            self._target, [_variant(one) for one in telling], [_variant(one) for one in rewrites]
        )
        names = {one.name for one in telling}
        # All others end on the new test as on the old one: its cases are among the new ones.
        for answer in self._answers:
            difference = done.differences.get(answer.name) if answer.name in names else None
            if difference is not None:
                calls = tuple(case.call for case in done.added if answer.name in case.tells)
                answer = replace(_ended(answer, Ending.FAILS), difference=difference, tells=calls)
            kept = self._keep(answer)
            if kept.name in names:
                self.on_answer(kept)
        facts = self._facts(cases=len(self.recording.cases) + len(done.added))
        added = (*facts.added, *done.added)
        self.log.keep_target(replace(facts, added=added, left_out=done.left_out))
        return bool(done.added)

    def _show(self, answer: Challenger) -> None:
        """Show an answer, unless more may come of it."""
        if answer.ending is not Ending.TOLD_APART or not self.strengthens:
            self.on_answer(answer)

    def _keep(self, answer: Challenger) -> Challenger:
        """Store an answer that was run, with what a person said about it."""
        if answer.accepted is not None and not answer.settled:
            misreading = answer.kind is Kind.MISREADING
            answer = replace(answer, ending=Ending.EQUIVALENT if misreading else Ending.NOT_A_REWRITE)
        answer = replace(answer, digest=self._digests()(answer))
        self.log.keep(answer)
        return answer

    def _facts(self, cases: int | None = None) -> ChallengedTarget:
        """Return the facts about the implementation as it is.

        Args:
            cases: their number, where it is another now.
        """
        recording, golden = stored.digests(self.log.task, self.scorer.info, self.index)
        facts = ChallengedTarget(
            index=self.index,
            target=str(self.implementation.target),
            recording=recording,
            golden=golden,
            cases=len(self.recording.cases) if cases is None else cases,
            calls=len(self.recording.cases),
        )
        known = next((one for one in self.log.record.targets if one.index == self.index), None)
        if known is None or (cases is None and (known.recording, known.golden) != (recording, golden)):
            return facts
        return replace(facts, calls=known.calls, added=known.added, left_out=known.left_out)

    def _digests(self) -> Callable[[Challenger], str]:
        """Return what gives the SHA-256 of all that makes the result of an answer."""
        task, info, options = self.log.task, self.scorer.info, self.scorer.options
        parts = [
            __version__,
            *stored.digests(task, info, self.index),
            files.sha256_file(task.goal(info, self.implementation)),
            options.that_matter,
            options.where.kind,
            str(options.where.python or ""),
        ]
        return lambda one: files.sha256_bytes(
            json.dumps([*parts, one.kind, one.code], sort_keys=True).encode()
        )

    def _on_cases(self, target: Target, answer: Challenger) -> Challenger | None:
        """Return how an answer ends on the cases; None for a misreading that passes them."""
        try:
            trial = _retried(lambda: target.on_cases(_variant(answer)))
        except Invalid as error:
            return replace(_ended(answer, Ending.INVALID), reason=error.message)
        if not trial.failing:
            return None if answer.kind is Kind.MISREADING else _ended(answer, Ending.PASSES)
        failed = replace(
            _ended(answer, Ending.FAILS),
            difference=trial.first_difference(is_case=True),
            tells=tuple(case.call for case in trial.failing),
        )
        if answer.kind is Kind.MISREADING:
            return failed
        return replace(failed, suggestion=suggest(trial, list(self._trials(target, Kind.MISREADING))))

    def _on_calls(self, target: Target, answer: Challenger) -> Challenger:
        """Return how a misreading ends that passes the cases."""
        variant = _variant(answer)
        trial = _retried(lambda: target.on_calls(variant))
        if trial.failing:
            return replace(
                _ended(answer, Ending.TOLD_APART),
                difference=trial.first_difference(is_case=False),
                tells=tuple(case.call for case in trial.failing),
            )
        rewrites = list(self._trials(target, Kind.REWRITE))
        return replace(
            _ended(answer, Ending.EQUAL),
            missing=target.missing(variant),
            suggestion=suggest_stricter(target.on_cases(variant), rewrites),
        )

    def _trials(self, target: Target, kind: Kind) -> Iterable[Trial]:
        """Yield what the answers of a kind do on the cases, without those that are invalid."""
        for answer in self.log.record.of(self.index, kind):
            variant = _variant(answer)
            with suppress(Invalid):
                yield _retried(lambda variant=variant: target.on_cases(variant))  # type: ignore[misc]


def _ended(answer: Challenger, ending: Ending) -> Challenger:
    """Return an answer with another ending, without what an earlier run found out."""
    return replace(answer, ending=ending, reason="", difference=None, tells=(), missing=None, suggestion=None)


def _variant(answer: Challenger) -> Variant:
    return Variant(answer.index, answer.name, answer.kind, answer.about, answer.code, answer.source)


def _retried(work: Callable[[], Result]) -> Result:
    """Do some work, again where the sandbox fails. Raises its last error."""
    result, _ = retried(work, Event())
    if isinstance(result, LmrError):
        raise result
    return result
