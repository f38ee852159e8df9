"""The gates, in the order in which they run. The docstring of each says when it holds, in one line."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from lmr_author.errors import LmrError, SandboxError
from lmr_author.evaluation.bench import Bench
from lmr_author.evaluation.judges import Judge, ScriptJudge, judges_for
from lmr_author.evaluation.verdict import Unproven, Verdict, signals
from lmr_author.replay import replaying
from lmr_author.task import GateResult, GateStatus, Progress
from lmr_author.task import recording as recorded
from lmr_author.task.evaluation import SIGNALS

NO_GUARANTEE = (
    "it runs beside the code that it judges, which can read what it expects and can forge what it says: "
    "sound against mistakes, not against code that cheats"
)
"""The limits of a test script."""


@dataclass
class Subject:
    """An implementation while its gates run.

    Attributes:
        repeats: number of golden runs.
        golden: verdicts of the golden's runs; filled by golden-passes, read by those after it.
    """

    bench: Bench
    repeats: int
    golden: list[Verdict] = field(default_factory=list)

    @cached_property
    def judges(self) -> Sequence[Judge]:
        """The judges, the deciding one first. They read the recording, which must be untampered."""
        return judges_for(self.bench)

    @property
    def handwritten(self) -> bool:
        """True if the test is not made of recorded cases."""
        return self.bench.recording is None


class Gate(ABC):
    """A property that must be shown by running.

    Class attributes:
        name: as in ``evaluation.json``.
        decisive: unless it holds, the gates after it would mean nothing and are skipped.
    """

    name: ClassVar[str]
    decisive: ClassVar[bool] = False

    @abstractmethod
    def run(self, on: Subject) -> GateResult:
        """Run the gate. Raises Unproven when it cannot be shown here."""

    def result(self, status: GateStatus, message: str, hint: str = "", **detail: Any) -> GateResult:
        """Return a result of this gate."""
        return GateResult(self.name, status, message, hint, detail=detail)

    def passed(self, message: str, **detail: Any) -> GateResult:
        """Return the result that it holds."""
        return self.result(GateStatus.PASSED, message, **detail)

    def failed(self, message: str, hint: str, **detail: Any) -> GateResult:
        """Return the result that it does not hold."""
        return self.result(GateStatus.FAILED, message, hint, **detail)


class Untampered(Gate):
    """Tests and expected outputs are the recorded ones."""

    name = "untampered"
    decisive = True

    def run(self, on: Subject) -> GateResult:
        """Compare digests with the recording's manifest."""
        bench = on.bench
        if bench.recording is None:
            if not bench.task.unit_test(bench.info, bench.implementation).is_file():
                return self.failed("there is neither a recording nor a test", "make one: `lmr-author record`")
            return self.passed(f"a hand-written test, nothing recorded to compare with; {NO_GUARANTEE}")
        if not bench.recording.cases:
            return self.failed("the recording has no cases", "record again: `lmr-author record --force`")
        problems = recorded.tampered(bench.recording_folder, bench.recording)
        if problems:
            return self.failed(
                "; ".join(problems[:3]), "record again: `lmr-author record --force`", files=problems
            )
        count = sum(len(case.files) for case in bench.recording.cases)
        return self.passed(f"{count} files of {len(bench.recording.cases)} cases are as recorded")


class GoldenPasses(Gate):
    """The golden passes N times, same outputs each time."""

    name = "golden-passes"
    decisive = True

    def run(self, on: Subject) -> GateResult:
        """Run the golden ``repeats`` times in fresh processes with different hash seeds."""
        bench, repeats, judge = on.bench, on.repeats, on.judges[0]
        for number in range(repeats):
            bench.progress(f"{self.name}, run {number + 1} of {repeats}: {bench.implementation.target}")
            verdict = judge.golden(seed=number)
            on.golden.append(verdict)
            if not verdict.passed:
                own = {SIGNALS: signals(on.golden)} if on.handwritten else {}
                return self._failed(verdict, number + 1, repeats, own)
        for other in on.judges[1:]:
            verdict = other.golden(seed=0)
            if not verdict.passed:
                return self.failed(
                    f"{other.method}: {verdict.reason}",
                    "the shipped test file must pass on the golden too; record again",
                    log=verdict.log[-4000:],
                )
        needs = needed_targets(bench, judge)
        also = f"; it needs {', '.join(needs)}, masked too" if needs else ""
        detail: dict[str, Any] = {"needs": needs} if needs else {}
        if isinstance(judge, ScriptJudge):
            signs = judge.profile.described if judge.profile else ""
            message = f"passed {repeats} of {repeats} (test script: {signs}){also}"
            return self.passed(message, **{SIGNALS: signals(on.golden)}, **detail)
        same = len({verdict.identity for verdict in on.golden}) == 1
        how = "identical to the bit" if same and on.golden[0].identity else "within the tolerances"
        message = f"passed {repeats} of {repeats} ({judge.method}), outputs {how}{also}"
        return self.passed(message, bitwise=same, **detail)

    def _failed(self, verdict: Verdict, number: int, repeats: int, own: dict[str, Any]) -> GateResult:
        """Return a failure, or unproven if the test cannot run here at all."""
        log = verdict.log[-4000:]
        if verdict.obstacle and number == 1:
            message = f"the test cannot run here: {verdict.obstacle} ({verdict.reason})"
            return self.result(GateStatus.UNPROVEN, message, verdict.hint, log=log, **own)
        hint = verdict.hint or (
            "the environment lacks something, or the function is random beyond the recorded seeds; "
            "see the log below detail"
        )
        if number > 1:
            hint = "the result differs from run to run: set every seed that the test and the target draw from"
        return self.failed(
            f"run {number} of {repeats}: {verdict.reason or 'no outcome'}", hint, log=log, **own
        )


def needed_targets(bench: Bench, judge: Judge) -> list[str]:
    """Return the other targets without which the test of this one fails, although its golden is in place.

    A model that solves this function alone would fail there for another's sake.
    """
    others = [one for one in bench.info.implementations if one.index != bench.implementation.index]
    try:
        if not others or judge.beside(bench.solved_alone()).passed:
            return []
        alone = [one for one in others if not judge.beside(bench.solved_alone(masked=one)).passed]
    except SandboxError:
        raise
    except LmrError:  # another target is broken, which its own gates say
        return []
    return [one.qualname for one in alone or others]


class MaskedFails(Gate):
    """The masked repository fails every test, because of the mask, not of an import."""

    name = "masked-fails"

    def run(self, on: Subject) -> GateResult:
        """Run the repository as the agent gets it."""
        reason, own = "", dict[str, Any]()
        for judge in on.judges:
            verdict = judge.masked()
            reason = reason or verdict.reason
            if on.handwritten:
                own = {SIGNALS: signals([verdict])}
            if verdict.passed:
                return self.failed(
                    f"the masked repository passes ({judge.method})",
                    "the test does not notice that the function is missing",
                    passes=True,
                    **own,
                )
            if not verdict.by_mask:
                return self.failed(
                    f"it fails, but not because of the mask: {verdict.reason}",
                    "the masked file must still import, and the test must reach the masked function",
                    log=verdict.log[-4000:],
                    **own,
                )
        if not on.handwritten:
            return self.passed("every case ends in the mask's NotImplementedError")
        return self.passed(f"it fails, and only the mask differs from the golden: {reason}", **own)


class TargetEntered(Gate):
    """The test really executes the target of the agent's tree."""

    name = "target-entered"

    def run(self, on: Subject) -> GateResult:
        """Look where the executed code came from."""
        bench, judge = on.bench, on.judges[0]
        verdict = judge.entered() if isinstance(judge, ScriptJudge) else on.golden[0]
        wanted = bench.implementation.goal_file
        if not verdict.entered:
            return self.failed(
                verdict.reason or "a case never enters the body of the target",
                "the test must call the function of the goal file, not a copy of it",
            )
        if verdict.file != wanted:
            return self.failed(
                f"the test executes {verdict.file}, not the {wanted} of the agent's tree",
                "an installed package of the same name hides the repository; remove it from the environment",
            )
        return self.passed(f"executed {bench.inside}/{verdict.file}", file=verdict.file)


class Isolated(Gate):
    """The tests pass without network, as non-root, on a read-only root, within time and memory."""

    name = "isolated"

    def run(self, on: Subject) -> GateResult:
        """Read the report of the golden's own sandbox; a test script needs a run of its own."""
        bench = on.bench
        facts = next((dict(verdict.facts) for verdict in on.golden if verdict.facts), None) or _facts(bench)
        if not bench.sandbox.isolating:
            return self.result(
                GateStatus.UNPROVEN,
                "this sandbox does not isolate (no bubblewrap): network, user and root are not shown",
                "install bubblewrap (Debian: apt install bubblewrap), or use --sandbox docker",
            )
        facts.pop("packages", None)  # the build gate has them
        problems = list(_holes(facts))
        if problems:
            return self.failed(
                "; ".join(problems), "this is a fault of the sandbox: please report it", facts=facts
            )
        peak = facts.get("peak_rss")
        memory = f", {int(peak) // 2**20} MB at most" if isinstance(peak, int) else ""
        return self.passed(f"no network, uid {facts.get('uid')}, read-only root{memory}", facts=facts)


def run_gates(
    gates: tuple[type[Gate], ...], bench: Bench, repeats: int, progress: Progress
) -> Iterator[GateResult]:
    """Run every gate of one implementation; skip the rest after a decisive one that does not hold.

    Raises SandboxError when the sandbox itself fails.
    """
    subject = Subject(bench, repeats)
    skipped = ""
    index = bench.implementation.index
    for kind in gates:
        gate = kind()
        if skipped:
            yield replace(gate.result(GateStatus.SKIPPED, skipped), implementation=index)
            continue
        progress(f"{gate.name}: {bench.implementation.target}")
        started = time.monotonic()
        try:
            result = gate.run(subject)
        except SandboxError:
            raise
        except Unproven as error:
            result = gate.result(GateStatus.UNPROVEN, error.message, error.hint)
        except LmrError as error:  # a task too broken to be run
            result = gate.failed(error.message, error.hint)
        yield replace(result, implementation=index, seconds=time.monotonic() - started)
        if gate.decisive and result.status is not GateStatus.PASSED:
            skipped = f"skipped: {gate.name} {result.status}"


def _facts(bench: Bench) -> dict[str, Any]:
    """Return the sandbox's report about itself, from a replay of no cases."""
    target = bench.implementation
    tree = bench.tree("golden", bench.golden_overlay)
    plan = replaying.ReplayPlan(target.goal_file, target.qualname, 1, None, ("",), bench.recording_folder, ())
    return dict(replaying.replay(bench.sandbox, tree, bench.inside, plan, []).facts)


def _holes(facts: Mapping[str, Any]) -> Iterator[str]:
    if not facts:
        yield "the sandbox reported nothing about itself"
        return
    if facts.get("uid") == 0:
        yield "it runs as root"
    if facts.get("root_writable") or facts.get("tree_writable"):
        yield "its root or the tree can be written"
    if facts.get("network"):
        yield "the network can be reached"
