"""Two ways to judge a version of the target: replay recorded cases and compare outside, or run a test script.

Gates and candidates use the same judges. See ``docs/decisions/0005-two-judges.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from lmr_author.core.errors import SandboxError
from lmr_author.core.task.recording import Recording
from lmr_author.proof.evaluation import script
from lmr_author.proof.evaluation.script import ScriptRun
from lmr_author.proof.evaluation.trees import TargetTrees
from lmr_author.proof.evaluation.verdict import BUSY, CaseScore, Outcome, UnprovenGate, Verdict
from lmr_author.runtime.probe.checking import digest
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.replay.outcomes import Replay, ReplayOutcome
from lmr_author.runtime.replay.replaying import CONTROL, beside_the_golden
from lmr_author.runtime.sandbox.base import Limits

MASK_ERROR = "NotImplementedError"
LOST = {"timeout": Outcome.TIMEOUT, "crashed": Outcome.CRASHED}
"""Statuses of cases without an outcome."""
BATCH = 100
"""Versions judged in one run of the sandbox."""

Done = Callable[[int], None]
Stop = Callable[[], bool]


class RecordingJudge:
    """Replays the recorded inputs in the sandbox; expected outputs stay outside and are compared there.

    Args:
        folder: the recording's folder, if not the implementation's own.
    """

    method = "recorded cases"

    def __init__(self, trees: TargetTrees, recording: Recording, folder: Path | None = None) -> None:
        self.trees = trees
        self.recording = recording
        self.folder = folder or trees.recording_folder
        self.expected = {
            case.name: replaying.load_document(self.folder / case.name, "expected")
            for case in recording.cases
        }
        self.checkers = {case.name: case.checkers for case in recording.cases}

    def golden(self, seed: int, limits: Limits | None = None) -> Verdict:
        return self._alone("golden", self.trees.golden_overlay, self._line(golden=True), seed, limits)

    def masked(self) -> Verdict:
        return self._alone("masked", self.trees.masked_overlay, self._line(golden=False), 0)

    def versions(
        self, sources: Mapping[str, bytes], seconds: float | None = None, done: Done = lambda _: None
    ) -> dict[str, Verdict]:
        """Replay other versions of the goal file, many in one sandbox run, each in its own process.

        A version that timed out is tried once more, as the machine may have been busy.

        Args:
            seconds: time limit of one case, if not that of the trees.

        Raises UnprovenGate if the golden fails beside them: their failures then prove nothing.
        """
        verdicts = self._tried(sources, seconds, done)
        late = {name: sources[name] for name, verdict in verdicts.items() if verdict.late}
        return {**verdicts, **self._tried(late, seconds)}

    def answer(self, source: bytes, line: int, limits: Limits, stop: Stop) -> Verdict:
        replay = self.outcomes(source, line, limits, stop)
        reached: dict[str, ReplayOutcome] = {}
        for case in self.expected:
            reached[case] = replay.of("candidate", case)
            if _is_lost(reached[case]):
                break
        return replace(self._verdict(reached), cut_short=replay.result.timed_out, log=_log(replay))

    def outcomes(self, source: bytes, line: int, limits: Limits, stop: Stop) -> Replay:
        """Replay a candidate, which may be hostile, in its own sandbox run on the masked tree.

        The outcomes, under ``candidate``, end at the first case that times out or crashes.

        Raises SandboxError: the sandbox failed. KeyboardInterrupt: it was ended by ``stop``.
        """
        trees = self.trees
        replay = replaying.replay(
            trees.sandbox,
            trees.tree("masked", trees.masked_overlay),
            trees.inside,
            replace(self.plan(line), until_lost=True),
            [replaying.Variant("candidate", source, line)],
            limits=limits,
            stop=stop,
        )
        if replay.result.stopped:
            raise KeyboardInterrupt
        if not replay.facts:
            # Sent before any code of the candidate runs, so the candidate is not to blame.
            raise SandboxError(
                f"the replayer did not start: {_log(replay).strip()[-200:]}",
                "check with `lmr-author evaluate` whether the task's golden still passes here",
            )
        return replay

    def plan(self, line: int, seconds: float | None = None) -> replaying.ReplayPlan:
        return replaying.ReplayPlan.of(self.recording, self.folder, line, seconds or self.trees.seconds)

    def _alone(
        self, name: str, overlay: dict[str, bytes], line: int, seed: int, limits: Limits | None = None
    ) -> Verdict:
        replay = replaying.replay(
            self.trees.sandbox,
            self.trees.tree(name, overlay),
            self.trees.inside,
            self.plan(line),
            [replaying.Variant(name)],
            hash_seed=seed,
            limits=limits,
        )
        outcomes = {case: replay.of(name, case) for case in self.expected}
        return replace(self._verdict(outcomes), facts=replay.facts, log=_log(replay))

    def _tried(
        self, sources: Mapping[str, bytes], seconds: float | None, done: Done = lambda _: None
    ) -> dict[str, Verdict]:
        line = self._line(golden=False)
        size = sum(case.bytes for case in self.recording.cases) or 1
        most = max(1, min(BATCH, replaying.BATCH_BYTES // size))
        waiting = [replaying.Variant(name, data, line) for name, data in sources.items()]
        verdicts: dict[str, Verdict] = {}

        def tell(
            before: int, begun: int
        ) -> None:  # the golden runs first, and the last version is still running
            done(before + max(0, begun - 2))

        while waiting:
            # Each round judges at least one version: a run that ends early was ended by the last one in it.
            verdicts |= self._beside(waiting[:most], seconds, partial(tell, len(verdicts)))
            waiting = [version for version in waiting if version.id not in verdicts]
            done(len(verdicts))
        return verdicts

    def _beside(
        self, versions: Sequence[replaying.Variant], seconds: float | None, begun: Done
    ) -> dict[str, Verdict]:
        """Judge versions beside the golden, except those not reached by a run that ended early."""
        trees, line = self.trees, self._line(golden=False)
        tree = trees.tree("masked", trees.masked_overlay)

        def run(variants: Sequence[replaying.Variant], limit: float, shared: bool) -> Replay:
            plan = replace(self.plan(line, limit), until_lost=True, share=shared)
            return replaying.replay(trees.sandbox, tree, trees.inside, plan, variants, begun=begun)

        golden = replaying.Variant(CONTROL, trees.golden_overlay[trees.implementation.goal_file], line)
        tried = beside_the_golden(
            run, golden, versions, self.expected, seconds or trees.seconds, self._passes
        )
        if len(tried.fair) < len(self.expected):
            raise UnprovenGate("the golden itself fails beside wrong versions", BUSY)
        verdicts: dict[str, Verdict] = {}
        for version in versions:
            outcomes = tried.run.outcomes
            reached = {
                case: outcomes[version.id, case] for case in self.expected if (version.id, case) in outcomes
            }
            # A version that times out or crashes ends its own run: its later cases have no outcome.
            if len(reached) == len(self.expected) or any(map(_is_lost, reached.values())):
                verdicts[version.id] = self._verdict(reached)
                continue
            if not verdicts and tried.run.result.timed_out:
                raise UnprovenGate("the run beside the golden was cut short", BUSY)
            if not verdicts:
                verdicts[version.id] = Verdict(False, "it ended the run")
            break
        return verdicts

    def _passes(self, case: str, outcome: ReplayOutcome) -> bool:
        return not replaying.differences(self.expected[case], outcome, self.checkers[case])

    @property
    def line(self) -> int:
        return self._line(golden=False)

    def _line(self, *, golden: bool) -> int:
        pair = self.trees.definitions
        return pair[0 if golden else 1].line if pair else self.recording.target.line

    def _verdict(self, by_case: Mapping[str, ReplayOutcome]) -> Verdict:
        cases: list[CaseScore] = []
        reasons: list[str] = []
        for name, outcome in by_case.items():
            case = self._case(name, outcome)
            cases.append(case)
            if case.outcome is not Outcome.PASSED:
                reasons.append(f"{name}: {case.reason}")
        outcomes = list(by_case.values())
        files = {outcome.file for outcome in outcomes if outcome.file}
        outputs = [digest(outcome.document) if outcome.document else outcome.status for outcome in outcomes]
        return Verdict(
            passed=not reasons and bool(outcomes),
            reason="; ".join(reasons[:3]),
            cases=tuple(cases),
            by_mask=bool(outcomes) and all(map(_is_from_mask, outcomes)),
            entered=all(outcome.entered for outcome in outcomes),
            file=", ".join(sorted(files)),
            identity="\n".join(outputs),
        )

    def _case(self, name: str, outcome: ReplayOutcome) -> CaseScore:
        seconds = round(outcome.seconds, 6)
        try:
            differing = replaying.differences(self.expected[name], outcome, self.checkers[name])
        except Exception as error:  # an outcome crafted to break the comparison fails
            reason = f"its return value cannot be read ({type(error).__name__})"
            return CaseScore(name, Outcome.CRASHED, reason)
        if not differing and outcome.document is not None:
            return CaseScore(name, Outcome.PASSED, seconds=seconds)
        more = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
        kind = LOST.get(outcome.status, Outcome.FAILED)
        return CaseScore(name, kind, f"{differing[0]}{more}"[:500], seconds)


def _log(replay: Replay) -> str:
    return replay.result.stderr.decode("utf-8", "replace")[-20_000:]


def _is_lost(outcome: ReplayOutcome) -> bool:
    return outcome.document is None and outcome.status in LOST


def _is_from_mask(outcome: ReplayOutcome) -> bool:
    error = outcome.error
    return outcome.status == "raised" and error.type == MASK_ERROR and error.raised_in_target


class ScriptJudge:
    """Runs the task's own test script, on the golden first.

    A pass needs exit code 0 and all the evidence of the golden's run: see
    :mod:`lmr_author.proof.evaluation.script`.

    Args:
        goldens: let the test see ``golden_files/``, as LMR-Bench does; never for candidates.
    """

    method = "test script"

    def __init__(self, trees: TargetTrees, *, goldens: bool = False) -> None:
        self.trees = trees
        self.goldens = goldens
        self.passing: ScriptRun | None = None

    def golden(self, seed: int, limits: Limits | None = None) -> Verdict:
        return self._run("golden", self.trees.golden_overlay, seed, limits)

    def masked(self) -> Verdict:
        return self._run("masked", self.trees.masked_overlay)

    def versions(
        self, sources: Mapping[str, bytes], seconds: float | None = None, done: Done = lambda _: None
    ) -> dict[str, Verdict]:
        """Run the script on each version in turn; after a timeout, check the golden again."""
        goal = self.trees.implementation.goal_file
        verdicts: dict[str, Verdict] = {}
        for name, data in sources.items():
            verdict = self._run(name, {**self.trees.masked_overlay, goal: data})
            if verdict.late and not self.golden(0).passed:
                raise UnprovenGate("the golden itself fails after a wrong version", BUSY)
            verdicts[name] = verdict
            done(len(verdicts))
        return verdicts

    def answer(self, source: bytes, line: int, limits: Limits, stop: Stop) -> Verdict:
        name, goal = f"candidate {threading.get_ident()}", self.trees.implementation.goal_file
        try:
            return self._run(name, {**self.trees.masked_overlay, goal: source}, 0, limits, stop)
        finally:
            self.trees.remove_tree(f"script_{name}")

    def _run(
        self,
        name: str,
        overlay: dict[str, bytes],
        seed: int = 0,
        limits: Limits | None = None,
        stop: Stop | None = None,
    ) -> Verdict:
        run = script.run(
            self.trees, f"script_{name}", overlay, seed, goldens=self.goldens, limits=limits, stop=stop
        )
        if run.stopped and stop is not None and stop():
            raise KeyboardInterrupt
        is_golden = name == "golden"
        reason = script.problem(run, None if is_golden else self.passing)
        if is_golden and not reason:
            self.passing = run
        obstacle, hint = script.obstacle(run) if is_golden and reason else ("", "")
        names = frozenset(name.rpartition(".")[2] for name in self.trees.qualnames)
        test = self.trees.implementation.unit_test_file.rpartition("/")[2]
        return Verdict(
            passed=not reason,
            reason=reason,
            cases=(CaseScore(test, _outcome(run, reason), reason, run.seconds),),
            by_mask=bool(reason) and run.blames_mask(self.trees.implementation.goal_file, names),
            cut_short=run.timed_out,
            log=run.output,
            obstacle=obstacle,
            hint=hint,
            by_exit_code=run.exit_code == 0 and not run.timed_out,
            by_log=run.passes_by_log,
        )


def _outcome(run: ScriptRun, reason: str) -> Outcome:
    if not reason:
        return Outcome.PASSED
    if run.timed_out:
        return Outcome.TIMEOUT
    return Outcome.CRASHED if run.stopped or run.exit_code < 0 or run.out_of_memory else Outcome.FAILED


Judge = RecordingJudge | ScriptJudge
"""Judges versions of one implementation's goal file; both have the same methods."""


def judges_for(trees: TargetTrees) -> tuple[Judge, ...]:
    """Return the judges of an implementation, the deciding one first.

    A recorded task has two: its replayed cases decide, and the shipped test file must agree. A hand-written test
    is the only judge.
    """
    if trees.recording is not None:
        return (RecordingJudge(trees, trees.recording), ScriptJudge(trees))
    return (ScriptJudge(trees, goldens=True),)
