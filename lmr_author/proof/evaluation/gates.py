"""The gates, in the order in which they run. The docstring of each says when it holds, in one line."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from lmr_author.core.errors import LmrError, SandboxError
from lmr_author.core.task import GateResult, GateStatus, Progress
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.evaluation import NOTHING, GateDetail, OwnTest
from lmr_author.core.texts import Step
from lmr_author.proof.evaluation.bench import Bench
from lmr_author.proof.evaluation.judges import Judge, ScriptJudge, judges_for
from lmr_author.proof.evaluation.verdict import Unproven, Verdict
from lmr_author.runtime.replay import replaying

NO_GUARANTEE = (
    "it runs beside the code that it judges, which can read what it expects and can forge what it says: "
    "sound against mistakes, not against code that cheats"
)
"""The limits of a test script."""


@dataclass
class Subject:
    """An implementation while its gates run.

    Attributes:
        golden: verdicts of the golden's runs; filled by golden-passes, read by those after it.
        masked: verdict of the deciding judge about the masked repository; filled by masked-fails.
    """

    bench: Bench
    repeats: int
    golden: list[Verdict] = field(default_factory=list)
    masked: Verdict | None = None

    @cached_property
    def judges(self) -> Sequence[Judge]:
        """The judges, the deciding one first. They trust the recording, so it must be untampered."""
        return judges_for(self.bench)

    @property
    def handwritten(self) -> bool:
        return self.bench.recording is None

    def own_test(self, verdicts: Iterable[Verdict]) -> OwnTest | None:
        if not self.handwritten:
            return None
        run = list(verdicts)
        return OwnTest(
            len(run), sum(verdict.by_exit_code for verdict in run), sum(verdict.by_log for verdict in run)
        )


Gate = Callable[[Subject], GateResult]
"""Shows a property by running. Raises Unproven when it cannot be shown here. Its docstring says when it holds."""


def passed(message: str, detail: GateDetail = NOTHING) -> GateResult:
    return GateResult("", GateStatus.PASSED, message, detail=detail)


def failed(message: str, hint: str, detail: GateDetail = NOTHING) -> GateResult:
    return GateResult("", GateStatus.FAILED, message, hint, detail=detail)


def unproven(message: str, hint: str, detail: GateDetail = NOTHING) -> GateResult:
    return GateResult("", GateStatus.UNPROVEN, message, hint, detail=detail)


def untampered(on: Subject) -> GateResult:
    """Tests and expected outputs are the recorded ones."""
    bench = on.bench
    if bench.recording is None:
        if not bench.task.unit_test(bench.info, bench.implementation).is_file():
            return failed("there is neither a recording nor a test", "make one: `lmr-author record`")
        return passed(f"a hand-written test, nothing recorded to compare with; {NO_GUARANTEE}")
    if not bench.recording.cases:
        return failed("the recording has no cases", "record again: `lmr-author record --force`")
    problems = recorded.tampered(bench.recording_folder, bench.recording)
    if problems:
        hint = "record again: `lmr-author record --force`"
        return failed("; ".join(problems[:3]), hint, GateDetail(files=tuple(problems)))
    count = sum(len(case.files) for case in bench.recording.cases)
    return passed(f"{count} files of {len(bench.recording.cases)} cases are as recorded")


def golden_passes(on: Subject) -> GateResult:
    """The golden passes N times, same outputs each time."""
    bench, repeats, judge = on.bench, on.repeats, on.judges[0]
    for number in range(repeats):
        line = f"golden-passes, run {number + 1} of {repeats}: {bench.implementation.target}"
        bench.progress(Step(line, number, repeats))
        verdict = judge.golden(seed=number)
        on.golden.append(verdict)
        if not verdict.passed:
            return _golden_failed(verdict, number + 1, repeats, on.own_test(on.golden))
    for other in on.judges[1:]:
        verdict = other.golden(seed=0)
        if not verdict.passed:
            return failed(
                f"{other.method}: {verdict.reason}",
                "the shipped test file must pass on the golden too; record again",
                GateDetail(log=verdict.log[-4000:]),
            )
    if isinstance(judge, ScriptJudge):
        signs = ", ".join(["exit code 0", *sorted(judge.passing.evidence if judge.passing else ())])
        message = f"passed {repeats} of {repeats} (test script: {signs})"
        return passed(message, GateDetail(own_test=on.own_test(on.golden)))
    same = len({verdict.identity for verdict in on.golden}) == 1
    how = "identical to the bit" if same and on.golden[0].identity else "within the tolerances"
    message = f"passed {repeats} of {repeats} ({judge.method}), outputs {how}"
    return passed(message, GateDetail(bitwise=same))


def _golden_failed(verdict: Verdict, number: int, repeats: int, own: OwnTest | None) -> GateResult:
    """Return a failure, or unproven if the test cannot run here at all."""
    detail = GateDetail(log=verdict.log[-4000:], own_test=own)
    if verdict.obstacle and number == 1:
        message = f"the test cannot run here: {verdict.obstacle} ({verdict.reason})"
        return unproven(message, verdict.hint, detail)
    hint = verdict.hint or (
        "the environment lacks something, or the function is random beyond the recorded seeds; "
        "see the log below detail"
    )
    if number > 1:
        hint = "the result differs from run to run: set every seed that the test and the target draw from"
    return failed(f"run {number} of {repeats}: {verdict.reason or 'no outcome'}", hint, detail)


def masked_fails(on: Subject) -> GateResult:
    """The masked repository fails every test, because of the mask, not of an import."""
    reason, own = "", None
    for judge in on.judges:
        verdict = judge.masked()
        reason, own = reason or verdict.reason, on.own_test([verdict])
        on.masked = on.masked or verdict
        if verdict.passed:
            return failed(
                f"the masked repository passes ({judge.method})",
                "the test does not notice that the function is missing",
                GateDetail(passes=True, own_test=own),
            )
        if not verdict.by_mask:
            return failed(
                f"it fails, but not because of the mask: {verdict.reason}",
                "the masked file must still import, and the test must reach the masked function",
                GateDetail(log=verdict.log[-4000:], own_test=own),
            )
    if not on.handwritten:
        return passed("every case ends in the mask's NotImplementedError")
    return passed(f"it fails, and only the mask differs from the golden: {reason}", GateDetail(own_test=own))


def target_entered(on: Subject) -> GateResult:
    """The test really executes the target of the agent's tree."""
    bench, wanted = on.bench, on.bench.implementation.goal_file
    if on.handwritten:  # golden and masked repository differ in nothing but the target's body
        if on.masked is None or on.masked.passed or not on.masked.by_mask:
            return failed(
                "the mask does not change what the test says: nothing shows that it calls the target",
                "the test must call the function of the goal file, not a copy of it",
            )
        return passed("with its body masked, and nothing else, the test fails")
    verdict = on.golden[0]
    if not verdict.entered:
        return failed(
            "a case never enters the body of the target", "record again: `lmr-author record --force`"
        )
    if verdict.file != wanted:
        return failed(
            f"the test executes {verdict.file}, not the {wanted} of the agent's tree",
            "an installed package of the same name hides the repository; remove it from the environment",
        )
    return passed(f"executed {bench.inside}/{verdict.file}", GateDetail(file=verdict.file))


def isolated(on: Subject) -> GateResult:
    """The tests pass without network, as non-root, on a read-only root, within time and memory."""
    bench = on.bench
    facts = next((dict(verdict.facts) for verdict in on.golden if verdict.facts), None) or _facts(bench)
    if not bench.sandbox.isolating:
        return unproven(
            "this sandbox does not isolate (no bubblewrap): network, user and root are not shown",
            "install bubblewrap (Debian: apt install bubblewrap), or use --sandbox docker",
        )
    problems = list(_holes(facts))
    if problems:
        return failed(
            "; ".join(problems), "this is a fault of the sandbox: please report it", GateDetail(facts=facts)
        )
    peak = facts.get("peak_rss")
    memory = f", {int(peak) // 2**20} MB at most" if isinstance(peak, int) else ""
    return passed(f"no network, uid {facts.get('uid')}, read-only root{memory}", GateDetail(facts=facts))


DECISIVE = ("untampered", "golden-passes")
"""Gates without which those after them would mean nothing: they are skipped."""


def run_gates(
    gates: Mapping[str, Gate], bench: Bench, repeats: int, progress: Progress
) -> Iterator[GateResult]:
    """Run every gate of one implementation, by its name; skip the rest after a decisive one that does not hold.

    Raises SandboxError when the sandbox itself fails.
    """
    subject = Subject(bench, repeats)
    skipped = ""
    for name, gate in gates.items():
        progress(f"{name}: {bench.implementation.target}")
        started = time.monotonic()
        try:
            result = GateResult(name, GateStatus.SKIPPED, skipped) if skipped else gate(subject)
        except SandboxError:
            raise
        except Unproven as error:
            result = unproven(error.message, error.hint)
        except LmrError as error:  # a task too broken to be run
            result = failed(error.message, error.hint)
        seconds = 0.0 if skipped else time.monotonic() - started
        yield replace(result, gate=name, implementation=bench.implementation.index, seconds=seconds)
        if name in DECISIVE and result.status is not GateStatus.PASSED:
            skipped = skipped or f"skipped: {name} {result.status}"


def _facts(bench: Bench) -> dict[str, Any]:
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
