"""One target under challenge: answers run as hostile code on its cases, and on its other recorded calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import TypeVar

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress
from lmr_author.core.task.challenge import CallDifference, Challenger, Missing
from lmr_author.core.task.recording import Case
from lmr_author.proof.evaluation.candidates.fitting import FittedAnswer
from lmr_author.proof.evaluation.candidates.predictions import Prediction
from lmr_author.proof.evaluation.candidates.reply import Invalid
from lmr_author.proof.evaluation.candidates.run import retried
from lmr_author.proof.evaluation.candidates.scorer import Scorer
from lmr_author.proof.evaluation.judges import RecordingJudge
from lmr_author.release.challenge.calls import Calls, record_again, write_recording
from lmr_author.release.challenge.missing import missing
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.replay.outcomes import Replay
from lmr_author.runtime.replay.replaying import Variant
from lmr_author.runtime.sandbox.base import ExecResult

Result = TypeVar("Result")
_ID = "candidate"
_LONGEST_NAME = 100


@dataclass(frozen=True)
class Trial:
    """Outcomes of an answer on the calls of a recording.

    Attributes:
        judge: of the recording.
        replay: its outcomes; of an answer that was late or crashed, perhaps not on all calls.
    """

    judge: RecordingJudge
    replay: Replay

    def differs(self, case: Case) -> list[str]:
        """Return how its outcome on a call differs from the golden's; [] for not at all."""
        expected, checkers = self.judge.expected[case.name], self.judge.checkers[case.name]
        try:
            return replaying.differences(expected, self.replay.of(_ID, case.name), checkers)
        except Exception as error:  # an outcome made to break the comparison fails like any other
            return [f"what it returned cannot be read ({type(error).__name__})"]

    @cached_property
    def failing(self) -> list[Case]:
        """Calls on which it differs from the golden; all where it did nothing at all."""
        cases = self.judge.recording.cases
        outcomes = [case for case in cases if (_ID, case.name) in self.replay.outcomes]
        if not outcomes:
            return list(cases)
        return [case for case in outcomes if self.differs(case)]

    @property
    def failing_calls(self) -> tuple[int, ...]:
        return tuple(case.call for case in self.failing)

    def first_difference(self, *, is_case: bool) -> CallDifference | None:
        """Return the first difference. ``is_case``: the calls are the task's cases."""
        if not self.failing:
            return None
        case = self.failing[0]
        raised = self.replay.of(_ID, case.name).error.type[:_LONGEST_NAME]
        name = case.name if is_case else ""
        return CallDifference(case.call, name, self.differs(case)[0], raised, case.made_of)


class Trials:
    """Runs answers on one target.

    Args:
        scorer: of the target, which has a recording; its golden passes.
        driver: folder of the script that made the recording.
        stack: ends what is open at the end.

    Attributes:
        rewrites: those that pass the cases, which vouch for generated calls; to be set before :attr:`calls` is read.
    """

    def __init__(self, scorer: Scorer, driver: Path, say: Progress, stack: ExitStack) -> None:
        self.bench, self.options, self.say = scorer.bench, scorer.options, say
        self._scorer, self._driver, self._stack = scorer, driver, stack
        assert isinstance(scorer.judge, RecordingJudge)
        self.judge = scorer.judge
        self.recording = scorer.judge.recording
        self._on_calls: dict[str, Trial] = {}
        self.rewrites: tuple[Challenger, ...] = ()

    @cached_property
    def calls(self) -> Calls:
        """All recorded calls, made once more. Raises LmrError, SandboxError."""
        work = self._stack.enter_context(files.temporary_folder("lmr-author-again-"))
        fitted = {answer.name: self._fit(answer) for answer in self.rewrites}
        rewrites = {name: Variant(f"answer {name}", each.data, each.line) for name, each in fitted.items()}
        return record_again(self.bench, self.recording, self._driver, rewrites, work, self.say)

    @cached_property
    def judge_of_calls(self) -> RecordingJudge:
        """Of the recorded calls that are no cases."""
        work = self._stack.enter_context(files.temporary_folder("lmr-author-calls-"))
        others = [(call, "") for call in self.calls.others]
        return write_recording(work, self.bench, self.recording, self.calls, others, keep_cases=False)

    def on_cases(self, answer: Challenger) -> Trial:
        """Return what an answer does on the cases. Raises Invalid, SandboxError."""
        return _retried(lambda: self.run(self.judge, answer))

    def on_calls(self, answer: Challenger) -> Trial:
        """Return what an answer does on the other recorded calls, run once. Raises Invalid, SandboxError."""
        if answer.name not in self._on_calls:
            self._on_calls[answer.name] = _retried(lambda: self.run(self.judge_of_calls, answer))
        return self._on_calls[answer.name]

    def run(self, judge: RecordingJudge, answer: Challenger) -> Trial:
        """Run an answer on the cases of a recording, which may have none; once more if its time ran out.

        The machine may have been busy just then. Raises Invalid, SandboxError.
        """
        fitted, cases = self._fit(answer), judge.recording.cases
        if not cases:
            return Trial(judge, Replay({}, {}, ExecResult(0, b"", b"", 0.0)))
        limits = self.options.limits(cases)
        for _ in range(2):
            replay = judge.outcomes(fitted.data, fitted.line, limits, lambda: False)
            if all(outcome.status != "timeout" for outcome in replay.outcomes.values()):
                break
        return Trial(judge, replay)

    def _fit(self, answer: Challenger) -> FittedAnswer:
        task = self.bench.task.name
        prediction = Prediction(task, answer.index, answer.name, answer.name, code=answer.code)
        fitted = self._scorer.fit(prediction)
        if fitted.unchanged:
            raise Invalid("nothing was implemented: the target is as masked")
        return fitted

    def missing(self, answer: Challenger) -> Missing:
        """Return what a driver would have to do to tell a misreading apart that is equal on every call."""
        calls, golden = self.calls, self.bench.golden_module
        target, _ = self.bench.pairs[0]
        summaries: list[Mapping[str, str]] = [case.summary for case in self.recording.cases]
        summaries += [call.summary for call in calls.others if not call.made_of]
        effects = {effect.kind.value: effect.names for effect in calls.uncompared()}
        if calls.differentiable:
            effects["gradients"] = calls.differentiable
        advice = missing(golden, target, self._fit(answer).data, summaries, calls.missed)
        return replace(advice, not_compared=effects)


def _retried(work: Callable[[], Result]) -> Result:
    """Do some work, again where the sandbox fails. Raises its last error."""
    result, _ = retried(work, Event())
    if isinstance(result, LmrError):
        raise result
    return result
