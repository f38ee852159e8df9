"""Two ways to judge a version of the target: replay recordings and compare here, or run a test script."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lmr_author.evaluation import script
from lmr_author.evaluation.bench import Bench
from lmr_author.evaluation.evidence import Profile, advice, problem
from lmr_author.evaluation.verdict import Verdict
from lmr_author.probe.checking import digest
from lmr_author.replay import judging, replaying
from lmr_author.replay.replaying import CONTROL, Controlled, beside_the_golden
from lmr_author.task import recording as recorded
from lmr_author.task.recording import Recording

MASK_ERROR = "NotImplementedError"
TIMEOUT = "timeout"
LOST = (TIMEOUT, "crashed")
"""How a case ends that has no outcome."""
BATCH = 100
"""Versions judged in one run of the sandbox."""

Done = Callable[[int], None]


def _nobody(_: int) -> None:
    pass


class Judge(ABC):
    """Judges versions of one implementation's goal file."""

    method: str

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    @abstractmethod
    def golden(self, seed: int) -> Verdict:
        """The golden, with a hash seed that differs between repeats."""

    @abstractmethod
    def masked(self) -> Verdict:
        """The repository as the agent gets it (other implementations golden)."""

    @abstractmethod
    def versions(
        self, sources: Mapping[str, bytes], seconds: float | None = None, done: Done = _nobody
    ) -> dict[str, Verdict]:
        """Other versions of the goal file, by name.

        Args:
            sources: name → content of the goal file.
            seconds: time limit of one case, when it is not the bench's.
            done: told how many are judged, as they are.
        """


class RecordingJudge(Judge):
    """Replays the recorded inputs in the sandbox; expected outputs stay outside, and are compared here."""

    method = "recorded cases"

    def __init__(self, bench: Bench, recording: Recording) -> None:
        super().__init__(bench)
        self.recording = recording
        folder = bench.recording_folder
        self.expected = {
            case.name: replaying.load_document(folder / case.name, "expected") for case in recording.cases
        }
        self.checkers = {case.name: case.checkers for case in recording.cases}

    def golden(self, seed: int) -> Verdict:
        """Replay on the golden tree."""
        tree = self.bench.tree("golden", self.bench.golden_overlay)
        result = replaying.replay(
            self.bench.sandbox,
            tree,
            self.bench.inside,
            self.plan(self._line(golden=True)),
            [replaying.Variant("golden")],
            hash_seed=seed,
        )
        return self._of(result, "golden")

    def masked(self) -> Verdict:
        """Replay on the masked tree."""
        tree = self.bench.tree("masked", self.bench.masked_overlay)
        plan = self.plan(self._line(golden=False))
        result = replaying.replay(
            self.bench.sandbox, tree, self.bench.inside, plan, [replaying.Variant("masked")]
        )
        return self._of(result, "masked")

    def versions(
        self, sources: Mapping[str, bytes], seconds: float | None = None, done: Done = _nobody
    ) -> dict[str, Verdict]:
        """Replay the versions, many in one sandbox run, each in a process of its own.

        One whose time ran out is tried once more, as the machine may have been busy just then.
        """
        verdicts = self._tried(sources, seconds, done)
        late = {name: sources[name] for name, verdict in verdicts.items() if verdict.late}
        return {**verdicts, **self._tried(late, seconds)}

    def _tried(
        self, sources: Mapping[str, bytes], seconds: float | None, done: Done = _nobody
    ) -> dict[str, Verdict]:
        line = self._line(golden=False)
        size = sum(case.bytes for case in self.recording.cases) or 1
        most = max(1, min(BATCH, replaying.BATCH_BYTES // size))
        waiting = [replaying.Variant(name, data, line) for name, data in sources.items()]
        verdicts: dict[str, Verdict] = {}
        while waiting:
            # One version at least is judged each time: where a run ends before its time, that was the last one's work.
            verdicts |= self._beside(waiting[:most], seconds)
            waiting = [item for item in waiting if item.id not in verdicts]
            done(len(verdicts))
        return verdicts

    def _beside(self, versions: Sequence[replaying.Variant], seconds: float | None) -> dict[str, Verdict]:
        """What versions do beside the golden; without those that a run which ended early did not come to."""
        bench, line = self.bench, self._line(golden=False)
        tree = bench.tree("masked", bench.masked_overlay)

        def run(variants: Sequence[replaying.Variant], limit: float, shared: bool) -> replaying.Replay:
            plan = replace(self.plan(line, limit), until_lost=True, share=shared)
            return replaying.replay(bench.sandbox, tree, bench.inside, plan, variants)

        golden = replaying.Variant(CONTROL, bench.golden_overlay[bench.implementation.goal_file], line)
        limit = seconds or bench.seconds
        tried = beside_the_golden(run, golden, versions, self.expected, limit, self._passes)
        verdicts: dict[str, Verdict] = {}
        for version in versions:
            verdict = self._told(tried, version.id)
            if verdict is None and (tried.run.result.timed_out or len(tried.fair) < len(self.expected)):
                verdict = Verdict(False, untold="the run beside the golden was cut short")
            elif verdict is None and verdicts:
                break
            verdicts[version.id] = verdict or Verdict(False, "the run ended in it")
        return verdicts

    def _told(self, tried: Controlled, name: str) -> Verdict | None:
        """What can be said of a version; None where the run ended before it was done."""
        found = {case: outcome for case in self.expected if (outcome := tried.run.outcomes.get((name, case)))}
        lost = any(item.document is None and item.status in LOST for item in found.values())
        if len(found) < len(self.expected) and not lost:
            return None
        differing = {
            case: outcome
            for case, outcome in found.items()
            if case in tried.fair and not self._passes(case, outcome)
        }
        if not differing and (len(tried.fair) < len(self.expected) or lost):
            return Verdict(False, untold="the golden itself fails beside it")
        late = all(item.status == TIMEOUT for item in differing.values())
        return replace(self._verdict(differing or found), late=bool(differing) and late)

    def _passes(self, case: str, outcome: replaying.Outcome) -> bool:
        return not replaying.differences(self.expected[case], outcome, self.checkers[case])

    def _line(self, *, golden: bool) -> int:
        """The target's line in the golden, or in the masked goal file; as recorded where it cannot be told."""
        pair = self.bench.definitions
        return pair[0 if golden else 1].line if pair else self.recording.line

    def plan(self, line: int, seconds: float | None = None) -> replaying.Plan:
        """What is replayed. ``line``: of the target in the version; ``seconds``: time limit of a case."""
        recording, folder = self.recording, self.bench.recording_folder
        checkers = recorded.helper(folder, recording, recorded.CHECKERS)
        functions = {case.name: judging.functions_of(case.checkers) for case in recording.cases}
        return replaying.Plan(
            goal_file=recording.goal_file,
            qualname=recording.qualname,
            line=line,
            module=recording.module,
            sys_path=recording.sys_path,
            recording=folder,
            cases=tuple(case.name for case in recording.cases),
            preload=tuple(name for name in replaying.HEAVY if name in recording.versions),
            case_seconds=seconds or self.bench.seconds,
            fixtures=recorded.helper(folder, recording, recorded.FIXTURES),
            judging=judging.Judging(checkers, folder, functions) if checkers else None,
        )

    def _of(self, result: replaying.Replay, variant: str) -> Verdict:
        """What a run that is of one version came to; a case that is not in it is a failure, too."""
        verdict = self._verdict({case: result.of(variant, case) for case in self.expected})
        return replace(
            verdict, facts=result.facts, log=result.result.stderr.decode("utf-8", "replace")[-20_000:]
        )

    def _verdict(self, found: Mapping[str, replaying.Outcome]) -> Verdict:
        reasons: list[str] = []
        for case, outcome in found.items():
            differing = replaying.differences(self.expected[case], outcome, self.checkers[case])
            if differing:
                more = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
                reasons.append(f"{case}: {differing[0]}{more}")
        outcomes = list(found.values())
        by_mask = all(
            item.status == "raised"
            and item.error.get("type") == MASK_ERROR
            and item.error.get("raised_in_target")
            for item in outcomes
        )
        return Verdict(
            passed=not reasons and bool(outcomes),
            reason="; ".join(reasons[:3]),
            by_mask=by_mask and bool(outcomes),
            entered=all(item.entered for item in outcomes),
            file=", ".join(sorted({item.file for item in outcomes if item.file})),
            identity="\n".join(digest(item.document) if item.document else item.status for item in outcomes),
            seconds=max((item.seconds for item in outcomes), default=0.0),
        )


class ScriptJudge(Judge):
    """Runs the task's own test script.

    A pass needs the exit code and all that the script says to agree, and all that it says of the golden: see
    :mod:`lmr_author.evaluation.evidence`. The golden has to be run first.
    """

    method = "test script"

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self.profile: Profile | None = None

    def golden(self, seed: int) -> Verdict:
        """Run the script on the golden tree."""
        return self._run("golden", self.bench.golden_overlay, seed)

    def masked(self) -> Verdict:
        """Run the script on the masked tree."""
        return self._run("masked", self.bench.masked_overlay, 0)

    def versions(
        self, sources: Mapping[str, bytes], seconds: float | None = None, done: Done = _nobody
    ) -> dict[str, Verdict]:
        """Run the script on each version, one after another; on the golden after one whose time ran out."""
        goal = self.bench.implementation.goal_file
        verdicts: dict[str, Verdict] = {}
        for name, data in sources.items():
            verdict = self._run(name, {**self.bench.masked_overlay, goal: data}, 0)
            if verdict.late and not self.golden(0).passed:
                verdict = Verdict(False, untold="the golden itself fails after it")
            verdicts[name] = verdict
            done(len(verdicts))
        return verdicts

    def _run(self, name: str, overlay: dict[str, bytes], seed: int) -> Verdict:
        run = script.run(self.bench, f"script_{name}", overlay, seed)
        reason = problem(run, self.profile if name != "golden" else None)
        if name == "golden" and not reason:
            self.profile = Profile.of(run)
        names = frozenset(item.rpartition(".")[2] for item in self.bench.qualnames)
        return Verdict(
            passed=not reason,
            reason=reason,
            by_mask=bool(reason) and run.blames_mask(self.bench.implementation.goal_file, names),
            log=run.output,
            advice=advice(run) if reason else "",
            late=run.timed_out,
        )

    def entered(self) -> Verdict:
        """Whether the script executes the target of the tree, watched by the recorder's instrumentation."""
        return script.watch(self.bench)


def judges_for(bench: Bench) -> Sequence[Judge]:
    """The judges of an implementation, the deciding one first; the same ones each time.

    A recorded task has two: its replayed cases decide, and the test file that is shipped with them
    has to agree. A hand-written test has itself alone.
    """
    return bench.memo("judges", lambda: _judges(bench))


def _judges(bench: Bench) -> Sequence[Judge]:
    if bench.recording is not None:
        return (RecordingJudge(bench, bench.recording), ScriptJudge(bench))
    return (ScriptJudge(bench),)
