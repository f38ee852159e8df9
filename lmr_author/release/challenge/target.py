"""One target under challenge: its cases, all its other recorded calls, and what each answer does on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from lmr_author.core import code, files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress
from lmr_author.core.task import Target as NodeId
from lmr_author.core.task.challenge import Missing
from lmr_author.core.task.recording import Recording
from lmr_author.proof.evaluation.candidates.answer import Invalid
from lmr_author.proof.evaluation.candidates.fitting import Fitted
from lmr_author.proof.evaluation.candidates.predictions import Prediction
from lmr_author.proof.evaluation.candidates.scorer import Scorer
from lmr_author.proof.evaluation.judges import RecordingJudge
from lmr_author.release.challenge import recordings
from lmr_author.release.challenge.again import Again, record_again
from lmr_author.release.challenge.missing import missing
from lmr_author.release.challenge.trial import Trial, run_trial
from lmr_author.release.challenge.variants import Variant
from lmr_author.runtime.replay import staging
from lmr_author.runtime.replay.replaying import Replay
from lmr_author.runtime.sandbox.base import ExecResult


def never() -> bool:
    """Stop nothing: Ctrl-C ends a run by itself."""
    return False


class Target:
    """An implementation with its recording, ready to run answers. Each is run once, when somebody asks.

    Args:
        scorer: of the implementation; its golden passes.
        places: folders in which the script may lie that made the recording.
    """

    def __init__(self, scorer: Scorer, places: Sequence[Path], say: Progress, stack: ExitStack) -> None:
        self.scorer, self.say = scorer, say
        self._places, self._stack = places, stack
        self._fitted: dict[str, Fitted] = {}
        self._on_cases: dict[str, Trial] = {}
        self._on_calls: dict[str, Trial] = {}

    @property
    def judge(self) -> RecordingJudge:
        """Of the cases. Raises LmrError where a person wrote the test."""
        if not isinstance(self.scorer.judge, RecordingJudge):
            raise LmrError(
                f"{self.scorer.bench.implementation.target} has a test that nobody recorded: no other call of its "
                "golden is known",
                "record one: lmr-author record",
            )
        return self.scorer.judge

    @property
    def recording(self) -> Recording:
        """The recording of the task."""
        return self.judge.recording

    def fit(self, variant: Variant) -> Fitted:
        """Return an answer in the target's place. Raises Invalid."""
        if variant.name not in self._fitted:
            task = self.scorer.bench.task.name
            given = Prediction(task, variant.index, variant.name, variant.name, code=variant.code)
            fitted = self.scorer.fit(given)
            if fitted.unchanged:
                raise Invalid("nothing was implemented: the target is as masked")
            self._fitted[variant.name] = fitted
        return self._fitted[variant.name]

    def on_cases(self, variant: Variant) -> Trial:
        """Return what an answer does on the cases. Raises Invalid, SandboxError."""
        if variant.name not in self._on_cases:
            self._on_cases[variant.name] = self.on(self.judge, variant)
        return self._on_cases[variant.name]

    def on_calls(self, variant: Variant) -> Trial:
        """Return what an answer does on the other recorded calls. Raises Invalid, SandboxError."""
        if variant.name not in self._on_calls:
            self._on_calls[variant.name] = self.on(self.calls, variant)
        return self._on_calls[variant.name]

    def on(self, judge: RecordingJudge, variant: Variant) -> Trial:
        """Return what an answer does on the cases of a recording, which may have none."""
        fitted = self.fit(variant)
        if not judge.recording.cases:
            return Trial(judge, Replay({}, {}, ExecResult(0, b"", b"", 0.0)))
        self.say(f"{variant.kind} {variant.name} on {len(judge.recording.cases)} calls")
        return run_trial(judge, fitted, self.scorer.options, never)

    @cached_property
    def again(self) -> Again:
        """The recorded calls, made once more. Raises LmrError, SandboxError."""
        bench = self.scorer.bench
        work = self._stack.enter_context(files.temporary_folder("lmr-author-again-"))
        of = (bench.recording_folder, self.recording)
        return record_again(
            bench.task, bench.info, bench.implementation, of, bench.sandbox, self._places, work, self.say
        )

    @cached_property
    def calls(self) -> RecordingJudge:
        """Of the recorded calls that are no cases."""
        bench, again = self.scorer.bench, self.again
        work = self._stack.enter_context(files.temporary_folder("lmr-author-calls-"))
        index = bench.implementation.index
        recording = recordings.write_calls(
            work, index, again.plan, again.recorded, again.calls, self.recording
        )
        return RecordingJudge(bench, recording, work / "recordings" / str(index))

    def missing(self, variant: Variant) -> Missing:
        """Return what a driver would have to do to tell a misreading apart that is equal on every call."""
        bench = self.scorer.bench
        one = bench.implementation
        golden = code.Module.parse(staging.read_golden(bench.task, one), one.goal_file)
        summaries: list[Mapping[str, str]] = [case.summary for case in self.recording.cases]
        summaries += [call.summary for call in self.again.calls]
        nth = bench.definitions[0].nth if bench.definitions else one.nth
        own = code.find(golden, NodeId(one.goal_file, bench.qualnames[0], nth=nth))
        found = missing(golden, own, self.fit(variant).data, summaries, self.again.missed)
        effects = {effect.kind.value: effect.names for effect in self.again.uncompared()}
        if names := self.again.differentiable:
            effects["gradients"] = names
        return replace(found, not_compared=effects)
