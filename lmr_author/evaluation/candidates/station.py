"""Where the candidates of one implementation are judged, each in a sandbox run of its own."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lmr_author.errors import LmrError, SandboxError
from lmr_author.evaluation import script
from lmr_author.evaluation.bench import Bench
from lmr_author.evaluation.candidates.answer import Invalid
from lmr_author.evaluation.candidates.disk_watch import DiskWatch
from lmr_author.evaluation.candidates.fitting import Fitted
from lmr_author.evaluation.candidates.overlays import Overlays
from lmr_author.evaluation.candidates.predictions import Prediction
from lmr_author.evaluation.candidates.score import CaseScore, Outcome, Score
from lmr_author.evaluation.candidates.suspicions import suspicions
from lmr_author.evaluation.evidence import Profile, ScriptRun, advice, problem
from lmr_author.evaluation.judges import RecordingJudge
from lmr_author.replay import replaying
from lmr_author.sandbox.base import Limits
from lmr_author.task import recording as recorded

LMR_BENCH = "lmr-bench"
"""The protocol that judges by grepping logs."""

_GRACE_SECONDS = 5
_OUTPUT_BYTES = 16 * 2**20
_LOG = 4000
_LOST = {"timeout": Outcome.TIMEOUT, "crashed": Outcome.CRASHED}

Stop = Callable[[], bool]


class Unscorable(LmrError):
    """The implementation itself cannot be judged here: its golden does not pass. Nobody's wrong answer."""


@dataclass(frozen=True)
class StationOptions:
    """How candidates are judged.

    Attributes:
        seconds: time limit of one case.
        memory_mb: of all processes (docker), of each (local).
        whole_file: edits outside of the target are applied too.
        protocol: ``proof``, or :data:`LMR_BENCH`.
        start_seconds: for starting and importing, beside the time of the cases; a busy machine takes long to
            import PyTorch.
    """

    seconds: float = 60.0
    memory_mb: int = 8192
    whole_file: bool = False
    protocol: str = "proof"
    start_seconds: float = 180.0


class Station:
    """Judges the candidates of one implementation; usable from several threads.

    Args:
        bench: of the implementation, with a prepared sandbox.
        others: other masked functions of the same goal file.
    """

    def __init__(self, bench: Bench, options: StationOptions, others: tuple[str, ...] = ()) -> None:
        self.bench = bench
        self.options = options
        self._overlays = Overlays(bench, whole=options.whole_file, others=others)
        self._profile: Profile | None = None
        self._script_seconds = options.start_seconds + options.seconds

    @property
    def method(self) -> str:
        """How it judges, as results say it: ``recorded cases``, ``test script`` or ``lmr-bench``."""
        if self.options.protocol == LMR_BENCH:
            return LMR_BENCH
        return "test script" if self.bench.recording is None else "recorded cases"

    def check(self) -> None:
        """Run the golden, so that a broken task or environment is not taken for wrong answers.

        Raises:
            Unscorable: it does not pass.
            SandboxError: the sandbox failed.
        """
        if not self.bench.sandbox.isolating:
            raise SandboxError(
                "this sandbox does not isolate, and candidates are hostile code",
                "install bubblewrap (Debian: apt install bubblewrap), or use --sandbox docker",
            )
        if not self.bench.pairs:
            raise Unscorable("the target cannot be told in golden and goal file", "run `lmr-author validate`")
        if self.method == "recorded cases":
            assert self.bench.recording is not None
            problems = recorded.tampered(self.bench.recording_folder, self.bench.recording)
            if problems:
                raise Unscorable(f"the recording was changed: {problems[0]}", "record again")
            verdict = self._judge.golden(seed=0)
            if not verdict.passed:
                raise Unscorable(f"its golden does not pass: {verdict.reason}", "run `lmr-author evaluate`")
            return
        run = self._run("golden_check", self.bench.golden_overlay, None)
        self._script_seconds = self.options.seconds + 5 * run.seconds + _GRACE_SECONDS
        if self.method == LMR_BENCH:
            reason = "" if greps_passed(run) else "no log says Passed"
        else:
            reason = problem(run, None)
            self._profile = Profile.of(run)
        if reason:
            raise Unscorable(
                f"its golden does not pass: {reason}", advice(run) or "run `lmr-author evaluate`"
            )

    def score(self, prediction: Prediction, stop: Stop) -> Score:
        """Judge a prediction; :meth:`check` comes first.

        Args:
            stop: asked while it runs; True ends it.

        Raises:
            SandboxError: the sandbox failed.
            KeyboardInterrupt: it was ended by ``stop``.
        """
        started = time.monotonic()
        try:
            fitted, overlay = self._overlays.of(prediction)
        except Invalid as error:
            return Score(
                Outcome.INVALID,
                error.message,
                method=self.method,
                seconds=round(time.monotonic() - started, 3),
            )
        if fitted.unchanged:
            score = Score(Outcome.FAILED, "nothing was implemented: the target is as masked")
        else:
            score = self._judged(fitted, overlay, stop)
        return replace(
            score,
            method=self.method,
            form=fitted.form,
            kept=fitted.kept,
            dropped=fitted.dropped,
            seconds=round(time.monotonic() - started, 3),
        )

    @cached_property
    def _judge(self) -> RecordingJudge:
        assert self.bench.recording is not None
        return RecordingJudge(self.bench, self.bench.recording)

    def _judged(self, fitted: Fitted, overlay: Mapping[str, bytes], stop: Stop) -> Score:
        """The score; where time ran out, of a second try that ends at the first case for which it does so again.

        The machine may have been busy, or stood still, just then.
        """
        if self.method != "recorded cases":
            score = self._scripted(fitted, overlay, stop)
            again = self._scripted(fitted, overlay, stop) if score.outcome is Outcome.TIMEOUT else score
        else:
            score = self._replayed(fitted, overlay, stop)
            late = score.outcome is Outcome.TIMEOUT
            again = self._replayed(fitted, overlay, stop, until_lost=True) if late else score
        # Of cases that the second try did not come to, it would say that they crashed.
        return score if any(case.outcome is Outcome.TIMEOUT for case in again.cases) else again

    def _replayed(
        self, fitted: Fitted, overlay: Mapping[str, bytes], stop: Stop, *, until_lost: bool = False
    ) -> Score:
        bench, judge = self.bench, self._judge
        plan = replace(judge.plan(fitted.line), until_lost=until_lost)
        extra = {name: data for name, data in overlay.items() if name != bench.implementation.goal_file}
        base = {**bench.masked_overlay, **extra}
        name = "masked" if not extra else f"candidate {_digest(overlay)}"
        tree = bench.tree(name, base)
        variant = replaying.Variant("candidate", fitted.data, fitted.line)
        try:
            found, log = self._sent(tree, plan, variant, stop)
            return _together(tuple(self._case(found, name) for name in plan.cases), log)
        finally:
            if extra:
                bench.remove_tree(name)

    def _sent(
        self, tree: Path, plan: replaying.Plan, variant: replaying.Variant, stop: Stop
    ) -> tuple[replaying.Replay, str]:
        """A candidate's replay, and the end of its log."""
        bench = self.bench
        size = sum(case.bytes for case in self._judge.recording.cases)
        limits = Limits(
            seconds=self.options.start_seconds + plan.case_seconds * len(plan.cases),
            memory_mb=self.options.memory_mb,
            output_bytes=_OUTPUT_BYTES + 8 * size,
        )
        found = replaying.replay(bench.sandbox, tree, bench.inside, plan, [variant], limits=limits, stop=stop)
        if found.result.stopped:
            raise KeyboardInterrupt
        log = found.result.stderr.decode("utf-8", "replace")[-_LOG:]
        if not found.facts:
            # Sent before anything of the candidate runs, so this is none of its doing.
            raise SandboxError(
                f"the replayer did not start: {log.strip()[-200:]}",
                "run `lmr-author evaluate` on the task: does its golden still pass here?",
            )
        return found, log

    def _case(self, found: replaying.Replay, name: str) -> CaseScore:
        outcome = found.of("candidate", name)
        case = next(item for item in self._judge.recording.cases if item.name == name)
        try:
            differences = replaying.differences(self._judge.expected[name], outcome, case.checkers)
        except Exception as error:  # whatever it sent, it is its own fault, and nobody else's
            kind = type(error).__name__
            return CaseScore(name, Outcome.CRASHED, f"what it returned cannot be read ({kind})")
        if not differences and outcome.document is not None:
            return CaseScore(name, Outcome.PASSED, seconds=round(outcome.seconds, 6))
        if outcome.status == "bad-inputs":
            raise SandboxError(f"{name} cannot be read in the sandbox: {outcome.error_text}", "record again")
        kind = _LOST.get(outcome.status, Outcome.FAILED)
        more = f" (and {len(differences) - 1} more)" if len(differences) > 1 else ""
        return CaseScore(name, kind, f"{differences[0]}{more}"[:500], round(outcome.seconds, 6))

    def _scripted(self, fitted: Fitted, overlay: Mapping[str, bytes], stop: Stop) -> Score:
        bench = self.bench
        goal_file = bench.implementation.goal_file
        name = f"candidate {_digest(overlay)} {time.monotonic_ns()}"
        try:
            run = self._run(name, {**bench.masked_overlay, **overlay}, stop)
        finally:
            bench.remove_tree(name)
        if run.stopped and stop():
            raise KeyboardInterrupt
        if self.method == LMR_BENCH:
            reason = "" if greps_passed(run) else "no log says Passed"
        else:
            reason = problem(run, self._profile)
        if reason:
            outcome = Outcome.FAILED
            if run.timed_out:
                outcome = Outcome.TIMEOUT
            elif run.stopped or run.exit_code < 0 or run.out_of_memory:
                outcome = Outcome.CRASHED
        else:
            outcome = Outcome.PASSED
            used = suspicions(fitted.data, bench.golden_overlay[goal_file], bench.masked_overlay[goal_file])
            if used and self.method != LMR_BENCH:
                outcome = Outcome.INVALID
                reason = f"it passes a test that it could forge, and uses {', '.join(used[:5])}"
        case = CaseScore(Path(bench.implementation.unit_test_file).name, outcome, reason)
        return Score(outcome, reason, (case,), log=run.output[-_LOG:])

    def _run(self, name: str, overlay: Mapping[str, bytes], stop: Stop | None) -> ScriptRun:
        watch = DiskWatch()
        return script.run(
            self.bench,
            name,
            dict(overlay),
            0,
            limits=Limits(
                seconds=self._script_seconds,
                memory_mb=self.options.memory_mb,
                output_bytes=_OUTPUT_BYTES,
            ),
            stop=lambda tree: (stop is not None and stop()) or watch.is_full(tree),
        )


def greps_passed(run: ScriptRun) -> bool:
    """LMR-Bench's own verdict: some log, or what was printed, contains ``Passed``; the exit code is not asked."""
    return "Passed" in run.all_logs or "Passed" in run.output


def _together(cases: tuple[CaseScore, ...], log: str) -> Score:
    """The score of all cases: the first kind in this order that one of them has."""
    for kind in (Outcome.CRASHED, Outcome.TIMEOUT, Outcome.FAILED):
        for case in cases:
            if case.outcome is kind:
                return Score(kind, f"{case.case}: {case.reason}", cases, log=log)
    return Score(Outcome.PASSED if cases else Outcome.FAILED, "", cases, log=log)


def _digest(overlay: Mapping[str, bytes]) -> str:
    parts = (name.encode("utf-8", "surrogateescape") + b"\0" + data for name, data in sorted(overlay.items()))
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:24]
